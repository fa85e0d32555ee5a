//! Runs the plan at every site, until it is done or the time is up.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use super::cores::Site;
use super::counts::{Counts, Key};
use super::plan::{passes, targets, Target};
use super::race::{race, Trial};

/// The work of a sweep.
#[derive(Debug)]
pub(super) struct Task {
    /// The sites to race on.
    pub(super) sites: Vec<Site>,
    /// The bound under test.
    pub(super) supposed: usize,
    /// How often each point near the line is raced at each site.
    pub(super) runs: u64,
    /// The time limit, whatever is left.
    pub(super) limit: Option<Duration>,
    /// Whether to stop now and keep the counts so far.
    pub(super) is_over: fn() -> bool,
}

/// Runs what is left of a task, given the counts `before`. Returns all counts.
///
/// A sweep that was interrupted resumes where it was, and knows the violations that it has caught.
/// After each point, `on_progress` receives all counts so far and the share that is done.
pub(super) fn sweep(task: &Task, before: &Counts, mut on_progress: impl FnMut(&Counts, f64) + Send) -> Counts {
    let begin = Instant::now();
    let is_time_up = || task.limit.is_some_and(|limit| begin.elapsed() >= limit);
    let go_on = || !(task.is_over)() && !is_time_up();
    let total = runs_left(task, before).max(1) as f64;
    let (mut counts, mut done) = (before.clone(), 0);
    let mut sites: Vec<&Site> = task.sites.iter().collect();
    for runs in passes(task.runs) {
        let targets = targets_so_far(task.supposed, &counts);
        // A site where a thread cannot be pinned has no counts.
        sites.retain(|site| {
            let left: Vec<_> = targets.iter().filter_map(|target| left(site, target, runs, &counts)).collect();
            if left.is_empty() || !go_on() {
                return true;
            }
            let seed = RandomState::new().hash_one(runs);
            race(site, left.into_iter(), seed, go_on, |trial, tally| {
                counts.add(key(site, trial.stores, trial.delta), tally);
                done += tally.runs;
                let by_time = task.limit.map_or(0.0, |limit| begin.elapsed().as_secs_f64() / limit.as_secs_f64());
                on_progress(&counts, (done as f64 / total).max(by_time).min(1.0));
            })
        });
        if !go_on() {
            break;
        }
    }
    counts
}

/// The runs of each point in a sample.
const SAMPLE_RUNS: u64 = 100;

/// Races all points a little, for up to `time`. Returns all counts, and the expected time of the
/// runs that are left.
pub(super) fn sample(task: &Task, before: &Counts, time: Duration) -> (Counts, Duration) {
    let mut counts = before.clone();
    if is_done(task, before) {
        return (counts, Duration::ZERO);
    }
    let begin = Instant::now();
    let limit = Some(task.limit.map_or(time, |limit| limit.min(time)));
    let few = Task { limit, runs: task.runs.min(SAMPLE_RUNS), sites: task.sites.clone(), ..*task };
    // Without the earlier counts: what is left of them may be points of one site.
    let sampled = sweep(&few, &Counts::default(), |_, _| ());
    let elapsed = begin.elapsed();
    sampled.iter().for_each(|(key, tally)| counts.add(key, tally));
    let left = expected_time(elapsed, sampled.total().runs.max(1), runs_left(task, &counts));
    (counts, left)
}

/// Returns the time of `left` runs if `made` runs took `elapsed`.
fn expected_time(elapsed: Duration, made: u64, left: u64) -> Duration {
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * left as f64 / made as f64).unwrap_or(Duration::MAX)
}

/// Whether no runs are left.
pub(super) fn is_done(task: &Task, counts: &Counts) -> bool {
    runs_left(task, counts) == 0
}

/// Returns how many runs are left, unless the bound is raised meanwhile.
fn runs_left(task: &Task, counts: &Counts) -> u64 {
    let targets = targets_so_far(task.supposed, counts);
    let of_site = |site| targets.iter().filter_map(move |target| left(site, target, task.runs, counts));
    task.sites.iter().flat_map(of_site).map(|(_, runs)| runs).fold(0, u64::saturating_add)
}

/// Returns the points around the line of the supposed bound. If a larger violation was caught, the
/// points around its line are added.
fn targets_so_far(supposed: usize, counts: &Counts) -> Vec<Target> {
    let mut all = targets(supposed);
    if let Some(raised) = counts.largest_violation().map(|stores| stores + 1).filter(|bound| *bound > supposed) {
        for target in targets(raised) {
            match all.iter_mut().find(|other| (other.stores, other.delta) == (target.stores, target.delta)) {
                Some(other) => other.near |= target.near,
                None => all.push(target),
            }
        }
    }
    all
}

/// Returns what is left to do of a point in this pass.
fn left(site: &Site, target: &Target, runs: u64, counts: &Counts) -> Option<(Trial, u64)> {
    let Target { stores, delta, .. } = *target;
    let left = target.share(runs).saturating_sub(counts.of(key(site, stores, delta)).runs);
    (left > 0).then_some((Trial { stores, delta, fenced: false }, left))
}

