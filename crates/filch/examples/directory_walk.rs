//! Adds up a directory and all below it. It uses one scope, and a task for each directory.
//!
//! ```text
//! cargo run --release -p filch --example directory_walk -- [PATH]      the current directory without a PATH
//! ```
//!
//! Symbolic links are counted as files and not followed. If some directories cannot be read, the
//! program names them, adds up the others, and fails.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use filch::Scope;

/// The sums of a walk so far.
#[derive(Default)]
struct Walk {
    files: AtomicU64,
    directories: AtomicU64,
    bytes: AtomicU64,
    errors: Mutex<Vec<String>>,
}

/// The result of a walk.
#[derive(Debug, PartialEq, Eq)]
struct Totals {
    files: u64,
    directories: u64,
    bytes: u64,
    /// A message for each directory or file that could not be read.
    errors: Vec<String>,
}

/// Adds up `root`, which is one of the directories, and all below it.
fn walk(root: &Path) -> Totals {
    let walk = Walk::default();
    filch::scope(|scope| walk.visit(scope, root.to_owned()));
    let mut errors = walk.errors.into_inner().unwrap_or_else(PoisonError::into_inner);
    errors.sort();
    Totals {
        files: walk.files.into_inner(),
        directories: walk.directories.into_inner(),
        bytes: walk.bytes.into_inner(),
        errors,
    }
}

impl Walk {
    /// Adds up one directory, and spawns a task for each directory in it.
    fn visit<'scope>(&'scope self, scope: &Scope<'scope>, directory: PathBuf) {
        if let Err(error) = self.try_visit(scope, &directory) {
            let message = format!("cannot read the directory {}: {error}", directory.display());
            self.errors.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        }
    }

    fn try_visit<'scope>(&'scope self, scope: &Scope<'scope>, directory: &Path) -> io::Result<()> {
        let entries = fs::read_dir(directory)?;
        // Relaxed: the end of the scope comes after all tasks.
        self.directories.fetch_add(1, Ordering::Relaxed);
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                scope.spawn(move |scope| self.visit(scope, entry.path()));
            } else {
                self.bytes.fetch_add(entry.metadata()?.len(), Ordering::Relaxed);
                self.files.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    let root = args.next().map_or_else(|| PathBuf::from("."), PathBuf::from);
    if args.next().is_some() {
        eprintln!("error: give one path, or none for the current directory");
        return ExitCode::FAILURE;
    }
    let Totals { files, directories, bytes, errors } = walk(&root);
    for error in &errors {
        eprintln!("error: {error}");
    }
    if directories > 0 {
        println!("{files} files, {directories} directories, {bytes} bytes");
    }
    if errors.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_finds_every_file_once() {
        let root = tempfile::tempdir().unwrap();
        for wide in 0..10 {
            let middle = root.path().join(format!("wide-{wide}"));
            for deep in 0..10 {
                let directory = middle.join(format!("deep-{deep}"));
                fs::create_dir_all(&directory).unwrap();
                fs::write(directory.join("file"), vec![b'x'; 10 * wide + deep]).unwrap();
            }
        }
        let found = walk(root.path());
        // The root, ten directories in it, and ten in each of those.
        assert_eq!(found, Totals { files: 100, directories: 111, bytes: (0..100).sum(), errors: vec![] });
    }

    #[test]
    fn an_empty_directory_counts_only_itself() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(walk(root.path()), Totals { files: 0, directories: 1, bytes: 0, errors: vec![] });
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_parent_directory_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("link")).unwrap();
        let found = walk(root.path());
        assert_eq!((found.files, found.directories), (1, 1));
    }

    #[test]
    fn a_path_that_is_not_a_directory_is_reported() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "x").unwrap();
        for name in ["file", "nowhere"] {
            let path = root.path().join(name);
            let found = walk(&path);
            assert_eq!((found.files, found.directories), (0, 0));
            let expected = format!("cannot read the directory {}: ", path.display());
            assert!(found.errors.len() == 1 && found.errors[0].starts_with(&expected), "{:?}", found.errors);
        }
    }
}
