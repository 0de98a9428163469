/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "rt.h"

struct table *table_make(ash_heap *heap)
{
	struct table *t = ash_heap_zalloc(heap, 1, sizeof *t);

	if (t != NULL)
		t->epoch = 1;
	ash_heap_set_root(heap, t);
	return t;
}

struct session session_of(ash_heap *heap, const struct text *text, unsigned slot)
{
	struct table *t = ash_heap_root(heap);

	return (struct session){.heap = heap, .table = t, .slot = &t->slot[slot], .text = text};
}

/* ---- who reads, and what may be released ---- */

void session_read(struct session *s)
{
	uint64_t epoch = __atomic_load_n(&s->table->epoch, __ATOMIC_ACQUIRE);

	/* Ordered before our loads of buckets; pairs with table_has_readers. */
	__atomic_exchange_n(&s->slot->epoch, epoch, __ATOMIC_SEQ_CST);
}

void session_rest(struct session *s)
{
	/* Pairs with table_has_readers: we have read what we wanted. */
	__atomic_store_n(&s->slot->epoch, 0, __ATOMIC_RELEASE);
}

bool table_has_readers(const struct table *t, uint64_t epoch)
{
	unsigned i;

	for (i = 0; i < SLOTS; i++) {
		uint64_t reads = __atomic_load_n(&t->slot[i].epoch, __ATOMIC_SEQ_CST);

		if (reads != 0 && reads <= epoch)
			return true;
	}
	return false;
}

static struct entry **limbo_at(struct session *s, unsigned i)
{
	return &s->slot->limbo[(s->oldest + i) % LIMBO];
}

void session_tidy(struct session *s)
{
	while (s->used > 0 && !table_has_readers(s->table, s->stamp[s->oldest])) {
		struct entry **e = limbo_at(s, 0);

		ash_heap_release(s->heap, *e);
		/* After the release: until then it is ours to do, see sweep.c. */
		__atomic_store_n(e, NULL, __ATOMIC_RELEASE);
		s->oldest = (s->oldest + 1) % LIMBO;
		s->used--;
	}
}

void slot_clear(struct slot *slot, uint64_t *unsure)
{
	unsigned i;

	*unsure += (uint64_t)(slot->adding < 0 ? -slot->adding : slot->adding);
	slot->adding = 0;
	for (i = 0; i < LIMBO; i++)
		slot->limbo[i] = NULL;
	__atomic_store_n(&slot->epoch, 0, __ATOMIC_RELEASE);
}

/* ---- entries ---- */

static uint64_t check_of(const struct entry *e)
{
	uint64_t sum = e->count * 0x9e3779b97f4a7c15u ^ ((uint64_t)e->hash << 32 | e->word) ^
		       ((uint64_t)e->place << 32 | e->length) * 0xc2b2ae3d27d4eb4fu;
	uint32_t i;

	for (i = 0; i < e->length; i++)
		sum = (sum ^ (unsigned char)e->excerpt[i]) * 0x100000001b3u;
	return sum;
}

bool entry_is_good(const struct entry *e, const struct text *text)
{
	return e->length <= text->length && e->place <= text->length - e->length &&
	       e->word <= e->length && memcmp(e->excerpt, text->bytes + e->place, e->length) == 0 &&
	       e->check == check_of(e);
}

static bool is_for(const struct entry *e, const struct word *w, const struct text *text)
{
	return e->hash == w->hash && e->word == w->length &&
	       memcmp(e->excerpt, text->bytes + w->place, w->length) == 0;
}

const struct entry *table_chain(const struct table *t, unsigned bucket)
{
	/* Pairs with the swap of table_change: the entries are complete. */
	return (const struct entry *)(uintptr_t)__atomic_load_n(&t->bucket[bucket],
								__ATOMIC_ACQUIRE);
}

bool table_verify(struct session *s, const struct word *w)
{
	const struct entry *e;
	bool good = true;

	session_read(s);
	for (e = table_chain(s->table, w->hash % BUCKETS); e != NULL && good; e = e->next)
		good = e->hash % BUCKETS == w->hash % BUCKETS && entry_is_good(e, s->text);
	session_rest(s);
	return good;
}

/* ---- a change: a new chain in the place of an old one ---- */

struct change {
	struct entry *first, **end; /* the new chain, so far                    */
	struct entry *rest;         /* what it shares with the old one          */
	unsigned unlinked;
	int64_t adds;
};

/* One more entry, a copy of e but for its count and excerpt. */
static bool chain_add(struct session *s, struct change *c, const struct entry *like, uint64_t count,
		      uint32_t place, uint32_t length)
{
	struct entry *e = ash_heap_alloc(s->heap, sizeof *e + length);

	if (e == NULL)
		return false;
	*e = (struct entry){.count = count,
			    .hash = like->hash,
			    .word = like->word,
			    .place = place,
			    .length = length};
	memcpy(e->excerpt, s->text->bytes + place, length);
	e->check = check_of(e);
	*c->end = e;
	c->end = &e->next;
	return true;
}

