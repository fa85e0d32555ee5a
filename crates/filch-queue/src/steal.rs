//! The result of an attempt to steal.

/// The outcome of one attempt to steal.
///
/// [`Empty`](Steal::Empty), [`Retry`](Steal::Retry) and [`Abort`](Steal::Abort) carry no task. They
/// differ in what the thief should do next: look elsewhere, try again at once, or come back later.
///
/// Outcomes combine as in crossbeam: [`or_else`](Steal::or_else) tries the next victim, and an
/// iterator of outcomes collects into a single outcome.
///
/// ```
/// use filch_queue::{chase_lev, Steal};
///
/// let (first, first_thief) = chase_lev::new();
/// let (_second, second_thief) = chase_lev::new();
/// first.push(7);
///
/// let found: Steal<i32> = [&second_thief, &first_thief].into_iter().map(|thief| thief.steal()).collect();
/// assert_eq!(found.success(), Some(7));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steal<T> {
    /// The thief took a task.
    Success(T),
    /// The queue held no task at some moment during the attempt.
    Empty,
    /// Another thread interfered; trying again at once may succeed.
    Retry,
    /// There may be a task, but the owner may have taken it already. The thief cannot prove that it
    /// has not.
    ///
    /// Only the owner or a longer queue resolves this: look elsewhere and come back later.
    Abort,
}

impl<T> Steal<T> {
    /// Returns whether a task was taken.
    pub fn is_success(&self) -> bool {
        matches!(self, Steal::Success(_))
    }

    /// Returns whether the queue was empty.
    pub fn is_empty(&self) -> bool {
        matches!(self, Steal::Empty)
    }

    /// Returns whether the thief should try again at once.
    pub fn is_retry(&self) -> bool {
        matches!(self, Steal::Retry)
    }

    /// Returns whether the thief gave up for lack of proof.
    pub fn is_abort(&self) -> bool {
        matches!(self, Steal::Abort)
    }

    /// Returns the task, if any was taken.
    pub fn success(self) -> Option<T> {
        match self {
            Steal::Success(task) => Some(task),
            Steal::Empty | Steal::Retry | Steal::Abort => None,
        }
    }

    /// Tries `next` if no task was taken.
    ///
    /// Two outcomes without a task combine to the more urgent of them: retry before abort before
    /// empty.
    pub fn or_else<F>(self, next: F) -> Steal<T>
    where
        F: FnOnce() -> Steal<T>,
    {
        match self {
            Steal::Success(task) => Steal::Success(task),
            Steal::Empty => next(),
            Steal::Abort => match next() {
                Steal::Empty => Steal::Abort,
                other => other,
            },
            Steal::Retry => match next() {
                Steal::Success(task) => Steal::Success(task),
                _ => Steal::Retry,
            },
        }
    }

    /// Returns the same outcome, with its task mapped by `f`.
    pub fn map<U, F>(self, f: F) -> Steal<U>
    where
        F: FnOnce(T) -> U,
    {
        match self {
            Steal::Success(task) => Steal::Success(f(task)),
            Steal::Empty => Steal::Empty,
            Steal::Retry => Steal::Retry,
            Steal::Abort => Steal::Abort,
        }
    }
}

/// Collects to the first success, and tries no victim after it.
///
/// Without a success the precedence is retry before abort before empty.
impl<T> FromIterator<Steal<T>> for Steal<T> {
    fn from_iter<I>(outcomes: I) -> Steal<T>
    where
        I: IntoIterator<Item = Steal<T>>,
    {
        let mut outcomes = outcomes.into_iter();
        let mut sum = Steal::Empty;
        while !sum.is_success() {
            match outcomes.next() {
                Some(outcome) => sum = sum.or_else(|| outcome),
                None => break,
            }
        }
        sum
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Steal::{self, Abort, Empty, Retry, Success};

    #[test]
    fn the_more_urgent_outcome_wins() {
        assert_eq!(Empty.or_else(|| Abort::<u8>), Abort);
        assert_eq!(Abort.or_else(|| Empty::<u8>), Abort);
        assert_eq!(Abort.or_else(|| Retry::<u8>), Retry);
        assert_eq!(Retry.or_else(|| Abort::<u8>), Retry);
        assert_eq!(Retry.or_else(|| Success(1)), Success(1));
        assert_eq!(Abort.or_else(|| Success(1)), Success(1));
    }

    #[test]
    fn collecting_stops_at_the_first_success() {
        let mut tried = 0;
        let found: Steal<u8> = [Empty, Retry, Success(3), Success(4)].into_iter().inspect(|_| tried += 1).collect();
        assert_eq!(found, Success(3));
        assert_eq!(tried, 3);
    }

    #[test]
    fn collecting_nothing_is_empty() {
        assert_eq!([].into_iter().collect::<Steal<u8>>(), Empty);
    }

    #[test]
    fn a_task_is_mapped_and_the_rest_is_kept() {
        assert_eq!(Success(2).map(|n| n + 1), Success(3));
        assert_eq!(Abort::<u8>.map(|n| n + 1), Abort);
    }
}
