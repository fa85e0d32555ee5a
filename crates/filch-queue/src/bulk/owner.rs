//! The owner's slow paths: opening an entry of the directory, and stepping back.
//!
//! They take the owner's place by value and return it, so that an owner in a local variable stays
//! in registers.

use alloc::vec::Vec;

use super::batch::Batch;
use super::directory::{Directory, Entry};
use super::segment::{Run, Segment, MAX_SLOTS};
use super::words::{Anchor, Words};
use crate::sync::{has_flaw, Ordering, TaskCell};
use crate::CapacityError;

/// The maximum number of tasks in a queue.
const LIMIT: u32 = MAX_SLOTS;

/// The number of slots of the first block that the owner allocates.
const FIRST_BLOCK: u32 = if cfg!(loom) { 2 } else { 32 };
/// The minimum number of free slots for which an entry of the directory pays off.
const MIN_SPARE: u32 = if cfg!(loom) { 1 } else { 8 };
/// The maximum number of tasks in a run that is copied.
///
/// Runs of more tasks, or of more bytes than `MAX_COPIED_BYTES`, are linked. Copying makes few
/// entries of many small batches.
const MAX_COPIED_TASKS: u32 = if cfg!(loom) { 1 } else { 32 };
const MAX_COPIED_BYTES: usize = 4096;

/// Returns the maximum number of slots of the owner's blocks.
const fn largest_block<T>() -> u32 {
    const LARGEST: usize = if cfg!(loom) { 4 } else { 4096 };
    const LARGEST_BYTES: usize = 1 << 16;
    let bytes = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
    let slots = LARGEST_BYTES / bytes;
    if slots > LARGEST {
        LARGEST as u32
    } else if slots < 16 {
        16
    } else {
        slots as u32
    }
}

/// Returns whether a run is so short that its tasks are moved, not linked.
fn is_short<T>(len: u32) -> bool {
    len <= MAX_COPIED_TASKS && len as usize * size_of::<T>() <= MAX_COPIED_BYTES
}

/// The owner's place in the youngest entry.
pub(super) struct Place<T> {
    /// The entry's first slot.
    pub(super) slots: *const TaskCell<T>,
    pub(super) fill: Fill,
}

/// The fill level of the youngest entry.
///
/// The entry has `room` slots of its own, of which `used` are below the bottom. A `Fill` is passed
/// in registers; a `Place` would not be.
#[derive(Clone, Copy)]
pub(super) struct Fill {
    pub(super) used: u32,
    pub(super) room: u32,
}

impl<T> Clone for Place<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

impl<T> Place<T> {
    #[inline(always)]
    fn new(slots: *const TaskCell<T>, used: u32, room: u32) -> Self {
        Place { slots, fill: Fill { used, room } }
    }
}

/// Free slots that belong to the owner alone, with a party of their segment.
struct Spare<T> {
    segment: Segment<T>,
    from: u32,
    limit: u32,
}

impl<T> Spare<T> {
    fn len(&self) -> u32 {
        self.limit - self.from
    }
}

impl<T> Drop for Spare<T> {
    fn drop(&mut self) {
        // SAFETY: the spare is a party, and its slots are free.
        unsafe { self.segment.leave() };
    }
}

/// State that the owner needs only in its slow paths.
pub(super) struct OwnerState<T> {
    pub(super) ring: Directory,
    /// The number of the youngest entry.
    pub(super) last: u32,
    /// The thief's `first`, when the owner last loaded it.
    first: u32,
    spare: Option<Spare<T>>,
    /// The number of slots of the next block.
    next_block: u32,
}

impl<T> OwnerState<T> {
    pub(super) fn new(ring: Directory, last: u32) -> Self {
        OwnerState { ring, last, first: last, spare: None, next_block: FIRST_BLOCK.min(largest_block::<T>()) }
    }

    /// Drops the spare slots, which are not in the directory.
    pub(super) fn drop_spare(&mut self) {
        self.spare = None;
    }

