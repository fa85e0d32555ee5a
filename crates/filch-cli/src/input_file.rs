//! Files that commands read.
//!
//! Every error in one has the form `FILE:LINE: what was expected, what was found`, without a line if
//! no line is the cause.

use std::fs;
use std::path::Path;

use anyhow::{anyhow, Context, Result};

/// Returns the name of a file, safe to print: it may contain control characters.
pub fn name(path: &Path) -> String {
    path.display().to_string().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{}: cannot read the file", name(path)))
}

/// Reads a text file.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read(path)?;
    let end = |error: &std::string::FromUtf8Error| error.utf8_error().valid_up_to();
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..end(&error)].iter().filter(|&&byte| byte == b'\n').count();
        anyhow!("{}:{line}: expected text, found bytes that are not UTF-8", name(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a\nb");
        let error = |path: &Path| format!("{:#}", read_text(path).unwrap_err());
        assert!(error(&path).contains("a\u{fffd}b: cannot read the file: "), "{}", error(&path));
        fs::write(&path, b"one\ntwo \xff\n").unwrap();
        assert!(error(&path).ends_with("a\u{fffd}b:2: expected text, found bytes that are not UTF-8"));
    }
}
