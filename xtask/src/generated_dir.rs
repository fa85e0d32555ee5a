//! A folder of generated files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Writes generated files only if they differ, so that cargo rebuilds only what has changed. At the
/// end it removes files that an earlier run wrote and this run did not.
#[derive(Debug)]
pub(crate) struct GeneratedDir {
    root: PathBuf,
    written: BTreeSet<PathBuf>,
}

impl GeneratedDir {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, written: BTreeSet::new() }
    }

    /// Writes a file.
    pub(crate) fn write(&mut self, path: impl AsRef<Path>, text: &str) -> Result<()> {
        let path = self.root.join(path);
        if fs::read(&path).map_or(true, |old| old != text.as_bytes()) {
            let folder = path.parent().unwrap_or(&self.root);
            fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        self.written.insert(path);
        Ok(())
    }

    /// Copies a text file, or a folder of text files.
    pub(crate) fn copy(&mut self, from: &Path, to: impl AsRef<Path>) -> Result<()> {
        if !from.is_dir() {
            return self.write(to, &read(from)?);
        }
        for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
            let entry = entry?;
            self.copy(&entry.path(), to.as_ref().join(entry.file_name()))?;
        }
        Ok(())
    }

    /// Removes every file that was not written.
    pub(crate) fn remove_old_files(self) -> Result<()> {
        self.remove_old_files_in(&self.root)
    }

    fn remove_old_files_in(&self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.remove_old_files_in(&path)?;
            } else if !self.written.contains(&path) {
                fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// Reads the text of a file.
pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn unchanged_files_are_not_written_and_old_files_are_removed() {
        let root = std::env::temp_dir().join(format!("filch-xtask-generated-{}", std::process::id()));
        let mut first = GeneratedDir::new(root.clone());
        first.write("same/a", "a").unwrap();
        first.write("old/b", "b").unwrap();
        first.remove_old_files().unwrap();
        let long_ago = SystemTime::UNIX_EPOCH;
        fs::File::options().write(true).open(root.join("same/a")).unwrap().set_modified(long_ago).unwrap();

        let mut second = GeneratedDir::new(root.clone());
        second.copy(&root.join("same"), "same").unwrap();
        second.write("new", "c").unwrap();
        second.remove_old_files().unwrap();
        assert_eq!(fs::metadata(root.join("same/a")).unwrap().modified().unwrap(), long_ago);
        assert_eq!(read(&root.join("new")).unwrap(), "c");
        assert!(!root.join("old/b").exists());
        fs::remove_dir_all(&root).unwrap();
    }
}
