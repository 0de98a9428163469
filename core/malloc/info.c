/* SPDX-License-Identifier: MIT */
/* Introspection and tuning calls of <malloc.h>. */
#include "facade.h"

/* The structure of glibc's <malloc.h>.  The members of the older struct mallinfo have only 32 bits. */
struct mallinfo2 {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks,
		keepcost;
};
struct mallinfo {
	int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

/* The last part of argv[0], in glibc and in musl. */
extern IF_PRESENT char *program_invocation_short_name;

EXPORT int malloc_trim(size_t pad);
EXPORT struct mallinfo2 mallinfo2(void);
EXPORT struct mallinfo mallinfo(void);

int malloc_trim(size_t pad)
{
	return ash_trim(pad) > 0;
}

static void info_part(void *to, const struct ash_class *part)
{
	struct mallinfo2 *info = to;

	if (part->size == 0) {
		info->hblks++;
		info->hblkhd += part->bytes;
		return;
	}
	info->ordblks += part->slots - part->taken;
	info->uordblks += part->taken * part->size;
	info->arena += part->bytes;
}

/*
 * As in glibc, blocks with mappings of their own, here those above 1 MiB, are in hblks and hblkhd and not in the
 * arena.  arena = uordblks + fordblks holds.  Memory that is free outside all slabs counts as a free block for each
 * run.
 */
struct mallinfo2 mallinfo2(void)
{
	struct mallinfo2 info = {0};
	size_t runs;

	info.keepcost = ash_stats_parts(info_part, &runs, &info);
	info.arena += info.keepcost;
	info.fordblks = info.arena - info.uordblks;
	info.ordblks += runs;
	return info;
}

/* Saturates, whereas glibc's value would wrap around. */
static int info_short(size_t n)
{
	return n < INT32_MAX ? (int)n : INT32_MAX;
}

struct mallinfo mallinfo(void)
{
	struct mallinfo2 all = mallinfo2();

	return (struct mallinfo){
		.arena = info_short(all.arena),
		.ordblks = info_short(all.ordblks),
		.hblks = info_short(all.hblks),
		.hblkhd = info_short(all.hblkhd),
		.uordblks = info_short(all.uordblks),
		.fordblks = info_short(all.fordblks),
		.keepcost = info_short(all.keepcost),
	};
}

static char *info_add(char *at, size_t number, const char *text)
{
	return facade_add(facade_add_number(at, number), text);
}

/* Writes the row of a class to fd 2, if the class has a slab. */
static void info_say(void *unused, const struct ash_class *class)
{
	char text[192], *at = text;

	(void)unused;
	if (class->slabs == 0)
		return;
	if (class->size != 0) {
		at = facade_add(at, "ashlar: of ");
		at = info_add(at, class->size, " bytes: ");
	} else {
		at = facade_add(at, "ashlar: above 1 MiB: ");
	}
	at = info_add(at, class->taken, " blocks, room for ");
	at = info_add(at, class->slots, " in ");
	at = info_add(at, class->bytes, " bytes\n");
	ash_say(text, (size_t)(at - text));
}

static void info_say_thread(void *unused, const struct ash_thread_stats *figures)
{
	char text[192], *at = facade_add(text, figures->thread != NULL ? "ashlar: thread 0x" : "ashlar: no thread");

	(void)unused;
	if (figures->thread != NULL)
		at = text_add_number(at, (uintptr_t)figures->thread, 16);
	at = facade_add(at, ": ");
	at = info_add(at, figures->blocks, " blocks of ");
	at = info_add(at, figures->block_bytes, " bytes, in slabs of ");
	at = info_add(at, figures->slabs, "; released by others: ");
	at = info_add(at, figures->pending, "\n");
	ash_say(text, (size_t)(at - text));
}

/* Names the process, because the processes of a family write to one log. */
static void info_say_process(void)
{
	char text[128], *at = facade_add(text, "ashlar: ");
	const char *name = &program_invocation_short_name != NULL ? program_invocation_short_name : NULL, *end = name;

	at = facade_add(facade_add(at, ash_version()), ", pid ");
	at = facade_add_number(at, process_number());
	if (name != NULL) {
		while (*end != '\0')
			end++;
		at = facade_add_printed(facade_add(at, ", "), text + sizeof text - 1, name, end);
	}
	*at++ = '\n';
	ash_say(text, (size_t)(at - text));
}

/*
 * Writes to fd 2 by raw system calls: a call for the process, a call for the sums, and a call for each size class in
 * use and for each thread.  Uses no stdio, and is no cancellation point.  The words are those of ashlar-look.
 */
void malloc_stats(void)
{
	static const char names[][29] = {
		"ashlar: address space:      ", "ashlar: in slabs:           ",
		"ashlar: large:              ", "ashlar: blocks:             ",
		"ashlar: their bytes:        ", "ashlar: released by others: ",
		"ashlar: retained:           ", "ashlar: thread records:     ",
		"ashlar: most in use:        ", "ashlar: most kept:          ",
		"ashlar: most address space: ",
	};
	struct ash_statistics s;
	size_t values[sizeof names / sizeof *names];
	char text[640], *at = text;
	unsigned i;

	info_say_process();
	ash_stats(&s);
	values[0] = s.reserved;
	values[1] = s.slabs;
	values[2] = s.spans;
	values[3] = s.blocks;
	values[4] = s.block_bytes;
	values[5] = s.pending;
	values[6] = s.dirty;
	values[7] = s.owners;
	values[8] = s.peak_used;
	values[9] = s.peak_kept;
	values[10] = s.peak_reserved;
	for (i = 0; i < sizeof names / sizeof *names; i++) {
		at = facade_add(at, names[i]);
		at = facade_add_number(at, values[i]);
		*at++ = '\n';
	}
	ash_say(text, (size_t)(at - text));
	ash_stats_rows_few(info_say, NULL);
	ash_stats_threads(info_say_thread, NULL);
}
