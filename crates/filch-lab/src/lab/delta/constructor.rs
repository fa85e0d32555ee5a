//! The line of code that makes the delta of a finding.
//!
//! The queues of filch-queue make one of the x stores themselves. The line counts the others as
//! stores of the client.

use filch_queue::bound::Bound;

use super::Finding;

/// Returns the line of code for a finding; `None` if no delta is safe, or none that a constructor
/// gives.
pub(super) fn line(finding: &Finding, bound: usize) -> Option<String> {
    let client = client_stores(finding, bound)?;
    let s = match Bound::new(bound) {
        Ok(Bound::GENEROUS) => "Bound::GENEROUS".to_owned(),
        _ => format!("Bound::new({bound})?"),
    };
    Some(match client {
        0 => format!("let delta = Delta::new({s}, 1)?;"),
        _ => format!("let delta = unsafe {{ Delta::with_client_stores({s}, 1, {client})? }};"),
    })
}

/// The stores of the client to count, so that the delta is at least that of the finding.
///
/// It is more than that only if no number of stores gives that delta exactly.
fn client_stores(finding: &Finding, bound: usize) -> Option<usize> {
    let wanted = finding.delta(bound)?;
    // The most stores that the program makes besides that of the queue. A buffer that is emptied,
    // or a pop that is never followed by another, hides no more than one full of stores does.
    let most = match finding.stores {
        Some(stores) if !finding.drains() => usize::try_from(stores).ok()?.checked_sub(1)?.min(bound),
        _ => bound,
    };
    let delta = |client: usize| bound.div_ceil(client + 2) as u64;
    // More stores, smaller delta: the last that is not too small.
    let enough = |client: &usize| delta(*client) >= wanted;
    (0..=most).take_while(enough).last()
}

/// Describes the line, or says why there is none.
pub(super) fn text(finding: &Finding, bound: usize) -> String {
    if finding.delta(bound).is_none() {
        return String::new();
    }
    match line(finding, bound) {
        Some(line) => {
            let promise = match client_stores(finding, bound) {
                Some(client @ 1..) if finding.stores.is_some() && !finding.drains() => format!(
                    "\nThe queue makes 1 of the stores itself. The line promises that the program makes {} more, in every build that it is in.",
                    super::grouped(client)
                ),
                _ => String::new(),
            };
            format!(
                "For queues of filch-queue and the program above (use filch_queue::bound::{{Bound, Delta}}):\n\n    {line}\n{promise}\n",
            )
        }
        None => "No constructor of filch-queue makes this delta. With the place of the store of the tail, as in `NAME+0x1f`, it is smaller.\n\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Result;
    use filch_queue::bound::{Bound, Delta};

    use super::*;
    use crate::lab::delta::{CheapestPath, Place, DRAINS};

    /// Compiles a line of code. Returns it as tokens, with the delta that it makes.
    macro_rules! compiled {
        (let $delta:ident = $value:expr;) => {{
            let make = || -> Result<Delta> {
                let $delta = $value;
                Ok($delta)
            };
            let code = concat!("let ", stringify!($delta), " = ", stringify!($value), ";");
            (without_spaces(code), make().unwrap().get() as u64)
        }};
    }

    fn without_spaces(code: &str) -> String {
        code.split_whitespace().collect()
    }

    fn finding(stores: Option<u64>, is_store: bool) -> Finding {
        let path = stores.map(|stores| CheapestPath { stores: stores + 1, steps: Vec::new(), exit: None });
        let places = vec![Place { function: 0, address: 0, is_store }];
        Finding { places, other_copies: 0, stores, path, indirect_calls: 0, indirect_jumps: 0, library_calls: 0 }
    }

    #[test]
    #[expect(
        clippy::undocumented_unsafe_blocks,
        reason = "the code is compared with what is printed; no queue is made with these deltas"
    )]
    fn the_line_compiles_and_makes_the_delta_that_was_found() {
        let compiled = [
            (Some(1), true, 73, compiled! { let delta = Delta::new(Bound::new(73)?, 1)?; }),
            (Some(1), true, 128, compiled! { let delta = Delta::new(Bound::GENEROUS, 1)?; }),
            (
                Some(8),
                true,
                33,
                compiled! { let delta = unsafe { Delta::with_client_stores(Bound::new(33)?, 1, 7)? }; },
            ),
            (
                Some(3),
                true,
                128,
                compiled! { let delta = unsafe { Delta::with_client_stores(Bound::GENEROUS, 1, 2)? }; },
            ),
            // One call of a pop may count twice: ceil(73 / 4) + 1 = 20.
            (
                Some(4),
                false,
                76,
                compiled! { let delta = unsafe { Delta::with_client_stores(Bound::new(76)?, 1, 2)? }; },
            ),
            (
                Some(DRAINS),
                true,
                73,
                compiled! { let delta = unsafe { Delta::with_client_stores(Bound::new(73)?, 1, 73)? }; },
            ),
            (None, true, 73, compiled! { let delta = unsafe { Delta::with_client_stores(Bound::new(73)?, 1, 73)? }; }),
        ];
        for (stores, is_store, bound, (code, delta)) in compiled {
            let finding = finding(stores, is_store);
            let line = line(&finding, bound).unwrap();
            assert_eq!(without_spaces(&line), code, "{stores:?}");
            assert!(delta >= finding.delta(bound).unwrap(), "{line} makes {delta} for {stores:?}");
            assert!(!is_store || delta == finding.delta(bound).unwrap(), "{line} makes {delta} for {stores:?}");
            assert!(text(&finding, bound).contains(&line));
        }
    }

    #[test]
    fn no_line_promises_more_than_was_found() {
        for (bound, stores) in (1..=130).flat_map(|bound| (0..40).map(move |stores| (bound, stores))) {
            for is_store in [true, false] {
                let finding = finding(Some(stores), is_store);
                let Some(client) = client_stores(&finding, bound) else { continue };
                assert!(client < stores as usize, "{client} of {stores}");
                // SAFETY: no queue is made with it.
                let delta = unsafe { Delta::with_client_stores(Bound::new(bound).unwrap(), 1, client) }.unwrap();
                assert!(delta.get() as u64 >= finding.delta(bound).unwrap());
            }
        }
    }

    #[test]
    fn without_a_safe_delta_there_is_no_line() {
        let none = finding(Some(0), true);
        assert_eq!((line(&none, 73), text(&none, 73)), (None, String::new()));
        // One store and a call that may count twice: 37 + 1, more than any constructor gives.
        let late = finding(Some(1), false);
        assert_eq!(line(&late, 73), None);
        assert!(text(&late, 73).contains("NAME+0x1f"));
    }
}
