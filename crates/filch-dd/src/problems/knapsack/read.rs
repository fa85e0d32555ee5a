//! Reads the text format.

use super::super::count;
use super::super::text::{quoted, Lines, ReadError};
use super::{Item, Knapsack};

/// Reads an instance from the bytes of a file; see the [format](super#the-format).
///
/// # Errors
///
/// If the file is not valid. The error is a sentence with the line.
pub fn read(bytes: &[u8]) -> Result<Knapsack, ReadError> {
    let mut lines = Lines::new(bytes, |text| text.starts_with(b"#"))?;
    let mut header = lines.expect("the line with the number of items and the capacity")?;
    let promised = header.number("the number of items", 0, u32::MAX.into())? as usize;
    let capacity = header.number("the capacity of the sack", 0, i64::MAX)?;
    header.end("the number of items and the capacity")?;

    // Grows with the lines that exist: the header is not trusted.
    let mut items = Vec::new();
    while items.len() < promised {
        let Some(mut line) = lines.next() else {
            let promised = count(promised as u64, "item", "items");
            return Err(header.error(format!("expected {promised}, as this line says, found {}", items.len())));
        };
        let profit = line.number("the profit of the item", 0, i64::MAX)?;
        let weight = line.number("the weight of the item", 0, i64::MAX)?;
        line.end("the profit and the weight of the item")?;
        items.push(Item { profit, weight });
    }

    let mut choices = 0;
    for mut line in &mut lines {
        while let Some(word) = line.word() {
            choices += 1;
            if !matches!(word, b"0" | b"1") || choices > promised {
                let (promised, word) = (count(promised as u64, "item", "items"), quoted(word));
                return Err(line.error(format!(
                    "expected the end of the file, or a 0 or a 1 for each of {promised}, found \"{word}\""
                )));
            }
        }
    }
    if choices != 0 && choices != promised {
        let items = count(promised as u64, "item", "items");
        return Err(lines.end(&format!("a 0 or a 1 for each of {items}")));
    }
    Knapsack::new(capacity, items).map_err(|wrong| ReadError::whole_file(wrong.0))
}
