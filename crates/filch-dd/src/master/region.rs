//! Regions: where in the search space a task lies.

use core::fmt;

/// The number of labels that a region keeps.
///
/// With their count they fill a cache line.
const MAX_LABELS: usize = 15;

/// Where in the search space a task lies, as a path from the root.
///
/// The path has one label for each step.
///
/// The common beginning of two paths says how near they are. The first fifteen labels are kept;
/// paths that differ only below them count as the same place. A label can stand for several
/// decisions, so fifteen reach far. A good label is the number of a subproblem among the children
/// of its parent.
///
/// ```
/// use filch_dd::master::Region;
///
/// let left = Region::ROOT.child(0);
/// let (first, second) = (left.child(7), left.child(8));
/// assert_eq!(first.nearness(&second), 1);
/// assert_eq!(first.nearness(&first), 2);
/// assert!(left.contains(&first));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region {
    labels: [u32; MAX_LABELS],
    depth: u32,
}

impl Region {
    /// The whole search space.
    pub const ROOT: Region = Region { labels: [0; MAX_LABELS], depth: 0 };

    /// The number of labels that a region keeps.
    pub const MAX_LABELS: usize = MAX_LABELS;

    /// Returns the region at the end of a path.
    pub fn at(path: &[u32]) -> Self {
        path.iter().fold(Region::ROOT, |region, label| region.child(*label))
    }

    /// Returns the region one step further down.
    #[must_use]
    pub fn child(mut self, label: u32) -> Self {
        if let Some(last) = self.labels.get_mut(self.depth as usize) {
            *last = label;
            self.depth += 1;
        }
        self
    }

    /// Returns the labels that are kept, from the root.
    pub fn labels(&self) -> &[u32] {
        &self.labels[..self.depth as usize]
    }

    /// Returns the number of labels that two paths have in common from the root.
    ///
    /// The greater it is, the nearer the regions are. 0 is far.
    pub fn nearness(&self, other: &Region) -> u32 {
        let common = self.labels().iter().zip(other.labels()).take_while(|(own, other)| own == other);
        common.count() as u32
    }

    /// Returns whether `other` lies in this region.
    pub fn contains(&self, other: &Region) -> bool {
        self.nearness(other) == self.depth
    }

    /// Returns the region as words that can be stored one by one.
    pub(super) fn words(&self) -> [u64; WORDS] {
        let half = |index: usize| u64::from(self.labels.get(index).copied().unwrap_or(self.depth));
        std::array::from_fn(|word| half(2 * word) | half(2 * word + 1) << 32)
    }

    /// Returns the region of such words. Any words give a valid region.
    pub(super) fn from_words(words: [u64; WORDS]) -> Self {
        let half = |index: usize| (words[index / 2] >> (32 * (index % 2))) as u32;
        Region { labels: std::array::from_fn(half), depth: half(MAX_LABELS).min(MAX_LABELS as u32) }
    }
}

/// The number of words that a region fills.
pub(super) const WORDS: usize = MAX_LABELS.div_ceil(2);

impl Default for Region {
    fn default() -> Self {
        Region::ROOT
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Region").field(&self.labels()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearness_counts_the_common_beginning() {
        let region = Region::at(&[1, 2, 3]);
        assert_eq!(region.nearness(&Region::at(&[1, 2, 4, 3])), 2);
        assert_eq!(region.nearness(&Region::at(&[2, 2, 3])), 0);
        assert_eq!(region.nearness(&Region::ROOT), 0);
        assert!(Region::ROOT.contains(&region) && !region.contains(&Region::ROOT));
        assert!(Region::at(&[1, 2]).contains(&region) && !Region::at(&[1, 3]).contains(&region));
    }

    #[test]
    fn a_path_that_is_too_long_is_cut_to_the_labels_that_fit() {
        let path: Vec<u32> = (0..40).collect();
        let region = Region::at(&path);
        assert_eq!(region.labels(), &path[..Region::MAX_LABELS]);
        assert_eq!(region.nearness(&region), Region::MAX_LABELS as u32);
        assert_eq!(region, region.child(7));
    }

    #[test]
    fn a_region_can_be_restored_from_its_words() {
        for depth in 0..=Region::MAX_LABELS as u32 {
            let region = (0..depth).fold(Region::ROOT, |region, label| region.child(u32::MAX - label));
            assert_eq!(Region::from_words(region.words()), region);
        }
        // Half of one and half of another is a region too.
        assert_eq!(Region::from_words([u64::MAX; WORDS]).labels().len(), Region::MAX_LABELS);
    }
}
