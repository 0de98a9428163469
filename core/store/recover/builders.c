/* SPDX-License-Identifier: MIT */
#include "store/recover/builders.h"

#include "store/process/life.h"
#include "store/process/share.h"
#include "store/recover/census.h"
#include "store/recover/holds.h"

/* Makes the caller a stranger if an entry is free; b is of the crowd before. */
static void enter_stranger(struct store *s, struct building *b)
{
	uint64_t life = lives_thread(&s->heap);
	unsigned i;

	/* A thread whose life cannot be judged joins the crowd, because an entry of such a thread would never be freed. */
	for (i = 0; i < STRANGERS && b->as == BUILDER_CROWD && life != 0; i++) {
		struct stranger *t = store_stranger(s, i);
		uint64_t none = 0;

		if (load_relaxed(&t->life) == 0 && cas_acq_rel(&t->life, &none, life)) {
			*b = (struct building){&t->life, BUILDER_STRANGER, 0, t->holds, b->before};
		}
	}
}

void builders_begin(struct heap *h, struct owner *o, struct building *b)
{
	struct store *s = store_of(h);

	b->before = holds_mine;
	if (o != NULL) {
		b->as = BUILDER_OWNER;
		b->holds = holds_of(o);
		if ((load_relaxed(&o->building) & LISTS_CHANGING) == 0)
			b->word = &o->building;
		else
			b->kept = holds_used(b->holds);
	} else {
		b->as = BUILDER_CROWD;
		b->word = &s->crowd;
		enter_stranger(s, b);
	}
	/* Pairs with building_quiet: a thread that sees the changes sees that the caller is building. */
	if (b->word != NULL && b->as != BUILDER_STRANGER)
		fetch_add_acq_rel(b->word, 1);
	if (b->holds != NULL)
		holds_drop(b->holds, b->kept); /* of a thread that died in this place */
	holds_mine = b->holds;
	/* Here for all builders: a thread gets a record as a stranger. */
	if (o == NULL)
		(void)seal_break(s);
	fence_release(); /* pairs with building_quiet */
}

void builders_end(const struct building *b)
{
	if (b->holds != NULL)
		holds_drop(b->holds, b->kept);
	holds_mine = b->before;
	/* Pairs with building_quiet: a thread that sees the end sees the changes. */
	if (b->as == BUILDER_STRANGER)
		store_release(b->word, 0);
	else if (b->word != NULL)
		fetch_add_acq_rel(b->word, b->as == BUILDER_OWNER ? 1 : (uint64_t)-1);
}

/* Returns whether no live stranger has this entry.  Counts the death of a stranger. */
static bool stranger_is_gone(struct store *s, unsigned i)
{
	uint64_t *entry = &store_stranger(s, i)->life, life = load_acquire(entry);

	if (life == 0)
		return true;
	if (!lives_thread_is_over(s, life))
		return false;
	/* Release pairs with store_lost: the stores of the dead thread are seen there. */
	fetch_add_acq_rel(&s->deaths, 1);
	(void)cas_acq_rel(entry, &life, 0);
	return true;
}

bool building_quiet(struct store *s)
{
	struct owner *o;
	unsigned i;

	if (load_acquire(&s->crowd) != 0)
		return false;
	for (i = 0; i < STRANGERS; i++)
		if (!stranger_is_gone(s, i))
			return false;
	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o))
		if ((load_acquire(&o->building) & LISTS_CHANGING) != 0) /* pairs with building_begin and building_end */
			return false;
	return true;
}

void strangers_bury(struct store *s)
{
	unsigned i;

	for (i = 0; i < STRANGERS; i++)
		(void)stranger_is_gone(s, i);
}

/* Returns whether no thread has a record, or is building without a record. */
static bool is_idle(struct store *s)
{
	const struct owner *o;

	/* The order matters: a stranger may be taking a record, and has the record before the building ends. */
	if (!building_quiet(s))
		return false;
	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o))
		if (load_acquire(&o->state) != OWNER_VACANT)
			return false;
	return true;
}

/* No thread changes the heap, so all stores before this call, and no others, are durable after it. */
static enum ash_sync sync_whole(struct store *s, uint64_t word)
{
	if (!share_sync(s, s->bytes))
		return ASH_SYNC_FAILED;
	return load_acquire(&s->seal) == word ? ASH_SYNC_SEALED : ASH_SYNC_DURABLE;
}

enum ash_sync seal_close(struct store *s)
{
	uint64_t word = load_acquire(&s->seal), closing;
	bool mine;

	if (seal_state(word) == SEAL_WHOLE)
		return sync_whole(s, word);
	(void)seal_break(s); /* a dead thread may have left the seal half closed */
	word = load_relaxed(&s->seal);
	closing = seal_with(word, SEAL_CLOSING);
	/* Pairs with seal_break. */
	mine = seal_state(word) == SEAL_OPEN && cas_acq_rel(&s->seal, &word, closing);
	if (mine && !is_idle(s)) {
		mine = false;
		(void)cas_acq_rel(&s->seal, &closing, word);
	}
	if (!share_sync(s, s->bytes)) {
		if (mine)
			(void)cas_acq_rel(&s->seal, &closing, word);
		return ASH_SYNC_FAILED;
	}
	/* This fails if a thread has come since, which found CLOSING and broke the seal. */
	if (!mine || !cas_acq_rel(&s->seal, &closing, seal_with(word, SEAL_WHOLE)))
		return ASH_SYNC_DURABLE;
	return share_sync(s, PAGE_MOST) ? ASH_SYNC_SEALED : ASH_SYNC_FAILED;
}

static uint64_t boot_field(void)
{
	uint64_t n = boot_number();

	return n != 0 && n >> SEAL_BOOT == 0 ? 1 : n >> SEAL_BOOT;
}

static uint64_t seal_word(uint64_t number, enum seal state)
{
	number = (uint32_t)(number << SEAL_NUMBER) >> SEAL_NUMBER;
	return boot_field() << SEAL_BOOT | (number == 0 ? 1 : number) << SEAL_NUMBER |
	       (uint64_t)state;
}

uint64_t seal_new(void)
{
	return seal_word(1, SEAL_OPEN);
}

bool seal_is_torn(uint64_t word)
{
	uint64_t then = word >> SEAL_BOOT, now = boot_field();

	return seal_state(word) != SEAL_WHOLE && then != 0 && now != 0 && then != now;
}

bool seal_break(struct store *s)
{
	/*
	 * A load is not enough: either this read-modify-write or the compare-and-swap in seal_close is first.  So
	 * either that thread sees the caller building, or the caller sees CLOSING.
	 */
	uint64_t word = fetch_or_acq_rel(&s->seal, 0);

	while (seal_state(word) != SEAL_OPEN) {
		uint64_t next = seal_word((uint32_t)word / (SEAL_STATE + 1) + 1, SEAL_BREAKING);

		if (seal_state(word) != SEAL_BREAKING) {
			if (!cas_acq_rel(&s->seal, &word, next))
				continue;
			word = next;
		}
		if (!share_sync(s, PAGE_MOST))
			return false;
		/* Release pairs with seal_touch: a thread that sees OPEN may change the heap. */
		if (cas_acq_rel(&s->seal, &word, seal_with(word, SEAL_OPEN)))
			break;
	}
	return true;
}

void seal_touch(struct store *s)
{
	/* Pairs with seal_close. */
	if (seal_state(load_acquire(&s->seal)) != SEAL_OPEN)
		(void)seal_break(s);
}
