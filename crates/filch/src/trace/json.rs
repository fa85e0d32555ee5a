//! The trace format of Chrome, which Perfetto reads too. It is an object with an array of events.
//!
//! | `ph` | what |
//! |---|---|
//! | `M` | the name of the process, of a track, and where the track stands |
//! | `X` | something that took time |
//! | `i` | something that took none |
//! | `s`, `f` | the two ends of an arrow, from the track of the victim to what the thief made of it |
//!
//! No string in it comes from a user, so none needs escaping. Times are in microseconds with three
//! decimals, which is exactly what the clock gives.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use super::on::{Event, Kind, Trace};

/// The ID of the only process.
const PROCESS: u32 = 1;

/// A time, printed in microseconds.
struct Micros(Duration);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0.as_micros(), self.0.subsec_nanos() % 1000)
    }
}

/// The track of a worker, numbered from 1. Perfetto takes track 0 for an idle CPU.
struct Track(usize);

impl fmt::Display for Track {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#""pid":{PROCESS},"tid":{}"#, self.0 + 1)
    }
}

pub(super) fn write(trace: &Trace, mut writer: impl Write) -> io::Result<()> {
    write!(writer, r#"{{"displayTimeUnit":"ns","otherData":{{"dropped":{}}},"traceEvents":["#, trace.dropped())?;
    write!(writer, "\n{{\"ph\":\"M\",\"pid\":{PROCESS},\"name\":\"process_name\",\"args\":{{\"name\":\"filch\"}}}}")?;
    for worker in 0..trace.workers() {
        let track = Track(worker);
        write!(
            writer,
            ",\n{{\"ph\":\"M\",{track},\"name\":\"thread_name\",\"args\":{{\"name\":\"worker {worker}\"}}}}"
        )?;
        write!(
            writer,
            ",\n{{\"ph\":\"M\",{track},\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{worker}}}}}"
        )?;
    }
    let mut arrows = 0_u64;
    for worker in 0..trace.workers() {
        for event in trace.events(worker) {
            write_event(&mut writer, worker, event)?;
            if let Kind::Stolen { victim } = event.kind {
                arrows += 1;
                write_arrow(&mut writer, arrows, victim, worker, event.start)?;
            }
        }
    }
    writer.write_all(b"\n]}\n")?;
    writer.flush()
}

fn write_event(writer: &mut impl Write, worker: usize, event: &Event) -> io::Result<()> {
    let (track, start) = (Track(worker), Micros(event.start));
    write!(writer, ",\n{{{track},\"ts\":{start},")?;
    match event.kind {
        Kind::Share { jobs } => {
            return write!(writer, r#""ph":"i","s":"t","cat":"share","name":"share","args":{{"jobs":{jobs}}}}}"#);
        }
        Kind::Job => write!(writer, r#""cat":"job","name":"job","#)?,
        Kind::Task => write!(writer, r#""cat":"job","name":"task of a scope","#)?,
        Kind::Stolen { victim } => {
            write!(writer, r#""cat":"job","name":"stolen from worker {victim}","args":{{"victim":{victim}}},"#)?;
        }
        Kind::Raid { victim } => {
            write!(writer, r#""cat":"raid","name":"raid on worker {victim}","args":{{"victim":{victim}}},"#)?;
        }
        Kind::Sleep => write!(writer, r#""cat":"sleep","name":"asleep","#)?,
    }
    let duration = Micros(event.end.saturating_sub(event.start));
    write!(writer, r#""ph":"X","dur":{duration}}}"#)
}

/// Writes an arrow. Both ends have the time of the theft: the arrow leaves what the victim did
/// then, and ends at the box that begins there.
fn write_arrow(writer: &mut impl Write, id: u64, victim: usize, thief: usize, time: Duration) -> io::Result<()> {
    let (victim, thief, time) = (Track(victim), Track(thief), Micros(time));
    let name = r#""cat":"steal","name":"steal""#;
    write!(writer, ",\n{{\"ph\":\"s\",\"id\":{id},{victim},\"ts\":{time},{name}}}")?;
    write!(writer, ",\n{{\"ph\":\"f\",\"bp\":\"e\",\"id\":{id},{thief},\"ts\":{time},{name}}}")
}
