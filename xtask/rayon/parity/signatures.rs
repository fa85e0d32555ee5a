//! Calls every public function and method under the bounds that stock requires. The generic
//! parameters are in stock's order. If another crate lacks an item or requires more, this does not
//! compile.

use std::any::Any;
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use rayon_core::{
    BroadcastContext, Configuration, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool, ThreadPoolBuildError,
    ThreadPoolBuilder, Yield,
};

pub(crate) const FUNCTIONS: (
    fn() -> usize,
    fn() -> usize,
    fn() -> Option<usize>,
    fn() -> Option<bool>,
    fn() -> Option<Yield>,
    fn() -> Option<Yield>,
    fn(Configuration) -> Result<(), Box<dyn Error>>,
) = (
    rayon_core::max_num_threads,
    rayon_core::current_num_threads,
    rayon_core::current_thread_index,
    rayon_core::current_thread_has_pending_tasks,
    rayon_core::yield_now,
    rayon_core::yield_local,
    rayon_core::initialize,
);

pub(crate) const POOL_METHODS: (
    fn(Configuration) -> Result<ThreadPool, Box<dyn Error>>,
    fn(&ThreadPool) -> usize,
    fn(&ThreadPool) -> Option<usize>,
    fn(&ThreadPool) -> Option<bool>,
    fn(&ThreadPool) -> Option<Yield>,
    fn(&ThreadPool) -> Option<Yield>,
) = (
    ThreadPool::new,
    ThreadPool::current_num_threads,
    ThreadPool::current_thread_index,
    ThreadPool::current_thread_has_pending_tasks,
    ThreadPool::yield_now,
    ThreadPool::yield_local,
);

pub(crate) const BUILDER_METHODS: (
    fn() -> ThreadPoolBuilder,
    fn(ThreadPoolBuilder, usize) -> ThreadPoolBuilder,
    fn(ThreadPoolBuilder, usize) -> ThreadPoolBuilder,
    fn(ThreadPoolBuilder) -> ThreadPoolBuilder,
    fn(ThreadPoolBuilder) -> ThreadPoolBuilder,
    fn(ThreadPoolBuilder) -> Result<ThreadPool, ThreadPoolBuildError>,
    fn(ThreadPoolBuilder) -> Result<(), ThreadPoolBuildError>,
) = (
    ThreadPoolBuilder::new,
    ThreadPoolBuilder::num_threads,
    ThreadPoolBuilder::stack_size,
    ThreadPoolBuilder::use_current_thread,
    ThreadPoolBuilder::breadth_first,
    ThreadPoolBuilder::build,
    ThreadPoolBuilder::build_global,
);

pub(crate) const CONFIGURATION_METHODS: (
    fn() -> Configuration,
    fn(Configuration, usize) -> Configuration,
    fn(Configuration, usize) -> Configuration,
    fn(Configuration) -> Configuration,
    fn(Configuration) -> Result<ThreadPool, Box<dyn Error + 'static>>,
) = (
    Configuration::new,
    Configuration::num_threads,
    Configuration::stack_size,
    Configuration::breadth_first,
    Configuration::build,
);

pub(crate) const THREAD_AND_CONTEXT_METHODS: (
    fn(&ThreadBuilder) -> usize,
    fn(&ThreadBuilder) -> Option<&str>,
    fn(&ThreadBuilder) -> Option<usize>,
    fn(ThreadBuilder),
    fn(&FnContext) -> bool,
    fn(&BroadcastContext<'static>) -> usize,
    fn(&BroadcastContext<'static>) -> usize,
) = (
    ThreadBuilder::index,
    ThreadBuilder::name,
    ThreadBuilder::stack_size,
    ThreadBuilder::run,
    FnContext::migrated,
    BroadcastContext::index,
    BroadcastContext::num_threads,
);

pub(crate) fn join<A, B, RA, RB>(pool: &ThreadPool, a: (A, A), b: (B, B)) -> ((RA, RB), (RA, RB))
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    (rayon_core::join::<A, B, RA, RB>(a.0, b.0), pool.join::<A, B, RA, RB>(a.1, b.1))
}

pub(crate) fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    rayon_core::join_context::<A, B, RA, RB>(a, b)
}

pub(crate) fn install<OP, R>(pool: &ThreadPool, op: OP) -> R
where
    OP: FnOnce() -> R + Send,
    R: Send,
{
    pool.install::<OP, R>(op)
}

pub(crate) fn broadcast<OP, R>(pool: &ThreadPool, op: (OP, OP)) -> (Vec<R>, Vec<R>)
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    (rayon_core::broadcast::<OP, R>(op.0), pool.broadcast::<OP, R>(op.1))
}

pub(crate) fn spawn<OP>(pool: &ThreadPool, op: [OP; 4])
where
    OP: FnOnce() + Send + 'static,
{
    let [a, b, c, d] = op;
    rayon_core::spawn::<OP>(a);
    rayon_core::spawn_fifo::<OP>(b);
    pool.spawn::<OP>(c);
    pool.spawn_fifo::<OP>(d);
}

pub(crate) fn spawn_broadcast<OP>(pool: &ThreadPool, op: [OP; 2])
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let [a, b] = op;
    rayon_core::spawn_broadcast::<OP>(a);
    pool.spawn_broadcast::<OP>(b);
}

// The lifetime of a scope is a parameter that a call cannot name, so inference checks its position.
pub(crate) fn scope<'scope, OP, R>(pool: &ThreadPool, op: [OP; 2]) -> [R; 2]
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    let [a, b] = op;
    [rayon_core::scope(a), pool.scope(b)]
}

