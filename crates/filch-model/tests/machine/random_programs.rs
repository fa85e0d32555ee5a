//! Random programs on the machine and on the plain implementation.

use std::collections::BTreeSet;

use crate::{machine, plain};
use filch_model::litmus::{buffers, outcomes};

/// A generator of pseudo-random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides) as usize
    }
}

#[test]
fn random_programs_have_the_outcomes_of_a_simple_reference_machine() {
    use plain::Step;
    const WORDS: [&str; 3] = ["A", "B", "C"];
    let mut dice = Dice(7);
    let mut relaxed = 0;
    for round in 0..200 {
        let (count, length) = if round % 10 == 0 { (3, 3) } else { (2, 4) };
        let mut program = || -> Vec<Step> {
            // Stores come first and loads last, so that there are stores to overtake.
            let step = |place: usize| match (dice.roll(16), dice.roll(3), dice.roll(5) as i16 + 1) {
                (0, ..) => Step::Fence,
                (1, word, value) => Step::Swap(word, value),
                (chance, word, value) if chance % 4 < length - place => Step::Store(word, value),
                (_, word, _) => Step::Load(word),
            };
            (0..length).map(step).collect()
        };
        let programs: Vec<Vec<Step>> = (0..count).map(|_| program()).collect();
        let (mut threads, mut ghosts) = (String::new(), Vec::new());
        for (number, program) in programs.iter().enumerate() {
            threads += &format!("thread t{number} {{\n");
            for step in program {
                let read = format!("g{}", ghosts.len());
                threads += &match step {
                    Step::Store(word, value) => format!("{} := {value}\n", WORDS[*word]),
                    Step::Load(word) => format!("{read} = {}\n", WORDS[*word]),
                    Step::Fence => "fence\n".to_owned(),
                    Step::Swap(word, value) => format!("{read} = swap({}, {value})\n", WORDS[*word]),
                };
                if matches!(step, Step::Load(_) | Step::Swap(..)) {
                    ghosts.push(read);
                }
            }
            threads += "}\n";
        }
        let declared = if ghosts.is_empty() { String::new() } else { format!("ghost {}\n", ghosts.join(", ")) };
        let text = format!("line {{ shared A, B }}\nshared C\n{declared}{threads}");
        let shown: Vec<&str> = ghosts.iter().map(String::as_str).chain(WORDS).collect();
        let mut sizes = BTreeSet::new();
        for buffer in buffers() {
            let (found, expected) =
                (outcomes(&machine(&text, buffer), &shown), plain::outcomes(WORDS.len(), &programs, buffer));
            assert_eq!(found, expected, "on {buffer}:\n{text}");
            sizes.insert(found.len());
        }
        relaxed += usize::from(sizes.len() > 1);
    }
    assert!(relaxed > 30, "only {relaxed} of the programs tell the machines apart");
}