fn key(site: &Site, stores: usize, delta: usize) -> Key {
    Key { kind: site.kind, placement: site.placement, stores, delta }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::lab::litmus::counts::tests as counted;

    fn task(runs: u64, limit: Option<Duration>) -> Task {
        Task { sites: vec![Site::anywhere()], supposed: 73, runs, limit, is_over: || false }
    }

    #[test]
    fn a_complete_sweep_has_the_planned_runs_of_every_point() {
        let task = task(2, None);
        let mut last = 0.0;
        let counts = sweep(&task, &Counts::default(), |_, share| {
            assert!(share >= last);
            last = share;
        });
        assert_eq!(last, 1.0);
        // A bound that was raised meanwhile has points of its own.
        for target in targets(73) {
            assert_eq!(counts.of(key(&task.sites[0], target.stores, target.delta)).runs, 2, "{target:?}");
        }
    }

    #[test]
    fn a_time_limit_of_zero_allows_no_run() {
        assert_eq!(sweep(&task(1_000_000, Some(Duration::ZERO)), &Counts::default(), |_, _| ()), Counts::default());
    }

    #[test]
    fn the_time_of_ten_million_runs_a_point_is_known_before_they_start() {
        let (counts, left) = sample(&task(10_000_000, None), &Counts::default(), Duration::from_millis(50));
        assert!(counts.total().runs > 0 && left > Duration::from_secs(60), "{left:?}");
        let (resumed, _) = sample(&task(10_000_000, None), &counts, Duration::from_millis(50));
        assert!(resumed.total().runs > counts.total().runs);
        assert_eq!(expected_time(Duration::from_secs(2), 1_000, 500_000), Duration::from_secs(1_000));
        assert_eq!(expected_time(Duration::from_secs(2), 1, u64::MAX), Duration::MAX);
        assert_eq!(expected_time(Duration::from_secs(2), 1_000, 0), Duration::ZERO);
    }

    #[test]
    fn an_interrupted_sweep_does_not_start() {
        let task = Task { is_over: || true, ..task(1_000_000, None) };
        assert_eq!(sweep(&task, &Counts::default(), |_, _| ()), Counts::default());
    }

    #[test]
    fn earlier_counts_are_not_repeated_and_a_larger_number_asks_for_more() {
        let raised = Key { kind: Site::anywhere().kind, placement: Site::anywhere().placement, stores: 1, delta: 49 };
        let before = counted::counts(&[(raised, 2, 1)]);
        let mut whole = sweep(&task(2, None), &before, |_, _| ());
        // If a race raises the bound during the sweep, the new bound's points are left.
        while !is_done(&task(2, None), &whole) {
            whole = sweep(&task(2, None), &whole, |_, _| ());
        }
        // The line of an earlier violation is raced too.
        for target in targets(73).into_iter().chain(targets(99)) {
            assert_eq!(whole.of(key(&Site::anywhere(), target.stores, target.delta)).runs, 2, "{target:?}");
        }
        assert!(!is_done(&task(3, None), &whole));
        assert_eq!(sweep(&task(2, None), &whole, |_, _| panic!("the sweep was done")), whole);
        assert!(sweep(&task(3, None), &whole, |_, _| ()).total().runs > whole.total().runs);
    }

    #[test]
    fn an_interrupted_sweep_can_be_finished() {
        let whole = sweep(&task(2, None), &Counts::default(), |_, _| ());
        let mut half = Counts::default();
        whole.iter().step_by(2).for_each(|(key, tally)| half.add(key, tally));
        let mut last = 0.0;
        let finished = sweep(&task(2, None), &half, |_, share| last = share);
        assert_eq!(last, 1.0);
        for target in targets(73) {
            assert_eq!(finished.of(key(&Site::anywhere(), target.stores, target.delta)).runs, 2, "{target:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_site_where_no_thread_can_be_pinned_has_no_counts() {
        let task = Task { sites: vec![Site::nowhere(), Site::anywhere()], ..task(1, None) };
        let counts = sweep(&task, &Counts::default(), |_, _| ());
        assert_eq!(counts.places(), [(Site::anywhere().kind, Site::anywhere().placement)]);
    }

    #[test]
    fn the_line_of_a_raised_bound_is_raced_too() {
        assert_eq!(targets_so_far(73, &Counts::default()), targets(73));
        assert_eq!(targets_so_far(73, &counted::counts(&[(counted::key(1, 36), 10, 1)])), targets(73));
        let raised = targets_so_far(73, &counted::counts(&[(counted::key(1, 49), 10, 1)]));
        let near = |delta| raised.contains(&Target { stores: 1, delta, near: true });
        assert!(near(37) && near(50) && near(49) && near(52));
        let points: HashSet<_> = raised.iter().map(|target| (target.stores, target.delta)).collect();
        assert_eq!(points.len(), raised.len());
    }
}
