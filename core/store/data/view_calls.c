/* SPDX-License-Identifier: MIT */
/* Reads heaps in files: the calls on a view, and offsets. */
#include "memory.h"
#include "store/allocator.h"
#include "store/data/view.h"
#include "store/file/image.h"
#include "store/recover/block_tags.h"
#include "store/recover/census.h"

ash_heap_view *ash_heap_view_file(int fd, enum ash_attach *why)
{
	enum ash_attach reason;
	ash_heap_view *v = view_open(fd, &reason);

	if (why != NULL)
		*why = reason;
	return v;
}

void ash_heap_view_close(ash_heap_view *view)
{
	if (view != NULL)
		view_close(view);
}

bool ash_heap_view_check(ash_heap_view *view)
{
	enum ash_attach why;
	struct store head;

	if (!view_get(view, view->base, &head, sizeof head))
		return false;
	/* The words that the check assumes are set here, because the file may have changed since. */
	store_set(&head, (struct store *)(uintptr_t)view->base, view->region.chunks);
	return image_check(view->fd, &head, &why);
}

/* ---- addresses ---- */

uint64_t ash_heap_offset(ash_heap *heap, const void *p)
{
	const struct store *s = store_behind(heap);
	uint64_t offset = (uintptr_t)p - (uintptr_t)s;

	return s != NULL && offset < s->bytes ? offset : 0;
}

void *ash_heap_pointer(ash_heap *heap, uint64_t offset)
{
	struct store *s = store_behind(heap);

	return s == NULL || offset == 0 || offset >= s->bytes ? NULL : (char *)s + offset;
}

uint64_t ash_heap_view_offset(ash_heap_view *view, const void *p)
{
	uint64_t offset = (uintptr_t)p - (uintptr_t)view->at;

	return offset < view->bytes ? offset : 0;
}

const void *ash_heap_view_pointer(ash_heap_view *view, uint64_t offset)
{
	return offset == 0 || offset >= view->bytes ? NULL : view->at + offset;
}

const void *ash_heap_view_at(ash_heap_view *view, const void *p)
{
	return ash_heap_view_pointer(view, (uintptr_t)p - (uintptr_t)view->base);
}

const void *ash_heap_view_load(ash_heap_view *view, const void *slot)
{
	return ash_heap_view_at(view, (const void *)(uintptr_t)view_read(view, NULL, slot));
}

const void *ash_heap_view_root(ash_heap_view *view)
{
	return ash_heap_view_at(view, (const void *)(uintptr_t)view_read(view, &view_store(view)->heap.root, NULL));
}

/* ---- blocks ---- */

enum { KNOWN = 16 };

struct view_walk {
	ash_heap_view *view;
	int (*see)(void *context, const void *block, size_t size, const struct ash_heap_owner *owner);
	void *context;
	uint64_t life; /* the life that the kernel was last asked about */
	bool live;
	/*
	 * Lives by tags, for the current slab or span; read after the tags.  They are read once and not kept for the
	 * next slab, because a tag may then be another process's.
	 */
	struct {
		uint64_t id, life;
	} known[KNOWN];
	unsigned char kinds[GROUP_SLOTS]; /* tags of a group */
	struct view_chunk there;
};

/* Returns the life of the process with this tag, or 0 if there is no such process. */
static uint64_t life_of(struct view_walk *w, uint64_t id)
{
	uint64_t *known = &w->known[id % KNOWN].id, *life = &w->known[id % KNOWN].life;

	if (*known != id)
		*life = view_word(w->view, w->view->base + CENSUS_AT + (id - 1) * sizeof *life); /* pairs with census_join */
	*known = id;
	return *life;
}

static int see_block(struct view_walk *w, const char *p, size_t bytes, uint16_t tag, unsigned char kind)
{
	struct ash_heap_owner owner = {view_owner(w->view, tag), 0, false, kind};
	uint64_t life;

	if (tag == TAG_OWN)
		return 0; /* a block of the heap itself */
	if (owner.id != TAG_NONE && owner.id != TAG_UNKNOWN) {
		life = life_of(w, owner.id);
		owner.pid = (int)LIFE_ID(life);
		if (life != w->life)
			w->live = (life & CENSUS_OVER) == 0 && !view_process_is_over(w->view, life);
		w->life = life;
		owner.live = life != 0 && w->live;
	}
	return w->see(w->context, p, bytes, &owner);
}

static bool has_kind(uint16_t tag)
{
	return (tag & TAG_INTENT) == TAG_KIND && tag != TAG_OWN;
}

