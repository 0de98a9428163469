/* SPDX-License-Identifier: MIT */
/* The names of a heap, in a view of it. */
#include "heaps/name.h"
#include "memory.h"
#include "shm/view.h"

/* The block, of so many bytes, that a slot of the heap's own names; NULL: none. */
static const void *part_of(const ash_heap_view *v, const uint64_t *slot, size_t bytes)
{
	uint64_t p = view_read(v, slot);

	return p % sizeof(uint64_t) == 0 ? view_part(v, p, bytes) : NULL;
}

/* Copies the name, as its text may be forged meanwhile.  False: it is none. */
static bool text_of(const ash_heap_view *v, const struct name *n, char *text)
{
	uint64_t length = load_relaxed(&n->length);

	if (length > ASH_NAME_MAX || (size_t)(v->at + v->bytes - n->text) <= length)
		return false;
	memcpy(text, n->text, length);
	text[length] = '\0';
	return true;
}

int ash_heap_view_names(ash_heap_view *view, int (*visit)(void *context, const char *name, const void *p),
			void *context)
{
	const uint64_t *bucket =
		part_of(view, &view_store(view)->names, NAME_BUCKETS * sizeof(uint64_t));
	char text[ASH_NAME_MAX + 1];
	const struct name *n;
	unsigned i, steps = 0; /* of all buckets: a forged list may be a ring */
	const void *value;
	int answer = 0;

	for (i = 0; bucket != NULL && i < NAME_BUCKETS; i++) {
		n = part_of(view, &bucket[i], sizeof *n);
		for (; steps < NAME_STEPS && n != NULL && answer == 0; steps++) {
			value = ash_heap_view_load(view, &n->value);
			if (value != NULL && text_of(view, n, text))
				answer = visit(context, text, value);
			n = part_of(view, &n->next, sizeof *n);
		}
	}
	return answer;
}

struct wanted {
	const char *name;
	const void *p;
};

static int is_wanted(void *context, const char *name, const void *p)
{
	struct wanted *w = context;
	size_t i = 0;

	while (name[i] == w->name[i] && name[i] != '\0')
		i++;
	if (name[i] != w->name[i])
		return 0;
	w->p = p;
	return 1;
}

const void *ash_heap_view_bound(ash_heap_view *view, const char *name)
{
	struct wanted w = {name, NULL};

	if (name[0] == '\0')
		return ash_heap_view_root(view);
	(void)ash_heap_view_names(view, is_wanted, &w);
	return w.p;
}
