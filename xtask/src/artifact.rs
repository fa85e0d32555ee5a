//! Where cargo put what it built, from cargo's own account rather than a guess at the folder layout.

use std::path::PathBuf;

use anyhow::{bail, Result};
use serde_json::Value;

use crate::call::Call;

/// Runs a `cargo build` and returns the file with the extension `ext` (none for a program) that it made for the
/// target called `name`.
pub(crate) fn build(cargo: Call, name: &str, ext: Option<&str>) -> Result<PathBuf> {
    let messages = cargo.arg("--message-format=json-render-diagnostics").read()?;
    match find(&String::from_utf8_lossy(&messages), name, ext) {
        Some(path) => Ok(path),
        None => bail!("cargo built `{name}` but did not say where; its messages may have changed their format"),
    }
}

fn find(messages: &str, name: &str, ext: Option<&str>) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == name)
        .filter_map(|message| message["filenames"].as_array().cloned())
        .flatten()
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .find(|path| path.extension().and_then(|e| e.to_str()) == ext)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
{"reason":"compiler-artifact","target":{"name":"libc"},"filenames":["/t/deps/liblibc-1.rlib"]}
not json
{"reason":"compiler-artifact","target":{"name":"filch_queue"},"filenames":["/t/libfilch_queue.rmeta","/t/libfilch_queue.rlib"]}
{"reason":"compiler-artifact","target":{"name":"fast_paths"},"filenames":["/t/examples/fast_paths"]}
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn a_library_and_a_program_are_found_by_target_name() {
        assert_eq!(find(MESSAGES, "filch_queue", Some("rlib")), Some(PathBuf::from("/t/libfilch_queue.rlib")));
        assert_eq!(find(MESSAGES, "fast_paths", None), Some(PathBuf::from("/t/examples/fast_paths")));
    }

    #[test]
    fn what_was_not_built_is_not_found() {
        assert_eq!(find(MESSAGES, "fast_paths", Some("rlib")), None);
        assert_eq!(find(MESSAGES, "slow_paths", None), None);
    }
}
