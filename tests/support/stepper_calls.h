/* SPDX-License-Identifier: MIT */
/* The calls of a program to the plugin of QEMU that stops it (steps_plugin.c). */
#ifndef TESTS_SUPPORT_STEPPER_CALLS_H
#define TESTS_SUPPORT_STEPPER_CALLS_H

/* A system call that no kernel has, and its first argument. */
enum {
	STEPPER_CALL = 3105,
	STEPPER_BEGIN = 0x57e9b, /* stop this thread after each instruction, beginning with the next */
	STEPPER_GO_ON = 0x57e90	 /* from SIGTRAP's handler: again when this handler has returned */
};

#endif