    /// Returns whether `len` free slots of a segment are worth keeping.
    ///
    /// A large segment is not kept for a few of its slots.
    fn is_worth_keeping(&self, segment: Segment<T>, len: u32) -> bool {
        let kept = self.spare.as_ref().map_or(MIN_SPARE - 1, Spare::len);
        // SAFETY: the caller knows a party.
        len > kept && unsafe { segment.capacity() } <= largest_block::<T>()
    }

    /// Takes over slots that are no longer used, and their party.
    fn recycle(&mut self, spare: Spare<T>) {
        if self.is_worth_keeping(spare.segment, spare.len()) {
            self.spare = Some(spare);
        }
    }

    /// Leaves the youngest entry and returns the number of the next entry.
    ///
    /// If the youngest entry is empty, the next entry replaces it. Otherwise it comes after it.
    fn close_entry(&mut self, fill: Fill) -> u32 {
        // SAFETY: the entry belongs to the owner.
        let Entry { base, segment, .. } = unsafe { self.ring.get::<T>(self.last) };
        let Some(segment) = segment else {
            return self.last;
        };
        let spare = Spare { segment, from: base + fill.used, limit: base + fill.room };
        if fill.used == 0 {
            // No thief claimed a task of this entry: the bottom is back at its start, or never left
            // it, and the top is no higher than the bottom. Its party passes to the spare.
            self.recycle(spare);
            return self.last;
        }
        if self.is_worth_keeping(segment, spare.len()) {
            // SAFETY: the entry is a party and stays.
            unsafe { segment.join() };
            self.spare = Some(spare);
        } else {
            core::mem::forget(spare);
        }
        self.last.wrapping_add(1)
    }
}

impl<T> Words<T> {
    /// # Safety
    ///
    /// Only the owner calls it, and does not keep the reference.
    #[allow(clippy::mut_from_ref)]
    unsafe fn owner_state(&self) -> &mut OwnerState<T> {
        // SAFETY: the caller guarantees it.
        unsafe { &mut *self.owner_state.get() }
    }

    /// Returns a lower bound on how many more tasks fit.
    ///
    /// It depends on the bottom and on an anchor that may be outdated.
    fn headroom(&self, anchor: Anchor, bottom: u32, needed: u32) -> u32 {
        let room = LIMIT.saturating_sub(bottom.wrapping_sub(anchor.top()));
        if room >= needed {
            return room;
        }
        // Relaxed: the top only rises, so any of its values is safe.
        LIMIT.saturating_sub(bottom.wrapping_sub(Anchor(self.anchor.load(Ordering::Relaxed)).top()))
    }

    /// Makes sure that the ring has room for `more` more entries.
    fn make_room_in_ring(&self, state: &mut OwnerState<T>, more: u32, bottom: u32) -> Result<(), CapacityError> {
        let in_use =
            |state: &OwnerState<T>| state.last.wrapping_sub(state.first).saturating_add(1).saturating_add(more);
        if in_use(state) <= state.ring.capacity() || has_flaw("bulk: cells reused before the thief has passed them") {
            return Ok(());
        }
        // Acquire: pairs with the thief's release. The thief has read the entries below.
        state.first = self.thief.first.load(Ordering::Acquire);
        if in_use(state) > state.ring.capacity() {
            state.ring = state.ring.grown::<T>(in_use(state), state.first, state.last, bottom)?;
            // Release: a thief that loads the ring sees its entries.
            self.owner.ring.store(state.ring.as_ptr(), Ordering::Release);
        }
        Ok(())
    }

    /// Opens an entry for positions from `bottom` on.
    ///
    /// They are in slots of `segment` from `base` on. The caller's party passes to the entry.
    fn open(&self, state: &mut OwnerState<T>, fill: Fill, bottom: u32, base: u32, segment: Segment<T>) {
        let number = state.close_entry(fill);
        state.ring.set(number, Entry { start: bottom, base, segment: Some(segment) });
        state.last = number;
        // Release: a thief that sees the number sees the entry, and the ring that it is in.
        self.owner.last.store(number, Ordering::Release);
    }

