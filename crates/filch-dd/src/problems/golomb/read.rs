//! Reads the text format.

use super::super::text::{Lines, ReadError};
use super::model::{Golomb, MAX_MARKS};

/// Reads an instance from the bytes of a file; see the [format](super#the-format).
///
/// # Errors
///
/// If the file is not valid. The error is a sentence with the line.
pub fn read(bytes: &[u8]) -> Result<Golomb, ReadError> {
    let mut lines = Lines::new(bytes, |text| text.starts_with(b"#"))?;
    let mut line = lines.expect("the number of marks")?;
    let marks = line.number("the number of marks", 1, MAX_MARKS as i64)?;
    line.end("the number of marks")?;
    lines.finish("the number of marks")?;
    Golomb::new(marks as usize).map_err(|wrong| ReadError::whole_file(wrong.0))
}
