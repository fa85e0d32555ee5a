//! Tests of which results are present, and which are reported as missing.

use anyhow::bail;

use super::*;
use crate::figures::tests::series;

fn part(name: &'static str, measure: fn(&Known) -> Result<Found>) -> Part {
    Part { name, seconds: [1.0; 3], not_quick: None, measure }
}

fn collected(parts: &[Part], amount: Amount) -> Results {
    let results = Results::new(amount, vec!["Something.".to_owned()]);
    let measuring = Mutex::new(Measuring { results, over: 0 });
    measure(parts, amount, &measuring, |_, _| ());
    let names: Vec<&'static str> = parts.iter().map(|part| part.name).collect();
    come_to(&measuring, &names)
}

#[test]
fn what_fails_or_panics_is_left_out_with_its_reason_and_the_rest_is_there() {
    let parts = [
        part("fences", |_| Err(anyhow!("no clock").context("nothing can be timed"))),
        part("litmus", |_| panic!("a mistake in {}", 7)),
        part("models", |_| Ok(Found::Models(Models { lines: Vec::new(), listed: 0 }))),
        part("queues", |_| Ok(Found::Figures("queues", vec![series("the", &[1.0])]))),
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
fn the_litmus_test_is_told_what_the_store_buffer_holds() {
    let knee = |known: &Known| {
        let knee = Some(store_buffer::Knee { entries: 72, confidence: 1.0 });
        let point = store_buffer::Point { stores: 1, median: 1.0, low: 1.0, high: 1.0 };
        assert_eq!(known.entries, None);
        Ok(Found::StoreBuffer(store_buffer::Curve { core: "core", points: vec![point], knee }))
    };
    let told = |known: &Known| -> Result<Found> { bail!("{:?}", known.entries) };
    let results = collected(&[part("store-buffer", knee), part("litmus", told)], Amount::Full);
    assert!(results.full && results.store_buffer.is_some());
    assert_eq!(results.left_out[1], "litmus failed, and is left out: Some(72).");
}

#[test]
fn the_queues_are_told_what_the_litmus_test_has_seen() {
    let litmus = |_: &Known| {
        let placement = litmus::Placement::Unpinned;
        let point = litmus::Point { stores: 1, delta: 70, placement, runs: 1, incorrect: 1 };
        let verdict = litmus::Verdict::Raised(141);
        let largest_violation = Some(140);
        Ok(Found::Litmus(litmus::Sweep { supposed: 73, points: vec![point], largest_violation, verdict }))
    };
    let told = |known: &Known| -> Result<Found> { bail!("{:?}", known.trust) };
    let results = collected(&[part("litmus", litmus), part("cilk", told)], Amount::Full);
    assert_eq!(results.left_out[1], "cilk failed, and is left out: Nothing.");
}

#[test]
fn what_was_left_behind_and_what_was_not_reached_is_said() {
    let mut results = Results::new(Amount::Full, Vec::new());
    results.leave_behind(&["graphs", "bulk", "solver"]);
    assert!(results.interrupted);
    assert!(results.left_out[0].contains("in the middle of graphs") && results.left_out[0].contains("nothing of it"));
    assert_eq!(results.left_out[1], "It was ended before bulk, solver could be measured.");
    let mut results = Results::new(Amount::Full, Vec::new());
    results.leave_behind(&["solver"]);
    assert_eq!(results.left_out.len(), 1);
}

#[test]
fn cases_that_were_over_are_there_although_a_later_one_failed_or_panicked() {
    let fails = |_: &Known| -> Result<Found> {
        watch::keep("fails late", &[series("the", &[1.0])]);
        watch::keep("fails late", &[series("thep", &[2.0])]);
        bail!("fft-67m could not be measured: no memory.")
    };
    let panics = |_: &Known| -> Result<Found> {
        watch::keep("panics late", &[series("the", &[1.0])]);
        panic!("a mistake")
    };
    let ends = |_: &Known| -> Result<Found> {
        watch::keep("ends", &[series("the", &[1.0])]);
        Ok(Found::Figures("ends", vec![series("the", &[1.0])]))
    };
    let parts = [part("fails late", fails), part("panics late", panics), part("ends", ends)];
    let results = collected(&parts, Amount::Quick);
    assert_eq!(
        results.left_out[1..],
        [
            "fails late failed before it was done, and only its cases before that are here: fft-67m could not be measured: no memory.",
            "panics late failed before it was done, and only its cases before that are here: it panicked: a mistake.",
        ]
    );
    let names = |part| results.suites[part].iter().map(|series| series.name).collect::<Vec<_>>();
    assert_eq!(names("fails late"), ["the", "thep"]);
    assert_eq!((names("panics late"), names("ends")), (vec!["the"], vec!["the"]));
    assert!(!results.interrupted && watch::kept("ends").is_empty());
}

#[test]
fn cases_that_were_over_are_there_although_the_part_was_ended() {
    // The part does not notice the end.
    let measuring = Mutex::new(Measuring { results: Results::new(Amount::Full, Vec::new()), over: 1 });
    watch::keep("does not hear", &[series("the", &[1.0])]);
    let results = come_to(&measuring, &["queues", "does not hear", "bulk"]);
    assert!(results.interrupted && results.suites["does not hear"].len() == 1);
    assert!(results.left_out[0].ends_with("only its cases that were over are here."), "{:?}", results.left_out);
    assert_eq!(results.left_out[1], "It was ended before bulk could be measured.");
    // The part notices the end, and fails because of it.
    let mut results = Results::new(Amount::Full, Vec::new());
    watch::keep("fails of it", &[series("the", &[1.0])]);
    results.take("fails of it", Err(anyhow!("it was ended before it was done")), true);
    assert!(results.interrupted && results.suites["fails of it"].len() == 1);
    assert_eq!(results.left_out, ["It was ended in the middle of fails of it: its cases that were over are here."]);
}

#[test]
fn a_part_that_ended_at_the_last_moment_is_not_said_to_be_missing() {
    let results = Results::new(Amount::Full, Vec::new());
    let mut measuring = Measuring { results, over: 0 };
    measuring.results.take("queues", Ok(Found::Figures("queues", vec![series("the", &[1.0])])), true);
    measuring.over = 1;
    let results = come_to(&Mutex::new(measuring), &["queues"]);
    assert_eq!(results.left_out, ["It was ended in the middle of queues: what it had found until then is here."]);
}

#[test]
fn whoever_waits_hears_of_the_end_of_a_thread_that_dies() {
    let (tell, told) = mpsc::channel();
    // The handler of Ctrl-C holds a sender as long as the program runs.
    let _handler = tell.clone();
    let died = thread::spawn(move || {
        let _at_the_end = AtTheEnd(tell);
        // Without the panic's message on standard error.
        panic::resume_unwind(Box::new("as wanted"));
    });
    assert!(died.join().is_err());
    assert!(matches!(told.try_recv(), Ok(Message::Done)));
}

#[test]
fn a_rehearsal_says_what_it_is_before_anything_else() {
    let results = collected(&[], Amount::Rehearsal);
    assert!(results.left_out[0].contains("its figures mean nothing"));
    assert!(results.is_empty());
}
