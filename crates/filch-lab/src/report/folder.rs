//! The folder that a report is written to, and its data files.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};

use super::collect::plan::PARTS;
use super::collect::Results;
use crate::figures;

/// A folder that is writable.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates the folder if necessary, and checks that it is writable before hours of measurement.
    pub(super) fn open(path: &Path) -> Result<Folder> {
        let folder = Folder { path: path.to_owned() };
        for folder in [&folder.path, &folder.data()] {
            if let Err(error) = fs::create_dir_all(folder) {
                // If a file is in the way, the kind of error depends on its place in the path.
                let is_file = matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory);
                let reason = if is_file { "a file is in its place".to_owned() } else { error.kind().to_string() };
                bail!("cannot create the folder {}: {reason}", folder.display());
            }
        }
        figures::check_writable(&folder.index())?;
        figures::check_writable(&folder.rows(PARTS[0].name))?;
        Ok(folder)
    }

    /// The path of the page.
    pub(super) fn index(&self) -> PathBuf {
        self.path.join("index.html")
    }

    fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    fn rows(&self, name: &str) -> PathBuf {
        self.data().join(format!("{name}.json"))
    }

    /// Writes the results, as rows where possible, and removes outdated files of an earlier report.
    pub(super) fn write_data(&self, results: &Results) -> Result<()> {
        for part in PARTS {
            let path = self.rows(part.name);
            match (part.name, results.suites.get(part.name)) {
                (suite, Some(series)) => {
                    figures::write_json(&path, &figures::rows(suite, series, &results.machine))?;
                }
                ("store-buffer", None) if results.store_buffer.is_some() => {
                    figures::write_json(&path, &results.store_buffer)?;
                }
                ("litmus", None) if results.litmus.is_some() => figures::write_json(&path, &results.litmus)?,
                _ => match fs::remove_file(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(error).with_context(|| format!("cannot remove {}", path.display()));
                    }
                    _ => {}
                },
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::collect::plan::Amount;
    use super::*;
    use crate::figures::tests::series;

    #[test]
    fn rows_are_written_for_each_suite_and_outdated_files_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        fs::write(folder.rows("bulk"), "[]").unwrap();
        let mut results = Results::new(Amount::Quick, Vec::new());
        results.suites.insert("queues", vec![series("the", &[1.0, 2.0, 4.0]), series("chase_lev", &[])]);
        folder.write_data(&results).unwrap();
        assert!(!folder.rows("bulk").exists());
        let rows: serde_json::Value = serde_json::from_slice(&fs::read(folder.rows("queues")).unwrap()).unwrap();
        assert_eq!(rows.as_array().unwrap().len(), 1);
        assert_eq!(
            (&rows[0]["suite"], &rows[0]["impl"], &rows[0]["median"]),
            (&"queues".into(), &"the".into(), &2.0.into())
        );
    }

    #[test]
    fn the_folder_is_created_with_its_parents_and_no_test_files() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a/b");
        let folder = Folder::open(&path).unwrap();
        assert_eq!(folder.index(), path.join("index.html"));
        let names: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["data"]);
    }

    #[test]
    fn a_file_in_place_of_the_folder_or_a_folder_in_place_of_the_page_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            let refusal = Folder::open(&path).unwrap_err().to_string();
            assert!(
                refusal.starts_with("cannot create the folder ") && refusal.ends_with(": a file is in its place"),
                "{refusal}"
            );
        }
        let odd = place.path().join("odd");
        fs::create_dir_all(odd.join("index.html")).unwrap();
        let refusal = Folder::open(&odd).unwrap_err().to_string();
        assert!(refusal.contains("index.html cannot be written: it is a folder"), "{refusal}");
    }
}
