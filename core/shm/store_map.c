/* SPDX-License-Identifier: MIT */
#include "shm/store_map.h"

#include "backend/map.h"
#include "pages.h"
#include "share.h"

enum { APART = 16, ANYWHERE = 8 };

/* The address of the i-th attempt, far from where the kernel places mappings; 0: none. */
static uintptr_t apart(uint64_t chance, size_t bytes, unsigned i)
{
	size_t from = CPU_APART_FROM, room = CPU_APART_TO - CPU_APART_FROM, step = (size_t)1 << 30;

#ifdef CPU_NARROW_FROM /* the second half of the attempts */
	if (i >= APART / 2) {
		from = CPU_NARROW_FROM;
		room = CPU_NARROW_TO - CPU_NARROW_FROM;
		step = (size_t)1 << 26; /* 1 GiB would be 96 places only */
	}
#endif
	if (bytes > room / 2)
		return 0;
	chance = (chance + i) * UINT64_C(0x9e3779b97f4a7c15);
	chance = (chance ^ chance >> 32) * UINT64_C(0xd1342543de82ef95);
	return from + (chance >> 20) % ((room - bytes) / step) * step;
}

struct store *store_map_at(int fd, size_t bytes, uintptr_t address, enum ash_attach *why)
{
	void *at = (void *)address; /* NOLINT: the caller's address */
	bool refused = true;

	if (address % CHUNK_SIZE == 0 && share_map(at, bytes, fd, &refused))
		return at;
	*why = refused ? ASH_ATTACH_NO_MEMORY : ASH_ATTACH_TAKEN;
	return NULL;
}

struct store *store_map_anywhere(int fd, size_t bytes, uint64_t chance, enum ash_attach *why)
{
	struct store *s = NULL;
	unsigned i;

	*why = ASH_ATTACH_TAKEN;
	/* Another thread may map the address first, so there are several attempts. */
	for (i = 0; s == NULL && i < APART + ANYWHERE && *why == ASH_ATTACH_TAKEN; i++) {
		uintptr_t at = i < APART ? apart(chance, bytes, i) : 0;

		if (at == 0) {
			at = (uintptr_t)pages_reserve(bytes, CHUNK_SIZE, PAGES_PRIVATE);
			if (at == 0)
				*why = ASH_ATTACH_NO_MEMORY;
			else
				(void)pages_release((void *)at, bytes); /* NOLINT: an address */
		}
		if (at != 0)
			s = store_map_at(fd, bytes, at, why);
#ifdef CPU_NARROW_FROM
		if (*why == ASH_ATTACH_NO_MEMORY && i < APART / 2) {
			*why = ASH_ATTACH_TAKEN; /* perhaps by a kernel with fewer address bits */
			i = APART / 2 - 1;
		}
#endif
	}
	return s;
}

/*
 * Chunks that are added later are in the map of each process already: their records read
 * zero until they are used, and reject each address (map_find).
 */
bool store_enter(struct store *s, size_t limit)
{
	struct region all = {0};

	store_set_region(&all, s, limit);
	return map_enter(&all);
}

void store_leave(struct store *s)
{
	struct region all = {0};

	store_set_region(&all, s, s->heap.reserved);
	map_leave(&all);
	(void)pages_release(s, s->bytes);
}
