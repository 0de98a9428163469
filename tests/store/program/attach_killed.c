/* SPDX-License-Identifier: MIT */
/*
 * A process that is killed while it attaches and recovers what another one left.  It is stopped
 * after each instruction from the moment it has mapped the file; where the instruction changed
 * what rules the heap, the file is copied, and in the copy it is dead: the next one attaches.
 *
 *   victim      map: i i i i i i i i i i ... attached
 *                      |     |   |                      (i that changed something)
 *   survivor           C     C   C                      a copy of the file, without the victim
 */
/* promises: ash_heap_attach_file */
#include "backend/region.h"
#include "store/process/life.h"
#include "store/program/beside.h"
#include "program/copy_of.h"
#include "store/process/share.h"
#include "store/file/store.h"

static struct lives {
	uint64_t thread, process, ended; /* of the victim; of one that has ended */
	size_t chunks;			 /* that were free in the first copy, when all was released */
	size_t blocks;			 /* of the dead, at most                                     */
	_Atomic size_t looks;
} *lives;

/* ---- the survivor ---- */

static void dies(uint64_t *word, unsigned shift)
{
	uint64_t flags = *word & (((uint64_t)1 << shift) - 1), life = *word >> shift;

	if (life != 0 && (life == lives->thread || life == lives->process))
		*word = lives->ended << shift | flags;
}

static void victim_dies(int fd)
{
	struct store *s = share_map_anywhere(fd, REGION_AT, true);
	size_t i;

	CHECK(s != NULL);
	for (i = 0; i < STRANGERS; i++)
		dies(&store_stranger(s, (unsigned)i)->life, 0);
	for (i = 0; i < 64; i++)
		dies((uint64_t *)(void *)((char *)s + CENSUS_AT) + i, 0);
	for (i = 0; i < s->records_used; i++)
		dies(&((struct owner *)(void *)((char *)s + RECORDS_AT + i * RECORD_BYTES))->state,
		     OWNER_THREAD);
	arch_munmap(s, REGION_AT);
}

static int release_it(void *count, void *p, UNUSED size_t size, const struct ash_heap_owner *owner)
{
	CHECK(!owner->live);
	ash_heap_release(theirs, p);
	++*(size_t *)count;
	return 0;
}

/* All that was there is there, and when it has been released no memory is missing. */
static _Noreturn void survivor(void)
{
	size_t blocks = 0, chunks = 0;

	file = copy_of(file);
	victim_dies(file);
	theirs = attach();
	heap_is_good(theirs);
	(void)ash_heap_walk(theirs, release_it, &blocks);
	CHECK(blocks > BLOCKS && blocks <= BLOCKS + 1 + lives->blocks);
	(void)ash_heap_trim(theirs, 0);
	while (ash_heap_alloc(theirs, CHUNK_SIZE) != NULL)
		chunks++;
	CHECK_EQ(ash_heap_check(theirs), 0);
	if (lives->chunks == 0)
		lives->chunks = chunks;
	CHECK(chunks >= CHUNKS - 1); /* one has the names */
	CHECK_EQ(chunks, lives->chunks);
	rt_exit(0);
}

/* ---- the victim ---- */

static const char *mapped_at;
static size_t apart, changes, instructions;

/* Copies what rules the heap, if it has changed: the first page, records, chunk records. */
static bool has_changed(void)
{
	static char head[PAGE_LEAST * 2], region[PAGE_LEAST], records[4][sizeof(struct owner)];
	static char chunks[CHUNKS + 2][sizeof(struct chunk) + CHUNK_RECORDS * sizeof(struct slab)];
	const struct region *r = (const struct region *)(const void *)(mapped_at + REGION_AT);
	bool changed = false;
	size_t i;

#define COMPARE(copy, there)                                                                       \
	do {                                                                                       \
		if (memcmp(copy, there, sizeof(copy)) != 0) {                                      \
			memcpy(copy, there, sizeof(copy));                                         \
			changed = true;                                                            \
		}                                                                                  \
	} while (0)
	COMPARE(head, mapped_at);
	COMPARE(region, mapped_at + REGION_AT);
	for (i = 0; i < 4; i++)
		COMPARE(records[i], mapped_at + RECORDS_AT + i * RECORD_BYTES);
	for (i = 0; i < CHUNKS + 2 && i < r->chunks; i++)
		COMPARE(chunks[i], (const char *)region_chunk(r, i));
	return changed;
}

