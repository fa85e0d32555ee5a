//! Configures and builds pools.

mod default;
mod spawn;
mod start_count;

use std::any::Any;
use std::fmt;
use std::io;

use filch::Callers;

use crate::current;
use crate::error::ThreadPoolBuildError;
use crate::thread_pool::ThreadPool;
pub use spawn::ThreadBuilder;
use spawn::{CustomSpawn, DefaultSpawn, ThreadSpawn};
use start_count::StartCount;

/// A handler that gets the payload of a panic.
type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;
/// A handler that gets the index of a thread.
type IndexHandler = dyn Fn(usize) + Send + Sync;

/// Builder for a [`ThreadPool`].
///
/// ```
/// # fn main() -> Result<(), rayon_core::ThreadPoolBuildError> {
/// let pool = rayon_core::ThreadPoolBuilder::new()
///     .num_threads(2)
///     .thread_name(|index| format!("worker-{index}"))
///     .build()?;
/// assert_eq!(pool.current_num_threads(), 2);
/// # Ok(())
/// # }
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    panic_handler: Option<Box<PanicHandler>>,
    get_thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    stack_size: Option<usize>,
    start_handler: Option<Box<IndexHandler>>,
    exit_handler: Option<Box<IndexHandler>>,
    spawn_handler: S,
    breadth_first: bool,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        ThreadPoolBuilder {
            num_threads: 0,
            use_current_thread: false,
            panic_handler: None,
            get_thread_name: None,
            stack_size: None,
            start_handler: None,
            exit_handler: None,
            spawn_handler: DefaultSpawn,
            breadth_first: false,
        }
    }
}

impl ThreadPoolBuilder {
    /// Creates a builder with all defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a pool whose threads can borrow from the caller. Each thread calls `wrapper`, which
    /// must call [`ThreadBuilder::run`]. `with_pool` uses the pool. The threads have ended when
    /// this function returns.
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        std::thread::scope(|scope| {
            let wrapper = &wrapper;
            let spawn = |thread: ThreadBuilder| {
                thread.std_builder().spawn_scoped(scope, move || wrapper(thread))?;
                Ok(())
            };
            let pool = self.spawn_handler(spawn).build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S> ThreadPoolBuilder<S>
where
    S: ThreadSpawn,
{
    /// Builds and starts the pool.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.build_with_filch(Callers::Shipped, |builder| Ok(ThreadPool::from_filch(builder.build()?)))
    }

    /// Builds the global pool, which is used outside of all other pools. This can be done once, and
    /// only before the first use of the global pool.
    pub fn build_global(mut self) -> Result<(), ThreadPoolBuildError> {
        let callers = self.callers()?;
        let start_count = StartCount::new();
        let expected = self.threads() - usize::from(self.use_current_thread);
        self.start_handler = Some(start_count.counting(self.start_handler.take()));
        self.build_with_filch(callers, |builder| Ok(builder.build_global()?))?;
        start_count.wait_for(expected);
        Ok(())
    }

    /// Calls `build` with a filch builder that has all options of this one.
    fn build_with_filch<R>(
        self,
        callers: Callers,
        build: impl FnOnce(filch::Builder<'_>) -> Result<R, ThreadPoolBuildError>,
    ) -> Result<R, ThreadPoolBuildError> {
        let mut builder = filch::Builder::new().threads(self.threads()).waiting(default::waiting()?).callers(callers);
        if self.use_current_thread {
            builder = builder.use_current_thread();
        }
        if let Some(handler) = self.panic_handler {
            builder = builder.on_panic(handler);
        }
        if let Some(handler) = self.start_handler {
            builder = builder.on_start(handler);
        }
        if let Some(handler) = self.exit_handler {
            builder = builder.on_exit(handler);
        }
        let (mut names, stack_size, mut spawn) = (self.get_thread_name, self.stack_size, self.spawn_handler);
        build(builder.spawner(|thread| {
            let name = names.as_mut().map(|name| name(thread.index()));
            spawn.spawn(ThreadBuilder::new(thread, name, stack_size))
        }))
    }

    /// Where calls from outside the global pool run. By default they run on its threads, as in
    /// rayon. They run in place if the environment requests it and the program sets no option for
    /// the threads.
    fn callers(&self) -> Result<Callers, ThreadPoolBuildError> {
        let has_default_threads = S::IS_DEFAULT
            && !self.use_current_thread
            && self.get_thread_name.is_none()
            && self.stack_size.is_none()
            && self.start_handler.is_none()
            && self.exit_handler.is_none();
        let requested = Callers::from_environment()?;
        Ok(requested.filter(|_| has_default_threads).unwrap_or(Callers::Shipped))
    }

    fn threads(&self) -> usize {
        let threads = if self.num_threads > 0 { self.num_threads } else { default::num_threads() };
        threads.min(current::max_num_threads())
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Sets a closure that starts the threads. It gets each [`ThreadBuilder`] and must make a
    /// thread call [`ThreadBuilder::run`].
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            spawn_handler: CustomSpawn::new(spawn),
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            panic_handler: self.panic_handler,
            get_thread_name: self.get_thread_name,
            stack_size: self.stack_size,
            start_handler: self.start_handler,
            exit_handler: self.exit_handler,
            breadth_first: self.breadth_first,
        }
    }

    /// Sets the names of the threads. The closure gets the index of the thread.
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.get_thread_name = Some(Box::new(closure));
        self
    }

    /// Sets the number of threads. With 0, the default, the environment variable
    /// `RAYON_NUM_THREADS` sets it. Without that variable, it is the number of CPUs for this
    /// process.
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Makes the calling thread the thread with index 0 of the pool. The thread works for the pool
    /// when it waits or yields. The start and exit handlers are not called on it. The memory of the
    /// pool is never freed.
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Sets a handler for panics that no caller waits for. Such a panic comes from a spawned job,
    /// or from a start or exit handler. Without a handler the panic ends the process. A panic in
    /// the handler itself also ends the process.
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.panic_handler = Some(Box::new(panic_handler));
        self
    }

    /// Sets the size of the threads' stacks, in bytes.
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size);
        self
    }

    /// Deprecated; has no effect. Use [`scope_fifo`](crate::scope_fifo()) and
    /// [`spawn_fifo`](crate::spawn_fifo()) to run tasks in order.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    pub fn breadth_first(mut self) -> Self {
        self.breadth_first = true;
        self
    }

    /// Sets a handler that each thread calls with its index when it starts.
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.start_handler = Some(Box::new(start_handler));
        self
    }

    /// Sets a handler that each thread calls with its index when it ends.
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.exit_handler = Some(Box::new(exit_handler));
        self
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn placeholder<T: ?Sized>(closure: &Option<Box<T>>) -> Option<fmt::Arguments<'static>> {
            closure.as_ref().map(|_| format_args!("<closure>"))
        }
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("get_thread_name", &placeholder(&self.get_thread_name))
            .field("panic_handler", &placeholder(&self.panic_handler))
            .field("stack_size", &self.stack_size)
            .field("start_handler", &placeholder(&self.start_handler))
            .field("exit_handler", &placeholder(&self.exit_handler))
            .field("breadth_first", &self.breadth_first)
            .finish()
    }
}
