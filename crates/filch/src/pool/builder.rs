//! The builder of pools, and how it starts their threads.

use std::env;
use std::fmt;
use std::io;
use std::sync::Arc;

use filch_queue::barrier;

use super::callers::Callers;
use super::shared::{Handlers, Plan, Shared};
use super::{thread_stack, Pool};
use crate::error::BuildError;
use crate::global;
use crate::latch::Gate;
use crate::seat::Seat;
use crate::sleep::MAX_WORKERS;
use crate::split::Mode;
use crate::stack::Region;
use crate::sync::{thread, Mutex};
use crate::unwind::Payload;
use crate::wait::Waiting;

/// The smallest stack of a worker.
pub(crate) const MIN_STACK: usize = 64 * 1024;

/// The variable for the number of workers if the builder does not set it.
const THREADS_VARIABLE: &str = "FILCH_NUM_THREADS";

/// The side that orders a fork with a theft; see [`Builder::fences`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fences {
    /// The thief, by a barrier of the kernel. If the kernel provides none, the owner has a fence.
    #[default]
    Automatic,
    /// The owner has a fence at each fork and each return.
    Owner,
}

/// Configures and builds a [`Pool`].
///
/// ```
/// # fn main() -> Result<(), filch::BuildError> {
/// let pool = filch::Builder::new()
///     .threads(2)
///     .name(|index| format!("worker-{index}"))
///     .stack_size(8 << 20)
///     .build()?;
/// assert_eq!(pool.current_num_threads(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use = "a builder builds nothing until it is told to"]
pub struct Builder<'spawner> {
    threads: Option<usize>,
    name: Option<Box<dyn FnMut(usize) -> String>>,
    stack_size: Option<usize>,
    fork_depth: Option<usize>,
    pin: bool,
    waiting: Waiting,
    callers: Option<Callers>,
    fences: Fences,
    raids_off: bool,
    handlers: Handlers,
    use_current_thread: bool,
    spawner: Option<Box<dyn FnMut(Thread) -> io::Result<()> + 'spawner>>,
}

impl<'spawner> Builder<'spawner> {
    /// Creates a builder with all defaults.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Sets the number of workers.
    ///
    /// Default: the environment variable `FILCH_NUM_THREADS`, or else the number of CPUs for this
    /// process.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets the names of the threads. `name` gets the index of the worker.
    pub fn name(mut self, name: impl FnMut(usize) -> String + 'static) -> Self {
        self.name = Some(Box::new(name));
        self
    }

    /// Sets the stack size of the threads, in bytes: at least 64 KiB.
    ///
    /// Default: that of the standard library.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Sets how many joins may be nested on one worker before they get slower.
    ///
    /// Further joins go through the pool's injector. Default and maximum: about half a million,
    /// more than fit into the usual stack of a thread. Address space for them is reserved; memory
    /// is used only as they are reached.
    pub fn fork_depth(mut self, joins: usize) -> Self {
        self.fork_depth = Some(joins);
        self
    }

    /// Sets a handler that each worker's thread calls before its first job.
    ///
    /// If the pool is dropped before all workers have started, some may have ended already when the
    /// handler broadcasts. Then no worker runs their parts.
    pub fn on_start(mut self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.handlers.start = Some(Box::new(handler));
        self
    }

    /// Sets a handler that each worker's thread calls after its last job.
    ///
    /// If the handler spawns a job, there may be no worker left to run it. If it broadcasts, there
    /// may be no worker left to wait for.
    pub fn on_exit(mut self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.handlers.exit = Some(Box::new(handler));
        self
    }

    /// Sets a handler for panics of spawned jobs, and of start and exit handlers.
    ///
    /// Without a handler such a panic aborts the process.
    pub fn on_panic(mut self, handler: impl Fn(Payload) + Send + Sync + 'static) -> Self {
        self.handlers.panic = Some(Box::new(handler));
        self
    }

