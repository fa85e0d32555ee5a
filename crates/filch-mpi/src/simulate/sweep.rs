//! Many simulated runs: the same work for a rank, or the same work in all, for more and more ranks.

use serde::Serialize;

use super::outcome::{Failure, Outcome};
use super::recording::Recording;
use super::settings::{Costs, Kind, Settings};
use super::tree::Tree;
use super::wire::Wire;
use super::world::{calibrate, run};

/// What grows with the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// Nothing: all have the recorded tree.
    Strong,
    /// The tree: each rank has as much work, in trees that are grown like the recorded one.
    Weak,
}

/// Runs that are drawn as one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What grows with the ranks.
    pub scaling: Scaling,
    /// What the network is called.
    pub network: String,
    /// What it is like.
    pub wire: Wire,
    /// Nodes cost this many times as much as recorded.
    pub factor: f64,
}

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Numbers of ranks.
    pub ranks: Vec<usize>,
    /// For each of them, one run a line.
    pub lines: Vec<Line>,
    /// How many nodes there are for each thread where that is the same for all, if they cost what all cost in the mean: what is the same is the work.
    pub nodes: u32,
    /// All else. What the library takes for a message is taken from its costs; what handling takes is measured, unless `handle` says what it is.
    pub settings: Settings,
    /// What handling a message takes the coordinator, in nanoseconds.
    pub handle: Option<f64>,
}

/// What the coordinator takes for a message among so many ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// How many ranks.
    pub ranks: usize,
    /// From the bytes of a message to the bytes of the answers, in nanoseconds, for each kind.
    pub handle_ns: Vec<(&'static str, f64)>,
    /// For the library to receive a message.
    pub receive_ns: f64,
    /// For the library to send an answer.
    pub send_ns: f64,
    #[serde(skip)]
    costs: Costs,
}

/// One simulated run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What grows with the ranks.
    pub scaling: Scaling,
    /// What the network is called.
    pub network: String,
    /// From one rank to another, in microseconds.
    pub latency_us: f64,
    /// Nodes cost this many times as much as recorded.
    pub factor: f64,
    /// The mean cost of a node, in microseconds.
    pub node_us: f64,
    /// How many ranks.
    pub ranks: usize,
    /// Threads of each.
    pub threads: usize,
    /// Nodes of the tree.
    pub nodes: u64,
    /// What they cost together, in seconds.
    pub work_s: f64,
    /// How long the ranks took, in seconds.
    pub elapsed_s: f64,
    /// How many times faster than one thread.
    pub speed_up: f64,
    /// The share of the threads' time that went into nodes.
    pub efficiency: f64,
    /// Messages that the coordinator handled.
    pub messages: u64,
    /// In a second.
    pub messages_per_s: f64,
    /// What one took it in the mean, in microseconds, with what it sent because of it.
    pub message_us: f64,
    /// The share of the time for which the coordinator was busy.
    pub utilisation: f64,
    /// How long a message waited for the coordinator: the mean, in microseconds.
    pub queueing_us: f64,
    /// The longest that one waited.
    pub queueing_most_us: f64,
    /// How long a rank that had nothing waited for nodes: the mean, in microseconds.
    pub hunger_us: f64,
    /// What nine of ten waited at most.
    pub hunger_ninth_us: f64,
    /// Orders to give nodes away.
    pub orders: u64,
    /// Of these, those that found nothing to give.
    pub refused: u64,
    /// Nodes that were moved.
    pub moved: u64,
}

/// Something that was learnt.
#[derive(Clone, Debug, PartialEq)]
pub enum Learnt {
    /// What messages take.
    Calibrated(Calibration),
    /// What came of a run.
    Simulated(Row),
}

/// Does all that is planned, and tells of each thing that is learnt.
///
/// # Errors
///
/// If a simulated run loses nodes or does not end: then the protocol is wrong, or the simulation.
pub fn sweep(recording: &Recording, plan: &Plan, tell: &mut dyn FnMut(&Learnt)) -> Result<(), Failure> {
    let recorded = Tree::recorded(recording);
    let work = recording.work() / u32::try_from(recording.nodes().len()).unwrap_or(u32::MAX) * plan.nodes;
    for &ranks in &plan.ranks {
        let settings = Settings { ranks, ..plan.settings.clone() };
        let threads = (ranks * settings.threads) as u32;
        let calibration = match plan.handle {
            Some(handle) => Calibration::new(ranks, Costs { handle: [handle; Kind::ALL.len()], ..plan.settings.costs }),
            None => {
                // A shorter run will do, but it begins and ends as others do.
                let tree = Tree::grown(recording, work * threads / 8, plan.settings.seed);
                Calibration::new(ranks, calibrate(&tree, &settings)?)
            }
        };
        let costs = calibration.costs;
        tell(&Learnt::Calibrated(calibration));
        let is_weak = plan.lines.iter().any(|line| line.scaling == Scaling::Weak);
        let grown = is_weak.then(|| Tree::grown(recording, work * threads, plan.settings.seed));
        let simulate = |line: &Line| {
            let tree = match (line.scaling, &grown) {
                (Scaling::Weak, Some(grown)) => grown,
                _ => &recorded,
            };
            let tree = tree.clone().scaled(line.factor);
            let settings = Settings { wire: line.wire, costs, ..settings.clone() };
            run(&tree, &settings).map(|outcome| Row::new(line, &settings, &outcome))
        };
        // Runs have nothing to do with each other, but for memory: as many at a time as there are processors.
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        for lines in plan.lines.chunks(at_once) {
            let rows: Vec<Result<Row, Failure>> = std::thread::scope(|scope| {
                let simulate = &simulate;
                let runs: Vec<_> = lines.iter().map(|line| scope.spawn(move || simulate(line))).collect();
                let row = |run: std::thread::ScopedJoinHandle<'_, _>| {
                    run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                runs.into_iter().map(row).collect()
            });
            for row in rows {
                tell(&Learnt::Simulated(row?));
            }
        }
    }
    Ok(())
}

