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
/// Each allocation is preceded by a note with the counter that it belongs to. So it does not matter
/// which thread frees it.
struct Bookkeeper;

/// The number of bytes that a test has allocated and not freed.
type Book = AtomicIsize;

thread_local! {
    /// The counter for the allocations of this thread; null if they are not counted.
    static BOOK: Cell<*const Book> = const { Cell::new(ptr::null()) };
}

/// The note directly before a block.
struct Note {
    book: *const Book,
    bytes: usize,
}

impl Bookkeeper {
    /// Returns the layout with room for a note, and the size of that room.
    fn with_note(layout: Layout) -> (Layout, usize) {
        let room = size_of::<Note>().max(layout.align());
        let noted = Layout::from_size_align(room + layout.size(), layout.align().max(align_of::<Note>()));
        (noted.expect("allocations of tests are not that large"), room)
    }

    /// # Safety
    ///
    /// `allocate` returns memory of the given layout, or null.
    unsafe fn take(layout: Layout, allocate: impl FnOnce(Layout) -> *mut u8) -> *mut u8 {
        let (noted, room) = Bookkeeper::with_note(layout);
        let start = allocate(noted);
        if start.is_null() {
            return start;
        }
        let book = BOOK.get();
        // SAFETY: books are never freed.
        if let Some(book) = unsafe { book.as_ref() } {
            book.fetch_add(layout.size() as isize, Ordering::Relaxed);
        }
        // SAFETY: the memory starts with room for a note, aligned as the layout with the note is.
        unsafe {
            let block = start.add(room);
            block.cast::<Note>().sub(1).write(Note { book, bytes: layout.size() });
            block
        }
    }
}

// SAFETY: the system's allocator does the work, and each block is preceded by its own note.
unsafe impl GlobalAlloc for Bookkeeper {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the layout with the note does not have zero size.
        unsafe { Bookkeeper::take(layout, |noted| System.alloc(noted)) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { Bookkeeper::take(layout, |noted| System.alloc_zeroed(noted)) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let (noted, room) = Bookkeeper::with_note(layout);
        // SAFETY: the caller frees a block that `take` returned, with the note before it.
        unsafe {
            let note = block.cast::<Note>().sub(1).read();
            if let Some(book) = note.book.as_ref() {
                book.fetch_sub(note.bytes as isize, Ordering::Relaxed);
            }
            System.dealloc(block.sub(room), noted);
        }
    }
}

#[global_allocator]
static BOOKKEEPER: Bookkeeper = Bookkeeper;

/// Creates a book, which is never freed.
fn new_book() -> &'static Book {
    Box::leak(Box::new(Book::new(0)))
}

/// Counts the allocations of this thread during `work` in `book`.
fn on<R>(book: &'static Book, work: impl FnOnce() -> R) -> R {
    struct Before(*const Book);
    impl Drop for Before {
        fn drop(&mut self) {
            BOOK.set(self.0);
        }
    }
    let _before = Before(BOOK.replace(book));
    work()
}

fn live(book: &Book) -> isize {
    book.load(Ordering::Relaxed)
}

#[test]
fn the_books_are_right() {
    let book = new_book();
    let kept = on(book, || {
        drop(vec![0_u8; 1000]);
        vec![0_u64; 100]
    });
    assert_eq!(live(book), 800);
    // Another thread, without a book, frees it.
    thread::spawn(move || drop(kept)).join().unwrap();
    assert_eq!(live(book), 0);
}

const TASKS: usize = 10_000_000;
const LITTLE: isize = 256 << 10;

fn gives_back_after_pops<Q: Queue>() {
    let book = new_book();
    on(book, || {
        let (owner, thief) = Q::make::<usize>(Setup::small()).unwrap();
        (0..TASKS).for_each(|task| owner.push(task));
        assert!(live(book) >= (TASKS * size_of::<usize>()) as isize, "the tasks must be somewhere");
        for _ in 0..TASKS {
            assert!(owner.pop().is_some());
        }
        assert!(live(book) < LITTLE, "{} bytes are held for no task", live(book));
        drop((owner, thief));
    });
    assert_eq!(live(book), 0, "bytes leaked");
}

