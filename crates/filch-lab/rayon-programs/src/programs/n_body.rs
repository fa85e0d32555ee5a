//! Bodies that attract each other.
//!
//! Each step is a parallel iterator over all bodies, and each body looks at all others.

use rayon::prelude::*;

use super::{repeated, Program};
use crate::clock::checksum;
use crate::random::Random;

const STEP: f64 = 1e-3;
/// Keeps bodies that meet from flying apart.
const SOFTENING: f64 = 1e-4;

#[derive(Clone, Copy, Debug)]
struct Body {
    place: [f64; 3],
    velocity: [f64; 3],
    mass: f64,
}

/// Moves `count` bodies `steps` steps, from the same places in each round.
pub(crate) fn program(count: usize, steps: u64) -> Program {
    let mut random = Random::new(2);
    let mut vector = |size: f64| [(); 3].map(|()| (random.fraction() - 0.5) * size);
    let bodies: Vec<Body> =
        (0..count).map(|_| Body { place: vector(2.0), velocity: vector(0.1), mass: 1.0 / count as f64 }).collect();
    let moved = move || (0..steps).fold(bodies.clone(), |bodies, _| step(&bodies));
    repeated(1, moved, |bodies| checksum(bodies.iter().flat_map(|body| body.place).map(f64::to_bits)))
}

fn step(bodies: &[Body]) -> Vec<Body> {
    bodies.par_iter().map(|body| moved(body, bodies)).collect()
}

fn moved(body: &Body, bodies: &[Body]) -> Body {
    let mut pull = [0.0; 3];
    for other in bodies {
        let offset = [0, 1, 2].map(|axis| other.place[axis] - body.place[axis]);
        let square = offset.iter().map(|component| component * component).sum::<f64>() + SOFTENING;
        let strength = other.mass / (square * square.sqrt());
        for (pull, component) in pull.iter_mut().zip(offset) {
            *pull += strength * component;
        }
    }
    let velocity = [0, 1, 2].map(|axis| body.velocity[axis] + STEP * pull[axis]);
    let place = [0, 1, 2].map(|axis| body.place[axis] + STEP * velocity[axis]);
    Body { place, velocity, mass: body.mass }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bodies_approach_each_other_alike() {
        let at = |x: f64| Body { place: [x, 0.0, 0.0], velocity: [0.0; 3], mass: 1.0 };
        let bodies = step(&[at(-1.0), at(1.0)]);
        assert!(bodies[0].place[0] > -1.0);
        assert_eq!(bodies[0].place[0], -bodies[1].place[0]);
        assert_eq!(bodies[0].place[1], 0.0);
    }
}
