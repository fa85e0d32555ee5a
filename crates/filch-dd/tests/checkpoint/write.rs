//! Writing: the checkpoint before is kept, and one exists at every moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use filch_dd::checkpoint::{previous, remove_partial_files, Checkpoint, Identity, Reason};

use crate::counting::alone;
use crate::samples::{numbered, with_head};

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search");
    (folder, path)
}

fn listing(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

fn number(path: &Path) -> u64 {
    Checkpoint::read(path).unwrap().open()
}

#[test]
fn the_previous_checkpoint_is_kept() {
    let _alone = alone();
    let (folder, path) = folder();
    numbered(1).write(&path).unwrap();
    assert_eq!(listing(folder.path()), ["search"]);
    for at in 2..5 {
        numbered(at).write(&path).unwrap();
        assert_eq!((number(&path), number(&previous(&path))), (at, at - 1));
        assert_eq!(listing(folder.path()), ["search", "search.previous"]);
    }
}

#[test]
fn at_every_moment_the_file_is_whole() {
    let _alone = alone();
    let (_folder, path) = folder();
    numbered(0).write(&path).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                let now = number(&path);
                assert!(now >= last, "{now} after {last}");
                last = now;
            }
            last
        });
        for at in 1..=20 {
            numbered(at).write(&path).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        assert!(reading.join().unwrap() <= 20);
    });
}

#[test]
fn a_damaged_file_does_not_replace_the_previous_checkpoint() {
    let _alone = alone();
    let (_folder, path) = folder();
    numbered(1).write(&path).unwrap();
    numbered(2).write(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&whole[..whole.len() - 1], &flipped, b"", b"something else", &with_head(9, b"newer")] {
        // A new file: the old one shares its contents with the previous one through a hard link.
        fs::remove_file(&path).unwrap();
        fs::write(&path, damaged).unwrap();
        let error = Checkpoint::read(&path).unwrap_err().to_string();
        assert!(error.ends_with("search.previous"), "{error}");
        numbered(3).write(&path).unwrap();
        assert_eq!((number(&path), number(&previous(&path))), (3, 1));
    }
}

#[test]
fn a_failed_write_changes_no_file() {
    let _alone = alone();
    let (folder, path) = folder();
    let nowhere = folder.path().join("nowhere").join("search");
    let error = numbered(1).write(&nowhere).unwrap_err();
    assert!(matches!(error.reason(), Reason::NoFolder), "{error}");
    assert!(error.to_string().ends_with("cannot write the file: there is no such folder"), "{error}");
    for path in [folder.path(), Path::new("")] {
        let error = numbered(1).write(path).unwrap_err();
        assert!(matches!(error.reason(), Reason::NotAFile | Reason::NoFolder), "{error}");
    }
    numbered(1).write(&path).unwrap();
    // This blocks the previous one.
    fs::create_dir(previous(&path)).unwrap();
    assert!(matches!(numbered(2).write(&path).unwrap_err().reason(), Reason::NotWritten(_)));
    assert_eq!(number(&path), 1);
    assert_eq!(listing(folder.path()), ["search", "search.previous"]);
}

#[cfg(unix)]
#[test]
fn devices_and_links_are_not_replaced() {
    let _alone = alone();
    let (folder, path) = folder();
    let null = Path::new("/dev/null");
    assert!(matches!(numbered(1).write(null).unwrap_err().reason(), Reason::NotAFile));
    assert!(matches!(Checkpoint::read(null).unwrap_err().reason(), Reason::NotAFile));
    assert!(matches!(Checkpoint::read(folder.path()).unwrap_err().reason(), Reason::NotAFile));
    numbered(1).write(&path).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    numbered(2).write(&link).unwrap();
    assert!(link.is_symlink());
    assert_eq!(number(&path), 2);
    fs::remove_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    let error = Checkpoint::read(&link).unwrap_err().to_string();
    assert!(error.ends_with("search.previous"), "{error}");
}

#[test]
fn sweep_removes_only_the_partial_files_of_killed_writers() {
    let _alone = alone();
    let (folder, path) = folder();
    numbered(1).write(&path).unwrap();
    for name in [".search.aB3dE6.part", ".searching.aB3dE6.part", ".search.aB3dE6", "search.part"] {
        fs::write(folder.path().join(name), "half").unwrap();
    }
    remove_partial_files(&path);
    assert_eq!(listing(folder.path()), [".search.aB3dE6", ".searching.aB3dE6.part", "search", "search.part"]);
}

#[test]
fn a_checkpoint_of_another_problem_or_instance_is_refused_with_a_reason() {
    let _alone = alone();
    let (_folder, path) = folder();
    let identity = Identity::new("misp", "p edge 2 1\ne 1 2\n");
    let missing = Checkpoint::read_for(&path, &identity).unwrap_err();
    assert!(matches!(missing.reason(), Reason::Missing));
    assert!(missing.to_string().ends_with("search: there is no such file"), "{missing}");
    numbered(1).write(&path).unwrap();
    assert!(Checkpoint::read_for(&path, &identity).is_ok());
    for (identity, reason) in [
        (Identity::new("clique", "p edge 2 1\ne 1 2\n"), "search: expected a checkpoint of clique, found one of misp"),
        (
            Identity::new("misp", "p edge 2 0\n"),
            "search: expected a checkpoint of this instance of misp, found one of another instance",
        ),
    ] {
        let refusal = Checkpoint::read_for(&path, &identity).unwrap_err().to_string();
        assert!(refusal.ends_with(reason), "{refusal}");
    }
    // The file is missing between the two moves, on a file system without links.
    numbered(2).write(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let missing = Checkpoint::read_for(&path, &identity).unwrap_err().to_string();
    assert!(missing.contains("there is no such file. The checkpoint before it is in "), "{missing}");
    assert!(missing.ends_with("search.previous"), "{missing}");
}
