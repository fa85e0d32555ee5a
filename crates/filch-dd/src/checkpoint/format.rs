//! A checkpoint as bytes: a head that is the same in every version, and contents.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use serde::Serialize;

use super::error::Reason;
use super::Checkpoint;

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// The first bytes of a checkpoint.
///
/// They contain a byte that is not text, and a line end that does not survive a transfer as text.
const MAGIC: [u8; 8] = *b"filch\xff\r\n";
pub(super) const HEAD: usize = 28;

/// The head of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    version: u32,
    /// The number of bytes that follow.
    pub(super) length: u64,
    checksum: u32,
}

impl Head {
    fn to_bytes(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.length.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.checksum.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..24]);
        bytes[24..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Parses the first bytes of a file of `length` bytes.
    fn from_bytes(bytes: &[u8], length: u64) -> Result<Head, Reason> {
        let common = bytes.len().min(MAGIC.len());
        if bytes[..common] != MAGIC[..common] {
            return Err(Reason::NotACheckpoint);
        }
        let Ok(bytes) = <[u8; HEAD]>::try_from(bytes) else {
            return Err(Reason::Truncated { bytes: bytes.len() as u64, of: HEAD as u64 });
        };
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if crc32fast::hash(&bytes[..24]) != number(24) {
            return Err(Reason::Corrupted("the checksum of its head is wrong"));
        }
        let [version, low, high, checksum] = [8, 12, 16, 20].map(number);
        let head = Head { version, length: u64::from(low) | u64::from(high) << 32, checksum };
        match version {
            VERSION => {}
            0..VERSION => return Err(Reason::Older { version }),
            _ => return Err(Reason::Newer { version }),
        }
        let whole = head.length.saturating_add(HEAD as u64);
        if length < whole {
            return Err(Reason::Truncated { bytes: length, of: whole });
        }
        if length > whole {
            return Err(Reason::Corrupted("it is longer than its head says"));
        }
        Ok(head)
    }

    /// Reads the head, and checks it against the length of the file.
    pub(super) fn read(file: &mut impl Read, length: u64) -> Result<Head, Reason> {
        let mut bytes = Vec::with_capacity(HEAD);
        file.take(HEAD as u64).read_to_end(&mut bytes).map_err(Reason::Unreadable)?;
        Head::from_bytes(&bytes, length)
    }
}

/// Writes a whole checkpoint, or returns an error.
///
/// The contents are written first, as the head depends on them. Nothing is held twice in memory.
pub(super) fn write<F: Write + Seek>(checkpoint: &Checkpoint, file: F) -> io::Result<F> {
    let mut writer =
        CountingWriter { file: BufWriter::with_capacity(1 << 16, file), length: 0, hasher: crc32fast::Hasher::new() };
    writer.file.write_all(&[0; HEAD])?;
    write_contents(checkpoint, &mut writer)?;
    let CountingWriter { file, length, hasher } = writer;
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&Head { version: VERSION, length, checksum: hasher.finalize() }.to_bytes())?;
    Ok(file)
}

fn write_contents(contents: &impl Serialize, to: &mut CountingWriter<impl Write>) -> io::Result<()> {
    let mut failed = None;
    let written = postcard::to_io(contents, ErrorCapture { to, failed: &mut failed }).map(drop);
    match (written, failed) {
        (Ok(()), None) => Ok(()),
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(io::Error::other(error)),
    }
}

/// A writer that counts the bytes and computes their checksum.
struct CountingWriter<W: Write> {
    file: BufWriter<W>,
    length: u64,
    hasher: crc32fast::Hasher,
}

/// A writer that keeps the I/O error, since postcard does not return it.
struct ErrorCapture<'a, W: Write> {
    to: &'a mut CountingWriter<W>,
    failed: &'a mut Option<io::Error>,
}

impl<W: Write> Write for ErrorCapture<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.to.file.write(bytes) {
            Ok(written) => {
                self.to.hasher.update(&bytes[..written]);
                self.to.length += written as u64;
                Ok(written)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.failed.get_or_insert(error);
                Err(kind.into())
            }
        }
    }

    /// Does nothing: the file is flushed when all is written.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads what follows the head.
pub(super) fn read_contents(head: Head, file: &mut impl Read) -> Result<Checkpoint, Reason> {
    let mut bytes = Vec::new();
    let too_large = Reason::TooLarge { bytes: head.length };
    let Ok(length) = usize::try_from(head.length) else { return Err(too_large) };
    if bytes.try_reserve_exact(length).is_err() {
        return Err(too_large);
    }
    file.take(head.length).read_to_end(&mut bytes).map_err(Reason::Unreadable)?;
    if bytes.len() < length {
        // The file was truncated meanwhile.
        return Err(Reason::Truncated { bytes: (HEAD + bytes.len()) as u64, of: head.length + HEAD as u64 });
    }
    if crc32fast::hash(&bytes) != head.checksum {
        return Err(Reason::Corrupted("the checksum of its contents is wrong"));
    }
    match postcard::take_from_bytes::<Checkpoint>(&bytes) {
        // Every node has bytes of its own, so a count of nodes never exceeds the count of bytes.
        Ok((checkpoint, []))
            if checkpoint.packages.iter().all(|package| package.nodes() <= package.bytes().len() as u64) =>
        {
            Ok(checkpoint)
        }
        _ => Err(Reason::Corrupted("its checksums are right, but its contents cannot be decoded")),
    }
}

/// Returns whether the bytes after the head are those that were written.
pub(super) fn is_whole(head: Head, file: &mut impl Read) -> io::Result<bool> {
    let (mut hasher, mut left) = (crc32fast::Hasher::new(), head.length);
    let mut bytes = vec![0; 1 << 16];
    while left > 0 {
        let wanted = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match file.read(&mut bytes[..wanted]) {
            Ok(0) => return Ok(false),
            Ok(read) => {
                hasher.update(&bytes[..read]);
                left -= read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hasher.finalize() == head.checksum)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::Identity;
    use super::*;
    use crate::port::Package;

    fn checkpoint() -> Checkpoint {
        let mut checkpoint = Checkpoint::new(Identity::new("misp", "p edge 5 5\n"));
        checkpoint.packages = (0..100).map(|at| Package::new(at, -(at as i64), vec![at as u8; 1000])).collect();
        checkpoint
    }

    /// A disk with room for a limited number of bytes.
    struct Disk(Cursor<Vec<u8>>, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let room = self.1.saturating_sub(self.0.position() as usize);
            if room == 0 && !bytes.is_empty() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write(&bytes[..bytes.len().min(room)])
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Disk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn a_written_checkpoint_is_read_back_and_is_whole() {
        let file = write(&checkpoint(), Cursor::new(Vec::new())).unwrap().into_inner();
        let mut bytes = &file[..];
        let head = Head::read(&mut bytes, file.len() as u64).unwrap();
        let mut again = bytes;
        assert!(is_whole(head, &mut again).unwrap());
        assert!(!is_whole(head, &mut &bytes[1..]).unwrap());
        assert_eq!(read_contents(head, &mut bytes).unwrap(), checkpoint());
    }

    #[test]
    fn a_full_disk_is_reported_at_whatever_byte_it_is_full() {
        let whole = write(&checkpoint(), Cursor::new(Vec::new())).unwrap().into_inner().len();
        for room in [0, 1, HEAD, HEAD + 1, 1 << 16, whole - 1] {
            let error = write(&checkpoint(), Disk(Cursor::default(), room)).map(drop).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "with room for {room} bytes");
        }
        assert!(write(&checkpoint(), Disk(Cursor::default(), whole)).is_ok());
    }
}
