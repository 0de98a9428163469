/* SPDX-License-Identifier: MIT */
#include "store/recover/census.h"

#include "store/allocator.h"
#include "store/process/borrow.h"
#include "store/process/world.h"

/* Words of seat_page.known: the lives of the thread and of its process, and its namespaces (world.h). */
enum { LIFE, PROCESS, WORLD };
_Static_assert(WORLD < SEAT_KNOWN, "there is room");

/* Returns the page in which the lives of the thread and its process are kept, or NULL if there is no page. */
static struct seat_page *page_of_lives(void)
{
	struct bench *b = thread_bench(SEATS_SHARED);
	struct seat_page *page = b == NULL ? NULL : b->page;

	if (page == NULL || page->known[LIFE] != 0)
		return page;
	/* In a child of vfork the page is the parent's, and will hold the life of the parent's thread. */
	if (memory_is_borrowed())
		return NULL;
	page->known[PROCESS] = life_of_process();
	page->known[WORLD] = world_now();
	signal_fence(); /* a signal handler finds all these words, or asks again */
	store_relaxed(&page->known[LIFE], life_of_thread()); /* relaxed: see page_forget */
	return page;
}

uint64_t lives_thread(struct heap *h)
{
	const struct seat_page *page = page_of_lives();
	uint64_t world = page != NULL ? page->known[WORLD] : world_now();

	if (!world_is(store_of(h)->world, world))
		return 0;
	return page != NULL ? page->known[LIFE] : life_of_thread();
}

uint64_t lives_process(struct heap *h)
{
	const struct seat_page *page = page_of_lives();

	return page != NULL && world_is(store_of(h)->world, page->known[WORLD]) ? page->known[PROCESS] : 0;
}

/* The namespaces are compared only for a life that seems over.  This is rare, so the result is not kept. */
bool lives_thread_is_over(const struct store *s, uint64_t life)
{
	return life_thread_is_over(life) && world_is(s->world, world_now());
}

bool lives_process_is_over(const struct store *s, uint64_t life)
{
	return life_process_is_over(life) && world_is(s->world, world_now());
}

bool census_is_over(struct store *s, unsigned i, uint64_t word)
{
	if ((word & CENSUS_OVER) != 0 || word == 0)
		return word != 0;
	if (!lives_process_is_over(s, word))
		return false;
	(void)cas_acq_rel(&s->census[i], &word, word | CENSUS_OVER);
	return true;
}

bool census_is_held(struct store *s, uint64_t tag)
{
	const struct owner *o;

	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o))
		if (load_acquire(&o->state) != OWNER_VACANT && load_relaxed(&truth_of(o)->census) == tag)
			return true;
	return false;
}
