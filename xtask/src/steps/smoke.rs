//! Checks that the benchmarks, `filch graph` and `filch solve` run and write complete JSON. Their
//! times are not checked.

mod suites;

use std::fs;
use std::io::ErrorKind;

use anyhow::{ensure, Context as _, Result};
use serde_json::Value;

pub(super) use self::suites::MPI;
use self::suites::{Suite, SUITES};
use super::{Context, Outcome};
use crate::command_line::CommandLine;
use crate::output::print_line;

/// The traversals of `filch graph`.
const TRAVERSALS: [&str; 4] = ["closure", "spanning-tree", "components", "bfs"];

/// The graph to traverse. The next constant is the number of its vertices.
pub(super) const TORUS: &str = "--generate torus:700x700";
const VERTICES: u64 = 490_000;

/// The problem that `filch` solves: the shortest Golomb ruler with 7 marks.
pub(super) const SOLVE: &str = "solve golomb 7";

/// The length of that ruler.
const RULER_LENGTH: i64 = 25;

/// Runs the quick benchmarks and checks their rows. Also runs every graph traversal, and solves a
/// problem.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    for suite in &SUITES {
        bench(context, suite)?;
    }
    for traversal in TRAVERSALS {
        let graph = context.filch()?.words("graph").arg(traversal).words(TORUS);
        run_and_check(context, graph, &format!("graph-{traversal}"), |json| check_traversal(traversal, json))?;
    }
    run_and_check(context, context.filch()?.words(SOLVE).words("--threads 2"), "solve", check_solution)?;
    Ok(Outcome::Passed)
}

/// Runs a minimal part of a suite, and checks its rows.
pub(super) fn bench(context: &Context, suite: &Suite) -> Result<()> {
    let bench = context.lab()?.words(&format!("bench {} --quick --rounds 1 {}", suite.name, suite.options));
    let rows = run_and_check(context, bench, suite.name, |json| suite.check(json))?;
    print_line!("{rows} rows; all implementations and cases are present");
    Ok(())
}

/// Checks that the best ruler was found and proven to be the best.
pub(super) fn check_solution(json: &str) -> Result<()> {
    let summary: Value = serde_json::from_str(json).context("not valid JSON")?;
    ensure!(summary["ending"] == "optimal", "`ending` must be `optimal`");
    for key in ["cost", "bound"] {
        ensure!(summary[key] == RULER_LENGTH, "`{key}` must be {RULER_LENGTH}");
    }
    ensure!(
        summary["solution"].as_str().is_some_and(|text| !text.is_empty()),
        "`solution` must be a string that is not empty"
    );
    Ok(())
}

/// Runs a program by `command`, and checks the JSON in its output file `name`.
pub(super) fn run_and_check<T>(
    context: &Context,
    command: CommandLine,
    name: &str,
    check: impl FnOnce(&str) -> Result<T>,
) -> Result<T> {
    let relative = context.target("smoke").join(format!("{name}.json"));
    let file = context.root.join(&relative);
    // A file of an earlier run must not count as the output of this run.
    match fs::remove_file(&file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", file.display()));
        }
        _ => {}
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    command.arg("--json").arg(&relative).run()?;
    let json = fs::read_to_string(&file).with_context(|| format!("the program did not write {}", file.display()))?;
    check(&json).with_context(|| format!("{} has wrong content", file.display()))
}

/// Checks that a traversal of a connected graph reached every vertex.
pub(super) fn check_traversal(traversal: &str, json: &str) -> Result<()> {
    let summary: Value = serde_json::from_str(json).context("not valid JSON")?;
    ensure!(summary["task"] == traversal, "`task` must be `{traversal}`");
    ensure!(summary["ending"] == "complete", "`ending` must be `complete`");
    let found = summary["result"]["reached"].as_u64().or(summary["result"]["largest"].as_u64());
    ensure!(found == Some(VERTICES), "the traversal must find all {VERTICES} vertices");
    ensure!(summary["tasks"].as_u64().is_some_and(|tasks| tasks > 0), "`tasks` must be a positive integer");
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_traversal_that_missed_a_vertex_or_was_stopped_is_rejected() {
        let good = json!({"task": "bfs", "ending": "complete", "tasks": 9, "result": {"reached": 490_000}});
        assert!(check_traversal("bfs", &good.to_string()).is_ok());
        assert!(check_traversal("closure", &good.to_string()).is_err());
        for (key, value) in
            [("ending", json!("timed-out")), ("tasks", json!(0)), ("result", json!({"reached": 489_999}))]
        {
            let mut bad = good.clone();
            bad[key] = value;
            assert!(check_traversal("bfs", &bad.to_string()).is_err(), "{bad}");
        }
        let components =
            json!({"task": "components", "ending": "complete", "tasks": 9, "result": {"largest": 490_000}});
        assert!(check_traversal("components", &components.to_string()).is_ok());
    }

    #[test]
    fn a_solution_that_is_not_proven_or_not_the_best_is_rejected() {
        let good =
            json!({"ending": "optimal", "cost": RULER_LENGTH, "bound": RULER_LENGTH, "solution": "0 1 4 10 18 23 25"});
        assert!(check_solution(&good.to_string()).is_ok());
        for (key, value) in
            [("ending", json!("timed-out")), ("cost", json!(26)), ("bound", json!(24)), ("solution", Value::Null)]
        {
            let mut bad = good.clone();
            bad[key] = value;
            assert!(check_solution(&bad.to_string()).is_err(), "{bad}");
        }
    }
}