pub(crate) fn scope_fifo<'scope, OP, R>(pool: &ThreadPool, op: [OP; 2]) -> [R; 2]
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    let [a, b] = op;
    [rayon_core::scope_fifo(a), pool.scope_fifo(b)]
}

pub(crate) fn in_place_scope<'scope, OP, R>(pool: &ThreadPool, op: [OP; 2]) -> [R; 2]
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    let [a, b] = op;
    [rayon_core::in_place_scope(a), pool.in_place_scope(b)]
}

pub(crate) fn in_place_scope_fifo<'scope, OP, R>(pool: &ThreadPool, op: [OP; 2]) -> [R; 2]
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    let [a, b] = op;
    [rayon_core::in_place_scope_fifo(a), pool.in_place_scope_fifo(b)]
}

pub(crate) fn spawn_in<'scope, BODY, ALL>(scope: &Scope<'scope>, body: BODY, all: ALL)
where
    BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    ALL: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
{
    scope.spawn::<BODY>(body);
    scope.spawn_broadcast::<ALL>(all);
}

pub(crate) fn spawn_in_fifo<'scope, BODY, ALL>(scope: &ScopeFifo<'scope>, body: BODY, all: ALL)
where
    BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    ALL: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
{
    scope.spawn_fifo::<BODY>(body);
    scope.spawn_broadcast::<ALL>(all);
}

pub(crate) fn builder<N, P, H, S>(name: N, panic: P, start: H, exit: H, spawn: S) -> io::Result<ThreadPool>
where
    N: FnMut(usize) -> String + 'static,
    P: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    H: Fn(usize) + Send + Sync + 'static,
    S: FnMut(ThreadBuilder) -> io::Result<()>,
{
    ThreadPoolBuilder::new()
        .spawn_handler::<S>(spawn)
        // Every option that can be set before the spawn handler can be set after it.
        .num_threads(2)
        .stack_size(1 << 20)
        .breadth_first()
        .thread_name::<N>(name)
        .panic_handler::<P>(panic)
        .start_handler::<H>(start)
        .exit_handler::<H>(exit)
        .build()
        .map_err(io::Error::other)
}

pub(crate) fn configuration<N, P, H>(name: N, panic: P, start: H, exit: H) -> Configuration
where
    N: FnMut(usize) -> String + 'static,
    P: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    H: Fn(usize) + Send + Sync + 'static,
{
    Configuration::new()
        .thread_name::<N>(name)
        .panic_handler::<P>(panic)
        .start_handler::<H>(start)
        .exit_handler::<H>(exit)
        .num_threads(1)
        .stack_size(1 << 20)
        .breadth_first()
}

pub(crate) fn build_scoped<W, F, R>(wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
where
    W: Fn(ThreadBuilder) + Sync,
    F: FnOnce(&ThreadPool) -> R,
{
    ThreadPoolBuilder::new().num_threads(2).build_scoped::<W, F, R>(wrapper, with_pool)
}

#[test]
fn every_function_has_the_signature_of_stock() {
    let _ = (FUNCTIONS, POOL_METHODS, BUILDER_METHODS);
    let _ = (CONFIGURATION_METHODS, THREAD_AND_CONTEXT_METHODS);
    let pool = &crate::pool(2);
    let one = || 1;
    let two = || "2";
    assert_eq!(join(pool, (one, one), (two, two)), ((1, "2"), (1, "2")));
    let both = pool.install(|| join_context(|a| (1, a.migrated()), |_| 2));
    assert_eq!(both, ((1, false), 2));
    assert_eq!(install(pool, || pool.current_num_threads()), 2);

    let index = |context: BroadcastContext<'_>| context.index();
    let (global, local) = broadcast(pool, (index, index));
    assert_eq!(global, Vec::from_iter(0..rayon_core::current_num_threads()));
    assert_eq!(local, [0, 1]);

    let (sender, done) = channel();
    let send = || {
        let sender = sender.clone();
        move || sender.send(()).unwrap()
    };
    spawn(pool, [(); 4].map(|()| send()));
    assert_eq!(done.iter().take(4).count(), 4);
    let send_all = || {
        let sender = sender.clone();
        move |_: BroadcastContext<'_>| sender.send(()).unwrap()
    };
    spawn_broadcast(pool, [send_all(), send_all()]);
    let all = rayon_core::current_num_threads() + 2;
    assert_eq!(done.iter().take(all).count(), all);
}

#[test]
fn every_scope_has_the_signature_of_stock() {
    /// Spawns one task alone, and one on each worker of the pool.
    fn body<'scope>(seen: &'scope AtomicUsize) -> impl FnOnce(&Scope<'scope>) + Copy + Send {
        |scope| spawn_in(scope, |_| count(seen), |_, _| count(seen))
    }
    fn body_fifo<'scope>(seen: &'scope AtomicUsize) -> impl FnOnce(&ScopeFifo<'scope>) + Copy + Send {
        |scope| spawn_in_fifo(scope, |_| count(seen), |_, _| count(seen))
    }
    fn count(seen: &AtomicUsize) {
        seen.fetch_add(1, Ordering::Relaxed);
    }
    let pool = &crate::pool(2);
    let seen = &AtomicUsize::new(0);
    // Runs both in the global pool and in the given pool.
    scope(pool, [body(seen); 2]);
    scope_fifo(pool, [body_fifo(seen); 2]);
    in_place_scope(pool, [body(seen); 2]);
    in_place_scope_fifo(pool, [body_fifo(seen); 2]);
    let once = (1 + rayon_core::current_num_threads()) + (1 + pool.current_num_threads());
    assert_eq!(seen.load(Ordering::Relaxed), 4 * once);
}
