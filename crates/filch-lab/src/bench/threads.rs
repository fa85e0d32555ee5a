//! The numbers of threads that a suite measures with.

use std::fmt;

use super::THREADS;
use crate::command_line::pool_threads;

/// The sizes of a suite's pools: 1 and what the user asked for, in rising order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Threads(Vec<usize>);

impl Default for Threads {
    fn default() -> Threads {
        Threads::from_iter([THREADS])
    }
}

impl FromIterator<usize> for Threads {
    fn from_iter<I: IntoIterator<Item = usize>>(counts: I) -> Threads {
        let mut all: Vec<usize> = counts.into_iter().chain([1]).collect();
        all.sort_unstable();
        all.dedup();
        Threads(all)
    }
}

impl Threads {
    /// Parses numbers with commas between them.
    pub(crate) fn parse(text: &str) -> Result<Threads, String> {
        text.split(',').map(|count| pool_threads(count.trim())).collect()
    }

    /// 1, 2, 4, and so on, up to the number of cores.
    pub(crate) fn up_to(cores: usize) -> Threads {
        std::iter::successors(Some(1), |count| Some(count * 2))
            .take_while(|count| *count < cores)
            .chain([cores])
            .collect()
    }

    /// All sizes.
    pub(crate) fn counts(&self) -> &[usize] {
        &self.0
    }

    /// The sizes above 1, or 1 if there are no others.
    ///
    /// They are for cases that say nothing about a pool of one thread.
    pub(crate) fn several(&self) -> &[usize] {
        match &self.0[..] {
            [1, several @ ..] if !several.is_empty() => several,
            counts => counts,
        }
    }

    /// The largest size.
    pub(crate) fn most(&self) -> usize {
        self.0.last().copied().unwrap_or(1)
    }

    /// Whether two threads are measured. Then two serial runs side by side are, too.
    pub(crate) fn have_two(&self) -> bool {
        self.0.contains(&2)
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.several().iter().map(usize::to_string).collect();
        f.write_str(&counts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_sorted_and_begins_with_1() {
        for (text, counts, shown) in
            [("2", &[1, 2][..], "2"), ("1", &[1], "1"), ("8,2, 4,2", &[1, 2, 4, 8], "2,4,8"), ("1,3", &[1, 3], "3")]
        {
            let threads = Threads::parse(text).unwrap();
            assert_eq!((threads.counts(), &*threads.to_string()), (counts, shown), "{text}");
        }
        assert!(Threads::parse("2,,4").unwrap_err().contains("not a number of threads"));
        assert!(Threads::parse("2,0").unwrap_err().contains("a pool needs a thread"));
    }

    #[test]
    fn a_sweep_doubles_up_to_the_cores() {
        for (cores, counts) in [(1, &[1][..]), (2, &[1, 2]), (6, &[1, 2, 4, 6]), (8, &[1, 2, 4, 8])] {
            assert_eq!(Threads::up_to(cores).counts(), counts);
        }
    }
}
