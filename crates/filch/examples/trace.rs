//! Sorts some numbers and shows which worker did what.
//!
//! `cargo run -p filch --features trace --example trace` writes `trace.json`, which opens in
//! <https://ui.perfetto.dev>. With `--svg FILE` it draws the same as a picture. The picture in the
//! documentation was made like this: `--svg crates/filch/docs/trace.svg`. `--threads N` and
//! `--numbers N` set what is run.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use filch::trace::{Event, Kind, Trace};
use filch::{Pool, Worker};

const USAGE: &str = "trace [FILE] [--svg FILE] [--threads N] [--numbers N]";

fn main() -> Result<(), Box<dyn Error>> {
    let (mut file, mut svg, mut threads, mut numbers) = ("trace.json".to_owned(), None, 3, 150_000);
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value: {USAGE}"));
        match argument.as_str() {
            "--svg" => svg = Some(value()?),
            "--threads" => threads = value()?.parse()?,
            "--numbers" => numbers = value()?.parse()?,
            option if option.starts_with('-') => return Err(format!("unknown option {option}: {USAGE}").into()),
            name => file = name.to_owned(),
        }
    }

    let pool = Pool::builder().threads(threads).build()?;
    let mut data = random_numbers(numbers);
    pool.with_worker(|worker| quicksort(worker, &mut data));
    assert!(data.is_sorted());

    let trace = pool.trace();
    trace.save(&file)?;
    println!("{file}: open it in https://ui.perfetto.dev");
    if let Some(svg) = svg {
        fs::write(&svg, Drawing::new(&trace, format!("quicksort of {numbers} numbers")).finish())?;
        println!("{svg}: the same trace as a picture");
    }
    print!("{}", pool.stats());
    Ok(())
}

fn random_numbers(count: usize) -> Vec<u64> {
    // Marsaglia's xorshift.
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    (0..count).map(|_| next()).collect()
}

fn quicksort(worker: &mut Worker, data: &mut [u64]) {
    if data.len() < 500 {
        data.sort_unstable();
        return;
    }
    let last = data.len() - 1;
    data.swap(data.len() / 2, last);
    let (pivot, mut middle) = (data[last], 0);
    for n in 0..last {
        if data[n] < pivot {
            data.swap(n, middle);
            middle += 1;
        }
    }
    data.swap(middle, last);
    let (left, right) = data.split_at_mut(middle);
    worker.join(|worker| quicksort(worker, left), |worker| quicksort(worker, &mut right[1..]));
}

const WIDTH: f64 = 960.0;
/// The room for the workers' names.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
/// The room for the title and the legend.
const TOP: f64 = 64.0;
const ROW: f64 = 62.0;
/// How much lower a box inside a box is.
const STEP: f64 = 9.0;
const BOX: f64 = 40.0;

const JOB: &str = "#7aa6d6";
const STOLEN: &str = "#f2b35e";
/// A stolen job that was run while another job waited.
const STOLEN_WITHIN: &str = "#e3983b";
const ASLEEP: &str = "#e6e6e6";
const RAID: &str = "#c44e52";
const ARROW: &str = "#7a3b00";
const SHARE: &str = "#2a6b3c";

/// A picture with workers as rows, what they did as boxes, and thefts as arrows.
struct Drawing<'a> {
    trace: &'a Trace,
    svg: String,
    from: Duration,
    to: Duration,
}

impl<'a> Drawing<'a> {
    fn new(trace: &'a Trace, title: String) -> Self {
        // From the first job to the end of the last: the sleeps before and after are not shown.
        let jobs = || events(trace).filter(|(_, event)| is_job(event)).map(|(_, event)| event);
        let from = jobs().map(|event| event.start).min().unwrap_or_default();
        let to = jobs().map(|event| event.end).max().unwrap_or_default();
        let margin = (to - from) / 40;
        let mut drawing = Drawing { trace, svg: String::new(), from: from.saturating_sub(margin), to: to + margin };
        drawing.draw_frame(&title, from);
        drawing.draw_boxes();
        drawing.draw_arrows_and_shares();
        drawing
    }

