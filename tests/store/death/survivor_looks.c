/* SPDX-License-Identifier: MIT */
/* What a survivor finds if the victim dies now. */
#include "store/death/harness.h"
#include "inner/forget.h"

#include "ashlar_start.h"
#include "store/recover/block_tags.h"
#include "store/recover/builders.h"
#include "store/file/image.h"
#include "store/recover/recover.h"
#include "heaps/seats.h"
#include "syscall.h"

enum { READ_WRITE = 3, SHARED = 0x01, PRIVATE = 0x02, FIXED = 0x10, NORESERVE = 0x4000 };
enum { SLOTS = 8192, WORKING = 8, EARLY = 4 };

static void *tls_of_victim, *tls_of_survivor; /* thread pointers */
static struct entry *slot[SLOTS]; /* the book by address */
static unsigned seen[BOOK];
static size_t usable[BOOK];
static unsigned state;
static struct entry extra;
static uint64_t victims_owner;
static size_t extras, found, of_victim;
static bool lost_before; /* memory of others, which a path recovers */
static bool in_flight; /* a new block, when the victim died */

static struct store *store(void)
{
	return store_of(heap_of(death_heap));
}

static void map_as(long sharing)
{
	struct store *s = store();
	size_t bytes = s->bytes;

	CHECK_EQ(arch_mmap(s, bytes, READ_WRITE, sharing | FIXED | NORESERVE, death_fd, 0), s);
}

static struct entry **slot_of(const void *p)
{
	size_t i = (uintptr_t)p * 0x9e3779b97f4a7c15u >> 51;

	while (slot[i % SLOTS] != NULL && slot[i % SLOTS]->p != p)
		i++;
	return &slot[i % SLOTS];
}

void look_prepare(void)
{
	static _Alignas(64) char memory[4096];
	size_t i;

	CHECK(ashlar_tls_size() <= sizeof memory);
	tls_of_victim = (void *)(uintptr_t)cpu_thread_pointer();
	tls_of_survivor = ashlar_tls_init(memory);
	for (i = 0; i < book->count; i++)
		*slot_of(book->entry[i].p) = &book->entry[i];
	victims_owner = census_join(store());
	lost_before = !building_quiet(store()) || store_lost(store()) != 0;
}

/* ---- the victim is dead ---- */

static bool all_die; /* not only the victim */

static void die(uint64_t *word, unsigned shift)
{
	uint64_t flags = *word & (((uint64_t)1 << shift) - 1);

	if (*word >> shift == death_victim || (all_die && *word >> shift != 0))
		*word = death_ended << shift | flags;
}

static void victim_dies(void)
{
	struct store *s = store();
	struct owner *o;
	unsigned i;

	in_flight = false;
	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o)) {
		if (o->state >> OWNER_THREAD == death_victim && truth_of(o)->flight != 0)
			in_flight |= *slot_of((void *)truth_of(o)->flight) == NULL; /* NOLINT: an address */
		die(&o->state, OWNER_THREAD);
	}
	for (i = 0; i < STRANGERS; i++)
		die(&store_stranger(s, i)->life, 0);
	for (i = 0; i < 8; i++)
		die(&s->census[i], 0);
}

static void everybody_dies(void)
{
	all_die = true;
	victim_dies();
	all_die = false;
}

/* ---- the heap is whole ---- */

/*
 * What the survivor allocates before it recovers: perhaps a block that the victim has just
 * released, and recovery must not release it again.
 */
static void *early[EARLY];
static size_t earlies;

static void work_early(void)
{
	for (earlies = 0; earlies < EARLY; earlies++)
		early[earlies] = NOT_NULL(ash_heap_alloc(death_heap, death_size));
}

static bool is_early(const void *p)
{
	size_t i = 0;

	while (i < earlies && early[i] != p)
		i++;
	return i < earlies;
}

static void release_early(void)
{
	while (earlies > 0)
		ash_heap_release(death_heap, early[--earlies]);
}

static size_t earlies_found;

static int visit(UNUSED void *context, void *p, size_t size, const struct ash_heap_owner *owner)
{
	struct entry *e = *slot_of(p);

	if (is_early(p)) {
		earlies_found++;
		return 0;
	}
	found++;
	of_victim += owner->id == victims_owner;
	if (e == NULL) {
		extras++;
		extra.p = p;
		extra.size = size;
		CHECK(death_slot != NULL || owner->id == victims_owner);
		CHECK(!owner->live);
		return 0;
	}
	CHECK(seen[e - book->entry] != state); /* no block twice */
	seen[e - book->entry] = state;
	CHECK(size >= e->size || e->loose);
	usable[e - book->entry] = size;
	return 0;
}