    /// Opens an entry with at least `needed` free slots. They come from the spare or a new block.
    ///
    /// The ring has room for it.
    ///
    /// # Safety
    ///
    /// Only the owner calls it. `needed` is at most `headroom`.
    unsafe fn open_block(
        &self,
        fill: Fill,
        bottom: u32,
        needed: u32,
        headroom: u32,
    ) -> Result<Place<T>, CapacityError> {
        // SAFETY: the caller is the owner.
        let state = unsafe { self.owner_state() };
        let (segment, base, limit) = match state.spare.take_if(|spare| spare.len() >= needed) {
            Some(spare) => {
                let parts = (spare.segment, spare.from, spare.limit);
                // Its party passes to the entry.
                core::mem::forget(spare);
                parts
            }
            None => {
                let capacity = state.next_block.max(needed);
                let segment = Segment::allocate(capacity)?;
                state.next_block = largest_block::<T>().min(2 * state.next_block);
                (segment, 0, capacity)
            }
        };
        self.open(state, fill, bottom, base, segment);
        // SAFETY: the entry is a party, and the segment has such a slot.
        Ok(Place::new(unsafe { segment.slot(base) }, 0, (limit - base).min(headroom)))
    }

    /// Makes room for a task when the youngest entry is full.
    ///
    /// # Safety
    ///
    /// Only the owner calls it, with its own state.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn make_room(&self, fill: Fill, anchor: Anchor, pushed: u32) -> Result<Place<T>, CapacityError> {
        let bottom = anchor.bottom(pushed);
        let headroom = self.headroom(anchor, bottom, largest_block::<T>());
        if headroom == 0 {
            return Err(CapacityError::TooLarge { requested: LIMIT as usize + 1, limit: LIMIT as usize });
        }
        // SAFETY: the caller is the owner.
        self.make_room_in_ring(unsafe { self.owner_state() }, 1, bottom)?;
        // SAFETY: the caller is the owner.
        unsafe { self.open_block(fill, bottom, 1, headroom) }
    }

    /// Steps back into the entry that ends with `position`, which the owner has popped.
    ///
    /// # Safety
    ///
    /// Only the owner calls it. The youngest entry is empty and has `left_room` slots. The owner
    /// has just taken the position below it, which still counts as used.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn step_back(&self, left_room: u32, position: u32) -> Place<T> {
        // SAFETY: the caller is the owner.
        let state = unsafe { self.owner_state() };
        // SAFETY: the entry belongs to the owner.
        let left = unsafe { state.ring.get::<T>(state.last) };
        state.last = state.last.wrapping_sub(1);
        // Release: a thief that sees later pushes also sees that the entry is gone. Until then the
        // entry is harmless: it starts at the bottom or above.
        if !has_flaw("bulk: a removed entry that is still counted") {
            self.owner.last.store(state.last, Ordering::Release);
        }
        // SAFETY: the owner could pop the position, so the thief has not passed this entry, and it
        // has a segment.
        let (Entry { start, base, segment }, left_segment) = unsafe {
            let entry = state.ring.get::<T>(state.last);
            (entry, left.segment.unwrap_unchecked())
        };
        // SAFETY: as above.
        let segment = unsafe { segment.unwrap_unchecked() };
        let used = position.wrapping_sub(start) + 1;
        let mut room = used;
        // The slots after it belong to another party, unless they are the owner's spare.
        if let Some(spare) = state.spare.take_if(|spare| spare.segment == segment && spare.from == base + used) {
            room = spare.limit - base;
        }
        // No thief claimed a task of the entry that is left: the top has not reached it. Its party
        // passes to the spare.
        state.recycle(Spare { segment: left_segment, from: left.base, limit: left.base + left_room });
        // SAFETY: the entry is a party, and the segment has such a slot.
        Place::new(unsafe { segment.slot(base) }, used, room)
    }

    /// Checks that a batch can be pushed. Makes room in the directory for its runs.
    ///
    /// Returns the number of its tasks.
    ///
    /// # Safety
    ///
    /// Only the owner calls it, with its own state.
    #[inline]
    pub(super) unsafe fn reserve_for_batch(
        &self,
        anchor: Anchor,
        pushed: u32,
        batch: &Batch<T>,
    ) -> Result<u32, CapacityError> {
        let bottom = anchor.bottom(pushed);
        let too_large = || {
            let length = bottom.wrapping_sub(anchor.top()) as usize;
            CapacityError::TooLarge { requested: length.saturating_add(batch.len()), limit: LIMIT as usize }
        };
        let count = u32::try_from(batch.len()).map_err(|_| too_large())?;
        if count > LIMIT || self.headroom(anchor, bottom, count) < count {
            return Err(too_large());
        }
        // SAFETY: the caller is the owner. A batch of so few tasks has no more runs.
        self.make_room_in_ring(unsafe { self.owner_state() }, batch.runs() as u32, bottom)?;
        Ok(count)
    }

    /// Puts runs at the owner's place, oldest first; see [`put`](Words::put).
    ///
    /// Also returns the bottom.
    ///
    /// # Safety
    ///
    /// As for [`put`](Words::put). Only the filled slots of the runs may be used.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn put_all(
        &self,
        mut place: Place<T>,
        mut bottom: u32,
        runs: Vec<Run<T>>,
        top: u32,
    ) -> (Place<T>, u32) {
        for run in runs {
            let (len, limit) = (run.len(), run.end());
            // SAFETY: the caller guarantees it.
            place = unsafe { self.put(place, bottom, run, limit, top) };
            bottom = bottom.wrapping_add(len);
        }
        (place, bottom)
    }

    /// Puts the tasks of a run at the owner's place.
    ///
    /// It opens an entry for the run or, if the tasks are few, moves them. They are not published
    /// yet.
    ///
    /// # Safety
    ///
    /// Only the owner calls it. The run is not empty, room is reserved for its batch, and the
    /// directory has room for it. The segment's slots up to `limit` belong to the run. The current
    /// top is `top` or higher.
    #[inline]
    pub(super) unsafe fn put(&self, place: Place<T>, bottom: u32, run: Run<T>, limit: u32, top: u32) -> Place<T> {
        // There is room at least for the run, even if the top is outdated.
        let headroom = LIMIT.saturating_sub(bottom.wrapping_sub(top)).max(run.len());
        let run = if is_short::<T>(run.len()) {
            // SAFETY: the caller is the owner, and there is room.
            match unsafe { self.put_short(place, bottom, run, headroom) } {
                Ok(place) => return place,
                Err(run) => run,
            }
        } else {
            run
        };
        // SAFETY: the run is not empty, so it has a segment.
        let (segment, first, len) = unsafe { run.into_parts().unwrap_unchecked() };
        // SAFETY: the caller is the owner.
        self.open(unsafe { self.owner_state() }, place.fill, bottom, first, segment);
        // SAFETY: the entry is a party, and the segment has such a slot.
        Place::new(unsafe { segment.slot(first) }, len, (limit - first).min(headroom))
    }

    /// Moves the tasks of a short run, or returns the run if memory is exhausted.
    ///
    /// # Safety
    ///
    /// As for [`put`](Words::put).
    #[inline]
    unsafe fn put_short(
        &self,
        mut place: Place<T>,
        bottom: u32,
        run: Run<T>,
        headroom: u32,
    ) -> Result<Place<T>, Run<T>> {
        let len = run.len();
        if place.fill.room - place.fill.used < len {
            // SAFETY: the caller is the owner, and the directory has room. The run is within the
            // headroom.
            match unsafe { self.open_block(place.fill, bottom, len, headroom) } {
                Ok(opened) => place = opened,
                Err(_) => return Err(run),
            }
        }
        // SAFETY: there is room for all tasks, and the slots from the bottom on belong to the
        // owner.
        unsafe { run.move_to(place.slots.add(place.fill.used as usize)) };
        place.fill.used += len;
        Ok(place)
    }
}
