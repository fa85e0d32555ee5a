//! The machine that a figure was measured on. It makes a file of figures self-contained.

use std::fmt;
use std::fs;
use std::thread;

use serde::Serialize;

/// The machine, the compiler and the sources of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The name of the processor.
    pub cpu: String,
    /// How many cores this process may run on.
    pub cores: usize,
    /// The operating system and its release.
    pub kernel: String,
    /// The compiler that built this program.
    pub rustc: &'static str,
    /// The commit that this program was built from.
    pub commit: &'static str,
}

impl Machine {
    /// Describes this machine. Call it before any thread is pinned: a pinned thread sees one core.
    pub fn here() -> Machine {
        Machine {
            cpu: cpu(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            kernel: kernel(),
            rustc: env!("FILCH_RUSTC"),
            commit: env!("FILCH_COMMIT"),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cpu, cores, kernel, rustc, commit } = self;
        let cores = if *cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
        write!(f, "{cpu}, {cores}, {kernel}, {rustc}, commit {commit}")
    }
}

fn cpu() -> String {
    fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| model_name(&text).map(str::to_owned))
        .unwrap_or_else(|| format!("unknown {}", std::env::consts::ARCH))
}

fn model_name(cpuinfo: &str) -> Option<&str> {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name")
        .map(|(_, value)| value.trim())
        .filter(|name| !name.is_empty())
}

fn kernel() -> String {
    let system = std::env::consts::OS;
    match fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => format!("{system} {}", release.trim()),
        Err(_) => system.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_model_name_is_the_processor() {
        let text = "processor\t: 0\nmodel\t\t: 106\nmodel name\t: Some CPU @ 2.80GHz\nmodel name\t: Another\n";
        assert_eq!(model_name(text), Some("Some CPU @ 2.80GHz"));
        assert_eq!(model_name("processor : 0\n"), None);
        assert_eq!(model_name(""), None);
    }

    #[test]
    fn no_field_is_empty() {
        let machine = Machine::here();
        for text in [&*machine.cpu, &*machine.kernel, machine.rustc, machine.commit] {
            assert!(!text.is_empty());
        }
        assert!(machine.cores >= 1);
    }
}
