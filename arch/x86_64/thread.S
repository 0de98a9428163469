/* SPDX-License-Identifier: MIT */
/*
 * Start and end of a thread: the two places where the stack changes under the
 * code's feet, so C cannot write them.
 */

/*
 * arch_clone(flags, stack_top, parent_tid, child_tid, tls, entry, argument)
 *
 * Parent and child return from the same instruction with the same registers,
 * except rax (tid or 0) and rsp.  Entry and argument reach the child on top
 * of its own stack:
 *
 *	stack_top (16-aligned) ->	+----------+
 *					| argument |
 *					| entry    | <- rsp of the child
 */
	.section .text.arch_clone, "ax", @progbits
	.balign	16
	.globl	arch_clone
	.type	arch_clone, @function
arch_clone:
	mov	8(%rsp), %rax		/* the seventh argument comes on the stack */
	and	$-16, %rsi
	mov	%rax, -8(%rsi)
	mov	%r9, -16(%rsi)
	sub	$16, %rsi
	mov	%rcx, %r10
	mov	$56, %eax
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:
	xor	%ebp, %ebp		/* the outermost frame, for debuggers */
	pop	%rax
	pop	%rdi
	call	*%rax
	ud2				/* entry does not return              */
	.size	arch_clone, . - arch_clone

/*
 * arch_unmap_exit(stack, length): between the two calls there is no stack, so
 * no memory is touched and no signal may have a handler on it (the caller
 * blocks them).
 */
	.section .text.arch_unmap_exit, "ax", @progbits
	.balign	16
	.globl	arch_unmap_exit
	.type	arch_unmap_exit, @function
arch_unmap_exit:
	mov	$11, %eax		/* munmap */
	syscall
	mov	$60, %eax		/* exit, of this thread alone */
	xor	%edi, %edi
	syscall
	ud2
	.size	arch_unmap_exit, . - arch_unmap_exit

	.section .note.GNU-stack, "", @progbits
