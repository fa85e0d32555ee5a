//! The owner's slow paths: opening an entry of the directory, and stepping back.
//!
//! They take the owner's place by value and return it, so that an owner in a local variable stays
//! in registers.

use alloc::vec::Vec;

use super::batch::Batch;
use super::directory::{Directory, Entry};
use super::segment::{Run, Segment, MAX_SLOTS};
use super::words::{is_before, Anchor, Words};
use crate::sync::{fence, has_flaw, Ordering, TaskCell};
use crate::CapacityError;

/// The maximum number of tasks in a queue, and of positions from the top to the end of an entry.
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

/// Free slots that the owner holds beside the directory.
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
        // SAFETY: the spare holds the slots, and they are free.
        unsafe { self.segment.release(self.len()) };
    }
}

/// State that the owner needs only in its slow paths.
pub(super) struct OwnerState<T> {
    pub(super) ring: Directory,
    /// The number of the oldest entry whose cell is not reused.
    pub(super) first: u32,
    /// The number of the youngest entry.
    pub(super) last: u32,
    /// The number of slots of the youngest entry, those of stolen tasks included.
    pub(super) held: u32,
    /// The top when the owner last loaded it here.
    ///
    /// All entries after `first` start there or later. No entry reaches beyond `LIMIT` positions
    /// from there, so that starts compare rightly.
    top: u32,
    spare: Option<Spare<T>>,
    /// The number of slots of the next block.
    next_block: u32,
}

impl<T> OwnerState<T> {
    pub(super) fn new(ring: Directory, number: u32, top: u32) -> Self {
        let next_block = FIRST_BLOCK.min(largest_block::<T>());
        OwnerState { ring, first: number, last: number, held: 0, top, spare: None, next_block }
    }

    /// Drops the spare slots, which are not in the directory.
    pub(super) fn drop_spare(&mut self) {
        self.spare = None;
    }

    /// Returns how many positions an entry may have from `bottom` on.
    fn headroom(&self, bottom: u32) -> u32 {
        LIMIT.saturating_sub(bottom.wrapping_sub(self.top))
    }

    /// Returns the number of entries in use.
    fn in_use(&self) -> u32 {
        self.last.wrapping_sub(self.first).saturating_add(1)
    }

    /// Keeps free slots as the spare, or releases them.
    ///
    /// A large segment is not kept for a few of its slots.
    fn keep_or_release(&mut self, spare: Spare<T>) {
        let kept = self.spare.as_ref().map_or(MIN_SPARE - 1, Spare::len);
        // SAFETY: the spare has a slot.
        if spare.len() > kept && unsafe { spare.segment.capacity() } <= largest_block::<T>() {
            self.spare = Some(spare);
        }
    }

