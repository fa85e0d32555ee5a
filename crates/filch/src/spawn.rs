//! Jobs that nobody waits for.

use crate::global;
use crate::job::Job;
use crate::origin::Origin;
use crate::pool::Shared;
use crate::post::Post;
use crate::search;
use crate::sync::thread;
use crate::unwind;

/// Has a closure run in the current pool, or the global one, at some time; nobody waits for it.
///
/// A worker runs it when it has nothing else to do: not while it waits in a [`join`](crate::join()) under the strict policy. So a join that waits
/// for a spawned job, by a channel say, can wait forever if no other worker is free.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// filch::spawn(move || sender.send("done").unwrap());
/// assert_eq!(receiver.recv(), Ok("done"));
/// ```
///
/// # Panics
///
/// A panic of the closure goes to the pool's [panic handler](crate::Builder::on_panic); without one the process ends.
pub fn spawn<F>(f: F)
where
    F: FnOnce() + Send + 'static,
{
    match Post::current() {
        Some(post) => spawn_in(post.pool(), f),
        None => global::pool().spawn(f),
    }
}

pub(crate) fn spawn_in<F>(pool: &Shared, f: F)
where
    F: FnOnce() + Send + 'static,
{
    pool.check_process();
    pool.count_spawned();
    let run = move |worker: &mut crate::Worker| {
        let pool = worker.post().pool();
        if let Err(panic) = unwind::catch(f) {
            pool.handle_panic(panic);
        }
        pool.count_finished();
    };
    // SAFETY: `'static`, and run once; a pool does not end before its spawned jobs.
    pool.spawn(unsafe { Job::boxed(run, Origin::NONE) });
}

/// What [`yield_now`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// It has run something.
    Ran,
    /// There was nothing to run.
    Idle,
}

/// Runs one waiting job of the current pool, whatever it is, on top of what runs here; on a thread that is no worker's, gives up the
/// time slice. `None` there.
pub fn yield_now() -> Option<Yield> {
    let Some(post) = Post::current() else {
        thread::yield_now();
        return None;
    };
    Some(match search::find(post, post.pool()) {
        Some(work) => {
            search::run_foreign(post, work);
            Yield::Ran
        }
        None => Yield::Idle,
    })
}
