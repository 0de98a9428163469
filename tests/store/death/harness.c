/* SPDX-License-Identifier: MIT */
/* The harness of deaths: the book, the others, the steps. */
#include "store/death/harness.h"
#include "inner/instructions.h"
#include "step_over.h"

#include "syscall.h"

enum { IDLE = 300, ENOUGH = 7000, SIGKILL = 9, PR_SET_PDEATHSIG = 1 };

ash_heap *death_heap;
size_t death_size;
void *death_block;
int death_fd;
uint64_t death_victim, death_ended;
struct book *book;

/* What a path and its runs tell each other; in memory that all of them see. */
struct result {
	size_t boundaries, looks, fills;
	bool passed;
};
static struct shared {
	struct result result;
	uint64_t ended;
	struct book book;
	struct instructions instructions;
} *shared;

/* ---- the book ---- */

struct entry *book_enter(void *p, size_t size)
{
	struct entry *e = &book->entry[book->count];
	size_t i;

	CHECK(p != NULL && book->count < BOOK);
	book->count++;
	*e = (struct entry){p, size, (unsigned)(book->count * 37), false};
	for (i = 0; i < size; i++)
		e->p[i] = (unsigned char)(e->key + i);
	return e;
}

void *book_take(size_t size)
{
	return book_enter(ash_heap_alloc(death_heap, size), size)->p;
}

void book_release(struct entry *e)
{
	ash_heap_release(death_heap, e->p);
	*e = book->entry[--book->count];
}

/* ---- the others ---- */

void death_by_ended(void (*work)(void))
{
	IN_CHILD
		work();
}

static void (*before_detaching)(void);

static void work_and_detach(void)
{
	before_detaching();
	ash_heap_thread_detach(death_heap);
}

void death_by_detached(void (*work)(void))
{
	before_detaching = work;
	death_by_ended(work_and_detach);
}

void death_by_live(void (*work)(void))
{
	unsigned before = book->live;

	if (rt_fork() == 0) {
		arch_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		work();
		book->live++;
		for (;;)
			rt_sleep(1000000000);
	}
	while (book->live == before)
		rt_yield();
}

/* ---- stepping ---- */

static const struct death_path *current;
static size_t idle, boundaries, stride, offset, looks;
static volatile bool stepping;
static bool passed;

/* True: no path has had a look before this instruction yet, and one shall have it. */
static bool is_due(uint64_t pc)
{
	return stride != SIZE_MAX && !rt_under_qemu() && current->apart == 0 &&
	       !instruction_is_in(shared->instructions.done, pc);
}

static void trap(UNUSED int number, UNUSED void *info, void *context)
{
	uintptr_t pc = step_over_pc(context);

	trap_go_on(context, stepping);
	if (!stepping)
		return;
	passed |= pc == (uintptr_t)current->passes;
	idle = is_due(pc) || !instruction_is_in(shared->instructions.met, pc) ? 0 : idle + 1;
	instruction_note(shared->instructions.met, pc);
	if (boundaries++ % stride == offset || is_due(pc)) {
		instruction_note(shared->instructions.done, pc);
		look();
		looks++;
	}
	trap_string(context);
	step_over(context, !rt_in_full() && idle > IDLE, (uintptr_t)current->passes, 0);
}

static void heap_make(void)
{
	death_fd = (int)arch_memfd_create("death", 0);
	CHECK(death_fd >= 0);
	death_heap = NOT_NULL(ash_heap_create_file(death_fd, (size_t)DEATH_CHUNKS << CHUNK_SHIFT, NULL));
}

static void run_path(const struct death_path *path, size_t every, size_t from)
{
	current = path;
	stride = every;
	offset = from;
	death_size = path->size;
	death_victim = life_of_thread();
	heap_make();
	if (path->prepare != NULL)
		path->prepare();
	look_prepare();
	rt_signal(SIGTRAP_NUMBER, trap);
	passed = path->passes == NULL;
	stepping = true;
	trap_begin();
	path->call();
	stepping = false;
	step_over_end();
	if (every != SIZE_MAX)
		look();
	shared->result = (struct result){boundaries, looks, look_fills(), passed};
}

static void run_child(const struct death_path *path, size_t every, size_t from)
{
	long pid;
	int status;

	book->count = 0;
	pid = rt_fork();
	if (pid == 0) {
		arch_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		run_path(path, every, from);
		rt_exit(0);
	}
	status = rt_wait(pid);
	if (status != 0)
		rt_print("     death: path \"%s\", every %zu from %zu\n", path->name, every, from);
	CHECK_EQ(status, 0);
}

static void unowned_make(void)
{
	/* PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS. */
	long at = arch_mmap(NULL, sizeof *shared, 3, 0x21, -1, 0);

	CHECK(at > 0);
	shared = (void *)at; /* NOLINT: the kernel's word is an address */
	book = &shared->book;
	IN_CHILD
		shared->ended = life_of_process();
	death_ended = shared->ended;
}

/* One run to count the boundaries; then all of them, or so many of a long path. */
static size_t walk_path(const struct death_path *path)
{
	size_t enough = rt_getenv("STEPS_SOAK") != NULL ? SIZE_MAX
			: rt_getenv("STEPS_FULL") != NULL ? ENOUGH / rt_share()
			: rt_under_qemu()		  ? 12
							  : 60;
	size_t every;

	run_child(path, SIZE_MAX, SIZE_MAX - 1);
	if (!shared->result.passed)
		rt_print("     path \"%s\" was not taken\n", path->name);
	CHECK(shared->result.passed);
	every = (shared->result.boundaries + enough - 1) / enough;
	if (every <= path->apart)
		every = path->apart + 1;
	every = every > 0 ? every : 1;
	run_child(path, every, rt_test_seed() % every);
	if (rt_getenv("STEPS_TABLE") != NULL)
		rt_print("| death | %s | %zu | %zu | %zu |\n", path->name,
			 shared->result.boundaries, shared->result.looks, shared->result.fills);
	return shared->result.looks;
}

TEST(death_steps, 3600)
{
	const char *only = rt_getenv("STEPS_ONLY");
	size_t i, sum = 0;

	trap_need();
	unowned_make();
	for (i = 0; i < death_path_count; i++)
		if (only == NULL || rt_strstr(death_paths[i].name, only) != NULL)
			sum += walk_path(&death_paths[i]);
	rt_print("     death: %zu states of %zu paths, 0 blocks with two owners, 0 lost\n", sum,
		 death_path_count);
	(void)instructions_left(&shared->instructions, "death");
}
