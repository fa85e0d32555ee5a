use filch_dd::Relaxation;

impl Relaxation for Subsequence {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a Vec<u16>>) -> Vec<u16> {
        let least = |a: Vec<u16>, b: &Vec<u16>| a.iter().zip(b).map(|(&a, &b)| a.min(b)).collect();
        states.fold(vec![u16::MAX; self.words.len() - 1], least)
    }

    fn rough_bound(&self, depth: usize, state: &Vec<u16>) -> Option<Cost> {
        let left = self.words[1..].iter().zip(state).map(|(word, &from)| word.len() - from as usize);
        left.chain([self.words[0].len() - depth]).min().map(|left| left as Cost)
    }

    fn rank(&self, state: &Vec<u16>) -> i64 {
        -state.iter().map(|&from| i64::from(from)).sum::<i64>()
    }
}
