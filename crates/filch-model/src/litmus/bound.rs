//! Tests of the bound S. A load overtakes at most S stores of its own thread. With an egress slot
//! it overtakes one more, or any number.
//!
//! In all tests the first thread stores and then loads `Z`. The second thread sets `Z` to 1, passes
//! a fence, and then reads. If the load saw 0, it happened before the second thread read. So the
//! load has overtaken every store that the second thread does not see.

use super::{Litmus, Needs};

pub(super) fn tests() -> Vec<Litmus> {
    vec![
        Litmus {
            name: "overtake 1",
            about: "A load overtakes one store: `00` for S from 1.",
            text: "shared A, Z\n\
                ghost a, b\n\
                thread one { A := 1; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11"), (Needs::Overtakes(1), "00")],
        },
        Litmus {
            name: "overtake 2",
            about: "A load overtakes two stores to different words: `00` for S from 2, or 1 and the egress slot.",
            text: "shared A, B, Z\n\
                ghost a, b\n\
                thread one { A := 1; B := 1; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11"), (Needs::Overtakes(2), "00")],
        },
        Litmus {
            name: "overtake 3",
            about: "A load overtakes three stores to different words: `00` for S from 3, or 2 and the egress slot.",
            text: "shared A, B, C, Z\n\
                ghost a, b\n\
                thread one { A := 1; B := 1; C := 1; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11"), (Needs::Overtakes(3), "00")],
        },
        Litmus {
            name: "overtake 4",
            about: "A load overtakes four stores to different words: `00` for S from 4, or 3 and the egress slot.",
            text: "shared A, B, C, D, Z\n\
                ghost a, b\n\
                thread one { A := 1; B := 1; C := 1; D := 1; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11"), (Needs::Overtakes(4), "00")],
        },
        Litmus {
            name: "overtake 5",
            about: "A load overtakes five stores to different words: `00` for S from 5, or 4 and the egress slot.",
            text: "shared A, B, C, D, E, Z\n\
                ghost a, b\n\
                thread one { A := 1; B := 1; C := 1; D := 1; E := 1; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11"), (Needs::Overtakes(5), "00")],
        },
        Litmus {
            name: "overtake 6",
            about: "A load overtakes six stores to different words: `00` for S from 6, or 5 and the egress slot.",
            text: "shared A, B, C, D, E, F, Z\n\
                ghost a, b\n\
                thread one { A := 1; B := 1; C := 1; D := 1; E := 1; F := 1; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11"), (Needs::Overtakes(6), "00")],
        },
        Litmus {
            name: "one word",
            about: "A load overtakes as many of six stores to one word as S, and with an egress slot all of them: no bound is left.",
            text: "shared A, Z\n\
                ghost a, b\n\
                thread one { A := 1; A := 2; A := 3; A := 4; A := 5; A := 6; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "06 10 11 12 13 14 15 16"),
                (Needs::OvertakesOneWord(1), "05"),
                (Needs::OvertakesOneWord(2), "04"),
                (Needs::OvertakesOneWord(3), "03"),
                (Needs::OvertakesOneWord(4), "02"),
                (Needs::OvertakesOneWord(5), "01"),
                (Needs::OvertakesOneWord(6), "00"),
            ],
        },
        Litmus {
            name: "one word, parted",
            about: "Only neighbours coalesce: with a store to another word between them three stores are three, `00` for S from 3, or 2 and the egress slot.",
            text: "shared A, B, Z\n\
                ghost a, b\n\
                thread one { A := 1; B := 1; A := 2; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "02 10 11 12"),
                (Needs::Overtakes(1), "01"),
                (Needs::Overtakes(3), "00"),
            ],
        },
        Litmus {
            name: "one line",
            about: "Six stores to one line are overtaken by one load only where the egress slot holds a line: `000`. They may also leave one by one: `001` is found with any buffer.",
            text: "line { shared A, B, C, D, E, F }\n\
                shared Z\n\
                ghost a, b, c\n\
                thread one { A := 1; B := 1; C := 1; D := 1; E := 1; F := 1; a = Z }\n\
                thread two { Z := 1; fence; b = F; c = A }",
            shown: &["a", "b", "c"],
            outcomes: &[
                (Needs::Nothing, "011 100 101 111"),
                (Needs::OvertakesOneLine(1), "001"),
                (Needs::OvertakesOneLine(6), "000"),
            ],
        },
        Litmus {
            name: "one line, parted",
            about: "A store to another line separates two stores to a line: the first of them must be in memory, `00` for S from 3, or 2 and the egress slot.",
            text: "line { shared A, B }\n\
                shared C, Z\n\
                ghost a, b\n\
                thread one { A := 1; C := 1; B := 1; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "01 10 11"), (Needs::Overtakes(3), "00")],
        },
        Litmus {
            name: "MP on a line",
            about: "Stores to one line are seen in their order, together or not: `10` is forbidden everywhere.",
            text: "line { shared X, Y }\n\
                ghost a, b\n\
                thread one { X := 1; Y := 1 }\n\
                thread two { a = Y; b = X }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "00 01 11")],
        },
        Litmus {
            name: "a line again",
            about: "A word of a line is stored to twice with its neighbour in between: all three fit an egress slot that holds a line, `00`; `01`, by one store at a time, is found with any buffer.",
            text: "line { shared A, B }\n\
                shared Z\n\
                ghost a, b\n\
                thread one { A := 1; B := 1; A := 2; a = Z }\n\
                thread two { Z := 1; fence; b = A }",
            shown: &["a", "b"],
            outcomes: &[
                (Needs::Nothing, "02 10 11 12"),
                (Needs::OvertakesOneLine(1), "01"),
                (Needs::OvertakesOneLine(3), "00"),
            ],
        },
        Litmus {
            name: "MP over a full buffer",
            about: "Three words are seen to change in order however many stores wait: each of the loads that were made later sees at least as much.",
            text: "shared X, Y, Z\n\
                ghost a, b, c\n\
                thread one { X := 1; Y := 1; Z := 1 }\n\
                thread two { a = Z; b = Y; c = X }",
            shown: &["a", "b", "c"],
            outcomes: &[(Needs::Nothing, "000 001 011 111")],
        },
    ]
}
