#![doc = include_str!("../guide/1-states.md")]
#![doc = "```"]
#![doc = include_str!("../guide/problem.rs")]
#![doc = "# fn main() {}"]
#![doc = "```"]
#![doc = include_str!("../guide/2-try-everything.md")]
#![doc = "```"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/problem.rs\"));"]
#![doc = include_str!("../guide/best.rs")]
//! fn main() {
//!     let problem = Subsequence { words: vec!["HUMAN", "CHIMPANZEE"] };
//!     assert_eq!(best(&problem, 0, &problem.initial_state()), Some(4));
//! }
#![doc = "```"]
#![doc = include_str!("../guide/3-relaxation.md")]
#![doc = "```"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/problem.rs\"));"]
#![doc = include_str!("../guide/relaxation.rs")]
#![doc = "# fn main() {}"]
#![doc = "```"]
#![doc = include_str!("../guide/4-solve.md")]
#![doc = "```"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/problem.rs\"));"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/relaxation.rs\"));"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/best.rs\"));"]
//! use filch_dd::{SolveStatus, SolveError, Solver, Width};
//!
//! fn main() -> Result<(), SolveError> {
//!     let problem = Subsequence { words: vec!["ABRACADABRA", "CANDELABRA", "BARRACUDA", "CARTAGENA"] };
//!     for width in [1, 2, 10] {
//!         let outcome = Solver::new(&problem).width(Width::Fixed(width)).solve()?;
//!         assert_eq!(outcome.status, SolveStatus::Optimal);
//!         assert_eq!(outcome.best.map(|best| best.cost), best(&problem, 0, &problem.initial_state()));
//!     }
//!     Ok(())
//! }
#![doc = "```"]
#![doc = include_str!("../guide/5-laws.md")]
#![doc = "```"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/problem.rs\"));"]
//! # impl Problem for Mistaken {
//! #     type State = Vec<u16>;
//! #     fn variables(&self) -> usize { self.0.variables() }
//! #     fn initial_state(&self) -> Vec<u16> { self.0.initial_state() }
//! #     fn cost_limit(&self) -> Option<Cost> { self.0.cost_limit() }
//! #     fn domain(&self, variable: Variable, state: &Vec<u16>, decide: impl FnMut(Value)) { self.0.domain(variable, state, decide) }
//! #     fn transition(&self, state: &Vec<u16>, decision: Decision) -> Vec<u16> { self.0.transition(state, decision) }
//! #     fn cost(&self, state: &Vec<u16>, next: &Vec<u16>, decision: Decision) -> Cost { self.0.cost(state, next, decision) }
//! #     fn matters(&self, variable: Variable, state: &Vec<u16>) -> bool { self.0.matters(variable, state) }
//! # }
//! # use filch_dd::Relaxation;
#![doc = include_str!("../guide/broken.rs")]
//! use filch_dd::check::{self, Law};
//!
//! fn main() {
//!     let problem = Mistaken(Subsequence { words: vec!["ABBA", "BABA"] });
//!     let broken = (0..100).find_map(|seed| check::laws(&problem, seed).err()).expect("a seed shows the mistake");
//!     assert_eq!(broken.law, Law::Merge);
//!     assert_eq!(
//!         broken.to_string(),
//!         "after x0=0 x1=0 the state [0] (cost 0) was merged into [3] (cost 0): \
//!          x2=1 x3=1 completes the first, but the second does not allow x2=1"
//!     );
//! }
#![doc = "```"]
#![doc = include_str!("../guide/6-dominance.md")]
#![doc = "```"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/problem.rs\"));"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/relaxation.rs\"));"]
#![doc = include_str!("../guide/dominance.rs")]
//! use filch_dd::check;
//!
//! fn main() -> Result<(), check::BrokenLaw> {
//!     let problem = Subsequence { words: vec!["ABRACADABRA", "CANDELABRA", "BARRACUDA"] };
//!     for seed in 0..20 {
//!         check::laws(&problem, seed)?;
//!         check::laws_of_dominance(&problem, seed)?;
//!     }
//!     Ok(())
//! }
#![doc = "```"]
#![doc = include_str!("../guide/7-check.md")]
#![doc = "```"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/problem.rs\"));"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/relaxation.rs\"));"]
#![doc = "# include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/guide/dominance.rs\"));"]
//! use filch_dd::{SolveError, Solver};
//!
//! /// Whether the letters can be found in the word in this order.
//! fn is_within(letters: &str, word: &str) -> bool {
//!     let mut left = word.chars();
//!     letters.chars().all(|letter| left.any(|other| other == letter))
//! }
//!
//! fn main() -> Result<(), SolveError> {
//!     let problem = Subsequence { words: vec!["HUMAN", "CHIMPANZEE", "SHAMAN"] };
//!     let best = Solver::new(&problem).dominance().solve()?.best.expect("the empty sequence is a solution");
//!     let taken = best.decisions.iter().filter(|decision| decision.value == 1);
//!     let answer: String = taken.map(|decision| problem.letter(decision.variable) as char).collect();
//!     assert_eq!(answer, "HMAN");
//!     assert!(problem.words.iter().all(|word| is_within(&answer, word)));
//!     assert_eq!(best.cost, answer.len() as i64);
//!     Ok(())
//! }
#![doc = "```"]
#![doc = include_str!("../guide/8-after.md")]
