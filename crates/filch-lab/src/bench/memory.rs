//! The peak memory use of this process.

use std::fs;

/// Makes the kernel reset the peak of the resident set. Returns whether it does.
pub(crate) fn reset_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The largest resident set so far, in bytes. Known on Linux only.
pub(crate) fn peak() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?).map(|kilobytes| 1024 * kilobytes)
}

fn kilobytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_found_in_the_status_file() {
        assert_eq!(kilobytes("Name:\tfilch\nVmPeak:\t  99 kB\nVmHWM:\t   1234 kB\n"), Some(1234));
        assert_eq!(kilobytes("Name:\tfilch\n"), None);
    }
}
