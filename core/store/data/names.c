/* SPDX-License-Identifier: MIT */
/*
 * Names of slots in a heap shared by processes.
 *
 *   store.names --> directory: bucket | bucket | ...
 *                                |
 *                                +--> name --> name --> 0
 *
 * Names are only added, at the head of their bucket, in one step.  The text and the next of a name never change.  So
 * a search needs no protection, and the address of a slot stays valid as long as the heap lives: a name that is bound
 * to nothing stays in place.
 *
 * A file may be forged: an address counts as that of a name only if there is a large enough block of this heap.
 */
#include "store/allocator.h"
#include "store/data/view.h"

#include "store/calls/draft.h"
#include "memory.h"
#include "store/data/slots.h"
#include "store/recover/block_tags.h"
#include "store/recover/intent.h"

/* Format 1; store/file/format.c asserts the other words of the format. */
_Static_assert(NAME_BUCKETS == 1024 && ASH_NAME_MAX == 255, "format 1: the directory is another one");
_Static_assert(offsetof(struct name, next) == 0 && offsetof(struct name, value) == 8 && offsetof(struct name, hash) == 16 &&
		       offsetof(struct name, length) == 24 && offsetof(struct name, text) == 32,
	       "format 1: a word of a name has moved");

static struct name *name_at(struct heap *h, uint64_t p)
{
	struct name *n = (struct name *)p; /* NOLINT: an address */

	return kinds_block(h, p, sizeof *n) && n->length <= ASH_NAME_MAX &&
			       kinds_block(h, p, sizeof *n + n->length + 1) &&
			       n->text[n->length] == '\0'
		       ? n
		       : NULL;
}

static uint64_t *directory(struct heap *h)
{
	uint64_t p = intent_read(h, &store_of(h)->names);

	/* NOLINTNEXTLINE: an address */
	return kinds_block(h, p, NAME_BUCKETS * sizeof(uint64_t)) ? (uint64_t *)p : NULL;
}

/* Searches from the head of a bucket. */
static struct name *name_search(struct heap *h, uint64_t p, uint64_t hash, const char *text,
				size_t length)
{
	struct name *n;
	unsigned steps;

	for (steps = 0; steps < NAME_STEPS && (n = name_at(h, p)) != NULL; steps++, p = n->next)
		if (n->hash == hash && n->length == length && memcmp(n->text, text, length) == 0)
			return n;
	return NULL;
}

/* Adds the name in front of `head`.  Sets *n to the name, or to NULL.  Returns CHANGED if there is another head now. */
static enum ash_slot add(struct heap *h, uint64_t *bucket, uint64_t head, uint64_t hash,
			 const char *text, size_t length, struct name **n)
{
	enum ash_slot why;
	struct intent *i;

	*n = draft_make(h, sizeof **n + length + 1, false, TAG_OWN, &i, &why);
	if (*n == NULL)
		return why;
	(*n)->next = head;
	(*n)->value = 0;
	(*n)->hash = hash;
	(*n)->length = length;
	memcpy((*n)->text, text, length);
	(*n)->text[length] = '\0';
	if (intent_change(h, i, bucket, head, (uint64_t)(uintptr_t)*n, 0)) {
		intent_end(i);
		return ASH_SLOT_DONE;
	}
	draft_drop(h, i, *n);
	*n = NULL;
	return ASH_SLOT_CHANGED;
}

/* Returns the slot of the name.  With `make`, adds a missing name. */
static uint64_t *slot_of(ash_heap *heap, const char *name, bool make, enum ash_slot *why)
{
	struct heap *h = heap_of(heap);
	size_t length = name_length(name);
	uint64_t hash = name_hash(name, length), *bucket, head;
	struct name *n = NULL;

	*why = ASH_SLOT_OUTSIDE;
	if (store_behind(heap) == NULL)
		return NULL;
	*why = ASH_SLOT_BAD_NAME;
	if (name[0] == '\0')
		return &h->root;
	if (length == 0)
		return NULL;
	*why = ASH_SLOT_NO_MEMORY;
	if (make && !draft_own(h, &store_of(h)->names, NAME_BUCKETS * sizeof(uint64_t)))
		return NULL;
	bucket = directory(h);
	if (bucket == NULL)
		return NULL;
	bucket += hash % NAME_BUCKETS;
	*why = ASH_SLOT_CHANGED;
	/* Each attempt that fails is another thread's success. */
	while (*why == ASH_SLOT_CHANGED) {
		head = intent_read(h, bucket);
		n = name_search(h, head, hash, name, length);
		if (n != NULL || !make)
			break;
		*why = add(h, bucket, head, hash, name, length, &n);
	}
	return n == NULL ? NULL : &n->value;
}

void *ash_heap_slot(ash_heap *heap, const char *name, enum ash_slot *why)
{
	enum ash_slot reason;
	void *slot = slot_of(heap, name, true, &reason);

	if (why != NULL)
		*why = slot != NULL ? ASH_SLOT_DONE : reason;
	return slot;
}

enum ash_slot ash_heap_bind(ash_heap *heap, const char *name, void *p)
{
	enum ash_slot why;
	void *slot = ash_heap_slot(heap, name, &why);

	return slot == NULL ? why : ash_heap_replace(heap, slot, NULL, p);
}

/* Returns the block that the slot names, or NULL if there is no block, or, in a forged file, no valid block. */
static void *bound(struct heap *h, const uint64_t *slot)
{
	uint64_t p = intent_read(h, slot);

	return kinds_block(h, p, 1) ? (void *)p : NULL; /* NOLINT: an address */
}

void *ash_heap_find(ash_heap *heap, const char *name)
{
	enum ash_slot why;
	const uint64_t *slot = slot_of(heap, name, false, &why);

	return slot == NULL ? NULL : bound(heap_of(heap), slot);
}

void *ash_heap_unbind(ash_heap *heap, const char *name)
{
	struct heap *h = heap_of(heap);
	enum ash_slot why;
	uint64_t *slot = slot_of(heap, name, false, &why), word = 0;

	why = ASH_SLOT_CHANGED;
	while (slot != NULL && why == ASH_SLOT_CHANGED && (word = intent_read(h, slot)) != 0)
		why = slots_change(h, slot, word, 0, false);
	return why == ASH_SLOT_DONE ? (void *)word : NULL; /* NOLINT: an address */
}

int ash_heap_names(ash_heap *heap, int (*visit)(void *context, const char *name, void *p), void *context)
{
	struct heap *h = heap_of(heap);
	uint64_t *bucket = store_behind(heap) != NULL ? directory(h) : NULL, p;
	unsigned i, steps;
	int answer = 0;
	struct name *n;
	void *value;

	for (i = 0; bucket != NULL && i < NAME_BUCKETS; i++) {
		p = intent_read(h, &bucket[i]);
		for (steps = 0; steps < NAME_STEPS && (n = name_at(h, p)) != NULL; steps++, p = n->next) {
			value = bound(h, &n->value);
			if (value != NULL)
				answer = visit(context, n->text, value);
			if (answer != 0)
				return answer;
		}
	}
	return answer;
}
