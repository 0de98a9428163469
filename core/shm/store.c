/* SPDX-License-Identifier: MIT */
#include "shm/store.h"

#include "shm/claim.h"
#include "heaps/instance.h"
#include "backend/map.h"
#include "memory.h"
#include "backend/metadata.h"
#include "pages.h"
#include "backend/region.h"
#include "share.h"
#include "shm/sound.h"
#include "world.h"

/* Words that change without a lock prefix are not for two processes. */
#ifdef ASHLAR_SINGLE_THREAD
enum { CAN_SHARE = 0 };
#else
enum { CAN_SHARE = 1 };
#endif

/* ---- its words ---- */

static size_t chunks_at(size_t n)
{
	return STORE_ROUND(REGION_AT + metadata_bytes(n, true, STORE_REMOTE_STRIDE), CHUNK_SIZE);
}

static size_t bytes_of(size_t n)
{
	return chunks_at(n) + (n << CHUNK_SHIFT);
}

static bool may_have(size_t n)
{
	return CAN_SHARE && n > 0 && n < (size_t)1 << (CPU_ADDRESS_BITS - CHUNK_SHIFT);
}

void store_set(struct store *s, struct store *base, size_t n)
{
	s->version = STORE_VERSION;
	s->base = base;
	s->bytes = bytes_of(n);
	s->records = (char *)base + RECORDS_AT;
	s->census = (uint64_t *)(void *)((char *)base + CENSUS_AT);
	s->heap.regions = (struct region *)(void *)((char *)base + REGION_AT);
	s->heap.options = &base->heap.own;
	s->heap.sharing = PAGES_SHARED;
	s->heap.settled = 0;
	s->heap.reserved = n;
	s->heap.own.cap = n << CHUNK_SHIFT;
}

void store_set_region(struct region *r, struct store *base, size_t n)
{
	region_set(r, (struct region *)(void *)((char *)base + REGION_AT), &base->heap,
		   (char *)base + chunks_at(n), n, STORE_REMOTE_STRIDE);
}

/* ---- where it stands ---- */

/* Addresses for the i-th attempt, far from where mappings come by themselves; 0: none. */
static uintptr_t apart(uint64_t chance, size_t bytes, unsigned i)
{
	const size_t step = (size_t)1 << 30, room = CPU_APART_TO - CPU_APART_FROM;

	if (bytes > room / 2)
		return 0;
	chance = (chance + i) * UINT64_C(0x9e3779b97f4a7c15);
	chance = (chance ^ chance >> 32) * UINT64_C(0xd1342543de82ef95);
	return CPU_APART_FROM + (chance >> 20) % ((room - bytes) / step) * step;
}

/* The file, or fresh memory, at the address; NULL, and why not. */
static struct store *map_at(int fd, size_t bytes, uintptr_t address, enum ash_attach *why)
{
	void *at = (void *)address; /* NOLINT: the caller's address */
	bool refused = true;

	if (address % CHUNK_SIZE == 0 && share_map(at, bytes, fd, &refused))
		return at;
	*why = refused ? ASH_ATTACH_NO_MEMORY : ASH_ATTACH_TAKEN;
	return NULL;
}

/* The file where there is room. */
static struct store *map_anywhere(int fd, size_t bytes, uint64_t chance, enum ash_attach *why)
{
	enum { APART = 16, ANYWHERE = 8 };
	struct store *s = NULL;
	unsigned i;

	*why = ASH_ATTACH_TAKEN;
	/* Others may be faster, so several attempts. */
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
			s = map_at(fd, bytes, at, why);
	}
	return s;
}

/* ---- made ---- */

/* In zeroed memory, but for magic and claim.  False: no memory for the map. */
static bool set_up(struct store *s, size_t n, const struct ash_heap_options *options)
{
	struct region *r;

	instance_configure(&s->heap, n << CHUNK_SHIFT, options);
	s->heap.id = heap_new_id(true);
	s->world = world_now();
	store_set(s, s, n);
	r = s->heap.regions;
	store_set_region(r, s, n);
	if (!map_enter(r))
		return false;
	region_open(r);
	/* Pairs with claim_look: the rest is set. */
	store_release(&s->magic, STORE_MAGIC);
	return true;
}

