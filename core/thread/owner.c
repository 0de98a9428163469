/* SPDX-License-Identifier: MIT */
#include "thread/owner.h"

#include "backend/shared.h"

INTERNAL struct owner_static owner_static;

/* Only the note refers to this object.  A linker keeps the notes of the objects that it links. */
__attribute__((used)) const struct ash_descriptor ash_descriptor = DESCRIPTOR;
/* A hidden name for the descriptor, which no definition in another object can replace. */
INTERNAL_EXTERN const struct ash_descriptor descriptor_here __attribute__((alias("ash_descriptor"), used));
DESCRIPTOR_NOTE(ASH_NOTE_TYPE, descriptor_here);
DESCRIPTOR_GDB;

void owner_reset(struct owner *o)
{
	uint64_t *words = (uint64_t *)(void *)o;
	size_t i;

	/*
	 * Clears the inbox, the spares, the bins with their lists, and `large`.  The stores are of whole words,
	 * because other threads may write the inbox at the same time.
	 */
	for (i = offsetof(struct owner, inbox) / sizeof *words; i < sizeof *o / sizeof *words; i++)
		store_relaxed(&words[i], 0);
	o->spare_next = 0;
	o->spare_units = 0;
	o->turn = o->lost = 0;
}

void owner_publish(struct heap *h, struct owner *o, uint64_t state)
{
	uint64_t top;

	o->heap = h;
	o->state = state;
	(void)fetch_add_relaxed(&h->owner_count, 1);
	/*
	 * Before the record is added to the list: if this thread dies in between, the list lacks the record instead
	 * of containing the record twice.
	 */
	if (unlikely(!heap_kind(h)->own_records))
		shared_hooks_now()->owner_made(o);
	top = (uint64_t)(uintptr_t)load_relaxed(&h->owners);
	do
		o->next = (struct owner *)(uintptr_t)top;
	/* Pairs with the acquire loads of heap.owners: a record that is seen is complete. */
	while (!cas_acq_rel((uint64_t *)(void *)&h->owners, &top, (uint64_t)(uintptr_t)o));
}

struct owner *owner_after(struct heap *h, const struct owner *o)
{
	if (unlikely(!heap_kind(h)->own_records))
		return shared_hooks_now()->owner_after(h, o);
	return o == NULL ? load_acquire(&h->owners) : o->next; /* pairs with owner_publish */
}

bool owner_contains(struct heap *h, const void *p)
{
	struct owner *o;

	for (o = owner_after(h, NULL); o != NULL; o = owner_after(h, o))
		if ((uintptr_t)p - (uintptr_t)o < sizeof *o)
			return true;
	return false;
}

__attribute__((noinline)) void slabs_append(struct slabs *l, struct slab *s)
{
	struct slab *head = l->head, *tail;

	s->next = NULL;
	s->previous = s;
	if (head == NULL) {
		l->head = s;
		return;
	}
	tail = head->previous;
	tail->next = s;
	s->previous = tail;
	head->previous = s;
}

__attribute__((noinline)) void slabs_remove(struct slabs *l, struct slab *s)
{
	struct slab *next = s->next;

	(next != NULL ? next : l->head)->previous = s->previous;
	if (s == l->head)
		l->head = next;
	else
		s->previous->next = next;
	s->next = s->previous = NULL;
}
