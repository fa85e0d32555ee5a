//! Linearizability of the histories that programs record.
//!
//! A history is linearizable if its operations have an order that keeps the order in time (an
//! operation that returned before another one began comes first) and in which a sequential deque
//! gives the same answers. That is section 3.3 of *Fence-Free Work Stealing on Bounded TSO
//! Processors*; the deque is that of its section 3.1:
//!
//! - A push adds a task at the tail.
//! - A pop removes the task at the tail, or says that the deque is empty if it is.
//! - A steal does the same at the head. In the relaxed specification of section 4 a steal may abort
//!   at any time, which changes nothing.
//!
//! A program records its operations in the ghosts of `models/history.tso`. The check tries every
//! order that keeps the order in time. It looks only at states in which all threads have ended,
//! where every operation has returned. That suffices if every run can end: a history of which a
//! continuation is linearizable is linearizable too.

use std::collections::VecDeque;
use std::fmt;

use crate::language::FIELD_BITS;
use crate::machine::{Machine, State};

/// The answer of a steal that aborts.
const ABORTED: i16 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Push,
    Pop,
    Steal,
}

/// An operation that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operation {
    kind: Kind,
    /// The task; 0 says that the deque is empty.
    answer: i16,
    /// The number of operations that had returned when this one began.
    began: usize,
}

impl Operation {
    fn unpack(word: i16) -> Operation {
        let (what, began) = (word & ((1 << FIELD_BITS) - 1), word >> FIELD_BITS);
        let kind = [Kind::Push, Kind::Pop, Kind::Steal][(what / 8) as usize];
        Operation { kind, answer: what % 8, began: began as usize }
    }

    /// Removes the answer of a pop or steal from a deque. Returns whether it is the right answer.
    fn is_removed(self, deque: &mut VecDeque<i16>) -> bool {
        let task = if self.kind == Kind::Pop { deque.pop_back() } else { deque.pop_front() };
        task.unwrap_or(0) == self.answer
    }
}

/// The operations of a run, in the order in which they returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    operations: Vec<Operation>,
    may_abort: bool,
}

impl History {
    /// The history in a state of a program, or `None` if the program records none.
    pub fn of(machine: &Machine, state: &State) -> Option<History> {
        let ghost = |name: &str| machine.ghost(state, name);
        let completed = ghost("completed")?;
        let may_abort = ghost("may_abort")? != 0;
        let operations = (1..=completed).map(|number| ghost(&format!("history_{number}")).map(Operation::unpack));
        Some(History { operations: operations.collect::<Option<_>>()?, may_abort })
    }

    /// Returns whether a sequential deque can give these answers.
    pub fn is_linearizable(&self) -> bool {
        self.continues(0, &VecDeque::new())
    }

