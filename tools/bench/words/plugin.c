/* SPDX-License-Identifier: MIT */
/*
 * A plugin of QEMU's user mode: which word of memory is written how often, by whom, and what
 * that costs on a machine with more cores than this one.
 *
 *	qemu-x86_64 -plugin words.so,out=FILE,cores=64,nodes=1,machine=zen4,line=64 PROGRAM
 *
 * Between MARK_BEGIN and MARK_END (marks.h) each access of memory goes to the model
 * (caches.h), thread by thread in the model's time (turns.h).  System calls cost nothing but
 * the change of privilege: what the kernel does is not in the model.
 */
#include <stdlib.h>
#include <string.h>

#include "caches.h"
#include "marks.h"
#include "places.h"
#include "qemu.h"

EXPORT int qemu_plugin_version = 1;

/* System calls of x86_64. */
enum { CALL_YIELD = 24, CALL_SLEEP = 35, CALL_CLONE = 56, CALL_EXIT = 60, CALL_WAIT = 61, CALL_FUTEX = 202,
       CALL_CLOCK_SLEEP = 230 };
#define CALL_COST UINT64_C(100000) /* ps */

static const char *path;
static unsigned core_count = 2, node_count = 1, line_bytes = 64;
static bool on;
static unsigned started;
static uint64_t begun, instructions;

static bool is_mine(void)
{
	if (!on)
		return false;
	if (me == NULL)
		turns_enter();
	return true;
}

static void executed(__attribute__((unused)) unsigned cpu, void *n)
{
	if (!is_mine())
		return;
	instructions += (uintptr_t)n;
	me->core->clock += (uintptr_t)n * machine.instruction;
	turns_check();
}

static void accessed(__attribute__((unused)) unsigned cpu, uint32_t access, uint64_t address, void *locked)
{
	if (is_mine()) {
		turns_check();
		caches_access(address, 1u << qemu_plugin_mem_size_shift(access), qemu_plugin_mem_is_store(access),
			      locked != NULL);
	}
}

static void block_marked(__attribute__((unused)) unsigned cpu, __attribute__((unused)) uint32_t access,
			 uint64_t address, void *kind)
{
	if (is_mine())
		((uintptr_t)kind == MARK_TAKEN ? places_taken : places_given)(address);
}

static void begin(__attribute__((unused)) unsigned cpu, __attribute__((unused)) void *data)
{
	turns_begin(core_count, node_count);
	begun = turns_now();
	on = true;
}

static void reset(__attribute__((unused)) unsigned cpu, __attribute__((unused)) void *data)
{
	begun = turns_now();
	instructions = 0;
	caches_reset();
}

static void end(__attribute__((unused)) unsigned cpu, __attribute__((unused)) void *data)
{
	FILE *out = fopen(path, "w");

	on = false;
	if (out == NULL)
		abort();
	fprintf(out, "T %lu %lu\n", (turns_now() - begun) / 1000, instructions);
	caches_write(out);
	fclose(out);
}

/* The kind of mark that the instruction is; 0: none. */
static unsigned mark_of(const struct qemu_plugin_insn *insn)
{
	static const unsigned char head[] = MARK_HEAD;
	const unsigned char *bytes = qemu_plugin_insn_data(insn);

	if (qemu_plugin_insn_size(insn) != MARK_BYTES || memcmp(bytes, head, sizeof head) != 0)
		return 0;
	return bytes[sizeof head];
}

/* With a lock prefix, or an exchange, which has none and is locked. */
static bool is_locked(const struct qemu_plugin_insn *insn)
{
	const unsigned char *b = qemu_plugin_insn_data(insn), *last = b + qemu_plugin_insn_size(insn) - 1;

	for (; b < last && (*b == 0x66 || *b == 0xf0 || (*b & 0xf0) == 0x40); b++)
		if (*b == 0xf0)
			return true;
	return *b == 0x86 || *b == 0x87;
}

static void translate(__attribute__((unused)) uint64_t id, struct qemu_plugin_tb *block)
{
	size_t i, n = qemu_plugin_tb_n_insns(block);
	unsigned before = 0;

	qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void *)n);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		unsigned mark = mark_of(insn);

		if (mark == MARK_BEGIN || mark == MARK_END || mark == MARK_RESET)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, mark == MARK_BEGIN ? begin : mark == MARK_END ? end : reset, 0, NULL);
		if (before == MARK_TAKEN || before == MARK_GIVEN)
			qemu_plugin_register_vcpu_mem_cb(insn, block_marked, 0, MEMORY_BOTH, (void *)(uintptr_t)before);
		else
			qemu_plugin_register_vcpu_mem_cb(insn, accessed, 0, MEMORY_BOTH,
							 is_locked(insn) ? insn : NULL);
		before = mark;
	}
}

static bool may_block(int64_t number)
{
	return number == CALL_FUTEX || number == CALL_SLEEP || number == CALL_CLOCK_SLEEP || number == CALL_WAIT;
}

static void system_call(__attribute__((unused)) uint64_t id, __attribute__((unused)) unsigned cpu, int64_t number,
			__attribute__((unused)) uint64_t a, __attribute__((unused)) uint64_t b,
			__attribute__((unused)) uint64_t c, __attribute__((unused)) uint64_t d,
			__attribute__((unused)) uint64_t e, __attribute__((unused)) uint64_t f,
			__attribute__((unused)) uint64_t g, __attribute__((unused)) uint64_t h)
{
	if (!is_mine())
		return;
	me->core->clock += CALL_COST;
	if (number == CALL_EXIT)
		turns_end();
	else if (may_block(number))
		turns_block();
	else if (number == CALL_YIELD)
		turns_yield();
}

static void returned(__attribute__((unused)) uint64_t id, __attribute__((unused)) unsigned cpu, int64_t number,
		     int64_t result)
{
	if (!on || me == NULL)
		return;
	if (may_block(number))
		turns_return();
	/* The new thread is there before the old one goes on, or its beginning would be anywhere. */
	else if (number == CALL_CLONE && result > 0)
		turns_started(++started);
}

/* An option NAME=VALUE; times are in picoseconds. */
static bool option(const char *name, const char *value)
{
	const struct {
		const char *name;
		unsigned *value;
	} numbers[] = {{"cores", &core_count}, {"nodes", &node_count}, {"line", &line_bytes}};
	const struct {
		const char *name;
		uint64_t *value;
	} times[] = {{"instruction", &machine.instruction}, {"locked", &machine.locked}, {"near", &machine.near},
		     {"node", &machine.node}, {"far", &machine.far}};

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(name, numbers[i].name) == 0)
			return (*numbers[i].value = (unsigned)atoi(value)) != 0;
	for (unsigned i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (strcmp(name, times[i].name) == 0)
			return (*times[i].value = (uint64_t)atol(value)) != 0;
	if (strcmp(name, "out") == 0)
		return (path = strdup(value)) != NULL;
	return strcmp(name, "machine") == 0 && caches_machine(value);
}

int qemu_plugin_install(uint64_t id, __attribute__((unused)) const struct info *info, int argc, char **argv)
{
	(void)caches_machine("zen4");
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (value == NULL)
			return 1;
		*value = '\0';
		if (!option(argv[i], value + 1))
			return 1;
	}
	if (path == NULL || core_count > CORES_MOST || core_count % node_count != 0 || !caches_begin(line_bytes))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_vcpu_syscall_cb(id, system_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, returned);
	return 0;
}
