//! The tests of the x86-TSO paper that are not among the classic tests. The paper is *A better x86
//! memory model: x86-TSO* (Owens, Sarkar, Sewell). The tests come from Intel's white paper (`iwp`),
//! from AMD's manual (`amd`), and from the paper itself (`n`).
//!
//! A buffer adds one outcome each to `iwp2.4`, `n1`, `n6` and `n7`, and it adds outcomes to `amd3`.
//! The sets of outcomes come from the axioms of SC and x86-TSO, not from this machine.

use super::{Litmus, Needs};

pub(super) fn tests() -> Vec<Litmus> {
    vec![
        Litmus {
            name: "iwp2.3.b",
            about: "A thread reads its own store: `11` is all there is.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; a = X }\n\
                thread two { Y := 1; b = Y }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "11"),
            ],
        },
        Litmus {
            name: "iwp2.4",
            about: "Forwarding within a thread, also `amd9`: both see their own store before the other's, `1010` with any buffer.",
            text: "shared X, Y\n\
                ghost a, b, c, d\n\
                thread one { X := 1; a = X; b = Y }\n\
                thread two { Y := 1; c = Y; d = X }",
            shown: &["a", "b", "c", "d"],
            outcomes: &[
                (Needs::Nothing, "1011 1110 1111"),
                (Needs::Overtakes(1), "1010"),
            ],
        },
        Litmus {
            name: "amd10",
            about: "The same with fences: `1010` is forbidden.",
            text: "shared X, Y\n\
                ghost a, b, c, d\n\
                thread one { X := 1; fence; a = X; b = Y }\n\
                thread two { Y := 1; fence; c = Y; d = X }",
            shown: &["a", "b", "c", "d"],
            outcomes: &[
                (Needs::Nothing, "1011 1110 1111"),
            ],
        },
        Litmus {
            name: "iwp2.6",
            about: "Two stores to one word are seen in one order by all: `1221` and `2112` are forbidden everywhere.",
            text: "shared X\n\
                ghost a, b, c, d\n\
                thread one { X := 1 }\n\
                thread two { X := 2 }\n\
                thread three { a = X; b = X }\n\
                thread four { c = X; d = X }",
            shown: &["a", "b", "c", "d"],
            outcomes: &[
                (Needs::Nothing, "0000 0001 0002 0011 0012 0021 0022 0100 0101 0102 0111 0112 0121 0122 0200 0201 0202 0211 0212 \
                    0221 0222 1100 1101 1102 1111 1112 1121 1122 1200 1201 1202 1211 1212 1222 2100 2101 2102 2111 \
                    2121 2122 2200 2201 2202 2211 2212 2221 2222"),
            ],
        },
        Litmus {
            name: "iwp2.7",
            about: "All threads see locked instructions in one order, also `amd7`: `1010` is forbidden everywhere.",
            text: "shared X, Y\n\
                ghost a, b, c, d\n\
                thread one { swap(X, 1) }\n\
                thread two { swap(Y, 1) }\n\
                thread three { a = X; b = Y }\n\
                thread four { c = Y; d = X }",
            shown: &["a", "b", "c", "d"],
            outcomes: &[
                (Needs::Nothing, "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111"),
            ],
        },
        Litmus {
            name: "iwp2.8.b",
            about: "Stores are not reordered with locked instructions: `10` is forbidden everywhere.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { swap(X, 1); Y := 1 }\n\
                thread two { a = Y; b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "00 01 11"),
            ],
        },
        Litmus {
            name: "n1",
            about: "A load overtakes a store that another thread sees in its place: `012` with any buffer.",
            text: "shared X, Y\n\
                ghost a, b, c\n\
                thread one { X := 2; a = Y }\n\
                thread two { Y := 1; X := 1 }\n\
                thread three { b = X; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[
                (Needs::Nothing, "000 001 002 011 021 022 100 101 102 111 112 121 122"),
                (Needs::Overtakes(1), "012"),
            ],
        },
        Litmus {
            name: "n2",
            about: "Two chains of stores that meet in one word: `1210` is forbidden everywhere.",
            text: "shared X, Y, Z\n\
                ghost a, b, c, d\n\
                thread one { Y := 1; X := 1 }\n\
                thread two { X := 2; Z := 1 }\n\
                thread three { a = X; b = X }\n\
                thread four { c = Z; d = Y }",
            shown: &["a", "b", "c", "d"],
            outcomes: &[
                (Needs::Nothing, "0000 0001 0010 0011 0100 0101 0110 0111 0200 0201 0210 0211 1100 1101 1110 1111 1200 1201 1211 \
                    2100 2101 2110 2111 2200 2201 2210 2211"),
            ],
        },
        Litmus {
            name: "n3",
            about: "A locked instruction and a store are seen in one order by all: `101101` is forbidden everywhere.",
            text: "shared X, Y\n\
                ghost a, b, c, d, e, f\n\
                thread one { swap(X, 1) }\n\
                thread two { Y := 1 }\n\
                thread three { a = Y; b = X; c = X }\n\
                thread four { d = X; e = Y; f = Y }",
            shown: &["a", "b", "c", "d", "e", "f"],
            outcomes: &[
                (Needs::Nothing, "000000 000001 000011 000100 000101 000111 001000 001001 001011 001100 001101 001111 011000 \
                    011001 011011 011100 011101 011111 100000 100001 100011 100111 101000 101001 101011 101111 \
                    111000 111001 111011 111100 111101 111111"),
            ],
        },
        Litmus {
            name: "n4",
            about: "Loads around stores to one word: `2112` is forbidden everywhere.",
            text: "shared X\n\
                ghost a, b, c, d\n\
                thread one { a = X; X := 1; b = X }\n\
                thread two { c = X; X := 2; d = X }",
            shown: &["a", "b", "c", "d"],
            outcomes: &[
                (Needs::Nothing, "0101 0102 0112 0202 0212 2101 2102"),
            ],
        },
        Litmus {
            name: "n4b",
            about: "The heart of it: `21` is forbidden everywhere.",
            text: "shared X\n\
                ghost a, b\n\
                thread one { a = X; X := 1 }\n\
                thread two { b = X; X := 2 }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "00 01 20"),
            ],
        },
        Litmus {
            name: "n5",
            about: "Each reads the other's store to one word: `21` is forbidden everywhere.",
            text: "shared X\n\
                ghost a, b\n\
                thread one { X := 1; a = X }\n\
                thread two { X := 2; b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "11 12 22"),
            ],
        },
        Litmus {
            name: "n6",
            about: "Forwarding: a thread reads its own store, and another word's old value, and its store is the last all the same: `101` with any buffer.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; a = X; b = Y }\n\
                thread two { Y := 2; X := 2 }",
            shown: &["a", "b", "X"],
            outcomes: &[
                (Needs::Nothing, "102 121 122 222"),
                (Needs::Overtakes(1), "101"),
            ],
        },
        Litmus {
            name: "n7",
            about: "Forwarding, seen by a third: `1010` with any buffer.",
            text: "shared X, Y\n\
                ghost a, b, c, d\n\
                thread one { X := 1; a = X; b = Y }\n\
                thread two { Y := 1 }\n\
                thread three { c = Y; d = X }",
            shown: &["a", "b", "c", "d"],
            outcomes: &[
                (Needs::Nothing, "1000 1001 1011 1100 1101 1110 1111"),
                (Needs::Overtakes(1), "1010"),
            ],
        },
        Litmus {
            name: "amd3",
            about: "Store buffering with two stores each. What one load can overtake is found with any buffer, what takes both only where two fit or coalesce.",
            text: "shared X, Y\n\
                ghost a, b\n\
                thread one { X := 1; X := 2; a = Y }\n\
                thread two { Y := 1; Y := 2; b = X }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "02 12 20 21 22"),
                (Needs::Overtakes(1), "01 10 11"),
                (Needs::OvertakesOneWord(2), "00"),
            ],
        },
    ]
}
