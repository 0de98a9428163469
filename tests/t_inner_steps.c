/* SPDX-License-Identifier: MIT */
/* The harness: stepping, the other thread, what is done at each boundary. */
#include "steps.h"

#include "owner.h"
#include "stamp.h"
#include "syscall.h"

/* Places in the ucontext of a signal on x86_64. */
enum {
	SIGTRAP = 5,
	TRAP_FLAG = 0x100,
	CONTEXT_RDI = 104,
	CONTEXT_RSI = 112,
	CONTEXT_RAX = 144,
	CONTEXT_RCX = 152,
	CONTEXT_RIP = 168,
	CONTEXT_FLAGS = 176
};
enum { KEPT = 8192, GIFTS = 3000, OPERATIONS = 1000 };

/*
 * A call that retries is lock-free, not wait-free: others who come between at
 * every boundary keep it from ever ending.  After so many acts they leave it
 * alone; its later boundaries are then met in runs of their own, with room for
 * a retry between two acts.
 */
enum { ENOUGH = 3800, APART = 67, NEVER = 1 << 30 };

/* make soak: every one of those runs; make test: some. */
static size_t thin(void)
{
	return rt_getenv("STEPS_SOAK") != NULL ? 1 : rt_under_qemu() ? 60 : 9;
}

size_t step_size;
void *step_block;
_Atomic long steps_held;

static void *kept[KEPT];
static size_t kept_count;

void *steps_take(size_t size)
{
	void *p = ash_alloc(size);

	CHECK(p != NULL && kept_count < KEPT);
	kept[kept_count++] = p;
	steps_held++;
	return p;
}

/* ---- the other thread: one piece of work at a time ---- */

static void (*_Atomic task)(void);
static _Atomic bool quit;

static void other_main(__attribute__((unused)) void *argument)
{
	while (!quit) {
		void (*work)(void) = task;

		if (work == NULL) {
			(void)arch_sched_yield();
			continue;
		}
		work();
		task = NULL;
	}
}

/* May be called by the victim's handler: waits, but holds nothing of the library. */
void steps_other(void (*work)(void))
{
	task = work;
	while (task != NULL)
		(void)arch_sched_yield();
}

static void passing_main(void *work)
{
	(*(void (**)(void))work)();
}

void steps_passing_thread(void (*work)(void))
{
	struct rt_thread *t = rt_thread_start(passing_main, &work);

	CHECK(t != NULL);
	rt_thread_join(t);
}

/* ---- acts ---- */

static uint64_t gifts[GIFTS]; /* blocks of the victim that others release */
static _Atomic size_t gifts_left;
static struct rt_random chance;

static void release_gift(void)
{
	size_t left = gifts_left;

	if (left > 0) {
		gifts_left = left - 1;
		steps_held--;
		stamp_release(gifts[left - 1]);
	}
}

/* A thousand calls of all kinds; no block is left over. */
static void other_works(void)
{
	static uint64_t mine[40];
	unsigned n;

	for (n = 0; n < OPERATIONS; n++) {
		uint64_t *slot = &mine[rt_below(&chance, 40)];

		if (*slot == 0)
			*slot = stamp_alloc(&chance, n == 500);
		else if (n % 16 == 0)
			*slot = stamp_resize(*slot, stamp_random_size(&chance, false), n);
		else {
			stamp_release(*slot);
			*slot = 0;
		}
		if (n % 500 == 0)
			release_gift();
	}
	for (n = 0; n < 40; n++)
		if (mine[n] != 0) {
			stamp_release(mine[n]);
			mine[n] = 0;
		}
}

static void act_stop(void)
{
	steps_other(other_works);
}

/* Ten blocks of several classes in a handler: its own, the victim's, the other's. */
static uint64_t others_block;

static void other_allocates(void)
{
	others_block = stamp_set(ash_alloc(720), 720, 9);
}

