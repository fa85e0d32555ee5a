//! Coherence: the order in which all threads see the values of a single word. No buffer changes it.

use super::{Litmus, Needs};

pub(super) fn tests() -> Vec<Litmus> {
    vec![
        Litmus {
            name: "CoRR",
            about: "Two loads of one word do not go back: `10` is forbidden everywhere.",
            text: "shared X\n\
                ghost a, b\n\
                thread one { X := 1 }\n\
                thread two { a = X; b = X }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "00 01 11")],
        },
        Litmus {
            name: "CoRR2",
            about: "Stores of one thread to one word are seen in order: `21`, `20` and `10` are forbidden everywhere.",
            text: "shared X\n\
                ghost a, b\n\
                thread one { X := 1; X := 2 }\n\
                thread two { a = X; b = X }",
            shown: &["a", "b"],
            outcomes: &[(Needs::Nothing, "00 01 02 11 12 22")],
        },
        Litmus {
            name: "CoWW",
            about: "The later of two stores is the last.",
            text: "shared X\n\
                thread one { X := 1; X := 2 }",
            shown: &["X"],
            outcomes: &[(Needs::Nothing, "2")],
        },
        Litmus {
            name: "CoRW",
            about: "A load does not see a later store of its own thread.",
            text: "shared X\n\
                ghost a\n\
                thread one { a = X; X := 1 }",
            shown: &["a", "X"],
            outcomes: &[(Needs::Nothing, "01")],
        },
        Litmus {
            name: "CoRW2",
            about: "A store after a load comes after what the load saw: `22` is forbidden everywhere.",
            text: "shared X\n\
                ghost a\n\
                thread one { a = X; X := 1 }\n\
                thread two { X := 2 }",
            shown: &["a", "X"],
            outcomes: &[(Needs::Nothing, "01 02 21")],
        },
        Litmus {
            name: "CoWR",
            about: "A load sees its own store or what came after it: `21` is forbidden everywhere.",
            text: "shared X\n\
                ghost a\n\
                thread one { X := 1; a = X }\n\
                thread two { X := 2 }",
            shown: &["a", "X"],
            outcomes: &[(Needs::Nothing, "11 12 22")],
        },
        Litmus {
            name: "CoWR newest",
            about: "A load sees the newest of its own stores, in memory or not.",
            text: "shared X\n\
                ghost a\n\
                thread one { X := 1; X := 2; a = X }",
            shown: &["a", "X"],
            outcomes: &[(Needs::Nothing, "22")],
        },
    ]
}
