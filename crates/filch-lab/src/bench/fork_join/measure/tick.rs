//! A pool that regularly gets a little work from outside and should sleep in between.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::warm_pool;
use crate::bench::contenders::Contender;
use crate::bench::cpu;
use crate::bench::work::Work;

/// The time from one piece of work to the next.
const PERIOD: Duration = Duration::from_millis(1);

/// CPU time of the whole process, in microseconds per tick.
///
/// The last tick includes its pause.
pub(crate) fn tick<C: Contender, W: Work>(work: &W, threads: usize, ticks: u32) -> Result<f64> {
    let pool = warm_pool::<C>(threads)?;
    thread::sleep(10 * PERIOD);

    let cpu_before = cpu::time()?;
    let mut next = Instant::now();
    for _ in 0..ticks {
        let input = work.input();
        let answer = C::enter(&pool, |context| black_box(work).run::<C::Fork>(context, input));
        work.check(&answer)?;
        // A late tick moves all that follow: otherwise two ticks would follow each other without a
        // pause.
        next = (next + PERIOD).max(Instant::now());
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    let cpu = cpu::time()?.saturating_sub(cpu_before);
    Ok(cpu.as_secs_f64() * 1e6 / f64::from(ticks))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::bench::contenders::{Chili, Filch, Rayon, Serial};
    use crate::bench::work::BusyTree;

    #[test]
    fn the_work_is_part_of_what_is_measured() {
        let work = BusyTree::lasting(20_000, 64);
        assert!(tick::<Serial, _>(&work, 1, 3).unwrap() > 0.0);
        assert!(tick::<Filch, _>(&work, 2, 3).unwrap() > 0.0);
        assert!(tick::<Rayon, _>(&work, 2, 3).unwrap() > 0.0);
        assert!(tick::<Chili, _>(&work, 2, 3).unwrap() > 0.0);
    }
}
