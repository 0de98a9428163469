/* SPDX-License-Identifier: MIT */
/*
 * Images that are damaged: the file of a heap, and a core.  Some words are changed, at places
 * that matter, then ashlar-look looks: it says what it found, and ends by itself.
 */
#ifndef TESTS_PROGRAM_LOOK_DAMAGED_H
#define TESTS_PROGRAM_LOOK_DAMAGED_H

#include "arena/arena.h"
#include "backend/map.h"
#include "program/core_image.h"
#include "program/look_run.h"
#include "slab/slab.h"

enum { DAMAGES = 8, PLACES = 64, DAMAGED_BLOCKS = 900 };

/* Words that are changed: from here so many bytes. */
struct damage_place {
	uint64_t at, bytes;
};

static struct damage_place places[PLACES];
static unsigned place_count;
static unsigned outcomes[3];

static void place_add(uint64_t at, uint64_t bytes)
{
	CHECK(place_count < PLACES);
	places[place_count++] = (struct damage_place){at & ~UINT64_C(7), bytes & ~UINT64_C(7)};
}

/* The first chunk's header, and the constants of its slabs; `offset`: from addresses to the image. */
static void places_of_slabs(const struct region *r, uint64_t offset)
{
	struct chunk *c = region_chunk(r, 0);
	unsigned u;

	place_add((uintptr_t)c + offset, sizeof *c);
	for (u = 0; u < CHUNK_UNITS && place_count < PLACES - 8; u++) {
		const struct slab *s = slab_beginning(c, u);

		if (s != NULL)
			place_add((uintptr_t)s + offset, offsetof(struct slab, all_free));
	}
}

static uint64_t damaged_word(struct rt_random *r, int fd, uint64_t old)
{
	static const unsigned char bytes[] = {0, 1, 2, 3, 31, 33, 63, 64, 65, 112, 113, 127, 128, 200, 255};
	uint64_t other = 0;
	unsigned shift;
	const struct damage_place *p = &places[rt_below(r, place_count)];

	switch (rt_below(r, 12)) {
	case 0: return 0;
	case 1: return ~UINT64_C(0);
	case 2: return rt_next(r);
	case 3: return rt_below(r, 300);
	case 4: return old ^ UINT64_C(1) << rt_below(r, 64);
	case 5: return old + rt_below(r, 64) - 32;
	case 6: return old << rt_below(r, 40);
	case 7: return UINT64_C(1) << rt_below(r, 48);
	case 8: case 9: case 10: /* one byte: members are small */
		shift = 8 * (unsigned)rt_below(r, 8);
		other = bytes[rt_below(r, sizeof bytes)];
		return (old & ~(UINT64_C(255) << shift)) | other << shift;
	default: /* a word from elsewhere */
		(void)arch_pread64(fd, &other, sizeof other, (long)(p->at + rt_below(r, p->bytes / 8) * 8));
		return other;
	}
}

static void damage_look(struct rt_random *r, UNUSED int fd, const char *path)
{
	static const char *const options[] = {NULL, "--json", "--svg", "--blocks", "--find"};
	const char *option = options[rt_below(r, 5)];
	char address[32];
	int status;

	rt_format(address, sizeof address, "0x%lx", (unsigned long)(rt_next(r) >> 17));
	status = look_run(path, option, option == options[4] ? address : NULL);
	if (status < 0 || status > 2) {
		rt_fprint(2, "with %s: status %d\n", option == NULL ? "no option" : option, status);
		CHECK(status >= 0 && status <= 2);
	}
	/* It says something: here of what, or why not. */
	CHECK(look_text[0] != '\0' || option == options[3]);
	outcomes[status]++;
}

static void damage_once(struct rt_random *r, int fd, const char *path)
{
	uint64_t at[DAMAGES], old[DAMAGES], word;
	unsigned n = 1 + (unsigned)rt_below(r, DAMAGES), i;

	for (i = 0; i < n; i++) {
		const struct damage_place *p = &places[rt_below(r, place_count)];

		at[i] = p->at + rt_below(r, p->bytes / 8) * 8;
		CHECK_EQ(arch_pread64(fd, &old[i], 8, (long)at[i]), 8);
		word = damaged_word(r, fd, old[i]);
		CHECK_EQ(arch_pwrite64(fd, &word, 8, (long)at[i]), 8);
	}
	damage_look(r, fd, path);
	while (n-- > 0)
		CHECK_EQ(arch_pwrite64(fd, &old[n], 8, (long)at[n]), 8);
}

