//! Errors from building a pool.

use std::error::Error;
use std::fmt;
use std::io;

use filch::BuildError;

const GLOBAL_POOL_ALREADY_INITIALIZED: &str = "The global thread pool has already been initialized.";
const CURRENT_THREAD_ALREADY_IN_POOL: &str = "The current thread is already part of another thread pool.";

/// Error from building a pool.
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    kind: ErrorKind,
}

#[derive(Debug)]
enum ErrorKind {
    GlobalPoolAlreadyInitialized,
    CurrentThreadAlreadyInPool,
    IOError(io::Error),
}

impl ThreadPoolBuildError {
    pub(crate) fn is_already_initialized(&self) -> bool {
        matches!(self.kind, ErrorKind::GlobalPoolAlreadyInitialized)
    }
}

impl From<io::Error> for ThreadPoolBuildError {
    fn from(error: io::Error) -> Self {
        ThreadPoolBuildError { kind: ErrorKind::IOError(error) }
    }
}

impl From<BuildError> for ThreadPoolBuildError {
    fn from(error: BuildError) -> Self {
        let kind = match error {
            BuildError::GlobalIsRunning => ErrorKind::GlobalPoolAlreadyInitialized,
            BuildError::ThreadIsAWorker => ErrorKind::CurrentThreadAlreadyInPool,
            BuildError::Thread { error, .. } | BuildError::Memory(error) => ErrorKind::IOError(error),
            other => ErrorKind::IOError(io::Error::other(other)),
        };
        ThreadPoolBuildError { kind }
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::GlobalPoolAlreadyInitialized => GLOBAL_POOL_ALREADY_INITIALIZED.fmt(f),
            ErrorKind::CurrentThreadAlreadyInPool => CURRENT_THREAD_ALREADY_IN_POOL.fmt(f),
            ErrorKind::IOError(error) => error.fmt(f),
        }
    }
}

impl Error for ThreadPoolBuildError {
    #[allow(deprecated)]
    fn description(&self) -> &str {
        match &self.kind {
            ErrorKind::GlobalPoolAlreadyInitialized => GLOBAL_POOL_ALREADY_INITIALIZED,
            ErrorKind::CurrentThreadAlreadyInPool => CURRENT_THREAD_ALREADY_IN_POOL,
            ErrorKind::IOError(error) => error.description(),
        }
    }

    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            ErrorKind::IOError(error) => Some(error),
            _ => None,
        }
    }
}
