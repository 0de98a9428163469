/* SPDX-License-Identifier: MIT */
/*
 * A plugin of QEMU's user mode (7.2, no header of which Debian ships): single steps on CPUs
 * whose programs have no trap flag.  With QEMU's option -singlestep a thread gets SIGTRAP after
 * each instruction, from the call stepper_begin (stepper.h) on:
 *
 *	off --begin--> on --an instruction is about to be executed: SIGTRAP--> stopped
 *	                ^                                                         |
 *	                +--- sigreturn of the handler <--- told <--- go on -------+
 *
 * The signal is delivered after that instruction, as QEMU delivers signals between its
 * translated blocks, which are of one instruction each then.  While the handler runs, and
 * for all other threads, nothing happens.
 *
 * From a load-linked to its store-conditional there is no stop: a handler between them makes
 * the store fail every time.  A signal that is raised before a system call makes QEMU
 * begin the call again after the handler, for ever: it is raised when the call returns.
 *
 * Loaded into QEMU, so it is for the host's CPU, and uses the C library that QEMU uses.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/stepper_calls.h"

#define EXPORT __attribute__((visibility("default")))

/* What QEMU's plugin interface has of this, version 1. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct info {
	const char *target;
	struct {
		int least, current;
	} version;
	bool system;
	int cpus, cpus_most;
};
typedef void on_block(uint64_t id, struct qemu_plugin_tb *block);
typedef void on_instruction(unsigned cpu, void *data);
typedef void on_return(uint64_t id, unsigned cpu, int64_t number, int64_t result);
typedef void on_call(uint64_t id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, on_block *call);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, on_call *call);
void qemu_plugin_register_vcpu_syscall_ret_cb(uint64_t id, on_return *call);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, on_instruction *call,
					    int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t id, const struct info *info, int argc, char **argv);

int raise(int signal); /* of the C library: to the calling thread */

enum { SIGTRAP = 5 };

/* A store-conditional follows its load-linked by fewer instructions, or not at all. */
enum { LINKED_MOST = 12 };

static __thread enum { OFF, ON, STOPPED, TOLD } state;
static __thread unsigned linked; /* instructions that are left of LINKED_MOST */
/* What an instruction means to this plugin, and the number of the system call sigreturn. */
enum meaning { PLAIN, LINK, CONDITIONAL, CALL };
static enum meaning (*meaning_of)(uint32_t word, size_t size);
static int64_t sigreturn;

/*
 * True: the instruction is one of a short loop that has gone on for long, as memset of a large
 * block, which on x86_64 is one instruction.  Then only one of many is stopped after.
 */
static bool is_passed_over(uintptr_t at)
{
	enum { NEAR = 128, LONG = 3000, APART = 1009 };
	static __thread uintptr_t place;
	static __thread unsigned stayed;

	if (at - place + NEAR > 2 * NEAR) {
		place = at;
		stayed = 0;
	}
	return ++stayed > LONG && stayed % APART != 0;
}

/* at: its address. */
static void step(__attribute__((unused)) unsigned cpu, void *at)
{
	if (state != ON || is_passed_over((uintptr_t)at))
		return;
	if (linked > 0) {
		linked--;
		return;
	}
	state = STOPPED;
	(void)raise(SIGTRAP);
}

/* No stop behind a load-linked, either. */
static void link(__attribute__((unused)) unsigned cpu, __attribute__((unused)) void *at)
{
	if (state == ON)
		linked = LINKED_MOST;
}

static void conditional(unsigned cpu, void *at)
{
	if (state == ON)
		linked = 0;
	step(cpu, at);
}

static void translate(__attribute__((unused)) uint64_t id, struct qemu_plugin_tb *block)
{
	size_t i, n = qemu_plugin_tb_n_insns(block);

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		size_t size = qemu_plugin_insn_size(insn), k;
		const unsigned char *bytes = qemu_plugin_insn_data(insn);
		void *at = (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn);
		enum meaning means;
		uint32_t word = 0;

		for (k = 0; k < size && k < sizeof word; k++)
			word |= (uint32_t)bytes[k] << (8 * k);
		means = meaning_of(word, size);
		if (means != CALL)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, means == PLAIN ? step : means == LINK ? link : conditional, 0, at);
	}
}

static void system_call(__attribute__((unused)) uint64_t id, __attribute__((unused)) unsigned cpu,
			int64_t number, uint64_t what, __attribute__((unused)) uint64_t b,
			__attribute__((unused)) uint64_t c, __attribute__((unused)) uint64_t d,
			__attribute__((unused)) uint64_t e, __attribute__((unused)) uint64_t f,
			__attribute__((unused)) uint64_t g, __attribute__((unused)) uint64_t h)
{
	if (number == STEPPER_CALL && (what == STEPPER_BEGIN || what == STEPPER_GO_ON))
		state = what == STEPPER_BEGIN ? ON : TOLD;
	else if (number == sigreturn && state == TOLD)
		state = ON;
}

static void returned(__attribute__((unused)) uint64_t id, unsigned cpu, int64_t number,
		     __attribute__((unused)) int64_t result)
{
	/* Behind sigreturn follows the instruction that was stopped before. */
	if (number != sigreturn)
		step(cpu, NULL);
}

/* ---- CPUs ---- */

static enum meaning meaning_aarch64(uint32_t word, __attribute__((unused)) size_t size)
{
	/* LDXR, LDXP and their acquire forms; STXR, STXP and their release forms; SVC. */
	if ((word & 0x3fc00000) == 0x08400000)
		return LINK;
	/* With bit 31 clear, bit 21 makes it CASP. */
	if ((word & 0x3fc00000) == 0x08000000 && (word & 0x80200000) != 0x00200000)
		return CONDITIONAL;
	return (word & 0xffe0001f) == 0xd4000001 ? CALL : PLAIN;
}

static enum meaning meaning_riscv64(uint32_t word, size_t size)
{
	/* LR and SC, of any width and order; ECALL. */
	if (size != sizeof word)
		return PLAIN;
	if ((word & 0xf800007f) == 0x1000002f)
		return LINK;
	if ((word & 0xf800007f) == 0x1800002f)
		return CONDITIONAL;
	return word == 0x00000073 ? CALL : PLAIN;
}

static enum meaning meaning_x86_64(uint32_t word, size_t size)
{
	return size == 2 && word == 0x050f ? CALL : PLAIN; /* SYSCALL */
}

int qemu_plugin_install(uint64_t id, const struct info *info, __attribute__((unused)) int argc,
			__attribute__((unused)) char **argv)
{
	sigreturn = info->target[0] == 'x' ? 15 : 139;
	meaning_of = info->target[0] == 'a'   ? meaning_aarch64
		     : info->target[0] == 'r' ? meaning_riscv64
					      : meaning_x86_64;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_vcpu_syscall_cb(id, system_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, returned);
	return 0;
}
