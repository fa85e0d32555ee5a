//! Splits a text into tokens.

use std::fmt;

use super::SyntaxError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name(String),
    Number(i16),
    /// One of `SIGNS`.
    Sign(&'static str),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Name(name) => f.write_str(name),
            Kind::Number(number) => write!(f, "{number}"),
            Kind::Sign(sign) => f.write_str(sign),
        }
    }
}

/// A token and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) line: usize,
}

/// Longer signs come first, so that `..=` is not read as `..`.
const SIGNS: [&str; 29] = [
    "..=", "..", ":=", "==", "!=", "<=", ">=", "&&", "||", "{", "}", "(", ")", "[", "]", ",", ";", "=", "<", ">", "+",
    "-", "*", "/", "%", "!", ":", "&", "|",
];

/// Returns the tokens of a text. A comment goes from `//` to the end of its line.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut tokens = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let mut rest = line.split("//").next().unwrap_or_default().trim_start();
        while !rest.is_empty() {
            let (kind, length) = first(rest, number)?;
            tokens.push(Token { kind, line: number });
            rest = rest[length..].trim_start();
        }
    }
    Ok(tokens)
}

fn first(text: &str, line: usize) -> Result<(Kind, usize), SyntaxError> {
    let word = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let number = text[..word].parse();
        let number = number.map_err(|_| SyntaxError::new(line, format!("`{}` is not a number", &text[..word])))?;
        return Ok((Kind::Number(number), word));
    }
    if word > 0 {
        return Ok((Kind::Name(text[..word].to_owned()), word));
    }
    match SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        Some(sign) => Ok((Kind::Sign(sign), sign.len())),
        None => Err(SyntaxError::new(line, format!("`{text}` is not part of the language"))),
    }
}
