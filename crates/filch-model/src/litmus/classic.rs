//! The classic shapes, by their usual names.
//!
//! A buffer adds one kind of outcome: a load overtakes an older store of its thread. `SB`, `R`,
//! `RWC` and the tests that contain one of them have such outcomes. The others are the same as
//! under sequential consistency. The sets of outcomes come from the axioms of SC and x86-TSO, not
//! from this machine.

use super::{Litmus, Needs};

pub(super) fn tests() -> Vec<Litmus> {
    vec![
        Litmus {
            name: "SB",
            about: "Store buffering. Each load overtakes the store before it: `00` with any buffer, never without.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; a = Y }\n\
                thread two { Y := 1; b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "01 10 11"),
                (Needs::Overtakes(1), "00"),
            ],
        },
        Litmus {
            name: "SB+fences",
            about: "Fences on both sides forbid `00`. The test `amd5`.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; fence; a = Y }\n\
                thread two { Y := 1; fence; b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "01 10 11"),
            ],
        },
        Litmus {
            name: "SB+fence",
            about: "One fence is not enough: the other side's load overtakes.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; fence; a = Y }\n\
                thread two { Y := 1; b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "01 10 11"),
                (Needs::Overtakes(1), "00"),
            ],
        },
        Litmus {
            name: "SB+swaps",
            about: "Locked instructions in place of the stores forbid `00`. The test `iwp2.8.a`.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { swap(X, 1); a = Y }\n\
                thread two { swap(Y, 1); b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "01 10 11"),
            ],
        },
        Litmus {
            name: "SB+swap",
            about: "One locked instruction is not enough. The test `n8`, as corrected.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { swap(X, 1); a = Y }\n\
                thread two { Y := 1; b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "01 10 11"),
                (Needs::Overtakes(1), "00"),
            ],
        },
        Litmus {
            name: "SB+locked",
            about: "A locked instruction on any word is a fence.",
            text: "shared W, X, Y, Z\n\
                ghost a, b\n\
                thread one { X := 1; add(Z, 0); a = Y }\n\
                thread two { Y := 1; add(W, 0); b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "01 10 11"),
            ],
        },
        Litmus {
            name: "SB+fence+swap",
            about: "A fence on one side and a locked instruction on the other forbid `00`.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; fence; a = Y }\n\
                thread two { swap(Y, 1); b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "01 10 11"),
            ],
        },
        Litmus {
            name: "3.SB",
            about: "Store buffering around three threads: `000` with any buffer.",
            text: "shared X, Y, Z\n\
                ghost a, b, c\n\
                thread one { X := 1; a = Y }\n\
                thread two { Y := 1; b = Z }\n\
                thread three { Z := 1; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[
                (Needs::Nothing, "001 010 011 100 101 110 111"),
                (Needs::Overtakes(1), "000"),
            ],
        },
        Litmus {
            name: "3.SB+fences",
            about: "The same with fences: `000` is forbidden.",
            text: "shared X, Y, Z\n\
                ghost a, b, c\n\
                thread one { X := 1; fence; a = Y }\n\
                thread two { Y := 1; fence; b = Z }\n\
                thread three { Z := 1; fence; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[
                (Needs::Nothing, "001 010 011 100 101 110 111"),
            ],
        },
        Litmus {
            name: "MP",
            about: "Message passing. Stores leave in order and loads are made in order: `10` is forbidden everywhere. The tests `iwp2.1` and `amd1`.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; Y := 1 }\n\
                thread two { a = Y; b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "00 01 11"),
            ],
        },
        Litmus {
            name: "LB",
            about: "Load buffering. No load waits behind a later store: `11` is forbidden everywhere. The tests `iwp2.2` and `amd2`.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { a = X; Y := 1 }\n\
                thread two { b = Y; X := 1 }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "00 01 10"),
            ],
        },
        Litmus {
            name: "S",
            about: "A store after a load of `Y` comes after the stores before that one: `12` is forbidden everywhere.",
            text: "shared X, Y\n\
                ghost a\n\
                thread one { X := 2; Y := 1 }\n\
                thread two { a = Y; X := 1 }",
            shown: &["a", "X"],
            outcomes: &[
                (Needs::Nothing, "01 02 11"),
            ],
        },
        Litmus {
            name: "R",
            about: "A load overtakes the store that loses: `02` with any buffer.",
            text: "shared X, Y\n\
                ghost a\n\
                thread one { X := 1; Y := 1 }\n\
                thread two { Y := 2; a = X }",
            shown: &["a", "Y"],
            outcomes: &[
                (Needs::Nothing, "01 11 12"),
                (Needs::Overtakes(1), "02"),
            ],
        },
        Litmus {
            name: "R+fence",
            about: "A fence before the load forbids `02`.",
            text: "shared X, Y\n\
                ghost a\n\
                thread one { X := 1; Y := 1 }\n\
                thread two { Y := 2; fence; a = X }",
            shown: &["a", "Y"],
            outcomes: &[
                (Needs::Nothing, "01 11 12"),
            ],
        },
        Litmus {
            name: "R+fence before",
            about: "A fence between the two stores forbids nothing: `02` with any buffer.",
            text: "shared X, Y\n\
                ghost a\n\
                thread one { X := 1; fence; Y := 1 }\n\
                thread two { Y := 2; a = X }",
            shown: &["a", "Y"],
            outcomes: &[
                (Needs::Nothing, "01 11 12"),
                (Needs::Overtakes(1), "02"),
            ],
        },
        Litmus {
            name: "2+2W",
            about: "Two stores each way round. Buffers are first-in first-out: `11` is forbidden everywhere.",
            text: "shared X, Y\n\
                thread one { X := 1; Y := 2 }\n\
                thread two { Y := 1; X := 2 }",
            shown: &["X", "Y"],
            outcomes: &[
                (Needs::Nothing, "12 21 22"),
            ],
        },
        Litmus {
            name: "WRC",
            about: "Write to read causality: `110` is forbidden everywhere. The tests `iwp2.5` and `amd8`.",
            text: "shared X, Y\n\
                ghost a, b, c\n\
                thread one { X := 1 }\n\
                thread two { a = X; Y := 1 }\n\
                thread three { b = Y; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[
                (Needs::Nothing, "000 001 010 011 100 101 111"),
            ],
        },
        Litmus {
            name: "RWC",
            about: "Read to write causality. The third thread's load overtakes its store: `100` with any buffer.",
            text: "shared X, Y\n\
                ghost a, b, c\n\
                thread one { X := 1 }\n\
                thread two { a = X; b = Y }\n\
                thread three { Y := 1; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[
                (Needs::Nothing, "000 001 010 011 101 110 111"),
                (Needs::Overtakes(1), "100"),
            ],
        },
        Litmus {
            name: "RWC+fence",
            about: "A fence there forbids `100`.",
            text: "shared X, Y\n\
                ghost a, b, c\n\
                thread one { X := 1 }\n\
                thread two { a = X; b = Y }\n\
                thread three { Y := 1; fence; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[
                (Needs::Nothing, "000 001 010 011 101 110 111"),
            ],
        },
        Litmus {
            name: "ISA2",
            about: "Message passing over a middleman: `110` is forbidden everywhere.",
            text: "shared X, Y, Z\n\
                ghost a, b, c\n\
                thread one { X := 1; Y := 1 }\n\
                thread two { a = Y; Z := 1 }\n\
                thread three { b = Z; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[
                (Needs::Nothing, "000 001 010 011 100 101 111"),
            ],
        },
        Litmus {
            name: "W+RWC",
            about: "`RWC` with a message in front: `100` with any buffer.",
            text: "shared X, Y, Z\n\
                ghost a, b, c\n\
                thread one { X := 1; Y := 1 }\n\
                thread two { a = Y; b = Z }\n\
                thread three { Z := 1; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[
                (Needs::Nothing, "000 001 010 011 101 110 111"),
                (Needs::Overtakes(1), "100"),
            ],
        },
        Litmus {
            name: "IRIW",
            about: "Independent reads of independent writes. All see one order of the stores: `1010` is forbidden everywhere. The test `amd6`.",
            text: "shared X, Y\n\
                ghost a, b, c, d\n\
                thread one { X := 1 }\n\
                thread two { Y := 1 }\n\
                thread three { a = X; b = Y }\n\
                thread four { c = Y; d = X }",
            shown: &["a", "b", "c", "d"],
            outcomes: &[
                (Needs::Nothing, "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111"),
            ],
        },
    ]
}
