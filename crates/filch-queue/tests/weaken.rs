//! Weakens every ordering of the crate in turn and reports which changes the models detect.
//!
//! Every queue must have at least one broken variant of its own that is caught. The rest is a
//! report: an ordering that survives is either implied by others on these small worlds, or beyond
//! loom (see ARCHITECTURE.md). A world that does not fail within the time limit counts as a
//! survivor. If a queue has no caught variant yet, the variants that ended by the limit run again
//! with more time.
#![cfg(loom)]

mod models;

use std::collections::BTreeMap;
use std::env;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use filch_queue::weaken::{self, Site};
use models::{Subject, SHARP, SUBJECTS};

const PLACE: &str = "FILCH_WEAKENED_PLACE";
const QUEUES: &str = "FILCH_WEAKENED_QUEUES";

/// The time limit of a broken crate whose outcome is needed.
///
/// It is long because the processors may be busy with other work.
const LONG: Duration = Duration::from_secs(120);

/// Returns the time limit after which a broken crate counts as a survivor.
fn limit() -> Duration {
    let seconds = env::var("FILCH_WEAKEN_SECONDS").ok().and_then(|value| value.parse().ok());
    Duration::from_secs(seconds.unwrap_or(5))
}

/// Returns the queues that meet each site, the quickest to search first.
fn sites() -> BTreeMap<Site, Vec<&'static str>> {
    let mut met: BTreeMap<Site, Vec<_>> = BTreeMap::new();
    for subject in &SUBJECTS {
        for world in SHARP {
            (subject.search)(world, 0);
        }
        for world in subject.own_worlds {
            (world.search)(0);
        }
        for site in weaken::take_sites() {
            met.entry(site).or_default().push(subject);
        }
    }
    let names = |mut subjects: Vec<&Subject>| {
        subjects.sort_by_key(|subject| usize::MAX - subject.preemptions);
        subjects.into_iter().map(|subject| subject.name).collect()
    };
    met.into_iter().map(|(site, subjects)| (site, names(subjects))).collect()
}

/// The result of a search of a broken crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Caught,
    Survived,
    /// The search did not end within the limit.
    Unknown,
}

/// Runs this test program on a crate with a single weakened site.
fn search(site: &Site, queues: &[&str], limit: Duration) -> Outcome {
    let mut child = Command::new(env::current_exe().expect("cannot find the test program"))
        .args(["--exact", "one_weakened_crate", "--test-threads=1"])
        .env(PLACE, &site.place)
        .env(QUEUES, queues.join(","))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("cannot start the test program");
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait().expect("cannot wait for the child") {
            return if status.success() { Outcome::Survived } else { Outcome::Caught };
        }
        sleep(Duration::from_millis(20));
    }
    child.kill().expect("cannot stop the child");
    child.wait().expect("cannot wait for the child");
    Outcome::Unknown
}

/// Returns the file of a site.
fn file(site: &Site) -> &str {
    site.place.split(':').next().unwrap_or_default()
}

#[test]
fn every_queue_has_a_broken_variant_that_is_caught() {
    let sites: Vec<_> = sites().into_iter().collect();
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<BTreeMap<&Site, Outcome>> = Mutex::default();
    // Two at a time: each is a process of its own that keeps a core busy.
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((site, queues)) = sites.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = search(site, queues, limit());
                    outcomes.lock().expect("no thread panics while it holds the lock").insert(site, outcome);
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().expect("no thread panics while it holds the lock");
    let is_flaw = |site: &Site| site.what == weaken::FLAW;
    for (site, queues) in &sites {
        let is_caught = |(other, outcome): (&&Site, &Outcome)| {
            *outcome == Outcome::Caught && !is_flaw(other) && file(other) == file(site)
        };
        if outcomes[site] == Outcome::Unknown && (is_flaw(site) || !outcomes.iter().any(is_caught)) {
            outcomes.insert(site, search(site, queues, limit().max(LONG)));
        }
    }
    let mut caught_in: BTreeMap<String, usize> = BTreeMap::new();
    let (mut caught, mut all) = (0, 0);
    for (site, outcome) in outcomes {
        let fails = outcome == Outcome::Caught;
        println!("{:9} {} ({})", if fails { "caught" } else { "survived" }, site.place, site.what);
        if is_flaw(site) {
            assert!(fails, "the models did not detect the flaw `{}`", site.place);
            continue;
        }
        all += 1;
        caught += usize::from(fails);
        *caught_in.entry(file(site).to_string()).or_default() += usize::from(fails);
    }
    println!("{caught} of {all} weakened orderings were caught");
    for file in [
        "locked",
        "chase_lev",
        "the",
        "asymmetric",
        "ff_cl",
        "ff_the",
        "thep",
        "lifo",
        "fifo",
        "double_ended",
        "storage",
        "bulk/mod",
        "bulk/thief",
        "bulk/segment",
    ] {
        let caught: usize =
            caught_in.iter().filter(|(path, _)| path.ends_with(&format!("/{file}.rs"))).map(|(_, caught)| caught).sum();
        assert!(caught > 0, "no weakened ordering in {file}.rs was caught");
    }
}

#[test]
fn one_weakened_crate() {
    let (Ok(place), Ok(queues)) = (env::var(PLACE), env::var(QUEUES)) else {
        return;
    };
    weaken::weaken(&place);
    for name in queues.split(',') {
        let subject = SUBJECTS.iter().find(|subject| subject.name == name).expect("there is no queue of that name");
        // A queue's own worlds come first, because they detect more. Low bounds come first, because
        // an error that shows in few orders is found quickly.
        for bound in 0..=subject.preemptions {
            subject.own_worlds.iter().for_each(|world| (world.search)(bound));
        }
        for world in SHARP {
            let one_thief = world.steals[1] == 0;
            (subject.search)(world, if one_thief { 2 } else { subject.preemptions });
        }
    }
}
