//! Scopes and worklists, for programs that need more than joins.

use super::filch::FilchJoin;
use super::rayon::Rayon;
use super::serial::Serial;
use super::Fork;

/// A way to fork that also has scopes and worklists.
pub(crate) trait Tasks: for<'a> Fork<Context<'a> = ()> {
    /// A scope that tasks are spawned into.
    type Scope<'scope>;

    /// Runs `body`, and returns when all tasks that were spawned into the scope are done.
    fn scope<'scope>(body: impl FnOnce(&Self::Scope<'scope>) + Send);

    /// Spawns a task into a scope.
    fn spawn<'scope>(scope: &Self::Scope<'scope>, task: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope);

    /// Calls `visit` on `root` and on each task that a visit pushes. Returns when no task is left.
    fn worklist(root: usize, visit: impl Fn(usize, &mut dyn FnMut(usize)) + Sync);
}

impl Tasks for FilchJoin {
    type Scope<'scope> = filch::Scope<'scope>;

    fn scope<'scope>(body: impl FnOnce(&filch::Scope<'scope>) + Send) {
        filch::scope(body);
    }

    fn spawn<'scope>(scope: &filch::Scope<'scope>, task: impl FnOnce(&filch::Scope<'scope>) + Send + 'scope) {
        scope.spawn(task);
    }

    fn worklist(root: usize, visit: impl Fn(usize, &mut dyn FnMut(usize)) + Sync) {
        filch::explore([root], |task, worker| visit(task, &mut |next| worker.push(next)));
    }
}

/// A spawned task runs at once, on the calling thread.
impl Tasks for Serial {
    type Scope<'scope> = ();

    #[inline(always)]
    fn scope<'scope>(body: impl FnOnce(&Self::Scope<'scope>) + Send) {
        body(&());
    }

    #[inline(always)]
    fn spawn<'scope>(scope: &Self::Scope<'scope>, task: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope) {
        task(scope);
    }

    fn worklist(root: usize, visit: impl Fn(usize, &mut dyn FnMut(usize)) + Sync) {
        let mut tasks = vec![root];
        while let Some(task) = tasks.pop() {
            visit(task, &mut |next| tasks.push(next));
        }
    }
}

/// rayon has no worklists: every task of a worklist is spawned into one scope.
impl Tasks for Rayon {
    type Scope<'scope> = rayon::Scope<'scope>;

    fn scope<'scope>(body: impl FnOnce(&rayon::Scope<'scope>) + Send) {
        rayon::scope(body);
    }

    fn spawn<'scope>(scope: &rayon::Scope<'scope>, task: impl FnOnce(&rayon::Scope<'scope>) + Send + 'scope) {
        scope.spawn(task);
    }

    fn worklist(root: usize, visit: impl Fn(usize, &mut dyn FnMut(usize)) + Sync) {
        fn spawn<'scope, V>(scope: &rayon::Scope<'scope>, task: usize, visit: &'scope V)
        where
            V: Fn(usize, &mut dyn FnMut(usize)) + Sync,
        {
            scope.spawn(move |scope| visit(task, &mut |next| spawn(scope, next, visit)));
        }
        rayon::scope(|scope| spawn(scope, root, &visit));
    }
}
