//! The models: what was searched, and the results.

use super::claim::Claim;
use super::items::{count, name, table, text, Words};
use crate::figures::grouped;
use crate::report::collect::{ModelLine, Results};
use crate::report::page::{Cell, Holds, Item, Section, Verdict};

pub(super) const ID: &str = "models";

/// Returns the results of one model.
pub(super) fn line<'a>(results: &'a Results, model: &str) -> Option<&'a ModelLine> {
    results.models.as_ref()?.lines.iter().find(|line| line.model == model)
}

pub(super) fn verdicts(results: &Results) -> Vec<Verdict> {
    let claim = Claim::ours(
        ID,
        "Every queue, the fork stack and the sleep protocol keep what they promise in every state that they can reach, and each part that is taken away is missed.",
    );
    let Some(models) = results.models.as_ref().filter(|models| !models.lines.is_empty()) else {
        return vec![claim.not_measured()];
    };
    let sum = |part: fn(&ModelLine) -> usize| models.lines.iter().map(part).sum::<usize>();
    let states: u64 = models.lines.iter().map(|line| line.states).sum();
    let (searches, surprises) = (sum(|line| line.searches), sum(|line| line.surprises));
    let measured = format!(
        "{} of {} searches, {} states: {} hold, {} flaws were refuted, {surprises} came out otherwise",
        grouped(searches),
        grouped(models.listed),
        grouped(usize::try_from(states).unwrap_or(usize::MAX)),
        grouped(sum(|line| line.hold)),
        grouped(sum(|line| line.refuted)),
    );
    let holds = match surprises {
        0 if searches < models.listed => Holds::Unclear,
        0 => Holds::Yes,
        _ => Holds::No,
    };
    vec![claim.told(measured, holds)]
}

pub(super) fn section(results: &Results) -> Section {
    Section {
        id: ID,
        title: "Models checked".to_owned(),
        items: vec![
            text(
                "Programs that mirror the Rust, on the abstract machine of the fence-free paper: TSO with a store buffer of so many entries. Every state that they \
                 can reach is looked at. A model whose name has a slash lacks something, or asks for more than its queue promises, and is to be refuted; \
                 `bulk/published` is the queue of the paper on bulk operations as it was printed.",
            ),
            lines(results),
        ],
    }
}

fn lines(results: &Results) -> Item {
    let row = |line: &ModelLine| {
        vec![
            name(format!("`{}`", line.model)),
            count(line.searches),
            Cell::Number(line.states as f64, grouped(usize::try_from(line.states).unwrap_or(usize::MAX))),
            count(line.hold),
            count(line.refuted),
            count(line.surprises),
        ]
    };
    let rows = results.models.iter().flat_map(|models| models.lines.iter().map(row)).collect();
    let quick = if results.full { "" } else { " --quick" };
    table(
        Words {
            id: "models-searched",
            title: "What was searched".to_owned(),
            caption: "Claims that hold in all states, flaws for which a run was found that goes wrong, and what came out other than listed.".to_owned(),
            command: format!("cargo run --release -- verify{quick}"),
        },
        &["model", "searches", "states", "hold", "refuted", "otherwise"],
        rows,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sections::tests::everything;

    #[test]
    fn every_state_is_claimed_only_if_every_search_was_made() {
        let mut results = everything();
        assert_eq!(verdicts(&results)[0].holds, Holds::Yes);
        results.models.as_mut().unwrap().listed += 1;
        assert_eq!(verdicts(&results)[0].holds, Holds::Unclear);
        assert!(verdicts(&results)[0].measured.starts_with("63 of 64 searches"));
        results.models.as_mut().unwrap().lines[0].surprises = 1;
        assert_eq!(verdicts(&results)[0].holds, Holds::No);
    }
}
