//! Bytes from any reader, in blocks of whole lines. Gzip is decompressed.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::error::{At, Problem};
use super::{Options, Progress};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Opens a file. Also returns its length, if it is a regular file.
pub(super) fn open(path: &Path) -> Result<(File, Option<u64>), Problem> {
    let file = File::open(path).map_err(Problem::Open)?;
    let about = file.metadata().map_err(Problem::Open)?;
    if about.is_dir() {
        return Err(Problem::Directory);
    }
    Ok((file, about.is_file().then_some(about.len())))
}

/// Blocks of whole lines. Each block ends with a line feed, the last one too, even if the file does
/// not.
pub(super) struct Input<'a> {
    bytes: Box<dyn Read + 'a>,
    gzip: bool,
    /// The number of bytes taken from the file itself, compressed or not.
    taken: &'a Cell<u64>,
    total: Option<u64>,
    pub(super) options: &'a Options<'a>,
    /// The beginning of a line that ends in the next block.
    rest: Vec<u8>,
    ended: bool,
}

impl<'a> Input<'a> {
    pub(super) fn new(
        bytes: impl Read + 'a,
        total: Option<u64>,
        taken: &'a Cell<u64>,
        options: &'a Options<'a>,
    ) -> Result<Self, At> {
        let mut bytes = Counted { bytes, taken };
        let mut start = Vec::new();
        bytes.by_ref().take(GZIP.len() as u64).read_to_end(&mut start).map_err(Problem::Read)?;
        let gzip = start == GZIP;
        let bytes = io::Cursor::new(start).chain(bytes);
        let bytes: Box<dyn Read + 'a> = if gzip { Box::new(MultiGzDecoder::new(bytes)) } else { Box::new(bytes) };
        Ok(Input { bytes, gzip, taken, total, options, rest: Vec::new(), ended: false })
    }

    /// Returns whether there are no more blocks.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Reads the next block into the memory of an old one. An empty block is the end.
    pub(super) fn next_block(&mut self, mut block: Vec<u8>) -> Result<Vec<u8>, Problem> {
        block.clear();
        if self.ended {
            return Ok(block);
        }
        let size = self.options.block_size;
        block.append(&mut self.rest);
        let wanted = size - block.len();
        if let (Some(total), false) = (self.total, self.gzip) {
            // The known rest of the file, and a byte more to detect the end.
            let left = total.saturating_sub(self.taken.get()).saturating_add(GZIP.len() as u64 + 1);
            block.reserve(usize::try_from(left).unwrap_or(wanted).min(wanted));
        }
        let read = self.bytes.by_ref().take(wanted as u64).read_to_end(&mut block).map_err(|error| {
            // An error of the system has a number. An error of the gzip decoder has none.
            let damaged = self.gzip && error.raw_os_error().is_none();
            if damaged {
                Problem::Gzip(error)
            } else {
                Problem::Read(error)
            }
        })?;
        self.ended = read < wanted;
        if self.ended {
            if block.last().is_some_and(|&last| last != b'\n') {
                block.push(b'\n');
            }
        } else {
            let end = memchr::memrchr(b'\n', &block).ok_or(Problem::LongLine { most: size })? + 1;
            self.rest.extend_from_slice(&block[end..]);
            block.truncate(end);
        }
        if let Some(progress) = self.options.progress {
            progress(Progress { bytes: self.taken.get(), total: self.total });
        }
        Ok(block)
    }
}

/// Reads a header line by line. The rest is left for the parsers of blocks.
pub(super) struct Text<'a> {
    pub(super) input: Input<'a>,
    /// The first block, later the block in which the header ends.
    pub(super) block: Vec<u8>,
    /// Where in the block the next line starts.
    pub(super) start: usize,
    /// The number of lines read.
    pub(super) lines: u64,
}

impl<'a> Text<'a> {
    pub(super) fn new(mut input: Input<'a>) -> Result<Self, At> {
        let block = input.next_block(Vec::new()).map_err(|problem| at_line(problem, 1))?;
        let start = if block.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Ok(Text { input, block, start, lines: 0 })
    }

    /// Returns the lines of the first block, to detect the format.
    pub(super) fn first_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.block[self.start..].split(|&byte| byte == b'\n')
    }

    /// Returns the next line with its line feed; `None` at the end. [`lines`](Text::lines) is its
    /// number.
    pub(super) fn next_line(&mut self) -> Result<Option<&[u8]>, At> {
        if self.start == self.block.len() {
            let old = std::mem::take(&mut self.block);
            self.block = self.input.next_block(old).map_err(|problem| at_line(problem, self.lines + 1))?;
            self.start = 0;
        }
        let rest = &self.block[self.start..];
        if rest.is_empty() {
            return Ok(None);
        }
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        self.start += length;
        self.lines += 1;
        Ok(Some(&rest[..length]))
    }
}

/// Adds the line to the problem. Only a line that is too long has one.
pub(super) fn at_line(problem: Problem, line: u64) -> At {
    let line = matches!(problem, Problem::LongLine { .. }).then_some(line);
    At { line, problem }
}

struct Counted<'a, R> {
    bytes: R,
    taken: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        Ok(read)
    }
}
