//! Agreement of all ranks on whether to start.

use std::thread;
use std::time::Duration;

use super::Network;

/// How long to sleep between two checks for messages.
const REST: Duration = Duration::from_micros(200);

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
    let word = |words: Result<(), String>| words.err().unwrap_or_default().into_bytes();
    let understood = |words: Vec<u8>| match String::from_utf8_lossy(&words) {
        words if words.is_empty() => Ok(()),
        words => Err(words.into_owned()),
    };
    if rank > 0 {
        network.send(0, word(mine));
        let (_, words) = next(network);
        return understood(words);
    }
    let mut all = vec![mine];
    all.resize(ranks, Ok(()));
    for _ in 1..ranks {
        let (from, words) = next(network);
        all[from] = understood(words);
    }
    let first = all.iter().enumerate().find_map(|(rank, words)| Some((rank, words.clone().err()?)));
    let answer = match first {
        None => Ok(()),
        // A reason that all ranks give does not name a rank.
        Some((_, words)) if all.iter().all(|other| *other == Err(words.clone())) => Err(words),
        Some((rank, words)) => Err(format!("rank {rank}: {words}")),
    };
    for to in 1..ranks {
        network.send(to, word(answer.clone()));
    }
    while !network.is_flushed() {
        thread::sleep(REST);
    }
    answer
}

fn next(network: &mut dyn Network) -> (usize, Vec<u8>) {
    loop {
        match network.receive() {
            Some(arrival) => return arrival,
            None => thread::sleep(REST),
        }
    }
}
