/* SPDX-License-Identifier: MIT */
#include "store/file/open.h"

#include "memory.h"
#include "store/recover/census.h"
#include "store/process/world.h"

#define AFTER (offsetof(struct store, world) + sizeof(uint64_t))

/* Returns whether the thread is making the heap.  That may be the calling thread, interrupted by a signal handler. */
static bool is_live(uint64_t claim, uint64_t world)
{
	/* In namespaces other than the caller's, the life cannot be judged, and counts as live. */
	return claim != 0 && (!world_is(world, world_now()) || !life_thread_is_over(claim));
}

/* The fault of a file that should be blank; two looks are compared. */
struct wrong {
	size_t length;	     /* of the file, at most one byte more than a page */
	size_t at;	     /* the first word that is not zero ...            */
	uint64_t word;	     /* ... and its value                              */
};

/* Returns whether the file has at most one page, with zeros except for claim and world. */
static bool is_blank(const struct store *head, size_t length, int fd, struct wrong *w)
{
	size_t at, i;

	*w = (struct wrong){length > PAGE_MOST ? PAGE_MOST + 1 : length, 0, 0};
	for (at = 0; at < PAGE_MOST; at += PAGE_LEAST) {
		uint64_t page[PAGE_LEAST / sizeof(uint64_t)] = {0};

		if (length > PAGE_MOST || at + share_read(fd, page, PAGE_LEAST, at) > length + at)
			return false;
		if (at == 0) {
			page[offsetof(struct store, claim) / sizeof(uint64_t)] ^= head->claim;
			page[offsetof(struct store, world) / sizeof(uint64_t)] ^= head->world;
		}
		for (i = 0; i < PAGE_LEAST / sizeof(uint64_t); i++)
			if (page[i] != 0) {
				w->at = at + i * sizeof(uint64_t);
				w->word = page[i];
				return false;
			}
	}
	return true;
}

enum claim claim_look(int fd, bool *half)
{
	struct wrong now = {SIZE_MAX, 0, 0}, before;
	struct share_file file;
	struct store head;

	*half = false;
	/*
	 * Between these calls other threads may begin to make a heap, or give up.  Their words then look like another
	 * file, but never twice in the same way.  Lock-free: a round is repeated only if the file has changed.
	 */
	do {
		before = now;
		if (!share_status(fd, &file))
			return CLAIM_FOREIGN;
		memset(&head, 0, sizeof head); /* words that the file does not have are 0 */
		(void)share_read(fd, &head, AFTER, 0);
		if (head.magic == STORE_MAGIC)
			return CLAIM_HEAP;
		*half = head.magic == CLAIM_MAKING;
		/*
		 * Busy also without a claim, like claim_take: an attempt would change the file, and claim_wait would
		 * wait on.
		 */
		if (*half && !world_is(head.world, world_now()))
			return CLAIM_BUSY;
		if (*half || is_blank(&head, file.length, fd, &now))
			return is_live(head.claim, head.world) ? CLAIM_BUSY : CLAIM_FREE;
	} while (memcmp(&now, &before, sizeof now) != 0);
	return CLAIM_FOREIGN;
}

bool claim_wait(int fd, struct claim_wait *w)
{
	uint64_t me = life_of_thread();
	struct claim_wait now;

	/* A thread that does not know the thread's own life could not make the heap either. */
	memset(&now, 0, sizeof now);
	if (!share_status(fd, &now.file) || share_read(fd, now.words, AFTER, 0) > AFTER ||
	    me == 0 || now.words[2] == me)
		return false;
	/* A thread that makes a large heap changes the file all the time, because share_take goes by pieces. */
	now.looks = w->looks + (now.words[2] != 0 ? 1 : CLAIM_PATIENCE / 16); /* without a claim the maker is between two steps */
	if (memcmp(now.words, w->words, sizeof now.words) != 0 || now.file.length != w->file.length ||
	    now.file.chance != w->file.chance)
		now.looks = 0;
	*w = now;
	share_pause();
	return now.looks < CLAIM_PATIENCE;
}

enum claim claim_take(struct store *s)
{
	uint64_t magic = 0, claim, me, world = 0, here = world_now();

	if (!cas_acq_rel(&s->magic, &magic, CLAIM_MAKING) && magic != CLAIM_MAKING)
		return magic == STORE_MAGIC ? CLAIM_HEAP : CLAIM_FOREIGN;
	/*
	 * First, so that a thread that sees a claim sees the namespaces in which that life is valid: the release of
	 * the claim pairs with the acquire load below.
	 */
	(void)cas_acq_rel(&s->world, &world, here);
	claim = load_acquire(&s->claim);
	me = lives_thread(&s->heap); /* 0 in namespaces other than the heap's */
	if (me == 0 || is_live(claim, here) || !cas_acq_rel(&s->claim, &claim, me))
		return CLAIM_BUSY;
	/* The former maker may have completed the heap before dying. */
	return load_acquire(&s->magic) == STORE_MAGIC ? CLAIM_HEAP : CLAIM_FREE;
}

void claim_clear(struct store *s)
{
	memset((char *)s + AFTER, 0, PAGE_MOST - AFTER);
	s->format = 0;
}

void claim_give(struct store *s)
{
	uint64_t making = CLAIM_MAKING, mine = load_relaxed(&s->claim);

	claim_clear(s);
	store_relaxed(&s->world, (uint64_t)0);
	/* In this order, because a thread that sees no claim may begin, and sets magic. */
	(void)cas_acq_rel(&s->magic, &making, 0);
	/* A thread in other namespaces may have begun after world was cleared. */
	(void)cas_acq_rel(&s->claim, &mine, 0);
}
