//! An instance as in the file, its answers, and how they are checked.

use std::fmt;

use super::super::{invalid, list, Invalid};
use crate::Cost;

/// When a place can be visited, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// An earlier arrival waits until then.
    pub opens: i64,
    /// A later arrival is too late.
    pub closes: i64,
}

/// An instance, and its model: [`State`](super::State) describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tsptw {
    /// From each place to each place, row by row. From a place to itself it is 0.
    distances: Vec<i64>,
    windows: Vec<Window>,
    decimals: u32,
    /// The length of the shortest path from each place to each other, over any places.
    pub(super) shortest: Vec<i64>,
    /// The shortest distance to each place from any other.
    pub(super) nearest: Vec<i64>,
    pub(super) limit: Cost,
}

/// The most places: the number of bits in a set of places.
pub(super) const MAX_PLACES: usize = 256;

impl Tsptw {
    /// Returns an instance with these distances, row by row, and windows, the depot first.
    ///
    /// Times and distances are in units of which 10 to the power of `decimals` make one unit of the
    /// file.
    ///
    /// # Errors
    ///
    /// If there is no place or more than 256, the number of distances is not the number of pairs of
    /// places, a number is negative, a window closes before it opens, or numbers are so large that
    /// sums of them could overflow.
    pub fn new(mut distances: Vec<i64>, windows: Vec<Window>, decimals: u32) -> Result<Tsptw, Invalid> {
        let places = windows.len();
        if !(1..=MAX_PLACES).contains(&places) {
            return invalid(format!("there are {places} places, but there must be from 1 to {MAX_PLACES}"));
        }
        if distances.len() != places * places {
            return invalid(format!(
                "there are {} distances for {places} places, but there must be {}",
                distances.len(),
                places * places
            ));
        }
        (0..places).for_each(|place| distances[place * places + place] = 0);
        if let Some(at) = distances.iter().position(|&distance| distance < 0) {
            return invalid(format!(
                "the distance from place {} to place {} is negative",
                at / places + 1,
                at % places + 1
            ));
        }
        for (at, window) in windows.iter().enumerate() {
            if window.opens < 0 || window.closes < window.opens {
                return invalid(format!(
                    "the window of place {} closes at {} and opens at {}",
                    at + 1,
                    window.closes,
                    window.opens
                ));
            }
        }
        // A step costs its distance, or the wait until some window opens. A bound is a distance for
        // each step that is left.
        let furthest = distances.iter().copied().max().unwrap_or(0);
        let latest = windows.iter().map(|window| window.closes).max().unwrap_or(0);
        let limit = i128::from(latest) * (places as i128 + 2) + i128::from(furthest) * 2 * (places as i128 + 1);
        if limit > 1 << 61 {
            return invalid("the times and distances are so large that sums of them could overflow");
        }

        let mut shortest = distances.clone();
        for over in 0..places {
            for from in 0..places {
                for to in 0..places {
                    let around = shortest[from * places + over] + shortest[over * places + to];
                    let direct = &mut shortest[from * places + to];
                    *direct = (*direct).min(around);
                }
            }
        }
        let to = |place: usize| (0..places).filter(move |&from| from != place).map(move |from| from * places + place);
        let nearest = (0..places).map(|place| to(place).map(|at| distances[at]).min().unwrap_or(0)).collect();
        Ok(Tsptw { distances, windows, decimals, shortest, nearest, limit: limit as Cost })
    }

    /// Returns the number of places, including the depot.
    pub fn places(&self) -> usize {
        self.windows.len()
    }

    /// Returns the distance from one place to another, which is also the travel time.
    #[inline]
    pub fn distance(&self, from: usize, to: usize) -> i64 {
        self.distances[from * self.windows.len() + to]
    }

    /// Returns when a place can be visited.
    #[inline]
    pub fn window(&self, place: usize) -> Window {
        self.windows[place]
    }

    /// Returns how many decimals the numbers of the file have.
    ///
    /// A cost divided by 10 to this power is in units of the file.
    pub fn decimals(&self) -> u32 {
        self.decimals
    }

    /// Formats a cost as in the file.
    ///
    /// ```
    /// use filch_dd::problems::tsptw;
    ///
    /// let tour = tsptw::read(b"1\n0\n0 9.25\n")?;
    /// assert_eq!(tour.time(1705), "17.05");
    /// # Ok::<(), filch_dd::problems::ReadError>(())
    /// ```
    pub fn time(&self, cost: Cost) -> String {
        let (sign, cost, decimals) = (if cost < 0 { "-" } else { "" }, cost.unsigned_abs(), self.decimals as usize);
        let unit = 10u64.pow(self.decimals);
        match decimals {
            0 => format!("{sign}{cost}"),
            _ => format!("{sign}{}.{:0decimals$}", cost / unit, cost % unit),
        }
    }

    /// Returns the instance as the text of a file.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.places());
        for row in self.distances.chunks(self.places()) {
            let row: Vec<String> = row.iter().map(|&distance| self.time(distance)).collect();
            text += &format!("{}\n", row.join(" "));
        }
        for window in &self.windows {
            text += &format!("{} {}\n", self.time(window.opens), self.time(window.closes));
        }
        text
    }

    /// Returns the time at which the tour is back, or why the tour is invalid.
    pub(super) fn tour_time(&self, tour: &[usize]) -> Result<Cost, Invalid> {
        let mut visited = vec![false; self.places()];
        let (mut here, mut time) = (0, self.window(0).opens);
        for &place in tour.iter().chain([&0]) {
            match visited.get_mut(place) {
                None => {
                    return invalid(format!("place {} is visited, but there are only {}", place + 1, self.places()))
                }
                Some(true) => return invalid(format!("place {} is visited twice", place + 1)),
                Some(visited) => *visited = true,
            }
            let window = self.window(place);
            time += self.distance(here, place);
            if time > window.closes {
                let (time, closes) = (self.time(time), self.time(window.closes));
                return invalid(format!("place {} is reached at {time}, but its window closes at {closes}", place + 1));
            }
            time = time.max(window.opens);
            here = place;
        }
        match visited.iter().position(|visited| !visited) {
            Some(place) => invalid(format!("place {} is not visited", place + 1)),
            None => Ok(time),
        }
    }
}

/// The places in the order of the visit, from 0, without the depot.
///
/// Its text has their numbers from 1, with blanks between, and the depot at both ends: `1 3 2 4 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer(pub Vec<usize>);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, [1].into_iter().chain(self.0.iter().map(|place| place + 1)).chain([1]))
    }
}
