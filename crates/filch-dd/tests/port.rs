//! Searches that exchange nodes, are saved, stopped and resumed, find what one search finds.

mod tiny;

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use filch_dd::port::{Event, Package, Port, SearchStatus, Totals};
use filch_dd::problems::{clique, golomb, independent_set, knapsack, tsptw, unsplittable_flow};
use filch_dd::{Cost, Cutset, Outcome, Relaxation, Sense, Solution, SolveError, SolveStatus, Solver, Width};
use serde::de::DeserializeOwned;
use serde::Serialize;
use tiny::{brute_force, Dice, IndependentSet, Jobs, Knapsack, TwoSacks};

/// The settings of a search.
#[derive(Clone, Copy, Debug)]
struct Settings {
    width: usize,
    cutset: Cutset,
    cache: bool,
    threads: usize,
}

impl Settings {
    fn random(dice: &mut Dice) -> Settings {
        Settings {
            width: 1 + dice.roll(4) as usize,
            cutset: if dice.roll(2) == 0 { Cutset::LastExactLayer } else { Cutset::Frontier },
            cache: dice.roll(2) == 0,
            threads: 1 + (dice.roll(4) == 0) as usize,
        }
    }

    fn apply<P: Relaxation>(self, solver: Solver<'_, P>) -> Solver<'_, P> {
        solver.width(Width::Fixed(self.width)).cutset(self.cutset).cache(self.cache).threads(self.threads)
    }
}

/// The nodes left of a search, and its best solution.
///
/// They are all that is needed to resume.
#[derive(Clone, Debug, Default)]
struct Saved {
    packages: Vec<Package>,
    best: Option<Solution>,
}

fn better(sense: Sense, one: &Solution, other: Option<&Solution>) -> bool {
    other.is_none_or(|other| match sense {
        Sense::Maximise => one.cost > other.cost,
        Sense::Minimise => one.cost < other.cost,
    })
}

/// One search as its outside sees it.
#[derive(Default)]
struct SearchView {
    deliveries: u64,
    idle: bool,
    asked: bool,
    shown: bool,
    ended: Option<Vec<Package>>,
}

/// Runs several searches of one problem, between which an outside moves nodes at random.
///
/// It also saves all nodes now and then. The searches begin with `from`, or the first of them with
/// the root.
fn exchange<P>(
    problem: &P,
    all_settings: &[Settings],
    dominance: Option<fn(Solver<'_, P>) -> Solver<'_, P>>,
    from: Option<&Saved>,
    stop_after: u64,
    dice: &mut Dice,
) -> (Saved, Vec<Saved>)
where
    P: Relaxation<State: Serialize + DeserializeOwned>,
{
    let ports: Vec<Port> = all_settings.iter().map(|_| Port::new()).collect();
    let sense = problem.sense();
    thread::scope(|scope| {
        let mut searches = Vec::new();
        for (index, (port, &settings)) in ports.iter().zip(all_settings).enumerate() {
            let mut solver = settings.apply(Solver::new(problem).port(port));
            if let Some(dominance) = dominance {
                solver = dominance(solver);
            }
            if index > 0 || from.is_some() {
                solver = solver.without_root();
            }
            searches.push(scope.spawn(move || solver.solve()));
        }
        let mut seen: Vec<SearchView> = all_settings.iter().map(|_| SearchView::default()).collect();
        let mut best = from.and_then(|from| from.best.clone());
        let mut in_transit: VecDeque<Vec<Package>> = VecDeque::new();
        if let Some(from) = from {
            in_transit.push_back(from.packages.clone());
            best.iter().for_each(|best| ports.iter().for_each(|port| port.tell(best.clone())));
        }
        // While a snapshot is collected, no node moves. So the snapshots of all searches, taken at
        // different times, are consistent.
        let mut snapshot: Option<Saved> = None;
        let mut written = Vec::new();
        let mut rounds = 0;
        let stopped = loop {
            rounds += 1;
            for (index, port) in ports.iter().enumerate() {
                let wait = Duration::from_micros(if dice.roll(4) == 0 { 200 } else { 0 });
                for event in port.events(wait) {
                    match event {
                        Event::Given(packages) => {
                            assert!(std::mem::take(&mut seen[index].asked), "nodes were given without a request");
                            in_transit.push_back(packages);
                        }
                        Event::Snapshot(packages, _) => {
                            assert!(!std::mem::replace(&mut seen[index].shown, true), "two snapshots for one request");
                            snapshot.as_mut().expect("a snapshot was requested").packages.extend(packages);
                        }
                        Event::Found(solution) => {
                            if better(sense, &solution, best.as_ref()) {
                                best = Some(solution.clone());
                                let others = ports.iter().enumerate().filter(|(other, _)| *other != index);
                                others.for_each(|(_, port)| port.tell(solution.clone()));
                            }
                        }
                        Event::Idle { delivered } => seen[index].idle = delivered == seen[index].deliveries,
                        Event::Ended { .. } => panic!("the search ended before it was reported to"),
                        _ => unreachable!("no search fails"),
                    }
                }
            }
            let quiet = in_transit.is_empty() && seen.iter().all(|search| !search.asked);
            if quiet && snapshot.is_none() && seen.iter().all(|search| search.idle) {
                break false;
            }
            if rounds == stop_after {
                break true;
            }
            if let Some(whole) = snapshot.take_if(|_| seen.iter().all(|search| search.shown)) {
                written.push(Saved { best: best.clone(), ..whole });
            }
            if snapshot.is_some() {
                continue;
            }
            if quiet && dice.roll(8) == 0 {
                seen.iter_mut().for_each(|search| search.shown = false);
                snapshot = Some(Saved::default());
                ports.iter().for_each(Port::snapshot);
                continue;
            }
            if let Some(packages) = in_transit.pop_front().filter(|packages| !packages.is_empty()) {
                let to = dice.roll(ports.len() as u64) as usize;
                seen[to].deliveries += 1;
                seen[to].idle = false;
                ports[to].deliver(packages).expect("the search has not ended");
            }
            let of = dice.roll(ports.len() as u64) as usize;
            if !seen[of].asked && dice.roll(3) > 0 {
                seen[of].asked = true;
                ports[of].ask([0.1, 0.5, 1.0][dice.roll(3) as usize]);
            }
        };
        for port in &ports {
            if stopped {
                port.stop();
            } else {
                port.end();
            }
        }
        let mut left = Saved::default();
        for (index, (port, search)) in ports.iter().zip(searches).enumerate() {
            let outcome = search.join().expect("no search panics").unwrap_or_else(|error| panic!("{error}"));
            for event in port.events(Duration::ZERO) {
                match event {
                    Event::Ended { left, .. } => seen[index].ended = Some(left),
                    Event::Given(packages) => in_transit.push_back(packages),
                    Event::Found(solution) if better(sense, &solution, best.as_ref()) => best = Some(solution),
                    _ => {}
                }
            }
            let ended = seen[index].ended.take().expect("the last event is `Ended`");
            assert!(stopped || ended.is_empty() && outcome.status.is_proven());
            left.packages.extend(ended);
        }
        // Nodes that are on their way when all searches are stopped are held by the outside alone.
        left.packages.extend(in_transit.into_iter().flatten());
        left.best = best;
        (left, written)
    })
}

/// Exchanges, stops, and resumes from what was left and from what was saved in between.
///
/// The optimum is the same every time.
fn holds_across_searches<P>(
    problem: &P,
    name: &str,
    expected: Option<Cost>,
    dominance: Option<fn(Solver<'_, P>) -> Solver<'_, P>>,
    seeds: core::ops::Range<u64>,
) where
    P: Relaxation<State: Serialize + DeserializeOwned>,
{
    for seed in seeds {
        let mut dice = Dice::new(seed);
        let mut from: Option<Saved> = None;
        for attempt in 0.. {
            let all_settings: Vec<Settings> = (0..1 + dice.roll(3)).map(|_| Settings::random(&mut dice)).collect();
            let dominance = dominance.filter(|_| dice.roll(2) == 0);
            let stop_after = if attempt < 3 { 5 + dice.roll(60) } else { u64::MAX };
            let (left, written) = exchange(problem, &all_settings, dominance, from.as_ref(), stop_after, &mut dice);
            let what = format!("{name}, seed {seed}, attempt {attempt}, {all_settings:?}");
            if left.packages.is_empty() {
                assert_eq!(left.best.as_ref().map(|best| best.cost), expected, "{what}");
            }
            for written in &written {
                if dice.roll(2) == 0 {
                    let settings = Settings::random(&mut dice);
                    let (end, _) = exchange(problem, &[settings], None, Some(written), u64::MAX, &mut dice);
                    assert_eq!(
                        end.best.map(|best| best.cost),
                        expected,
                        "{what}: resumed from a snapshot, {settings:?}"
                    );
                }
            }
            if left.packages.is_empty() {
                break;
            }
            from = Some(left);
        }
    }
}

fn optimum<P: Relaxation>(problem: &P) -> Option<Cost> {
    Solver::new(problem).solve().expect("the problem is valid").best.map(|best| best.cost)
}

#[test]
fn tiny_problems_are_solved_across_searches() {
    for seed in 0..60 {
        let sack = Knapsack::random(seed, seed % 2 == 1, seed % 3 > 0);
        holds_across_searches(&sack, "knapsack", brute_force(&sack), Some(|s| s.dominance()), seed..seed + 3);
        let set = IndependentSet::random(seed, seed % 2 == 1, seed % 3 > 0);
        holds_across_searches(&set, "independent set", brute_force(&set), None, seed..seed + 3);
        let sacks = TwoSacks::random(seed, seed % 2 == 1);
        holds_across_searches(&sacks, "two sacks", brute_force(&sacks), Some(|s| s.dominance()), seed..seed + 3);
    }
}

#[test]
fn jobs_are_scheduled_across_searches() {
    for seed in 0..60 {
        let jobs = Jobs::random(seed, seed % 2 == 1, seed % 3 > 0);
        holds_across_searches(&jobs, "jobs", brute_force(&jobs), Some(|s| s.dominance()), seed..seed + 3);
    }
}

#[test]
fn included_problems_are_solved_across_searches() {
    let sack = knapsack::random(18, 100, knapsack::Kind::Uncorrelated, 1);
    holds_across_searches(&sack, "knapsack", optimum(&sack), Some(|s| s.dominance()), 0..3);
    let set = independent_set::IndependentSet::<filch_dd::problems::bits::Words<1>>::new(independent_set::random(
        24, 200, 9, 1,
    ));
    holds_across_searches(&set, "independent set", optimum(&set), None, 0..3);
    let set = independent_set::IndependentSet::<filch_dd::problems::bits::ManyWords>::new(independent_set::random(
        24, 200, 9, 2,
    ));
    holds_across_searches(&set, "independent set of many words", optimum(&set), None, 0..3);
    let clique = clique::Clique::<filch_dd::problems::bits::Words<1>>::new(clique::random(20, 700, 1, 1));
    holds_across_searches(&clique, "clique", optimum(&clique), None, 0..3);
    let tour = tsptw::random(8, 50, 60, 1);
    holds_across_searches(&tour, "tour", optimum(&tour), Some(|s| s.dominance()), 0..3);
    let ruler = golomb::Golomb::new(6).expect("6 marks are allowed");
    holds_across_searches(&ruler, "ruler", optimum(&ruler), None, 0..3);
    let flow = unsplittable_flow::random(3, 2, 600, 4, 1);
    holds_across_searches(&flow, "flow", optimum(&flow), Some(|s| s.dominance()), 0..3);
}

/// Returns the open nodes of a search that is stopped after `nodes` nodes.
fn stopped<P>(problem: &P, nodes: u64) -> Vec<Package>
where
    P: Relaxation<State: Serialize + DeserializeOwned>,
{
    let port = Port::new();
    let outcome = Solver::new(problem).width(Width::Fixed(2)).cache(false).node_limit(nodes).port(&port).solve();
    assert_eq!(outcome.expect("the problem is valid").status, SolveStatus::NodeLimit);
    match port.events(Duration::ZERO).pop() {
        Some(Event::Ended { left, totals }) => {
            assert_eq!(totals.explored, nodes);
            left
        }
        other => panic!("the last event is {other:?}, not `Ended`"),
    }
}

/// Runs a search that is given these nodes and nothing else.
fn resumed<P>(problem: &P, packages: Vec<Package>) -> Result<Outcome, SolveError>
where
    P: Relaxation<State: Serialize + DeserializeOwned>,
{
    let port = Port::new();
    port.deliver(packages).expect("the search has not ended");
    port.end();
    Solver::new(problem).port(&port).without_root().solve()
}

#[test]
fn damaged_or_foreign_nodes_are_refused_with_a_reason() {
    let sack = knapsack::random(40, 1000, knapsack::Kind::Strongly, 1);
    let other = knapsack::random(40, 1000, knapsack::Kind::Strongly, 2);
    let packages = stopped(&sack, 20);
    assert!(packages.iter().map(Package::nodes).sum::<u64>() > 5);
    assert!(resumed(&sack, packages.clone()).is_ok());
    let Err(SolveError::InvalidDelivery(how)) = resumed(&other, packages.clone()) else {
        panic!("the nodes of another sack were accepted")
    };
    assert!(how.contains("lead to another") || how.contains("is not in the domain"), "{how}");

    // Whatever is done to the bytes, the result is an error with a sentence, or the same nodes.
    let mut dice = Dice::new(1);
    let whole = postcard::to_stdvec(&packages).expect("packages can be serialized");
    let mut refused = 0;
    for _ in 0..300 {
        let mut damaged = whole.clone();
        for _ in 0..1 + dice.roll(3) {
            let at = dice.roll(damaged.len() as u64) as usize;
            match dice.roll(3) {
                0 => damaged[at] = dice.roll(256) as u8,
                1 => damaged[at] ^= 1 << dice.roll(8),
                _ => damaged.truncate(at + 1),
            }
        }
        let Ok(read) = postcard::from_bytes::<Vec<Package>>(&damaged) else { continue };
        match resumed(&sack, read.clone()) {
            Err(SolveError::InvalidDelivery(_)) => refused += 1,
            Err(error) => panic!("{error}"),
            Ok(_) => {}
        }
    }
    assert!(refused > 50, "{refused} of 300 were refused");
}

#[test]
fn parcels_whose_node_counts_overflow_are_refused() {
    let port = Port::new();
    for _ in 0..2 {
        let package = Package::new(u64::MAX, 1, Vec::new());
        port.deliver(vec![package.clone(), package]).expect("the search has not ended");
    }
    assert_eq!(port.standing().open, u64::MAX);
    let refused = Solver::new(&knapsack::paper()).port(&port).solve();
    assert!(matches!(refused, Err(SolveError::InvalidDelivery(_))), "{refused:?}");
}

#[test]
fn an_invalid_solution_is_refused() {
    let sack = knapsack::paper();
    let port = Port::new();
    let mut best = Solver::new(&sack).solve().expect("the problem is valid").best.expect("something fits");
    best.decisions[0].value = 7;
    best.cost += 1;
    port.tell(best);
    let refused = Solver::new(&sack).port(&port).solve();
    assert!(matches!(refused, Err(SolveError::InvalidDelivery(_))), "{refused:?}");
}

#[test]
fn the_standing_of_a_search_counts_its_open_nodes() {
    let sack = knapsack::random(40, 1000, knapsack::Kind::Strongly, 1);
    let packages = stopped(&sack, 20);
    let nodes: u64 = packages.iter().map(Package::nodes).sum();
    let bound = packages.iter().map(Package::bound).max();
    let port = Port::new();
    assert_eq!(port.standing(), SearchStatus::default());
    port.deliver(packages.clone()).expect("the search has not ended");
    port.end();
    // With a limit of 0, no node is explored.
    let outcome = Solver::new(&sack).port(&port).without_root().node_limit(0).solve().expect("the problem is valid");
    assert_eq!(outcome.status, SolveStatus::NodeLimit);
    let standing = port.standing();
    assert_eq!((standing.open, standing.explored, standing.best), (nodes, 0, None));
    assert_eq!(standing.bound, bound);
    let Some(Event::Ended { left, totals }) = port.events(Duration::ZERO).pop() else {
        panic!("the last event is `Ended`")
    };
    assert_eq!(totals, Totals::default());
    assert_eq!(left.iter().map(Package::nodes).sum::<u64>(), nodes);
}

#[test]
fn every_request_is_answered_once_even_at_the_end_of_the_search() {
    for threads in [1, 2] {
        let sack = knapsack::paper();
        let port = Port::new();
        let (asked, shown) = (3, 2);
        (0..asked).for_each(|_| port.ask(0.5));
        (0..shown).for_each(|_| port.snapshot());
        port.end();
        let outcome = Solver::new(&sack).threads(threads).port(&port).solve().expect("the problem is valid");
        assert_eq!(outcome.status, SolveStatus::Optimal);
        let events = port.events(Duration::ZERO);
        let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
        assert_eq!(count(|event| matches!(event, Event::Given(_))), asked);
        assert_eq!(count(|event| matches!(event, Event::Snapshot(..))), shown);
        assert!(matches!(events.last(), Some(Event::Ended { .. })));
    }
}

#[test]
fn a_search_that_fails_reports_the_event_failed() {
    let port = Port::new();
    let refused = Solver::new(&knapsack::paper()).width(Width::Fixed(0)).port(&port).solve();
    assert_eq!(refused, Err(SolveError::NoWidth));
    assert!(matches!(port.events(Duration::ZERO)[..], [Event::Failed]));
}

#[test]
fn a_search_that_has_ended_returns_delivered_nodes() {
    let sack = knapsack::random(40, 1000, knapsack::Kind::Strongly, 1);
    let packages = stopped(&sack, 20);
    let port = Port::new();
    port.stop();
    Solver::new(&sack).port(&port).without_root().solve().expect("the problem is valid");
    assert_eq!(port.deliver(packages.clone()), Err(packages));
}

#[test]
fn a_failed_search_sends_no_snapshot() {
    // The second of two packages does not belong to the problem. The nodes of the first alone would
    // be incomplete.
    let sack = knapsack::random(40, 1000, knapsack::Kind::Strongly, 1);
    let other = knapsack::random(40, 1000, knapsack::Kind::Strongly, 2);
    for threads in [1, 2] {
        let port = Port::new();
        let packages = stopped(&sack, 20).into_iter().chain(stopped(&other, 20)).collect();
        port.deliver(packages).expect("the search has not ended");
        port.snapshot();
        port.ask(0.5);
        port.end();
        let refused = Solver::new(&sack).threads(threads).port(&port).without_root().solve();
        assert!(matches!(refused, Err(SolveError::InvalidDelivery(_))), "{refused:?}");
        let events = port.events(Duration::ZERO);
        assert!(matches!(events.last(), Some(Event::Failed)), "{events:?}");
        assert!(!events.iter().any(|event| matches!(event, Event::Snapshot(..))), "{events:?}");
    }
}

#[test]
fn a_search_that_panics_reports_failed_and_not_an_empty_frontier() {
    let sack = knapsack::random(40, 1000, knapsack::Kind::Strongly, 1);
    for threads in [1, 2] {
        let port = Port::new();
        let solver = Solver::new(&sack).width(Width::Fixed(2)).cache(false).threads(threads).port(&port);
        let solver = solver.on_incumbent(|_| {
            port.snapshot();
            port.ask(1.0);
            panic!("on purpose");
        });
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| solver.solve()));
        assert!(panicked.is_err());
        let events = port.events(Duration::ZERO);
        assert!(matches!(events[..], [Event::Found(_), Event::Failed]), "{events:?}");
    }
}

#[test]
fn a_port_cannot_be_used_for_a_second_search() {
    let sack = knapsack::paper();
    let port = Port::new();
    port.end();
    Solver::new(&sack).port(&port).solve().expect("the problem is valid");
    port.events(Duration::ZERO);
    let second = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Solver::new(&sack).port(&port).solve()));
    assert!(second.is_err());
    assert!(port.events(Duration::ZERO).is_empty());
}

#[test]
fn the_reported_nodes_form_a_whole_tree() {
    let sack = knapsack::random(40, 1000, knapsack::Kind::Strongly, 3);
    let mut open: i64 = 1;
    let mut reported = 0;
    let solver = Solver::new(&sack).width(Width::Fixed(2)).cache(false);
    let outcome = solver
        .on_explored(|node| {
            assert!(open > 0, "a node was explored that no node left open");
            reported += 1;
            open += node.left_open as i64 - 1;
        })
        .solve()
        .expect("the problem is valid");
    assert_eq!(reported, outcome.statistics.explored + outcome.statistics.pruned);
    assert!(reported > 20, "only {reported} nodes were reported");
    assert_eq!(open, 0);
}
