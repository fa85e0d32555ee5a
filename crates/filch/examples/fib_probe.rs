use std::hint::black_box;
use std::time::Instant;
fn ser(n: u32) -> u64 {
    if n < 2 {
        return n as u64;
    }
    ser(n - 1) + ser(n - 2)
}
type F = fn(u32) -> u64;
fn call(n: u32) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let f: F = black_box(call as F);
    f(n - 1) + black_box(call as F)(n - 2)
}
fn wk(w: &mut filch::Worker, n: u32) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = w.join(|w| wk(w, n - 1), |w| wk(w, n - 2));
    a + b
}
fn mw(w: &mut filch::Worker, n: u32) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = w.maybe_join(|w| mw(w, n - 1), |w| mw(w, n - 2));
    a + b
}
fn tl(n: u32) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = filch::join(|| tl(n - 1), || tl(n - 2));
    a + b
}
fn main() {
    let n: u32 = std::env::args().nth(1).map_or(36, |s| s.parse().unwrap());
    let mut joins = 0u64;
    {
        fn c(n: u32, j: &mut u64) {
            if n < 2 {
                return;
            }
            *j += 1;
            c(n - 1, j);
            c(n - 2, j);
        }
        c(n.min(30), &mut joins);
    }
    let scale = if n > 30 { (1.618f64).powi((n - 30) as i32) } else { 1.0 };
    let joins = joins as f64 * scale;
    let t = |name: &str, f: &mut dyn FnMut() -> u64| {
        let mut best = f64::MAX;
        let mut r = 0;
        for _ in 0..5 {
            let s = Instant::now();
            r = f();
            best = best.min(s.elapsed().as_nanos() as f64);
        }
        println!("{name:14} {:.2} ns/join  ({r})", best / joins);
    };
    t("serial", &mut || ser(black_box(n)));
    t("serial-call", &mut || call(black_box(n)));
    for th in [1, 2] {
        let p = filch::Pool::builder().threads(th).build().unwrap();
        t(&format!("worker {th}"), &mut || p.with_worker(|w| wk(w, n)));
        t(&format!("maybe {th}"), &mut || p.with_worker(|w| mw(w, n)));
        t(&format!("join {th}"), &mut || p.install(|| tl(n)));
        print!("{}", p.stats());
    }
    let p = filch::Pool::builder().threads(1).fences(filch::Fences::Owner).build().unwrap();
    t("fenced 1", &mut || p.with_worker(|w| wk(w, n)));
}
