/* SPDX-License-Identifier: MIT */
#include "store/allocator.h"
#include "store/file/open.h"

#include "store/process/mapping.h"
#include "memory.h"
#include "pages.h"
#include "process.h"
#include "store/process/share.h"
#include "store/file/image.h"
#include "store/file/store.h"
#include "store/recover/builders.h"
#include "store/recover/recover.h"
#include "store/process/world.h"

/* Returns whether the words that follow from address and size have their only possible values. */
static bool head_is_right(const struct store *head, size_t n)
{
	uintptr_t base = (uintptr_t)head->base;
	struct store right;

	if (!store_may_have(n) || base == 0 || base % CHUNK_SIZE != 0 ||
	    base >> CPU_ADDRESS_BITS != 0 || (base + store_bytes(n)) >> CPU_ADDRESS_BITS != 0)
		return false;
	memcpy(&right, head, sizeof right);
	store_set(&right, head->base, n);
	/* In another build's file only the truth is compared.  ~0 is ID_BUSY, which is the id of no heap (benches.h). */
	return (head->caches != store_caches() ? memcmp(&right, head, offsetof(struct store, caches)) == 0
					       : memcmp(&right, head, sizeof right) == 0) &&
	       (head->heap.id & 1) != 0 && head->heap.id != ~(uint64_t)0 && head->records_used <= STORE_RECORDS &&
	       head->heap.own.huge <= ASH_HUGE_POPULATE;
}

/* Returns whether each byte is at most CHUNK_UNITS. */
static bool parts_are_right(uint64_t part)
{
	return ((part | (part + (0x7f - CHUNK_UNITS) * ROOM_EACH)) & ROOM_HIGH) == 0;
}

/* Returns whether the region's record in the file has the only possible value. */
static bool region_is_right(int fd, const struct store *head, size_t n)
{
	struct region there, right;

	if (share_read(fd, &there, sizeof there, REGION_AT) != sizeof there)
		return false;
	memcpy(&right, &there, sizeof right);
	store_set_region(&right, head->base, n);
	right.chunks = there.chunks; /* the number grows up to n, see store_extend */
	if (head->caches != store_caches())
		return there.chunks - 1 < n;
	/* The hint may have any value, because too low a value only costs time. */
	return there.chunks - 1 < n && parts_are_right(there.part) &&
	       memcmp(&right, &there, sizeof right) == 0;
}

/* Allocates the parts that attaching writes: an owner record, and the process's entry in the census. */
static bool take_for_attach(int fd, const struct store *head, struct store *s)
{
	size_t most = store_records(head->heap.own.cap >> CHUNK_SHIFT, (head->heap.records & RECORDS_ALLOCATED) != 0);
	uint64_t entry[64], used = head->records_used + (head->records_used < most);
	size_t at, i;

	for (at = 0; at < CENSUS_ENTRIES * sizeof(uint64_t); at += sizeof entry) {
		if (share_read(fd, entry, sizeof entry, CENSUS_AT + at) != sizeof entry)
			return false;
		for (i = 0; i < 64 && entry[i] != 0; i++)
			;
		if (i < 64)
			break;
	}
	return share_take(fd, 0, STORE_HEAD_BYTES, s) &&
	       share_take(fd, CENSUS_AT + (at & ~(PAGE_MOST - 1)), PAGE_MOST, s) &&
	       share_take(fd, RECORDS_AT, used * RECORD_BYTES, s);
}

/* Clears the hints that lead to slabs and records, so that the memory behind them is searched again. */
static void clear_hints(struct heap *h)
{
	unsigned class;

	/* These pair with nothing, because they are hints. */
	store_release(&h->adopt_next, (struct owner *)NULL);
	store_release(&h->reap_next, (struct owner *)NULL);
	for (class = 0; class < CLASSES; class++)
		store_release(&h->unowned[class], (struct slab *)NULL);
}

