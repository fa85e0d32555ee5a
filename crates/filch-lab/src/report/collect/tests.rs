//! Tests of which results are present, and which are reported as missing.

use anyhow::bail;

use super::*;
use crate::figures::tests::series;

fn part(name: &'static str, measure: fn(&Inputs) -> Result<PartResult>) -> Part {
    Part { name, seconds: [1.0; 3], not_quick: None, measure }
}

fn collected(parts: &[Part], amount: Amount) -> Results {
    let results = Results::new(amount, vec!["Something.".to_owned()]);
    let state = Mutex::new(RunState { results, finished: 0 });
    measure(parts, &Choices::of(amount), &state, |_, _| ());
    let names: Vec<&'static str> = parts.iter().map(|part| part.name).collect();
    results_so_far(&state, &names)
}

#[test]
fn a_part_that_fails_or_panics_is_left_out_with_its_reason() {
    let parts = [
        part("fences", |_| Err(anyhow!("no clock").context("nothing can be timed"))),
        part("litmus", |_| panic!("a mistake in {}", 7)),
        part("models", |_| Ok(PartResult::Models(Models { lines: Vec::new(), listed: 0 }))),
        part("queues", |_| Ok(PartResult::Figures("queues", vec![series("the", &[1.0])]))),
    ];
    let results = collected(&parts, Amount::Quick);
    assert_eq!(
        results.left_out,
        [
            "Something.",
            "fences failed, and is left out: nothing can be timed: no clock.",
            "litmus failed, and is left out: it panicked: a mistake in 7.",
            "models has no figures.",
        ]
    );
    assert_eq!(results.suites["queues"].len(), 1);
    assert!(results.models.is_none() && !results.interrupted && !results.full && !results.is_empty());
}

#[test]
fn the_litmus_test_gets_the_size_of_the_store_buffer() {
    let knee = |inputs: &Inputs| {
        let knee = Some(store_buffer::Knee { entries: 72, confidence: 1.0 });
        let point = store_buffer::Point { stores: 1, median: 1.0, low: 1.0, high: 1.0 };
        assert_eq!(inputs.entries, None);
        Ok(PartResult::StoreBuffer(store_buffer::Curve { core: "core", points: vec![point], knee }))
    };
    let fails = |inputs: &Inputs| -> Result<PartResult> { bail!("{:?}", inputs.entries) };
    let results = collected(&[part("store-buffer", knee), part("litmus", fails)], Amount::Full);
    assert!(results.full && results.store_buffer.is_some());
    assert_eq!(results.left_out[1], "litmus failed, and is left out: Some(72).");
}

#[test]
fn the_queues_get_the_bound_of_the_litmus_test() {
    let litmus = |_: &Inputs| {
        let placement = litmus::Placement::Unpinned;
        let point = litmus::Point { stores: 1, delta: 70, placement, runs: 1, incorrect: 1 };
        let verdict = litmus::Verdict::Raised(141);
        let largest_violation = Some(140);
        Ok(PartResult::Litmus(litmus::Sweep { supposed: 73, points: vec![point], largest_violation, verdict }))
    };
    let fails = |inputs: &Inputs| -> Result<PartResult> { bail!("{:?}", inputs.bound) };
    let results = collected(&[part("litmus", litmus), part("cilk", fails)], Amount::Full);
    assert_eq!(results.left_out[1], "cilk failed, and is left out: Unknown.");
}

#[test]
fn abandoned_parts_and_parts_that_were_not_reached_are_listed() {
    let mut results = Results::new(Amount::Full, Vec::new());
    results.abandon(&["graphs", "bulk", "solver"]);
    assert!(results.interrupted);
    assert!(results.left_out[0].contains("during graphs") && results.left_out[0].contains("it has no results"));
    assert_eq!(results.left_out[1], "bulk, solver: not measured, because the run was interrupted.");
    let mut results = Results::new(Amount::Full, Vec::new());
    results.abandon(&["solver"]);
    assert_eq!(results.left_out.len(), 1);
}