static void act_signal(void)
{
	static const size_t sizes[10] = {8, 16, 40, 100, 500, 1500, 9000, 40000, 300000, 2500000};
	uint64_t block[10];
	unsigned i;

	steps_other(other_allocates);
	for (i = 0; i < 10; i++)
		block[i] = stamp_set(ash_alloc(sizes[i]), sizes[i], i);
	for (i = 0; i < 10; i += 2)
		stamp_release(block[i]);
	release_gift();
	stamp_release(others_block);
	block[3] = stamp_resize(block[3], 7000, 77);
	for (i = 1; i < 10; i += 2)
		stamp_release(block[i]);
}

static void every_class(void)
{
	size_t size;

	for (size = 8; size < (3u << 20); size += size / 5 + 8) {
		uint64_t block = stamp_set(ash_zalloc(1, size), size, size);

		stamp_release(block);
	}
}

/* The bitmaps and the books agree, but for the one that the call has in hand. */
static void count_blocks(void)
{
	struct ash_stats st;
	long difference;

	CHECK_EQ(ash_check(), 0);
	ash_stats(&st);
	difference = (long)st.blocks - steps_held;
	CHECK(difference >= -1 && difference <= 1);
}

/* In the child of a fork: the victim is this thread, or vanished. */
static void child(bool vanished)
{
	size_t n;

	every_class();
	for (n = 0; n < 5; n++)
		release_gift();
	if (vanished) /* take over what it held */
		for (n = 0; n < kept_count; n++, steps_held--)
			ash_release(kept[n]);
	count_blocks();
	rt_exit(0);
}

static void act_fork(void)
{
	long pid = rt_fork();

	if (pid == 0)
		child(false);
	CHECK(pid > 0);
	CHECK_EQ(rt_wait(pid), 0);
}

static void other_forks(void)
{
	long pid = rt_fork();

	if (pid == 0)
		child(true);
	CHECK(pid > 0);
	CHECK_EQ(rt_wait(pid), 0);
}

static void act_fork_by_other(void)
{
	steps_other(other_forks);
}

/* ---- stepping ---- */

static void (*act)(void);
static const struct path *current;
static size_t boundaries, stride, offset, acted;
static volatile bool stepping;
static bool passed;

static uint64_t *place(void *context, size_t at)
{
	return (uint64_t *)(void *)((char *)context + at);
}

/* A repeated string instruction traps once for each byte: we do all of them at once. */
static void do_string(void *context)
{
	uint64_t *rdi = place(context, CONTEXT_RDI), *rsi = place(context, CONTEXT_RSI);
	uint64_t *rcx = place(context, CONTEXT_RCX), *rip = place(context, CONTEXT_RIP);
	const unsigned char *code = (const unsigned char *)(uintptr_t)*rip;

	if (code[0] != 0xf3 || (code[1] != 0xaa && code[1] != 0xa4))
		return;
	if (code[1] == 0xaa) {
		memset((void *)(uintptr_t)*rdi, (int)*place(context, CONTEXT_RAX), *rcx);
	} else {
		memmove((void *)(uintptr_t)*rdi, (void *)(uintptr_t)*rsi, *rcx);
		*rsi += *rcx;
	}
	*rdi += *rcx;
	*rcx = 0;
	*rip += 2;
}

static void trap(__attribute__((unused)) int number, __attribute__((unused)) void *info,
		 void *context)
{
	uint64_t *flags = place(context, CONTEXT_FLAGS);
	uint64_t rip = *place(context, CONTEXT_RIP);

	*flags &= ~(uint64_t)TRAP_FLAG;
	if (!stepping)
		return;
	*flags |= TRAP_FLAG;
	passed |= rip == (uint64_t)(uintptr_t)current->passes;
	if (boundaries++ % stride == offset && acted < ENOUGH) {
		act();
		count_blocks();
		acted++;
	}
	do_string(context);
}

struct result {
	size_t boundaries, acted;
	bool passed;
};

