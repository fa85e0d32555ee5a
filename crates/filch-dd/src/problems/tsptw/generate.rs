//! Random instances.

use super::{Tsptw, Window};
use crate::random::Stream;

/// Returns a random instance with `places` places in a square with sides of `side`.
///
/// The windows are up to `width` wide, around the times of a random tour. So at least that tour is
/// valid.
///
/// ```
/// use filch_dd::problems::tsptw;
///
/// let tour = tsptw::random(20, 100, 40, 1);
/// assert_eq!(tour.places(), 20);
/// assert_eq!(tsptw::read(tour.text().as_bytes()), Ok(tour));
/// ```
///
/// # Panics
///
/// If there are no places or more than 256, or `side` or `width` is negative or above 2^31.
pub fn random(places: usize, side: i64, width: i64, seed: u64) -> Tsptw {
    assert!([side, width].iter().all(|size| (0..=1 << 31).contains(size)), "sizes must be from 0 to 2^31");
    let mut stream = Stream::new(seed, 3);
    let points: Vec<(i64, i64)> = (0..places).map(|_| (stream.between(0, side), stream.between(0, side))).collect();
    let distance =
        |&(a, b): &(i64, i64), &(c, d): &(i64, i64)| ((a - c).pow(2) as f64 + (b - d).pow(2) as f64).sqrt() as i64;
    let distances: Vec<i64> = points.iter().flat_map(|from| points.iter().map(move |to| distance(from, to))).collect();

    let mut tour: Vec<usize> = (1..places).collect();
    stream.shuffle(&mut tour);
    let mut windows = vec![Window { opens: 0, closes: 0 }; places];
    let (mut here, mut time) = (0, 0);
    for place in tour {
        time += distance(&points[here], &points[place]);
        let (before, after) = (stream.between(0, width / 2), stream.between(0, width / 2));
        windows[place] = Window { opens: (time - before).max(0), closes: time + after };
        here = place;
    }
    if places > 0 {
        windows[0].closes = time + distance(&points[here], &points[0]) + width;
    }
    Tsptw::new(distances, windows, 0).unwrap_or_else(|wrong| panic!("{wrong}"))
}
