//! The models: what was searched, and the results.

use super::items::{count, text, Columns};
use crate::claims::{Claim, Holds, Source, Verdict};
use crate::figures::grouped;
use crate::report::collect::Results;
use crate::report::page::{Item, Section, Texts};
use crate::verify::Summary;

const ID: &str = "models";

/// Returns the results of one model.
pub(super) fn line<'a>(results: &'a Results, model: &str) -> Option<&'a Summary> {
    results.models.as_ref()?.lines.iter().find(|line| line.model == model)
}

pub(super) fn verdict(results: &Results) -> Verdict {
    let claim = Claim::new(
        Source::filch(ID),
        "Every queue, the fork stack and the sleep protocol keep their guarantees in all reachable states, and every flawed variant is refuted.",
    );
    let Some(models) = results.models.as_ref().filter(|models| !models.lines.is_empty()) else {
        return claim.not_measured();
    };
    let sum = |part: fn(&Summary) -> usize| models.lines.iter().map(part).sum::<usize>();
    let states: u64 = models.lines.iter().map(|line| line.states).sum();
    let (searches, unexpected) = (sum(|line| line.searches), sum(|line| line.unexpected));
    let measured = format!(
        "{} of {} searches, {} states: {} hold, {} flawed variants are refuted, {unexpected} differ from the expected result",
        grouped(searches),
        grouped(models.listed),
        grouped(usize::try_from(states).unwrap_or(usize::MAX)),
        grouped(sum(|line| line.hold)),
        grouped(sum(|line| line.refuted)),
    );
    let holds = match unexpected {
        0 if searches < models.listed => Holds::Unclear,
        0 => Holds::Yes,
        _ => Holds::No,
    };
    claim.verdict(measured, holds)
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: ID,
        title: "Model checking".to_owned(),
        items: vec![
            text(
                "Each model mirrors the Rust code on the abstract machine of the fence-free paper: TSO with a bounded store buffer. \
                 The search visits every reachable state. A model with a slash in its name lacks something or asks for more \
                 than its queue guarantees, and must be refuted. `bulk/published` is the queue of the paper on bulk operations, \
                 as published.",
            ),
            lines(results),
        ],
    }
}

fn lines(results: &Results) -> Item {
    let quick = if results.full { "" } else { " --quick" };
    Columns::of(results.models.iter().flat_map(|models| &models.lines))
        .name("model", |line| format!("`{}`", line.model))
        .cell("searches", |line| count(line.searches as u64))
        .cell("states", |line| count(line.states))
        .cell("hold", |line| count(line.hold as u64))
        .cell("refuted", |line| count(line.refuted as u64))
        .cell("otherwise", |line| count(line.unexpected as u64))
        .table(Texts::new(
            "models-searched",
            "Searched models",
            "Number of cases that hold in all states, of flawed cases with a counterexample, and of cases with an unexpected result.",
            format!("cargo run --release -- verify{quick}"),
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sections::tests::everything;

    #[test]
    fn the_claim_holds_only_if_all_searches_were_run() {
        let mut results = everything();
        assert_eq!(verdict(&results).holds, Holds::Yes);
        results.models.as_mut().unwrap().listed += 1;
        assert_eq!(verdict(&results).holds, Holds::Unclear);
        assert!(verdict(&results).measured.starts_with("63 of 64 searches"));
        results.models.as_mut().unwrap().lines[0].unexpected = 1;
        assert_eq!(verdict(&results).holds, Holds::No);
    }
}
