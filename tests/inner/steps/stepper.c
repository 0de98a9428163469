/* SPDX-License-Identifier: MIT */
/* The source of single steps itself: the CPU's trap flag, or QEMU with a plugin. */
#include "syscall.h"
#include "trap_flag.h"

/* Sixteen instructions and a return. */
void stepper_block(void);
extern const char stepper_block_end[];
__asm__(".text\n"
	".balign 8\n"
	".globl stepper_block, stepper_block_end\n"
	"stepper_block:\n"
	".rept 16\n"
	"nop\n"
	".endr\n"
	"ret\n"
	"stepper_block_end:\n");

enum { INSIDE = 17 };

static volatile bool stepping;
static volatile size_t stops, inside;
static volatile uintptr_t last;
static volatile bool backwards;
static uint64_t handlers_word;

static void trap(UNUSED int number, UNUSED void *info, void *context)
{
	uintptr_t pc = trap_pc(context);

	if (stepping) {
		stops++;
		if (pc >= (uintptr_t)stepper_block && pc < (uintptr_t)stepper_block_end) {
			backwards |= inside > 0 && pc <= last;
			last = pc;
			inside++;
		}
		/* A handler that is itself between a load and a store, as far as there are such. */
		(void)__atomic_fetch_or(&handlers_word, 1, __ATOMIC_SEQ_CST);
	}
	trap_go_on(context, stepping);
}

static void step(void (*call)(void))
{
	trap_need();
	rt_signal(SIGTRAP_NUMBER, trap);
	stops = inside = 0;
	stepping = true;
	trap_begin();
	call();
	stepping = false;
}

TEST(stepper_stops_before_each_instruction, 10)
{
	step(stepper_block);
	CHECK_EQ(inside, INSIDE);
	CHECK(!backwards && stops > INSIDE && stops < 3 * INSIDE);
	step(stepper_block);
	CHECK_EQ(inside, INSIDE);
}

static uint64_t word;

static void atomics(void)
{
	uint64_t wrong = 7;
	unsigned i;

	for (i = 0; i < 8; i++)
		(void)__atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
	/* One that fails before its store, and one that does not. */
	if (!__atomic_compare_exchange_n(&word, &wrong, 100, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		(void)__atomic_compare_exchange_n(&word, &wrong, 200, false, __ATOMIC_SEQ_CST,
						  __ATOMIC_SEQ_CST);
	stepper_block();
}

TEST(stepper_lets_atomics_succeed, 10)
{
	step(atomics);
	CHECK_EQ(word, 200);
	CHECK(stops > INSIDE + 10);
}

static long process, descriptor, length;
static char text[64];

static void system_calls(void)
{
	process = arch_getpid();
	/* QEMU begins these again if a signal arrives before. */
	descriptor = arch_open("/proc/self/stat", 0, 0);
	length = arch_read(descriptor, text, sizeof text);
	arch_close(descriptor);
	stepper_block();
}

TEST(stepper_lets_system_calls_return, 10)
{
	step(system_calls);
	CHECK_EQ(process, arch_getpid());
	CHECK(descriptor >= 0 && length > 0);
	CHECK_EQ(inside, INSIDE);
}
