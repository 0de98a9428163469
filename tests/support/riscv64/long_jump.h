/* SPDX-License-Identifier: MIT */
/* A way out of the library, back to the call: see x86_64/long_jump.h. */
#ifndef TESTS_SUPPORT_LONG_JUMP_H
#define TESTS_SUPPORT_LONG_JUMP_H

#include <stdint.h>

typedef uint64_t jump[26];
__attribute__((returns_twice)) int jump_set(jump j);
_Noreturn void jump_back(jump j);

__asm__(".text\n"
	".balign 4\n"
	".globl jump_set\n"
	"jump_set:\n"
	"	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"
	"	sd	s\\n, 8 * \\n(a0)\n"
	"	fsd	fs\\n, 112 + 8 * \\n(a0)\n"
	"	.endr\n"
	"	sd	ra, 96(a0)\n"
	"	sd	sp, 104(a0)\n"
	"	li	a0, 0\n"
	"	ret\n"
	".globl jump_back\n"
	"jump_back:\n"
	"	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"
	"	ld	s\\n, 8 * \\n(a0)\n"
	"	fld	fs\\n, 112 + 8 * \\n(a0)\n"
	"	.endr\n"
	"	ld	ra, 96(a0)\n"
	"	ld	sp, 104(a0)\n"
	"	li	a0, 1\n"
	"	ret\n");

#endif