static void run_path(const struct path *path, size_t every, size_t from, struct result *result)
{
	struct rt_thread *other;
	size_t i;

	current = path;
	step_size = path->size;
	stride = every;
	offset = from;
	rt_seed(&chance, rt_test_seed() + path->size);
	rt_signal(SIGTRAP, trap);
	other = rt_thread_start(other_main, NULL);
	CHECK(other != NULL);
	for (i = 0; i < GIFTS / (every < 10 ? 1 : 10); i++, steps_held++)
		gifts[gifts_left++] = stamp_set(ash_alloc(64), 64, i);
	steps_other(every_class);
	if (path->prepare != NULL)
		path->prepare();
	passed = path->passes == NULL;
	stepping = true;
	__asm__ volatile("int3" ::: "memory");
	path->call();
	stepping = false;
	count_blocks();
	quit = true;
	rt_thread_join(other);
	*result = (struct result){boundaries, acted, passed};
}

/* One path in a process of its own; the number of acts. */
static size_t run_child(const char *name, size_t i, size_t every, size_t from,
			struct result *result)
{
	long pid = rt_fork();
	int status;

	if (pid == 0) {
		run_path(&steps_paths[i], every, from, result);
		rt_exit(0);
	}
	status = rt_wait(pid);
	if (status != 0)
		rt_print("     %s: path \"%s\" from %zu\n", name, steps_paths[i].name, from);
	CHECK_EQ(status, 0);
	return result->acted;
}

/* All paths, an act at every `every`-th boundary, and a table of what was covered. */
static void run_all(const char *name, void (*the_act)(void), size_t every)
{
	/* Shared with the children: PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS. */
	struct result *result = (void *)arch_mmap(NULL, 4096, 3, 0x21, -1, 0);
	size_t i, sum = 0;

	act = the_act;
	for (i = 0; i < steps_path_count; i++) {
		const char *only = rt_getenv("STEPS_ONLY");
		bool passed_any;
		size_t acts, from;

		if (only != NULL && rt_strstr(steps_paths[i].name, only) == NULL)
			continue;
		acts = run_child(name, i, every, 0, result);
		passed_any = result->passed;

		if (acts >= ENOUGH)
			for (from = 0; from < APART; from += thin()) {
				acts += run_child(name, i, APART, from, result);
				passed_any |= result->passed;
			}
		/*
		 * The others' doings may lead the call elsewhere: they grow the heap
		 * before it can.  Then one act a run, ever later.
		 */
		if (!passed_any) {
			size_t length = 40 * result->boundaries; /* elsewhere may be shorter */

			for (from = 0; from < length && acts < 4 * ENOUGH; from += length / (270 / thin()) + 1) {
				acts += run_child(name, i, NEVER, from, result);
				passed_any |= result->passed;
			}
		}
		if (!passed_any)
			rt_print("     path \"%s\" was not taken\n", steps_paths[i].name);
		CHECK(passed_any);
		sum += acts;
		if (rt_getenv("STEPS_TABLE") != NULL)
			rt_print("| %s | %s | %zu | %zu |\n", name, steps_paths[i].name,
				 result->boundaries, acts);
	}
	rt_print("     %s: at %zu boundaries of %zu paths\n", name, sum, steps_path_count);
}

/* A fork costs a thousand times what a step does. */
static size_t forks_apart(void)
{
	return rt_getenv("STEPS_SOAK") != NULL ? 1 : rt_under_qemu() ? 400 : 30;
}

TEST(steps_stop, 3600)
{
	run_all("stop", act_stop, rt_under_qemu() ? 7 : 1);
}

TEST(steps_signal, 3600)
{
	run_all("signal", act_signal, rt_under_qemu() ? 7 : 1);
}

TEST(steps_fork, 3600)
{
	run_all("fork", act_fork, forks_apart());
}

TEST(steps_fork_by_other, 3600)
{
	run_all("fork by another", act_fork_by_other, forks_apart());
}