for_every_queue!(a_queue_that_held_ten_million_tasks_gives_its_memory_back_to_pops, gives_back_after_pops);

fn gives_back_after_steals<Q: Queue>() {
    // A million is enough if each steal is a system call.
    let tasks = if Q::SLOW_STEAL { TASKS / 10 } else { TASKS };
    let book = new_book();
    on(book, || {
        let setup = Setup::small();
        let (owner, thief) = Q::make::<usize>(setup).unwrap();
        (0..tasks).for_each(|task| owner.push(task));
        assert!(live(book) >= (tasks * size_of::<usize>()) as isize, "the tasks must be somewhere");
        let doubtful = Q::DOUBT.reach(setup.delta);
        for _ in doubtful..tasks {
            assert!(steal(&thief).is_success());
        }
        if doubtful > 0 && Q::DOUBT == Doubt::Aborts {
            assert_eq!(thief.steal(), Steal::Abort);
        }
        // Thieves free nothing. The owner frees memory when it next looks.
        for _ in 0..doubtful {
            assert!(owner.pop().is_some());
        }
        assert_eq!(owner.pop(), None);
        assert!(live(book) < LITTLE, "{} bytes are held for no task", live(book));
        drop((owner, thief));
    });
    assert_eq!(live(book), 0, "bytes leaked");
}

for_every_queue!(a_queue_that_held_ten_million_tasks_gives_its_memory_back_after_steals, gives_back_after_steals);

/// Checks that an owner that only pushes shrinks the array when it reaches its end.
fn gives_back_to_pushes<Q: Queue>() {
    let tasks = 1_000_000;
    let book = new_book();
    on(book, || {
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
        assert!(live(book) < LITTLE, "{} bytes are held for {} tasks", live(book), owner.len());
        drop((owner, thief));
    });
    assert_eq!(live(book), 0, "bytes leaked");
}

// The other two idempotent queues have no such end and shrink only at a pop. In the asymmetric
// queue so many steals take too long.
claim!(a_queue_that_thieves_keep_short_gives_its_memory_back_to_pushes, gives_back_to_pushes, chase_lev ChaseLev, the The,
    ff_cl_trusted FfClTrusted, ff_the_trusted FfTheTrusted, thep_trusted ThepTrusted, ff_cl FfCl, ff_the FfThe, thep Thep,
    fifo Fifo);

/// Grows and shrinks a queue while thieves are inside arrays that are replaced.
fn leaks_nothing<Q: Queue>() {
    let book = new_book();
    let done = AtomicBool::new(false);
    let (owner, thief) = on(book, || Q::make::<usize>(Setup::wrapping_after(100_000)).unwrap());
    thread::scope(|scope| {
        let robbers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    on(book, || {
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
        on(book, || {
            for round in 0..200 {
                (0..100 << (round % 9)).for_each(|task| owner.push(task));
                while owner.pop().is_some() {}
            }
        });
        done.store(true, Ordering::Release);
        // For a thief that waits for a pop.
        while robbers.iter().any(|robber| !robber.is_finished()) {
            on(book, || owner.pop());
            thread::yield_now();
        }
    });
    on(book, || owner.pop());
    assert!(live(book) < LITTLE, "{} bytes are held for no task", live(book));
    drop(thief);
    drop(owner);
    assert_eq!(live(book), 0, "bytes leaked");
}

for_every_queue!(a_queue_that_grew_and_shrank_under_thieves_leaks_nothing, leaks_nothing);

#[test]
fn a_batch_that_goes_from_queue_to_queue_and_is_added_to_takes_what_its_tasks_take() {
    const TASKS: usize = 64;
    let book = new_book();
    on(book, || {
        let (owner, mut thief) = bulk::new();
        let mut batch: bulk::Batch<usize> = (0..TASKS).collect();
        for _ in 0..100 {
            batch.extend(0..TASKS);
            owner.push_batch(batch);
            drop(thief.steal(0.5).unwrap());
            batch = thief.steal(1.0).unwrap();
            assert_eq!(batch.len(), TASKS);
            assert!(live(book) < 64 << 10, "{} bytes for {} tasks", live(book), batch.len());
        }
    });
    assert_eq!(live(book), 0, "bytes leaked");
}