#[test]
fn finished_cases_are_kept_if_a_later_case_fails_or_panics() {
    let fails = |_: &Inputs| -> Result<PartResult> {
        watch::keep("fails late", &[series("the", &[1.0])]);
        watch::keep("fails late", &[series("thep", &[2.0])]);
        bail!("fft-67m could not be measured: no memory.")
    };
    let panics = |_: &Inputs| -> Result<PartResult> {
        watch::keep("panics late", &[series("the", &[1.0])]);
        panic!("a mistake")
    };
    let ends = |_: &Inputs| -> Result<PartResult> {
        watch::keep("ends", &[series("the", &[1.0])]);
        Ok(PartResult::Figures("ends", vec![series("the", &[1.0])]))
    };
    let parts = [part("fails late", fails), part("panics late", panics), part("ends", ends)];
    let results = collected(&parts, Amount::Quick);
    assert_eq!(
        results.left_out[1..],
        [
            "fails late failed, and only the cases before the failure are included: fft-67m could not be measured: no memory.",
            "panics late failed, and only the cases before the failure are included: it panicked: a mistake.",
        ]
    );
    let names = |part| results.suites[part].iter().map(|series| series.name).collect::<Vec<_>>();
    assert_eq!(names("fails late"), ["the", "thep"]);
    assert_eq!((names("panics late"), names("ends")), (vec!["the"], vec!["the"]));
    assert!(!results.interrupted && watch::kept("ends").is_empty());
}

#[test]
fn finished_cases_are_kept_if_the_part_is_interrupted() {
    // The part does not notice the end.
    let state = Mutex::new(RunState { results: Results::new(Amount::Full, Vec::new()), finished: 1 });
    watch::keep("does not stop", &[series("the", &[1.0])]);
    let results = results_so_far(&state, &["queues", "does not stop", "bulk"]);
    assert!(results.interrupted && results.suites["does not stop"].len() == 1);
    assert!(results.left_out[0].ends_with("only its finished cases are included."), "{:?}", results.left_out);
    assert_eq!(results.left_out[1], "bulk: not measured, because the run was interrupted.");
    // The part notices the end, and fails because of it.
    let mut results = Results::new(Amount::Full, Vec::new());
    watch::keep("fails on interrupt", &[series("the", &[1.0])]);
    results.record("fails on interrupt", Err(anyhow!("interrupted")), true);
    assert!(results.interrupted && results.suites["fails on interrupt"].len() == 1);
    assert_eq!(
        results.left_out,
        ["The run was interrupted during fails on interrupt: its finished cases are included."]
    );
}

#[test]
fn a_part_that_ends_at_the_last_moment_is_not_missing() {
    let results = Results::new(Amount::Full, Vec::new());
    let mut state = RunState { results, finished: 0 };
    state.results.record("queues", Ok(PartResult::Figures("queues", vec![series("the", &[1.0])])), true);
    state.finished = 1;
    let results = results_so_far(&Mutex::new(state), &["queues"]);
    assert_eq!(results.left_out, ["The run was interrupted during queues: its results until then are included."]);
}

#[test]
fn a_measuring_thread_that_panics_sends_done() {
    let (sender, receiver) = mpsc::channel();
    // The handler of Ctrl-C holds a sender as long as the program runs.
    let _handler = sender.clone();
    let died = thread::spawn(move || {
        let _done = SendDoneOnDrop(sender);
        // Without the panic's message on standard error.
        panic::resume_unwind(Box::new("intended"));
    });
    assert!(died.join().is_err());
    assert!(matches!(receiver.try_recv(), Ok(Message::Done)));
}

#[test]
fn the_first_notice_of_a_rehearsal_says_that_it_is_one() {
    let results = collected(&[], Amount::Rehearsal);
    assert!(results.left_out[0].contains("its figures mean nothing"));
    assert!(results.is_empty());
}
