//! Two tests that differ in one thing. The first has a data race, the second has none.
//! ThreadSanitizer must report the first and pass the second. Otherwise its verdict on the queues
//! means nothing.
//!
//! Both run inside the test harness and share their word by `Arc`, as the queues' own tests do. So
//! they also show that the suppressions for the harness do not hide a race.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;

struct Unsynchronised(UnsafeCell<u64>);

// SAFETY: none. This is wrong on purpose: it lets two threads write the same word.
unsafe impl Sync for Unsynchronised {}

#[test]
fn two_threads_write_one_plain_word() {
    let word = Arc::new(Unsynchronised(UnsafeCell::new(0)));
    let same_word = Arc::clone(&word);
    // SAFETY: none, neither here nor below. These two writes are the race.
    let other = thread::spawn(move || unsafe { *same_word.0.get() += 1 });
    unsafe { *word.0.get() += 1 };
    other.join().unwrap();
}

#[test]
fn two_threads_write_one_atomic_word() {
    let word = Arc::new(AtomicU64::new(0));
    let same_word = Arc::clone(&word);
    let other = thread::spawn(move || same_word.fetch_add(1, Ordering::Relaxed));
    word.fetch_add(1, Ordering::Relaxed);
    other.join().unwrap();
    assert_eq!(word.load(Ordering::Relaxed), 2);
}
