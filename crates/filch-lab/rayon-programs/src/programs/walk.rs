//! A walk through directories: a scope, and a task for each directory.
//!
//! `directory_walk`, an example of filch, is the same program through filch's own API.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::Scope;

use super::Program;
use crate::clock::{checksum, timed};

/// The number of directories in a directory, while there are enough.
const FAN: u64 = 8;
/// The number of files in every directory.
const FILES: u64 = 5;

/// Makes `directories` directories with files and walks through them.
pub(crate) fn program(directories: u64) -> Result<Program, String> {
    let tree = Tree::new(directories)
        .map_err(|error| format!("cannot make directories in {}: {error}", std::env::temp_dir().display()))?;
    Ok(Box::new(move || {
        let check = |found: &Totals| {
            let found = [&found.directories, &found.files, &found.bytes].map(|total| total.load(Ordering::Relaxed));
            assert_eq!(found, [tree.directories, FILES * tree.directories, tree.bytes], "directories, files, bytes");
            checksum(found)
        };
        timed(tree.directories, || walk(&tree.root), check)
    }))
}

/// The totals of a walk.
#[derive(Default)]
struct Totals {
    directories: AtomicU64,
    files: AtomicU64,
    bytes: AtomicU64,
}

fn walk(root: &Path) -> Totals {
    let totals = Totals::default();
    rayon::scope(|scope| visit(scope, root.to_owned(), &totals));
    totals
}

/// Adds up a directory. Relaxed is enough, since the end of the scope comes after all tasks.
fn visit<'scope>(scope: &Scope<'scope>, directory: PathBuf, totals: &'scope Totals) {
    let (mut files, mut bytes) = (0, 0);
    for entry in read(&directory, fs::read_dir(&directory)) {
        let entry = read(&directory, entry);
        if read(&directory, entry.file_type()).is_dir() {
            scope.spawn(move |scope| visit(scope, entry.path(), totals));
        } else {
            files += 1;
            bytes += read(&directory, entry.metadata()).len();
        }
    }
    totals.directories.fetch_add(1, Ordering::Relaxed);
    totals.files.fetch_add(files, Ordering::Relaxed);
    totals.bytes.fetch_add(bytes, Ordering::Relaxed);
}

/// Unwraps a result. The program made the directories, so an error ends it and removes them.
fn read<T>(directory: &Path, result: io::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("cannot read {}: {error}", directory.display()))
}

/// Directories with files, removed when dropped.
struct Tree {
    root: PathBuf,
    directories: u64,
    bytes: u64,
}

impl Tree {
    fn new(directories: u64) -> io::Result<Tree> {
        let mut tree = Tree { root: new_folder()?, directories, bytes: 0 };
        let mut paths = vec![tree.root.clone()];
        for number in 0..directories {
            if number > 0 {
                let path = paths[((number - 1) / FAN) as usize].join(format!("directory-{number}"));
                fs::create_dir(&path)?;
                paths.push(path);
            }
            for file in 0..FILES {
                let contents = vec![b'x'; ((number + file) % 100) as usize];
                fs::write(paths[number as usize].join(format!("file-{file}")), &contents)?;
                tree.bytes += contents.len() as u64;
            }
        }
        Ok(tree)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Makes a new folder for temporary files.
///
/// It never uses or removes an existing folder of the same name.
fn new_folder() -> io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("rayon-programs-walk-{}-{number}", std::process::id()));
    fs::create_dir(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directory_is_walked_and_nothing_is_left_behind() {
        for directories in [1, 2, 100] {
            let tree = Tree::new(directories).unwrap();
            let root = tree.root.clone();
            let found = walk(&root);
            assert_eq!(found.directories.into_inner(), directories);
            assert_eq!(found.files.into_inner(), 5 * directories);
            assert_eq!(found.bytes.into_inner(), tree.bytes);
            drop(tree);
            assert!(!root.exists());
        }
    }
}