/*
 * Breaks the seal before the first change, also of a hint.  The caller becomes a builder: then no other thread seals
 * the heap, and the call ends however often others seal.  Returns false if the disk reports an error.
 */
static bool begin_changes(struct store *s)
{
	struct building b = building_begin(&s->heap, NULL);
	bool broken = seal_break(s);

	if (broken) {
		clear_hints(&s->heap);
		/*
		 * Relaxed, because the maker of a file knows its maker, and processes that attach later set this
		 * themselves.
		 */
		store_relaxed(&s->heap.records, load_relaxed(&s->heap.records) | RECORDS_DOUBTED);
	}
	building_end(b);
	return broken;
}

bool store_look(int fd, struct store *head, enum ash_attach *why)
{
	struct share_file file;
	bool half;
	size_t n;
	enum claim found = claim_look(fd, &half);

	*why = ASH_ATTACH_NO_HEAP;
	if (found == CLAIM_BUSY || half)
		*why = ASH_ATTACH_UNFINISHED;
	/*
	 * The rest is read after magic, which is set last, by another system call, because the kernel may copy words
	 * of one call in any order.  The fence pairs with the release of magic (open_create.c).
	 */
	fence_acquire();
	if (found != CLAIM_HEAP || share_read(fd, head, sizeof *head, 0) != sizeof *head)
		return false;
	n = head->heap.own.cap >> CHUNK_SHIFT;
	return head_is_right(head, n) && share_status(fd, &file) && file.length >= head->bytes &&
	       region_is_right(fd, head, n);
}

/*
 * Enters the process in the census, and the heap in the process's map.  Otherwise returns the reason, and s is still
 * mapped.
 */
static enum ash_attach enter_file(struct store *s, const struct store *head, int fd, uint64_t file)
{
	bool ours = head->caches == store_caches(), whole = seal_state(head->seal) == SEAL_WHOLE;
	enum ash_attach why = ASH_ATTACHED;

	if (!ours && !share_take(fd, CENSUS_AT, CENSUS_ENTRIES * sizeof(uint64_t), s))
		return ASH_ATTACH_NO_MEMORY;
	if (!whole && (ours ? reattach_is_torn(s, file) : renew_is_torn(s, file)))
		return ASH_ATTACH_TORN;
	if (!take_for_attach(fd, head, s))
		return ASH_ATTACH_NO_MEMORY;
	if (!ours)
		why = renew(s, fd);
	if (why != ASH_ATTACHED)
		return why;
	if (!renew_enter(s))
		return ASH_ATTACH_UNFINISHED; /* another process came first */
	if (!store_enter(s, head->heap.own.cap >> CHUNK_SHIFT))
		return ASH_ATTACH_NO_MEMORY;
	if (begin_changes(s))
		return ASH_ATTACHED;
	store_exit(s);
	return ASH_ATTACH_NO_MEMORY;
}

struct store *store_attach(int fd, const struct layout *layout, uint64_t *file, enum ash_attach *why)
{
	struct share_file status;
	struct store head, *s;

	if (!store_look(fd, &head, why) || !share_status(fd, &status))
		return NULL;
	*why = ASH_ATTACH_LAYOUT;
	if (layout != NULL && memcmp(layout, &head.layout, sizeof *layout) != 0)
		return NULL;
	*why = ASH_ATTACH_NAMESPACE;
	if (!world_is(head.world, world_now()))
		return NULL;
	*why = ASH_ATTACH_TORN;
	if (seal_is_torn(head.seal))
		return NULL;
	*why = ASH_ATTACH_NO_HEAP;
	if (!image_check(fd, &head, why))
		return NULL;
	*why = ASH_ATTACH_NO_MEMORY;
	s = store_map_at(fd, head.bytes, (uintptr_t)head.base, why);
	if (s == NULL)
		return NULL;
	*file = status.identity;
	*why = enter_file(s, &head, fd, *file);
	if (*why == ASH_ATTACHED)
		return s;
	(void)pages_release(s, head.bytes);
	return NULL;
}

