//! A run as a readable table. Each thread with its store buffer has a column.

use std::fmt;

use crate::machine::{Action, Event, Machine, State};
use crate::search::Counterexample;

/// The most characters of a line of the program that a cell shows.
const MAX_SOURCE_CHARS: usize = 44;

/// A run, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    threads: Vec<String>,
    rows: Vec<Row>,
    /// The row where the endlessly repeated part begins.
    repeats_from: Option<usize>,
    verdict: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    step: usize,
    thread: usize,
    text: String,
    /// The contents of each thread's store buffer after the row.
    waiting: Vec<String>,
    /// The words of memory that changed.
    memory: String,
}

impl Trace {
    /// Creates the trace of a counterexample.
    pub fn of(machine: &Machine, example: &Counterexample) -> Self {
        let mut state = machine.initial().clone();
        let mut rows = Vec::new();
        let mut repeats_from = None;
        let mut line = (usize::MAX, 0);
        for (thread, at, event) in machine.opening() {
            let text = describe_event(machine, &event, if line == (thread, at) { None } else { Some(at) });
            line = (thread, at);
            // Before the first step, memory has its declared values. The first step's row shows the
            // buffers.
            rows.push(Row { step: 0, thread, text, waiting: Vec::new(), memory: String::new() });
        }
        for (number, action) in example.steps.iter().enumerate() {
            if example.repeats_from == Some(number) {
                repeats_from = Some(rows.len());
            }
            let before = rows.len();
            let (next, events) = machine.observe(&state, *action);
            let mut line = 0;
            for (at, event) in &events {
                let text = describe_event(machine, event, if *at == line { None } else { Some(*at) });
                line = *at;
                rows.push(row(machine, &state, &state, number, *action, text));
            }
            if events.is_empty() {
                rows.push(row(
                    machine,
                    &state,
                    &state,
                    number,
                    *action,
                    describe_memory_step(machine, &state, *action),
                ));
            }
            // The last row of a step shows its effects on buffers and memory.
            if let Some(last) = rows[before..].last_mut() {
                *last = row(machine, &state, &next, number, *action, std::mem::take(&mut last.text));
            }
            state = next;
        }
        let threads = machine.threads().map(str::to_owned).collect();
        Trace { threads, rows, repeats_from, verdict: verdict(machine, &state, example) }
    }
}

fn row(machine: &Machine, before: &State, after: &State, number: usize, action: Action, text: String) -> Row {
    let waiting = (0..machine.threads().len()).map(|thread| waiting(machine, after, thread)).collect();
    let memory = pairs(&machine.changes(before, after));
    Row { step: number + 1, thread: action.thread(), text, waiting, memory }
}

/// Describes an event, after the line of the program if that line is new.
fn describe_event(machine: &Machine, event: &Event, line: Option<usize>) -> String {
    let source = match line {
        Some(number) if number > 0 => {
            let line: String = machine.line(number).chars().take(MAX_SOURCE_CHARS).collect();
            format!("{number:>3}  {line}  ")
        }
        _ => "     ".to_owned(),
    };
    let what = match event {
        Event::Loaded { word, value, forwarded: false } => format!("{word} is {value}"),
        Event::Loaded { word, value, forwarded: true } => format!("{word} is {value}, its own store"),
        Event::Stored { word, value } => format!("stores {word}={value}"),
        Event::Exchanged { word, old, new } if old == new => format!("{word} is {old}, unchanged"),
        Event::Exchanged { word, old, new } => format!("{word} from {old} to {new}"),
        Event::Passed(what) => (*what).to_owned(),
        Event::Took(task) => format!("HAS TASK {task}"),
        Event::Failed(fault) => format!("FAULT: {}", fault.description()),
        Event::Ended => "ends".to_owned(),
    };
    format!("{source}· {what}")
}

/// Describes a step of the memory subsystem.
fn describe_memory_step(machine: &Machine, state: &State, action: Action) -> String {
    let (queued, leaving) = machine.waiting(state, action.thread());
    match (action, machine.buffer().egress()) {
        (Action::Run(_), _) => "     · runs".to_owned(),
        (Action::Drain(_), None) => format!("     ~ {} reaches memory", pairs(&queued[..1])),
        (Action::Drain(_), Some(_)) => format!("     ~ {} leaves the buffer for the egress slot", pairs(&queued[..1])),
        (Action::Write(_), _) => format!("     ~ {} reaches memory", pairs(&leaving)),
    }
}

fn waiting(machine: &Machine, state: &State, thread: usize) -> String {
    let (queued, leaving) = machine.waiting(state, thread);
    match (queued.is_empty(), leaving.is_empty()) {
        (true, true) => String::new(),
        (_, true) => format!("[{}]", pairs(&queued)),
        (_, false) => format!("<{}> [{}]", pairs(&leaving), pairs(&queued)),
    }
}

