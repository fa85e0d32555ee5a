//! Traversals against their sequential references: every generator, every queue, up to eight
//! workers.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use filch::explore::{AtLeast, Cancel, Ending, Explore};
use filch::queue::{Asymmetric, Bound, ChaseLev, Delta, FfCl, FfThe, Kind, The, Thep};
use filch::queue::{DoubleEnded, Fifo, Lifo, UntrustedFfCl, UntrustedFfThe, UntrustedThep};
use filch::Pool;
use filch_graph::generate::Recipe;
use filch_graph::{
    closure, closure_by_level, closure_marking, components, distances, serial, spanning_forest, spanning_tree,
};
use filch_graph::{Closure, Components, Distances, Graph, Mark, Tree, Vertex};
use proptest::prelude::*;

static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::builder().threads(8).build().unwrap());

fn delta() -> Delta {
    Delta::new(Bound::GENEROUS, 15).unwrap()
}

fn make(recipe: &str) -> Graph {
    recipe.parse::<Recipe>().unwrap().build().unwrap()
}

/// One graph of each kind. Small enough that all of them run on every queue in a few seconds, and
/// large enough that there is something to steal.
static GRAPHS: LazyLock<Vec<(&str, Graph)>> = LazyLock::new(|| {
    let recipes = [
        "ring:6000,k=3",
        "ring:5000,k=2,shuffled",
        "kgraph-plane:5000,k=3,seed=2",
        "torus:70x70",
        "grid:60x80",
        "random:5000,15000",
        "random:5000,4000",
        "random:5000,15000,connected,shuffled",
        "random:6000,100",
        "rmat:12,20000",
        "star:6000",
        "path:6000",
        "path:1",
    ];
    recipes.into_iter().map(|recipe| (recipe, make(recipe))).collect()
});

/// The results of all traversals of a graph.
struct Results {
    closures: Vec<(Vec<Vertex>, Closure)>,
    distances: Vec<(Vec<Vertex>, Distances)>,
    tree: Tree,
    components: Components,
    forest: Tree,
}

fn traverse<K: Kind<Vertex> + Clone>(graph: &Graph, explore: &Explore<'_, AtLeast, K>) -> Results {
    let last = graph.vertices() as Vertex - 1;
    let roots = [vec![0], vec![], vec![last, 0, last / 2, 0]];
    let marks = [Mark::Store, Mark::Exchange];
    let closures = roots.iter().flat_map(|roots| marks.map(|mark| (roots, mark)));
    let closures =
        closures.map(|(roots, mark)| (roots.clone(), closure_marking(graph, roots.clone(), mark, explore.clone())));
    let by_level = |roots: &Vec<Vertex>| (roots.clone(), closure_by_level(graph, roots.clone(), explore.clone()));
    let closures = closures.chain(roots.iter().map(by_level));
    Results {
        closures: closures.collect(),
        distances: roots
            .iter()
            .map(|roots| (roots.clone(), distances(graph, roots.clone(), explore.clone())))
            .collect(),
        tree: spanning_tree(graph, last, explore.clone()),
        components: components(graph, explore.clone()),
        forest: spanning_forest(graph, explore.clone()),
    }
}

