/* SPDX-License-Identifier: MIT */
/*
 * The golden file of format 1 as a kill leaves it: with each kind of an intent, each state of the seal, each tag.
 * All offsets and words are numbers that FORMAT.md says, so that none of the library's constants may change.
 */
#include "ashlar_heap.h"
#include "store/inner/format_1.h"
#include "store/process/life.h"
#include "store/process/share.h"

#define A    UINT64_C(0x200002228800) /* two blocks, each with tag 1, in slabs of record 0 */
#define B    UINT64_C(0x200002230000)
#define CELL UINT64_C(0x200002240008) /* a word of a third one */
#define BASE UINT64_C(0x200000000000)
#define TAG_A 0x2065d80, UINT64_C(0x0000000100010001) /* the word that has it: of slots 0 to 3 of that slab */
#define TAG_B 0x2066ec0, UINT64_C(0x0000000000000001)

/* Record 1: its third intent has number 6, tag 0xc006; and its marks in the fifth use, and in the fourth. */
#define INTENT(kind, slot, fresh, old) {0x33f60, 0x50 + (kind)}, {0x33f68, slot}, {0x33f70, fresh}, {0x33f78, old}, {0x33f80, 1}
#define MARK_5 UINT64_C(0x2800d)
#define MARK_4 UINT64_C(0x2000d)
#define AT_CELL(word) {0x2240008, word}

struct state {
	const char *name;
	uint64_t word[9][2];
	bool a, b;     /* what is left of the two when it is attached */
	uint64_t cell; /* what the slot has then */
};

static const struct state state[] = {
	{"idle", {INTENT(0, CELL, B, A), AT_CELL(A)}, true, true, A},
	{"claimed", {INTENT(1, 0, B, 0), {0x2066ec0, 0xc006}, AT_CELL(A)}, true, false, A},
	{"claimed, another's block by now", {INTENT(1, 0, B, 0), AT_CELL(A)}, true, true, A},
	{"draft", {INTENT(2, 0, B, 0), {0x2066ec0, 0xc006}, AT_CELL(A)}, true, false, A},
	{"armed, done", {INTENT(3, CELL, B, A), AT_CELL(MARK_5)}, false, true, B},
	{"armed, not done", {INTENT(3, CELL, B, A), AT_CELL(A)}, true, true, A},
	{"armed with a draft, done", {INTENT(3 + 8, CELL, B, A), AT_CELL(MARK_5)}, false, true, B},
	{"armed with a draft, not done", {INTENT(3 + 8, CELL, B, A), AT_CELL(A)}, true, false, A},
	{"done, the mark is there", {INTENT(4, CELL, B, A), AT_CELL(MARK_5)}, false, true, B},
	{"done", {INTENT(4, CELL, B, A), AT_CELL(B)}, false, true, B},
	{"releasing", {INTENT(5, CELL, B, A), {0x2065d80, UINT64_C(0xc00600010001)}, AT_CELL(B)}, false, true, B},
	{"releasing, another's block by now", {INTENT(5, CELL, B, A), AT_CELL(B)}, true, true, B},
	{"the mark of an earlier use", {INTENT(4, CELL, B, 0), AT_CELL(MARK_4)}, true, true, MARK_4},
	{"a slot in flight, not taken yet by this record", {{0x33f00, B}, AT_CELL(A)}, true, true, A},
	{"a slot in flight that record 1 is releasing", {{0x33f00, B}, {0x2066ec0, 0x8004}, AT_CELL(A)}, true, false, A},
	{"a slot in flight that another record releases", {{0x33f00, B}, {0x2066ec0, 0x8000}, AT_CELL(A)}, true, true, A},
};

static void put(int fd, uint64_t at, uint64_t word)
{
	CHECK_EQ(arch_pwrite64(fd, &word, 8, (long)at), 8);
}

static uint64_t get(int fd, uint64_t at)
{
	uint64_t word;

	CHECK_EQ(arch_pread64(fd, &word, 8, (long)at), 8);
	return word;
}

/* The golden file with a second record, whose process is that of the first. */
static int golden_of_two(void)
{
	int fd = golden();

	put(fd, 0x70, 2);
	put(fd, 0x33f08, 1);
	return fd;
}

struct seen {
	uint64_t at; /* of the file */
	unsigned blocks;
	struct ash_heap_owner owner;
};

static int see_viewed(void *context, const void *block, UNUSED size_t size, const struct ash_heap_owner *owner)
{
	struct seen *s = context;

	if ((uintptr_t)block == s->at) {
		s->blocks++;
		s->owner = *owner;
	}
	return 0;
}

static int see(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	return see_viewed(context, block, size, owner);
}

static unsigned blocks_at(ash_heap *heap, uint64_t at)
{
	struct seen s = {.at = at};

	CHECK_EQ(ash_heap_walk(heap, see, &s), 0);
	return s.blocks;
}

static ash_heap *attach(int fd)
{
	enum ash_attach why;
	ash_heap *heap;

	CHECK(ash_heap_adopt_file(fd));
	heap = ash_heap_attach_file(fd, &why);
	CHECK_EQ(why, ASH_ATTACHED);
	return heap;
}

