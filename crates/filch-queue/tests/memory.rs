//! A queue frees nearly all memory when drained, and all when dropped.
#![cfg(not(loom))]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::thread;

use common::{claim, for_every_queue, steal, Doubt, Queue, Setup};
use filch_queue::{bulk, Owner, Steal, Thief};

/// An allocator that counts the bytes of each test; tests run in parallel.
///
/// Each allocation is preceded by a header with the counter that it belongs to. So it does not
/// matter which thread frees it.
struct CountingAllocator;

/// The number of bytes that a test has allocated and not freed.
type ByteCounter = AtomicIsize;

thread_local! {
    /// The counter for the allocations of this thread; null if they are not counted.
    static COUNTER: Cell<*const ByteCounter> = const { Cell::new(ptr::null()) };
}

/// The header directly before a block.
struct BlockHeader {
    counter: *const ByteCounter,
    bytes: usize,
}

impl CountingAllocator {
    /// Returns the layout with room for a header, and the size of that room.
    fn with_header(layout: Layout) -> (Layout, usize) {
        let room = size_of::<BlockHeader>().max(layout.align());
        let with_header = Layout::from_size_align(room + layout.size(), layout.align().max(align_of::<BlockHeader>()));
        (with_header.expect("allocations of tests are not that large"), room)
    }

    /// # Safety
    ///
    /// `allocate` returns memory of the given layout, or null.
    unsafe fn take(layout: Layout, allocate: impl FnOnce(Layout) -> *mut u8) -> *mut u8 {
        let (with_header, room) = CountingAllocator::with_header(layout);
        let start = allocate(with_header);
        if start.is_null() {
            return start;
        }
        let counter = COUNTER.get();
        // SAFETY: counters are never freed.
        if let Some(counter) = unsafe { counter.as_ref() } {
            counter.fetch_add(layout.size() as isize, Ordering::Relaxed);
        }
        // SAFETY: the memory starts with room for a header, aligned as the layout with the header.
        unsafe {
            let block = start.add(room);
            block.cast::<BlockHeader>().sub(1).write(BlockHeader { counter, bytes: layout.size() });
            block
        }
    }
}

