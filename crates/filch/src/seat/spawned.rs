//! The jobs that the worker of a seat has spawned.

use super::deques::are_deques_used;
use super::Seat;
use crate::job::Job;
use crate::sleep;
use crate::stats::Count;
use crate::tasks::Pop;
use crate::worker::Worker;

/// Counts of spawned jobs, kept by each worker.
#[derive(Debug)]
pub(crate) struct Spawns {
    /// The number of jobs that the worker has spawned itself, from inside.
    pub(crate) spawned: Count,
    /// The number of spawned jobs that the worker has run, whatever thread has spawned them.
    pub(crate) finished: Count,
}

impl Seat {
    /// Pushes a spawned job. `write` writes the job to its place.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat. `write` writes a job.
    #[inline(always)]
    pub(crate) unsafe fn push_spawned(&self, write: impl FnOnce(*mut Job)) {
        self.spawns.spawned.add(1);
        // SAFETY: the caller guarantees it.
        unsafe { self.spawned.push(write) };
        if self.stack.is_alarmed() {
            sleep::answer_spawned(self);
        }
    }

    /// Queues a job behind the jobs that were spawned in turn before it.
    ///
    /// Returns the job to spawn in its place, which runs the oldest queued job.
    pub(crate) fn enqueue_fifo(&self, job: Job) -> Job {
        unsafe fn execute(data: *const (), worker: &mut Worker, _: bool) {
            // SAFETY: pool memory, which outlives what is spawned into the pool.
            let seat = unsafe { &*data.cast::<Seat>() };
            let job = seat.fifo_jobs.pop().expect("one queued job for each job that takes it");
            // SAFETY: taken from the queue once.
            unsafe { job.run(worker) };
        }
        let lineage = job.lineage;
        self.fifo_jobs.push(job);
        // SAFETY: run once, as every spawned job is; then there is a job in the queue.
        unsafe { Job::from_parts(std::ptr::from_ref(self).cast(), execute, lineage) }
    }

    /// Takes the youngest job that the worker has spawned.
    ///
    /// # Safety
    ///
    /// Called by the worker of this seat, which takes the job out of its slot before it spawns
    /// another.
    pub(crate) unsafe fn pop_spawned(&self) -> Option<*const Job> {
        if !are_deques_used() || !self.spawned.has_tasks() {
            return None;
        }
        // SAFETY: the caller guarantees it.
        match unsafe { self.spawned.pop(0) } {
            Pop::Task(job) => Some(job),
            Pop::Empty | Pop::Stolen => None,
        }
    }
}
