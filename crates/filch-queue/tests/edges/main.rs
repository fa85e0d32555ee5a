//! Edge cases of all queues. Impossible sizes, handles that outlive each other, thread bounds, and
//! a kernel that refuses `membarrier`.
#![cfg(not(loom))]

#[path = "../common/mod.rs"]
mod common;
mod handles;
mod limits;
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(filch_no_membarrier)))]
#[path = "../seccomp/mod.rs"]
mod seccomp;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod separate_process;
mod traits;

use std::error::Error;

use common::{delta, for_every_array_queue, Made, Queue, Setup};
use filch_queue::bound::FENCE_FREE;
use filch_queue::idempotent::fifo;
use filch_queue::{asymmetric, chase_lev, ff_cl};
use filch_queue::{Owner, Steal, Thief};

fn with_capacity<Q: Queue, T: Copy + Send>(capacity: usize) -> Made<Q::Owner<T>, Q::Thief<T>> {
    Q::make(Setup { capacity, ..Setup::small() })
}

/// Checks that the message is a sentence.
///
/// It begins with a letter, has several words, and contains the requested number.
fn check_message(error: &dyn Error, requested: Option<usize>) {
    let message = error.to_string();
    assert!(message.split(' ').count() > 5, "too short: {message}");
    if let Some(requested) = requested {
        assert!(message.contains(&requested.to_string()), "{requested} is not in: {message}");
    }
}

fn has_debug_output<Q: Queue>() {
    let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
    owner.push(1);
    owner.push(2);
    let module = Q::NAME.split(',').next().unwrap();
    assert_eq!(format!("{owner:?}"), format!("{module}::Owner {{ len: 2, .. }}"));
    assert_eq!(format!("{thief:?}"), format!("{module}::Thief {{ len: 2, .. }}"));
}

for_every_array_queue!(debug_output_of_handles_has_the_name_and_length_of_the_queue, has_debug_output);

#[test]
fn or_else_tries_one_victim_after_the_other() {
    let (first, first_thief) = chase_lev::new();
    let (second, second_thief) = fifo::new();
    let (doubtful, doubtful_thief) = ff_cl::new(delta(1));
    let round = || first_thief.steal().or_else(|| doubtful_thief.steal()).or_else(|| second_thief.steal());
    assert_eq!(round(), Steal::Empty);
    doubtful.push(1);
    let doubt = if FENCE_FREE { Steal::Abort } else { Steal::Success(1) };
    assert_eq!(round(), doubt);
    doubtful.push(1);
    second.push(2);
    let next = if FENCE_FREE { Steal::Success(2) } else { Steal::Success(1) };
    assert_eq!(round(), next);
    first.push(3);
    assert_eq!(round().map(|task: usize| task * 10), Steal::Success(30));
    // No task is stolen from a victim that comes after a success.
    (4..7).for_each(|task| first.push(task));
    let thieves = [&first_thief, &first_thief, &first_thief];
    let found: Steal<usize> = thieves.into_iter().map(Thief::steal).collect();
    assert_eq!((found.success(), first.len()), (Some(4), 2));
}

#[test]
fn the_modes_of_the_asymmetric_queue_have_names() {
    assert_eq!(asymmetric::Mode::Membarrier.to_string(), "membarrier");
    assert_eq!(asymmetric::Mode::Fenced.to_string(), "fenced");
}

#[cfg(any(filch_no_membarrier, not(target_os = "linux")))]
#[test]
fn an_asymmetric_queue_without_membarrier_is_fenced_from_the_start() {
    let (owner, thief) = asymmetric::new();
    assert_eq!((owner.mode(), thief.mode()), (asymmetric::Mode::Fenced, asymmetric::Mode::Fenced));
    owner.push(1);
    owner.push(2);
    assert_eq!((thief.steal(), owner.pop(), owner.pop()), (Steal::Success(1), Some(2), None));
}
