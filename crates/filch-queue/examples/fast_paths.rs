//! The push and the pop of every queue, each as a function with a name for a disassembler.
//!
//! The fast paths should be a few plain loads and stores. `fast_path_<queue>_push` and
//! `fast_path_<queue>_pop`, built in release mode, show whether they are:
//!
//! - The owners of `ff_the`, `ff_cl`, `thep`, `asymmetric` and the idempotent queues have no fence
//!   and no locked instruction, except in the cold paths that they call.
//! - `chase_lev`, `the` and `bulk` have one such instruction in a pop and none in a push. They show
//!   what it looks like.
//!
//! ```text
//! cargo build --release -p filch-queue --example fast_paths
//! objdump --no-show-raw-insn --disassemble=fast_path_ff_cl_pop target/release/examples/fast_paths
//! ```

use std::arch::asm;
use std::hint::black_box;

use filch_queue::bound::{Bound, Delta, Trusted};
use filch_queue::idempotent::{double_ended, fifo, lifo};
use filch_queue::{asymmetric, bulk, chase_lev, ff_cl, ff_the, the, thep};

/// Makes each function unique, without an instruction.
///
/// The compiler would merge functions with the same code.
macro_rules! make_unique {
    ($name:ident) => {
        // SAFETY: the block is only a comment of the assembler.
        unsafe { asm!(concat!("/* ", stringify!($name), " */"), options(nomem, nostack, preserves_flags)) }
    };
}

macro_rules! fast_paths {
    ($($push:ident, $pop:ident: $owner:ty;)+) => {$(
        /// The owner's push.
        #[no_mangle]
        #[inline(never)]
        pub fn $push(owner: &$owner, task: usize) {
            make_unique!($push);
            owner.push(task);
        }

        /// The owner's pop.
        #[no_mangle]
        #[inline(never)]
        pub fn $pop(owner: &$owner) -> Option<usize> {
            make_unique!($pop);
            owner.pop()
        }
    )+};
}

fast_paths! {
    fast_path_chase_lev_push, fast_path_chase_lev_pop: chase_lev::Owner<usize>;
    fast_path_the_push, fast_path_the_pop: the::Owner<usize>;
    fast_path_bulk_push, fast_path_bulk_pop: bulk::Owner<usize>;
    fast_path_ff_the_push, fast_path_ff_the_pop: ff_the::Owner<usize, Trusted>;
    fast_path_ff_cl_push, fast_path_ff_cl_pop: ff_cl::Owner<usize, Trusted>;
    fast_path_thep_push, fast_path_thep_pop: thep::Owner<usize, Trusted>;
    fast_path_asymmetric_push, fast_path_asymmetric_pop: asymmetric::Owner<usize>;
    fast_path_idempotent_lifo_push, fast_path_idempotent_lifo_pop: lifo::Owner<usize>;
    fast_path_idempotent_fifo_push, fast_path_idempotent_fifo_pop: fifo::Owner<usize>;
    fast_path_idempotent_double_ended_push, fast_path_idempotent_double_ended_pop: double_ended::Owner<usize>;
}

/// Pushes two tasks and pops one.
///
/// `black_box` hides the functions, so that the compiler keeps both and does not inline them.
fn run<O>(name: &str, (owner, _thief): (O, impl Sized), push: fn(&O, usize), pop: fn(&O) -> Option<usize>) {
    let (owner, push, pop) = (black_box(&owner), black_box(push), black_box(pop));
    push(owner, 1);
    push(owner, 2);
    println!("{name}: {:?}", pop(owner));
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let delta = Delta::new(Bound::GENEROUS, 1)?;
    // SAFETY: the bound is above the store buffer of every known CPU, and no thief is at work.
    let trusted = unsafe { (ff_the::new_trusted(delta), ff_cl::new_trusted(delta), thep::new_trusted(delta)) };
    run("chase_lev", chase_lev::new(), fast_path_chase_lev_push, fast_path_chase_lev_pop);
    run("the", the::new(), fast_path_the_push, fast_path_the_pop);
    run("bulk", bulk::new(), fast_path_bulk_push, fast_path_bulk_pop);
    run("ff_the", trusted.0, fast_path_ff_the_push, fast_path_ff_the_pop);
    run("ff_cl", trusted.1, fast_path_ff_cl_push, fast_path_ff_cl_pop);
    run("thep", trusted.2, fast_path_thep_push, fast_path_thep_pop);
    run("asymmetric", asymmetric::new(), fast_path_asymmetric_push, fast_path_asymmetric_pop);
    run("idempotent::lifo", lifo::new(), fast_path_idempotent_lifo_push, fast_path_idempotent_lifo_pop);
    run("idempotent::fifo", fifo::new(), fast_path_idempotent_fifo_push, fast_path_idempotent_fifo_pop);
    run(
        "idempotent::double_ended",
        double_ended::new(),
        fast_path_idempotent_double_ended_push,
        fast_path_idempotent_double_ended_pop,
    );
    Ok(())
}
