//! The fast Fourier transform by recursion.
//!
//! A transform is divided into four smaller ones, each of every fourth number. Their spectra are
//! combined into the spectrum of the whole.

mod complex;
mod transform;
mod twiddles;

use anyhow::{ensure, Result};

use self::complex::Complex;
use self::twiddles::{root_of_unity, Twiddles, RUN};
use crate::bench::contenders::Fork;
use crate::bench::random::scramble;
use crate::bench::work::Work;

/// The number of waves in a signal, and the number of clicks.
const EACH: u64 = 3;

/// A signal whose spectrum is known.
///
/// It has a few waves, each of which is a peak in the spectrum, and a few clicks, each of which is
/// a wave in the spectrum. So no place of the spectrum is empty.
#[derive(Debug)]
pub(crate) struct Fft {
    signal: Vec<Complex>,
    twiddles: Twiddles,
}

impl Fft {
    /// A signal of two to the power of `bits` numbers.
    pub(crate) fn new(bits: u32) -> Fft {
        let len = 1 << bits;
        let mut signal = vec![Complex::ZERO; len];
        for number in 0..EACH {
            Wave::new(place(number, len), len, height(number)).add_to(&mut signal, 0);
        }
        for number in EACH..2 * EACH {
            let click = &mut signal[place(number, len)];
            *click = *click + Complex::from(height(number) * click_factor(len));
        }
        Fft { signal, twiddles: Twiddles::new(bits) }
    }
}

/// The place of the wave or click with this number.
fn place(number: u64, len: usize) -> usize {
    scramble(number) as usize % len
}

/// The height of the wave or click with this number.
fn height(number: u64) -> f64 {
    1.0 + number as f64
}

/// The factor that makes a click as strong as a wave.
///
/// The spectrum has a wave in one place, and a little of a click in every place.
fn click_factor(len: usize) -> f64 {
    (len as f64).sqrt()
}

/// Complex numbers that rotate at a constant rate.
struct Wave {
    /// The first run of numbers. The others are these, rotated.
    first: Vec<Complex>,
    turns: usize,
    len: usize,
}

impl Wave {
    /// A wave that makes `turns` turns in `len` numbers.
    fn new(turns: usize, len: usize, height: f64) -> Wave {
        let first = (0..len.min(RUN)).map(|index| root_of_unity(turns * index, len) * Complex::from(height)).collect();
        Wave { first, turns, len }
    }

    /// Adds the wave's numbers from `start` on.
    fn add_to(&self, numbers: &mut [Complex], start: usize) {
        for (run, numbers) in numbers.chunks_mut(RUN).enumerate() {
            let turned = root_of_unity((start + run * RUN) * self.turns, self.len);
            for (number, &wave) in numbers.iter_mut().zip(&self.first) {
                *number = *number + turned * wave;
            }
        }
    }
}

impl Work for Fft {
    type Input = Vec<Complex>;
    type Answer = Vec<Complex>;

    /// Memory for the spectrum. Numbers that are never written stay NaN.
    fn input(&self) -> Vec<Complex> {
        vec![Complex::from(f64::NAN); self.signal.len()]
    }

    fn run<F: Fork>(&self, context: F::Context<'_>, mut spectrum: Vec<Complex>) -> Vec<Complex> {
        transform::transform::<F>(context, &self.twiddles, &self.signal, &mut spectrum);
        spectrum
    }

    fn check(&self, answer: &Vec<Complex>) -> Result<()> {
        let len = self.signal.len();
        ensure!(answer.len() == len, "expected a spectrum of {} numbers, got {}", len, answer.len());
        // The transform turns in the other direction.
        let waves: Vec<Wave> = (EACH..2 * EACH)
            .map(|click| Wave::new(len - place(click, len), len, height(click) * click_factor(len)))
            .collect();
        let tolerance = 1e-12 * len as f64;
        let mut expected = [Complex::ZERO; RUN];
        for (start, found) in (0..).step_by(RUN).zip(answer.chunks(RUN)) {
            expected.fill(Complex::ZERO);
            for wave in &waves {
                wave.add_to(&mut expected, start);
            }
            for number in 0..EACH {
                if let Some(peak) = place(number, len).checked_sub(start).and_then(|index| expected.get_mut(index)) {
                    *peak = *peak + Complex::from(height(number) * len as f64);
                }
            }
            for (place, (&found, &expected)) in (start..).zip(found.iter().zip(&expected)) {
                let off = found - expected;
                ensure!(
                    off.re.abs() <= tolerance && off.im.abs() <= tolerance,
                    "the spectrum is {found:?} at {place} instead of {expected:?}"
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contenders::Serial;
    use crate::bench::work::{joins, tests::all_contenders_agree_on};

    #[test]
    fn all_contenders_find_the_spectrum() {
        for bits in [0, 1, 2, 3, 8, 9, 12, 13] {
            all_contenders_agree_on(&Fft::new(bits));
        }
    }

    #[test]
    fn a_short_signal_is_not_divided() {
        assert_eq!(joins(&Fft::new(10)).unwrap(), 0);
        // Sixteen transforms together are divided by four. Combining them is never longer than a
        // run.
        assert_eq!(joins(&Fft::new(12)).unwrap(), 3);
    }

    #[test]
    fn the_spectrum_is_that_of_the_definition() {
        let work = Fft::new(5);
        let answer = work.run::<Serial>((), work.input());
        for (frequency, found) in answer.iter().enumerate() {
            let sum = work.signal.iter().enumerate().fold(Complex::ZERO, |sum, (index, &number)| {
                sum + number * root_of_unity(32 - frequency * index % 32, 32)
            });
            let off = *found - sum;
            assert!(off.re.abs() < 1e-9 && off.im.abs() < 1e-9, "{frequency}: {found:?} instead of {sum:?}");
        }
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let work = Fft::new(6);
        assert!(work.check(&work.signal).is_err());
        assert!(work.check(&work.input()).is_err());
        let answer = work.run::<Serial>((), work.input());
        assert!(work.check(&answer).is_ok());
        assert!(work.check(&answer[1..].to_vec()).is_err());
        for wrong in [0, 17, 63] {
            let mut answer = answer.clone();
            answer[wrong].im += 1e-9;
            assert!(work.check(&answer).is_err());
        }
    }
}
