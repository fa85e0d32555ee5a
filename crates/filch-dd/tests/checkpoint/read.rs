//! The reader on good files, damaged files, noise, and damage with corrected checksums.
//!
//! It never panics, and never takes more memory than the bytes can ask for.

use std::fs;
use std::path::Path;

use filch_dd::checkpoint::{Checkpoint, CheckpointError, Reason, VERSION};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::counting::{alone, most_held};
use crate::damage::{damage, damages};
use crate::samples::{checkpoints, numbered, with_head, HEAD};

/// The memory that the reader may take for each byte of a file.
///
/// A package has at least three bytes; it takes 40, and three times that while the list of packages
/// grows.
const PER_BYTE: usize = 48;
/// The memory that lists may take in advance, if only their length is known.
const CONSTANT: usize = 4 << 20;

/// Runs a test on files in a folder of its own.
fn run<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value, &Path) -> Result<(), TestCaseError>) {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&strategy, |value| test(value, &path));
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Writes a new file.
///
/// Some file systems sync a file at once if it is overwritten, and thousands of cases would wait
/// for that.
fn put(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).unwrap();
}

/// The claim about any bytes at all.
fn check(bytes: &[u8], path: &Path) -> Result<Result<Checkpoint, CheckpointError>, TestCaseError> {
    put(path, bytes);
    let (result, held) = most_held(|| Checkpoint::read(path));
    prop_assert!(held <= CONSTANT + bytes.len() * PER_BYTE, "{} bytes, but {held} were allocated", bytes.len());
    prop_assert_eq!(&fs::read(path).unwrap()[..], bytes, "the file is left as it is");
    match &result {
        Ok(checkpoint) => {
            put(path, &file_of(checkpoint));
            prop_assert_eq!(&Checkpoint::read(path).unwrap(), checkpoint);
        }
        Err(error) => {
            let sentence = error.to_string();
            prop_assert!(sentence.starts_with(&*path.to_string_lossy()), "{}", sentence);
            prop_assert!(sentence.len() < 700 && !sentence.contains(char::is_control), "{:?}", sentence);
        }
    }
    Ok(result)
}

const WORDS: [&str; 6] = ["\0", "\x01", "\x7f", "filch", "\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}", "\n"];

/// Returns the bytes of a file without writing it.
///
/// Thousands of cases would wait for the disk.
fn file_of(checkpoint: &Checkpoint) -> Vec<u8> {
    with_head(VERSION, &postcard::to_stdvec(checkpoint).unwrap())
}

#[test]
fn a_written_checkpoint_is_read_back() {
    // Each case waits for the disk.
    run(16, checkpoints(), |checkpoint, path| {
        checkpoint.write(path).unwrap();
        let bytes = fs::read(path).unwrap();
        prop_assert_eq!(&file_of(&checkpoint), &bytes, "the file is as the documentation says");
        prop_assert_eq!(check(&bytes, path)?.unwrap(), checkpoint);
        Ok(())
    });
}

#[test]
fn any_damage_is_detected() {
    run(3000, (checkpoints(), prop::collection::vec(damages(&WORDS), 1..4)), |(checkpoint, damages), path| {
        let whole = file_of(&checkpoint);
        let mut bytes = whole.clone();
        damages.iter().for_each(|one| damage(&mut bytes, one));
        prop_assert_eq!(check(&bytes, path)?.is_ok(), bytes == whole);
        Ok(())
    });
}

#[test]
fn a_truncated_file_is_reported_with_its_length() {
    run(500, (checkpoints(), any::<prop::sample::Index>()), |(checkpoint, at), path| {
        let whole = file_of(&checkpoint);
        let cut = at.index(whole.len());
        let error = check(&whole[..cut], path)?.unwrap_err();
        let of = if cut < HEAD { HEAD } else { whole.len() } as u64;
        let as_expected =
            matches!(*error.reason(), Reason::Truncated { bytes, of: all } if (bytes, all) == (cut as u64, of));
        prop_assert!(as_expected, "{}", error);
        Ok(())
    });
}

#[test]
fn damage_with_corrected_checksums_is_read_or_refused() {
    run(3000, (checkpoints(), prop::collection::vec(damages(&WORDS), 1..6)), |(checkpoint, damages), path| {
        let mut contents = file_of(&checkpoint).split_off(HEAD);
        damages.iter().for_each(|one| damage(&mut contents, one));
        if let Err(error) = check(&with_head(VERSION, &contents), path)? {
            prop_assert!(matches!(error.reason(), Reason::Corrupted(_)), "{}", error);
        }
        Ok(())
    });
}

#[test]
fn random_bytes_are_refused() {
    run(1000, prop::collection::vec(any::<u8>(), 0..300), |noise, path| {
        let refused = matches!(check(&noise, path)?, Err(error) if matches!(error.reason(), Reason::NotACheckpoint | Reason::Truncated { .. }));
        prop_assert!(refused);
        if let Err(error) = check(&with_head(VERSION, &noise), path)? {
            prop_assert!(matches!(error.reason(), Reason::Corrupted(_)), "{}", error);
        }
        Ok(())
    });
}

/// Contents that promise more than there is: lists of lists, with the greatest lengths.
#[test]
fn lengths_are_not_trusted() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let whole = file_of(&numbered(3));
    for at in HEAD..whole.len().min(HEAD + 60) {
        let mut contents = whole[HEAD..at].to_vec();
        contents.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        check(&with_head(VERSION, &contents), &path).unwrap().map(drop).unwrap_err();
    }
    let mut head = with_head(VERSION, &[]);
    head[12..20].copy_from_slice(&u64::MAX.to_le_bytes());
    let checksum = crc32fast::hash(&head[..24]).to_le_bytes();
    head[24..].copy_from_slice(&checksum);
    let error = check(&head, &path).unwrap().unwrap_err();
    assert!(matches!(error.reason(), Reason::Truncated { .. }), "{error}");
}

#[test]
fn another_version_is_reported_before_the_contents_are_read() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (version, reason) in [
        (VERSION - 1, "expected version 1 of the format, found version 0: resume with the older program that wrote it"),
        (VERSION + 1, "expected version 1 of the format, found version 2: resume with the newer program that wrote it"),
        (u32::MAX, "found version 4294967295"),
    ] {
        let error = check(&with_head(version, b"what another version writes"), &path).unwrap().unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        // A damaged version is not another version.
        let mut bytes = with_head(VERSION, b"");
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        let error = check(&bytes, &path).unwrap().unwrap_err();
        assert!(matches!(error.reason(), Reason::Corrupted(_)), "{error}");
    }
}

/// The test can fail: it catches a reader that trusts a length.
#[test]
fn a_reader_that_trusts_a_length_is_caught() {
    let _alone = alone();
    let (_, held) = most_held(|| std::hint::black_box(Vec::<u8>::with_capacity(40 << 20)).capacity());
    assert!(held > CONSTANT + HEAD * PER_BYTE);
}
