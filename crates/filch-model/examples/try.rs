//! try
use filch_model::machine::*;
use filch_model::search::*;
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let n: i16 = std::env::args().nth(2).unwrap().parse().unwrap();
    let fenced = 1;
    for s in 0..5u8 {
        let set = [("TASKS".to_string(), n), ("THIEVES".into(), 2), ("FENCED".into(), fenced)].into_iter().collect();
        let b = if s == 0 { Buffer::None } else { Buffer::Bounded(s) };
        let m = Machine::new(&text, &set, b, Claims { at_most_once: true, nothing_lost: true }).unwrap();
        for t in [1, 2, 2, 2] {
            let o = run(&m, Effort { threads: t, ends: false }, &mut |_| {});
            println!(
                "{t} {b} {:?} {:?} rate {:.2}M unique rate {:.2}M",
                o.counterexample.as_ref().map(|c| (c.claim, c.steps.len())),
                o.progress,
                o.progress.rate() / 1e6,
                o.progress.states as f64 / o.progress.time.as_secs_f64() / 1e6
            );
        }
        let i = std::time::Instant::now();
        println!("graph {} over {} {:?}", fair::Graph::of(&m).len(), fair::Graph::of(&m).over().len(), i.elapsed() / 2);
    }
}