    /// Leaves the youngest entry and returns the number of the next entry.
    ///
    /// If the youngest entry has no tasks, the next entry replaces it. Otherwise it comes after it.
    /// The free slots after the first `used` are kept or released.
    fn close_entry(&mut self, used: u32) -> u32 {
        if self.held > used {
            // SAFETY: the entry belongs to the owner.
            let Entry { base, segment, .. } = unsafe { self.ring.get::<T>(self.last) };
            // SAFETY: an entry with slots has a segment.
            let segment = unsafe { segment.unwrap_unchecked() };
            self.keep_or_release(Spare { segment, from: base + used, limit: base + self.held });
        }
        // An entry without tasks was never in a claim: the bottom is at its start, or never left it,
        // and the top is no higher than the bottom.
        self.last.wrapping_add(u32::from(used > 0))
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

    /// Returns how many positions an entry may have from `bottom` on.
    ///
    /// If these are fewer than `needed`, it is because the queue is at its size limit.
    fn headroom(&self, state: &mut OwnerState<T>, bottom: u32, needed: u32) -> u32 {
        if state.headroom(bottom) < needed {
            self.retire_entries(state);
        }
        state.headroom(bottom)
    }

    /// Looks how far thieves have come, and stops using the entries below the top.
    #[cold]
    #[inline(never)]
    fn retire_entries(&self, state: &mut OwnerState<T>) {
        // Relaxed: a thief that has claimed what is below this top has read the entries before; see
        // the fence.
        let top = Anchor(self.anchor.load(Ordering::Relaxed)).top();
        state.top = top;
        let before = state.first;
        while state.first != state.last {
            let next = state.first.wrapping_add(1);
            if is_before(top, state.ring.start(next)) {
                break;
            }
            state.first = next;
        }
        if state.first != before {
            state.ring.set_oldest(state.first);
            // Release: pairs with the acquire fence in `is_current`. A thief that reads a reused cell
            // finds the new number when it checks it. And it claims after its fence, so the load of
            // the top above was before that claim.
            fence(Ordering::Release);
        }
    }

    /// Makes sure that the ring has room for `more` more entries.
    fn make_room_in_ring(&self, state: &mut OwnerState<T>, more: u32, bottom: u32) -> Result<(), CapacityError> {
        let in_ring = state.in_use().saturating_add(more) <= state.ring.capacity();
        if in_ring || has_flaw("bulk: cells reused before the top has passed them") {
            return Ok(());
        }
        self.free_cells_or_grow(state, more, bottom)
    }

    #[cold]
    #[inline(never)]
    fn free_cells_or_grow(&self, state: &mut OwnerState<T>, more: u32, bottom: u32) -> Result<(), CapacityError> {
        self.retire_entries(state);
        let needed = state.in_use().saturating_add(more);
        if needed > state.ring.capacity() {
            state.ring = state.ring.grown::<T>(needed, state.first, state.last, bottom)?;
            // Release: a thief that loads the ring sees its entries.
            self.owner.ring.store(state.ring.as_ptr(), Ordering::Release);
        }
        Ok(())
    }

    /// Opens an entry for positions from `bottom` on.
    ///
    /// They are in slots of `segment` from `base` to `limit`, which pass to the entry. The entry
    /// before has `used` slots with tasks.
    fn open(&self, state: &mut OwnerState<T>, used: u32, bottom: u32, segment: Segment<T>, base: u32, limit: u32) {
        let number = state.close_entry(used);
        state.ring.set(number, Entry { start: bottom, base, segment: Some(segment) });
        state.last = number;
        state.held = limit - base;
        // Release: a thief that sees the number sees the entry, and the ring that it is in.
        self.owner.last.store(number, Ordering::Release);
    }

    /// Opens an entry with at least `needed` free slots. They come from the spare or a new block.
    ///
    /// The ring has room for it, and `needed` is at most the headroom.
    fn open_block(
        &self,
        state: &mut OwnerState<T>,
        used: u32,
        bottom: u32,
        needed: u32,
    ) -> Result<Place<T>, CapacityError> {
        let (segment, base, limit) = match state.spare.take_if(|spare| spare.len() >= needed) {
            Some(spare) => {
                let parts = (spare.segment, spare.from, spare.limit);
                // Its slots pass to the entry.
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
        self.open(state, used, bottom, segment, base, limit);
        // SAFETY: the entry holds the slots.
        Ok(Place::new(unsafe { segment.slot(base) }, 0, (limit - base).min(state.headroom(bottom))))
    }

    /// Makes room for a task when the youngest entry is full.
    ///
    /// # Safety
    ///
    /// Only the owner calls it, with its own state.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn make_room(&self, used: u32, anchor: Anchor, pushed: u64) -> Result<Place<T>, CapacityError> {
        // SAFETY: the caller is the owner.
        let state = unsafe { self.owner_state() };
        let bottom = anchor.bottom(pushed);
        if self.headroom(state, bottom, largest_block::<T>()) == 0 {
            return Err(CapacityError::TooLarge { requested: LIMIT as usize + 1, limit: LIMIT as usize });
        }
        self.make_room_in_ring(state, 1, bottom)?;
        self.open_block(state, used, bottom, 1)
    }

    /// Steps back into the entry that ends with `position`, which the owner has popped.
    ///
    /// # Safety
    ///
    /// Only the owner calls it. The youngest entry has no tasks. The owner has just taken the
    /// position below it, which still counts as used.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn step_back(&self, position: u32) -> Place<T> {
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
        // SAFETY: the owner could pop the position, so this entry holds its slot, and both have a
        // segment.
        let (Entry { start, base, segment }, left_segment) = unsafe {
            let entry = state.ring.get::<T>(state.last);
            (entry, left.segment.unwrap_unchecked())
        };
        // SAFETY: as above.
        let segment = unsafe { segment.unwrap_unchecked() };
        let used = position.wrapping_sub(start) + 1;
        // The slots after it have other holders, unless they are the owner's spare.
        let held = match state.spare.take_if(|spare| spare.segment == segment && spare.from == base + used) {
            Some(spare) => {
                let held = spare.limit - base;
                // Its slots pass back to the entry.
                core::mem::forget(spare);
                held
            }
            None => used,
        };
        let left_held = core::mem::replace(&mut state.held, held);
        // No claim had a task of the entry that is left: the top has not reached it.
        state.keep_or_release(Spare { segment: left_segment, from: left.base, limit: left.base + left_held });
        let room = held.min(used + state.headroom(position.wrapping_add(1)));
        // SAFETY: the entry holds the slot of the position.
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
        pushed: u64,
        batch: &Batch<T>,
    ) -> Result<u32, CapacityError> {
        // SAFETY: the caller is the owner.
        let state = unsafe { self.owner_state() };
        let bottom = anchor.bottom(pushed);
        let too_large = || {
            // Relaxed: for the message.
            let top = Anchor(self.anchor.load(Ordering::Relaxed)).top();
            let length = bottom.wrapping_sub(top) as usize;
            CapacityError::TooLarge { requested: length.saturating_add(batch.len()), limit: LIMIT as usize }
        };
        let count = u32::try_from(batch.len()).map_err(|_| too_large())?;
        if count > LIMIT || self.headroom(state, bottom, count) < count {
            return Err(too_large());
        }
        // A batch of so few tasks has no more runs.
        self.make_room_in_ring(state, batch.runs() as u32, bottom)?;
        Ok(count)
    }

    /// Puts runs at the owner's place, oldest first; see [`put`](Words::put).
    ///
    /// Also returns the bottom.
    ///
    /// # Safety
    ///
    /// As for [`put`](Words::put).
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn put_all(&self, mut place: Place<T>, mut bottom: u32, runs: Vec<Run<T>>) -> (Place<T>, u32) {
        for run in runs {
            let len = run.len();
            // SAFETY: the caller guarantees it.
            place = unsafe { self.put(place, bottom, run) };
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
    /// Only the owner calls it. The run is not empty and has returned no task from its old end.
    /// Positions and entries for its batch are [reserved](Words::reserve_for_batch).
    #[inline]
    pub(super) unsafe fn put(&self, mut place: Place<T>, bottom: u32, run: Run<T>) -> Place<T> {
        // SAFETY: the caller is the owner.
        let state = unsafe { self.owner_state() };
        let len = run.len();
        let Fill { used, room } = place.fill;
        if is_short::<T>(len) {
            if room - used < len {
                place = match self.open_block(state, used, bottom, len) {
                    Ok(opened) => opened,
                    Err(_) => return self.link(state, used, bottom, run),
                };
            }
            // SAFETY: there is room for all tasks, and the slots from the bottom on belong to the
            // owner.
            unsafe { run.move_to(place.slots.add(place.fill.used as usize)) };
            place.fill.used += len;
            return place;
        }
        self.link(state, used, bottom, run)
    }

    /// Opens an entry for a run that is not empty.
    #[inline]
    fn link(&self, state: &mut OwnerState<T>, used: u32, bottom: u32, run: Run<T>) -> Place<T> {
        // SAFETY: the run is not empty, so it has a segment.
        let (segment, first, len, held) = unsafe { run.into_parts().unwrap_unchecked() };
        self.open(state, used, bottom, segment, first, first + held);
        // SAFETY: the entry holds the slots.
        Place::new(unsafe { segment.slot(first) }, len, held.min(state.headroom(bottom)))
    }
}
