//! Notes go with the tasks that they are about.

use std::sync::Mutex;

use filch_dd::master::{Master, Region, Work, Worker};

use super::Q;

/// Publishes its region at every task, and records the notes that it finds.
struct Explore {
    found: Mutex<Vec<(Region, Vec<(Region, Region)>, usize)>>,
}

impl Work<Q> for Explore {
    type Task = Region;
    type Learnt = Region;

    fn region(&self, task: &Region) -> Region {
        *task
    }

    fn process(&self, task: Region, worker: &mut Worker<'_, Self, Q>) {
        assert_eq!(*worker.region(), task);
        let known = worker.learnt().map(|(region, learnt)| (*region, *learnt)).collect();
        self.found.lock().unwrap().push((task, known, worker.index()));
        worker.publish(task);
        if task.labels().len() < 6 {
            worker.push_batch((0..3).map(|label| task.child(label)).collect());
        }
    }
}

fn found(master: Master<'_>) -> Vec<(Region, Vec<(Region, Region)>, usize)> {
    let work = Explore { found: Mutex::new(Vec::new()) };
    let report = master.run_on::<Q, _>(vec![Region::ROOT], &work);
    let found = work.found.into_inner().unwrap();
    assert_eq!(found.len() as u64, report.total().tasks);
    found
}

#[test]
fn notes_come_nearest_first_and_are_bounded() {
    for master in [Master::new().threads(1), Master::new().threads(3).deterministic(), Master::new().threads(2)] {
        for (task, known, _) in found(master.notes_per_worker(16)) {
            assert!(known.len() <= 16);
            assert!(known.iter().all(|(region, learnt)| region == learnt), "with the region it was learnt in");
            assert!(known.is_sorted_by_key(|(region, _)| std::cmp::Reverse(region.nearness(&task))));
        }
    }
}

#[test]
fn a_single_worker_has_the_notes_that_it_published() {
    for (task, known, _) in found(Master::new().threads(1).notes_per_worker(2000)) {
        if let Some((_, parent)) = task.labels().split_last() {
            assert!(known.iter().any(|(region, _)| region.labels() == parent), "{task:?} knows its parent");
        }
    }
}

#[test]
fn notes_of_other_workers_come_with_the_tasks_near_them() {
    let found = found(Master::new().threads(2).deterministic());
    let learnt_by = |region: &Region| found.iter().find(|(task, ..)| task == region).map(|(.., worker)| *worker);
    let foreign =
        found.iter().filter(|(_, known, worker)| known.iter().any(|(region, _)| learnt_by(region) != Some(*worker)));
    assert!(foreign.count() > 20);
}

#[test]
fn a_worker_that_keeps_no_notes_has_none() {
    assert!(found(Master::new().threads(2).deterministic().notes_per_worker(0))
        .iter()
        .all(|(_, known, _)| known.is_empty()));
}
