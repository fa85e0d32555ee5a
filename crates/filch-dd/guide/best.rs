/// Returns the most that can still be added to the cost from `state`, after `depth` decisions.
fn best<P: Problem>(problem: &P, depth: usize, state: &P::State) -> Option<Cost> {
    let Some(variable) = problem.next_variable(depth, std::iter::once(state)) else { return Some(0) };
    let mut most = None;
    problem.domain(variable, state, |value| {
        let decision = Decision { variable, value };
        let next = problem.transition(state, decision);
        let cost = problem.cost(state, &next, decision);
        most = most.max(best(problem, depth + 1, &next).map(|rest| cost + rest));
    });
    most
}
