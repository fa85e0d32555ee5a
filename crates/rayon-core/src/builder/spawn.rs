//! How a pool's threads come about.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::thread;

/// A thread that is yet to be started; see [`ThreadPoolBuilder::spawn_handler`](crate::ThreadPoolBuilder::spawn_handler).
pub struct ThreadBuilder {
    thread: filch::Thread,
    name: Option<String>,
    stack_size: Option<usize>,
    /// Not `Sync`.
    _marker: PhantomData<Cell<()>>,
}

impl ThreadBuilder {
    pub(super) fn new(thread: filch::Thread, name: Option<String>, stack_size: Option<usize>) -> Self {
        ThreadBuilder { thread, name, stack_size, _marker: PhantomData }
    }

    /// Its index in the pool.
    pub fn index(&self) -> usize {
        self.thread.index()
    }

    /// What it is to be called, if the builder says.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// How large its stack is to be, if the builder says.
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Is the thread of the pool, until the pool is dropped.
    pub fn run(self) {
        self.thread.run();
    }

    /// The standard library's builder for such a thread.
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

/// Starts threads. Public because the builder's signature has it, but in no public module: nobody else implements it.
pub trait ThreadSpawn {
    /// Whether the threads are those that the standard library starts.
    const IS_DEFAULT: bool;

    /// Starts a thread that runs `thread`.
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

/// By the standard library.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    const IS_DEFAULT: bool = true;

    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        thread.std_builder().spawn(|| thread.run())?;
        Ok(())
    }
}

/// By a closure of the user's.
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
