//! What a worker does when it has nothing left, and when the run ends.
//!
//! The worker takes the master lock, so it is master. It looks for mail and then for tasks to take,
//! for itself and for all workers that want work. If there are none, it announces in the signal
//! that it waits, makes all threads pass a barrier, takes the master lock again and looks once
//! more. Only then does it park: its data stays in the master's data, and its thread goes back to
//! the pool. A master that brings it tasks takes it out of the master's data and has the pool run
//! it.
//!
//! **No task is lost.** A push makes its tasks visible, passes the light half of the barrier and
//! reads the signal. If it does not see the waiting worker, the push came before that worker's
//! barrier, and the worker's last look finds the tasks. If it sees the waiting worker, it takes the
//! master lock or leaves a request (see [`master_lock`](super::master_lock)). Then either a master
//! looks at the tasks and finds the worker in the master's data, or the waiting worker looks at
//! them before it parks.
//!
//! **The run ends when all workers are parked, and not before.** A master puts mail only into the
//! inbox of a worker that is not parked, and holds the master lock. A worker that parks checks for
//! mail while it holds the master lock. So a parked worker has no mail. Its queue is empty too,
//! since it is filled only by the worker itself, or by the master that takes the worker out of the
//! master's data. So no worker is left that could push. The last worker that parks ends the run,
//! and no other worker needs to be woken for it.

use super::master_state::MasterState;
use super::queue::{Queue, QueueOwner};
use super::report::Ending;
use super::shared::{Shared, Waker};
use super::worker_data::WorkerData;
use super::Work;
use crate::defect::{defect, Defect};
use crate::sync::{thread, MutexGuard, Ordering};

impl<W: Work<Q>, Q: Queue> Shared<'_, W, Q> {
    /// Finds tasks for a worker that has none left, and returns the worker.
    ///
    /// If there are none, the worker waits in the master's data, without a thread.
    #[cold]
    pub(super) fn idle(&self, mut data: WorkerData<W, Q>, waker: &dyn Waker<W, Q>) -> Option<WorkerData<W, Q>> {
        data.idle_since.get_or_insert_with(|| self.clock.now());
        self.end_running_low(data.index);
        let looked = self.find_tasks(&mut data, waker);
        let found = looked.is_none();
        drop(looked);
        self.serve_requests(waker);
        if found {
            return Some(data);
        }

        self.signal.begin_waiting();
        if !defect(Defect::ParkWithoutBarrier) && !self.fencing.heavy() {
            // The kernel failed to make a barrier that it had promised: look again soon.
            self.signal.end_waiting();
            thread::yield_now();
            return Some(data);
        }
        let data = match self.find_tasks(&mut data, waker) {
            None => {
                self.signal.end_waiting();
                Some(data)
            }
            Some(mut master) => {
                data.counts.waits += 1;
                master.active -= 1;
                let over = master.active == 0;
                let index = data.index;
                master.parked[index] = Some(data);
                drop(master);
                if over {
                    self.stop(Ending::Complete);
                }
                None
            }
        };
        self.serve_requests(waker);
        data
    }

    /// Takes the master lock and finds tasks for a worker, in its mail or elsewhere.
    ///
    /// Returns `None` if the worker has tasks now. Otherwise the caller still holds the master
    /// lock.
    fn find_tasks(
        &self,
        data: &mut WorkerData<W, Q>,
        waker: &dyn Waker<W, Q>,
    ) -> Option<MutexGuard<'_, MasterState<W, Q>>> {
        let mut master = self.master_lock.lock();
        // Relaxed: it only decides which worker looks first.
        self.last_master.store(data.index, Ordering::Relaxed);
        if !defect(Defect::MailIsForgotten) {
            if let Some(mail) = self.worker_infos[data.index].inbox.take() {
                self.supply(data, mail);
                // Taking the master lock cleared the requests of other workers, so serve them.
                self.serve(&mut master, waker, None);
                return None;
            }
        }
        if !defect(Defect::ParkWithoutLastLook) {
            let moved = self.serve(&mut master, waker, Some(&mut *data));
            data.count_serve(moved);
        }
        data.owner.is_empty().then_some(master)
    }

    /// Serves once more if a worker has left a request meanwhile.
    pub(super) fn serve_requests(&self, waker: &dyn Waker<W, Q>) {
        if self.master_lock.has_request() {
            self.master_lock.try_serve(|master| {
                self.serve(master, waker, None);
            });
        }
    }
}