bool store_adopt(int fd)
{
	struct store head;
	uint64_t world = world_now();
	bool is_there = share_read(fd, &head, sizeof head, 0) == sizeof head;

	return is_there && (head.magic == STORE_MAGIC || head.magic == CLAIM_MAKING) &&
	       share_write(fd, &world, sizeof world, offsetof(struct store, world));
}

bool store_vouch(int fd)
{
	struct share_file file;
	struct store head, *s;
	uint64_t word;

	if (share_read(fd, &head, sizeof head, 0) != sizeof head ||
	    head.magic != STORE_MAGIC || head.format != STORE_FORMAT)
		return false;
	if (!share_status(fd, &file))
		return false;
	if (!seal_is_torn(head.seal) && head.file == file.identity)
		return true;
	if (file.length < PAGE_MOST)
		return false;
	s = share_map_anywhere(fd, PAGE_MOST, true);
	if (s == NULL)
		return false;
	/*
	 * The word is not written by the old value: another process may have vouched, attached and broken the seal
	 * since; those changes would then be under a seal.  Pairs with seal_break.
	 */
	word = load_acquire(&s->seal);
	while ((seal_is_torn(word) || load_acquire(&s->file) != file.identity) && /* pairs with reattach */
	       !cas_acq_rel(&s->seal, &word, seal_with(word, SEAL_WHOLE)))
		;
	(void)pages_release(s, PAGE_MOST);
	return true;
}

static uint64_t mapped_here(const struct store *s)
{
	return mapping_at(process_thread(), process_thread(), (uintptr_t)s);
}

/* Returns whether the living thread certainly has this file, which is mapped here as `mine`, at the heap's address. */
static bool is_attached(const struct store *s, uint64_t mine, uint64_t state)
{
	uint64_t thread = LIFE_ID(state >> OWNER_THREAD);

	/*
	 * Threads of this process do not count, because until now the process had nothing of this heap at these
	 * addresses.
	 */
	return mine > MAPPING_NONE && mapping_at(thread, thread, (uintptr_t)s) == mine &&
	       mapping_at(process_number(), thread, (uintptr_t)s) == MAPPING_UNKNOWN;
}

bool reattach_is_torn(struct store *s, uint64_t file)
{
	uint64_t mine = mapped_here(s), state;
	struct owner *o;

	if (load_acquire(&s->file) == file)
		return false;
	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o)) {
		state = load_acquire(&o->state); /* pairs with owner_hold_as */
		if (state != OWNER_VACANT && !recover_is_dead(&s->heap, state) && !is_attached(s, mine, state))
			/* Another process may have attached since.  Pairs with reattach. */
			return load_acquire(&s->file) != file;
	}
	return false;
}

/* Returns whether a living process is attached that has a thread of its own in a record, and so has rebuilt the records. */
static bool others_are_attached(struct store *s, uint64_t mine)
{
	struct owner *o;
	uint64_t state;

	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o)) {
		state = load_acquire(&o->state); /* pairs with owner_hold_as */
		if ((state & OWNER_HELD) != 0 && !recover_is_dead(&s->heap, state) && is_attached(s, mine, state))
			return true;
	}
	return false;
}

void reattach(struct store *s, uint64_t file)
{
	struct building b = building_begin(&s->heap, NULL);
	struct takeover t = takeover_begin();
	uint64_t mine = mapped_here(s), state;
	bool others = others_are_attached(s, mine);
	struct owner *o;

	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o)) {
		state = load_acquire(&o->state); /* pairs with owner_hold_as */
		if (state == OWNER_VACANT ? others
					  : !recover_is_dead(&s->heap, state) &&
						    /* In a copy that was vouched for, all other processes are dead. */
						    (load_acquire(&s->file) == file || is_attached(s, mine, state)))
			continue;
		(void)takeover_add(&t, o, state);
	}
	(void)takeover_end(&t);
	store_release(&s->file, file); /* pairs with reattach_is_torn */
	building_end(b);
}
