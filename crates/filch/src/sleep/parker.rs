//! A place to sleep, with one token. A thread that is woken before it sleeps does not sleep.
//!
//! Not `std::thread::park`, whose token belongs to any code that runs on the thread.

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
pub(crate) use futex::Parker;
#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
pub(crate) use portable::Parker;

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
mod futex {
    use std::ptr;
    use std::time::Duration;

    use crate::sync::{AtomicU32, Ordering};

    const EMPTY: u32 = 0;
    const TOKEN: u32 = 1;
    const ASLEEP: u32 = 2;

    /// A place to sleep, with one token.
    #[derive(Debug, Default)]
    pub(crate) struct Parker {
        state: AtomicU32,
    }

    impl Parker {
        /// Sleeps until there is a token, and takes it. May return without a token. Returns whether
        /// there was a token.
        pub(crate) fn park(&self) -> bool {
            self.wait(ptr::null())
        }

        /// Takes the token if there is one.
        pub(crate) fn try_take(&self) -> bool {
            // Relaxed: only a look; the exchange acquires what was done before the token was given.
            self.state.load(Ordering::Relaxed) == TOKEN && self.state.swap(EMPTY, Ordering::Acquire) == TOKEN
        }

        /// Sleeps like [`park`](Parker::park), for at most `time`. Returns whether there was a
        /// token.
        pub(crate) fn park_for(&self, time: Duration) -> bool {
            // Neither conversion can fail for the short sleeps of workers.
            let time = libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos() as _ };
            self.wait(&time)
        }

        fn wait(&self, timeout: *const libc::timespec) -> bool {
            // Acquire: sees what was done before the token was given. If there is a token, the
            // thread does not sleep, and the swap below takes the token.
            if self.state.compare_exchange(EMPTY, ASLEEP, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                // SAFETY: the word lives as long as the call; the time is null or a time.
                unsafe {
                    libc::syscall(
                        libc::SYS_futex,
                        self.state.as_ptr(),
                        libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                        ASLEEP,
                        timeout,
                    )
                };
            }
            self.state.swap(EMPTY, Ordering::Acquire) == TOKEN
        }

        /// Gives the token. Touches nothing but this parker.
        pub(crate) fn unpark(&self) {
            // Release: pairs with the acquire above.
            if self.state.swap(TOKEN, Ordering::Release) == ASLEEP {
                // SAFETY: wakes a thread that waits on the address.
                unsafe {
                    libc::syscall(libc::SYS_futex, self.state.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1)
                };
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
mod portable {
    use std::time::Duration;

    use crate::sync::{lock, unpoisoned, Condvar, Mutex};

    /// A place to sleep, with one token.
    #[derive(Debug)]
    pub(crate) struct Parker {
        token: Mutex<bool>,
        given: Condvar,
    }

    impl Default for Parker {
        fn default() -> Parker {
            Parker { token: Mutex::new(false), given: Condvar::new() }
        }
    }

    impl Parker {
        /// Sleeps until there is a token, and takes it. Always returns true.
        pub(crate) fn park(&self) -> bool {
            let mut token = lock(&self.token);
            while !*token {
                token = unpoisoned(self.given.wait(token));
            }
            *token = false;
            true
        }

        /// Takes the token if there is one.
        pub(crate) fn try_take(&self) -> bool {
            std::mem::take(&mut *lock(&self.token))
        }

        /// Sleeps like [`park`](Parker::park), for at most `time`. Returns whether there was a
        /// token.
        #[cfg(not(any(loom, shuttle)))]
        pub(crate) fn park_for(&self, time: Duration) -> bool {
            let waited = self.given.wait_timeout_while(lock(&self.token), time, |token| !*token);
            std::mem::take(&mut *unpoisoned(waited).0)
        }

        /// Takes the token if there is one. The checkers have no time: it is always over.
        #[cfg(any(loom, shuttle))]
        pub(crate) fn park_for(&self, _: Duration) -> bool {
            std::mem::take(&mut *lock(&self.token))
        }

        /// Gives the token. Touches nothing but this parker.
        pub(crate) fn unpark(&self) {
            *lock(&self.token) = true;
            self.given.notify_one();
        }
    }
}