/// Formats names and values: `A=1 B=2`.
pub(crate) fn pairs(all: &[(String, i16)]) -> String {
    all.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn verdict(machine: &Machine, state: &State, example: &Counterexample) -> String {
    let mut verdict = format!("So {}", example.claim.refutation());
    let tasks = |wanted: &dyn Fn(i16) -> bool| {
        let found = (1..=machine.tasks()).filter(|task| wanted(machine.extracted(state, *task)));
        found.map(|task| task.to_string()).collect::<Vec<_>>().join(", ")
    };
    match example.claim {
        crate::search::Claim::AtMostOnce => verdict += &format!(": task {}", tasks(&|count| count > 1)),
        crate::search::Claim::NothingLost => verdict += &format!(": task {}", tasks(&|count| count == 0)),
        crate::search::Claim::NoFault => {
            if let Some(fault) = machine.fault(state) {
                verdict += &format!(": {}", fault.description());
            }
        }
        crate::search::Claim::NeverStuck => {
            for (thread, name) in machine.threads().enumerate() {
                if let Some(line) = machine.next_line(state, thread) {
                    verdict += &format!("; {name} waits in line {line}, {}", machine.line(line));
                }
            }
        }
        crate::search::Claim::Linearizable => {
            if let Some(history) = crate::history::History::of(machine, state) {
                verdict += &format!(": {history}");
            }
        }
        crate::search::Claim::EndsWell | crate::search::Claim::Ends => {}
    }
    verdict + "."
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.threads.len();
        // Without buffers there is nothing to show of them.
        let buffered = self.rows.iter().any(|row| row.waiting.iter().any(|waiting| !waiting.is_empty()));
        let per_thread = 1 + usize::from(buffered);
        let columns = 2 + per_thread * threads;
        let headings = std::iter::once("step".to_owned())
            .chain(
                self.threads
                    .iter()
                    .flat_map(|name| [name.clone(), "its buffer".to_owned()].into_iter().take(per_thread)),
            )
            .chain(std::iter::once("memory".to_owned()));
        let mut table = vec![headings.collect::<Vec<_>>()];
        let mut step = usize::MAX;
        for row in &self.rows {
            let mut cells = vec![String::new(); columns];
            if row.step != step {
                cells[0] = row.step.to_string();
                step = row.step;
            }
            cells[1 + per_thread * row.thread].clone_from(&row.text);
            if buffered {
                for (thread, waiting) in row.waiting.iter().enumerate() {
                    cells[2 + per_thread * thread].clone_from(waiting);
                }
            }
            cells[columns - 1].clone_from(&row.memory);
            table.push(cells);
        }
        let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (number, cells) in table.iter().enumerate() {
            if self.repeats_from.is_some_and(|from| from + 1 == number) {
                writeln!(f, "-- these steps repeat forever:")?;
            }
            let line: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(f, "{}", line.join(" | ").trim_end())?;
            if number == 0 {
                let line: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
                writeln!(f, "{}", line.join("-+-"))?;
            }
        }
        writeln!(f, "{}", self.verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Settings;
    use crate::machine::{Buffer, Claims, Coalescing};
    use crate::search::{run, Claim, Effort};

    /// Two threads that each take the task if the other has not announced itself. The program lacks
    /// the fence that this needs.
    const BOTH: &str = "
        const TASKS = 1
        shared A = 0, B = 0
        thread first { A := 1; if B == 0 { took(1) } }
        thread second { B := 1; if A == 0 { took(1) } }
    ";

    fn trace(text: &str, buffer: Buffer, ends: bool) -> (Claim, String) {
        let claims = Claims { at_most_once: true, nothing_lost: false };
        let machine = Machine::new(text, &Settings::new(), buffer, claims).unwrap();
        let example = run(&machine, Effort { threads: 1, ends }, &mut |_| {}).counterexample.unwrap();
        (example.claim, Trace::of(&machine, &example).to_string())
    }

    #[test]
    fn a_trace_shows_the_steps_of_each_thread_and_its_buffer() {
        let (claim, text) = trace(BOTH, Buffer::Bounded(1), false);
        assert_eq!(claim, Claim::AtMostOnce);
        let lines: Vec<&str> = text.lines().collect();
        println!("{text}");
        assert!(lines[0].starts_with("step | first"), "{text}");
        assert!(text.contains("B is 0") && text.contains("A is 0"), "{text}");
        assert!(text.contains("[A=1]") && text.contains("[B=1]"), "{text}");
        assert_eq!(text.matches("HAS TASK 1").count(), 2, "{text}");
        assert!(text.ends_with("So a task is extracted twice: task 1.\n"), "{text}");
    }

    #[test]
    fn an_egress_slot_is_shown_separately() {
        let text = "
            shared A = 0, B = 0
            thread first { A := 1; A := 2; assert B == 0 }
            thread second { await A == 2; B := 1; fence }
        ";
        let (claim, text) = trace(text, Buffer::Egress(1, Coalescing::Word), false);
        assert_eq!(claim, Claim::NoFault);
        assert!(text.contains("leaves the buffer for the egress slot") && text.contains("<A=1> ["), "{text}");
        assert!(text.contains("an assertion is false"), "{text}");
    }

    #[test]
    fn a_stuck_thread_is_named() {
        let (claim, text) = trace("shared A = 0\nthread alone { await A == 1 }", Buffer::Bounded(1), false);
        assert_eq!(claim, Claim::NeverStuck);
        assert!(text.contains("alone waits in line 2, thread alone { await A == 1 }"), "{text}");
    }

    #[test]
    fn the_repeated_part_of_an_endless_run_is_marked() {
        let text = "shared A = 0, B = 0\nthread first { A := 1; while B == 0 { } }\nthread second { B := 0 }";
        let (claim, text) = trace(text, Buffer::Bounded(1), true);
        assert_eq!(claim, Claim::Ends);
        assert!(text.contains("-- these steps repeat forever:"), "{text}");
    }
}
