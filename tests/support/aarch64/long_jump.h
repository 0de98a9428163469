/* SPDX-License-Identifier: MIT */
/* A way out of the library, back to the call: see x86_64/long_jump.h. */
#ifndef TESTS_SUPPORT_LONG_JUMP_H
#define TESTS_SUPPORT_LONG_JUMP_H

#include <stdint.h>

typedef uint64_t jump[22];
__attribute__((returns_twice)) int jump_set(jump j);
_Noreturn void jump_back(jump j);

__asm__(".text\n"
	".balign 4\n"
	".globl jump_set\n"
	"jump_set:\n"
	"	stp	x19, x20, [x0]\n"
	"	stp	x21, x22, [x0, 16]\n"
	"	stp	x23, x24, [x0, 32]\n"
	"	stp	x25, x26, [x0, 48]\n"
	"	stp	x27, x28, [x0, 64]\n"
	"	stp	x29, x30, [x0, 80]\n"
	"	mov	x1, sp\n"
	"	str	x1, [x0, 96]\n"
	"	stp	d8, d9, [x0, 104]\n"
	"	stp	d10, d11, [x0, 120]\n"
	"	stp	d12, d13, [x0, 136]\n"
	"	stp	d14, d15, [x0, 152]\n"
	"	mov	x0, 0\n"
	"	ret\n"
	".globl jump_back\n"
	"jump_back:\n"
	"	ldp	x19, x20, [x0]\n"
	"	ldp	x21, x22, [x0, 16]\n"
	"	ldp	x23, x24, [x0, 32]\n"
	"	ldp	x25, x26, [x0, 48]\n"
	"	ldp	x27, x28, [x0, 64]\n"
	"	ldp	x29, x30, [x0, 80]\n"
	"	ldr	x1, [x0, 96]\n"
	"	mov	sp, x1\n"
	"	ldp	d8, d9, [x0, 104]\n"
	"	ldp	d10, d11, [x0, 120]\n"
	"	ldp	d12, d13, [x0, 136]\n"
	"	ldp	d14, d15, [x0, 152]\n"
	"	mov	x0, 1\n"
	"	ret\n");

#endif
