//! How much processor time other machines and other processes used.

use std::fs;

/// Processor time since the machine was started, as far as the system reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CpuTime {
    /// Ticks that the hypervisor gave to other machines.
    stolen: u64,
    /// Ticks that any process of this machine used.
    busy: u64,
    /// Ticks that this process and its awaited children used.
    own: u64,
    /// The total of all ticks.
    total: u64,
}

impl CpuTime {
    /// Reads the current values.
    pub(super) fn now() -> Option<CpuTime> {
        let own = fs::read_to_string("/proc/self/stat").ok()?;
        CpuTime::parse(&fs::read_to_string("/proc/stat").ok()?, &own)
    }

    fn parse(stat: &str, own: &str) -> Option<CpuTime> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal. The guest values that follow are part of
        // the first two.
        let [user, nice, system, _, _, irq, soft_irq, stolen] = *ticks.get(..8)? else { return None };
        // After the name, which may contain anything, come ten other fields, then the user and
        // system times of the process and of its children.
        let own: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
        let own: Option<Vec<u64>> = own.get(11..15)?.iter().map(|word| word.parse().ok()).collect();
        Some(CpuTime {
            stolen,
            busy: user + nice + system + irq + soft_irq,
            own: own?.iter().sum(),
            total: ticks.iter().take(8).sum(),
        })
    }

    /// Returns the share of time until `later` that other processes of this machine used.
    pub(super) fn used_by_others_until(self, later: CpuTime) -> Option<f64> {
        let total = later.total.checked_sub(self.total).filter(|&total| total > 0)?;
        let (busy, own) = (later.busy.checked_sub(self.busy)?, later.own.checked_sub(self.own)?);
        // The two values are rounded differently.
        Some(busy.saturating_sub(own) as f64 / total as f64)
    }

    /// Returns the share of the time from `self` to `later` that went to other machines.
    pub(super) fn stolen_until(self, later: CpuTime) -> Option<f64> {
        let total = later.total.checked_sub(self.total).filter(|&total| total > 0)?;
        Some(later.stolen.saturating_sub(self.stolen) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(ticks: [u64; 4]) -> String {
        let [user, system, childrens_user, childrens_system] = ticks;
        format!("7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 {user} {system} {childrens_user} {childrens_system} 20 0 9")
    }

    #[test]
    fn the_eighth_number_is_the_stolen_time() {
        let before = CpuTime::parse("cpu  10 0 10 70 0 0 5 5 3 0\ncpu0 1 2 3\n", &own([1, 1, 0, 0])).unwrap();
        let after = CpuTime::parse("cpu  20 0 20 135 0 0 5 20 9 0\n", &own([4, 2, 3, 1])).unwrap();
        assert_eq!(before.stolen_until(after), Some(0.15));
        assert_eq!(before.stolen_until(before), None);
        assert_eq!(after.stolen_until(before), None);
        for text in ["", "cpu", "cpu  1 2 3", "cpu0 1 2 3 4 5 6 7 8"] {
            assert_eq!(CpuTime::parse(text, &own([0; 4])), None, "{text}");
        }
    }

    #[test]
    fn time_of_neither_this_process_nor_its_children_is_of_others() {
        let before = CpuTime::parse("cpu  10 0 10 70 0 0 5 5 3 0\n", &own([1, 1, 0, 0])).unwrap();
        let after = CpuTime::parse("cpu  20 0 20 135 0 0 5 20 9 0\n", &own([4, 2, 3, 1])).unwrap();
        // Of 20 used ticks, 8 are this process's.
        assert_eq!(before.used_by_others_until(after), Some(0.12));
        assert_eq!(after.used_by_others_until(before), None);
        assert_eq!(CpuTime::parse("cpu  1 2 3 4 5 6 7 8", "7 (a) S 1 2"), None);
    }
}
