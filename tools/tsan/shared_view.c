/* SPDX-License-Identifier: MIT */
/* Of shared.c: a view of the file, and a second attachment. */
#include "stress.h"

#include "ashlar_heap.h"

static int see_view(void *context, const void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)size, (void)owner;
	*(const void **)context = block;
	return 0;
}

static int see_view_name(void *context, const char *name, const void *p)
{
	(void)name;
	*(const void **)context = p;
	return 0;
}

/* Not ash_heap_view_check: it copies records as pread does, whatever is written meanwhile, and judges the copies. */
void shared_view(int file)
{
	enum ash_attach why;
	ash_heap_view *v = ash_heap_view_file(file, &why);
	const void *last = NULL;
	struct ash_block found;

	if (v != NULL) {
		(void)ash_heap_view_walk(v, see_view, &last);
		(void)ash_heap_view_find(v, last, &found);
		(void)ash_heap_view_names(v, see_view_name, &last);
		(void)ash_heap_view_bound(v, "two");
		(void)ash_heap_view_root(v);
		ash_heap_view_close(v);
	}
	/* Checked, and then refused: the address is taken. */
	if (ash_heap_attach_file(file, &why) != NULL || (why != ASH_ATTACH_TAKEN && why != ASH_ATTACH_NO_HEAP))
		fail("the heap was attached twice");
}
