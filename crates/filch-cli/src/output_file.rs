//! Writes files whole or not at all.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use serde::Serialize;
use tempfile::{Builder, NamedTempFile};

/// Checks that `path` is writable, and leaves nothing behind.
///
/// A command that ran for minutes should not end in "permission denied".
pub fn check_writable(path: &Path) -> Result<()> {
    create_beside(path).map(drop)
}

/// Writes what `contents` writes to `path`, replacing an existing file.
///
/// It writes a file beside it and renames it, so that no reader sees half of it and a failure
/// leaves the old file unchanged.
pub fn write(path: &Path, contents: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let (target, file) = create_beside(path)?;
    let context = || format!("{} could not be written", path.display());

    let mut writer = BufWriter::new(file);
    contents(&mut writer).with_context(context)?;
    let file = writer.into_inner().map_err(std::io::IntoInnerError::into_error).with_context(context)?;
    file.as_file().sync_all().with_context(context)?;
    file.persist(target).map_err(|failure| failure.error).with_context(context)?;
    Ok(())
}

/// Writes text to `path`, replacing an existing file.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    write(path, |writer| Ok(writer.write_all(text.as_bytes())?))
}

/// Writes `value` to `path` as JSON, replacing an existing file.
pub fn write_json<V: Serialize + ?Sized>(path: &Path, value: &V) -> Result<()> {
    write(path, |writer| {
        serde_json::to_writer_pretty(&mut *writer, value)?;
        Ok(writer.write_all(b"\n")?)
    })
}

/// Creates an empty file beside the target, and returns the target.
fn create_beside(path: &Path) -> Result<(PathBuf, NamedTempFile)> {
    // A symbolic link stays: the file that it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.is_dir() {
        bail!("{} cannot be written: it is a folder; give a file", path.display());
    }
    if target.exists() && !target.is_file() {
        bail!("{} cannot be written: it is not a regular file", path.display());
    }
    let Some(name) = target.file_name() else {
        bail!("'{}' cannot be written: that is not the name of a file", path.display());
    };
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        bail!("{} cannot be written: there is no folder {}", path.display(), folder.display());
    }
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".part");
    // Figures are not secret: they get the permissions of any new file. A temporary file would be
    // readable only by its owner.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    match builder.tempfile_in(folder) {
        Ok(file) => Ok((target, file)),
        // Only the kind: the whole error names a temporary file that the user does not know.
        Err(error) => bail!("{} cannot be written: {}", path.display(), error.kind()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_check_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        check_writable(&folder.path().join("figures.json")).unwrap();
        assert!(listing(folder.path()).is_empty());
    }

    #[test]
    fn a_written_file_replaces_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.json");
        fs::write(&path, "old, and longer than the new content").unwrap();
        write(&path, |writer| Ok(writer.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(listing(folder.path()), ["figures.json"]);
    }

    #[test]
    fn a_failure_keeps_the_old_file_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.json");
        fs::write(&path, "old").unwrap();
        let broken = write(&path, |writer| {
            writer.write_all(b"half")?;
            bail!("broken")
        });
        assert!(broken.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(listing(folder.path()), ["figures.json"]);
    }

    #[test]
    fn a_path_that_is_not_a_file_is_refused_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        for (path, reason) in [
            (folder.path().to_owned(), "it is a folder"),
            (folder.path().join("nowhere").join("figures.json"), "there is no folder"),
            (PathBuf::new(), "not the name of a file"),
        ] {
            let refusal = format!("{:#}", check_writable(&path).unwrap_err());
            assert!(refusal.contains(reason), "{}: {refusal}", path.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_replaced_by_a_file() {
        let refusal = check_writable(Path::new("/dev/null")).unwrap_err().to_string();
        assert!(refusal.contains("not a regular file"), "{refusal}");
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("figures.json"), folder.path().join("link.json"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, |writer| Ok(writer.write_all(b"new")?)).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn json_can_be_read_back_and_a_failure_leaves_no_file() {
        struct Broken;
        impl Serialize for Broken {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom("broken"))
            }
        }

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.json");
        assert!(write_json(&path, &[Broken]).is_err());
        assert!(listing(folder.path()).is_empty());
        write_json(&path, &[1, 2]).unwrap();
        assert_eq!(serde_json::from_slice::<Vec<u8>>(&fs::read(&path).unwrap()).unwrap(), [1, 2]);
    }
}
