/* SPDX-License-Identifier: MIT */
/* What making and attaching a heap in a file writes, allocates and looks at, and in which words. */
#include "store/file/open.h"

#include "heaps/instance.h"
#include "store/process/life.h"
#include "pages.h"
#include "rt.h"
#include "store/process/share.h"
#include "slab/slab.h"
#include "store/file/image.h"
#include "store/recover/census.h"
#include "syscall.h"
#include "store/process/world.h"

enum { SEEK_END = 2, CAPACITY = 8 << 20 };

static int memfd(void)
{
	int fd = (int)arch_memfd_create("store", 0);

	CHECK(fd >= 0);
	return fd;
}

static ash_heap *made(int fd, size_t capacity, const struct ash_heap_options *options)
{
	return NOT_NULL(ash_heap_create_file(fd, capacity, options));
}

/* Bytes for which the file has memory. */
static size_t backed(int fd)
{
	struct arch_stat st;

	CHECK_EQ(arch_fstat(fd, &st), 0);
	return (size_t)st.blocks * 512;
}

static uint64_t dead_life(void)
{
	uint64_t *life = rt_map_shared(PAGE_SIZE);
	IN_CHILD
		*life = life_of_thread();
	if (*life >> 22 == 0)
		rt_skip("lives of ended threads cannot be judged without /proc");
	return *life;
}

TEST(store_file_belongs_to_its_maker, 10)
{
	static union {
		struct store store;
		char page[PAGE_MOST];
	} blank;
	struct store *s = store_of(heap_of(made(memfd(), CAPACITY, NULL)));

	CHECK(s->claim != 0);
	CHECK_EQ(s->claim, lives_thread(&s->heap));
	CHECK_EQ(s->world, world_now());
	/* The namespaces are stored with the claim, as its life means nothing without them. */
	CHECK_EQ(claim_take(&blank.store), CLAIM_FREE);
	CHECK_EQ(blank.store.claim, s->claim);
	CHECK_EQ(blank.store.world, world_now());
}

