//! Jobs: type-erased closures that any worker may run.

use std::cell::UnsafeCell;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr;

use crate::lineage::Lineage;
use crate::stack::Execute;
use crate::unwind::{self, Payload};
use crate::worker::Worker;

/// The number of words of a closure that fit into a job.
const WORDS: usize = 5;

/// A job that does not stand on a fork stack.
///
/// Closures of up to five words are stored in the job itself, larger ones on the heap. A job that
/// is dropped leaks its closure.
#[derive(Debug)]
pub(crate) struct Job {
    execute: Execute,
    /// What the job descends from.
    pub(crate) lineage: Lineage,
    words: [MaybeUninit<usize>; WORDS],
}

// SAFETY: the constructors take closures that are `Send`.
unsafe impl Send for Job {}

impl Job {
    /// Returns whether a closure is stored in the job itself.
    const fn fits<F>() -> bool {
        mem::size_of::<F>() <= mem::size_of::<[usize; WORDS]>() && mem::align_of::<F>() <= mem::align_of::<usize>()
    }

    /// Writes a job of a closure to `place`. `execute` is called with the address of the job, and
    /// takes the closure by [`take_closure`](Job::take_closure).
    ///
    /// # Safety
    ///
    /// `place` can be written. `execute` can be called once, on any thread, and is called before
    /// anything that `f` borrows is gone.
    #[inline(always)]
    pub(crate) unsafe fn write<F: Send>(place: *mut Job, f: F, execute: Execute, lineage: Lineage) {
        // SAFETY: the caller guarantees it; the closure fits where it is written.
        unsafe {
            (&raw mut (*place).execute).write(execute);
            (&raw mut (*place).lineage).write(lineage);
            let words = &raw mut (*place).words;
            if const { Job::fits::<F>() } {
                words.cast::<F>().write(f);
            } else {
                words.cast::<*mut F>().write(Box::into_raw(Box::new(f)));
            }
        }
    }

    /// Creates a job of a closure; see [`write`](Job::write).
    ///
    /// # Safety
    ///
    /// As for [`write`](Job::write).
    pub(crate) unsafe fn new<F: Send>(f: F, execute: Execute, lineage: Lineage) -> Job {
        let mut job = MaybeUninit::uninit();
        // SAFETY: the caller guarantees it. All fields are written; words that are not written may
        // hold anything.
        unsafe {
            Job::write(job.as_mut_ptr(), f, execute, lineage);
            job.assume_init()
        }
    }

    /// Takes the closure and its lineage out of the job at this address.
    ///
    /// # Safety
    ///
    /// Written with a closure of this type, and not taken before.
    #[inline(always)]
    pub(crate) unsafe fn take_closure<F>(job: *const ()) -> (F, Lineage) {
        let job = job.cast::<Job>();
        // SAFETY: the caller guarantees it.
        unsafe {
            let words = &raw const (*job).words;
            let f = if const { Job::fits::<F>() } {
                words.cast::<F>().read()
            } else {
                *Box::from_raw(words.cast::<*mut F>().read())
            };
            (f, (*job).lineage)
        }
    }

    /// Creates a job of data that is stored elsewhere and waited for.
    ///
    /// # Safety
    ///
    /// `execute` can be called with `data`, once, on any thread, until the job has been run.
    pub(crate) unsafe fn from_parts(data: *const (), execute: Execute, lineage: Lineage) -> Job {
        struct Parts(*const (), Execute);
        // SAFETY: the caller guarantees it.
        unsafe impl Send for Parts {}
        unsafe fn execute_parts(job: *const (), worker: &mut Worker, elsewhere: bool) {
            // SAFETY: written below, and run once.
            let (Parts(data, execute), _) = unsafe { Job::take_closure::<Parts>(job) };
            // SAFETY: the caller of `from_parts` guarantees it.
            unsafe { execute(data, worker, elsewhere) };
        }
        // SAFETY: the caller guarantees it.
        unsafe { Job::new(Parts(data, execute), execute_parts, lineage) }
    }

    /// Runs the job at this address. `elsewhere` says whether this is another place than it was
    /// made at. The closure is taken out of the job first, so that its place can be used again.
    ///
    /// # Safety
    ///
    /// Called once for each job.
    #[inline(always)]
    pub(crate) unsafe fn run_at(job: *const Job, worker: &mut Worker, elsewhere: bool) {
        // SAFETY: the contract of the constructors.
        unsafe { ((*job).execute)(job.cast(), worker, elsewhere) }
    }

    /// Runs the job, which comes out of a queue and so has been elsewhere.
    ///
    /// # Safety
    ///
    /// The job was taken from a queue that gives each job once.
    pub(crate) unsafe fn run(self, worker: &mut Worker) {
        // SAFETY: the caller guarantees it.
        unsafe { Job::run_at(&self, worker, true) }
    }
}

/// The second closure of a join, in the frame of that join. It runs there or, if it is stolen,
/// elsewhere.
pub(crate) struct Forked<B, R> {
    closure: UnsafeCell<ManuallyDrop<B>>,
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<B, R> Forked<B, R>
where
    B: FnOnce(&mut Worker, bool) -> R,
{
    #[inline(always)]
    pub(crate) fn new(closure: B) -> Self {
        Forked {
            closure: UnsafeCell::new(ManuallyDrop::new(closure)),
            // Not initialised: it is read only if a thief has written it.
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Runs the closure where it was forked.
    ///
    /// # Safety
    ///
    /// No other worker has run it or will run it.
    #[inline(always)]
    pub(crate) unsafe fn run_here(&self, worker: &mut Worker) -> R {
        // SAFETY: the caller guarantees it; so the closure is taken once.
        let closure = unsafe { ManuallyDrop::take(&mut *self.closure.get()) };
        closure(worker, false)
    }

    /// Runs the closure elsewhere. The slot or the injector calls this.
    ///
    /// # Safety
    ///
    /// `data` points to a `Forked` of this type, in a frame that waits, and no other worker has run
    /// it or will run it.
    pub(crate) unsafe fn execute(data: *const (), worker: &mut Worker, migrated: bool) {
        // SAFETY: the caller guarantees it.
        let this = unsafe { &*data.cast::<Self>() };
        // SAFETY: as above; so the closure is taken once.
        let closure = unsafe { ManuallyDrop::take(&mut *this.closure.get()) };
        let result = unwind::catch(|| closure(worker, migrated));
        // SAFETY: the frame waits for the job and reads the result only afterwards.
        unsafe { (*this.result.get()).write(result) };
    }

    /// Takes the result of the closure, which ran elsewhere.
    ///
    /// # Safety
    ///
    /// [`execute`](Forked::execute) has returned, and the result is taken once.
    pub(crate) unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller guarantees it.
        unsafe { (*self.result.get()).assume_init_read() }
    }

    /// Returns a pointer to this, for the slot.
    #[inline(always)]
    pub(crate) fn data(&self) -> *const () {
        ptr::from_ref(self).cast()
    }
}
