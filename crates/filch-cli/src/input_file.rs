//! Files that commands read.
//!
//! Every error in one has the form `FILE:LINE: what was expected, what was found`, without a line if
//! no line is the cause.

use std::fs;
use std::path::Path;

use anyhow::{anyhow, bail, Context, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;

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

/// Reads a JSON file. Errors of `parse` get its name, and the line if the text is not JSON.
pub fn read_json<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    let (text, name) = (read_text(path)?, name(path));
    parse(&text).map_err(|error| match error.downcast_ref::<serde_json::Error>().map(serde_json::Error::line) {
        Some(line) if line > 0 => error.context(format!("{name}:{line}")),
        _ => error.context(name),
    })
}

/// Parses JSON with the fields `format` and `version`. `expected` is the kind of file.
pub fn parse_json<T: DeserializeOwned>(text: &str, expected: &str, format: &str, version: u32) -> Result<T> {
    // The version decides which other fields are required.
    let value: Value = serde_json::from_str(text)
        .with_context(|| format!("expected {expected}, found a damaged file or another kind of file"))?;
    if value.get("format").and_then(Value::as_str) != Some(format) {
        bail!("expected {expected}, found another kind of file");
    }
    match value.get("version").and_then(Value::as_u64) {
        Some(found) if found == u64::from(version) => {}
        Some(found) => bail!("expected version {version} of the format, found version {found}"),
        None => bail!("the file is damaged: it has no version"),
    }
    serde_json::from_value(value).context("the file is damaged")
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
