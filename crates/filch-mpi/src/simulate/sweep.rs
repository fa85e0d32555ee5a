//! Many simulated runs with growing numbers of ranks, for weak and strong scaling.

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
    /// Nothing: all numbers of ranks get the recorded tree.
    Strong,
    /// The tree: each rank gets the same work. The trees are grown like the recorded one.
    Weak,
}

/// Runs that are drawn as one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What grows with the ranks.
    pub scaling: Scaling,
    /// The name of the network.
    pub network: String,
    /// The properties of the network.
    pub wire: Wire,
    /// Nodes cost this many times as much as recorded.
    pub factor: f64,
}

/// The runs of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The numbers of ranks.
    pub ranks: Vec<usize>,
    /// The lines. Each has one run for each number of ranks.
    pub lines: Vec<Line>,
    /// The number of nodes per thread for weak scaling, at the mean cost. The work per thread is
    /// fixed; the number of nodes may differ.
    pub nodes: u32,
    /// All other settings. The receive and send costs are used as given. The handling cost is
    /// measured, unless `handle` gives it.
    pub settings: Settings,
    /// The time that handling a message takes the coordinator, in nanoseconds.
    pub handle: Option<f64>,
}

/// The cost of messages for a coordinator of this number of ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The number of ranks.
    pub ranks: usize,
    /// The time from the bytes of a message to the bytes of the answers. In nanoseconds, for each
    /// kind.
    pub handle_ns: Vec<(&'static str, f64)>,
    /// The time for the library to receive a message, in nanoseconds.
    pub receive_ns: f64,
    /// The time for the library to send an answer, in nanoseconds.
    pub send_ns: f64,
    #[serde(skip)]
    costs: Costs,
}

/// One simulated run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What grows with the ranks.
    pub scaling: Scaling,
    /// The name of the network.
    pub network: String,
    /// The latency from one rank to another, in microseconds.
    pub latency_us: f64,
    /// Nodes cost this many times as much as recorded.
    pub factor: f64,
    /// The mean cost of a node, in microseconds.
    pub node_us: f64,
    /// The number of ranks.
    pub ranks: usize,
    /// The number of threads of each rank.
    pub threads: usize,
    /// The number of nodes of the tree.
    pub nodes: u64,
    /// The cost of all nodes together, in seconds.
    pub work_s: f64,
    /// How long the ranks took, in seconds.
    pub elapsed_s: f64,
    /// The speed-up over one thread.
    pub speed_up: f64,
    /// The share of the threads' time that went into nodes.
    pub efficiency: f64,
    /// The number of messages that the coordinator handled.
    pub messages: u64,
    /// The number of messages per second.
    pub messages_per_s: f64,
    /// The mean time for a message and its answers, in microseconds.
    pub message_us: f64,
    /// The share of the time for which the coordinator was busy.
    pub utilisation: f64,
    /// The mean time that a message waited for the coordinator, in microseconds.
    pub queueing_us: f64,
    /// The longest time that a message waited, in microseconds.
    pub queueing_most_us: f64,
    /// The mean time that a rank without nodes waited for nodes, in microseconds.
    pub hunger_us: f64,
    /// The ninth decile of that time, in microseconds.
    pub hunger_ninth_us: f64,
    /// The number of orders to give nodes away.
    pub orders: u64,
    /// The number of orders that were refused.
    pub refused: u64,
    /// The number of nodes that were moved.
    pub moved: u64,
}

/// A result of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub enum Learnt {
    /// The measured cost of messages.
    Calibrated(Calibration),
    /// The result of a run.
    Simulated(Row),
}

/// Runs all simulations of a plan and passes each result to `tell`.
///
/// # Errors
///
/// If a simulated run loses nodes or does not end. Then the protocol or the simulation is wrong.
pub fn sweep(recording: &Recording, plan: &Plan, tell: &mut dyn FnMut(&Learnt)) -> Result<(), Failure> {
    let recorded = Tree::recorded(recording);
    let work = recording.work() / u32::try_from(recording.nodes().len()).unwrap_or(u32::MAX) * plan.nodes;
    for &ranks in &plan.ranks {
        let settings = Settings { ranks, ..plan.settings.clone() };
        let threads = (ranks * settings.threads) as u32;
        let calibration = match plan.handle {
            Some(handle) => Calibration::new(ranks, Costs { handle: [handle; Kind::ALL.len()], ..plan.settings.costs }),
            None => {
                // A shorter run is enough, but it starts and ends as others do.
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
        // Runs are independent but need memory: as many at a time as there are processors.
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

/// The share of busy time from which the coordinator counts as saturated.
pub const SATURATED: f64 = 0.8;

/// Returns the number of ranks at which a line of rows saturates the coordinator.
///
/// It is interpolated, on a logarithmic scale, between the two rows where the utilisation passes
/// [`SATURATED`]. `None` if it does not.
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
    use super::super::tests::made_up_recording;
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
        sweep(&made_up_recording(2_000, 3), plan, &mut tell).unwrap();
        rows
    }

    #[test]
    fn weak_scaling_keeps_the_work_per_rank_and_strong_scaling_the_total() {
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
