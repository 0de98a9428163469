/* SPDX-License-Identifier: MIT */
/*
 * A plugin of QEMU's user mode (7.2, no header of which Debian ships) that counts what each
 * call of a malloc takes, on x86_64: instructions of the program, system calls, and bytes
 * that these give back to the system.  Counts do not depend on what else the machine does.
 *
 *	qemu-x86_64 -plugin count.so PROGRAM
 *
 * The program has a begin mark before each call and an end mark behind it (scale_mark in scale.c):
 * nops that no compiler emits, whose last byte but one is the kind of call.  At the end of
 * the program, for each kind that was met:
 *
 *	worst-alloc-instructions N	of the call that took most instructions
 *	worst-alloc-calls N		of the call that made most system calls
 *	worst-alloc-purged N		of the call that gave most bytes back
 *	mean-alloc-instructions N	thousandths
 *
 * Loaded into QEMU, so it is for the host's CPU, and uses the C library that QEMU uses.
 */
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* What QEMU's plugin interface has of this, version 1. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct info;
typedef void on_block(uint64_t id, struct qemu_plugin_tb *block);
typedef void on_instruction(unsigned cpu, void *data);
typedef void on_exit(uint64_t id, void *data);
typedef void on_call(uint64_t id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, on_block *call);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, on_call *call);
void qemu_plugin_register_atexit_cb(uint64_t id, on_exit *call, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, on_instruction *call,
					    int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation,
						void *at, uint64_t add);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const struct info *info, int argc, char **argv);

/* Of the C library. */
int printf(const char *format, ...);
int fflush(void *file);

enum { INLINE_ADD = 0, MADVISE = 28, DONTNEED = 4, KINDS = 3 };

static const char *const names[KINDS] = {"alloc", "release", "resize"};
static uint64_t instructions, calls, purged; /* of the whole process so far */
static struct {
	uint64_t instructions, calls, purged; /* at the call's begin */
	uint64_t worst[3], all, count;
} kinds[KINDS];

static void mark_begin(__attribute__((unused)) unsigned cpu, void *kind)
{
	uintptr_t k = (uintptr_t)kind;

	kinds[k].instructions = instructions;
	kinds[k].calls = calls;
	kinds[k].purged = purged;
}

static void keep_most(uint64_t *most, uint64_t now)
{
	*most = now > *most ? now : *most;
}

static void mark_end(__attribute__((unused)) unsigned cpu, void *kind)
{
	uintptr_t k = (uintptr_t)kind;

	keep_most(&kinds[k].worst[0], instructions - kinds[k].instructions);
	keep_most(&kinds[k].worst[1], calls - kinds[k].calls);
	keep_most(&kinds[k].worst[2], purged - kinds[k].purged);
	kinds[k].all += instructions - kinds[k].instructions;
	kinds[k].count++;
}

static void translate(__attribute__((unused)) uint64_t id, struct qemu_plugin_tb *block)
{
	static const unsigned char mark[6] = {0x0f, 0x1f, 0x84, 0x00, 0x5c, 0xa1};
	size_t i, k, n = qemu_plugin_tb_n_insns(block);

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		const unsigned char *bytes = qemu_plugin_insn_data(insn);

		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD, &instructions, 1);
		if (qemu_plugin_insn_size(insn) != sizeof mark + 2)
			continue;
		for (k = 0; k < sizeof mark && bytes[k] == mark[k];)
			k++;
		if (k == sizeof mark && bytes[6] < KINDS)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, bytes[7] == 0 ? mark_begin : mark_end, 0,
							       (void *)(uintptr_t)bytes[6]);
	}
}

static void system_call(__attribute__((unused)) uint64_t id, __attribute__((unused)) unsigned cpu,
			int64_t number, __attribute__((unused)) uint64_t a, uint64_t bytes, uint64_t advice,
			__attribute__((unused)) uint64_t d, __attribute__((unused)) uint64_t e,
			__attribute__((unused)) uint64_t f, __attribute__((unused)) uint64_t g,
			__attribute__((unused)) uint64_t h)
{
	calls++;
	if ((number == MADVISE && advice == DONTNEED))
		purged += bytes;
}

static void report(__attribute__((unused)) uint64_t id, __attribute__((unused)) void *data)
{
	size_t k;

	for (k = 0; k < KINDS; k++) {
		if (kinds[k].count == 0)
			continue;
		printf("worst-%s-instructions %llu\n", names[k], (unsigned long long)kinds[k].worst[0]);
		printf("worst-%s-calls %llu\n", names[k], (unsigned long long)kinds[k].worst[1]);
		printf("worst-%s-purged %llu\n", names[k], (unsigned long long)kinds[k].worst[2]);
		printf("mean-%s-instructions %llu\n", names[k],
		       (unsigned long long)(kinds[k].all * 1000 / kinds[k].count));
	}
	fflush(NULL);
}

EXPORT int qemu_plugin_install(uint64_t id, __attribute__((unused)) const struct info *info,
			       __attribute__((unused)) int argc, __attribute__((unused)) char **argv)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_vcpu_syscall_cb(id, system_call);
	qemu_plugin_register_atexit_cb(id, report, NULL);
	return 0;
}
