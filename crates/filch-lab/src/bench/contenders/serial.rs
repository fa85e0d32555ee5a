//! No runtime: the baseline for the cost of a join.

use std::hint::black_box;

use anyhow::Result;

use super::{Contender, Context, Fork, Runtime};

/// Calls one closure after the other: the compiler sees plain recursion.
pub(crate) enum Serial {}

impl Fork for Serial {
    type Context<'a> = ();

    #[inline(always)]
    fn reborrow((): &mut ()) {}

    #[inline(always)]
    fn join<A, B, RA, RB>((): (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(()) -> RA,
        B: FnOnce(()) -> RB,
    {
        (a(()), b(()))
    }
}

/// The same recursion, with calls through function pointers that are opaque to the compiler.
///
/// This is the least that a join can cost: a closure that another thread may run cannot be inlined
/// into its caller either.
pub(crate) enum SerialCall {}

impl Fork for SerialCall {
    type Context<'a> = ();

    #[inline(always)]
    fn reborrow((): &mut ()) {}

    #[inline(always)]
    fn join<A, B, RA, RB>((): (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(()) -> RA,
        B: FnOnce(()) -> RB,
    {
        let (call_a, call_b): (fn(A) -> RA, fn(B) -> RB) = (call, call);
        (black_box(call_a)(a), black_box(call_b)(b))
    }
}

fn call<A: FnOnce(()) -> R, R>(closure: A) -> R {
    closure(())
}

macro_rules! serial_contender {
    ($contender:ident, $name:literal) => {
        impl Runtime for $contender {
            type Fork = $contender;
            type Pool = ();

            fn enter<R, W>((): &(), work: W) -> R
            where
                W: for<'a> FnOnce(Context<'a, Self>) -> R + Send,
                R: Send,
            {
                work(())
            }
        }

        impl Contender for $contender {
            const NAME: &'static str = $name;

            fn pool(_threads: usize) -> Result<()> {
                Ok(())
            }
        }
    };
}

serial_contender!(Serial, "serial");
serial_contender!(SerialCall, "serial-call");

/// Runs serially and counts the joins.
///
/// It is not measured; figures are divided by its count.
pub(crate) enum Counting {}

impl Fork for Counting {
    type Context<'a> = &'a mut u64;

    fn reborrow<'a>(context: &'a mut &mut u64) -> &'a mut u64 {
        context
    }

    fn join<A, B, RA, RB>(joins: &mut u64, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut u64) -> RA,
        B: FnOnce(&mut u64) -> RB,
    {
        *joins += 1;
        (a(joins), b(joins))
    }
}