static void look(void)
{
	unsigned n = ++control->asked;

	while (control->done != n)
		rt_sleep(10000);
	lives->looks++;
}

static void trap_of_victim(UNUSED int number, UNUSED void *info, void *context)
{
	trap_go_on(context, in_steps);
	if (!in_steps)
		return;
	instructions++;
	if (has_changed() && changes++ % apart == rt_test_seed() % apart)
		look();
	trap_string(context);
}

static void step_victim(void)
{
	mapped = NULL;
	lives->thread = life_of_thread();
	lives->process = life_of_process();
	rt_signal(SIGTRAP_NUMBER, trap_of_victim);
	(void)has_changed();
	in_steps = true;
	trap_begin();
}

/* The file's mapping is where the store says. */
static const char *place(void)
{
	uint64_t base;

	CHECK_EQ(arch_pread64(file, &base, 8, offsetof(struct store, base)), 8);
	return (const char *)base; /* NOLINT: an address */
}

static _Noreturn void victim(void)
{
	mapped_at = place();
	mapped = step_victim; /* before, nothing is changed */
	theirs = attach();
	in_steps = false;
	control->steps = instructions;
	control->calls = changes;
	rt_exit(0);
}

/* ---- the cases ---- */

static _Noreturn void survivors(void)
{
	unsigned n = 0;

	rt_end_with_parent();
	for (;;) {
		while (control->asked == n)
			rt_sleep(10000);
		n++;
		IN_CHILD
			survivor();
		control->done = n;
	}
}

/* What the victim finds: one that ended, or died at an instruction of the act. */
static void died_in(size_t act, size_t at)
{
	int status;

	control->act = act;
	control->dies_at = at;
	status = rt_wait(CHILD(actor()));
	CHECK(status == 0 || status == DIED);
}

static void killed(size_t act, size_t at)
{
	long parent;
	int status;

	begin();
	died_in(act, at);
	lives->chunks = 0;
	lives->blocks = 3; /* that the act held */
	control->asked = control->done = 0;
	parent = CHILD(survivors());
	(void)CHILD(rt_end_with_parent(); victim());
	/* A survivor that fails ends its parent, and the victim would wait for ever. */
	(void)rt_wait_any(&status);
	if (status != 0)
		rt_print("     after a death in \"%s\" at %zu: change %zu\n", acts[act].name, at, (size_t)lives->looks);
	CHECK_EQ(status, 0);
	rt_kill(parent, 9);
	(void)rt_wait(parent);
	arch_close(file);
}

static void ends(void)
{
	lives->ended = life_of_process();
	rt_exit(0);
}

TEST(attach_killed_at_each_change, 3000)
{
	static const struct {
		size_t act, at;
	} before[] = {{SPANS, 600}, {SLABS, SIZE_MAX}, {KEEPS, SIZE_MAX}, {SYNCS, SIZE_MAX}, {SLABS, 2500},
		      {KEEPS, 400},	 {SLABS, 1500},	    {EXTENDS, 300},    {TRIMS, 3000}};
	size_t i, all = 0, steps = 0;

	trap_need();
	control = shared_page();
	lives = rt_map_shared(4096);
	IN_CHILD
		ends();
	apart = rt_in_full() ? 1 : 5;
	for (i = 0; i < sizeof before / sizeof before[0]; i += rt_in_full() ? 1 : 9) {
		killed(before[i].act, before[i].at);
		all += control->calls;
		steps += control->steps;
	}
	rt_print("     %zu instructions, %zu of them changed the heap: killed at %zu\n", steps, all,
		 (size_t)lives->looks);
	CHECK(all > 20 && lives->looks > 4);
}
