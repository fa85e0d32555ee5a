//! The peak memory use of this process, and the memory that is available to it.

use std::fs;
use std::path::Path;

/// Makes the kernel reset the peak of the resident set. Returns whether it does.
pub(crate) fn reset_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The largest resident set so far, in bytes. Known on Linux only.
pub(crate) fn peak() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:").map(|kilobytes| 1024 * kilobytes)
}

/// The memory that this process can still get, in bytes. Known on Linux only.
///
/// That is what the system has available, or less if a control group limits it.
pub(crate) fn available() -> Option<u64> {
    let system = 1024 * kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = groups.lines().filter_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let root = match controllers {
            "" => "/sys/fs/cgroup",
            _ if controllers.split(',').any(|controller| controller == "memory") => "/sys/fs/cgroup/memory",
            _ => return None,
        };
        // A group is also subject to the limits of those above it. In a container the path may lead
        // to nothing, and the root is the group.
        let above = Path::new(group.trim_start_matches('/')).ancestors();
        above.filter_map(|group| left_in_group(&Path::new(root).join(group))).min()
    });
    Some(left.fold(system, u64::min))
}

/// The limit of a control group less what cannot be reclaimed, if it has a limit.
fn left_in_group(folder: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let limit: u64 = read("memory.max").or_else(|| read("memory.limit_in_bytes"))?.trim().parse().ok()?;
    let statistics = read("memory.stat")?;
    let used = statistics.lines().find_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        matches!(name, "anon" | "total_rss").then(|| bytes.trim().parse::<u64>().ok())?
    });
    Some(limit.saturating_sub(used.unwrap_or(0)))
}

fn kilobytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_found_in_the_files_of_the_kernel() {
        assert_eq!(kilobytes("Name:\tfilch\nVmPeak:\t  99 kB\nVmHWM:\t   1234 kB\n", "VmHWM:"), Some(1234));
        assert_eq!(kilobytes("Name:\tfilch\n", "VmHWM:"), None);
        assert_eq!(available().is_some(), cfg!(target_os = "linux"));
    }

    #[test]
    fn a_group_has_its_limit_less_what_it_uses() {
        for (limit, used) in
            [("memory.max", "anon 300\nfile 500\n"), ("memory.limit_in_bytes", "rss 1\ntotal_rss 300\n")]
        {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(left_in_group(folder.path()), None);
            fs::write(folder.path().join(limit), "1000\n").unwrap();
            fs::write(folder.path().join("memory.stat"), used).unwrap();
            assert_eq!(left_in_group(folder.path()), Some(700));
            fs::write(folder.path().join(limit), "max\n").unwrap();
            assert_eq!(left_in_group(folder.path()), None);
        }
    }
}
