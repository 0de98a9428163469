/* SPDX-License-Identifier: MIT */
/*
 * Files that lie.  A heap in a file, with blocks of processes that lived on,
 * ended, detached and were killed; of its file a copy is changed in one place,
 * and a process of its own attaches to the copy, allocates, compares all blocks,
 * releases, walks, checks, recovers.  What may come of it:
 *
 *   refused      ash_heap_attach_file gives NULL
 *   told         ash_heap_check gives a number, or the one line of misuse
 *   unharmed     none of this, and every block is as it was
 *
 * and never a signal without that line, an address outside the heap, a block
 * that is given out again, or no end.  What no look can tell is left out of the
 * last but one: changed bits that say taken or free.
 */
#ifndef TESTS_STORE_PROGRAM_FORGED_H
#define TESTS_STORE_PROGRAM_FORGED_H

#include "store/program/forged_copy.h"

enum forged_outcome {
	OUT_UNHARMED,
	OUT_REFUSED,
	OUT_NO_MEMORY,
	OUT_CHECK,
	OUT_LINE,
	OUT_DAMAGED,
	OUT_TWICE,
	OUT_OUTSIDE,
	OUT_SIGNAL,
	OUT_IN_ATTACH,
	OUT_NO_END,
	OUTCOMES
};

static const char *const forged_outcomes[OUTCOMES] = {
	"unharmed", "refused", "no memory", "check", "line", "damaged",
	"twice",    "outside", "signal",    "in attach", "no end",
};

static bool forged_overlap(const struct forged_block *a, const struct forged_block *b)
{
	return a->p < b->p + b->size && b->p < a->p + a->size;
}

static int forged_seen(void *context, void *p, size_t size, UNUSED const struct ash_heap_owner *owner)
{
	size_t at = (size_t)((char *)p - (char *)forged->base);

	*(bool *)context |= at >= forged->bytes || size > forged->bytes - at;
	return 0;
}

static int forged_named(void *context, const char *name, void *p)
{
	size_t at = (size_t)((char *)p - (char *)forged->base);

	*(bool *)context |= at >= forged->bytes || rt_strlen(name) > ASH_NAME_MAX;
	return 0;
}

struct forged_view {
	ash_heap_view *view;
	bool outside;
};

static int forged_viewed(void *context, const void *p, size_t size, UNUSED const struct ash_heap_owner *owner)
{
	struct forged_view *v = context;
	uint64_t at = ash_heap_view_offset(v->view, p);

	v->outside |= at == 0 || size > forged->bytes - at;
	return 0;
}

/* A view of the file: whatever is in it, nothing outside the mapping is reached or told. */
static bool forged_view(int fd, struct rt_random *r)
{
	struct forged_view v = {ash_heap_view_file(fd, NULL), false};
	struct ash_block b;
	const void *root;
	unsigned i;

	if (v.view == NULL)
		return true;
	(void)ash_heap_view_walk(v.view, forged_viewed, &v);
	(void)ash_heap_view_check(v.view);
	for (i = 0; i < 300; i++) {
		const void *p = i < forged->count && i % 2 == 0
					? ash_heap_view_at(v.view, forged->block[i].p)
					: ash_heap_view_pointer(v.view, rt_below(r, forged->bytes));

		(void)ash_heap_view_find(v.view, p, &b);
		if (b.start != NULL)
			(void)forged_viewed(&v, b.start, b.size, NULL);
	}
	root = ash_heap_view_root(v.view);
	v.outside |= root != NULL && ash_heap_view_offset(v.view, root) == 0;
	ash_heap_view_close(v.view);
	return !v.outside;
}

static unsigned forged_calls; /* that an attacher makes beside these */

/* Takes and releases blocks; true: one of them lies outside. */
static bool forged_churn(ash_heap *h, struct rt_random *r)
{
	char *p[64] = {NULL};
	bool outside = false;
	unsigned i;

	for (i = 0; i < forged_calls; i++) {
		char **at = &p[rt_below(r, 64)];
		size_t size = forged_size(r, i);

		ash_heap_release(h, *at);
		*at = ash_heap_alloc(h, size);
		if (*at != NULL)
			(void)forged_seen(&outside, *at, size, NULL);
	}
	for (i = 0; i < 64; i++)
		ash_heap_release(h, p[i]);
	return outside;
}

