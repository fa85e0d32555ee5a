//! Counts the fewest stores that a compiled program makes between two pops.
//!
//! This is "Determining delta" in section 4 of *Fence-Free Work Stealing on Bounded TSO
//! Processors*.
//!
//! A pop stores the tail, and the store buffer hides at most S stores. If the program makes x
//! further stores between two pops, at most ceil(S / (x + 1)) pops are hidden. The fewest stores
//! between two pops are the stores on the cheapest path, over the control flow of the program, from
//! the pop to itself.
//!
//! If only the function is given, the path is from its entry to its entry. One of its stores is the
//! store of the tail, so x is one less. That is right if a single instruction stores the tail, at
//! most once in a call. A function that may store something again without passing its entry is
//! refused. And delta is one more: the store may come late in one call and early in the next, for
//! example if it is in a function that is called from two places.
//!
//! If the place of that store is given, as `SYMBOL+0x1f`, the path is from that place to itself. It
//! can be longer, and it needs no such allowance: a pop that finds nothing may return before it
//! gets there. The compiler may have made several copies of the pop. Then all their places are
//! given, and the path is from any of them to any.
//!
//! All stores count, whatever their cache line: each takes an entry of its own. But consecutive
//! stores to one line may leave the buffer as a single store. So a delta is valid only if at least
//! one store between two pops goes to a line other than the tail's. The queues here make one. Code
//! does not tell which line a store goes to.

mod blocks;
mod cheapest_path;
mod constructor;
mod program;
mod repeated_pop;
mod show;

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::{bail, Context, Result};
use clap::Args;
use filch_queue::bound::Bound;

use crate::figures::{self, grouped};
use crate::print;
use blocks::{Code, End, DRAINS};
use cheapest_path::CheapestPath;
use program::Program;

/// Compute delta for a compiled program, from the fewest stores between two pops.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The compiled program.
    binary: PathBuf,

    /// The function that pops, or part of its name, or places such as NAME+0x1f.
    ///
    /// With an offset, it is the place in the function that stores the tail. If the compiler made
    /// several copies of the pop, give all such places.
    #[arg(required = true, value_name = "SYMBOL")]
    symbols: Vec<String>,

    /// The bound S: the most stores that a load may overtake.
    ///
    /// `filch-lab lab store-buffer` measures it. The default is more than any known CPU has.
    #[arg(long, value_name = "N", value_parser = bound, default_value_t = Bound::GENEROUS.get())]
    bound: usize,

    /// Also write the result to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn bound(text: &str) -> Result<usize, String> {
    let stores = text.parse().map_err(|_| "not a number of stores; an example is 73".to_owned())?;
    Bound::new(stores).map(Bound::get).map_err(|error| error.to_string())
}

/// The location of a pop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// The index of the function that contains it.
    function: usize,
    /// The address of the store of the tail, or of the beginning of the function.
    address: u64,
    /// Whether `address` is the address of the store.
    is_store: bool,
}

/// The result of a search.
#[derive(Debug)]
struct Finding {
    /// Where the program pops.
    places: Vec<Place>,
    /// The number of functions with the same name that were not given.
    other_copies: usize,
    /// The fewest stores between two pops (x), or `None` if no path leads back.
    stores: Option<u64>,
    /// The path with the fewest stores.
    path: Option<CheapestPath>,
    /// The number of calls with an unknown target.
    indirect_calls: usize,
    /// The number of jumps with an unknown target.
    indirect_jumps: usize,
    /// The number of calls of library functions.
    library_calls: usize,
}

impl Finding {
    /// Returns how many pops may be hidden, or `None` if no number is safe.
    fn delta(&self, bound: usize) -> Option<u64> {
        match self.stores {
            Some(0) => None,
            Some(stores) => Some((bound as u64).div_ceil(stores.saturating_add(1)) + self.extra_pop()),
            None => Some(1),
        }
    }

    /// The extra store of the tail that entry-to-entry paths allow.
    ///
    /// The store may come late in the first path and early in the last. So a run of such paths can
    /// contain one more store of the tail than it has whole paths.
    fn extra_pop(&self) -> u64 {
        u64::from(self.places.iter().any(|place| !place.is_store))
    }

    /// Whether every path passes an instruction that empties the buffer.
    fn drains(&self) -> bool {
        self.stores.is_some_and(|stores| stores >= DRAINS / 2)
    }
}

