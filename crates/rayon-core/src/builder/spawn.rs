//! Starts the threads of a pool.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::thread;

/// A thread to start. See
/// [`ThreadPoolBuilder::spawn_handler`](crate::ThreadPoolBuilder::spawn_handler).
pub struct ThreadBuilder {
    thread: filch::Thread,
    name: Option<String>,
    stack_size: Option<usize>,
    /// Makes the type not `Sync`.
    _marker: PhantomData<Cell<()>>,
}

impl ThreadBuilder {
    pub(super) fn new(thread: filch::Thread, name: Option<String>, stack_size: Option<usize>) -> Self {
        ThreadBuilder { thread, name, stack_size, _marker: PhantomData }
    }

    /// The index of the thread in the pool.
    pub fn index(&self) -> usize {
        self.thread.index()
    }

    /// The name of the thread, if the builder sets it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The stack size of the thread, if the builder sets it.
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Runs as the thread of the pool, until the pool is dropped.
    pub fn run(self) {
        self.thread.run();
    }

    /// Returns the standard library's builder for this thread.
    pub(super) fn std_builder(&self) -> thread::Builder {
        let mut builder = thread::Builder::new();
        if let Some(name) = &self.name {
            builder = builder.name(name.clone());
        }
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        builder
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index())
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

/// Starts threads. The trait is public because the builder's signature contains it. It is in no
/// public module, so other crates cannot implement it.
pub trait ThreadSpawn {
    /// Whether the standard library starts the threads.
    const IS_DEFAULT: bool;

    /// Starts a thread that runs `thread`.
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

/// Starts threads with the standard library.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    const IS_DEFAULT: bool = true;

    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        thread.std_builder().spawn(|| thread.run())?;
        Ok(())
    }
}

/// Starts threads with a closure of the user.
#[derive(Debug)]
pub struct CustomSpawn<F>(F);

impl<F> CustomSpawn<F>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    pub(super) fn new(spawn: F) -> Self {
        CustomSpawn(spawn)
    }
}

impl<F> ThreadSpawn for CustomSpawn<F>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    const IS_DEFAULT: bool = false;

    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}