// SAFETY: the system's allocator does the work, and each block is preceded by its own header.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the layout with the header does not have zero size.
        unsafe { CountingAllocator::take(layout, |with_header| System.alloc(with_header)) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { CountingAllocator::take(layout, |with_header| System.alloc_zeroed(with_header)) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let (with_header, room) = CountingAllocator::with_header(layout);
        // SAFETY: the caller frees a block that `take` returned, with the header before it.
        unsafe {
            let header = block.cast::<BlockHeader>().sub(1).read();
            if let Some(counter) = header.counter.as_ref() {
                counter.fetch_sub(header.bytes as isize, Ordering::Relaxed);
            }
            System.dealloc(block.sub(room), with_header);
        }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Creates a counter, which is never freed.
fn new_counter() -> &'static ByteCounter {
    Box::leak(Box::new(ByteCounter::new(0)))
}

/// Counts the allocations of this thread during `work` in `counter`.
fn count_into<R>(counter: &'static ByteCounter, work: impl FnOnce() -> R) -> R {
    struct Before(*const ByteCounter);
    impl Drop for Before {
        fn drop(&mut self) {
            COUNTER.set(self.0);
        }
    }
    let _before = Before(COUNTER.replace(counter));
    work()
}

fn live_bytes(counter: &ByteCounter) -> isize {
    counter.load(Ordering::Relaxed)
}

#[test]
fn allocations_are_counted_until_they_are_freed() {
    let counter = new_counter();
    let kept = count_into(counter, || {
        drop(vec![0_u8; 1000]);
        vec![0_u64; 100]
    });
    assert_eq!(live_bytes(counter), 800);
    // Another thread, without a counter, frees it.
    thread::spawn(move || drop(kept)).join().unwrap();
    assert_eq!(live_bytes(counter), 0);
}

const TASKS: usize = 10_000_000;
const FEW_BYTES: isize = 256 << 10;

fn frees_memory_after_pops<Q: Queue>() {
    let counter = new_counter();
    count_into(counter, || {
        let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
        (0..TASKS).for_each(|task| owner.push(task));
        assert!(live_bytes(counter) >= (TASKS * size_of::<usize>()) as isize, "the tasks take memory");
        for _ in 0..TASKS {
            assert!(owner.pop().is_some());
        }
        assert!(live_bytes(counter) < FEW_BYTES, "{} bytes are held for no task", live_bytes(counter));
        drop((owner, thief));
    });
    assert_eq!(live_bytes(counter), 0, "bytes leaked");
}

for_every_queue!(a_queue_that_held_ten_million_tasks_frees_memory_after_pops, frees_memory_after_pops);

fn frees_memory_after_steals<Q: Queue>() {
    // A million is enough if each steal is a system call.
    let tasks = if Q::SLOW_STEAL { TASKS / 10 } else { TASKS };
    let counter = new_counter();
    count_into(counter, || {
        let setup = Setup::small();
        let (owner, thief) = Q::make::<usize>(setup).unwrap();
        (0..tasks).for_each(|task| owner.push(task));
        assert!(live_bytes(counter) >= (tasks * size_of::<usize>()) as isize, "the tasks take memory");
        let doubtful = Q::DOUBT.reach(setup.delta);
        for _ in doubtful..tasks {
            assert!(steal(&thief).is_success());
        }
        if doubtful > 0 && Q::DOUBT == Doubt::Aborts {
            assert_eq!(thief.steal(), Steal::Abort);
        }
        // Thieves free nothing. The owner frees memory at its next pop.
        for _ in 0..doubtful {
            assert!(owner.pop().is_some());
        }
        assert_eq!(owner.pop(), None);
        assert!(live_bytes(counter) < FEW_BYTES, "{} bytes are held for no task", live_bytes(counter));
        drop((owner, thief));
    });
    assert_eq!(live_bytes(counter), 0, "bytes leaked");
}

for_every_queue!(a_queue_that_held_ten_million_tasks_frees_memory_after_steals, frees_memory_after_steals);

/// Checks that an owner that only pushes shrinks the array when it reaches its end.
fn frees_memory_at_pushes<Q: Queue>() {
    let tasks = 1_000_000;
    let counter = new_counter();
    count_into(counter, || {
        let setup = Setup::small();
        let (owner, thief) = Q::make::<usize>(setup).unwrap();
        (0..tasks).for_each(|task| owner.push(task));
        for _ in Q::DOUBT.reach(setup.delta)..tasks {
            assert!(steal(&thief).is_success());
        }
        // More than once around the array.
        for task in 0..3 * tasks {
            owner.push(task);
            assert!(steal(&thief).is_success());
        }
        assert!(live_bytes(counter) < FEW_BYTES, "{} bytes are held for {} tasks", live_bytes(counter), owner.len());
        drop((owner, thief));
    });
    assert_eq!(live_bytes(counter), 0, "bytes leaked");
}

// The other two idempotent queues have no such end and shrink only at a pop. In the asymmetric
// queue that many steals take too long.
claim!(a_queue_that_thieves_keep_short_frees_memory_at_pushes, frees_memory_at_pushes, chase_lev ChaseLev, the The,
    ff_cl_trusted FfClTrusted, ff_the_trusted FfTheTrusted, thep_trusted ThepTrusted, ff_cl FfCl, ff_the FfThe, thep Thep,
    fifo Fifo);

/// Grows and shrinks a queue while thieves are inside arrays that are replaced.
fn leaks_nothing<Q: Queue>() {
    let counter = new_counter();
    let done = AtomicBool::new(false);
    let (owner, thief) = count_into(counter, || Q::make::<usize>(Setup::wrapping_after(100_000)).unwrap());
    thread::scope(|scope| {
        let thief_threads: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    count_into(counter, || {
                        let mut own = thief.clone();
                        let mut steals = 0;
                        while !done.load(Ordering::Acquire) {
                            if !own.steal().is_success() {
                                thread::yield_now();
                            }
                            steals += 1;
                            if steals % 1000 == 0 {
                                own = thief.clone();
                            }
                        }
                    });
                })
            })
            .collect();
        count_into(counter, || {
            for round in 0..200 {
                (0..100 << (round % 9)).for_each(|task| owner.push(task));
                while owner.pop().is_some() {}
            }
        });
        done.store(true, Ordering::Release);
        // For a thief that waits for a pop.
        while thief_threads.iter().any(|thief_thread| !thief_thread.is_finished()) {
            count_into(counter, || owner.pop());
            thread::yield_now();
        }
    });
    count_into(counter, || owner.pop());
    assert!(live_bytes(counter) < FEW_BYTES, "{} bytes are held for no task", live_bytes(counter));
    drop(thief);
    drop(owner);
    assert_eq!(live_bytes(counter), 0, "bytes leaked");
}

for_every_queue!(a_queue_that_grew_and_shrank_under_thieves_leaks_nothing, leaks_nothing);

#[test]
fn a_batch_that_is_pushed_and_stolen_repeatedly_takes_little_memory() {
    const TASKS: usize = 64;
    let counter = new_counter();
    count_into(counter, || {
        let (owner, thief) = bulk::new();
        let mut batch: bulk::Batch<usize> = (0..TASKS).collect();
        for _ in 0..100 {
            batch.extend(0..TASKS);
            owner.push_batch(batch);
            drop(thief.steal(0.5).unwrap());
            batch = thief.steal(1.0).unwrap();
            assert_eq!(batch.len(), TASKS);
            assert!(live_bytes(counter) < 64 << 10, "{} bytes for {} tasks", live_bytes(counter), batch.len());
        }
    });
    assert_eq!(live_bytes(counter), 0, "bytes leaked");
}