impl Calibration {
    fn new(ranks: usize, costs: Costs) -> Calibration {
        let handle_ns = Kind::ALL.iter().map(|kind| (kind.name(), costs.handle[*kind as usize])).collect();
        Calibration { ranks, handle_ns, receive_ns: costs.receive, send_ns: costs.send, costs }
    }
}

impl Row {
    fn new(line: &Line, settings: &Settings, outcome: &Outcome) -> Row {
        Row {
            scaling: line.scaling,
            network: line.network.clone(),
            latency_us: line.wire.latency.as_secs_f64() * 1e6,
            factor: line.factor,
            node_us: outcome.done.work as f64 / outcome.done.nodes.max(1) as f64 / 1e3,
            ranks: settings.ranks,
            threads: settings.threads,
            nodes: outcome.done.nodes,
            work_s: outcome.done.time().as_secs_f64(),
            elapsed_s: outcome.elapsed.as_secs_f64(),
            speed_up: outcome.speed_up(),
            efficiency: outcome.efficiency(),
            messages: outcome.messages,
            messages_per_s: outcome.rate(),
            message_us: outcome.busy.as_secs_f64() * 1e6 / outcome.messages.max(1) as f64,
            utilisation: outcome.utilisation(),
            queueing_us: outcome.queueing.mean / 1e3,
            queueing_most_us: outcome.queueing.most as f64 / 1e3,
            hunger_us: outcome.hunger.mean / 1e3,
            hunger_ninth_us: outcome.hunger.ninth / 1e3,
            orders: outcome.orders,
            refused: outcome.refused,
            moved: outcome.moved,
        }
    }
}

/// From which number of ranks on the coordinator is busy for more than this share of the time.
pub const SATURATED: f64 = 0.8;

/// Where a line of rows saturates the coordinator: between which two the utilisation passes [`SATURATED`], interpolated on a logarithmic scale. `None` if it does not.
#[must_use]
pub fn saturation(rows: &[&Row]) -> Option<f64> {
    let first = rows.iter().position(|row| row.utilisation >= SATURATED)?;
    let after = rows[first];
    let Some(before) = first.checked_sub(1).map(|place| rows[place]) else { return Some(after.ranks as f64) };
    let part = (SATURATED - before.utilisation) / (after.utilisation - before.utilisation);
    let (low, high) = ((before.ranks as f64).ln(), (after.ranks as f64).ln());
    Some((low + part * (high - low)).exp())
}

#[cfg(test)]
mod tests {
    use super::super::tests::a_recording;
    use super::*;

    fn plan(ranks: &[usize], scalings: &[Scaling]) -> Plan {
        let line = |&scaling| Line { scaling, network: "test".to_owned(), wire: Wire::INFINIBAND, factor: 0.5 };
        Plan {
            ranks: ranks.to_vec(),
            lines: scalings.iter().map(line).collect(),
            nodes: 200,
            settings: Settings::new(1),
            handle: Some(1_000.0),
        }
    }

    fn rows(plan: &Plan) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut tell = |learnt: &Learnt| {
            if let Learnt::Simulated(row) = learnt {
                rows.push(row.clone());
            }
        };
        sweep(&a_recording(2_000, 3), plan, &mut tell).unwrap();
        rows
    }

    #[test]
    fn weak_scaling_keeps_the_work_of_a_rank_and_strong_scaling_that_of_all() {
        let rows = rows(&plan(&[4, 40], &[Scaling::Strong, Scaling::Weak]));
        assert_eq!(rows.iter().map(|row| row.ranks).collect::<Vec<_>>(), [4, 4, 40, 40]);
        assert_eq!(rows[0].nodes, rows[2].nodes);
        let per_rank = |row: &Row| row.work_s / row.ranks as f64;
        for row in [&rows[1], &rows[3]] {
            assert!((0.008..0.012).contains(&per_rank(row)), "half of 200 nodes of 0.1 ms: {row:?}");
        }
    }

    #[test]
    fn a_plan_with_fixed_costs_is_repeatable() {
        let plan = plan(&[10], &[Scaling::Weak]);
        assert_eq!(rows(&plan), rows(&plan));
    }

    #[test]
    fn saturation_is_found_between_two_runs() {
        let mut rows = rows(&plan(&[10, 20, 30], &[Scaling::Strong]));
        for (row, (ranks, utilisation)) in rows.iter_mut().zip([(10, 0.1), (100, 0.6), (1_000, 1.0)]) {
            (row.ranks, row.utilisation) = (ranks, utilisation);
        }
        let all: Vec<&Row> = rows.iter().collect();
        assert!((saturation(&all).unwrap() / 316.0 - 1.0).abs() < 0.01);
        assert_eq!(saturation(&all[..2]), None);
        assert_eq!(saturation(&all[2..]), Some(1_000.0));
    }
}