static void damage_all(int fd, unsigned images)
{
	struct rt_random r;
	char path[64];
	unsigned i;

	rt_format(path, sizeof path, "/proc/%ld/fd/%d", arch_getpid(), fd);
	rt_seed(&r, rt_test_seed());
	memset(outcomes, 0, sizeof outcomes);
	for (i = 0; i < images; i++)
		damage_once(&r, fd, path);
	/* As it was, it is sound; damage was seen, and not each of them is the end. */
	CHECK_EQ(look_run(path, "--json", NULL), 0);
	CHECK(images < 50 || (outcomes[1] > 0 && outcomes[0] + outcomes[2] > 0));
}

static size_t damaged_size(unsigned i)
{
	return i % 3 == 0 ? 24 + i : i % 3 == 1 ? 200 + 10 * i : 4000;
}

static size_t taken_of_class[CLASSES];

/* Blocks of many classes, some of which are free again; NULL: of the default heap. */
static void damaged_take(ash_heap *h)
{
	static void *kept[DAMAGED_BLOCKS];
	unsigned i;

	for (i = 0; i < DAMAGED_BLOCKS; i++) {
		size_t size = damaged_size(i);

		kept[i] = NOT_NULL(h != NULL ? ash_heap_alloc(h, size) : ash_alloc(size));
		taken_of_class[class_of(size)]++;
	}
	for (i = 0; i < DAMAGED_BLOCKS; i += 5) {
		ash_release(kept[i]);
		taken_of_class[class_of(damaged_size(i))]--;
	}
}

/* Undamaged, it is the book. */
static void damaged_is_told(void)
{
	for (unsigned i = 0; i < CLASSES; i++)
		CHECK_EQ(look_row(class_size(i), "taken"), taken_of_class[i]);
}

/* Where the core has these addresses. */
static uint64_t core_place(uint64_t at)
{
	uint64_t offset = CORE_HEAD;
	unsigned i;

	for (i = 0; i < CORE_RANGES; i++) {
		const struct core_range *r = &core_ranges[i];

		if (r->written && at - r->from < r->to - r->from)
			return offset + at - r->from;
		offset += r->written ? r->to - r->from : 0;
	}
	CHECK(false);
	return 0;
}

static UNUSED void damaged_cores(unsigned images)
{
	int fd = (int)arch_memfd_create("damaged core", 0);
	static char memory[1 << 18];
	ash_heap *inside = ash_heap_create_in(memory, sizeof memory);
	const struct region *r;
	unsigned i;

	CHECK(fd >= 0 && inside != NULL);
	for (i = 0; i < DAMAGED_BLOCKS; i++)
		CHECK(ash_heap_alloc(inside, 16 + i % 99) != NULL);
	damaged_take(NULL);
	CHECK(ash_alloc((size_t)3 << 20) != NULL);
	(void)core_write(fd);
	r = heap_default.regions;
	place_add(0, 4096); /* header, segments, notes */
	place_add(core_place((uintptr_t)&heap_default), sizeof heap_default);
	place_add(core_place((uintptr_t)heap_default.owners), 512);
	/* A heap in the program's memory: its entry and unused ones, its record, its first words. */
	place_add(core_place((uintptr_t)arenas_descriptor.list), 128);
	place_add(core_place((uintptr_t)inside), sizeof(struct arena) + 512);
	place_add(core_place((uintptr_t)&chunk_map.root[MAP_SIZE - 64]), 64 * sizeof(void *));
	for (i = 0; r != NULL && i < 2; r = r->next, i++) {
		place_add(core_place((uintptr_t)r), sizeof *r + 64);
		if (r->remote == NULL)
			place_add(core_place((uintptr_t)region_chunk(r, 0)), sizeof(struct chunk));
		else /* its records are near each other in the core, too */
			places_of_slabs(r, core_place((uintptr_t)region_chunk(r, 0)) -
						   (uintptr_t)region_chunk(r, 0));
	}
	damage_all(fd, images);
	damaged_is_told();
	CHECK_EQ(look_figure(rt_strstr(look_text, "\"arenas\""), "blocks"), DAMAGED_BLOCKS);
	CHECK(rt_strstr(look_text, "\"exact\": true") != NULL);
}

#endif
