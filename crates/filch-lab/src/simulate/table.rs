//! Simulated runs, as text.

use filch_mpi::simulate::{saturation, Calibration, Row, Scaling, SATURATED};

use crate::figures::{grid, grouped, number, time};

/// Formats the cost of messages for the coordinator: a line for each number of ranks.
pub(super) fn calibration(calibrations: &[Calibration]) -> String {
    let Some(first) = calibrations.first() else { return String::new() };
    let mut header = vec!["ranks".to_owned()];
    header.extend(first.handle_ns.iter().map(|(kind, _)| (*kind).to_owned()));
    header.extend(["+ receive".to_owned(), "+ send each".to_owned(), String::new()]);
    let lines: Vec<Vec<String>> = calibrations
        .iter()
        .map(|calibration| {
            let mut line = vec![grouped(calibration.ranks)];
            line.extend(calibration.handle_ns.iter().map(|(_, cost)| format!("{cost:.0}")));
            line.extend([
                format!("{:.0}", calibration.receive_ns),
                format!("{:.0}", calibration.send_ns),
                String::new(),
            ]);
            line
        })
        .collect();
    format!(
        "\nTime of the coordinator per message, in nanoseconds; receive and send are settings\n{}",
        grid(&header, &lines)
    )
}

/// Formats all rows: a table for each line of the plot.
pub(super) fn tables(rows: &[Row]) -> String {
    lines(rows).iter().map(|rows| table(rows)).collect()
}

/// Groups the rows that belong to one line.
pub(super) fn lines(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut lines: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let belongs = |line: &&mut Vec<&Row>| {
            let first = line[0];
            (first.scaling, &first.network, first.factor) == (row.scaling, &row.network, row.factor)
        };
        match lines.iter_mut().find(belongs) {
            Some(line) => line.push(row),
            None => lines.push(vec![row]),
        }
    }
    lines
}

/// Returns the name of a line.
pub(super) fn name(rows: &[&Row]) -> String {
    let first = rows[0];
    let nodes = match first.factor {
        1.0 => "as recorded".to_owned(),
        factor if factor < 1.0 => format!("{} times finer", short(1.0 / factor)),
        factor => format!("{} times coarser", short(factor)),
    };
    format!("nodes of {} us ({nodes}), {} {} us", number(first.node_us), first.network, number(first.latency_us))
}

fn table(rows: &[&Row]) -> String {
    let first = rows[0];
    let scaling = match first.scaling {
        Scaling::Strong => "Strong scaling, the recorded tree itself",
        Scaling::Weak => "Weak scaling, trees grown like the recorded one",
    };
    let header = [
        "ranks",
        "nodes",
        "work/thread",
        "took",
        "speed-up",
        "efficiency",
        "messages/s",
        "us/message",
        "coordinator",
        "queueing",
        "starving",
        "starving p90",
        "",
    ];
    let line = |row: &&Row| {
        vec![
            grouped(row.ranks),
            grouped(row.nodes as usize),
            time(row.work_s / (row.ranks * row.threads) as f64),
            time(row.elapsed_s),
            number(row.speed_up),
            percent(row.efficiency),
            grouped(row.messages_per_s as usize),
            number(row.message_us),
            percent(row.utilisation),
            time(row.queueing_us / 1e6),
            time(row.hunger_us / 1e6),
            time(row.hunger_ninth_us / 1e6),
            String::new(),
        ]
    };
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    let verdict = match (first.scaling, saturation(rows)) {
        (Scaling::Strong, _) => String::new(),
        (_, Some(ranks)) => format!(
            "  The coordinator is busy for more than {} of the time from about {} ranks on.\n",
            percent(SATURATED),
            grouped(rounded(ranks))
        ),
        (_, None) => "  The coordinator does not saturate.\n".to_owned(),
    };
    format!("\n{scaling}: {}\n{}{verdict}", name(rows), grid(&header.map(str::to_owned), &lines))
}

/// Formats a factor without insignificant digits.
fn short(factor: f64) -> String {
    format!("{factor:.1}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Rounds to two digits, which is the accuracy of the estimate.
pub(super) fn rounded(ranks: f64) -> usize {
    let step = 10f64.powi((ranks.max(1.0).log10().floor() as i32 - 1).max(0));
    ((ranks / step).round() * step) as usize
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A row of a made-up run.
    pub(in crate::simulate) fn row(factor: f64, ranks: usize, utilisation: f64) -> Row {
        Row {
            scaling: Scaling::Weak,
            network: "InfiniBand".to_owned(),
            latency_us: 1.5,
            factor,
            node_us: 120.0 * factor,
            ranks,
            threads: 1,
            nodes: 1_000,
            work_s: ranks as f64,
            elapsed_s: 1.25,
            speed_up: 0.8 * ranks as f64,
            efficiency: 0.8,
            messages: 12_345,
            messages_per_s: 9_876.0,
            message_us: 1.2,
            utilisation,
            queueing_us: 25.0,
            queueing_most_us: 100.0,
            hunger_us: 900.0,
            hunger_ninth_us: 1_500.0,
            orders: 10,
            refused: 1,
            moved: 100,
        }
    }

    #[test]
    fn each_line_has_a_table_and_its_saturation_point() {
        let rows = [row(1.0, 10, 0.1), row(0.1, 10, 0.5), row(1.0, 100, 0.2), row(0.1, 100, 0.95)];
        let text = tables(&rows);
        assert_eq!(text.matches("Weak scaling").count(), 2, "{text}");
        assert!(text.contains("as recorded") && text.contains("10 times finer"), "{text}");
        assert!(text.contains("does not saturate") && text.contains("from about 46 ranks on"), "{text}");
    }

    #[test]
    fn ranks_are_rounded_to_two_digits() {
        assert_eq!((rounded(2_345.6), rounded(99.0), rounded(7.0), rounded(10_400.0)), (2_300, 99, 7, 10_000));
    }
}
