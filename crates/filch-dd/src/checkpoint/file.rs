//! Reads a checkpoint from a file, and writes one in place of the one before.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use super::error::{CheckpointError, Reason};
use super::format::{self, Head};
use super::{Checkpoint, Identity};

/// The suffix of files that are being written.
const PART_SUFFIX: &str = ".part";

/// Returns where the checkpoint before the one in `path` is kept: `FILE.previous`.
pub fn previous(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".previous");
    PathBuf::from(name)
}

/// Removes the partial files that killed writers have left beside `path`.
///
/// A search calls it before its first checkpoint. Only the writer of `path` may call it, while no
/// other process writes there. Otherwise the checkpoint that the other process is writing is lost,
/// and its write fails.
pub fn remove_partial_files(path: &Path) {
    let Ok(TargetFile { path: target, folder }) = TargetFile::of(path) else { return };
    let (Some(prefix), Ok(entries)) = (prefix(&target), fs::read_dir(folder)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let (name, prefix) = (name.as_encoded_bytes(), prefix.as_encoded_bytes());
        let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(PART_SUFFIX.as_bytes()));
        // Not the files of another path whose name starts with this one's. Nothing is lost if a
        // file stays.
        if random.is_some_and(|random| random.iter().all(u8::is_ascii_alphanumeric)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn prefix(target: &Path) -> Option<OsString> {
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name()?);
    prefix.push(".");
    Some(prefix)
}

impl Checkpoint {
    /// Reads a checkpoint.
    ///
    /// # Errors
    ///
    /// If there is none, or it is damaged, or has another version. The file is never changed. The
    /// memory used is bounded by the size of the file.
    pub fn read(path: &Path) -> Result<Checkpoint, CheckpointError> {
        read(path).map_err(|reason| CheckpointError::new(reason).of(path))
    }

    /// Reads a checkpoint that must belong to this instance.
    ///
    /// # Errors
    ///
    /// The same as for [`read`](Checkpoint::read), or if it belongs to something else.
    pub fn read_for(path: &Path, identity: &Identity) -> Result<Checkpoint, CheckpointError> {
        let checkpoint = Checkpoint::read(path)?;
        checkpoint.check(identity).map_err(|error| error.of(path))?;
        Ok(checkpoint)
    }

    /// Writes the checkpoint to `path`.
    ///
    /// The checkpoint that was there, if it is whole, becomes [the previous one](previous).
    ///
    /// The checkpoint is written to a file beside it, synced to the disk, and only then moved. So
    /// at every moment the file is whole, either the old one or the new one. If the file system has
    /// no hard links, there is a moment at which only the previous one exists.
    ///
    /// # Errors
    ///
    /// If it could not be written. The checkpoint that was there stays.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        write(self, path).map_err(|reason| CheckpointError::new(reason).of(path))
    }
}

fn read(path: &Path) -> Result<Checkpoint, Reason> {
    let (mut file, length) = open(path)?;
    let head = Head::read(&mut file, length)?;
    format::read_contents(head, &mut file)
}

fn open(path: &Path) -> Result<(File, u64), Reason> {
    let unreadable = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => Reason::Missing,
        _ => Reason::Unreadable(error),
    };
    // Checked before it is opened: opening a pipe waits for its other end.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Reason::NotAFile);
    }
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    Ok((file, length))
}

/// The target of a write.
struct TargetFile {
    /// The path with links resolved. A link stays a link, and its target is replaced.
    path: PathBuf,
    folder: PathBuf,
}

impl TargetFile {
    fn of(path: &Path) -> Result<TargetFile, Reason> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if target.exists() && !target.is_file() {
            return Err(Reason::NotAFile);
        }
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        if !folder.is_dir() {
            return Err(Reason::NoFolder);
        }
        Ok(TargetFile { path: target, folder })
    }
}

fn write(checkpoint: &Checkpoint, path: &Path) -> Result<(), Reason> {
    let TargetFile { path: target, folder } = TargetFile::of(path)?;
    let prefix = prefix(&target).ok_or(Reason::NotAFile)?;
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(PART_SUFFIX);
    // Permissions of an ordinary new file; a temporary file would be readable by its owner only.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // Keeps only the kind: the error would name a temporary file that is unknown to the user.
    let unnamed = |error: io::Error| Reason::NotWritten(error.kind().into());
    let mut part = builder.tempfile_in(&folder).map_err(unnamed)?;
    format::write(checkpoint, part.as_file_mut()).map_err(Reason::NotWritten)?;
    part.as_file().sync_all().map_err(Reason::NotWritten)?;
    if is_whole(&target) {
        keep_as_previous(&target, &previous(&target)).map_err(unnamed)?;
    }
    part.persist(&target).map_err(|failure| unnamed(failure.error))?;
    sync_folder(&folder).map_err(Reason::NotWritten)
}

/// Returns whether there is a checkpoint worth keeping.
///
/// A damaged checkpoint must not replace the previous one.
fn is_whole(path: &Path) -> bool {
    let whole = || {
        let (mut file, length) = open(path)?;
        let head = Head::read(&mut file, length)?;
        format::is_whole(head, &mut file).map_err(Reason::Unreadable)
    };
    whole().unwrap_or(false)
}

/// Keeps a file under a second name, and replaces what has that name.
fn keep_as_previous(target: &Path, previous: &Path) -> io::Result<()> {
    match fs::remove_file(previous) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // A hard link keeps the file under its own name until the new one replaces it. Not every file
    // system can do that. On others, for a moment, only the previous one exists.
    fs::hard_link(target, previous).or_else(|_| fs::rename(target, previous))
}

/// Syncs the folder, so that the new names are on the disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems cannot sync folders.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
