//! Every queue under loom: an owner, two thieves, all orders of their steps.
//!
//! The number of preemptions in an order is bounded.
//!
//! Each queue has its own bound; `FILCH_LOOM_PREEMPTIONS` replaces it.
#![cfg(loom)]

mod models;

use models::SUBJECTS;

fn preemptions() -> Option<usize> {
    std::env::var("FILCH_LOOM_PREEMPTIONS").ok().and_then(|value| value.parse().ok())
}

fn check(name: &str) {
    let subject = SUBJECTS.iter().find(|subject| subject.name == name).expect("there is no queue of that name");
    for &world in subject.worlds {
        let start = std::time::Instant::now();
        (subject.search)(world, preemptions().unwrap_or(subject.preemptions));
        eprintln!("{name} / {}: {:.1?}", world.name, start.elapsed());
    }
    for world in subject.own_worlds {
        let start = std::time::Instant::now();
        (world.search)(preemptions().unwrap_or(subject.preemptions));
        eprintln!("{name} / {}: {:.1?}", world.name, start.elapsed());
    }
}

macro_rules! every_order {
    ($($test:ident: $name:literal;)*) => {
        $(
            #[test]
            fn $test() {
                check($name);
            }
        )*

        #[test]
        fn no_queue_is_left_out() {
            assert!(SUBJECTS.iter().map(|subject| subject.name).eq([$($name),*]));
        }
    };
}

every_order! {
    chase_lev_gives_each_task_once: "chase_lev";
    the_gives_each_task_once: "the";
    asymmetric_gives_each_task_once: "asymmetric";
    bulk_gives_each_task_once: "bulk";
    fenced_ff_cl_gives_each_task_once: "ff_cl";
    fenced_ff_the_gives_each_task_once: "ff_the";
    fenced_thep_gives_each_task_once: "thep";
    unfenced_ff_cl_loses_nothing_without_any_bound: "ff_cl-untrusted";
    unfenced_ff_the_loses_nothing_without_any_bound: "ff_the-untrusted";
    unfenced_thep_loses_nothing_without_any_bound: "thep-untrusted";
    idempotent_lifo_loses_nothing: "idempotent::lifo";
    idempotent_fifo_loses_nothing: "idempotent::fifo";
    idempotent_double_ended_loses_nothing: "idempotent::double_ended";
}
