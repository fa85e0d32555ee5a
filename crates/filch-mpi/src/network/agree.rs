//! Agreement of all ranks on whether to start.

use std::thread;
use std::time::Duration;

use super::Network;

/// How long to sleep between two checks for messages.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Starts on all ranks, or on none.
///
/// Each rank passes `Ok`, or the reason why it cannot start, such as a missing file. All ranks get
/// the same answer: the reason of the lowest rank that cannot start. The call waits for all ranks,
/// and comes before any other message.
///
/// # Errors
///
/// If some rank cannot start: which rank, and why.
pub fn agree(network: &mut dyn Network, mine: Result<(), String>) -> Result<(), String> {
    let (rank, ranks) = (network.rank(), network.ranks());
    // An empty message means `Ok`.
    let encode = |answer: Result<(), String>| answer.err().unwrap_or_default().into_bytes();
    let decode = |bytes: Vec<u8>| match String::from_utf8_lossy(&bytes) {
        reason if reason.is_empty() => Ok(()),
        reason => Err(reason.into_owned()),
    };
    if rank > 0 {
        network.send(0, encode(mine));
        let (_, bytes) = wait_for_message(network);
        return decode(bytes);
    }
    let mut all = vec![mine];
    all.resize(ranks, Ok(()));
    for _ in 1..ranks {
        let (from, bytes) = wait_for_message(network);
        all[from] = decode(bytes);
    }
    let first = all.iter().enumerate().find_map(|(rank, answer)| Some((rank, answer.clone().err()?)));
    let answer = match first {
        None => Ok(()),
        // A reason that all ranks give does not name a rank.
        Some((_, reason)) if all.iter().all(|other| *other == Err(reason.clone())) => Err(reason),
        Some((rank, reason)) => Err(format!("rank {rank}: {reason}")),
    };
    for to in 1..ranks {
        network.send(to, encode(answer.clone()));
    }
    while !network.is_flushed() {
        thread::sleep(POLL_INTERVAL);
    }
    answer
}

fn wait_for_message(network: &mut dyn Network) -> (usize, Vec<u8>) {
    loop {
        match network.receive() {
            Some(arrival) => return arrival,
            None => thread::sleep(POLL_INTERVAL),
        }
    }
}
