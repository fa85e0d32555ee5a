//! A search with checkpoints in a file.

use std::panic;
use std::thread;

use serde::de::DeserializeOwned;
use serde::Serialize;

use super::replay::replay_unordered;
use super::{Halt, Solution, SolveError, Solver};
use crate::checkpoint::{CheckpointOptions, CheckpointedOutcome};
use crate::model::Model;
use crate::port::Port;
use crate::problem::Relaxation;

impl<P: Relaxation> Solver<'_, P>
where
    P::State: Serialize + DeserializeOwned,
{
    /// Searches with checkpoints in a file, or resumes from one.
    ///
    /// A search that is killed can continue from the file. See [`checkpoint`](crate::checkpoint).
    ///
    /// The search uses a port of its own; a port that was given is told that the search has failed.
    /// Limits of nodes and time are for this search alone. In the end the file has the nodes that
    /// are left. If the result is proven there are none, and a search that resumes has the answer
    /// at once.
    ///
    /// ```
    /// use filch_dd::checkpoint::{Checkpoint, Identity, CheckpointOptions};
    /// use filch_dd::problems::knapsack;
    /// use filch_dd::{SolveStatus, Solver};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("search");
    /// let problem = knapsack::random(40, 1000, knapsack::Kind::Strongly, 1);
    /// let identity = Identity::new("knapsack", problem.text());
    /// // A search that is ended early, as a batch system would.
    /// let options = CheckpointOptions::new(identity.clone()).file(&path);
    /// let first = Solver::new(&problem).node_limit(5).solve_with_checkpoints(options)?;
    /// assert_eq!(first.outcome.status, SolveStatus::NodeLimit);
    ///
    /// // The next one goes on where it was, with more threads if there are more, and keeps on writing to the same file.
    /// let options = CheckpointOptions::new(identity.clone()).resume(Checkpoint::read_for(&path, &identity)?)?.file(&path);
    /// let second = Solver::new(&problem).threads(2).solve_with_checkpoints(options)?;
    /// assert_eq!(second.outcome.status, SolveStatus::Optimal);
    /// assert!(second.outcome.statistics.explored > 5);
    /// assert!(second.write_error.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The same as for [`solve`](Self::solve), or if the nodes or the solution of the checkpoint do
    /// not belong to the problem. The file is then as the last checkpoint before left it. A
    /// checkpoint that cannot be written is not an error of the search: see
    /// [`CheckpointOptions::on_write_error`] and [`CheckpointedOutcome::write_error`].
    pub fn solve_with_checkpoints(mut self, options: CheckpointOptions<'_>) -> Result<CheckpointedOutcome, SolveError> {
        if let Some(given) = self.connection.take() {
            given.port.fail();
        }
        self.known = self.better_known(options.best())?;
        let port = Port::new();
        let threads = self.pool.map_or(self.threads, filch::Pool::current_num_threads);
        let (mut writer, root) = options.begin(&port, self.known.clone(), threads);
        self.root &= root;
        let (outcome, last) = thread::scope(|scope| {
            let writing = scope.spawn(|| writer.run(&port));
            // Shortens the lifetime to that of the port.
            let solver: Solver<'_, P> = self;
            let outcome = solver.port(&port).solve();
            (outcome, writing.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
        });
        Ok(writer.finish(last, outcome?))
    }

    /// Returns the better of the known solution and the one of a checkpoint.
    ///
    /// The checkpoint does not contain the nodes that its solution had pruned, so that solution
    /// must be valid.
    fn better_known(&self, saved: Option<&Solution>) -> Result<Option<Solution>, SolveError> {
        let model = Model::new(self.problem);
        let known = self.known.as_ref().map(|known| replay_unordered(&model, &known.decisions)).transpose()?;
        let Some(saved) = saved else { return Ok(known) };
        let invalid = |halt| match halt {
            Halt::Contradiction(how) => SolveError::InvalidDelivery(how),
            other => other.into(),
        };
        let replayed = replay_unordered(&model, &saved.decisions).map_err(invalid)?;
        if replayed.cost != saved.cost {
            let how =
                format!("the checkpoint says that its solution costs {}, but it costs {}", saved.cost, replayed.cost);
            return Err(SolveError::InvalidDelivery(how));
        }
        let Some(known) = known else { return Ok(Some(replayed)) };
        let (of_known, of_saved) = (model.convert_sense(known.cost), model.convert_sense(replayed.cost));
        let is_better = of_known.map_err(Halt::from)? > of_saved.map_err(Halt::from)?;
        Ok(Some(if is_better { known } else { replayed }))
    }
}