/* Sees the slab that begins in this unit of chunk i. */
static int see_slab(struct view_walk *w, const struct look *l, size_t i, unsigned unit)
{
	struct look_group words;
	int answer = 0;
	unsigned g, bit;
	bool read;

	memset(w->known, 0, sizeof w->known);
	for (g = 0; g < l->groups && answer == 0 && look_at_group(l, g, &words); g++)
		for (read = false; words.taken != 0 && answer == 0; words.taken = bits_without_lowest(words.taken)) {
			size_t index = (size_t)g * GROUP_SLOTS + (bit = bits_lowest(words.taken));
			uint16_t tag = w->there.tags[index];

			if (has_kind(tag) && !read)
				view_kinds(w->view, i, unit, g, w->kinds);
			read |= has_kind(tag);
			answer = see_block(w, l->base + index * l->size, l->size, tag, has_kind(tag) ? w->kinds[bit] : 0);
		}
	return answer;
}

static unsigned char kind_of_span(uint64_t tag)
{
	return (tag & TAG_INTENT) == TAG_KIND ? (unsigned char)(tag >> KIND_SHIFT) : 0;
}

int ash_heap_view_walk(ash_heap_view *view,
		       int (*see)(void *, const void *, size_t, const struct ash_heap_owner *),
		       void *context)
{
	struct view_walk w = {.view = view, .see = see, .context = context};
	struct view_span span;
	struct look l;
	unsigned u, first;
	int answer = 0;
	size_t i, n, end = view_chunks(view);

	for (i = 0; answer == 0 && (i = view_next_used(view, i, end)) < end; i += n) {
		n = 1;
		if (view_span(view, i, &w.there, &span)) {
			memset(w.known, 0, sizeof w.known);
			answer = see_block(&w, view_memory(view, i), span.bytes, (uint16_t)span.tag,
					   kind_of_span(span.tag));
			n = span.chunks;
			continue;
		}
		for (u = 0; u < CHUNK_UNITS && answer == 0; u++) {
			first = u;
			if (view_slab(view, i, &first, &w.there, &l) && first == u)
				answer = see_slab(&w, &l, i, u);
		}
	}
	return answer;
}

/* Finds the block of an address in chunk i, which is not free. */
static void find_block(ash_heap_view *view, size_t i, const char *p, struct ash_block *out)
{
	unsigned unit = (unsigned)((p - view_memory(view, i)) >> UNIT_SHIFT);
	struct look_group words;
	struct view_chunk there;
	struct view_span span;
	struct look l;
	size_t index, first = view_last_known(view, i);
	bool is_span = false;

	if (first == i && view_slab(view, i, &unit, &there, &l)) {
		index = (size_t)(p - l.base) / l.size;
		if (index >= l.slots || !look_at_group(&l, (unsigned)index / GROUP_SLOTS, &words))
			return;
		out->place = (words.taken >> (index % GROUP_SLOTS)) & 1 ? ASH_TAKEN : ASH_FREE;
		out->start = l.base + index * l.size;
		out->size = l.size;
		out->row = l.class;
		out->owner = out->place == ASH_TAKEN ? view_owner(view, there.tags[index]) : 0;
	} else {
		/* The chunks of a span, except the first, have no kind. */
		while (first != SIZE_MAX && !(is_span = view_span(view, first, &there, &span)) &&
		       there.c.kind == CHUNK_FREE)
			first = view_last_known(view, first - 1);
		if (!is_span || i - first >= span.chunks)
			return;
		out->start = (char *)(uintptr_t)view_memory(view, first);
		out->size = span.bytes;
		out->row = CLASSES;
		out->place = (size_t)(p - out->start) < span.bytes ? ASH_TAKEN : ASH_UNUSED;
		out->owner = out->place == ASH_TAKEN ? view_owner(view, (uint16_t)span.tag) : 0;
	}
	out->offset = (size_t)(p - out->start);
}

enum ash_place ash_heap_view_find(ash_heap_view *view, const void *p, struct ash_block *out)
{
	size_t offset = (uintptr_t)p - (uintptr_t)view->at;
	size_t inner = (uintptr_t)p - (uintptr_t)view_memory(view, 0);

	*out = (struct ash_block){.place = ASH_FOREIGN};
	if (offset >= view->bytes)
		return out->place;
	out->place = ASH_RECORDS;
	if (inner >> CHUNK_SHIFT >= view->region.chunks)
		return out->place;
	out->place = ASH_UNUSED;
	if (inner >> CHUNK_SHIFT < view_chunks(view) && !view_chunk_is_free(view, inner >> CHUNK_SHIFT))
		find_block(view, inner >> CHUNK_SHIFT, p, out);
	return out->place;
}
