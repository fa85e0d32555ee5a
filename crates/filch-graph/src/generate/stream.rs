//! Random numbers that depend on the seed and the item, never on the thread.
//!
//! Work is cut into runs of a fixed length, and each run has a stream of its own. So a graph is the
//! same with one thread and with a hundred. A seed must give the same graph forever. So a test has
//! the first numbers of the generator.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// The number of items of one stream.
const RUN: usize = 1 << 13;

/// Returns the number of runs for `items` items.
pub(crate) fn runs(items: usize) -> usize {
    items.div_ceil(RUN)
}

/// Returns the number of items in this run.
pub(crate) fn length_of_run(items: usize, run: usize) -> usize {
    (items - run * RUN).min(RUN)
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Stream(SplitMix64);

impl Stream {
    /// Returns the stream of a run, for this seed and purpose.
    pub(crate) fn new(seed: u64, purpose: u64, run: usize) -> Stream {
        [purpose, run as u64].iter().fold(Stream::from_seed(seed), |mut stream, part| {
            Stream::from_seed(stream.next() ^ part.wrapping_mul(0xD1B5_4A32_D192_ED03))
        })
    }

    pub(crate) fn from_seed(seed: u64) -> Stream {
        Stream(SplitMix64::seed_from_u64(seed))
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `limit`, which is not 0. Some are likelier than others by one part in
    /// 2⁶⁴ / `limit`.
    #[inline]
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// Shuffles the items; each order is equally likely.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Fills `items` in parallel, run by run. `work` gets the number of the run, the index of its first
/// item, and the items.
pub(crate) fn in_runs<T: Send>(items: &mut [T], work: &(impl Fn(usize, usize, &mut [T]) + Sync)) {
    split(items, 0, RUN, &|first, items: &mut [T]| work(first / RUN, first, items));
}

/// Calls `work` on `items` in parallel, in pieces of `piece` items. Pieces begin at multiples of
/// `piece`. `first` is the index of the first item.
pub(crate) fn split<T: Send>(items: &mut [T], first: usize, piece: usize, work: &(impl Fn(usize, &mut [T]) + Sync)) {
    let pieces = items.len().div_ceil(piece);
    if pieces <= 1 {
        return work(first, items);
    }
    let middle = pieces / 2 * piece;
    let (left, right) = items.split_at_mut(middle);
    filch::join(|| split(left, first, piece, work), || split(right, first + middle, piece, work));
}

/// Sorts on all threads.
pub(crate) fn sort<T: Ord + Send>(items: &mut [T]) {
    let enough = (items.len() / (4 * filch::current_num_threads())).max(1 << 14);
    sort_down_to(items, enough);
}

/// Splits the items at the median and sorts the halves in parallel. At most `enough` items are
/// sorted on one thread.
fn sort_down_to<T: Ord + Send>(items: &mut [T], enough: usize) {
    if items.len() <= enough {
        return items.sort_unstable();
    }
    let (left, _, right) = items.select_nth_unstable(items.len() / 2);
    filch::join(|| sort_down_to(left, enough), || sort_down_to(right, enough));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // The first outputs for the seed 1234567, as its authors' program prints them.
        let mut stream = Stream::from_seed(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| stream.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn each_run_and_purpose_has_its_own_stream() {
        let firsts: std::collections::HashSet<u64> = (0..4)
            .flat_map(|seed| {
                (0..4).flat_map(move |purpose| (0..64).map(move |run| Stream::new(seed, purpose, run).next()))
            })
            .collect();
        assert_eq!(firsts.len(), 4 * 4 * 64);
    }

    #[test]
    fn numbers_cover_the_range_below_the_limit() {
        let mut stream = Stream::new(7, 0, 0);
        let mut seen = [false; 10];
        (0..1000).for_each(|_| seen[stream.below(10) as usize] = true);
        assert_eq!(seen, [true; 10]);
    }

    #[test]
    fn every_item_is_in_one_run_and_gets_its_index() {
        let mut items = vec![usize::MAX; 5 * RUN + 17];
        in_runs(&mut items, &|run, first, items| {
            assert_eq!(run * RUN, first);
            items.iter_mut().enumerate().for_each(|(at, item)| *item = first + at);
        });
        assert!(items.iter().enumerate().all(|(at, &item)| at == item));
    }

    #[test]
    fn a_parallel_sort_sorts() {
        let mut stream = Stream::new(3, 0, 0);
        let mut items: Vec<u64> = (0..200_000).map(|_| stream.below(50_000)).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        sort(&mut items);
        assert_eq!(items, expected);
    }
}