/* The maker died after it had cleared magic and before it gave up its claim. */
TEST(store_file_of_a_maker_that_gave_up, 10)
{
	uint64_t words[2] = {dead_life(), world_now()};
	long claim = offsetof(struct store, claim), world = offsetof(struct store, world);
	enum ash_attach why;
	int fd = memfd();

	CHECK_EQ(arch_ftruncate(fd, (long)PAGE_MOST), 0);
	CHECK_EQ(arch_pwrite64(fd, &words[0], 8, claim), 8);
	CHECK_EQ(arch_pwrite64(fd, &words[1], 8, world), 8);
	ash_heap_destroy(made(fd, CAPACITY, NULL));
	/* A live maker may still be making the heap. */
	fd = memfd();
	words[0] = life_of_thread();
	CHECK_EQ(arch_ftruncate(fd, (long)PAGE_MOST), 0);
	CHECK_EQ(arch_pwrite64(fd, &words[0], 8, claim), 8);
	CHECK_EQ(arch_pwrite64(fd, &words[1], 8, world), 8);
	CHECK(ash_heap_open_file(fd, CAPACITY, NULL, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_UNFINISHED);
}

TEST(store_file_open_says_why, 10)
{
	struct ash_heap_options options = {.address = (uintptr_t)&options & ~(CHUNK_SIZE - 1)};
	enum ash_attach why = ASH_ATTACHED;

	CHECK(ash_heap_open_file(memfd(), CAPACITY, &options, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_TAKEN);
	options.address = ((size_t)1 << 45) + PAGE_SIZE; /* where no heap can begin */
	CHECK(ash_heap_open_file(memfd(), CAPACITY, &options, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_MEMORY);
	/* There are not so many free addresses. */
	CHECK(ash_heap_open_file(memfd(), (size_t)120 << 40, NULL, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_MEMORY);
}

/* A heap about as large as the range where heaps are placed is placed anywhere, or refused. */
TEST(store_file_as_large_as_the_room, 10)
{
	size_t room = CPU_APART_TO - CPU_APART_FROM, bytes;
	enum ash_attach why;
	struct store *s;

	if (rt_under_qemu())
		rt_skip("the emulator has a table of all pages that are mapped");
	for (bytes = room - CHUNK_SIZE; bytes < room + 3 * CHUNK_SIZE; bytes += CHUNK_SIZE) {
		s = store_map_anywhere(SHARE_NO_FILE, bytes, 77, &why);
		if (s == NULL)
			CHECK_EQ(why, ASH_ATTACH_NO_MEMORY);
		else
			CHECK(pages_release(s, bytes));
	}
}

/* The places are a function of the chance: the same one again and again takes all of them, then any other. */
TEST(store_file_where_all_places_are_taken, 10)
{
	enum { STORES = 20, PLACES = 16 };
	struct store *s[STORES];
	enum ash_attach why;
	unsigned elsewhere = 0;

	for (unsigned i = 0; i < STORES; i++) {
		s[i] = NOT_NULL(store_map_anywhere(SHARE_NO_FILE, CAPACITY, 77, &why));
		elsewhere += (uintptr_t)s[i] - CPU_APART_FROM >= CPU_APART_TO - CPU_APART_FROM;
	}
	CHECK(elsewhere >= STORES - PLACES);
	for (unsigned i = 0; i < STORES; i++)
		CHECK(pages_release(s[i], CAPACITY));
}

/* Records for threads that such a heap never has. */
static size_t hole_in_records(size_t capacity)
{
	return (STORE_RECORDS - capacity / UNIT_SIZE) * RECORD_BYTES;
}

/* The file is exactly as long as the heap; with options.allocate all of it is allocated that can be of use. */
TEST(store_file_length, 10)
{
	enum { LARGE = 68 << 20 }; /* longer than the pieces in which it is allocated */
	struct ash_heap_options options = {.allocate = true};
	size_t bytes = store_bytes(CAPACITY / CHUNK_SIZE);
	int fd = memfd();

	ash_heap_destroy(made(fd, CAPACITY, NULL));
	CHECK_EQ(arch_lseek(fd, 0, SEEK_END), bytes);
	CHECK(backed(fd) < MIB);
	fd = memfd();
	ash_heap_destroy(made(fd, CAPACITY, &options));
	CHECK_EQ(arch_lseek(fd, 0, SEEK_END), bytes);
	CHECK_EQ(backed(fd), bytes - hole_in_records(CAPACITY));
	if (rt_under_qemu())
		return;
	fd = memfd();
	bytes = store_bytes(LARGE / CHUNK_SIZE);
	ash_heap_destroy(made(fd, LARGE, &options));
	CHECK_EQ(backed(fd), bytes - hole_in_records(LARGE));
}

/* Attaching allocates what its next steps write: an owner record and a census entry. */
TEST(store_file_attach_takes_room, 10)
{
	enum { FULL = PAGE_MOST / sizeof(uint64_t) };
	uint64_t life = dead_life(), entries[FULL];
	enum ash_attach why;
	struct store *s;
	size_t i, used, before;
	int fd = memfd();
	ash_heap *heap = made(fd, CAPACITY, NULL);

	CHECK(ash_heap_alloc(heap, 100) != NULL);
	used = store_of(heap_of(heap))->records_used;
	ash_heap_destroy(heap);
	CHECK(used == 1);
	for (i = 0; i < FULL; i++)
		entries[i] = life;
	CHECK_EQ(arch_pwrite64(fd, entries, sizeof entries, CENSUS_AT), sizeof entries);
	before = backed(fd);
	s = NOT_NULL(store_attach(fd, NULL, &(uint64_t){0}, &why));
	CHECK_EQ(backed(fd) - before, RECORD_BYTES + PAGE_MOST);
	store_leave(s);
}

/* A head whose heap would end beyond the last address is refused. */
TEST(store_file_beyond_all_addresses, 10)
{
	size_t n = CAPACITY / CHUNK_SIZE;
	struct store head, *top = (void *)(((uintptr_t)1 << CPU_ADDRESS_BITS) - CHUNK_SIZE);
	enum ash_attach why = ASH_ATTACHED;
	struct region r;
	int fd = memfd();

	/* Without a record, whose address would be wrong anyway. */
	store_leave(store_of(heap_of(made(fd, CAPACITY, NULL))));
	CHECK_EQ(arch_pread64(fd, &head, sizeof head, 0), sizeof head);
	CHECK_EQ(arch_pread64(fd, &r, sizeof r, REGION_AT), sizeof r);
	store_set(&head, top, n);
	store_set_region(&r, top, n);
	CHECK_EQ(arch_pwrite64(fd, &head, sizeof head, 0), sizeof head);
	CHECK_EQ(arch_pwrite64(fd, &r, sizeof r, REGION_AT), sizeof r);
	CHECK(ash_heap_attach_file(fd, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NO_HEAP);
}

/* A hint to a record without a slab is cleared, whatever class the record names. */
TEST(store_file_hint_of_no_slab, 10)
{
	enum ash_attach why;
	struct chunk *c;
	struct slab *s;
	struct store *store;
	uint64_t next = 1;
	long at;
	int fd = memfd();
	ash_heap *heap = made(fd, CAPACITY, NULL);

	store = store_of(heap_of(heap));
	CHECK(ash_heap_alloc(heap, 100) != NULL);
	c = region_chunk(store->heap.regions, store->heap.regions->chunks - 1);
	s = record_at(c, record_offset_unowned(5));
	CHECK(s->owner == 0 && s->class == 0);
	at = (char *)&store->heap.unowned[0] - (char *)store;
	ash_heap_destroy(heap);
	CHECK_EQ(arch_pwrite64(fd, &s, sizeof s, at), sizeof s);
	/* What lies behind these hints is no hint to a slab. */
	at += (long)sizeof store->heap.unowned;
	CHECK_EQ(arch_pwrite64(fd, &next, sizeof next, at), sizeof next);
	store = NOT_NULL(store_attach(fd, NULL, &(uint64_t){0}, &why));
	CHECK(store->heap.unowned[0] == NULL && store->heap.unowned_next[0] == next);
	store_leave(store);
}

/* By such a descriptor the kernel would write at the end, and say that all was well. */
TEST(store_file_open_for_appending, 10)
{
	enum { F_SETFL = 4, O_APPENDING = 02000 };
	int fd = memfd();
	struct arch_stat before, after;

	CHECK_EQ(arch_fcntl(fd, F_SETFL, O_APPENDING), 0);
	ash_heap_destroy(made(fd, CAPACITY, NULL));
	CHECK_EQ(arch_fstat(fd, &before), 0);
	CHECK(!ash_heap_adopt_file(fd));
	CHECK_EQ(arch_fstat(fd, &after), 0);
	CHECK_EQ(after.length, before.length);
	CHECK_EQ(arch_fcntl(fd, F_SETFL, 0), 0);
	CHECK(ash_heap_adopt_file(fd));
	CHECK(ash_heap_attach_file(fd, NULL) != NULL);
}
