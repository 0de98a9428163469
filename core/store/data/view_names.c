/* SPDX-License-Identifier: MIT */
/* The names in a view.  A search reads only the bucket of the name; a walk reads all buckets, many words at a time. */
#include "store/data/view.h"

#include "memory.h"
#include "store/recover/intent.h"

/*
 * Returns the address, in the heap's processes, of the block of this size that a slot of the heap itself names, or 0
 * if there is no such block.  `word` is the slot's word.
 */
static uint64_t part_of(const ash_heap_view *v, uint64_t slot, uint64_t word, size_t bytes)
{
	uint64_t p = (word & MARK) == 0 ? word : view_read(v, (const void *)slot, NULL); /* NOLINT: an address */

	return p % sizeof(uint64_t) == 0 && view_has(v, p, bytes) ? p : 0;
}

/* Returns the directory, or 0 if there is no directory. */
static uint64_t directory_of(const ash_heap_view *v)
{
	return part_of(v, (uintptr_t)&view_store(v)->names, view_word(v, &view_store(v)->names), NAME_BUCKETS * sizeof(uint64_t));
}

/* Copies the text of the name at p, because a forger may change the name at any time.  Returns false if p is not a name. */
static bool text_of(const ash_heap_view *v, uint64_t p, uint64_t length, char *text)
{
	const struct name *n = (const struct name *)p; /* NOLINT: an address */

	if (length > ASH_NAME_MAX || !view_get(v, n->text, text, length))
		return false;
	text[length] = '\0';
	return true;
}

struct wanted {
	const char *name; /* NULL for all names, for visit */
	size_t length;
	uint64_t hash;
	int (*visit)(void *context, const char *name, const void *p);
	void *context;
	const void *p;
	unsigned steps; /* of all buckets, because a forged list may be a ring */
};

/* Looks at a name that is bound to a block.  A result other than 0 ends the search. */
static int look_at_name(ash_heap_view *view, uint64_t at, const struct name *n, struct wanted *w)
{
	char text[ASH_NAME_MAX + 1];
	const void *value;

	if (w->name != NULL && (n->hash != w->hash || n->length != w->length))
		return 0;
	value = ash_heap_view_at(view, (const void *)(uintptr_t)part_of(view, at + offsetof(struct name, value), n->value, 0));
	if (value == NULL || !text_of(view, at, n->length, text))
		return 0;
	if (w->name == NULL)
		return w->visit(w->context, text, value);
	if (memcmp(text, w->name, w->length) != 0)
		return 0;
	w->p = value;
	return 1;
}

/* Looks at the list that begins with this word of the bucket. */
static int look_at_bucket(ash_heap_view *view, uint64_t bucket, uint64_t word, struct wanted *w)
{
	uint64_t at = part_of(view, bucket, word, sizeof(struct name));
	struct name n;
	int answer = 0;

	for (; w->steps < NAME_STEPS && at != 0 && answer == 0; w->steps++) {
		if (!view_words(view, (const void *)at, (uint64_t *)(void *)&n, sizeof n / sizeof(uint64_t))) /* NOLINT */
			break;
		answer = look_at_name(view, at, &n, w);
		at = part_of(view, at + offsetof(struct name, next), n.next, sizeof n);
	}
	return answer;
}

int ash_heap_view_names(ash_heap_view *view, int (*visit)(void *context, const char *name, const void *p),
			void *context)
{
	struct wanted w = {.visit = visit, .context = context};
	uint64_t bucket = directory_of(view), word[VIEW_WORDS];
	unsigned i, k;
	int answer = 0;

	for (i = 0; bucket != 0 && i < NAME_BUCKETS && answer == 0; i += VIEW_WORDS, bucket += sizeof word) {
		if (!view_words(view, (const void *)bucket, word, VIEW_WORDS)) /* NOLINT: an address */
			break;
		for (k = 0; k < VIEW_WORDS && answer == 0; k++)
			answer = look_at_bucket(view, bucket + k * sizeof word[0], word[k], &w);
	}
	return answer;
}

const void *ash_heap_view_bound(ash_heap_view *view, const char *name)
{
	struct wanted w = {.name = name, .length = name_length(name)};
	uint64_t bucket;

	if (name[0] == '\0')
		return ash_heap_view_root(view);
	w.hash = name_hash(name, w.length);
	bucket = directory_of(view);
	if (bucket == 0 || w.length == 0)
		return NULL;
	bucket += w.hash % NAME_BUCKETS * sizeof bucket;
	(void)look_at_bucket(view, bucket, view_word(view, (const void *)bucket), &w); /* NOLINT: an address */
	return w.p;
}
