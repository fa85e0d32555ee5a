//! Whether to begin at all.

use std::thread;
use std::time::Duration;

use super::Network;

/// How long to rest between two looks at what has arrived.
const REST: Duration = Duration::from_micros(200);

/// Begins on all ranks, or on none. Each says why it cannot, such as that its file is not there, or that it can; all get the
/// same answer, which is what the first that cannot has said. Waits for all.
///
/// It comes before anything else is sent.
///
/// # Errors
///
/// If some rank cannot begin: which, and why.
pub fn agree(network: &mut dyn Network, mine: Result<(), String>) -> Result<(), String> {
    let (rank, ranks) = (network.rank(), network.ranks());
    // Nothing to be said is that all is well.
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
        // What all say is nobody's in particular.
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
