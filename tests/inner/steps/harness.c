/* SPDX-License-Identifier: MIT */
/* The harness: the victim, stepped through each path. */
#include "inner/steps/harness.h"

#include "backend/map.h"
#include "front/block.h"
#include "inner/instructions.h"
#include "step_over.h"
#include "syscall.h"
#include "thread/owner.h"

/*
 * A call that retries is lock-free, not wait-free: others who come between at
 * every boundary keep it from ever ending.  After so many acts they leave it
 * alone; its later boundaries are then met in runs of their own, with room for
 * a retry between two acts.
 */
enum { ENOUGH = 3800, ENOUGH_THIN = 400, APART = 67, NEVER = 1 << 30, FRESH = NEVER - 1 };
enum { SHORT = 100, ONCE = 500, IDLE = 300, PATHS = 80, WORKERS = 2 };

/*
 * make soak: everything; make test-long: every boundary of a call, or with STEPS_SHARE=n each nth boundary and the first
 * before each instruction; make test: the first boundary before each instruction that any path meets, and some others.
 */
enum { THIN = 33 };
static size_t thin(void)
{
	size_t apart = rt_getenv("STEPS_SOAK") != NULL ? 1 : 9 * rt_share();

	return rt_in_full() && apart < THIN ? apart : THIN;
}

static size_t enough(void)
{
	return rt_in_full() ? ENOUGH : ENOUGH_THIN;
}

/* Shared with the workers and their children. */
static struct shared {
	_Atomic size_t next, acts; /* the first path that no process has taken yet; of all */
	struct result {
		size_t boundaries, acted;
		bool passed;
	} results[PATHS];
	struct instructions instructions;
} * shared;

/* ---- stepping ---- */

static void (*act)(void);
static const struct path *current;
static size_t idle, boundaries, stride, offset, acted;
static size_t turns = 1, turn; /* instructions of so many kinds, and whose turn it is */
static volatile bool stepping;
static bool passed, strayed;

/* True: no act was before this instruction yet, in any path, and one shall be. */
static bool is_due(uint64_t pc)
{
	/* A run of NEVER has one act; in full also what is met only after it, and by FRESH all. */
	if (stride == NEVER && (!rt_in_full() || (offset != FRESH && acted == 0)))
		return false;
	return !rt_under_qemu() && pc % turns == turn &&
	       !instruction_is_in(shared->instructions.done, pc);
}

static void trap(UNUSED int number, UNUSED void *info, void *context)
{
	uintptr_t pc = step_over_pc(context);

	trap_go_on(context, stepping);
	if (!stepping)
		return;
	passed |= pc == (uintptr_t)current->passes;
	strayed |= pc == (uintptr_t)current->avoids;
	idle = is_due(pc) || !instruction_is_in(shared->instructions.met, pc) ? 0 : idle + 1;
	instruction_note(shared->instructions.met, pc);
	if ((boundaries++ % stride == offset && acted < enough()) || is_due(pc)) {
		instruction_note(shared->instructions.done, pc);
		act();
		steps_count_blocks();
		acted++;
	}
	trap_string(context);
	step_over(context, !rt_in_full() && idle > IDLE, (uintptr_t)current->passes, (uintptr_t)current->avoids);
}

static size_t path_count(void)
{
	return steps_path_count + steps_fast_count;
}

static const struct path *path_at(size_t i)
{
	return i < steps_path_count ? &steps_paths[i] : &steps_fast[i - steps_path_count];
}

static void run_path(const struct path *path, size_t every, size_t from, struct result *result)
{
	current = path;
	step_size = path->size;
	step_stays = path->passes == NULL ? 200 : 0;
	stride = every;
	offset = from;
	rt_signal(SIGTRAP_NUMBER, trap);
	acts_begin(rt_test_seed() + path->size, every < 10 ? 3000 : 300);
	if (path->prepare != NULL)
		path->prepare();
	passed = path->passes == NULL;
	strayed = false;
	stepping = true;
	trap_begin();
	path->call();
	stepping = false;
	step_over_end();
	CHECK(seat.open != 0 || seat.record == NULL);
	CHECK(!steps_is_kept(step_block));
	/* It may count as one block and be another, or a block that was released. */
	CHECK(step_block == NULL || chunk_block(map_find(step_block), step_block) > 0);
	steps_count_blocks();
	acts_end();
	*result = (struct result){boundaries, acted, passed && !strayed};
}

