/* SPDX-License-Identifier: MIT */
/*
 * Start and end of a thread: in both the stack is replaced while code runs on it,
 * which C cannot express.
 */
#include "host.h"
#ifdef ARCH_RISCV64
#include "../generic/function.h"

/*
 * arch_clone(flags, stack_top, parent_tid, child_tid, tls, entry, argument)
 *
 * Parent and child continue after the same instruction with the same registers,
 * except the result (tid or 0) and the stack.  Entry and argument are passed on the child's
 * new stack.  Here the kernel's fourth and fifth arguments are tls and child_tid.
 */
FUNCTION(arch_clone, 16)
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
	li	s0, 0			/* no caller for unwinding by s0, too */
	li	ra, 0
	ld	a1, 0(sp)
	ld	a0, 8(sp)
	addi	sp, sp, 16
	jalr	a1
	unimp				/* entry does not return              */
FUNCTION_END(arch_clone)

/*
 * arch_unmap_exit(stack, length): between the two calls there is no stack, so no
 * memory is accessed, and no signal handler may run (the caller blocks signals).
 */
FUNCTION(arch_unmap_exit, 16)
	li	a7, 215			/* munmap */
	ecall
	.cfi_undefined ra
	li	a7, 93			/* exit, of this thread alone */
	li	a0, 0
	ecall
	unimp
FUNCTION_END(arch_unmap_exit)

FUNCTION(arch_set_thread_pointer, 4)
	mv	tp, a0
	li	a0, 0
	ret
FUNCTION_END(arch_set_thread_pointer)

FUNCTION(arch_thread_pointer, 4)
	mv	a0, tp
	ret
FUNCTION_END(arch_thread_pointer)

	.section .note.GNU-stack, "", @progbits
#endif
