/* SPDX-License-Identifier: MIT */
/*
 * Start and end of a thread: in both the stack is replaced while code runs on it,
 * which C cannot express.
 */
#include "host.h"
#ifdef ARCH_AARCH64
#include "../generic/function.h"

/*
 * arch_clone(flags, stack_top, parent_tid, child_tid, tls, entry, argument)
 *
 * Parent and child continue after the same instruction with the same registers,
 * except the result (tid or 0) and the stack.  Entry and argument are passed on the child's
 * new stack.  Here the kernel's fourth and fifth arguments are tls and child_tid.
 */
FUNCTION(arch_clone, 16)
	and	x1, x1, -16
	stp	x5, x6, [x1, -16]!
	mov	x9, x3
	mov	x3, x4
	mov	x4, x9
	mov	x8, 220
	svc	0
	cbz	x0, 1f
	ret
1:
	.cfi_undefined x30		/* the outermost frame: no caller      */
	mov	x29, xzr		/* no caller for unwinding by x29, too */
	mov	x30, xzr
	ldp	x1, x0, [sp], 16
	blr	x1
	udf	0			/* entry does not return              */
FUNCTION_END(arch_clone)

/*
 * arch_unmap_exit(stack, length): between the two calls there is no stack, so no
 * memory is accessed, and no signal handler may run (the caller blocks signals).
 */
FUNCTION(arch_unmap_exit, 16)
	mov	x8, 215			/* munmap */
	svc	0
	.cfi_undefined x30
	mov	x8, 93			/* exit, of this thread alone */
	mov	x0, xzr
	svc	0
	udf	0
FUNCTION_END(arch_unmap_exit)

FUNCTION(arch_set_thread_pointer, 4)
	msr	tpidr_el0, x0
	mov	x0, xzr
	ret
FUNCTION_END(arch_set_thread_pointer)

FUNCTION(arch_thread_pointer, 4)
	mrs	x0, tpidr_el0
	ret
FUNCTION_END(arch_thread_pointer)

	.section .note.GNU-stack, "", @progbits
#endif