    /// Makes the calling thread worker 0 of the pool, for the rest of its life.
    ///
    /// Only the other workers get threads of their own. The calling thread works for the pool in
    /// its joins and scopes, and when it yields, but it does not search for work by itself. Its
    /// part of a broadcast waits until then. The start and exit handlers are not called on it. The
    /// memory of the pool is never freed. While something is left that only this thread can do, a
    /// drop of the pool on another thread waits for it.
    ///
    /// ```
    /// # fn main() -> Result<(), filch::BuildError> {
    /// let pool = filch::Builder::new().threads(2).use_current_thread().build()?;
    /// assert_eq!(filch::current_thread_index(), Some(0));
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Sets a closure that starts the threads.
    ///
    /// It gets each [`Thread`] and makes some thread call [`Thread::run`]. Stack size and name are
    /// then only advice.
    ///
    /// With threads of [`std::thread::scope`] the workers can borrow:
    ///
    /// ```
    /// # fn main() -> Result<(), filch::BuildError> {
    /// let greeting = String::from("hello");
    /// std::thread::scope(|scope| {
    ///     let greeting = &greeting;
    ///     let pool = filch::Builder::new()
    ///         .threads(2)
    ///         .spawner(|thread| {
    ///             scope.spawn(move || {
    ///                 assert_eq!(greeting, "hello");
    ///                 thread.run();
    ///             });
    ///             Ok(())
    ///         })
    ///         .build()?;
    ///     assert_eq!(pool.join(|| 1, || 2), (1, 2));
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn spawner(mut self, spawner: impl FnMut(Thread) -> io::Result<()> + 'spawner) -> Self {
        self.spawner = Some(Box::new(spawner));
        self
    }

    /// Sets whether each worker stays on one CPU of its own, if there are enough.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    /// Sets what workers may run while they wait. Default: [`Waiting::Strict`].
    pub fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    /// Sets where calls from outside of the pool run.
    ///
    /// Without this, the environment variable `FILCH_CALLERS` decides: `in-place` or `shipped`.
    /// Without that, calls run in place, unless the builder was given any of
    /// [`name`](Builder::name), [`stack_size`](Builder::stack_size), [`pin`](Builder::pin),
    /// [`on_start`](Builder::on_start), [`on_exit`](Builder::on_exit),
    /// [`spawner`](Builder::spawner) and [`use_current_thread`](Builder::use_current_thread), or
    /// exactly one thread: a program that asks for any of these cares which thread runs its
    /// closures. Calls are also shipped if the builder was given another policy of
    /// [`waiting`](Builder::waiting): a caller that runs in place always waits strictly.
    ///
    /// Even in place, a call is shipped if no worker sleeps, if earlier calls wait for a worker, or
    /// if the thread is panicking. It is also shipped if the thread has less than seven eighths of
    /// a worker's stack left, or an unknown amount (on systems other than Linux). A pool with
    /// `use_current_thread` lends no seats.
    ///
    /// ```
    /// # fn main() -> Result<(), filch::BuildError> {
    /// let pool = filch::Builder::new().threads(2).callers(filch::Callers::Shipped).build()?;
    /// let here = std::thread::current().id();
    /// assert_ne!(pool.install(|| std::thread::current().id()), here);
    /// # Ok(())
    /// # }
    /// ```
    pub fn callers(mut self, callers: Callers) -> Self {
        self.callers = Some(callers);
        self
    }

    /// Sets which side pays for the order between a fork and a theft.
    ///
    /// The default is faster; the other is here to measure how much.
    pub fn fences(mut self, fences: Fences) -> Self {
        self.fences = fences;
        self
    }

    /// Sets whether a thief may take the jobs of a worker that does not respond. Default: true.
    ///
    /// If false, a forked job, a task or a spawned job is *not* always stealable: a worker that
    /// blocks keeps what it has not published. This is here to measure the cost of raids.
    pub fn raid(mut self, raid: bool) -> Self {
        self.raids_off = !raid;
        self
    }

    /// Builds the pool and starts its threads.
    pub fn build(mut self) -> Result<Pool, BuildError> {
        let threads = match self.threads {
            Some(threads) => threads,
            None => default_threads()?,
        };
        match threads {
            0 => return Err(BuildError::NoThreads),
            _ if threads > MAX_WORKERS => return Err(BuildError::TooManyThreads { asked: threads, most: MAX_WORKERS }),
            _ => {}
        }
        if self.use_current_thread && Seat::current().is_some() {
            return Err(BuildError::ThreadIsAWorker);
        }
        if let Some(asked) = self.stack_size.filter(|&bytes| bytes < MIN_STACK) {
            return Err(BuildError::StackTooSmall { asked, least: MIN_STACK });
        }
        let mode = match self.fences {
            Fences::Automatic if barrier::register() => Mode::Asymmetric,
            _ => Mode::Fenced,
        };
        let slots = self.fork_depth.map_or(Region::<Seat>::MAX_SLOTS, |joins| joins.saturating_add(1));
        let plan = Plan {
            mode,
            waiting: self.waiting,
            raids: !self.raids_off,
            callers_stack: self.callers_stack()?,
            handlers: std::mem::take(&mut self.handlers),
        };
        let shared = Shared::new(threads, slots, plan)?;
        let cores = if self.pin { core_affinity::get_core_ids().unwrap_or_default() } else { Vec::new() };

        // From here on, dropping the pool ends the threads that have been started.
        let mut ended = Vec::with_capacity(threads);
        let mut pool = Pool { shared: shared.clone(), threads: Mutex::new(Vec::new()), ended: Vec::new() };
        for index in usize::from(self.use_current_thread)..threads {
            let gate = Arc::new(Gate::new());
            let thread = Thread {
                index,
                name: self.name.as_mut().map(|name| name(index)),
                stack_size: self.stack_size,
                core: (!cores.is_empty()).then(|| cores[index % cores.len()]),
                pool: shared.clone(),
                _end_signal: EndSignal(gate.clone()),
            };
            let started = match &mut self.spawner {
                Some(spawner) => spawner(thread),
                None => thread.start().map(|handle| pool.add_thread(handle)),
            };
            started.map_err(|error| BuildError::Thread { index, error })?;
            ended.push(gate);
        }
        // Not before: if this fails half-way, it is not known whether the threads that a spawner
        // was given run at all.
        pool.ended = ended;
        if self.use_current_thread {
            // The spawner may have made this thread a worker of another pool.
            if Seat::current().is_some() {
                return Err(BuildError::ThreadIsAWorker);
            }
            shared.adopt_current_thread(0);
        }
        Ok(pool)
    }

