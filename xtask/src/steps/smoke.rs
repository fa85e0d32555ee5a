//! The queue benchmark runs, and the JSON it writes is complete. Its times are not judged.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;

use anyhow::{bail, ensure, Context as _, Result};
use serde_json::Value;

use super::{Context, Outcome};

const IMPLS: [&str; 12] = [
    "chase_lev",
    "the",
    "ff_the",
    "ff_cl",
    "thep",
    "asymmetric",
    "idempotent::lifo",
    "idempotent::fifo",
    "idempotent::double_ended",
    "crossbeam-lifo",
    "crossbeam-fifo",
    "st3-lifo",
];

const CASES: [&str; 5] = ["burst-64", "push-then-pop", "pop-only", "steal", "push-under-theft"];

/// Runs the quick queue benchmark and checks its rows.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    let relative = context.target("smoke").join("queues.json");
    let file = context.root.join(&relative);
    // The file of an earlier run must not pass for this one's.
    match fs::remove_file(&file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("{} could not be removed", file.display()));
        }
        _ => {}
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("the folder {} could not be made", folder.display()))?;
    }
    context.cargo("run --release -p filch-lab -- bench queues --quick --json").arg(&relative).run()?;
    let json = fs::read_to_string(&file).with_context(|| format!("the benchmark did not write {}", file.display()))?;
    let rows = check(&json).with_context(|| format!("{} is not what it should be", file.display()))?;
    println!("{rows} rows, all queues and cases present");
    Ok(Outcome::Passed)
}

/// Checks every row, and that every queue and every case has some. Returns how many rows there are.
fn check(json: &str) -> Result<usize> {
    let rows: Value = serde_json::from_str(json).context("it is not valid JSON")?;
    let Some(rows) = rows.as_array() else {
        bail!("it must be an array of rows");
    };
    for (number, row) in rows.iter().enumerate() {
        check_row(row).with_context(|| format!("row {number}, {row}, is wrong"))?;
    }
    all_present(rows, "impl", &IMPLS)?;
    all_present(rows, "case", &CASES)?;
    Ok(rows.len())
}

fn check_row(row: &Value) -> Result<()> {
    for key in ["suite", "case", "impl", "unit"] {
        ensure!(row[key].as_str().is_some_and(|text| !text.is_empty()), "`{key}` must be a text that is not empty");
    }
    ensure!(row["suite"] == "queues", "`suite` must be `queues`");
    for key in ["threads", "rounds"] {
        ensure!(row[key].as_u64().is_some_and(|n| n > 0), "`{key}` must be a whole number above 0");
    }
    let time = |key: &str| match row[key].as_f64() {
        Some(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => bail!("`{key}` must be a finite number above 0"),
    };
    let (min, median, p90) = (time("min")?, time("median")?, time("p90")?);
    ensure!(min <= median && median <= p90, "`min`, `median` and `p90` must rise in this order");
    Ok(())
}

fn all_present(rows: &[Value], key: &str, expected: &[&str]) -> Result<()> {
    let present: BTreeSet<&str> = rows.iter().filter_map(|row| row[key].as_str()).collect();
    let missing: Vec<&str> = expected.iter().copied().filter(|name| !present.contains(name)).collect();
    ensure!(missing.is_empty(), "no row has the {key} {}", missing.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(case: &str, imp: &str) -> Value {
        json!({
            "suite": "queues", "case": case, "impl": imp, "threads": 1, "unit": "ns/op",
            "median": 2.5, "min": 2.0, "p90": 3.0, "rounds": 15
        })
    }

    fn all_rows() -> Vec<Value> {
        CASES.iter().flat_map(|case| IMPLS.iter().map(|imp| row(case, imp))).collect()
    }

    fn verdict(rows: Vec<Value>) -> Result<usize> {
        check(&Value::Array(rows).to_string())
    }

    #[test]
    fn a_complete_table_passes() {
        assert_eq!(verdict(all_rows()).unwrap(), 60);
    }

    #[test]
    fn a_missing_queue_or_case_is_named() {
        let no_thep = all_rows().into_iter().filter(|row| row["impl"] != "thep").collect();
        assert!(verdict(no_thep).unwrap_err().to_string().contains("thep"));
        let no_steal = all_rows().into_iter().filter(|row| row["case"] != "steal").collect();
        assert!(verdict(no_steal).unwrap_err().to_string().contains("steal"));
        assert!(verdict(Vec::new()).is_err());
    }

    #[test]
    fn a_bad_value_is_rejected_wherever_it_stands() {
        let bad = [
            ("suite", json!("graphs")),
            ("case", json!("")),
            ("impl", json!(7)),
            ("unit", Value::Null),
            ("threads", json!(0)),
            ("threads", json!(1.5)),
            ("rounds", json!(0)),
            ("median", json!(0.0)),
            ("median", json!(-1.0)),
            // A number that is not finite is written as null.
            ("min", Value::Null),
            ("p90", json!("3.0")),
            ("min", json!(2.75)),
            ("p90", json!(2.25)),
        ];
        for (key, value) in bad {
            let mut rows = all_rows();
            rows[31][key] = value.clone();
            let error = verdict(rows).expect_err(&format!("`{key}`: {value} should be rejected"));
            assert!(format!("{error:#}").contains(&format!("`{key}`")), "{error:#} does not name `{key}`");
        }
    }

    #[test]
    fn a_missing_key_is_rejected() {
        for key in ["suite", "case", "impl", "threads", "unit", "median", "min", "p90", "rounds"] {
            let mut rows = all_rows();
            rows[0].as_object_mut().unwrap().remove(key);
            assert!(verdict(rows).is_err(), "a row without `{key}` should be rejected");
        }
    }

    #[test]
    fn what_is_not_an_array_is_rejected() {
        assert!(check("{}").is_err());
        assert!(check("[{]").is_err());
        assert!(check("").is_err());
    }
}
