/* SPDX-License-Identifier: MIT */
/* The system calls of sys/start and of tests/runtime; none of these is in libashlar.a. */
#include "host.h"
#ifdef ARCH_X86_64
#include "stub.h"

CALL(lseek, 8)
CALL(mprotect, 10)
CALL(ioctl, 16)
CALL(sched_yield, 24)
CALL(dup2, 33)
CALL(setitimer, 38)
CALL(fork, 57)
CALL(execve, 59)
CALL(exit, 60)
CALL(wait4, 61)
CALL(kill, 62)
CALL(unlink, 87)
CALL(getrlimit, 97)
CALL(getrusage, 98)
CALL(ptrace, 101)
CALL(setpgid, 109)
CALL(sigaltstack, 131)
CALL(personality, 135)
CALL(mlock, 149)
CALL(mlockall, 151)
CALL(munlockall, 152)
CALL(prctl, 157)
CALL(setuid, 105)
CALL(setrlimit, 160)
CALL(mount, 165)
CALL(umount2, 166)
CALL(swapon, 167)
CALL(finit_module, 313)
CALL(fsync, 74)
CALL(reboot, 169)
CALL(futex, 202)
CALL(sched_setaffinity, 203)
CALL(set_tid_address, 218)
CALL(timer_create, 222)
CALL(timer_settime, 223)
CALL(timer_delete, 226)
CALL(clock_gettime, 228)
CALL(getdents64, 217)
CALL(exit_group, 231)
CALL(waitid, 247)
CALL(mkdirat, 258)
CALL(pipe2, 293)
CALL(process_vm_readv, 310)
CALL(memfd_create, 319)
CALL(move_pages, 279)

/*
 * Signal handlers return here with the stack as the kernel laid it out, so nothing
 * may be pushed.  Debuggers recognise a signal frame by these exact bytes (mov into
 * the 64-bit rax, then syscall): do not shorten them.  They do so only if the unwind
 * tables have no entry for the address and for the byte before it: hence the nop.
 */
	.section .text.arch_sigreturn, "ax", @progbits
	.balign	16
	nop
	.globl	arch_sigreturn
	.type	arch_sigreturn, @function
arch_sigreturn:
	mov	$15, %rax
	syscall
	.size	arch_sigreturn, . - arch_sigreturn

	.section .note.GNU-stack, "", @progbits
#endif