struct store *store_create(size_t n, const struct ash_heap_options *options)
{
	enum ash_attach why;
	struct store *s;

	if (!may_have(n))
		return NULL;
	s = options != NULL && options->address != 0
		    ? map_at(SHARE_NO_FILE, bytes_of(n), options->address, &why)
		    : pages_reserve(bytes_of(n), CHUNK_SIZE, PAGES_SHARED);
	if (s == NULL)
		return NULL;
	s->world = world_now();
	if (set_up(s, n, options))
		return s;
	(void)pages_release(s, bytes_of(n));
	return NULL;
}

/* Memory for all that is written here and by the first call, so that a full disk is an answer. */
static bool take_head(int fd, struct store *base, size_t n, bool all)
{
	struct region r;

	memset(&r, 0, sizeof r);
	store_set_region(&r, base, n);
	if (all)
		return share_take(fd, 0, bytes_of(n));
	return share_take(fd, 0, CENSUS_AT + PAGE_SIZE) && share_take(fd, RECORDS_AT, OWNER_BYTES) &&
	       share_take(fd, REGION_AT, (size_t)(r.records - (char *)base) - REGION_AT);
}

/* The claim is ours: what somebody left half-made goes. */
static bool make_in(int fd, struct store *s, size_t n, const struct ash_heap_options *options)
{
	bool all = options != NULL && options->allocate;

	/* Nobody looks behind the first page now, and that stays. */
	return share_set_length(fd, PAGE_SIZE) && share_set_length(fd, bytes_of(n)) &&
	       take_head(fd, s, n, all) && set_up(s, n, options);
}

/* The file is free, as it seemed; it is mapped before it is touched. */
static struct store *make(int fd, size_t n, const struct ash_heap_options *options,
			  enum ash_attach *why, enum claim *found)
{
	uintptr_t address = options == NULL ? 0 : options->address;
	struct share_file file = {0, 0};
	struct store *s;

	*why = ASH_ATTACH_NO_MEMORY;
	if (!may_have(n) || !share_status(fd, &file))
		return NULL;
	s = address != 0 ? map_at(fd, bytes_of(n), address, why)
			 : map_anywhere(fd, bytes_of(n),
					file.chance ^ (uintptr_t)&file ^ heap_new_id(true), why);
	if (s == NULL)
		return NULL;
	if (share_grow(fd, PAGE_SIZE)) {
		*found = claim_take(s);
		if (*found == CLAIM_FREE) {
			claim_clear(s);
			if (make_in(fd, s, n, options))
				return s;
			(void)share_set_length(fd, PAGE_SIZE);
			claim_give(s);
			*why = ASH_ATTACH_NO_MEMORY;
		}
	} else {
		*why = ASH_ATTACH_NO_MEMORY;
	}
	(void)pages_release(s, bytes_of(n));
	return NULL;
}

struct store *store_create_file(int fd, size_t n, const struct ash_heap_options *options,
				enum ash_attach *why)
{
	bool half;
	enum claim found = claim_look(fd, &half);
	struct store *s = NULL;

	*why = ASH_ATTACH_NO_MEMORY;
	if (found == CLAIM_FREE)
		s = make(fd, n, options, why, &found);
	if (s != NULL)
		*why = ASH_ATTACHED;
	else if (found == CLAIM_BUSY)
		*why = ASH_ATTACH_UNFINISHED;
	else if (found != CLAIM_FREE)
		*why = ASH_ATTACH_NO_HEAP;
	return s;
}

/* ---- attached to ---- */

/* The words that follow from place and size are as they must be. */
static bool head_is_right(const struct store *head, size_t n)
{
	uintptr_t base = (uintptr_t)head->base;
	struct store right;

	if (!may_have(n) || base == 0 || base % CHUNK_SIZE != 0 ||
	    base >> CPU_ADDRESS_BITS != 0 || (base + bytes_of(n)) >> CPU_ADDRESS_BITS != 0)
		return false;
	memcpy(&right, head, sizeof right);
	store_set(&right, head->base, n);
	/* ~0 is an entry that is being given to a heap, see seats.c. */
	return memcmp(&right, head, sizeof right) == 0 && (head->heap.id & 1) != 0 &&
	       head->heap.id != ~(uint64_t)0 && head->records_used <= STORE_RECORDS &&
	       head->heap.own.huge <= ASH_HUGE_POPULATE;
}

