struct Mistaken(Subsequence);

impl Relaxation for Mistaken {
    fn merge<'a>(&self, states: impl Iterator<Item = &'a Vec<u16>>) -> Vec<u16> {
        let most = |a: Vec<u16>, b: &Vec<u16>| a.iter().zip(b).map(|(&a, &b)| a.max(b)).collect();
        states.fold(vec![0; self.0.words.len() - 1], most)
    }
}
