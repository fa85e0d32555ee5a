//! The layout of a task in a slot: whole words, each an atomic.
//!
//! A thief reads a slot while the owner may overwrite it. Only the thief's CAS tells whether the
//! value it read is a task. So a slot is read and written word by word with relaxed atomics. There
//! is no data race, and a torn read is just a wrong value, which the thief discards.
//!
//! The words are pointer atomics: a task may hold pointers, and only pointer atomics keep their
//! provenance. Padding needs care too: a word of a task may be uninitialised, and an atomic must
//! not store an uninitialised value. An empty `asm!` block with the word as input and output in the
//! same register turns it into some initialised value, at no instruction.

use core::marker::PhantomData;
use core::mem::{size_of, MaybeUninit};
use core::ptr;

use crate::sync::{AtomicPtr, Ordering};

/// One word of a task.
pub(crate) type Word = AtomicPtr<()>;

#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "loongarch64",
)))]
compile_error!("filch-queue supports only x86-64, AArch64, RISC-V 64 and LoongArch 64: it needs inline assembly and 64-bit indices");

/// Turns a word that may be partly uninitialised into an initialised value.
///
/// Initialised bytes keep their value.
#[inline(always)]
fn freeze(word: MaybeUninit<*mut ()>) -> *mut () {
    let frozen: *mut ();
    // SAFETY: the block has no instruction. Its output is the content of the register, an
    // initialised value with the provenance of the input.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) word => frozen, options(pure, nomem, nostack, preserves_flags));
    }
    frozen
}

/// The place of a task in an array, given by its first word.
pub(crate) struct Slot<'a, T> {
    first: *const Word,
    array: PhantomData<(&'a Word, T)>,
}

impl<T> Slot<'_, T> {
    /// The number of words of a task.
    pub(crate) const WORDS: usize = size_of::<T>().div_ceil(size_of::<*mut ()>());
    const WHOLE_WORDS: usize = size_of::<T>() / size_of::<*mut ()>();
    const BYTES_LEFT: usize = size_of::<T>() % size_of::<*mut ()>();

    /// Returns the slot that starts at `first`.
    ///
    /// # Safety
    ///
    /// `WORDS` words from `first` on are live while the slot is used.
    #[inline(always)]
    pub(crate) unsafe fn at<'a>(first: *const Word) -> Slot<'a, T> {
        Slot { first, array: PhantomData }
    }

    #[inline(always)]
    fn word(&self, n: usize) -> &Word {
        debug_assert!(n < Self::WORDS);
        // SAFETY: the word is within the slot, which the caller of `at` guarantees to be live.
        unsafe { &*self.first.add(n) }
    }

    /// Writes a task into the slot.
    ///
    /// Only the owner writes. Relaxed: a thief learns of the task from the index that is stored
    /// afterwards with release.
    #[inline(always)]
    pub(crate) fn write(&self, task: T) {
        let task = MaybeUninit::new(task);
        let words = task.as_ptr().cast::<MaybeUninit<*mut ()>>();
        for n in 0..Self::WHOLE_WORDS {
            // SAFETY: the n-th whole word is within the task; it may be unaligned and
            // uninitialised.
            let word = unsafe { words.add(n).read_unaligned() };
            self.word(n).store(freeze(word), Ordering::Relaxed);
        }
        if Self::BYTES_LEFT > 0 {
            let mut word = MaybeUninit::<*mut ()>::uninit();
            // SAFETY: the rest of the task follows its whole words and is shorter than a word.
            unsafe {
                let rest = words.add(Self::WHOLE_WORDS).cast::<MaybeUninit<u8>>();
                ptr::copy_nonoverlapping(rest, word.as_mut_ptr().cast(), Self::BYTES_LEFT);
            }
            self.word(Self::WHOLE_WORDS).store(freeze(word), Ordering::Relaxed);
        }
    }

    /// Reads the slot. The result is a task only if no other thread wrote meanwhile.
    ///
    /// Relaxed: the loads before and the CAS after the call decide whether the result is a task.
    #[inline(always)]
    pub(crate) fn read(&self) -> MaybeUninit<T> {
        let mut task = MaybeUninit::<T>::uninit();
        let words = task.as_mut_ptr().cast::<*mut ()>();
        for n in 0..Self::WHOLE_WORDS {
            // SAFETY: the n-th whole word is within the task.
            unsafe { words.add(n).write_unaligned(self.word(n).load(Ordering::Relaxed)) };
        }
        if Self::BYTES_LEFT > 0 {
            let word = self.word(Self::WHOLE_WORDS).load(Ordering::Relaxed);
            // SAFETY: the rest of the task follows its whole words and is shorter than a word.
            unsafe {
                let rest = words.add(Self::WHOLE_WORDS).cast::<u8>();
                ptr::copy_nonoverlapping(ptr::addr_of!(word).cast::<u8>(), rest, Self::BYTES_LEFT);
            }
        }
        task
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::boxed::Box;
    use alloc::vec::Vec;

    use super::*;

    fn write_and_read<T>(task: T) -> T {
        let words: Vec<Word> = (0..Slot::<T>::WORDS).map(|_| Word::new(ptr::null_mut())).collect();
        // SAFETY: `words` has the words of a task and outlives the slot.
        let slot = unsafe { Slot::<T>::at(words.as_ptr()) };
        slot.write(task);
        // SAFETY: a whole task was just written, and it is read once.
        unsafe { slot.read().assume_init() }
    }

    #[test]
    fn tasks_of_every_size_come_back_whole() {
        write_and_read(());
        assert_eq!(write_and_read(0xA5_u8), 0xA5);
        assert_eq!(write_and_read(0xDEAD_BEEF_u32), 0xDEAD_BEEF);
        assert_eq!(write_and_read([1_u8, 2, 3, 4, 5, 6, 7, 8, 9]), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(write_and_read([7_u64; 13]), [7; 13]);
        assert_eq!(write_and_read((1_u8, 2_u64, 3_u16)), (1, 2, 3));
        assert_eq!(write_and_read(u128::MAX - 5), u128::MAX - 5);
    }

    #[test]
    fn pointers_survive() {
        assert_eq!(*write_and_read(Box::new(17)), 17);
        assert_eq!(write_and_read("borrowed"), "borrowed");
        assert_eq!(write_and_read(Some(Box::new([1, 2]))).unwrap()[1], 2);
    }

    #[test]
    fn tasks_with_padding_come_back_whole() {
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[repr(C, align(16))]
        struct Sparse(u8, u64);
        assert_eq!(write_and_read(Sparse(1, 2)), Sparse(1, 2));
        assert_eq!(write_and_read(None::<u64>), None);
    }
}