/* Nobody has seen it: released at once, up to what it shares with the old one. */
static void chain_drop(struct session *s, struct entry *first, const struct entry *shared)
{
	while (first != shared) {
		struct entry *next = first->next;

		ash_heap_release(s->heap, first);
		first = next;
	}
}

/* The entry is about to be unlinked: named in the limbo before it is. */
static void limbo_add(struct session *s, struct change *c, struct entry *e)
{
	__atomic_store_n(limbo_at(s, s->used + c->unlinked++), e, __ATOMIC_RELEASE);
}

/* What becomes of the word's own entry; old: NULL, or as it is now. */
static bool change_word(struct session *s, struct change *c, const struct word *w,
			const struct entry *old, enum act act, uint32_t excerpt)
{
	const struct entry fresh = {.hash = w->hash, .word = w->length};
	const struct entry *like = old == NULL ? &fresh : old;
	size_t room = s->text->length - w->place;

	if (act == DELETE) {
		c->adds = -(int64_t)like->count;
		return true;
	}
	if (act == COUNT && old != NULL) {
		c->adds = 1;
		return chain_add(s, c, old, old->count + 1, old->place, old->length);
	}
	if (act == COUNT)
		c->adds = 1;
	excerpt = excerpt < room - w->length ? excerpt + w->length : (uint32_t)room;
	return chain_add(s, c, like, like->count + (act == COUNT), w->place, excerpt);
}

/* The new chain: copies as far as the word, its new entry, the rest as it is. */
static bool change_build(struct session *s, struct change *c, struct entry *head,
			 const struct word *w, enum act act, uint32_t excerpt)
{
	struct entry *e, *before;

	for (e = head; e != NULL && !is_for(e, w, s->text); e = e->next)
		;
	c->rest = e == NULL ? head : e->next;
	for (before = head; e != NULL && before != e; before = before->next) {
		if (!chain_add(s, c, before, before->count, before->place, before->length))
			return false;
		limbo_add(s, c, before);
	}
	if (!change_word(s, c, w, e, act, excerpt))
		return false;
	if (e != NULL)
		limbo_add(s, c, e);
	*c->end = c->rest;
	return true;
}

static bool change_publish(struct session *s, const struct change *c, struct entry *head,
			   uint64_t *bucket)
{
	uint64_t old = (uint64_t)(uintptr_t)head;
	bool done;

	__atomic_store_n(&s->slot->adding, c->adds, __ATOMIC_RELEASE);
	/* Pairs with table_chain; head is not another entry by now, as we are reading. */
	done = __atomic_compare_exchange_n(bucket, &old, (uint64_t)(uintptr_t)c->first, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	if (done)
		__atomic_store_n(&s->slot->sum, s->slot->sum + c->adds, __ATOMIC_RELEASE);
	__atomic_store_n(&s->slot->adding, 0, __ATOMIC_RELEASE);
	return done;
}

/* The limbo keeps what was unlinked, or forgets what was not after all. */
static void limbo_settle(struct session *s, const struct change *c, bool unlinked)
{
	uint64_t epoch = __atomic_load_n(&s->table->epoch, __ATOMIC_SEQ_CST);
	unsigned i;

	for (i = 0; i < c->unlinked; i++)
		if (unlinked)
			s->stamp[(s->oldest + s->used + i) % LIMBO] = epoch;
		else
			__atomic_store_n(limbo_at(s, s->used + i), NULL, __ATOMIC_RELEASE);
	s->used += unlinked ? c->unlinked : 0;
	if (s->used >= LIMBO / 2) {
		/* Who reads from now on cannot find what is in the limbo. */
		__atomic_fetch_add(&s->table->epoch, 1, __ATOMIC_SEQ_CST);
		session_tidy(s);
	}
}

enum outcome table_change(struct session *s, const struct word *w, enum act act, uint32_t excerpt)
{
	uint64_t *bucket = &s->table->bucket[w->hash % BUCKETS];
	struct change c = {.end = &c.first};
	enum outcome outcome = NOT_NOW;
	struct entry *head, *e;
	unsigned length = 0;

	session_read(s);
	head = (struct entry *)(uintptr_t)__atomic_load_n(bucket, __ATOMIC_ACQUIRE);
	for (e = head; e != NULL; e = e->next)
		length++;
	if (s->used + length <= LIMBO) {
		outcome = NO_MEMORY;
		if (change_build(s, &c, head, w, act, excerpt))
			outcome = change_publish(s, &c, head, bucket) ? DONE : LOST_SWAP;
		else
			c.rest = NULL;
		if (outcome != DONE)
			chain_drop(s, c.first, c.rest);
	}
	session_rest(s);
	limbo_settle(s, &c, outcome == DONE);
	return outcome;
}