    /// Returns whether the operations that are not in the set `placed` can follow, on this deque.
    fn continues(&self, placed: u32, deque: &VecDeque<i16>) -> bool {
        let below = |count: usize| (1 << count) - 1;
        if placed == below(self.operations.len()) {
            return true;
        }
        self.operations.iter().enumerate().any(|(index, operation)| {
            let first = below(operation.began);
            if placed >> index & 1 == 1 || placed & first != first {
                return false;
            }
            let mut after = deque.clone();
            let possible = match (operation.kind, operation.answer) {
                (Kind::Push, task) => {
                    after.push_back(task);
                    true
                }
                (Kind::Steal, ABORTED) => self.may_abort,
                _ => operation.is_removed(&mut after),
            };
            possible && self.continues(placed | 1 << index, &after)
        })
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Operation { kind, answer, began }) in self.operations.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}({}) ", index + 1)?;
            match (kind, answer) {
                (Kind::Push, task) => write!(f, "push({task})")?,
                (Kind::Pop, 0) => write!(f, "pop is EMPTY")?,
                (Kind::Pop, task) => write!(f, "pop is {task}")?,
                (Kind::Steal, 0) => write!(f, "steal is EMPTY")?,
                (Kind::Steal, &ABORTED) => write!(f, "steal is ABORT")?,
                (Kind::Steal, task) => write!(f, "steal is {task}")?,
            }
            if *began < index {
                let earlier = if *began == 0 { "before (1) returned".to_owned() } else { format!("after ({began})") };
                write!(f, " and began {earlier}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{History, Kind, Operation, ABORTED};
    use Kind::{Pop, Push, Steal};

    /// A history of operations: each with its kind, its answer, and when it began.
    fn history<const N: usize>(may_abort: bool, operations: [(Kind, i16, usize); N]) -> History {
        let operations = operations.map(|(kind, answer, began)| Operation { kind, answer, began }).to_vec();
        History { operations, may_abort }
    }

    fn is_linearizable<const N: usize>(operations: [(Kind, i16, usize); N]) -> bool {
        history(false, operations).is_linearizable()
    }

    #[test]
    fn a_sequential_run_of_a_deque_is_linearizable() {
        assert!(is_linearizable([]));
        assert!(is_linearizable([(Push, 1, 0), (Push, 2, 1), (Push, 3, 2), (Pop, 3, 3), (Steal, 1, 4), (Pop, 2, 5)]));
        assert!(is_linearizable([(Steal, 0, 0), (Push, 1, 1), (Steal, 1, 2), (Pop, 0, 3)]));
    }

    #[test]
    fn a_deque_gives_no_other_answers() {
        assert!(!is_linearizable([(Push, 1, 0), (Steal, 0, 1)]));
        assert!(!is_linearizable([(Push, 1, 0), (Push, 2, 1), (Pop, 1, 2)]));
        assert!(!is_linearizable([(Push, 1, 0), (Push, 2, 1), (Steal, 2, 2)]));
        assert!(!is_linearizable([(Push, 1, 0), (Pop, 1, 1), (Steal, 1, 1)]));
        assert!(!is_linearizable([(Pop, 1, 0), (Push, 1, 1)]));
    }

    #[test]
    fn operations_that_overlap_may_be_in_either_order() {
        assert!(is_linearizable([(Push, 1, 0), (Steal, 0, 0)]));
        assert!(is_linearizable([(Steal, 0, 0), (Push, 1, 0)]));
        assert!(is_linearizable([(Push, 1, 0), (Push, 2, 1), (Steal, 1, 2), (Steal, 2, 2), (Pop, 0, 2)]));
        assert!(is_linearizable([(Push, 1, 0), (Push, 2, 1), (Steal, 2, 2), (Steal, 1, 2), (Pop, 0, 4)]));
        assert!(!is_linearizable([(Push, 1, 0), (Push, 2, 1), (Steal, 2, 2), (Steal, 1, 3), (Pop, 0, 2)]));
    }

    #[test]
    fn one_operation_may_have_to_precede_several() {
        // The steal that is still under way removes the task before both others find it gone.
        assert!(is_linearizable([(Push, 1, 0), (Steal, 0, 1), (Pop, 0, 2), (Steal, 1, 1)]));
        assert!(!is_linearizable([(Push, 1, 0), (Steal, 0, 1), (Pop, 0, 2), (Steal, 1, 2)]));
    }

    #[test]
    fn only_the_relaxed_specification_allows_a_steal_to_abort() {
        let run = [(Push, 1, 0), (Steal, ABORTED, 1), (Pop, 1, 2)];
        assert!(history(true, run).is_linearizable());
        assert!(!history(false, run).is_linearizable());
        assert!(!history(true, [(Push, 1, 0), (Steal, ABORTED, 1), (Pop, 0, 2)]).is_linearizable());
    }

    #[test]
    fn a_history_reads_as_a_sentence() {
        let run = history(true, [(Push, 1, 0), (Steal, 0, 0), (Steal, ABORTED, 1), (Pop, 1, 3)]);
        let text = "(1) push(1), (2) steal is EMPTY and began before (1) returned, \
                    (3) steal is ABORT and began after (1), (4) pop is 1";
        assert_eq!(run.to_string(), text);
    }
}