fn search(program: &Program, symbols: &[impl AsRef<str>]) -> Result<Finding> {
    let mut places: Vec<Place> = Vec::new();
    for symbol in symbols {
        let place = place(program, symbol.as_ref())?;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    if let (2.., Some(place)) = (places.len(), places.iter().find(|place| !place.is_store)) {
        bail!("with several pops, each needs the place of its store of the tail; {}", advice(program, place.function));
    }

    let addresses: Vec<u64> = places.iter().map(|place| place.address).collect();
    let code = Code::new(program, &addresses);
    let mut blocks = HashSet::new();
    for place in &places {
        let name = described(program, place);
        let block = code.starting_at(place.address).with_context(|| format!("no instruction begins at `{name}`"))?;
        if place.is_store && code.blocks[block].stores == 0 {
            bail!("the instruction at `{name}` stores nothing, so it is not the store of the tail");
        }
        let repeated = if place.is_store { None } else { repeated_pop::reason(program, &code, block) };
        if let Some(reason) = repeated {
            bail!("one call of `{name}` may pop more than once: {reason}; {}", advice(program, place.function));
        }
        blocks.insert(block);
    }
    let path = cheapest_path::find(program, &code, &blocks);
    if let (None, Some(place)) = (&path, places.iter().find(|place| !place.is_store)) {
        bail!(
            "no path back to the beginning of `{name}` was found; {}",
            advice(program, place.function),
            name = program.functions[place.function].name()
        );
    }
    let given = |function: usize| places.iter().any(|place| place.function == function);
    let is_copy = |function: usize| {
        let is_same =
            |place: &Place| program::are_copies(&program.functions[place.function], &program.functions[function]);
        !given(function) && places.iter().any(is_same)
    };
    let other_copies = (0..program.functions.len()).filter(|&function| is_copy(function)).count();
    let count = |ends: &[End]| code.blocks.iter().filter(|block| ends.contains(&block.end)).count();
    Ok(Finding {
        places,
        other_copies,
        // One of the stores on the path is the store of the tail: at the place, or somewhere in the
        // function.
        stores: path.as_ref().map(|path| path.stores.saturating_sub(1)),
        indirect_calls: count(&[End::CallsUnknown]),
        indirect_jumps: count(&[End::JumpsUnknown]),
        library_calls: count(&[End::CallsLibrary, End::JumpsToLibrary]),
        path,
    })
}

/// Returns the place that a symbol stands for.
fn place(program: &Program, symbol: &str) -> Result<Place> {
    let (name, offset) = split_offset(symbol)?;
    let function = program.find(name, offset.is_some())?;
    let range = program.functions[function].range.clone();
    let address = range.start.saturating_add(offset.unwrap_or(0));
    if !range.contains(&address) {
        bail!("`{name}` has {} bytes, so `{symbol}` is not in it", range.end - range.start);
    }
    Ok(Place { function, address, is_store: offset.is_some() })
}

/// The advice to give the place of the store of the tail.
fn advice(program: &Program, function: usize) -> String {
    let function = &program.functions[function];
    let places = blocks::tail_store_candidates(program, function);
    if places.is_empty() {
        return "give the place of the store of the tail, as in `NAME+0x1f`: it is in a function that this one calls"
            .to_owned();
    }
    let shown = |address: &u64| format!("{}+{:#x}", function.name(), address - function.range.start);
    format!("give the place of the store of the tail, perhaps one of these:{}", program::list(&places, shown))
}

/// Formats a place the way it is given on the command line.
fn described(program: &Program, place: &Place) -> String {
    let function = &program.functions[place.function];
    match place.is_store {
        true => format!("{}+{:#x}", function.name(), place.address - function.range.start),
        false => function.name().to_owned(),
    }
}

/// Splits a symbol into its name and an optional offset into the function.
fn split_offset(symbol: &str) -> Result<(&str, Option<u64>)> {
    let Some((name, offset)) = symbol.rsplit_once("+0x") else { return Ok((symbol, None)) };
    let offset = u64::from_str_radix(offset, 16)
        .with_context(|| format!("`+0x{offset}` is not an offset in a function; an example is `+0x1f`"))?;
    Ok((name, Some(offset)))
}

/// Runs `filch-lab lab delta`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { binary, symbols, bound, json } = arguments;
    json.iter().try_for_each(|path| figures::check_writable(path))?;
    let program = Program::read(binary)?;
    let finding = search(&program, symbols).with_context(|| binary.display().to_string())?;
    if let Some(path) = json {
        figures::write_json(path, &show::json(&program, &finding, *bound, binary))?;
    }
    print(&show::text(&program, &finding, *bound))
}

#[cfg(test)]
mod tests;
