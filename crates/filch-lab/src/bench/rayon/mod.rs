//! The `rayon` suite: programs that use rayon, on rayon's own core and on filch's.
//!
//! The two cores cannot be in one process, so each has its own, and they take turns round by round.
//! Programs that call from outside the pool have a third process, on filch's core, whose callers
//! take part in the work. Threads are not pinned: the core and the operating system place them, as
//! they do for users. `--case scopes` selects the part about tasks of scopes.

mod build;
mod cases;
mod child;
mod claims;
mod figure;
mod measure;
mod published;
mod variant;

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::rounds::{Effort, Limit};
use super::{cpu, Options, Suite};
use crate::figures::Series;
use crate::watch;
use build::{ProgramBuilder, ProgramPair};
use cases::{Case, Kind};
use variant::{Variant, CORE_VERSION, RAYON_VERSION};

pub(crate) use self::cases::OUTSIDE;
pub(crate) use self::claims::{measured, programs, ratio, timed, verdicts, CaseAndUnit, FILCH, IN_PLACE, RAYON};
pub(crate) use self::figure::{CPU_MILLIS_A_SECOND, EXTRA_CPU_MICROS_A_TICK};

/// The suite's name.
pub(crate) const SUITE: &str = "rayon";

/// The number of times that processes are restarted in a full run.
const GENERATIONS: usize = 5;

/// The suite.
#[derive(Args, Debug, Default)]
pub(crate) struct Rayon {
    /// The folders of the builds.
    #[arg(skip)]
    builder: Option<ProgramBuilder>,
    /// The programs of each case, by its name.
    #[arg(skip)]
    builds: Vec<(&'static str, ProgramPair)>,
}

impl Suite for Rayon {
    const NAME: &'static str = SUITE;
    const PEERS: &'static [&'static str] = &[Variant::Stock.name()];
    type Case = Case;

    fn cases(&self, _: &Options) -> Result<Vec<Case>> {
        Ok(cases::all())
    }

    /// Published programs take minutes to build. A user can still ask for them by name.
    fn includes(&self, case: &Case, options: &Options) -> bool {
        !options.quick || !options.cases.is_empty() || !matches!(case.kind, Kind::Published(_))
    }

    fn expand(&self, name: &str) -> Vec<String> {
        cases::expanded(name)
    }

    /// The rounds of each generation. All generations share the rounds of a limit.
    ///
    /// For times, the number is even: of two processes, each is first equally often, and of three,
    /// each is first in six or seven of twenty rounds.
    fn effort(&self, case: &Case, options: &Options) -> Effort {
        let short = |millis| Effort { rounds: 4, at_least: 1, time: Duration::from_millis(millis) };
        let effort = match case.kind {
            // Single rounds of about a second.
            Kind::Idle | Kind::Tick | Kind::Allocations if options.quick => Effort::exactly(1),
            Kind::Published(_) if options.quick => Effort::exactly(2),
            Kind::Calls if options.quick => short(250),
            Kind::Time if options.quick => short(400),
            // No claim is close, or every round has the same figure.
            Kind::Idle | Kind::Allocations => Effort::exactly(1),
            Kind::Tick => Effort::exactly(3),
            Kind::Time | Kind::Calls => Effort::exactly(4),
            Kind::Published(_) => Effort::exactly(16),
        };
        let share = |limit: Limit| Limit { rounds: limit.rounds / generations(case.kind, options), ..limit };
        effort.within(options.limit.map(share))
    }

    /// Builds the programs of all cases before anything is measured.
    ///
    /// A compiler running at the same time would spoil the figures, and a failed build is reported
    /// at once.
    fn prepare(&mut self, cases: &[Case], _: &Options) -> Result<()> {
        let builder = ProgramBuilder::open()?;
        let mut programs: Option<ProgramPair> = None;
        for case in cases {
            let built = match (case.kind, &programs) {
                (Kind::Published(published), _) => {
                    watch::remark(&format!(
                        "Building {} on both cores. The first time, this takes some minutes.",
                        published.package().name
                    ));
                    builder.build_published(published.package())?
                }
                (_, Some(built)) => built.clone(),
                (_, None) => {
                    watch::remark("Building the programs on both cores.");
                    programs.insert(builder.build_programs()?).clone()
                }
            };
            self.builds.push((case.name, built));
        }
        self.builder = Some(builder);
        Ok(())
    }

    fn measure(&mut self, case: &Case, options: &Options, effort: Effort) -> Result<Vec<Series>> {
        let builder = self.builder.as_ref().context("nothing was built")?;
        let (_, programs) = self.builds.iter().find(|(name, _)| *name == case.name).context("it was not built")?;
        measure::measure(*case, programs, options, effort, &builder.folder("workloads"))
    }

    fn introduction(&self, _: &Options) -> String {
        format!(
            "the same programs with rayon {RAYON_VERSION} on rayon-core {CORE_VERSION} (rayon) and on filch's\n\
             rayon-core (filch), each in a process of its own, in turns. filch-in-place is the program of filch, started with\n\
             FILCH_CALLERS=in-place: a caller outside the pool takes part in the work."
        )
    }

    fn description(&self, case: &Case) -> String {
        case.description.to_owned()
    }

    fn conclusion(&self, options: &Options, _: &[Series]) -> String {
        let mut text = String::new();
        if options.quick && options.cases.is_empty() {
            text.push_str("\nPublished programs are left out of a quick run; `--case program` measures them.\n");
        }
        if !cpu::IS_SUPPORTED {
            text.push_str(
                "\nFigures that need the CPU time of a process were left out: it is measured only on Linux.\n",
            );
        }
        text
    }
}

/// The number of generations: how often all processes are started anew.
///
/// The place of a process in memory can make it faster or slower for its whole life. A single
/// process of each kind would show that as a difference between the cores.
fn generations(kind: Kind, options: &Options) -> usize {
    match kind {
        // Each of its runs is a process of its own.
        Kind::Published(_) => 1,
        _ if options.quick => 1,
        _ => options.limit.map_or(GENERATIONS, |limit| GENERATIONS.min(limit.rounds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::tests::{options, selected};

    fn rounds(case: &Case, options: &Options) -> usize {
        generations(case.kind, options) * Rayon::default().effort(case, options).rounds
    }

    #[test]
    fn an_unknown_case_is_refused_with_a_list_before_anything_is_built() {
        let refusal = selected(&Rayon::default(), true, &["par-iter-product"]).unwrap_err();
        assert!(refusal.contains("no case begins with `par-iter-product`; there are par-iter-sum-10m, "), "{refusal}");
        assert!(refusal.contains("program/oxipng"), "{refusal}");
    }

    #[test]
    fn a_full_run_has_fifteen_rounds_where_a_ratio_may_be_close_to_one() {
        for case in cases::all() {
            let rounds = rounds(&case, &options(false, &[]));
            assert!(rounds >= 15 || matches!(case.kind, Kind::Idle | Kind::Allocations), "{case}");
        }
    }

    #[test]
    fn generations_share_the_rounds_of_a_limit() {
        for most in [1, 3, 10, 1_000] {
            let limit = Some(Limit { rounds: most, time: Duration::MAX });
            let options = Options { limit, ..options(false, &[]) };
            for case in cases::all() {
                let rounds = rounds(&case, &options);
                assert!((1..=most).contains(&rounds), "{case}: {rounds} of {most}");
            }
        }
    }
}
