//! An instance as the file says it, its answers, and how they are checked.

use std::fmt;

use super::super::{list, wrong, Wrong};
use crate::Cost;

/// When a place can be visited: both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Who comes before waits until then.
    pub opens: i64,
    /// Who comes after is too late.
    pub closes: i64,
}

/// An instance, and its model: [`State`](super::State) says how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tsptw {
    /// From each place to each place, row by row. From a place to itself it is 0.
    distances: Vec<i64>,
    windows: Vec<Window>,
    decimals: u32,
    /// The shortest way from each place to each other, over any places.
    pub(super) shortest: Vec<i64>,
    /// The shortest distance to each place from any other.
    pub(super) nearest: Vec<i64>,
    pub(super) limit: Cost,
}

/// Sets of places have so many bits.
pub(super) const MOST_PLACES: usize = 256;

impl Tsptw {
    /// The places have these windows, the depot first, and these distances, row by row; times and distances are in units of which 10 to the power of `decimals` make one of the file.
    ///
    /// # Errors
    ///
    /// If there is no place or more than 256, the distances are not as many as pairs of places, a number is negative, a window closes before it opens, or numbers are so large that sums of them could overflow.
    pub fn new(mut distances: Vec<i64>, windows: Vec<Window>, decimals: u32) -> Result<Tsptw, Wrong> {
        let places = windows.len();
        if !(1..=MOST_PLACES).contains(&places) {
            return wrong(format!("there are {places} places, and there must be from 1 to {MOST_PLACES}"));
        }
        if distances.len() != places * places {
            return wrong(format!(
                "there are {} distances for {places} places, and there must be {}",
                distances.len(),
                places * places
            ));
        }
        (0..places).for_each(|place| distances[place * places + place] = 0);
        if let Some(at) = distances.iter().position(|&distance| distance < 0) {
            return wrong(format!(
                "the distance from place {} to place {} is negative",
                at / places + 1,
                at % places + 1
            ));
        }
        for (at, window) in windows.iter().enumerate() {
            if window.opens < 0 || window.closes < window.opens {
                return wrong(format!(
                    "the window of place {} closes at {} and opens at {}",
                    at + 1,
                    window.closes,
                    window.opens
                ));
            }
        }
        // A step takes as long as it is far, or waits until some window opens; a bound is a distance for each step that is left.
        let furthest = distances.iter().copied().max().unwrap_or(0);
        let latest = windows.iter().map(|window| window.closes).max().unwrap_or(0);
        let limit = i128::from(latest) * (places as i128 + 2) + i128::from(furthest) * 2 * (places as i128 + 1);
        if limit > 1 << 61 {
            return wrong("the times and distances are so large that sums of them could overflow");
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

    /// How many places there are, with the depot.
    pub fn places(&self) -> usize {
        self.windows.len()
    }

    /// How far it is from one place to another, which is how long it takes.
    #[inline]
    pub fn distance(&self, from: usize, to: usize) -> i64 {
        self.distances[from * self.windows.len() + to]
    }

    /// When a place can be visited.
    #[inline]
    pub fn window(&self, place: usize) -> Window {
        self.windows[place]
    }

    /// How many decimals the numbers of the file have: a cost is to be divided by 10 to this power.
    pub fn decimals(&self) -> u32 {
        self.decimals
    }

    /// A cost as the file would write it.
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

    /// The instance as a file.
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

    /// When the tour is back, by the clock.
    pub(super) fn clock(&self, tour: &[usize]) -> Result<Cost, Wrong> {
        let mut visited = vec![false; self.places()];
        let (mut here, mut time) = (0, self.window(0).opens);
        for &place in tour.iter().chain([&0]) {
            match visited.get_mut(place) {
                None => return wrong(format!("place {} is visited, but there are only {}", place + 1, self.places())),
                Some(true) => return wrong(format!("place {} is visited twice", place + 1)),
                Some(visited) => *visited = true,
            }
            let window = self.window(place);
            time += self.distance(here, place);
            if time > window.closes {
                let (time, closes) = (self.time(time), self.time(window.closes));
                return wrong(format!("place {} is reached at {time}, but its window closes at {closes}", place + 1));
            }
            time = time.max(window.opens);
            here = place;
        }
        match visited.iter().position(|visited| !visited) {
            Some(place) => wrong(format!("place {} is not visited", place + 1)),
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
