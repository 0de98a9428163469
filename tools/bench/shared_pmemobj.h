/* SPDX-License-Identifier: MIT */
/* libpmemobj's side of shared.c: a pool in memory, as the pools of others are in files. */
#ifndef BENCH_SHARED_PMEMOBJ_H
#define BENCH_SHARED_PMEMOBJ_H

#include <libpmemobj.h>
#include <stdbool.h>

#include "shared_host.h"

static PMEMobjpool *pool;

/* A root, so that blocks have somewhere to be named: alloc and store are one step here. */
static void *take(size_t n)
{
	PMEMoid oid = OID_NULL;

	return pmemobj_alloc(pool, &oid, n, 0, NULL, NULL) == 0 ? pmemobj_direct(oid) : NULL;
}

static void give(void *p)
{
	PMEMoid oid = pmemobj_oid(p);

	pmemobj_free(&oid);
}

/* Not measured: its one step names a block by an OID of the pool. */
#include "shared_two_steps.h"

static bool heap_make(size_t capacity)
{
	pool = pmemobj_create(heap_name, "bench", capacity < PMEMOBJ_MIN_POOL ? PMEMOBJ_MIN_POOL : capacity,
			      0600);
	return pool != NULL;
}

static bool heap_again(void)
{
	pool = pmemobj_open(heap_name, "bench");
	return pool != NULL;
}

static void heap_leave(void)
{
	pmemobj_close(pool);
}

/* All that is in the pool is of the dead: it is for one process at a time. */
#define ALONE
static bool heap_join(void)
{
	return heap_again();
}

static bool heap_give_back(void)
{
	PMEMoid oid = pmemobj_first(pool), next;

	for (; !OID_IS_NULL(oid); oid = next) {
		next = pmemobj_next(oid);
		pmemobj_free(&oid);
	}
	return true;
}

/* Not for children of fork. */
static bool heap_open(const char *of)
{
	bool done;

	if (of[0] >= '2' && of[0] <= '9')
		return false;
	done = heap_make(CAPACITY);
	heap_remove();
	return done;
}

static uint64_t blocks_left(void)
{
	PMEMoid oid;
	uint64_t n = 0;

	for (oid = pmemobj_first(pool); !OID_IS_NULL(oid); oid = pmemobj_next(oid))
		n++;
	return n;
}

#endif
