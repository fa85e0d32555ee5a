//! The shortest round trip through some cities.
//!
//! It is a search in which every choice of the next city is a join, as long as many are left. It
//! leaves out trips that are longer than one known before the search begins. The amount of work
//! therefore does not depend on which thread finds which trip first.

use super::{repeated, Program};
use crate::clock::checksum;
use crate::random::Random;

/// The largest number of cities left that a thread searches alone.
const SERIAL_CITIES: u32 = 6;

/// Distances between cities.
struct Map {
    cities: usize,
    distances: Vec<u32>,
}

/// The state of a search.
#[derive(Clone, Copy, Debug)]
struct Trip {
    at: usize,
    /// A bit for each city that was not visited yet.
    left: u32,
    length: u32,
}

/// Finds the shortest trip through `cities` cities at random places.
pub(crate) fn program(cities: usize) -> Program {
    let mut random = Random::new(4);
    let map = Map::new(&(0..cities).map(|_| (random.fraction() * 1e4, random.fraction() * 1e4)).collect::<Vec<_>>());
    let known = map.greedy() + 1;
    repeated(1, move || map.shortest(map.start(), known), |&length| checksum([u64::from(length)]))
}

impl Map {
    fn new(places: &[(f64, f64)]) -> Map {
        let distance = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1).round() as u32;
        let distances = places.iter().flat_map(|&a| places.iter().map(move |&b| distance(a, b))).collect();
        Map { cities: places.len(), distances }
    }

    fn distance(&self, from: usize, to: usize) -> u32 {
        self.distances[from * self.cities + to]
    }

    /// The trip in the first city, with all others to go.
    fn start(&self) -> Trip {
        Trip { at: 0, left: (1 << self.cities) - 2, length: 0 }
    }

    fn extended_by(&self, trip: Trip, city: usize) -> Trip {
        Trip { at: city, left: trip.left & !(1 << city), length: trip.length + self.distance(trip.at, city) }
    }

    /// The length of a trip that always goes to the nearest city. It need not be the shortest.
    fn greedy(&self) -> u32 {
        let mut trip = self.start();
        while let Some(city) = cities(trip.left).min_by_key(|&city| self.distance(trip.at, city)) {
            trip = self.extended_by(trip, city);
        }
        trip.length + self.distance(trip.at, 0)
    }

    /// The length of the shortest completion of the trip, but at most `bound`.
    fn shortest(&self, trip: Trip, bound: u32) -> u32 {
        if trip.length >= bound {
            return bound;
        }
        match trip.left.count_ones() {
            0 => bound.min(trip.length + self.distance(trip.at, 0)),
            1..=SERIAL_CITIES => {
                cities(trip.left).fold(bound, |best, city| self.shortest(self.extended_by(trip, city), best))
            }
            _ => self.shortest_through_any(trip, trip.left, bound),
        }
    }

    /// Like `shortest`, but one of `choices` comes first.
    ///
    /// This thread searches half of the choices, and any idle worker the other half.
    fn shortest_through_any(&self, trip: Trip, choices: u32, bound: u32) -> u32 {
        let count = choices.count_ones();
        if count == 1 {
            return self.shortest(self.extended_by(trip, choices.trailing_zeros() as usize), bound);
        }
        let half = cities(choices).take(count as usize / 2).fold(0, |half, city| half | 1 << city);
        let (a, b) = rayon::join(
            || self.shortest_through_any(trip, half, bound),
            || self.shortest_through_any(trip, choices & !half, bound),
        );
        a.min(b)
    }
}

/// The cities whose bits are set.
fn cities(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let city = bits.checked_ilog2()?;
        bits &= !(1 << city);
        Some(city as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_a_circle_the_shortest_trip_is_the_circle() {
        let places: Vec<(f64, f64)> = [3, 0, 5, 1, 7, 2, 6, 4, 8]
            .map(|place| std::f64::consts::TAU * f64::from(place) / 9.0)
            .map(|angle| (1e4 * angle.cos(), 1e4 * angle.sin()))
            .to_vec();
        let map = Map::new(&places);
        let side = (2e4 * (std::f64::consts::PI / 9.0).sin()).round() as u32;
        assert_eq!(map.shortest(map.start(), u32::MAX), 9 * side);
        assert_eq!(map.shortest(map.start(), 9 * side), 9 * side, "nothing is below the bound");
    }

    #[test]
    fn the_bound_does_not_change_the_result() {
        let mut random = Random::new(9);
        let places: Vec<_> = (0..8).map(|_| (random.fraction() * 1e3, random.fraction() * 1e3)).collect();
        let map = Map::new(&places);
        let shortest = map.shortest(map.start(), u32::MAX);
        assert!(shortest <= map.greedy());
        assert_eq!(map.shortest(map.start(), map.greedy() + 1), shortest);
    }
}