impl Results {
    /// Checks that they are what the sequential traversals find.
    fn check(&self, name: &str, graph: &Graph) {
        let last = graph.vertices() as Vertex - 1;
        for (roots, found) in &self.closures {
            let expected = serial::closure(graph, roots.clone());
            assert_eq!(found.reached(), expected.reached(), "{name}: closure");
            assert!(found.iter().eq(expected.iter()), "{name}: closure");
            assert!(found.effort().is_complete());
            assert_eq!(found.effort().redundant(), Some(found.effort().tasks() - found.reached() as u64));
        }
        for (roots, found) in &self.distances {
            let expected = serial::distances(graph, roots.clone());
            assert!((0..=last).all(|vertex| found.of(vertex) == expected.of(vertex)), "{name}: distances");
            assert_eq!(found.farthest(), expected.farthest());
            assert!(found.effort().is_complete());
        }
        let expected = serial::spanning_tree(graph, last);
        assert_eq!(expected.check(graph), Ok(()));
        assert_eq!(self.tree.check(graph), Ok(()), "{name}: tree");
        assert_eq!(self.tree.reached(), expected.reached());
        assert_eq!(self.tree.edges().count(), self.tree.reached() - 1);
        assert_eq!(self.tree.roots(), [last]);

        let expected = serial::components(graph);
        assert_eq!(self.components.count(), expected.count(), "{name}: components");
        assert!((0..=last).all(|vertex| self.components.of(vertex) == expected.of(vertex)), "{name}: components");

        for forest in [&self.forest, &serial::spanning_forest(graph)] {
            assert_eq!(forest.check(graph), Ok(()), "{name}: forest");
            assert_eq!(forest.reached(), graph.vertices());
            assert_eq!(forest.edges().count(), graph.vertices() - expected.count());
            // One root in each component.
            let mut rooted: Vec<usize> = forest.roots().iter().map(|&root| expected.of(root)).collect();
            rooted.sort_unstable();
            assert!(rooted.into_iter().eq(0..expected.count()));
        }
    }
}

macro_rules! agrees_with_serial {
    ($($test:ident: $queue:expr;)*) => { $(
        #[test]
        fn $test() {
            for workers in [1, 2, 3, 5, 8] {
                for (name, graph) in GRAPHS.iter() {
                    let explore = Explore::at_least_once().queue($queue).pool(&POOL).workers(workers);
                    traverse(graph, &explore).check(name, graph);
                }
            }
        }
    )* };
}

agrees_with_serial! {
    every_traversal_on_chase_lev_agrees_with_the_sequential_one: ChaseLev;
    every_traversal_on_the_agrees_with_the_sequential_one: The;
    every_traversal_on_asymmetric_agrees_with_the_sequential_one: Asymmetric;
    // SAFETY: no x86 CPU is known whose store buffer holds as many as 128 stores; elsewhere the
    // owner has a fence.
    every_traversal_on_ff_the_agrees_with_the_sequential_one: unsafe { FfThe::trusting(delta()) };
    // SAFETY: as above.
    every_traversal_on_ff_cl_agrees_with_the_sequential_one: unsafe { FfCl::trusting(delta()) };
    // SAFETY: as above.
    every_traversal_on_thep_agrees_with_the_sequential_one: unsafe { Thep::trusting(delta()) };
    every_traversal_on_lifo_agrees_with_the_sequential_one: Lifo;
    every_traversal_on_fifo_agrees_with_the_sequential_one: Fifo;
    every_traversal_on_double_ended_agrees_with_the_sequential_one: DoubleEnded;
    every_traversal_on_untrusted_ff_the_agrees_with_the_sequential_one: UntrustedFfThe(delta());
    every_traversal_on_untrusted_ff_cl_agrees_with_the_sequential_one: UntrustedFfCl(delta());
    every_traversal_on_untrusted_thep_agrees_with_the_sequential_one: UntrustedThep(delta());
}

/// Queues that return every task twice to their owner. The second time is when no other task is
/// left. As repetitive as at-least-once queues can be.
mod twice {
    use std::cell::RefCell;

    use super::{ChaseLev, Kind, Vertex};
    use filch_queue::{AtLeastOnce, Owner, PushError};

    #[derive(Clone, Copy)]
    pub(super) struct Twice;

    pub(super) struct Repeating {
        queue: <ChaseLev as Kind<Vertex>>::Owner,
        repeats: RefCell<Vec<Vertex>>,
    }

    impl Kind<Vertex> for Twice {
        type Owner = Repeating;
        type Thief = <ChaseLev as Kind<Vertex>>::Thief;

        fn make(&self) -> (Self::Owner, Self::Thief) {
            let (queue, thief) = Kind::make(&ChaseLev);
            (Repeating { queue, repeats: RefCell::default() }, thief)
        }
    }

    impl AtLeastOnce for Repeating {}

