//! Reading a checkpoint from a file, and writing one in the place of the one before.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use super::error::{CheckpointError, Reason};
use super::format::{self, Head};
use super::{Checkpoint, Identity};

/// What the names of files that are being written end with.
const PART: &str = ".part";

/// Where the checkpoint before the one in `path` is kept: `FILE.previous`.
pub fn previous(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".previous");
    PathBuf::from(name)
}

/// Removes what writers that were killed have left half written beside `path`.
///
/// A keeper does so before its first checkpoint. It is for the one who writes to `path`, while nobody else does: another's checkpoint that is being written would be lost, and its writer told so.
pub fn sweep(path: &Path) {
    let Ok(Place { target, folder }) = Place::of(path) else { return };
    let (Some(prefix), Ok(entries)) = (prefix(&target), fs::read_dir(folder)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let (name, prefix) = (name.as_encoded_bytes(), prefix.as_encoded_bytes());
        let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(PART.as_bytes()));
        // Not those of a file whose name begins as this one's. Nothing is lost if one stays.
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
    /// Reads one.
    ///
    /// # Errors
    ///
    /// If there is none, or it is not what was written there, or is of another version. The file is left as it is, whatever it is, and no more memory is taken than its size calls for.
    pub fn read(path: &Path) -> Result<Checkpoint, CheckpointError> {
        read(path).map_err(|reason| CheckpointError::new(reason).of(path))
    }

    /// Reads one that must be of this instance.
    ///
    /// # Errors
    ///
    /// As [`read`](Checkpoint::read), or if it is of something else.
    pub fn read_for(path: &Path, identity: &Identity) -> Result<Checkpoint, CheckpointError> {
        let checkpoint = Checkpoint::read(path)?;
        checkpoint.check(identity).map_err(|error| error.of(path))?;
        Ok(checkpoint)
    }

    /// Writes it to `path`. The checkpoint that was there, if it is whole, is [the previous one](previous) from then on.
    ///
    /// It is written beside it, brought to the disk, and only then moved: at every moment the file is whole, be it the old one or the new. Where the file
    /// system has no links, there is a moment at which only the previous one is there.
    ///
    /// # Errors
    ///
    /// If it could not be written. What was there is there still.
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
    // Before it is opened: who opens a pipe waits for its other end.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Reason::NotAFile);
    }
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    Ok((file, length))
}

/// Where a file goes.
struct Place {
    /// A link stays a link: what it points to is replaced.
    target: PathBuf,
    folder: PathBuf,
}

impl Place {
    fn of(path: &Path) -> Result<Place, Reason> {
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
        Ok(Place { target, folder })
    }
}

fn write(checkpoint: &Checkpoint, path: &Path) -> Result<(), Reason> {
    let Place { target, folder } = Place::of(path)?;
    let prefix = prefix(&target).ok_or(Reason::NotAFile)?;
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(PART);
    // It gets what any new file gets, where a temporary file would be for its owner only.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The kind alone, where an error would name a file that nobody asked for.
    let unnamed = |error: io::Error| Reason::NotWritten(error.kind().into());
    let mut part = builder.tempfile_in(&folder).map_err(unnamed)?;
    format::write(checkpoint, part.as_file_mut()).map_err(Reason::NotWritten)?;
    part.as_file().sync_all().map_err(Reason::NotWritten)?;
    if is_whole(&target) {
        keep(&target, &previous(&target)).map_err(unnamed)?;
    }
    part.persist(&target).map_err(|failure| unnamed(failure.error))?;
    sync_folder(&folder).map_err(Reason::NotWritten)
}

/// Whether there is a checkpoint that is worth keeping: a damaged one must not take the place of the one before it.
fn is_whole(path: &Path) -> bool {
    let whole = || {
        let (mut file, length) = open(path)?;
        let head = Head::read(&mut file, length)?;
        format::is_whole(head, &mut file).map_err(Reason::Unreadable)
    };
    whole().unwrap_or(false)
}

/// Keeps a file under a second name, in place of what has that name.
fn keep(target: &Path, previous: &Path) -> io::Result<()> {
    match fs::remove_file(previous) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Two names for one file, so that it is there under its own until the new one takes it. Not every file system can do that: on others it is for a moment only there as the previous one.
    fs::hard_link(target, previous).or_else(|_| fs::rename(target, previous))
}

/// Names are on the disk only when their folder is.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems cannot.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
