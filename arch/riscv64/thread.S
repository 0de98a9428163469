/* SPDX-License-Identifier: MIT */
/*
 * Start and end of a thread: in both the stack is replaced while code runs on it,
 * which C cannot express.
 */
#include "host.h"
#ifdef ARCH_RISCV64

/*
 * arch_clone(flags, stack_top, parent_tid, child_tid, tls, entry, argument)
 *
 * Parent and child continue after the same instruction with the same registers,
 * except the result (tid or 0) and the stack.  Entry and argument are passed on the child's
 * new stack.  Here the kernel's fourth and fifth arguments are tls and child_tid.
 */
	.section .text.arch_clone, "ax", @progbits
	.balign	16
	.globl	arch_clone
	.type	arch_clone, @function
arch_clone:
	.cfi_startproc
	andi	a1, a1, -16
	addi	a1, a1, -16
	sd	a5, 0(a1)
	sd	a6, 8(a1)
	mv	t0, a3
	mv	a3, a4
	mv	a4, t0
	li	a7, 220
	ecall
	beqz	a0, 1f
	ret
1:
	.cfi_undefined ra		/* the outermost frame: no caller     */
	li	s0, 0			/* the same for unwinding by s0       */
	li	ra, 0
	ld	a1, 0(sp)
	ld	a0, 8(sp)
	addi	sp, sp, 16
	jalr	a1
	unimp				/* entry does not return              */
	.cfi_endproc
	.size	arch_clone, . - arch_clone

/*
 * arch_unmap_exit(stack, length): between the two calls there is no stack, so no
 * memory is accessed, and no signal handler may run (the caller blocks signals).
 */
	.section .text.arch_unmap_exit, "ax", @progbits
	.balign	16
	.globl	arch_unmap_exit
	.type	arch_unmap_exit, @function
arch_unmap_exit:
	.cfi_startproc
	li	a7, 215			/* munmap */
	ecall
	.cfi_undefined ra
	li	a7, 93			/* exit, of this thread alone */
	li	a0, 0
	ecall
	unimp
	.cfi_endproc
	.size	arch_unmap_exit, . - arch_unmap_exit

	.section .text.arch_set_thread_pointer, "ax", @progbits
	.balign	4
	.globl	arch_set_thread_pointer
	.type	arch_set_thread_pointer, @function
arch_set_thread_pointer:
	.cfi_startproc
	mv	tp, a0
	li	a0, 0
	ret
	.cfi_endproc
	.size	arch_set_thread_pointer, . - arch_set_thread_pointer

	.section .note.GNU-stack, "", @progbits
#endif
