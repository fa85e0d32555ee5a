//! The recursion of the transform.
//!
//! The numbers of a small transform are far apart in the signal, one in a cache line. Therefore
//! sixteen small transforms whose numbers are neighbours are made together, wherever their spectra
//! are: a task writes sixteen slices, and reads the signal in runs of sixteen.

use super::complex::Complex;
use super::twiddles::{Level, Twiddles, RUN};
use crate::bench::contenders::Fork;

/// The longest signal that is not divided.
const SHORT: usize = 256;

/// The number of transforms that are made together.
const TOGETHER: usize = 16;

/// The longest of these transforms that are not divided.
const LEAF: usize = 64;

/// A signal, or every `stride`-th item of it.
#[derive(Clone, Copy)]
struct Signal<'a, T> {
    items: &'a [T],
    first: usize,
    stride: usize,
}

impl<T: Copy> Signal<'_, T> {
    fn at(self, index: usize) -> T {
        self.items[self.first + index * self.stride]
    }

    /// Every fourth item, starting with item `quarter`.
    fn quarter(self, quarter: usize) -> Self {
        Signal { first: self.first + quarter * self.stride, stride: 4 * self.stride, ..self }
    }
}

/// Writes the spectrum of a signal.
pub(super) fn transform<F: Fork>(
    mut context: F::Context<'_>,
    twiddles: &Twiddles,
    signal: &[Complex],
    spectrum: &mut [Complex],
) {
    if signal.len() <= SHORT {
        return transform_short(twiddles, Signal { items: signal, first: 0, stride: 1 }, spectrum);
    }
    let mut slices = spectrum.chunks_exact_mut(signal.len() / TOGETHER);
    let mut slices = [(); TOGETHER].map(|()| slices.next().expect("a slice"));
    let runs = signal.as_chunks().0;
    divide::<F>(F::reborrow(&mut context), twiddles, Signal { items: runs, first: 0, stride: 1 }, &mut slices);
    // Sixteen spectra become four, and four become one.
    for parts in [4, 1] {
        let mut slices = spectrum.chunks_exact_mut(signal.len() / parts);
        let mut slices = [(); 4].map(|()| slices.next().unwrap_or_default());
        combine_all::<F>(F::reborrow(&mut context), twiddles.of(signal.len() / parts), &mut slices[..parts]);
    }
}

fn divide<F: Fork>(
    mut context: F::Context<'_>,
    twiddles: &Twiddles,
    signal: Signal<'_, [Complex; TOGETHER]>,
    spectra: &mut [&mut [Complex]; TOGETHER],
) {
    let len = spectra[0].len();
    if len <= LEAF {
        return transform_together(twiddles, signal, spectra);
    }
    let mut rest = spectra.each_mut().map(|spectrum| &mut **spectrum);
    let mut next = || rest.each_mut().map(|rest| rest.split_off_mut(..len / 4).expect("a quarter"));
    let (mut a, mut b, mut c, mut d) = (next(), next(), next(), next());
    F::join(
        F::reborrow(&mut context),
        |context| {
            F::join(
                context,
                |context| divide::<F>(context, twiddles, signal.quarter(0), &mut a),
                |context| divide::<F>(context, twiddles, signal.quarter(1), &mut b),
            )
        },
        |context| {
            F::join(
                context,
                |context| divide::<F>(context, twiddles, signal.quarter(2), &mut c),
                |context| divide::<F>(context, twiddles, signal.quarter(3), &mut d),
            )
        },
    );
    combine_all::<F>(context, twiddles.of(len), spectra);
}

/// Combines the four quarters of each of some spectra.
fn combine_all<F: Fork>(context: F::Context<'_>, level: &Level, spectra: &mut [&mut [Complex]]) {
    if let [spectrum] = spectra {
        return combine::<F>(context, level, &level.far, quarters(spectrum));
    }
    if spectra.len() * level.near[0].len() <= RUN {
        for spectrum in spectra {
            combine_first(&level.near, quarters(spectrum));
        }
        return;
    }
    let (first, second) = spectra.split_at_mut(spectra.len() / 2);
    F::join(
        context,
        |context| combine_all::<F>(context, level, first),
        |context| combine_all::<F>(context, level, second),
    );
}

