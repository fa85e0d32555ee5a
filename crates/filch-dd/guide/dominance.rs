use filch_dd::Dominance;

impl Dominance for Subsequence {
    /// All states after the same number of decisions can be compared.
    type Key = ();

    fn key(&self, _: &Vec<u16>) -> Option<()> {
        Some(())
    }

    fn coordinates(&self) -> usize {
        self.words.len() - 1
    }

    /// Less far is better.
    fn coordinate(&self, state: &Vec<u16>, index: usize) -> i64 {
        -i64::from(state[index])
    }
}