/* One path in a process of its own; the number of acts. */
static size_t run_child(const char *name, size_t i, size_t every, size_t from,
			struct result *result)
{
	long pid = rt_fork();
	int status;

	if (pid == 0) {
		run_path(path_at(i), every, from, result);
		rt_exit(0);
	}
	status = rt_wait(pid);
	if (status != 0)
		rt_print("     %s: path \"%s\" from %zu\n", name, path_at(i)->name, from);
	CHECK_EQ(status, 0);
	return result->acted;
}

static void do_path(const char *name, size_t i, size_t every)
{
	struct result *result = &shared->results[i];
	/* Paths that share instructions begin apart, and with each seed elsewhere. */
	size_t begin = (5 * i + rt_test_seed()) % (every < 13 ? every : 13);
	size_t acts = run_child(name, i, every, begin, result), from;
	bool passed_any = result->passed;

	if (acts >= enough())
		for (from = 0; from < APART; from += thin()) {
			acts += run_child(name, i, APART, from, result);
			passed_any |= result->passed;
		}
	/*
	 * At each boundary of a short call, also in make test: it may go wrong at one of them alone.
	 * At ONCE of a long one at most, as each costs all boundaries.
	 */
	for (from = 1; path_at(i)->once && from < result->boundaries;
	     from += result->boundaries < SHORT ? 1 : every + result->boundaries / ONCE)
		acts += run_child(name, i, NEVER, from, result);
	/*
	 * The others' doings may lead the call elsewhere: they grow the heap
	 * before it can.  Then one act a run, ever later.
	 */
	if (!passed_any) {
		size_t length = 40 * result->boundaries; /* elsewhere may be shorter */
		size_t passes = 0, runs = rt_in_full() ? SIZE_MAX : 4;

		for (from = 0; from < length && acts < 4 * enough() && passes < runs;
		     from += length / (270 / thin()) + 1) {
			acts += run_child(name, i, NEVER, from, result);
			passes += result->passed;
		}
		passed_any = passes > 0;
	}
	/* Instructions that were met on the way there, and nowhere else. */
	while (rt_in_full() && run_child(name, i, NEVER, FRESH, result) > 0)
		acts++;
	if (!passed_any)
		rt_print("     path \"%s\" was not taken\n", path_at(i)->name);
	CHECK(passed_any);
	if (rt_getenv("STEPS_TABLE") != NULL)
		rt_print("| %s | %s | %zu | %zu |\n", name, path_at(i)->name, result->boundaries,
			 acts);
	shared->acts += acts;
}

/* All paths, an act at every `every`-th boundary; two at a time. */
static void run_all(const char *name, void (*the_act)(void), size_t every)
{
	const char *only = rt_getenv("STEPS_ONLY");
	long pids[WORKERS];
	size_t i, missing;

	trap_need();
	shared = rt_map_shared(sizeof *shared);
	CHECK(path_count() <= PATHS);
	act = the_act;
	for (i = 0; i < WORKERS; i++) {
		pids[i] = rt_fork();
		if (pids[i] != 0)
			continue;
		while ((i = shared->next++) < path_count())
			if (only == NULL || rt_strstr(path_at(i)->name, only) != NULL)
				do_path(name, i, every);
		rt_exit(0);
	}
	for (i = 0; i < WORKERS; i++)
		CHECK_EQ(rt_wait(pids[i]), 0);
	rt_print("     %s: at %zu boundaries of %zu paths\n", name, (size_t)shared->acts,
		 path_count());
	missing = instructions_left(&shared->instructions, name);
	/* make test skips no instruction for ever. */
	if (rt_in_full() && only == NULL)
		CHECK_EQ(missing, 0);
}

/* A fork costs as much as some 100 steps: in make test four seeds share the instructions. */
static size_t forks_apart(void)
{
	turns = rt_in_full() ? 1 : 4;
	turn = rt_test_seed() % turns;
	return rt_getenv("STEPS_SOAK") != NULL ? 1 : rt_in_full() ? 3 * rt_share() : rt_under_qemu() ? 301 : 61;
}

static size_t calls_apart(void)
{
	return rt_in_full() ? rt_share() : 61;
}

TEST_CALL(steps_stop, 3600, run_all("stop", act_stop, calls_apart()));
TEST_CALL(steps_signal, 3600, run_all("signal", act_signal, calls_apart()));
TEST_CALL(steps_fork, 3600, run_all("fork", act_fork, forks_apart()));
TEST_CALL(steps_fork_by_other, 3600, run_all("fork by another", act_fork_by_other, forks_apart()));
