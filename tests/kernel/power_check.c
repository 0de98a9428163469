/* SPDX-License-Identifier: MIT */
/*
 *	power_check DISK TYPE
 *
 * Attaches to the heap's file on each of the disks that power failures left (power_cuts.c), after a start of
 * the system: it is refused as torn or has exactly the state that the mark before the cut allows.
 */
#include "kernel.h"
#include "kernel/power.h"
#include "kernel/power_state.h"
#include "syscall.h"

enum { O_READ_WRITE = 2, AT_HERE = -100, MODE_FOLDER = 0755, BLKPG = 0x1269, ADD = 1, DELETE = 2 };

struct part {
	int64_t start, bytes;
	int number;
	char names[128];
};
struct part_call {
	int operation, flags, bytes;
	void *part;
};

/* How the one who looks ends; what is wrong is a FAIL line, and another end. */
enum found { FOUND_NOTHING = 40, FOUND_TORN, FOUND_STATE };

static struct cuts cuts;
static unsigned own; /* blocks of the heap itself */

static void part_of(long disk, int operation, uint64_t i)
{
	struct part part = {(int64_t)(CUTS_BYTES + i * POWER_BYTES), (int64_t)POWER_BYTES, 1, {0}};
	struct part_call call = {operation, 0, (int)sizeof(part), &part};

	CHECK_EQ(arch_ioctl(disk, BLKPG, &call), 0);
}

/* Blocks that a view of a torn file tells lie in it. */
static int is_outside(void *view, const void *p, size_t size, UNUSED const struct ash_heap_owner *owner)
{
	return p == NULL || ash_heap_view_offset(view, p) == 0 || size == 0;
}

static void torn(long fd)
{
	enum ash_attach why;
	ash_heap_view *view = NOT_NULL(ash_heap_view_file((int)fd, &why));

	CHECK_EQ(why, ASH_ATTACH_TORN);
	CHECK_EQ(ash_heap_view_walk(view, is_outside, view), 0);
	ash_heap_view_close(view);
}

/* The state is there, and the heap goes on from it. */
static void whole(ash_heap *h, long fd, uint64_t number)
{
	static struct state s;

	while (s.number < number)
		state_next(&s);
	heap_is(h, &s, own);
	for (unsigned half = 0; half < HALVES; half++)
		for (unsigned i = 0; i < CHANGES; i++)
			heap_change(h, state_change(&s, half, i));
	CHECK_EQ(ash_heap_sync(h), ASH_SYNC_SEALED);
	ash_heap_destroy(h);
	h = NOT_NULL(ash_heap_attach_file((int)fd, NULL));
	heap_is(h, &s, own);
}

static _Noreturn void look(const struct cut *cut)
{
	const long fd = arch_open("/cut/heap", O_READ_WRITE, 0);
	enum ash_attach why;
	ash_heap *h;

	if (fd < 0) {
		CHECK_EQ(cut->phase, MARK_MAKING);
		rt_exit(FOUND_NOTHING);
	}
	h = ash_heap_attach_file((int)fd, &why);
	if (h != NULL) {
		CHECK(cut->phase != MARK_BROKEN);
		whole(h, fd, cut->state);
		rt_exit(FOUND_STATE);
	}
	CHECK(cut->phase != MARK_SEALED);
	if (cut->phase == MARK_MAKING && (why == ASH_ATTACH_NO_HEAP || why == ASH_ATTACH_UNFINISHED))
		rt_exit(FOUND_NOTHING);
	CHECK_EQ(why, ASH_ATTACH_TORN);
	torn(fd);
	rt_exit(FOUND_TORN);
}

static unsigned check(const struct cut *cut, uint64_t i)
{
	static const char *const phase[] = {"", "making", "sealing", "sealed", "breaking", "broken"};
	static const char *const found[] = {"no heap", "torn", "whole"};
	const int status = rt_wait(CHILD(look(cut)));

	rt_print("     cut %lu: entry %lu, flush %lu, %lu of %lu pages kept; %s state %lu\n", i, cut->entry, cut->flushed,
		 cut->kept, cut->pieces, phase[cut->phase], cut->state);
	if (status < FOUND_NOTHING || status > FOUND_STATE) {
		rt_print("FAIL cut %lu: it ended with %d\n", i, status);
		return 0;
	}
	rt_print("ok   cut %lu: %s\n", i, found[status - FOUND_NOTHING]);
	return (unsigned)status;
}

int main(int argc, char **argv, UNUSED char **envp)
{
	unsigned count[FOUND_STATE + 1] = {0}, must = 0;
	ash_heap *model;
	long disk, r;

	CHECK_EQ(argc, 3);
	model = heap_make(rt_memory_file("model"));
	own = heap_count(model);
	ash_heap_destroy(model);
	disk = arch_open(argv[1], O_READ_WRITE, 0);
	CHECK(disk >= 0);
	CHECK_EQ(arch_pread64(disk, &cuts, sizeof(cuts), 0), sizeof(cuts));
	CHECK(cuts.magic == POWER_MAGIC && cuts.count <= MOST_CUTS);
	(void)arch_mkdirat(AT_HERE, "/cut", MODE_FOLDER);
	for (uint64_t i = 0; i < cuts.count; i++) {
		part_of(disk, ADD, i);
		r = arch_mount("/dev/vda1", "/cut", argv[2], 0, NULL);
		if (r != 0) {
			rt_print("FAIL cut %lu: %s is not mounted: %ld\n", i, argv[2], r);
		} else {
			count[check(&cuts.cut[i], i)]++;
			CHECK_EQ(arch_umount2("/cut", 0), 0);
		}
		part_of(disk, DELETE, i);
		must += cuts.cut[i].phase == MARK_SEALED;
	}
	rt_print("     %lu cuts of %s: %u torn, %u whole (%u had to be), %u before there was a heap\n", cuts.count,
		 argv[2], count[FOUND_TORN], count[FOUND_STATE], must, count[FOUND_NOTHING]);
	/* Or nothing was tested. */
	if (cuts.count >= 10 && (count[FOUND_TORN] == 0 || must == 0))
		rt_print("FAIL power_check: no cut %s\n", must == 0 ? "behind a seal" : "tore the file");
	return 0;
}