    impl Owner for Repeating {
        type Task = Vertex;

        fn push(&self, task: Vertex) {
            self.queue.push(task);
        }

        fn try_push(&self, task: Vertex) -> Result<(), PushError<Vertex>> {
            self.queue.try_push(task)
        }

        fn pop(&self) -> Option<Vertex> {
            let first = self.queue.pop().inspect(|&task| self.repeats.borrow_mut().push(task));
            first.or_else(|| self.repeats.borrow_mut().pop())
        }

        fn len(&self) -> usize {
            self.queue.len() + self.repeats.borrow().len()
        }
    }
}

agrees_with_serial! {
    every_traversal_on_a_queue_that_repeats_every_task_agrees_with_the_sequential_one: twice::Twice;
}

#[test]
fn repeated_tasks_are_counted_as_redundant() {
    let explore = || Explore::at_least_once().queue(twice::Twice).pool(&POOL).workers(1);
    for (name, graph) in GRAPHS.iter() {
        let (tree, forest) = (spanning_tree(graph, 0, explore()), spanning_forest(graph, explore()));
        let closure = closure(graph, [0], explore());
        let pieces = graph.vertices().div_ceil(512);
        let efforts = [(tree.effort(), 1), (forest.effort(), forest.roots().len() + pieces), (closure.effort(), 1)];
        for (effort, roots) in efforts {
            // A pushed task runs twice. Whether a root goes through the queue is unspecified.
            let redundant = effort.redundant().unwrap();
            let needed = effort.tasks() - redundant;
            assert!(
                redundant <= needed && needed <= redundant + roots as u64,
                "{name}: {redundant} of {}",
                effort.tasks()
            );
        }
        assert_eq!(closure.effort().tasks() - closure.effort().redundant().unwrap(), closure.reached() as u64);
    }
}

#[test]
fn directed_arcs_are_followed_in_their_direction() {
    let graph = Graph::directed(6, &[(0, 1), (1, 2), (3, 2), (4, 3), (5, 5)]).unwrap();
    let explore = || Explore::at_least_once().pool(&POOL);
    assert!(closure(&graph, [0], explore()).iter().eq([0, 1, 2]));
    assert_eq!(spanning_tree(&graph, 4, explore()).edges().count(), 2);
    assert_eq!(components(&graph, explore()).sizes(), [5, 1]);
    assert_eq!(distances(&graph, [4], explore()).of(2), Some(2));
    let forest = spanning_forest(&graph, explore());
    assert_eq!(forest.check(&graph), Ok(()));
    assert_eq!(forest.reached(), 6);
}

#[test]
fn traversals_of_an_empty_graph_find_nothing() {
    let graph = Graph::undirected(0, &[]).unwrap();
    let explore = || Explore::at_least_once().pool(&POOL);
    assert_eq!(closure(&graph, [], explore()).reached(), 0);
    assert_eq!(components(&graph, explore()).count(), 0);
    assert_eq!(distances(&graph, [], explore()).farthest(), None);
    assert!(spanning_forest(&graph, explore()).roots().is_empty());
}

#[test]
#[should_panic(expected = "the root 7 is not a vertex of the graph, which has 5")]
fn a_root_that_is_no_vertex_panics() {
    closure(&make("path:5"), [0, 7], Explore::at_least_once().pool(&POOL));
}

#[test]
fn a_single_worker_repeats_no_task() {
    for (_, graph) in GRAPHS.iter() {
        let explore = || Explore::at_least_once().pool(&POOL).workers(1);
        assert_eq!(closure(graph, [0], explore()).effort().redundant(), Some(0));
        assert_eq!(spanning_tree(graph, 0, explore()).effort().redundant(), Some(0));
        assert_eq!(spanning_forest(graph, explore()).effort().redundant(), Some(0));
        assert_eq!(components(graph, explore()).effort().redundant(), Some(0));
        assert_eq!(distances(graph, [0], explore()).effort().redundant(), Some(0));
    }
}