/* What the slot has in a view. */
static uint64_t viewed(int fd)
{
	ash_heap_view *v = NOT_NULL(ash_heap_view_file(fd, NULL));
	const void *p = ash_heap_view_load(v, NOT_NULL(ash_heap_view_at(v, (const void *)CELL))); /* NOLINT */
	uint64_t word = p == NULL ? 0 : BASE + ash_heap_view_offset(v, p);

	CHECK(ash_heap_view_check(v));
	ash_heap_view_close(v);
	return word;
}

static bool is_without_proc(void)
{
	return life_of_process() == 0;
}

TEST(format_1_intents, 20)
{
	unsigned i, k;

	for (i = 0; i < sizeof state / sizeof state[0]; i++) {
		const struct state *s = &state[i];
		uint64_t cell = s->cell == MARK_4 ? 0 : s->cell;
		int fd = golden_of_two();

		for (k = 0; k < 9 && s->word[k][0] != 0; k++)
			put(fd, s->word[k][0], s->word[k][1]);
			CHECK_EQ(viewed(fd), cell);
		if (!is_without_proc())
			IN_CHILD {
				ash_heap *heap = attach(fd);

				CHECK_EQ(*(const uint64_t *)CELL, s->cell); /* NOLINT */
				CHECK_EQ((uintptr_t)ash_heap_load(heap, (const void *)CELL), cell); /* NOLINT */
				CHECK_EQ(blocks_at(heap, A), s->a);
				CHECK_EQ(blocks_at(heap, B), s->b);
				CHECK_EQ(ash_heap_check(heap), 0);
			}
		arch_close(fd);
	}
}

/* A tag says whose a block is, and that it has one of the program's. */
TEST(format_1_tags, 10)
{
	static const struct {
		uint64_t at, word, block;
		unsigned id, tag;
	} tag[] = {
		{TAG_B, B, 1, 0},
		{0x2066ec0, 0x3ffe, B, 0x3ffe, 0},
		{0x2066ec0, 0x3fff, B, 0x3fff, 0},	/* a process that the census had no room for */
		{0x2066ec0, 0x8004, B, 9, 0},		/* of record 1, which is process 9's */
		{0x2066ec0, 0x8003, B, 1, 0},
		{0x2066ec0, 0xc007, B, 9, 0},		/* its last intent's */
		{0x203c268, 0x1 | 33 << 16, BASE + 0x2400000, 1, 0}, /* a span, without the flag and with it */
		{0x203c268, 0x4001 | 33 << 16, BASE + 0x2400000, 1, 33},
		{0x203c268, 0x4002 | 255 << 16, BASE + 0x2400000, 2, 255},
	};
	unsigned i;

	for (i = 0; i < sizeof tag / sizeof tag[0]; i++) {
		int fd = golden_of_two();
		ash_heap_view *v;
		struct seen s = {0};

		put(fd, 0x33f08, 9);
		put(fd, tag[i].at, tag[i].word);
		v = NOT_NULL(ash_heap_view_file(fd, NULL));
		s.at = (uintptr_t)NOT_NULL(ash_heap_view_at(v, (const void *)tag[i].block)); /* NOLINT */
		CHECK_EQ(ash_heap_view_walk(v, see_viewed, &s), 0);
		CHECK_EQ(s.blocks, 1);
		CHECK_EQ(s.owner.id, tag[i].id);
		CHECK_EQ(s.owner.tag, tag[i].tag);
		/* A block of the heap's own is shown to nobody. */
		put(fd, 0x2066ec0, 0x4000);
		s = (struct seen){.at = (uintptr_t)ash_heap_view_at(v, (const void *)B)}; /* NOLINT */
		CHECK_EQ(ash_heap_view_walk(v, see_viewed, &s), 0);
		CHECK_EQ(s.blocks, 0);
		ash_heap_view_close(v);
		arch_close(fd);
	}
}

/* States of the seal, in the start of the system that the word names: 0 is unknown. */
TEST(format_1_seals, 10)
{
	/* Attached, the seal is open; its number is one more if it was whole, or being closed. */
	static const uint64_t seal[][2] = {{28, 28}, {28 + 1, 28}, {28 + 2, 32}, {28 + 3, 32}};
	const uint64_t another = UINT64_C(0x12345) << 32;
	enum ash_attach why;
	unsigned i;

	for (i = 0; i < 4; i++) {
		int fd = golden();

		put(fd, 0x10, 77); /* a file has a claim */
		put(fd, 0x58, seal[i][0]);
		if (!is_without_proc())
			IN_CHILD {
				ash_heap *heap = attach(fd);

				CHECK_EQ((uint32_t)get(fd, 0x58), seal[i][1]);
				CHECK_EQ(get(fd, 0x58) >> 32, seal[i][1] == 28 ? 0 : boot_number() >> 32);
				ash_heap_thread_detach(heap);
				CHECK_EQ(ash_heap_sync(heap), ASH_SYNC_SEALED);
				CHECK_EQ((uint32_t)get(fd, 0x58), seal[i][1] + 3);
				CHECK_EQ(ash_heap_seal(heap), seal[i][1] >> 2);
			}
		/* Of another start of the system only a whole one counts. */
		put(fd, 0x58, another | seal[i][0]);
		ash_heap_view_close(NOT_NULL(ash_heap_view_file(fd, &why)));
		CHECK_EQ(why, i == 3 || is_without_proc() ? ASH_ATTACHED : ASH_ATTACH_TORN);
		arch_close(fd);
	}
}