static void forged_attacher(void *fd)
{
	enum forged_outcome out = OUT_UNHARMED;
	enum ash_attach why;
	unsigned i, k, old = forged->count, all = old;
	bool outside = false;
	struct rt_random r;
	ash_heap *h;

	rt_timer(FORGED_SECONDS * 1000000u);
	*forged_attaching = 1;
	rt_seed(&r, 78);
	if (!forged_view((int)(long)fd, &r))
		rt_exit(OUT_OUTSIDE);
	h = ash_heap_attach_file((int)(long)fd, &why);
	*forged_attaching = 0;
	if (h == NULL)
		rt_exit(why == ASH_ATTACH_NO_HEAP || why == ASH_ATTACH_UNFINISHED || why == ASH_ATTACH_TORN ||
				why == ASH_ATTACH_OTHERS
				? OUT_REFUSED
				: OUT_NO_MEMORY);
	rt_seed(&r, 77);
	(void)ash_heap_names(h, forged_named, &outside);
	forged_publish(h, 78, 30);
	for (i = 0; i < FORGED_NEW; i++) {
		struct forged_block *b = &forged->block[all];

		b->size = forged_size(&r, i);
		b->p = ash_heap_alloc(h, b->size);
		if (b->p == NULL)
			continue;
		(void)forged_seen(&outside, b->p, b->size, NULL);
		if (outside)
			rt_exit(OUT_OUTSIDE);
		for (k = 0; k < all; k++)
			if (forged_overlap(b, &forged->block[k]))
				rt_exit(OUT_TWICE);
		forged_fill(b, all++);
	}
	for (i = 0; i < all; i++)
		if (!forged_holds(&forged->block[i], i))
			rt_exit(OUT_DAMAGED);
	for (i = 0; i < all; i += 2)
		ash_heap_release(h, forged->block[i].p);
	(void)ash_heap_walk(h, forged_seen, &outside);
	if (outside)
		out = OUT_OUTSIDE;
	else if (ash_heap_check(h) != 0)
		out = OUT_CHECK;
	(void)ash_heap_recover(h);
	if (forged_churn(h, &r))
		rt_exit(OUT_OUTSIDE);
	(void)ash_heap_trim(h, 0);
	for (i = 1; i < all; i += 2)
		ash_heap_release(h, forged->block[i].p);
	ash_heap_destroy(h);
	rt_exit((int)out);
}

static enum forged_outcome forged_try(enum forged_kind kind, struct rt_random *r, bool *truth)
{
	long fd = forged_copy();
	char text[512];
	int status;

	*truth = forged_change(fd, kind, r);
	*forged_attaching = 0;
	status = rt_run_child(forged_attacher, (void *)fd, text, sizeof text); /* NOLINT */
	arch_close(fd);
	if (status < OUTCOMES)
		return (enum forged_outcome)status;
	if (status == 1000 + FORGED_SIGALRM)
		return OUT_NO_END;
	if (status == 1000 + FORGED_SIGABRT && rt_strstr(text, "ashlar: ") == text &&
	    *forged_attaching == 0)
		return OUT_LINE;
	return *forged_attaching != 0 ? OUT_IN_ATTACH : OUT_SIGNAL;
}

/* So many of each kind; prints the table. */
static void forged_all(uint64_t seed, unsigned each, enum forged_left left)
{
	static unsigned table[FORGED_KINDS][OUTCOMES], truths[OUTCOMES];
	unsigned kind, i, k, bad = 0;

	memset(table, 0, sizeof table);
	memset(truths, 0, sizeof truths);
	forged_make(seed, left);
	for (kind = 0; kind < FORGED_KINDS; kind++)
		for (i = 0; i < each; i++) {
			struct rt_random r;
			enum forged_outcome out;
			bool truth;

			rt_seed(&r, seed * 1000003 + kind * 100000 + i);
			out = forged_try((enum forged_kind)kind, &r, &truth);
			if (truth && (out == OUT_TWICE || out == OUT_DAMAGED)) {
				truths[out]++;
				continue;
			}
			table[kind][out]++;
			if (out >= OUT_DAMAGED) {
				bad++;
				rt_print("     %s, number %u: %s; 0x%lx: 0x%lx is 0x%lx\n",
					 forged_names[kind], i, forged_outcomes[out], forged_at,
					 forged_was, forged_is);
			}
		}
	rt_print("     %38s", "");
	for (k = 0; k < OUTCOMES; k++)
		rt_print(" %9s", forged_outcomes[k]);
	rt_print("\n");
	for (kind = 0; kind < FORGED_KINDS; kind++) {
		rt_print("     %38s", forged_names[kind]);
		for (k = 0; k < OUTCOMES; k++)
			rt_print(" %9u", table[kind][k]);
		rt_print("\n");
	}
	rt_print("     bits that say taken or free: %u given out twice, %u damaged\n",
		 truths[OUT_TWICE], truths[OUT_DAMAGED]);
	CHECK_EQ(bad, 0);
}

#endif