    fn push_line(&mut self, text: &str) {
        // No empty lines: in a Markdown document the picture would end there.
        let _ = writeln!(self.svg, "{text}");
    }

    fn x(&self, time: Duration) -> f64 {
        let time = time.clamp(self.from, self.to);
        let part = (time - self.from).as_secs_f64() / (self.to - self.from).as_secs_f64();
        LEFT + part * (WIDTH - LEFT - RIGHT)
    }

    fn y(worker: usize) -> f64 {
        TOP + worker as f64 * ROW
    }

    fn draw_frame(&mut self, title: &str, zero: Duration) {
        let (workers, bottom) = (self.trace.workers(), Self::y(self.trace.workers()));
        let height = bottom + 34.0;
        self.push_line(&format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" role="img" aria-label="{title}: a trace">"#
        ));
        self.push_line(&format!(
            r#"<defs><marker id="head" markerWidth="7" markerHeight="6" refX="6" refY="3" orient="auto"><path d="M0,0 L7,3 L0,6 z" fill="{ARROW}"/></marker></defs>"#
        ));
        self.push_line(&format!(r#"<rect width="{WIDTH}" height="{height}" fill="white"/>"#));
        self.push_line(&format!(
            r##"<text x="{LEFT}" y="22" font-size="14" fill="#222">{title}, {workers} workers</text>"##
        ));
        self.draw_legend();
        for worker in 0..workers {
            let y = Self::y(worker);
            self.push_line(&format!(
                r##"<text x="{}" y="{}" text-anchor="end" fill="#222">worker {worker}</text><line x1="{LEFT}" y1="{}" x2="{}" y2="{}" stroke="#ccc"/>"##,
                LEFT - 10.0,
                y + ROW / 2.0 + 4.0,
                y + ROW - 6.0,
                WIDTH - RIGHT,
                y + ROW - 6.0
            ));
        }
        self.draw_axis(zero, bottom);
    }

    /// Draws the meaning of the colours and signs that are in the picture.
    fn draw_legend(&mut self) {
        let has = |select: fn(Kind) -> bool| events(self.trace).any(|(_, event)| select(event.kind));
        let boxes = [
            (true, JOB, "job from outside", 130.0),
            (has(|kind| matches!(kind, Kind::Stolen { .. })), STOLEN, "stolen job", 94.0),
            (has(|kind| kind == Kind::Sleep), ASLEEP, "asleep", 74.0),
            (true, "white", "looking for work", 128.0),
            (has(|kind| matches!(kind, Kind::Raid { .. })), RAID, "raid", 58.0),
        ];
        let mut x = LEFT;
        for (_, colour, label, width) in boxes.into_iter().filter(|&(shown, ..)| shown) {
            self.push_line(&format!(
                r##"<rect x="{x}" y="36" width="12" height="12" fill="{colour}" stroke="#999" stroke-width="0.5"/><text x="{}" y="46" fill="#444">{label}</text>"##,
                x + 17.0
            ));
            x += width;
        }
        self.push_line(&format!(
            r##"<line x1="{x}" y1="42" x2="{}" y2="42" stroke="{ARROW}" stroke-width="1.2" marker-end="url(#head)"/><text x="{}" y="46" fill="#444">theft, from victim to thief</text>"##,
            x + 22.0,
            x + 28.0
        ));
        x += 192.0;
        self.push_line(&format!(
            r##"<path d="M{x},47 l4,-9 l4,9 z" fill="{SHARE}"/><text x="{}" y="46" fill="#444">jobs made public</text>"##,
            x + 13.0
        ));
    }

    fn draw_axis(&mut self, zero: Duration, bottom: f64) {
        // A round number of microseconds that gives five to twelve ticks.
        let length = (self.to - zero).as_secs_f64() * 1e6;
        let decade = 10_f64.powf((length / 5.0).log10().floor());
        let step = [5.0, 2.0, 1.0].map(|n| n * decade).into_iter().find(|step| length / step >= 5.0).unwrap_or(decade);
        let mut tick = 0.0;
        while tick <= length {
            let x = self.x(zero + Duration::from_secs_f64(tick / 1e6));
            let label = if length >= 2000.0 { format!("{} ms", tick / 1000.0) } else { format!("{tick} µs") };
            self.push_line(&format!(
                r##"<line x1="{x:.1}" y1="{TOP}" x2="{x:.1}" y2="{}" stroke="#eee"/><text x="{x:.1}" y="{}" text-anchor="middle" fill="#666">{label}</text>"##,
                bottom + 4.0,
                bottom + 20.0
            ));
            tick += step;
        }
    }

    fn draw_boxes(&mut self) {
        for worker in 0..self.trace.workers() {
            let mut open: Vec<Duration> = Vec::new();
            for event in self.trace.events(worker) {
                open.retain(|&end| end > event.start);
                let depth = open.len() as f64;
                if !matches!(event.kind, Kind::Share { .. }) {
                    open.push(event.end);
                }
                if event.end < self.from || event.start > self.to {
                    continue;
                }
                let (colour, stroke) = match event.kind {
                    Kind::Job | Kind::Task => (JOB, "#46709e"),
                    Kind::Stolen { .. } if open.len() % 2 == 0 => (STOLEN_WITHIN, "#9a6417"),
                    Kind::Stolen { .. } => (STOLEN, "#b0761f"),
                    Kind::Sleep => (ASLEEP, "none"),
                    Kind::Raid { .. } => (RAID, "none"),
                    _ => continue,
                };
                let (x, end) = (self.x(event.start), self.x(event.end));
                // No box is too narrow to see; all boxes stand on the row's line.
                let (width, inset) = ((end - x).max(0.7), (depth * STEP).min(BOX - 6.0));
                let y = Self::y(worker) + ROW - 6.0 - BOX + inset;
                let description = describe(event);
                self.push_line(&format!(
                    r#"<rect x="{x:.1}" y="{y}" width="{width:.1}" height="{}" fill="{colour}" stroke="{stroke}" stroke-width="0.5"><title>{description}</title></rect>"#,
                    BOX - inset
                ));
            }
        }
    }

    /// Draws what lies above the boxes: arrows, and the marks of shares.
    fn draw_arrows_and_shares(&mut self) {
        for (worker, event) in events(self.trace) {
            let x = self.x(event.start);
            match event.kind {
                Kind::Stolen { victim } => {
                    // From the nearer edge of the victim's row to that of the thief's.
                    let (top, line) = (ROW - 6.0 - BOX, ROW - 6.0);
                    let (from, to) = if victim < worker { (line - 4.0, top) } else { (top + 4.0, line) };
                    self.push_line(&format!(
                        r#"<line x1="{x:.1}" y1="{}" x2="{x:.1}" y2="{}" stroke="{ARROW}" stroke-width="1.1" marker-end="url(#head)"/>"#,
                        Self::y(victim) + from,
                        Self::y(worker) + to
                    ));
                }
                Kind::Share { jobs } => {
                    let y = Self::y(worker) + ROW - 6.0;
                    self.push_line(&format!(
                        r##"<path d="M{:.1},{} l3,-7 l3,7 z" fill="{SHARE}"><title>{jobs} made public</title></path>"##,
                        x - 3.0,
                        y + 5.0
                    ));
                }
                _ => {}
            }
        }
    }

    fn finish(mut self) -> String {
        self.push_line("</svg>");
        self.svg
    }
}

fn events(trace: &Trace) -> impl Iterator<Item = (usize, &Event)> {
    (0..trace.workers()).flat_map(|worker| trace.events(worker).iter().map(move |event| (worker, event)))
}

fn is_job(event: &Event) -> bool {
    matches!(event.kind, Kind::Job | Kind::Task | Kind::Stolen { .. })
}

fn describe(event: &Event) -> String {
    let micros = (event.end - event.start).as_secs_f64() * 1e6;
    let kind = match event.kind {
        Kind::Stolen { victim } => format!("stolen from worker {victim}"),
        Kind::Raid { victim } => format!("raid on worker {victim}"),
        Kind::Sleep => "asleep".to_owned(),
        _ => "job".to_owned(),
    };
    format!("{kind}: {micros:.1} µs")
}
