/* SPDX-License-Identifier: MIT */
/*
 * Start and end of a thread: in both the stack is replaced while code runs on it,
 * which C cannot express.
 */
#include "host.h"
#ifdef ARCH_X86_64
#include "../generic/function.h"

/*
 * arch_clone(flags, stack_top, parent_tid, child_tid, tls, entry, argument)
 *
 * Parent and child continue after the same instruction with the same registers,
 * except rax (tid or 0) and rsp.  Entry and argument are passed on the child's new
 * stack, above a return address of 0 that ends a stack walk: for two instructions
 * the unwind rule of the parent is also in force for the child.
 *
 *	stack_top (16-aligned) ->	+----------+
 *					| argument |
 *					| entry    |
 *					| 0        | <- rsp of the child
 */
FUNCTION(arch_clone, 16)
	mov	8(%rsp), %rax		/* the seventh argument is on the stack */
	and	$-16, %rsi
	mov	%rax, -8(%rsi)
	mov	%r9, -16(%rsi)
	movq	$0, -24(%rsi)
	sub	$24, %rsi
	mov	%rcx, %r10
	mov	$56, %eax
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:
	.cfi_undefined rip		/* the outermost frame: no caller      */
	xor	%ebp, %ebp		/* no caller for unwinding by rbp, too */
	pop	%rax
	pop	%rax
	pop	%rdi
	call	*%rax
	ud2				/* entry does not return              */
FUNCTION_END(arch_clone)

/*
 * arch_unmap_exit(stack, length): between the two calls there is no stack, so no
 * memory is accessed, and no signal handler may run (the caller blocks signals).
 */
FUNCTION(arch_unmap_exit, 16)
	mov	$11, %eax		/* munmap */
	syscall
	.cfi_undefined rip		/* the return address is unmapped now */
	mov	$60, %eax		/* exit, of this thread alone */
	xor	%edi, %edi
	syscall
	ud2
FUNCTION_END(arch_unmap_exit)

/* arch_prctl(ARCH_SET_FS, pointer) */
FUNCTION(arch_set_thread_pointer, 16)
	mov	%rdi, %rsi
	mov	$0x1002, %edi
	mov	$158, %eax
	syscall
	ret
FUNCTION_END(arch_set_thread_pointer)

/* Returns the result of arch_prctl(ARCH_GET_FS), because %fs:0 itself would be a fault if the base is 0. */
FUNCTION(arch_thread_pointer, 16)
	push	$0			/* the kernel stores its answer here */
	.cfi_adjust_cfa_offset 8
	mov	%rsp, %rsi
	mov	$0x1003, %edi
	mov	$158, %eax
	syscall
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
FUNCTION_END(arch_thread_pointer)

	.section .note.GNU-stack, "", @progbits
#endif
