//! The nodes of a layer by the hash of their state.
//!
//! Open addressing over one vector of words. The upper half of a word is half of a hash, the lower
//! half is the number of a node plus one. Nodes that leave the layer are not removed: the caller of
//! a lookup checks whether a node still counts. The table is rebuilt when it is half full. So it
//! stays as small as a layer, and nodes that stay from layer to layer cost nothing.

pub(crate) struct Table {
    slots: Vec<u64>,
    mask: usize,
    /// The slots that are not empty: most layers are far smaller than the widest.
    used: Vec<u32>,
}

const MIN_SLOTS: usize = 64;

impl Table {
    pub(crate) fn new() -> Self {
        Table { slots: vec![0; MIN_SLOTS], mask: MIN_SLOTS - 1, used: Vec::new() }
    }

    /// Empties the table and makes room for `expected` nodes.
    pub(crate) fn reset(&mut self, expected: usize) {
        if self.used.len() * 8 < self.slots.len() {
            for &slot in &self.used {
                self.slots[slot as usize] = 0;
            }
        } else {
            self.slots.fill(0);
        }
        self.used.clear();
        let wanted = (expected * 2).next_power_of_two();
        if wanted > self.slots.len() {
            self.slots.resize(wanted, 0);
            self.mask = wanted - 1;
        }
    }

    /// Returns whether the table has to be rebuilt before the next insertion.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.used.len() * 2 >= self.slots.len()
    }

    /// Returns the node with this hash for which `is_it` returns `true`, or its free slot.
    #[inline]
    pub(crate) fn find(&self, hash: u32, mut is_it: impl FnMut(u32) -> bool) -> Result<u32, usize> {
        let mut at = hash as usize & self.mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if (slot >> 32) as u32 == hash {
                let node = slot as u32 - 1;
                if is_it(node) {
                    return Ok(node);
                }
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Puts a node into the slot that [`find`](Self::find) returned, with no insertion in between.
    #[inline]
    pub(crate) fn put(&mut self, slot: usize, hash: u32, node: u32) {
        self.slots[slot] = u64::from(hash) << 32 | u64::from(node + 1);
        self.used.push(slot as u32);
    }

    /// Adds a node whose state is not in the table.
    #[inline]
    pub(crate) fn add(&mut self, hash: u32, node: u32) {
        let mut at = hash as usize & self.mask;
        while self.slots[at] != 0 {
            at = (at + 1) & self.mask;
        }
        self.put(at, hash, node);
    }
}
