use super::*;

fn after_hellos(ranks: usize) -> Coordinator {
    let mut coordinator = Coordinator::new(ranks, 5, Policy::default());
    let mut out = Vec::new();
    for rank in 0..ranks {
        let hello = Hello { version: VERSION, identity: 5, threads: 1 };
        coordinator.handle(rank, ToCoordinator::Hello(hello), &mut out);
    }
    assert_eq!(out, []);
    coordinator
}

#[test]
fn a_rank_with_another_build_or_instance_is_refused_and_named() {
    for (hello, expected) in [
        (Hello { version: VERSION + 1, identity: 5, threads: 1 }, "rank 1 uses version"),
        (Hello { version: VERSION, identity: 6, threads: 1 }, "rank 1 is to solve something else"),
    ] {
        let (mut coordinator, mut out) = (Coordinator::new(2, 5, Policy::default()), Vec::new());
        coordinator.handle(1, ToCoordinator::Hello(hello), &mut out);
        assert!(coordinator.failure().is_some_and(|why| why.contains(expected)), "{:?}", coordinator.failure());
        assert!(matches!(&out[..], [(Destination::All, ToMember::Failed(_))]));
        assert!(coordinator.is_over());
    }
    let (mut coordinator, mut out) = (Coordinator::new(2, 5, Policy::default()), Vec::new());
    coordinator.handle(1, ToCoordinator::Idle { explored: 0 }, &mut out);
    assert!(coordinator.failure().is_some_and(|why| why.contains("rank 1")));
}

#[test]
fn the_bound_falls_only_when_all_better_nodes_are_done() {
    let (mut coordinator, mut out) = (after_hellos(2), Vec::new());
    assert_eq!(coordinator.bound(), Some(Cost::MAX), "no rank has reported");
    coordinator.handle(0, ToCoordinator::Status(Status { open: 100, explored: 1, bound: Some(50) }), &mut out);
    assert_eq!(coordinator.bound(), Some(Cost::MAX), "rank 1 has not reported");
    coordinator.handle(1, ToCoordinator::Idle { explored: 0 }, &mut out);
    assert_eq!(coordinator.bound(), Some(50));
    assert!(matches!(out[..], [(Destination::Rank(0), ToMember::Give { order: 1, to: 1, .. })]));
    coordinator.handle(0, ToCoordinator::Status(Status { open: 50, explored: 2, bound: Some(40) }), &mut out);
    assert_eq!(coordinator.bound(), Some(50), "the better half may be in transit");
    coordinator.handle(1, ToCoordinator::Received { order: 1, nodes: 50, bound: Some(45) }, &mut out);
    assert_eq!(coordinator.bound(), Some(45));
    coordinator.handle(1, ToCoordinator::Status(Status { open: 50, explored: 1, bound: Some(39) }), &mut out);
    assert_eq!((coordinator.bound(), coordinator.open(), coordinator.explored()), (Some(40), 100, 3));
}

#[test]
fn nodes_of_an_earlier_run_are_dealt_to_all_ranks_and_stay_outstanding() {
    let (mut coordinator, mut out) = (Coordinator::new(2, 5, Policy::default()), Vec::new());
    let package = |bound| Package::new(1, bound, Vec::new());
    coordinator.deal(vec![package(1), package(3), package(2)], None, &mut out);
    let nodes = |order, bounds: &[Cost]| ToMember::Nodes {
        order,
        packages: bounds.iter().copied().map(package).collect(),
        last: true,
    };
    assert_eq!(out, [(Destination::Rank(0), nodes(1, &[3, 1])), (Destination::Rank(1), nodes(2, &[2]))]);
    out.clear();
    for rank in 0..2 {
        let hello = Hello { version: VERSION, identity: 5, threads: 1 };
        coordinator.handle(rank, ToCoordinator::Hello(hello), &mut out);
        coordinator.handle(rank, ToCoordinator::Idle { explored: 0 }, &mut out);
    }
    assert_eq!((out, coordinator.bound()), (vec![], Some(3)), "all ranks are idle, but the dealt nodes are in transit");
}