    /// Returns the bytes of stack that a caller must have left to borrow a seat. Returns `None` if
    /// seats are not lent.
    fn callers_stack(&self) -> Result<Option<usize>, BuildError> {
        let is_ordinary = self.name.is_none()
            && self.stack_size.is_none()
            && !self.pin
            && self.handlers.start.is_none()
            && self.handlers.exit.is_none()
            && self.spawner.is_none()
            && self.threads != Some(1)
            && self.waiting == Waiting::Strict;
        let callers = match self.callers {
            Some(callers) => callers,
            None => match Callers::from_environment()? {
                Some(callers) => callers,
                None if is_ordinary => Callers::InPlace,
                None => Callers::Shipped,
            },
        };
        let lends = callers == Callers::InPlace && !self.use_current_thread && thread_stack::IS_KNOWN;
        Ok(lends.then(|| self.stack_size.unwrap_or_else(default_stack) / 8 * 7))
    }

    /// Builds the pool and makes it the global one. Functions outside of any pool use it.
    pub fn build_global(self) -> Result<(), BuildError> {
        global::set(self)
    }
}

impl Pool {
    fn add_thread(&mut self, handle: thread::JoinHandle<()>) {
        crate::sync::lock(&self.threads).push(handle);
    }
}

impl fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("threads", &self.threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("stack_size", &self.stack_size)
            .field("fork_depth", &self.fork_depth)
            .field("pin", &self.pin)
            .field("waiting", &self.waiting)
            .field("callers", &self.callers)
            .field("fences", &self.fences)
            .field("raid", &!self.raids_off)
            .finish_non_exhaustive()
    }
}

/// Returns the stack size of threads of the standard library.
fn default_stack() -> usize {
    let asked = env::var_os("RUST_MIN_STACK").and_then(|value| value.to_str()?.parse().ok());
    asked.unwrap_or(2 << 20)
}

fn default_threads() -> Result<usize, BuildError> {
    match env::var_os(THREADS_VARIABLE) {
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        Some(value) => value
            .to_str()
            .and_then(|text| text.trim().parse().ok())
            .filter(|&threads| threads > 0)
            .ok_or(BuildError::Variable { name: THREADS_VARIABLE, value }),
    }
}

/// A worker's thread that is not started yet; see [`Builder::spawner`].
#[derive(Debug)]
#[must_use = "a worker whose thread does not run never ends, and its pool cannot be dropped"]
pub struct Thread {
    index: usize,
    name: Option<String>,
    stack_size: Option<usize>,
    core: Option<core_affinity::CoreId>,
    pool: Arc<Shared>,
    /// Dropped last: the pool has no worker of this index any more.
    _end_signal: EndSignal,
}

impl Thread {
    /// Returns the index of the worker.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the name for the thread, if the builder sets it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the stack size for the thread, if the builder sets it.
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Runs the worker, until the pool is dropped.
    pub fn run(self) {
        if let Some(core) = self.core {
            core_affinity::set_for_current(core);
        }
        self.pool.main_loop(self.index);
    }

    fn start(self) -> io::Result<thread::JoinHandle<()>> {
        let mut builder = thread::Builder::new();
        let name = self.name.clone().unwrap_or_else(|| format!("filch-{}", self.index));
        builder = builder.name(name);
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        builder.spawn(|| self.run())
    }
}

/// Opens the gate when the worker has ended, or if it was never started.
#[derive(Debug)]
struct EndSignal(Arc<Gate>);

impl Drop for EndSignal {
    fn drop(&mut self) {
        self.0.open();
    }
}
