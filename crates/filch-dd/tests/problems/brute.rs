//! The best answer by enumeration. Nothing here uses states.

use filch_dd::problems::independent_set::Graph;
use filch_dd::problems::knapsack::Knapsack;
use filch_dd::problems::tsptw::Tsptw;
use filch_dd::problems::unsplittable_flow::Network;
use filch_dd::Cost;

pub(crate) fn knapsack(sack: &Knapsack) -> Cost {
    let items = sack.items();
    let value = |chosen: u32| {
        let taken = || items.iter().enumerate().filter(move |(at, _)| chosen >> at & 1 == 1).map(|(_, item)| item);
        (taken().map(|item| item.weight).sum::<i64>() <= sack.capacity())
            .then(|| taken().map(|item| item.profit).sum::<i64>())
    };
    (0..1 << items.len()).filter_map(value).max().unwrap()
}

/// Returns the weight of the heaviest set in which all pairs are joined, or none.
fn set(graph: &Graph, joined: bool) -> Cost {
    let vertices = graph.vertices();
    let weight = |chosen: u32| {
        let has = |vertex: usize| chosen >> vertex & 1 == 1;
        let pairs = || (0..vertices).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|&(a, b)| has(a) && has(b));
        pairs()
            .all(|(a, b)| graph.has_edge(a, b) == joined)
            .then(|| (0..vertices).filter(|&vertex| has(vertex)).map(|vertex| graph.weights()[vertex]).sum::<i64>())
    };
    (0..1 << vertices).filter_map(weight).max().unwrap()
}

pub(crate) fn independent_set(graph: &Graph) -> Cost {
    set(graph, false)
}

pub(crate) fn clique(graph: &Graph) -> Cost {
    set(graph, true)
}

/// Tries all orders of the places; `None` if each of them is too late somewhere.
pub(crate) fn tsptw(tour: &Tsptw) -> Option<Cost> {
    fn go(tour: &Tsptw, here: usize, time: i64, left: &mut Vec<usize>) -> Option<Cost> {
        let arrive = |place: usize| {
            let time = time + tour.distance(here, place);
            (time <= tour.window(place).closes).then_some(time.max(tour.window(place).opens))
        };
        if left.is_empty() {
            return arrive(0);
        }
        let mut best = None;
        for at in 0..left.len() {
            let place = left.swap_remove(at);
            if let Some(found) = arrive(place).and_then(|time| go(tour, place, time, left)) {
                best = Some(best.map_or(found, |best: Cost| best.min(found)));
            }
            left.push(place);
            let last = left.len() - 1;
            left.swap(at, last);
        }
        best
    }
    go(tour, 0, tour.window(0).opens, &mut (1..tour.places()).collect())
}

/// Returns the length of the shortest ruler, by looking for one of each length.
pub(crate) fn golomb(marks: usize) -> Cost {
    fn fits(ruler: &mut Vec<usize>, marks: usize, length: usize) -> bool {
        let mut measured: Vec<usize> =
            ruler.iter().enumerate().flat_map(|(at, to)| ruler[..at].iter().map(move |from| to - from)).collect();
        let count = measured.len();
        measured.sort_unstable();
        measured.dedup();
        if measured.len() < count {
            return false;
        }
        ruler.len() == marks
            || (ruler[ruler.len() - 1] + 1..=length).any(|mark| {
                ruler.push(mark);
                let fits = fits(ruler, marks, length);
                ruler.pop();
                fits
            })
    }
    (0..).find(|&length| fits(&mut vec![0], marks, length)).unwrap() as Cost
}

/// Tries all integer flows, one arc after the other.
pub(crate) fn unsplittable_flow(network: &Network) -> Cost {
    fn go(network: &Network, flow: &mut Vec<u32>) -> Cost {
        let Some(arc) = network.arcs().get(flow.len()) else { return worth(network, flow).unwrap_or(0) };
        let mut best = 0;
        for amount in 0..=arc.capacity {
            flow.push(amount);
            best = best.max(go(network, flow));
            flow.pop();
        }
        best
    }
    go(network, &mut Vec::new())
}

/// Returns the value of a flow, if it is valid.
fn worth(network: &Network, flow: &[u32]) -> Option<Cost> {
    let mut worth = 0;
    for (at, node) in network.nodes().iter().enumerate() {
        let some = |meets: &dyn Fn(usize) -> bool| -> Vec<u32> {
            let mut some: Vec<u32> =
                (0..flow.len()).filter(|&arc| meets(arc) && flow[arc] > 0).map(|arc| flow[arc]).collect();
            some.sort_unstable();
            some
        };
        let (into, out) = (some(&|arc| network.arcs()[arc].to == at), some(&|arc| network.arcs()[arc].from == at));
        let (is_source, is_sink) =
            (network.arcs().iter().all(|arc| arc.to != at), network.arcs().iter().all(|arc| arc.from != at));
        let (arrives, leaves): (u32, u32) = (into.iter().sum(), out.iter().sum());
        if is_sink {
            worth += Cost::from(arrives) * Cost::from(node.value);
        } else if is_source {
            if leaves > node.supply {
                return None;
            }
        } else if arrives != leaves || node.chosen && into != out {
            // At a chosen node the flows that arrive are the flows that leave, only in another
            // order.
            return None;
        }
    }
    Some(worth)
}