static void contents(void)
{
	size_t i, n;

	for (n = 0; n < book->count; n++) {
		const struct entry *e = &book->entry[n];

		if (seen[n] != state) {
			/* Gone: only what the call releases, or has moved. */
			CHECK(e->loose);
			continue;
		}
		for (i = 0; i < e->size && i < usable[n]; i += i < 32 ? 1 : e->size / 5 + 1)
			CHECK_EQ(e->p[i], (unsigned char)(e->key + i));
	}
}

/* Walks the blocks and compares them with the book. */
static void count(void)
{
	extras = found = of_victim = earlies_found = 0;
	state++;
	(void)ash_heap_walk(death_heap, visit, NULL);
	CHECK(extras <= 1);
	CHECK_EQ(earlies_found, earlies);
}

static bool is_there(const struct entry *e)
{
	return seen[e - book->entry] == state;
}

static void whole(void)
{
	CHECK_EQ(ash_heap_check(death_heap), 0);
	count();
	CHECK(!in_flight || extras == 0); /* it has landed */
	contents();
	settled_units();
	settled_records();
	settled_tags();
	publish_is_right(found, extras > 0 ? &extra : NULL, is_there);
}

/* ---- and works ---- */

static void work(void)
{
	struct entry mine[WORKING];
	unsigned i, k;

	for (i = 0; i < WORKING; i++) {
		size_t size = i == 0 ? death_size : class_size((state * 5 + i * 17) % CLASSES);
		bool zero = i % 2 == 1;
		unsigned char *p;

		if (size > 400000 && i != 0)
			size = 300;
		p = NOT_NULL(zero ? ash_heap_zalloc(death_heap, 1, size) : ash_heap_alloc(death_heap, size));
		mine[i] = (struct entry){p, size, 0, false};
		for (k = 0; k < book->count; k++)
			CHECK(seen[k] != state || p >= book->entry[k].p + usable[k] ||
			      p + size <= book->entry[k].p);
		CHECK(extras == 0 || p >= extra.p + extra.size || p + size <= extra.p);
		for (k = 0; zero && k < size; k += k < 512 ? 1 : 509)
			CHECK_EQ(p[k], 0);
		memset(p, (int)i, size < 4096 ? size : 4096);
	}
	contents();
	for (i = 0; i < WORKING; i++) {
		for (k = 0; k < mine[i].size && k < 4096; k += 97)
			CHECK_EQ(mine[i].p[k], i);
		ash_heap_release(death_heap, mine[i].p);
	}
}

static void release_victims(void)
{
	size_t before = found, held = of_victim;

	CHECK_EQ(ash_heap_release_owner(death_heap, victims_owner), held);
	count();
	CHECK_EQ(of_victim, 0);
	CHECK_EQ(found, before - held);
	CHECK_EQ(ash_heap_check(death_heap), 0);
}

/* The file of this instant is one that a process would attach to. */
static void attachable(void)
{
	enum ash_attach why;

	CHECK(image_check(death_fd, store(), &why));
}

/* The victim lives, and stands: all that it holds stays its own, although a death is said to have left something. */
static void beside_the_living(void)
{
	uint64_t sum = look_sum();

	map_as(PRIVATE);
	store()->deaths++;
	lost_memory_return(store(), NULL);
	CHECK(lost_before || look_sum() == sum);
	benches_forget();
}

void look(void)
{
	static unsigned looks;
	bool new = look_is_new();

	if (looks % 16 == 0)
		attachable();
	CHECK_EQ(arch_set_thread_pointer(tls_of_survivor), 0);
	beside_the_living();
	map_as(PRIVATE);
	victim_dies();
	if (death_slot != NULL && looks % 2 == 0)
		work_early();
	(void)ash_heap_recover(death_heap);
	count();
	release_early();
	whole();
	work();
	count();
	contents();
	if (looks++ % 8 == 0)
		release_victims();
	benches_forget();
	if (new) {
		map_as(PRIVATE);
		victim_dies();
		(void)ash_heap_recover(death_heap);
		look_fill();
		benches_forget();
		map_as(PRIVATE);
		everybody_dies();
		(void)ash_heap_recover(death_heap);
		look_empty();
		benches_forget();
	}
	map_as(SHARED);
	CHECK_EQ(arch_set_thread_pointer(tls_of_victim), 0);
}
