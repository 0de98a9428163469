/* SPDX-License-Identifier: MIT */
/* Creating heaps, and attaching to those in files. */
#include "backend/metadata.h"
#include "heaps/instance.h"
#include "heaps/instance_hooks.h"
#include "shm/heap_setup.h"
#include "shm/store_attach.h"
#include "shm/store_create.h"
#include "thread/fork.h"

/* Chunks for so many bytes. */
static size_t capacity_chunks(size_t capacity)
{
	return capacity / CHUNK_SIZE + (capacity % CHUNK_SIZE != 0);
}

static struct store_size store_size(size_t capacity, const struct ash_heap_options *options)
{
	struct store_size n = {capacity_chunks(capacity), 0};

	n.limit = options != NULL ? capacity_chunks(options->limit) : 0;
	n.limit = n.limit > n.chunks && n.chunks > 0 ? n.limit : n.chunks;
	return n;
}

ash_heap *ash_heap_create(const struct ash_heap_options *options)
{
	struct heap *h = pages_reserve(HEAP_BYTES, PAGE_LEAST, PAGES_PRIVATE);
	size_t cap = ash_defaults.cap;

	if (h == NULL)
		return NULL;
	if (options != NULL)
		cap = capacity_chunks(options->cap) << CHUNK_SHIFT;
	heap_configure(h, cap, options);
	h->id = heap_new_id(false);
	h->sharing = PAGES_PRIVATE;
	fork_watch(h); /* now, so that the generation of each record is known */
	h->settled = generation_now();
	store_relaxed(&heap_hooks, &instance_hooks); /* see heap_hooks_now */
	return heap_public(h);
}

/* The handle of a store; NULL: NULL. */
static ash_heap *shared(struct store *s)
{
	if (s == NULL)
		return NULL;
	store_relaxed(&heap_hooks, &instance_hooks); /* see heap_hooks_now */
	return heap_public(&s->heap);
}

ash_heap *ash_heap_create_shared(size_t capacity, const struct ash_heap_options *options)
{
	return shared(store_create(store_size(capacity, options), options));
}

ash_heap *ash_heap_create_file(int fd, size_t capacity, const struct ash_heap_options *options)
{
	enum ash_attach why;

	return shared(store_create_file(fd, store_size(capacity, options), options, &why));
}

/* layout: what is expected, or NULL: any. */
static ash_heap *attach(int fd, const struct layout *layout, enum ash_attach *why)
{
	enum ash_attach reason;
	struct store *s = store_attach(fd, layout, &reason);

	if (why != NULL)
		*why = reason;
	(void)shared(s);
	if (s == NULL)
		return NULL;
	(void)ash_heap_recover(heap_public(&s->heap));
	return heap_public(&s->heap);
}

ash_heap *ash_heap_attach_file(int fd, enum ash_attach *why)
{
	return attach(fd, NULL, why);
}

ash_heap *ash_heap_attach_layout(int fd, const char *layout, uint64_t layout_version, enum ash_attach *why)
{
	const struct ash_heap_options options = {.layout = layout, .layout_version = layout_version};
	struct layout expected = layout_of(&options);

	return attach(fd, &expected, why);
}

ash_heap *ash_heap_open_file(int fd, size_t capacity, const struct ash_heap_options *options,
			     enum ash_attach *why)
{
	struct layout layout = layout_of(options);
	enum ash_attach reason;
	struct store *s;
	ash_heap *heap = attach(fd, &layout, &reason);

	/* A file without a heap may get one. */
	if (heap == NULL && (reason == ASH_ATTACH_NO_HEAP || reason == ASH_ATTACH_UNFINISHED)) {
		s = store_create_file(fd, store_size(capacity, options), options, &reason);
		heap = shared(s);
		/* Another thread has made a heap there meanwhile. */
		if (heap == NULL && reason == ASH_ATTACH_NO_HEAP)
			heap = attach(fd, &layout, &reason);
	}
	if (why != NULL)
		*why = reason;
	return heap;
}

bool ash_heap_adopt_file(int fd)
{
	return store_adopt(fd);
}
