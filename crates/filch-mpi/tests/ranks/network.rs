//! The network alone.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::thread;
use std::time::Duration;

use filch_mpi::network::{agree, Mpi, Network};

use super::Case;

pub(super) const CASES: &[Case] = &[
    ("messages_of_all_sizes_from_all_ranks_to_all_ranks_arrive_in_order", all_to_all),
    ("messages_of_a_rank_to_itself_arrive_in_order", to_itself),
    ("buffers_of_sent_messages_are_freed", buffers_are_freed),
    ("a_send_never_waits_for_its_receiver", sends_do_not_wait),
    ("all_ranks_start_or_none_does", all_start_or_none),
];

/// The largest piece passed to MPI. Errors are likely at sizes around it and its multiples.
const PIECE: usize = 4 << 20;
const LARGE: [usize; 6] = [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 8_000_000, 100_000];

/// The number of messages from each rank to each rank.
const MESSAGES: usize = 300;

/// A message whose length and bytes depend on the sender, the receiver and the index.
fn message(from: usize, to: usize, index: usize) -> Vec<u8> {
    let mixed = (from * 31 + to * 17 + index).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> 32;
    let length = match index % 50 {
        // Each pair of ranks has all the large sizes, in another order.
        7 => LARGE[(index / 50 + from + 2 * to) % LARGE.len()],
        8 | 9 => 0,
        10..=14 => mixed % 100_000,
        _ => mixed % 300,
    };
    let mut message = vec![mixed as u8; length];
    for (place, byte) in [from, to, index, index >> 8].into_iter().enumerate().take(length) {
        message[place] = byte as u8;
        message[length - 1 - place] = byte as u8;
    }
    message
}

/// Waits for the next message. The parent process enforces the time limit.
fn wait(network: &mut Mpi) -> (usize, Vec<u8>) {
    loop {
        match network.receive() {
            Some(arrival) => return arrival,
            None => thread::sleep(Duration::from_micros(50)),
        }
    }
}

fn flush(network: &mut Mpi) {
    while !network.is_flushed() {
        assert!(network.receive().is_none(), "an unexpected message arrived");
        thread::yield_now();
    }
}

fn all_to_all(network: &mut Mpi) {
    let (rank, ranks) = (network.rank(), network.ranks());
    for index in 0..MESSAGES {
        for to in 0..ranks {
            network.send(to, message(rank, to, index));
        }
    }
    let mut arrived = vec![0; ranks];
    while arrived.iter().sum::<usize>() < MESSAGES * ranks {
        let (from, bytes) = wait(network);
        let index = arrived[from];
        // No `assert_eq`: it would print megabytes.
        assert!(
            bytes == message(from, rank, index),
            "message {index} from {from} to {rank} is not the one that was sent"
        );
        arrived[from] += 1;
    }
    flush(network);
}

fn to_itself(network: &mut Mpi) {
    let rank = network.rank();
    for index in 0..100 {
        network.send(rank, message(rank, rank, index));
    }
    assert!(!network.is_flushed());
    for index in 0..100 {
        // At once: no other rank is needed.
        assert_eq!(network.receive(), Some((rank, message(rank, rank, index))));
    }
    assert_eq!(network.receive(), None);
    assert!(network.is_flushed());
}

/// Two ranks send each other megabytes before either receives. This hangs if a send waits for the
/// receiver.
fn sends_do_not_wait(network: &mut Mpi) {
    let (rank, ranks) = (network.rank(), network.ranks());
    for to in (0..ranks).filter(|to| *to != rank) {
        network.send(to, vec![rank as u8; 2 * PIECE + 1]);
    }
    // All ranks have sent before any receives.
    network.meet();
    for _ in 1..ranks {
        let (from, bytes) = wait(network);
        assert!(bytes == vec![from as u8; 2 * PIECE + 1], "a message from {from} is not the one that was sent");
    }
    flush(network);
}

fn buffers_are_freed(network: &mut Mpi) {
    let (rank, ranks) = (network.rank(), network.ranks());
    let next = (rank + 1) % ranks;
    let mut before = None;
    for round in 0..20 {
        network.send(next, vec![round; 2_000_000]);
        let (_, bytes) = wait(network);
        assert!(bytes == vec![round; 2_000_000]);
        drop(bytes);
        flush(network);
        network.meet();
        // Relaxed: this thread makes all relevant allocations.
        let live = LIVE.load(Ordering::Relaxed);
        let before = *before.get_or_insert(live);
        assert!(
            live - before < 500_000,
            "{live} bytes are in use after round {round}, and {before} were after the first"
        );
    }
}

fn all_start_or_none(network: &mut Mpi) {
    let (rank, ranks) = (network.rank(), network.ranks());
    assert_eq!(agree(network, Ok(())), Ok(()));
    network.meet();
    for failing in 0..ranks {
        let answer = agree(network, if rank == failing { Err("no file".to_owned()) } else { Ok(()) });
        let reason = if ranks == 1 { "no file".to_owned() } else { format!("rank {failing}: no file") };
        assert_eq!(answer, Err(reason));
        network.meet();
    }
    assert_eq!(agree(network, Err("no file".to_owned())), Err("no file".to_owned()));
}

/// Counts the bytes that are in use.
pub(super) struct CountingAllocator;

static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: all calls go to the system's allocator; counting has no effect on them.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller of this function guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller of this function guarantees it.
        unsafe { System.dealloc(pointer, layout) }
    }
}
