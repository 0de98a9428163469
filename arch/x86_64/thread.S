/* SPDX-License-Identifier: MIT */
/*
 * Start and end of a thread: in both the stack is replaced while code runs on it,
 * which C cannot express.
 */
#include "host.h"
#ifdef ARCH_X86_64

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
	.section .text.arch_clone, "ax", @progbits
	.balign	16
	.globl	arch_clone
	.type	arch_clone, @function
arch_clone:
	.cfi_startproc
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
	.cfi_undefined rip		/* the outermost frame: no caller     */
	xor	%ebp, %ebp		/* the same for unwinding by rbp      */
	pop	%rax
	pop	%rax
	pop	%rdi
	call	*%rax
	ud2				/* entry does not return              */
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
	mov	$11, %eax		/* munmap */
	syscall
	.cfi_undefined rip		/* the return address is unmapped now */
	mov	$60, %eax		/* exit, of this thread alone */
	xor	%edi, %edi
	syscall
	ud2
	.cfi_endproc
	.size	arch_unmap_exit, . - arch_unmap_exit

/* arch_prctl(ARCH_SET_FS, pointer) */
	.section .text.arch_set_thread_pointer, "ax", @progbits
	.balign	16
	.globl	arch_set_thread_pointer
	.type	arch_set_thread_pointer, @function
arch_set_thread_pointer:
	.cfi_startproc
	mov	%rdi, %rsi
	mov	$0x1002, %edi
	mov	$158, %eax
	syscall
	ret
	.cfi_endproc
	.size	arch_set_thread_pointer, . - arch_set_thread_pointer

	.section .note.GNU-stack, "", @progbits
#endif