/// Combines four spectra into one, in two halves until a run is left.
fn combine<F: Fork>(context: F::Context<'_>, level: &Level, far: &[[Complex; 3]], mut spectra: [&mut [Complex]; 4]) {
    if let [far] = far {
        return combine_run(&level.near, far, spectra);
    }
    let (first_far, second_far) = far.split_at(far.len() / 2);
    let first = spectra.each_mut().map(|spectrum| spectrum.split_off_mut(..first_far.len() * RUN).expect("a half"));
    F::join(
        context,
        |context| combine::<F>(context, level, first_far, first),
        |context| combine::<F>(context, level, second_far, spectra),
    );
}

fn quarters(spectrum: &mut [Complex]) -> [&mut [Complex]; 4] {
    let (first, second) = spectrum.split_at_mut(spectrum.len() / 2);
    let (a, b) = first.split_at_mut(first.len() / 2);
    let (c, d) = second.split_at_mut(second.len() / 2);
    [a, b, c, d]
}

/// Reads the runs once, and makes a transform of each place in them.
#[inline(never)]
fn transform_together(
    twiddles: &Twiddles,
    signal: Signal<'_, [Complex; TOGETHER]>,
    spectra: &mut [&mut [Complex]; TOGETHER],
) {
    let mut near = [[Complex::ZERO; TOGETHER]; LEAF];
    let near = &mut near[..spectra[0].len()];
    for (index, run) in near.iter_mut().enumerate() {
        *run = signal.at(index);
    }
    for (index, spectrum) in spectra.iter_mut().enumerate() {
        // The slices are in the order that two divisions by four produce.
        let first = index / 4 + index % 4 * 4;
        transform_short(twiddles, Signal { items: near.as_flattened(), first, stride: TOGETHER }, spectrum);
    }
}

/// The recursion of the transform without joins.
fn transform_short(twiddles: &Twiddles, signal: Signal<'_, Complex>, spectrum: &mut [Complex]) {
    match spectrum {
        [a] => *a = signal.at(0),
        [a, b] => (*a, *b) = (signal.at(0) + signal.at(1), signal.at(0) - signal.at(1)),
        [a, b, c, d] => [*a, *b, *c, *d] = butterfly([signal.at(0), signal.at(1), signal.at(2), signal.at(3)]),
        _ => {
            let level = twiddles.of(spectrum.len());
            let mut spectra = quarters(spectrum);
            for (quarter, spectrum) in spectra.iter_mut().enumerate() {
                transform_short(twiddles, signal.quarter(quarter), spectrum);
            }
            combine_first(&level.near, spectra);
        }
    }
}

/// The spectrum of four numbers.
#[inline(always)]
fn butterfly([a, b, c, d]: [Complex; 4]) -> [Complex; 4] {
    let (even, odd) = (a + c, b + d);
    let (even_turned, odd_turned) = (a - c, (b - d).times_minus_i());
    [even + odd, even_turned + odd_turned, even - odd, even_turned - odd_turned]
}

/// Combines the first run of four spectra, or all of them if they are short.
#[inline(never)]
fn combine_first([v, w, x]: &[Vec<Complex>; 3], [a, b, c, d]: [&mut [Complex]; 4]) {
    let len = a.len();
    let (b, c, d) = (&mut b[..len], &mut c[..len], &mut d[..len]);
    let (v, w, x) = (&v[..len], &w[..len], &x[..len]);
    for i in 0..len {
        [a[i], b[i], c[i], d[i]] = butterfly([a[i], b[i] * v[i], c[i] * w[i], d[i] * x[i]]);
    }
}

/// Combines any run of four spectra.
#[inline(never)]
fn combine_run([v, w, x]: &[Vec<Complex>; 3], far: &[Complex; 3], [a, b, c, d]: [&mut [Complex]; 4]) {
    let len = a.len();
    let (b, c, d) = (&mut b[..len], &mut c[..len], &mut d[..len]);
    let (v, w, x) = (&v[..len], &w[..len], &x[..len]);
    for i in 0..len {
        [a[i], b[i], c[i], d[i]] =
            butterfly([a[i], b[i] * (far[0] * v[i]), c[i] * (far[1] * w[i]), d[i] * (far[2] * x[i])]);
    }
}
