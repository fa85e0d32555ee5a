//! Files that are written only if they change.
//!
//! Cargo rebuilds what depends on files newer than its last build.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};

/// Writes a file, unless it has these contents already. Returns whether it wrote.
pub(super) fn write(path: &Path, contents: &[u8]) -> Result<bool> {
    if fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(false);
    }
    let context = || format!("{} could not be written", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(context)?;
    }
    fs::write(path, contents).with_context(context)?;
    Ok(true)
}

/// Removes a file if it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} could not be removed", path.display()))
        }
        _ => Ok(()),
    }
}

/// Copies a folder and its contents, unless it was copied before.
///
/// An interrupted copy does not count.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.is_dir() {
        return Ok(());
    }
    let draft = to.with_extension("part");
    let context = || format!("{} could not be copied to {}", from.display(), to.display());
    if draft.exists() {
        fs::remove_dir_all(&draft).with_context(context)?;
    }
    copy_all(from, &draft).and_then(|()| fs::rename(&draft, to)).with_context(context)
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchanged_file_is_not_rewritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("file");
        assert!(write(&path, b"a").unwrap());
        assert!(!write(&path, b"a").unwrap());
        assert!(write(&path, b"b").unwrap());
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_copy_is_whole_and_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from-1.0"), folder.path().join("to-1.0"));
        write(&from.join("src").join("main.rs"), b"fn main() {}").unwrap();
        // Left behind by an interrupted copy.
        write(&to.with_extension("part").join("stray"), b"").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("src").join("main.rs")).unwrap(), b"fn main() {}");
        assert!(!to.join("stray").exists());

        write(&from.join("late"), b"").unwrap();
        copy(&from, &to).unwrap();
        assert!(!to.join("late").exists());
    }
}
