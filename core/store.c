/* SPDX-License-Identifier: MIT */
#include "store.h"

#include "instance.h"
#include "map.h"
#include "metadata.h"
#include "pages.h"
#include "region.h"
#include "share.h"
#include "world.h"

#define MAGIC ((uint64_t)0x3130726c68736100) /* "\0ashlr01" */

/* Words that change without a lock prefix are not for two processes. */
#ifdef ASH_SINGLE_THREAD
enum { CAN_SHARE = 0 };
#else
enum { CAN_SHARE = 1 };
#endif

#define ROUND(n, to) (((n) + (to) - 1) / (to) * (to))
#define CENSUS_AT    ROUND(sizeof(struct store), PAGE_SIZE)
#define RECORDS_AT   (CENSUS_AT + CENSUS_PLACES * sizeof(uint64_t))
#define REGION_AT    (RECORDS_AT + STORE_RECORDS * OWNER_BYTES)

static size_t chunks_at(size_t n)
{
	return ROUND(REGION_AT + metadata_bytes(n, true, STORE_REMOTE_STRIDE), CHUNK_SIZE);
}

/* Fresh memory of the file at the address, or where there is room. */
static struct store *map_anywhere(int fd, size_t bytes, uintptr_t address)
{
	void *at = (void *)address; /* NOLINT: the caller's address */
	bool refused;

	if (address != 0)
		return address % CHUNK_SIZE == 0 && share_map(at, bytes, fd, &refused) ? at : NULL;
	if (fd == SHARE_NO_FILE)
		return pages_reserve(bytes, CHUNK_SIZE, PAGES_SHARED);
	/* Where there is room; somebody could be faster, so several attempts. */
	for (address = 0; address < 8; address++) {
		at = pages_reserve(bytes, CHUNK_SIZE, PAGES_PRIVATE);
		if (at == NULL)
			return NULL;
		(void)pages_release(at, bytes);
		if (share_map(at, bytes, fd, &refused))
			return at;
		if (refused)
			return NULL;
	}
	return NULL;
}

struct store *store_create(int fd, size_t n, uintptr_t address,
			   const struct ash_heap_options *options)
{
	size_t at, bytes;
	struct store *s;

	if (!CAN_SHARE || n == 0 || n > (size_t)1 << (CPU_ADDRESS_BITS - CHUNK_SHIFT))
		return NULL;
	at = chunks_at(n);
	bytes = at + (n << CHUNK_SHIFT);
	/* What is in a file may be somebody's heap: only an empty one will do. */
	if (fd != SHARE_NO_FILE && (share_length(fd) != 0 || !share_set_length(fd, bytes)))
		return NULL;
	s = map_anywhere(fd, bytes, address);
	if (s == NULL)
		return NULL;
	s->base = s;
	s->bytes = bytes;
	instance_configure(&s->heap, n << CHUNK_SHIFT, options);
	s->records = (char *)s + RECORDS_AT;
	s->census = (uint64_t *)(void *)((char *)s + CENSUS_AT);
	s->heap.id = heap_new_id(true);
	s->heap.sharing = PAGES_SHARED;
	s->world = world_now();
	if (!region_fix(&s->heap, (char *)s + REGION_AT, (char *)s + at, n, STORE_REMOTE_STRIDE)) {
		(void)pages_release(s, bytes);
		return NULL;
	}
	/* Pairs with store_attach: the rest is set. */
	store_release(&s->magic, MAGIC);
	return s;
}

struct store *store_attach(int fd, enum ash_attach *why)
{
	struct store head, *s;
	bool refused;

	*why = CAN_SHARE ? ASH_ATTACH_NO_HEAP : ASH_ATTACH_NO_MEMORY;
	if (!CAN_SHARE || !share_read(fd, &head, sizeof head) || head.magic != MAGIC ||
	    share_length(fd) < head.bytes)
		return NULL;
	*why = ASH_ATTACH_NAMESPACE;
	if (!world_is(head.world, world_now()))
		return NULL;
	s = head.base;
	if (!share_map(s, head.bytes, fd, &refused)) {
		*why = refused ? ASH_ATTACH_NO_MEMORY : ASH_ATTACH_TAKEN;
		return NULL;
	}
	*why = ASH_ATTACH_NO_MEMORY;
	if (!map_enter(s->heap.regions)) {
		(void)pages_release(s, head.bytes);
		return NULL;
	}
	*why = ASH_ATTACHED;
	return s;
}

bool store_adopt(int fd)
{
	struct store head;
	uint64_t world = world_now();

	return CAN_SHARE && share_read(fd, &head, sizeof head) && head.magic == MAGIC &&
	       share_write(fd, &world, sizeof world, offsetof(struct store, world));
}

void store_leave(struct store *s)
{
	map_leave(s->heap.regions);
	(void)pages_release(s, s->bytes);
}

void *store_owner(struct heap *h)
{
	struct store *s = store_of(h);
	uint64_t n = load_relaxed(&s->records_used);

	do
		if (n == STORE_RECORDS)
			return NULL;
	while (!swap_acquire(&s->records_used, &n, n + 1));
	return s->records + n * OWNER_BYTES;
}
