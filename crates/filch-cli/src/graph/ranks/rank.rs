//! The work of each rank.

use std::sync::mpsc;
use std::time::Instant;
use std::{panic, thread};

use anyhow::{anyhow, Context, Result};
use filch::explore::Explore;
use filch::Pool;
use filch_graph::generate::Recipe;
use filch_graph::part::{Part, Partition};
use filch_graph::Vertex;
use filch_mpi::explore::{closure as mpi_closure, Ranks};
use filch_mpi::network::Network;

use super::super::pool;
use super::super::summary::Summary;
use super::summary::{summary, RankReport};
use super::Arguments;
use crate::output_file;

/// What a rank needs before it begins.
pub(super) struct Prepared {
    recipe: Recipe,
    roots: Vec<Vertex>,
    pool: Pool,
}

/// Does everything that can fail before the work begins. Rank 0 writes the files.
pub(super) fn prepare(arguments: &Arguments, is_first: bool) -> Result<Prepared> {
    let recipe = arguments.generate.context("no graph: give --generate")?;
    let roots = arguments.roots(recipe.vertices()?, None)?;
    if let Some(path) = arguments.json.as_ref().filter(|_| is_first) {
        output_file::check_writable(path)?;
    }
    Ok(Prepared { recipe, roots, pool: pool(arguments)? })
}

/// Builds this rank's part and explores it with the others.
///
/// The summary is the same on all ranks, except for what only rank 0 measures.
pub(super) fn closure(
    arguments: &Arguments,
    prepared: &Prepared,
    network: &mut dyn Network,
    machine: String,
) -> Result<Summary> {
    let Prepared { recipe, roots, pool } = prepared;
    let mut ranks = Ranks::new(network);
    let partition = recipe.partition(ranks.ranks())?;
    let start = Instant::now();
    let part = build(pool, recipe, partition, &mut ranks)?;
    let build_seconds = start.elapsed().as_secs_f64();
    // All ranks begin together, so that none is idle because its graph is not ready.
    ranks.sum(0)?;

    let start = Instant::now();
    let mut explore = Explore::at_least_once().pool(pool);
    if let Some(limit) = arguments.time_limit {
        explore = explore.time_limit(limit);
    }
    let found = mpi_closure(&mut ranks, &part, roots.iter().copied(), explore)?;
    let elapsed = start.elapsed();

    let report = RankReport {
        machine,
        threads: pool.current_num_threads(),
        vertices: part.own(),
        arcs: part.arcs(),
        graph_bytes: part.memory(),
        marks_bytes: found.memory(),
        build_seconds,
        reached: found.reached_here(),
    };
    let reports = ranks.gather(&report)?;
    Ok(summary(recipe, &partition, roots, &found, reports, elapsed))
}

/// Builds this rank's part on the pool. Meanwhile this thread communicates for it: no other thread
/// may.
fn build(pool: &Pool, recipe: &Recipe, partition: Partition, ranks: &mut Ranks<'_>) -> Result<Part> {
    let rank = ranks.rank();
    let (ask, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    let disconnected = || anyhow!("communication with the other ranks has ended");
    // The closure owns everything: if the other ranks cannot be asked, the builder must not wait
    // for an answer.
    thread::scope(move |scope| {
        let builder = scope.spawn(move || {
            pool.install(move || {
                recipe.part(partition, rank, |number| {
                    ask.send(number).map_err(|_| disconnected())?;
                    answered.recv().map_err(|_| disconnected())
                })
            })
        });
        for number in asked {
            // If the receiver is gone, the builder has ended, and its result says why.
            let _ = answer.send(ranks.sum(number)?);
        }
        builder.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use filch_mpi::network::threads::{self, Delays};

    use super::*;
    use crate::command_line;

    /// Returns the summaries of all ranks.
    fn on_ranks(ranks: usize, words: &[&str]) -> Vec<Summary> {
        let words = [&["closure", "--mpi", "--threads", "1", "--generate"], words].concat();
        let arguments: Arguments = command_line::parse(&words).unwrap();
        arguments.check().unwrap();
        threads::run(ranks, Delays::NONE, |network| {
            let prepared = prepare(&arguments, network.rank() == 0).unwrap();
            closure(&arguments, &prepared, network, "here".to_owned()).unwrap()
        })
    }

    #[test]
    fn ranks_together_reach_the_same_vertices_as_one_rank() {
        for (recipe, reached) in [("torus:20x30", 600), ("random:500,2000,seed=3", 500), ("star:40", 40)] {
            for ranks in 1..=3 {
                for summary in on_ranks(ranks, &[recipe]) {
                    let json = serde_json::to_value(&summary).unwrap();
                    assert_eq!(json["result"]["reached"], reached, "{recipe}");
                    assert_eq!(json["ending"], "complete");
                    let rank_rows = json["ranks"].as_array().unwrap();
                    assert_eq!(rank_rows.len(), ranks);
                    let sum = |name: &str| rank_rows.iter().map(|rank| rank[name].as_u64().unwrap()).sum::<u64>();
                    assert_eq!(sum("vertices"), json["graph"]["vertices"].as_u64().unwrap());
                    assert_eq!(sum("reached"), reached);
                    assert_eq!(sum("sent"), sum("received"));
                }
            }
        }
    }

    #[test]
    fn an_invalid_message_of_another_rank_is_an_error() {
        let words = ["closure", "--mpi", "--threads", "1", "--generate", "random:500,2000,seed=3"];
        let arguments: Arguments = command_line::parse(&words).unwrap();
        let errors = threads::run(2, Delays::NONE, |network| {
            if network.rank() == 1 {
                network.send(0, vec![0xFF; 20]);
                return String::new();
            }
            let prepared = prepare(&arguments, true).unwrap();
            closure(&arguments, &prepared, network, "here".to_owned()).err().unwrap().to_string()
        });
        assert!(errors[0].starts_with("a message of rank 1 cannot be understood"), "{errors:?}");
    }

    #[test]
    fn the_summary_has_a_line_for_each_rank() {
        let text = on_ranks(3, &["torus:10x9", "--root", "7"])[0].to_string();
        for part in [
            "torus:10x9: 90 vertices, 360 arcs (two per edge)",
            "on 3 ranks, in blocks",
            "closure from vertex 7",
            "reached   90 of 90 (100.00 %) vertices",
            "rank",
        ] {
            assert!(text.contains(part), "`{part}` is not in\n{text}");
        }
        assert_eq!(text.matches("here").count(), 3, "{text}");
    }

    #[test]
    fn the_summary_reports_an_expired_time_limit() {
        let summary = &on_ranks(2, &["torus:3000x300", "--time-limit", "0.000000001"])[0];
        assert!(!summary.is_complete());
        assert!(summary.to_string().contains("the result is incomplete"));
    }
}
