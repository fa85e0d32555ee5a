//! The stack that the calling thread has left.

/// Whether the size of the rest is ever known.
pub(crate) const IS_KNOWN: bool = cfg!(any(target_os = "linux", loom, shuttle));

/// Returns the number of bytes that the calling thread's stack has left. That is from the stack
/// pointer to the end of the stack.
///
/// Returns `None` if it is not known, or if the thread runs on another stack, such as that of a
/// fiber.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
pub(crate) fn bytes_left() -> Option<usize> {
    use std::cell::Cell;
    use std::ops::Range;

    std::thread_local! {
        // Without a destructor: a thread that is about to end may call as well.
        static BOUNDS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }

    fn bounds() -> Range<usize> {
        let (low, high) = BOUNDS.with(|bounds| {
            if bounds.get() == (0, 0) {
                // An empty range if the C library does not know.
                bounds.set(ask().unwrap_or((1, 1)));
            }
            bounds.get()
        });
        low..high
    }

    let here = 0_u8;
    let pointer = std::ptr::from_ref(&here).addr();
    let bounds = bounds();
    bounds.contains(&pointer).then(|| pointer - bounds.start)
}

/// Returns the lowest and the highest address of the calling thread's stack.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn ask() -> Option<(usize, usize)> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: for the calling thread, into memory of the right type.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
        return None;
    }
    let (mut low, mut size, mut guard) = (std::ptr::null_mut(), 0, 0);
    // SAFETY: initialised above, and destroyed once.
    let known = unsafe {
        let stack = libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size);
        let guarded = libc::pthread_attr_getguardsize(attributes.as_ptr(), &mut guard);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        stack == 0 && guarded == 0
    };
    known.then(|| (low.addr() + guard, low.addr() + size))
}

/// A checker's threads have as much stack as they need.
#[cfg(any(loom, shuttle))]
pub(crate) fn bytes_left() -> Option<usize> {
    Some(usize::MAX)
}

/// The size is not known on this system, so calls are shipped.
#[cfg(not(any(target_os = "linux", loom, shuttle)))]
pub(crate) fn bytes_left() -> Option<usize> {
    None
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_about_the_stack_that_it_was_given() {
        // Larger than the stacks of other tests: the C library gives an ended thread's stack to the
        // next thread if it is large enough.
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let left = thread.spawn(bytes_left).expect("a thread").join().expect("a number");
        let left = left.expect("the C library knows the stack size");
        assert!((63 << 20..=65 << 20).contains(&left), "{left}");
    }

    #[test]
    fn a_frame_takes_from_what_is_left() {
        #[inline(never)]
        fn deeper() -> Option<usize> {
            let frame = std::hint::black_box([0_u8; 100_000]);
            let left = bytes_left();
            std::hint::black_box(&frame);
            left
        }
        let (before, after) = (bytes_left().expect("known"), deeper().expect("known"));
        assert!(before >= after + 100_000, "{before} {after}");
    }
}
