//! Locked instructions, the lock that they stand for, and the process-wide barrier.
//!
//! A locked instruction empties the buffer, and so does a section under the lock. So both forbid
//! what a buffer allows. A barrier is a fence in every other thread. For a store that came before
//! the barrier, it has the effect of a fence in the storing thread.

use super::{Litmus, Needs};

pub(super) fn tests() -> Vec<Litmus> {
    vec![
        Litmus {
            name: "Dekker",
            about: "Two threads that each raise a flag and look at the other's both enter with any buffer: `11`.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; if Y == 0 { a = 1 } }\n\
                thread two { Y := 1; if X == 0 { b = 1 } }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "00 01 10"), (Needs::Overtakes(1), "11")],
        },
        Litmus {
            name: "Dekker+swaps",
            about: "With flags that are raised by locked instructions at most one enters everywhere.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { swap(X, 1); if Y == 0 { a = 1 } }\n\
                thread two { swap(Y, 1); if X == 0 { b = 1 } }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "00 01 10")],
        },
        Litmus {
            name: "SB+locks",
            about: "Stores under the lock of the memory subsystem are in memory when it is given back: `00` is forbidden everywhere.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { lock; X := 1; unlock; a = Y }\n\
                thread two { lock; Y := 1; unlock; b = X }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11")],
        },
        Litmus {
            name: "SB in locks",
            about: "Whole threads under the lock run one after the other: only `01` and `10`, everywhere.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { lock; X := 1; a = Y; unlock }\n\
                thread two { lock; Y := 1; b = X; unlock }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10")],
        },
        Litmus {
            name: "adds",
            about: "Two locked additions: none is lost, and one comes first.",
            text: "shared X\n\
                ghost a, b\n\
                thread one { a = add(X, 1) }\n\
                thread two { b = add(X, 1) }",
            shown: &["a", "b", "X"],
            outcomes: &[(Needs::Nothing, "012 102")],
        },
        Litmus {
            name: "unlocked adds",
            about: "Two additions by load and store lose one of them everywhere: `001`.",
            text: "shared X\n\
                ghost a, b\n\
                thread one { x = X; a = x; X := x + 1 }\n\
                thread two { y = X; b = y; X := y + 1 }",
            shown: &["a", "b", "X"],
            outcomes: &[(Needs::Nothing, "001 012 102")],
        },
        Litmus {
            name: "locked adds",
            about: "The same under the lock: none is lost.",
            text: "shared X\n\
                ghost a, b\n\
                thread one { lock; x = X; a = x; X := x + 1; unlock }\n\
                thread two { lock; y = X; b = y; X := y + 1; unlock }",
            shown: &["a", "b", "X"],
            outcomes: &[(Needs::Nothing, "012 102")],
        },
        Litmus {
            name: "two compare-and-swaps",
            about: "Of two compare-and-swaps that expect the same exactly one succeeds.",
            text: "shared X\n\
                ghost a, b\n\
                thread one { a = cas(X, 0, 1) }\n\
                thread two { b = cas(X, 0, 2) }",
            shown: &["a", "b", "X"],
            outcomes: &[(Needs::Nothing, "101 012")],
        },
        Litmus {
            name: "SB+failed compare-and-swap",
            about: "A compare-and-swap that fails empties the buffer too: `00` is forbidden everywhere.",
            text: "shared X, Y, Z\n\
                ghost a, b\n\
                thread one { X := 1; cas(Z, 5, 6); a = Y }\n\
                thread two { Y := 1; cas(Z, 5, 6); b = X }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11")],
        },
        Litmus {
            name: "compare-and-swap past a hidden store",
            about: "A compare-and-swap finds what memory holds, not what another thread's buffer does: with any buffer it succeeds although that thread has stored and looked, `101`.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; b = Y }\n\
                thread two { Y := 1; a = cas(X, 0, 2) }",
            shown: &["a", "b", "X"],
            outcomes: &[(Needs::Nothing, "001 011 111"), (Needs::Overtakes(1), "101")],
        },
        Litmus {
            name: "mutex",
            about: "The holder of a mutex sees its data whole: `01` and `10` are forbidden everywhere, although a plain store releases the mutex.",
            text: "shared M, X, Y\n\
                ghost a, b\n\
                thread one { acquire M; X := 1; Y := 1; M := 0 }\n\
                thread two { acquire M; a = Y; b = X; M := 0 }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "00 11")],
        },
        Litmus {
            name: "SB+barrier",
            about: "A barrier on one side is a fence on both: `00` is forbidden everywhere, although the first thread has none.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; a = Y }\n\
                thread two { Y := 1; barrier; b = X }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11")],
        },
        Litmus {
            name: "SB+barrier before",
            about: "A barrier before the store does nothing for it: `00` with any buffer.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; a = Y }\n\
                thread two { barrier; Y := 1; b = X }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11"), (Needs::Overtakes(1), "00")],
        },
        Litmus {
            name: "3.SB+barrier",
            about: "A barrier is a fence in every other thread, but orders only its issuer with each of them: the other two still miss each other with any buffer, `x00`.",
            text: "shared X, Y, Z\n\
                ghost a, b, c\n\
                thread one { Z := 1; barrier; a = X }\n\
                thread two { X := 1; b = Y }\n\
                thread three { Y := 1; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[(Needs::Nothing, "001 010 011 101 110 111"), (Needs::Overtakes(1), "000 100")],
        },
        Litmus {
            name: "barriers both ways",
            about: "Two barriers at once do not wait for each other.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; barrier; a = Y }\n\
                thread two { Y := 1; barrier; b = X }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11")],
        },
        Litmus {
            name: "barrier, two stores",
            about: "A barrier waits for all that a buffer holds, not only for its oldest store: `00` is forbidden everywhere.",
            text: "shared X, Y, Z\n\
                ghost a, b\n\
                thread one { Z := 1; X := 1; a = Y }\n\
                thread two { Y := 1; barrier; b = X }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11")],
        },
    ]
}
