//! A seccomp filter, for tests in a process of their own. filch's tests include this file, too.

use std::io;

/// Makes the kernel return EPERM from `membarrier` on every thread of the process.
pub(crate) fn forbid_membarrier() {
    use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};

    let instruction = |code, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let mut program = [
        // The number of the system call is the first word of what the filter sees.
        instruction(BPF_LD | BPF_W | BPF_ABS, 0, 0),
        instruction(BPF_JMP | BPF_JEQ | BPF_K, 1, libc::SYS_membarrier as u32),
        instruction(BPF_RET | BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        instruction(BPF_RET | BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the filter and its program outlive the calls, which copy them.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0, "{}", io::Error::last_os_error());
        let installed = libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_TSYNC,
            std::ptr::addr_of!(filter),
        );
        assert_eq!(installed, 0, "cannot install the filter: {}", io::Error::last_os_error());
    }
    // SAFETY: the call takes three integers.
    let answer = unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_QUERY, 0, 0) };
    let error = io::Error::last_os_error();
    assert_eq!((answer, error.raw_os_error()), (-1, Some(libc::EPERM)), "the filter does not work");
}
