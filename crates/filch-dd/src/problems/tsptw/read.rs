//! Reads the text format.

use super::super::text::{Lines, ReadError};
use super::instance::{Tsptw, Window, MAX_PLACES};

/// Reads an instance from the bytes of a file; see the [format](super#the-format).
///
/// # Errors
///
/// If the file is not valid. The error is a sentence with the line.
pub fn read(bytes: &[u8]) -> Result<Tsptw, ReadError> {
    let mut lines = Lines::new(bytes, |text| text.starts_with(b"#"))?;
    let mut header = lines.expect("the line with the number of places")?;
    let places = header.number("the number of places", 1, MAX_PLACES as i64)? as usize;
    header.end("the number of places")?;

    // The numbers as written: the digits, and how many of them are decimals.
    let mut numbers: Vec<(i64, u32)> = Vec::new();
    for place in 1..=places {
        let mut row = lines.expect(&format!("the distances from place {place} of {places}"))?;
        for to in 1..=places {
            let distance = row.decimal(&format!("the distance from place {place} to place {to}"))?;
            numbers.push(if to == place { (0, 0) } else { distance });
        }
        row.end(&format!("the {places} distances from place {place}"))?;
    }
    for place in 1..=places {
        let mut line = lines.expect(&format!("the window of place {place} of {places}"))?;
        let opens = line.decimal(&format!("the time that the window of place {place} opens"))?;
        let closes = line.decimal(&format!("the time that the window of place {place} closes"))?;
        line.end(&format!("the window of place {place}"))?;
        if is_less(closes, opens) {
            return Err(
                line.error(format!("expected the window of place {place} to close after it opens, found the reverse"))
            );
        }
        numbers.extend([opens, closes]);
    }
    lines.finish(&format!("the windows of all {places} places"))?;

    let decimals = numbers.iter().map(|&(_, decimals)| decimals).max().unwrap_or(0);
    let mut units = Vec::with_capacity(numbers.len());
    for (digits, own) in numbers {
        match digits.checked_mul(10i64.pow(decimals - own)) {
            Some(number) => units.push(number),
            None => {
                let reason = format!("expected numbers with {decimals} decimals to fit in 64 bits, found larger ones");
                return Err(ReadError::whole_file(reason));
            }
        }
    }
    let windows = units.split_off(places * places);
    let windows = windows.chunks(2).map(|ends| Window { opens: ends[0], closes: ends[1] }).collect();
    Tsptw::new(units, windows, decimals).map_err(|wrong| ReadError::whole_file(wrong.0))
}

/// Compares two numbers with decimals.
fn is_less((a, a_decimals): (i64, u32), (b, b_decimals): (i64, u32)) -> bool {
    i128::from(a) * 10i128.pow(b_decimals) < i128::from(b) * 10i128.pow(a_decimals)
}
