use filch_dd::{Cost, Decision, Problem, Value, Variable};

struct Subsequence {
    /// The letters of the first are decided upon.
    words: Vec<&'static str>,
}

impl Subsequence {
    fn letter(&self, variable: Variable) -> u8 {
        self.words[0].as_bytes()[variable.index()]
    }

    /// How far into the other words this letter reaches, if all of them have it further on.
    fn reach(&self, state: &[u16], letter: u8) -> Option<Vec<u16>> {
        let reach = |(word, &from): (&&str, &u16)| {
            let at = word.as_bytes()[from as usize..].iter().position(|&other| other == letter)?;
            Some(from + at as u16 + 1)
        };
        self.words[1..].iter().zip(state).map(reach).collect()
    }
}

impl Problem for Subsequence {
    /// How far into each of the other words it is.
    type State = Vec<u16>;

    fn variables(&self) -> usize {
        self.words[0].len()
    }

    fn initial_state(&self) -> Vec<u16> {
        vec![0; self.words.len() - 1]
    }

    /// No more letters than the first word has.
    fn cost_limit(&self) -> Option<Cost> {
        Some(self.words[0].len() as Cost)
    }

    fn domain(&self, variable: Variable, state: &Vec<u16>, mut decide: impl FnMut(Value)) {
        if self.matters(variable, state) {
            decide(1);
        }
        decide(0);
    }

    fn transition(&self, state: &Vec<u16>, decision: Decision) -> Vec<u16> {
        match decision.value {
            1 => self.reach(state, self.letter(decision.variable)).expect("1 is in the domain"),
            _ => state.clone(),
        }
    }

    /// Every letter counts one.
    fn cost(&self, _: &Vec<u16>, _: &Vec<u16>, decision: Decision) -> Cost {
        decision.value
    }

    /// A letter that cannot be taken is left out: that costs nothing, and leaves the state as it
    /// is.
    fn matters(&self, variable: Variable, state: &Vec<u16>) -> bool {
        self.reach(state, self.letter(variable)).is_some()
    }
}
