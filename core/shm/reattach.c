/* SPDX-License-Identifier: MIT */
#include "shm/reattach.h"

#include "mapping.h"
#include "process.h"
#include "shm/building.h"
#include "shm/recover.h"
#include "thread/holder.h"
#include "thread/takeover.h"

static uint64_t mapped_here(const struct store *s)
{
	return mapping_at(process_thread(), process_thread(), (uintptr_t)s);
}

/* True: the living thread certainly has this file, which is mapped here as `mine`, at its place. */
static bool is_attached(const struct store *s, uint64_t mine, uint64_t state)
{
	uint64_t thread = LIFE_ID(state >> OWNER_THREAD);

	/* Threads of this process are not: until now it had nothing of this heap at these addresses. */
	return mine > MAPPING_NONE && mapping_at(thread, thread, (uintptr_t)s) == mine &&
	       mapping_at(process_number(), thread, (uintptr_t)s) == MAPPING_UNKNOWN;
}

bool reattach_is_torn(struct store *s, uint64_t file)
{
	uint64_t mine = mapped_here(s), state;
	struct owner *o;

	if (load_acquire(&s->file) == file)
		return false;
	for (o = load_acquire(&s->heap.owners); o != NULL; o = o->next) {
		state = load_acquire(&o->state); /* pairs with owner_hold_as */
		if (state != OWNER_VACANT && !recover_is_dead(&s->heap, state) &&
		    !is_attached(s, mine, state))
			/* Another process may have attached meanwhile.  Pairs with reattach. */
			return load_acquire(&s->file) != file;
	}
	return false;
}

/* True: a living process is attached that has a thread of its own in a record, so it rebuilt them. */
static bool others_are_attached(struct store *s, uint64_t mine)
{
	struct owner *o;
	uint64_t state;

	for (o = load_acquire(&s->heap.owners); o != NULL; o = o->next) {
		state = load_acquire(&o->state); /* pairs with owner_hold_as */
		if ((state & OWNER_HELD) != 0 && !recover_is_dead(&s->heap, state) &&
		    is_attached(s, mine, state))
			return true;
	}
	return false;
}

void reattach(struct store *s, uint64_t file)
{
	struct building b = building_begin(&s->heap, NULL);
	struct takeover t = takeover_begin();
	uint64_t mine = mapped_here(s), state;
	bool others = others_are_attached(s, mine);
	struct owner *o;

	for (o = load_acquire(&s->heap.owners); o != NULL; o = o->next) {
		state = load_acquire(&o->state); /* pairs with owner_hold_as */
		if (state == OWNER_VACANT ? others
					  : !recover_is_dead(&s->heap, state) &&
						    /* Of a copy that was vouched for, all others are dead. */
						    (load_acquire(&s->file) == file || is_attached(s, mine, state)))
			continue;
		(void)takeover_add(&t, o, state);
	}
	(void)takeover_end(&t);
	store_release(&s->file, file); /* pairs with reattach_is_torn */
	building_end(b);
}