#[test]
fn marking_by_exchange_on_an_exactly_once_queue_repeats_no_task() {
    for (_, graph) in GRAPHS.iter() {
        let found = closure_marking(graph, [0], Mark::Exchange, Explore::at_least_once().queue(ChaseLev).pool(&POOL));
        assert_eq!(found.effort().redundant(), Some(0));
        assert_eq!(
            spanning_tree(graph, 0, Explore::at_least_once().queue(ChaseLev).pool(&POOL)).effort().redundant(),
            Some(0)
        );
    }
}

#[test]
fn a_cancelled_traversal_reports_it_and_its_partial_result_is_right() {
    let graph = make("torus:300x300");
    let cancel = Cancel::new();
    cancel.cancel();
    let explore = || Explore::at_least_once().pool(&POOL).cancel(&cancel);
    let closure = closure(&graph, [0], explore());
    assert_eq!(closure.effort().ending(), Ending::Cancelled);
    assert!(closure.reached() < graph.vertices());
    assert_eq!(closure.effort().redundant(), None);
    let tree = spanning_tree(&graph, 0, explore());
    assert_eq!(tree.effort().ending(), Ending::Cancelled);
    assert_eq!(tree.edges().count() + 1, tree.reached());
    assert_eq!(spanning_forest(&graph, explore()).effort().ending(), Ending::Cancelled);
    assert_eq!(components(&graph, explore()).effort().ending(), Ending::Cancelled);
    let (found, expected) = (distances(&graph, [0], explore()), serial::distances(&graph, [0]));
    assert_eq!(found.effort().ending(), Ending::Cancelled);
    assert!(found.reached() < graph.vertices());
    assert!((0..90_000).all(|vertex| found.of(vertex).is_none() || found.of(vertex) == expected.of(vertex)));
}

#[test]
fn a_traversal_past_its_deadline_reports_it() {
    let graph = make("torus:300x300");
    let past = Instant::now();
    std::thread::sleep(Duration::from_millis(1));
    let explore = || Explore::at_least_once().pool(&POOL).deadline(past);
    assert_eq!(closure(&graph, [0], explore()).effort().ending(), Ending::TimedOut);
    assert_eq!(spanning_tree(&graph, 0, explore()).effort().ending(), Ending::TimedOut);
    assert_eq!(spanning_forest(&graph, explore()).effort().ending(), Ending::TimedOut);
}

#[test]
fn each_traversal_reports_its_memory() {
    let graph = make("random:10000,30000");
    let explore = || Explore::at_least_once().pool(&POOL);
    let closure = closure(&graph, [0], explore());
    // Eight bytes per edge and eight per vertex, of which the marks have one. There is one offset
    // more than vertices.
    assert!(graph.memory() + closure.memory() <= 8 * 30_000 + 8 * 10_000);
    assert_eq!(closure.memory(), 10_000);
    assert_eq!(spanning_tree(&graph, 0, explore()).memory(), 40_000);
    assert_eq!(components(&graph, explore()).memory(), 40_000);
    assert_eq!(distances(&graph, [0], explore()).memory(), 40_000);
}

/// Any graph of up to forty vertices, with loops and repeated edges.
fn graphs() -> impl Strategy<Value = Graph> {
    (1usize..40).prop_flat_map(|vertices| {
        let vertex = 0..vertices as Vertex;
        let edges = proptest::collection::vec((vertex.clone(), vertex), 0..80);
        edges.prop_map(move |edges| Graph::undirected(vertices, &edges).unwrap())
    })
}

proptest! {
    #[test]
    fn traversals_of_any_small_graph_agree_with_the_serial_ones(graph in graphs(), workers in 1usize..=4) {
        traverse(&graph, &Explore::at_least_once().pool(&POOL).workers(workers)).check("lifo", &graph);
        traverse(&graph, &Explore::at_least_once().queue(Fifo).pool(&POOL).workers(workers)).check("fifo", &graph);
        traverse(&graph, &Explore::at_least_once().queue(ChaseLev).pool(&POOL).workers(workers)).check("chase-lev", &graph);
    }
}
