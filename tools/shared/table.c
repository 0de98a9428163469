/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "rt.h"

enum { LARGEST = sizeof(struct bucket) + WORDS * sizeof(struct entry) + EXCERPT };

struct table *table_make(ash_heap *heap)
{
	struct table *t = ash_heap_draft_tagged(heap, sizeof *t, TAG_TABLE);

	if (t == NULL)
		return NULL;
	memset(t, 0, sizeof *t);
	return ash_heap_bind(heap, "words", t) == ASH_SLOT_DONE ? t : NULL;
}

/* ---- buckets ---- */

static size_t bytes_of(const struct bucket *b)
{
	return sizeof *b + b->entries * sizeof(struct entry) + b->length;
}

static uint64_t check_of(const struct bucket *b)
{
	uint64_t sum = b->version, length = (uint64_t)b->place << 32 | b->length;
	uint32_t i;

	sum = (sum ^ b->sum) * 0x9e3779b97f4a7c15u ^ length;
	for (i = 0; i < b->entries; i++) {
		const struct entry *e = &b->entry[i];

		sum = (sum ^ ((uint64_t)e->word.hash << 32 | e->count)) * 0x100000001b3u;
		sum = (sum ^ ((uint64_t)e->word.place << 32 | e->word.length)) * 0xc2b2ae3d27d4eb4fu;
	}
	return sum;
}

bool bucket_is_good(const struct bucket *b, const struct text *text)
{
	return b->entries <= WORDS && b->length <= EXCERPT && b->place <= text->length - b->length &&
	       b->check == check_of(b) &&
	       memcmp(&b->entry[b->entries], text->bytes + b->place, b->length) == 0;
}

bool table_verify(const struct session *s, const struct word *w)
{
	static _Alignas(16) char memory[LARGEST];
	struct bucket *copy = (struct bucket *)(void *)memory;
	struct bucket **slot = &s->table->bucket[w->hash % BUCKETS];
	const struct bucket *b;
	unsigned attempts;
	size_t bytes;

	/* A bucket that is released, and comes again with other contents, spoils an attempt. */
	for (attempts = 0; attempts < 10000; attempts++) {
		b = ash_heap_load(s->heap, slot);
		if (b == NULL)
			return true;
		memcpy(copy, b, sizeof *copy);
		bytes = bytes_of(copy);
		if (copy->entries <= WORDS && copy->length <= EXCERPT)
			memcpy(copy, b, bytes);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (ash_heap_load(s->heap, slot) == b && copy->entries <= WORDS &&
		    copy->length <= EXCERPT && bytes_of(copy) == bytes && bucket_is_good(copy, s->text))
			return true;
	}
	return false;
}

/* ---- changes ---- */

static bool is_word(const struct text *t, const struct word *a, const struct word *b)
{
	return a->hash == b->hash && a->length == b->length &&
	       memcmp(t->bytes + a->place, t->bytes + b->place, a->length) == 0;
}

/* The new bucket, of which the old one has the first entries: counts or deletes the word. */
static void change_word(struct bucket *b, const struct word *w, enum act act, const struct text *t)
{
	uint32_t i = 0;

	while (i < b->entries && !is_word(t, &b->entry[i].word, w))
		i++;
	if (act == DELETE && i < b->entries)
		b->entry[i] = b->entry[--b->entries];
	if (act != COUNT || (i == b->entries && i == WORDS))
		return;
	if (i == b->entries)
		b->entry[b->entries++] = (struct entry){*w, 0};
	b->entry[i].count++;
	b->sum++;
}

bool table_change(const struct session *s, struct place *at, const struct word *w, enum act act,
		  uint32_t random)
{
	struct bucket **slot = &s->table->bucket[w->hash % BUCKETS], *old = ash_heap_load(s->heap, slot);
	uint32_t entries = old == NULL ? 0 : old->entries, length = random % EXCERPT;
	struct bucket *b;

	if (length > s->text->length - w->place)
		length = (uint32_t)(s->text->length - w->place);
	b = ash_heap_draft_tagged(s->heap, sizeof *b + (entries + 1) * sizeof(struct entry) + length, TAG_BUCKET);
	if (b == NULL)
		return false;
	if (old != NULL)
		memcpy(b, old, sizeof *b + entries * sizeof(struct entry));
	else
		memset(b, 0, sizeof *b);
	change_word(b, w, act, s->text);
	b->version++;
	b->place = w->place;
	b->length = length;
	memcpy(&b->entry[b->entries], s->text->bytes + w->place, length);
	b->check = check_of(b);
	at->to = b->version;
	at->next = at->changes + 1;
	__atomic_store_n(&at->changing, (uint64_t)(slot - s->table->bucket) + 1, __ATOMIC_RELEASE);
	if (ash_heap_replace(s->heap, slot, old, b) != ASH_SLOT_DONE)
		return false;
	/* In this order: place_settle may count it once more, and gets the same. */
	__atomic_store_n(&at->changes, at->next, __ATOMIC_RELEASE);
	__atomic_store_n(&at->changing, 0, __ATOMIC_RELEASE);
	return true;
}

void place_settle(const struct session *s, struct place *at)
{
	const struct bucket *b;

	if (at->changing == 0)
		return;
	b = ash_heap_load(s->heap, &s->table->bucket[at->changing - 1]);
	if (b != NULL && b->version == at->to)
		at->changes = at->next;
	at->changing = 0;
}
