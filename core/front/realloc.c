/* SPDX-License-Identifier: MIT */
/* ash_resize by the name of malloc, and what the checks of told sizes (free.c) need to know of it. */
#include "front/realloc.h"

#include "atomic.h"
#include "front/diagnose.h"
#include "front/resize.h"

static uint64_t kept; /* how blocks kept their place with a smaller size, since the process began */
enum { KEPT_FITTING = 1, KEPT_ANY = 2, KEPT_LARGER = 4 };

static SLOW void kept_set(uint64_t how)
{
	if ((load_relaxed(&kept) & how) == 0)
		(void)fetch_or_release(&kept, how); /* publishes nothing: a thread that gets the block has synchronised */
}

void resize_keeps(size_t have, size_t size)
{
	kept_set(block_fits(have, size) ? KEPT_FITTING : KEPT_ANY);
}

void resize_keeps_larger(void)
{
	kept_set(KEPT_LARGER);
}

bool resize_kept(size_t have, size_t size, bool resized)
{
	uint64_t how = load_relaxed(&kept) & (resized ? ~(uint64_t)0 : KEPT_LARGER);

	return size <= have && ((how & (KEPT_ANY | KEPT_LARGER)) != 0 || (how != 0 && block_fits(have, size)));
}

static SLOW void *realloc_rest(void *p, size_t size)
{
	if (resize_is_none(p, size))
		return p;
	diagnose_called("realloc", p);
	return resize_other(p, size);
}

void *ash_realloc(void *p, size_t size)
{
	return resize_fast(p, size, realloc_rest);
}
