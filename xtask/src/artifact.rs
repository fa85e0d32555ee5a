//! Finds the files that cargo built. Uses cargo's own messages and not the folder layout.

use std::path::{Path, PathBuf};

use anyhow::{bail, Result};
use serde_json::Value;

use crate::command_line::CommandLine;

/// Runs a `cargo build` and returns the file that it made for the target `name`. `ext` is the
/// file's extension, or `None` for a program.
pub(crate) fn build(cargo: CommandLine, name: &str, ext: Option<&str>) -> Result<PathBuf> {
    let messages = cargo.arg("--message-format=json-render-diagnostics").capture_stdout()?;
    match find(&String::from_utf8_lossy(&messages), name, ext) {
        Some(path) => Ok(path),
        None => bail!("cargo built `{name}` but reported no path for it; the format of its messages may have changed"),
    }
}

/// A program that cargo built from a package's tests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestProgram {
    /// The name of the package's folder.
    pub(crate) folder: String,
    /// The name of the target: the library's name, or that of a file in `tests`.
    pub(crate) name: String,
    /// Whether these are the library's unit tests.
    pub(crate) is_unit: bool,
    pub(crate) path: PathBuf,
}

/// Runs a `cargo test --no-run` and returns the programs that it built.
pub(crate) fn build_tests(cargo: CommandLine) -> Result<Vec<TestProgram>> {
    let messages = cargo.arg("--message-format=json-render-diagnostics").capture_stdout()?;
    Ok(test_programs(&String::from_utf8_lossy(&messages)))
}

fn test_programs(messages: &str) -> Vec<TestProgram> {
    let program = |message: Value| {
        let path = message["executable"].as_str()?.into();
        let package = Path::new(message["manifest_path"].as_str()?).parent()?;
        Some(TestProgram {
            folder: package.file_name()?.to_str()?.to_owned(),
            name: message["target"]["name"].as_str()?.to_owned(),
            is_unit: message["target"]["kind"][0] == "lib",
            path,
        })
    };
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["profile"]["test"] == true)
        .filter_map(program)
        .collect()
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
    fn a_target_that_was_not_built_is_not_found() {
        assert_eq!(find(MESSAGES, "fast_paths", Some("rlib")), None);
        assert_eq!(find(MESSAGES, "slow_paths", None), None);
    }

    #[test]
    fn test_programs_are_found_and_unit_tests_are_marked() {
        let messages = r#"
{"reason":"compiler-artifact","manifest_path":"/w/rayon/Cargo.toml","target":{"name":"rayon","kind":["lib"]},"profile":{"test":false},"filenames":["/t/librayon.rlib"],"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/rayon/Cargo.toml","target":{"name":"rayon","kind":["lib"]},"profile":{"test":true},"filenames":["/t/rayon-1"],"executable":"/t/rayon-1"}
{"reason":"compiler-artifact","manifest_path":"/w/rayon/Cargo.toml","target":{"name":"str","kind":["test"]},"profile":{"test":true},"filenames":["/t/str-2"],"executable":"/t/str-2"}
"#;
        let program = |name: &str, is_unit: bool, path: &str| TestProgram {
            folder: "rayon".into(),
            name: name.into(),
            is_unit,
            path: path.into(),
        };
        assert_eq!(test_programs(messages), [program("rayon", true, "/t/rayon-1"), program("str", false, "/t/str-2")]);
    }
}
