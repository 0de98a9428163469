/* SPDX-License-Identifier: MIT */
/* Creates heaps that processes share, and attaches to those in files. */
#include "store/allocator.h"
#include "store/calls/hooks.h"
#include "store/file/open.h"
#include "store/file/store.h"

static struct store_size store_size(size_t capacity, const struct ash_heap_options *options)
{
	struct store_size n = {capacity_chunks(capacity), 0};

	n.limit = options != NULL ? capacity_chunks(options->limit) : 0;
	n.limit = n.limit > n.chunks && n.chunks > 0 ? n.limit : n.chunks;
	return n;
}

/* Before a store is made or mapped, whose set-up already builds. */
static void hooks_set(void)
{
	store_relaxed(&shared_hooks, &store_hooks); /* see shared_hooks_now */
	store_relaxed(&instance_kinds[PAGES_SHARED], &instance_shared);
}

/* Returns the handle of a store, or NULL if s is NULL. */
static ash_heap *shared(struct store *s)
{
	if (s == NULL)
		return NULL;
	instance_set();
	return heap_public(&s->heap);
}

ash_heap *ash_heap_create_shared(size_t capacity, const struct ash_heap_options *options)
{
	hooks_set();
	return shared(store_create(store_size(capacity, options), options));
}

ash_heap *ash_heap_create_file(int fd, size_t capacity, const struct ash_heap_options *options)
{
	enum ash_attach why;

	hooks_set();
	return shared(store_create_file(fd, store_size(capacity, options), options, &why));
}

/* Attaches to the heap in a file.  `layout` is the expected layout, or NULL if any layout will do. */
static ash_heap *attach(int fd, const struct layout *layout, enum ash_attach *why)
{
	enum ash_attach reason;
	struct store *s;
	uint64_t file;

	hooks_set();
	s = store_attach(fd, layout, &file, &reason);
	if (why != NULL)
		*why = reason;
	(void)shared(s);
	if (s == NULL)
		return NULL;
	reattach(s, file);
	(void)ash_heap_recover(heap_public(&s->heap));
	return heap_public(&s->heap);
}

ash_heap *ash_heap_attach_file(int fd, enum ash_attach *why)
{
	return attach(fd, NULL, why);
}

/* Tries once to attach, or to make a heap if there is no heap. */
static ash_heap *open_or_make(int fd, size_t capacity, const struct ash_heap_options *options,
			      const struct layout *layout, enum ash_attach *why)
{
	ash_heap *heap = attach(fd, layout, why);

	/* In a file without a heap, makes the heap. */
	if (heap == NULL && (*why == ASH_ATTACH_NO_HEAP || *why == ASH_ATTACH_UNFINISHED)) {
		heap = shared(store_create_file(fd, store_size(capacity, options), options, why));
		/* Another thread made a heap in the file first. */
		if (heap == NULL && *why == ASH_ATTACH_NO_HEAP)
			heap = attach(fd, layout, why);
	}
	return heap;
}

ash_heap *ash_heap_open_file(int fd, size_t capacity, const struct ash_heap_options *options,
			     enum ash_attach *why)
{
	struct claim_wait wait = {{0, 0, 0}, {0}, 0};
	enum ash_attach reason = ASH_ATTACH_LAYOUT;
	struct layout layout;
	ash_heap *heap = NULL;
	bool has_one = layout_of(options, &layout);

	if (has_one && capacity == 0)
		heap = attach(fd, &layout, &reason);
	else if (has_one)
		do
			heap = open_or_make(fd, capacity, options, &layout, &reason);
		while (reason == ASH_ATTACH_UNFINISHED && claim_wait(fd, &wait));
	if (why != NULL)
		*why = reason;
	return heap;
}

bool ash_heap_adopt_file(int fd)
{
	return store_adopt(fd);
}
