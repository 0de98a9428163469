/* SPDX-License-Identifier: MIT */
/* The table of heaps of this process, and its functions that do little or nothing. */
#include "diagnostics/blocks.h"
#include "front/span.h"
#include "heaps/instance.h"
#include "heaps/remains.h"
#include "heaps/seats.h"
#include "process.h"
#include "thread/seating.h"

size_t instance_good_size(size_t size)
{
	if (size > PTRDIFF_MAX)
		return 0;
	return size <= SLOT_MAX ? class_size(class_of(size)) : span_size(size);
}

struct heap_walk {
	int (*see)(void *, void *, size_t, const struct ash_heap_owner *);
	void *context;
	struct ash_heap_owner owner;
};

static int walk_see(void *walk, const struct block_place *at)
{
	const struct heap_walk *w = walk;

	return w->see(w->context, at->start, at->size, &w->owner);
}

static int private_walk(struct heap *h, int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	struct heap_walk w = {see, context, {1, (int)process_number(), true, 0}};

	return blocks_walk(h, walk_see, &w);
}

bool instance_extend(struct heap *h, size_t capacity)
{
	(void)h, (void)capacity;
	return false;
}

size_t instance_release_owner(struct heap *h, uint64_t owner)
{
	(void)h, (void)owner;
	return 0;
}

static uint64_t private_root(struct heap *h)
{
	return load_acquire(&h->root); /* pairs with private_set_root: the object of the root is complete */
}

static void private_set_root(struct heap *h, uint64_t root)
{
	store_release(&h->root, root);
}

static void private_leave(struct heap *h)
{
	seats_close(h);
	remains_leave(h);
}

/* The records end with the memory of the heap. */
static void private_seat_closed(struct heap *h, struct owner *o, uint64_t known)
{
	(void)h, (void)o, (void)known;
}

static struct owner *private_seat_fill(struct heap *h, struct seat_entry *e)
{
	return seat_fill(&e->self, h);
}

/* A record that an interrupted call is changing is checked out: seats_take does not return the record. */
static bool private_is_busy(const struct owner *o)
{
	(void)o;
	return false;
}

static bool private_is_at_rest(struct heap *h)
{
	(void)h;
	return false;
}

static void private_rests(struct owner *o)
{
	(void)o;
}

static void private_recover(struct heap *h)
{
	(void)h;
}

static void private_search(struct heap *h, struct owner *o)
{
	(void)h, (void)o;
}

static uint64_t private_taking(struct heap *h, struct owner *self, const void *draft)
{
	(void)h, (void)self, (void)draft;
	return 0;
}

static void private_taken(void *p, uint64_t word, void *draft)
{
	(void)p, (void)word, (void)draft;
}

static bool private_carry(struct chunk *c, const void *p, void *moved)
{
	(void)c, (void)p, (void)moved;
	return true;
}

INTERNAL const struct instance_kind instance_private = {
	.release = instance_release_slow,
	.alloc_as = instance_alloc,
	.resize = instance_resize,
	.expand = instance_expand,
	.bytes = instance_bytes,
	.good_size = instance_good_size,
	.walk = private_walk,
	.extend = instance_extend,
	.release_owner = instance_release_owner,
	.root = private_root,
	.set_root = private_set_root,
	.leave = private_leave,
	.seat_closed = private_seat_closed,
	.seat_fill = private_seat_fill,
	.rests = private_rests,
	.is_busy = private_is_busy,
	.is_at_rest = private_is_at_rest,
	.recover = private_recover,
	.search = private_search,
	.taking = private_taking,
	.taken = private_taken,
	.release_own = instance_release_own,
	.free_block = instance_free_block,
	.carry = private_carry,
};
