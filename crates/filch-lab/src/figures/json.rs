//! Writes rows, or any serializable value, as JSON.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::file;

/// Writes `value` to `path`, replacing an existing file.
pub(crate) fn write_json<V: Serialize + ?Sized>(path: &Path, value: &V) -> Result<()> {
    file::write(path, |writer| {
        serde_json::to_writer_pretty(&mut *writer, value)?;
        writer.write_all(b"\n")?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn rows_are_an_array() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.json");
        write_json(&path, &[1, 2]).unwrap();
        assert_eq!(serde_json::from_slice::<Vec<u8>>(&fs::read(&path).unwrap()).unwrap(), [1, 2]);
    }

    #[test]
    fn rows_that_cannot_be_serialised_leave_no_file() {
        struct Broken;
        impl Serialize for Broken {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom("broken"))
            }
        }

        let folder = tempfile::tempdir().unwrap();
        assert!(write_json(&folder.path().join("figures.json"), &[Broken]).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