/* The region's record in the file is as it must be. */
static bool region_is_right(int fd, const struct store *head, size_t n)
{
	struct region there, right;

	if (share_read(fd, &there, sizeof there, REGION_AT) != sizeof there)
		return false;
	memcpy(&right, &there, sizeof right);
	store_set_region(&right, head->base, n);
	return memcmp(&right, &there, sizeof right) == 0;
}

/* Memory for what attaching writes: records of threads, and the process's place in the census. */
static bool take_for_attach(int fd, const struct store *head)
{
	uint64_t place[64], used = head->records_used + 1;
	size_t at, i;

	for (at = 0; at < CENSUS_ENTRIES * sizeof(uint64_t); at += sizeof place) {
		if (share_read(fd, place, sizeof place, CENSUS_AT + at) != sizeof place)
			return false;
		for (i = 0; i < 64 && place[i] != 0; i++)
			;
		if (i < 64)
			break;
	}
	if (used > STORE_RECORDS)
		used = STORE_RECORDS;
	return share_take(fd, 0, CENSUS_AT) &&
	       share_take(fd, CENSUS_AT + (at & ~(PAGE_SIZE - 1)), PAGE_SIZE) &&
	       share_take(fd, RECORDS_AT, used * OWNER_BYTES);
}

/* Hints that lead to a slab of somebody else's, or of another class. */
static void clear_hints(struct heap *h)
{
	unsigned class;

	for (class = 0; class < CLASSES; class++) {
		const struct slab *s = load_acquire(&h->unowned[class]);

		if (s != NULL && ((load_acquire(&s->owner) & OWNER_UNOWNED) == 0 ||
				  load_relaxed(&s->class) != class))
			store_release(&h->unowned[class], (struct slab *)NULL);
	}
}

struct store *store_attach(int fd, enum ash_attach *why)
{
	struct share_file file;
	struct store head, *s;
	bool half;
	size_t n;
	enum claim found = claim_look(fd, &half);

	*why = CAN_SHARE ? ASH_ATTACH_NO_HEAP : ASH_ATTACH_NO_MEMORY;
	if (found == CLAIM_BUSY || half)
		*why = ASH_ATTACH_UNFINISHED;
	/* Only now, as magic is set last, the rest. */
	if (!CAN_SHARE || found != CLAIM_HEAP ||
	    share_read(fd, &head, sizeof head, 0) != sizeof head)
		return NULL;
	n = head.heap.own.cap >> CHUNK_SHIFT;
	if (!head_is_right(&head, n) || !share_status(fd, &file) || file.length < head.bytes ||
	    !region_is_right(fd, &head, n))
		return NULL;
	*why = ASH_ATTACH_NAMESPACE;
	if (!world_is(head.world, world_now()))
		return NULL;
	*why = ASH_ATTACH_NO_HEAP;
	if (!sound(fd, &head, why))
		return NULL;
	*why = ASH_ATTACH_NO_MEMORY;
	if (!take_for_attach(fd, &head))
		return NULL;
	s = map_at(fd, head.bytes, (uintptr_t)head.base, why);
	if (s == NULL)
		return NULL;
	if (!map_enter(s->heap.regions)) {
		*why = ASH_ATTACH_NO_MEMORY;
		(void)pages_release(s, head.bytes);
		return NULL;
	}
	clear_hints(&s->heap);
	*why = ASH_ATTACHED;
	return s;
}

bool store_adopt(int fd)
{
	struct store head;
	uint64_t world = world_now();
	bool is_there = CAN_SHARE && share_read(fd, &head, sizeof head, 0) == sizeof head;

	return is_there && (head.magic == STORE_MAGIC || head.magic == CLAIM_MAKING) &&
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
	void *record;

	do
		if (n >= STORE_RECORDS)
			return NULL;
	while (!cas_acquire(&s->records_used, &n, n + 1));
	record = s->records + n * OWNER_BYTES;
	/* It was never used, so it reads zero; or somebody else wrote the file. */
	memset(record, 0, OWNER_BYTES);
	return record;
}
