/* SPDX-License-Identifier: MIT */
#include "core_file.h"

#include <ashlar.h>

#include "elf.h"

enum { SEGMENTS_MAX = 1 << 20, NOTES_MAX = 64 << 20, THREADS_MAX = 1 << 16 };

/* struct elf_prstatus has the thread's id here, elf_prpsinfo the name of the program. */
enum { STATUS_ID_AT = 32, PROCESS_ID_AT = 24, PROCESS_NAME_AT = 40, PROCESS_NAME = 16 };

static void sort_extents(struct extent *e, size_t n)
{
	size_t gap, i, j;

	/* Shell's sort: kernels write them sorted, and then it is one pass or two. */
	for (gap = n / 2; gap > 0; gap /= 2)
		for (i = gap; i < n; i++) {
			struct extent x = e[i];

			for (j = i; j >= gap && e[j - gap].from > x.from; j -= gap)
				e[j] = e[j - gap];
			e[j] = x;
		}
}

/* The files that were mapped: count, page size, ranges in pages, then their names. */
static void read_files(struct source *s, const char *note, size_t bytes)
{
	uint64_t count, page, range[3];
	const char *name, *end = note + bytes;
	struct extent *more;
	size_t i, at = 1;

	if (bytes < 2 * sizeof(uint64_t))
		return;
	memcpy(&count, note, sizeof count);
	memcpy(&page, note + sizeof count, sizeof page);
	if (count > bytes / sizeof range || page > 1 << 30 || s->names != NULL)
		return;
	name = note + 2 * sizeof(uint64_t) + count * sizeof range;
	if (name > end)
		return;
	more = ash_resize(s->extents, (s->extent_count + count + 1) * sizeof *more);
	if (more == NULL)
		return;
	s->extents = more;
	s->names_bytes = (size_t)(end - name) + 2;
	s->names = ash_zalloc(s->names_bytes, 1);
	if (s->names == NULL)
		return;
	/* From 1 on; zeros follow. */
	memcpy(s->names + 1, name, (size_t)(end - name));
	for (i = 0; i < count && at < s->names_bytes; i++) {
		memcpy(range, note + 2 * sizeof(uint64_t) + i * sizeof range, sizeof range);
		s->extents[s->extent_count++] =
			(struct extent){range[0], range[1], range[2] * page, -1, (uint32_t)at};
		at += rt_strlen(s->names + at) + 1;
	}
}

static void read_notes(struct source *s, const char *notes, size_t bytes)
{
	struct elf_note note;
	size_t at = 0, value;

	while (at + sizeof note <= bytes) {
		memcpy(&note, notes + at, sizeof note);
		value = at + sizeof note + ((note.name_bytes + 3ul) & ~3ul);
		if (value > bytes || note.bytes > bytes - value)
			return;
		if (note.type == NOTE_STATUS && note.bytes >= STATUS_ID_AT + sizeof(int) &&
		    s->tid_count < THREADS_MAX)
			memcpy(&s->tids[s->tid_count++], notes + value + STATUS_ID_AT, sizeof(int));
		if (note.type == NOTE_PROCESS && note.bytes >= PROCESS_NAME_AT + PROCESS_NAME) {
			memcpy(&s->pid, notes + value + PROCESS_ID_AT, sizeof(int));
			memcpy(s->program, notes + value + PROCESS_NAME_AT, PROCESS_NAME);
		}
		if (note.type == NOTE_FILES)
			read_files(s, notes + value, note.bytes);
		at = value + ((note.bytes + 3ul) & ~3ul);
	}
}

const char *core_open(struct source *s)
{
	int64_t length = rt_file_length(s->fd);
	struct elf_segment *segments;
	struct elf_header h;
	uint64_t count, i;

	if (rt_read_at(s->fd, &h, sizeof h, 0) != sizeof h || h.identity[4] != 2)
		return "it is no ELF file of 64 bits";
	if (h.type != ELF_CORE)
		return "it is an ELF file, but no core; a process is looked at by its number";
	count = h.segment_count;
	if (count == 0xffff) { /* more: their number is in the first section header */
		uint32_t more;

		if (rt_read_at(s->fd, &more, sizeof more, h.sections + 44) != sizeof more)
			return "the core is damaged: the number of its segments";
		count = more;
	}
	if (count == 0 || count > SEGMENTS_MAX || h.segment_bytes != sizeof *segments)
		return "the core is damaged: its segments";
	segments = ash_zalloc(count, sizeof *segments);
	s->extents = ash_zalloc(count + 1, sizeof *s->extents);
	s->tids = ash_zalloc(THREADS_MAX, sizeof *s->tids);
	if (segments == NULL || s->extents == NULL || s->tids == NULL)
		return "no memory";
	if (rt_read_at(s->fd, segments, count * sizeof *segments, h.segments) !=
	    (int64_t)(count * sizeof *segments))
		return "the core is damaged: its segments";
	for (i = 0; i < count; i++) {
		const struct elf_segment *g = &segments[i];

		if (g->type == ELF_LOAD && g->file_bytes > 0 && g->offset < (uint64_t)length &&
		    g->address + g->file_bytes > g->address)
			s->extents[s->extent_count++] = (struct extent){
				g->address, g->address + g->file_bytes, g->offset, s->fd, 0};
	}
	s->own_extents = s->extent_count;
	sort_extents(s->extents, s->own_extents);
	for (i = 0; i < count; i++) {
		const struct elf_segment *g = &segments[i];
		char *notes;

		if (g->type != ELF_NOTE || g->file_bytes > NOTES_MAX)
			continue;
		notes = ash_alloc(g->file_bytes);
		if (notes != NULL && rt_read_at(s->fd, notes, g->file_bytes, g->offset) ==
					     (int64_t)g->file_bytes)
			read_notes(s, notes, g->file_bytes);
		ash_release(notes);
	}
	ash_release(segments);
	sort_extents(s->extents + s->own_extents, s->extent_count - s->own_extents);
	return NULL;
}

/* The extent with this address; NULL: none. */
static struct extent *extent_at(struct extent *e, size_t n, uint64_t at)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (e[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && at < e[low - 1].to ? &e[low - 1] : NULL;
}

bool core_read(struct source *s, uint64_t at, void *out, size_t bytes)
{
	char *to = out;

	while (bytes > 0) {
		struct extent *e = extent_at(s->extents, s->own_extents, at);
		uint64_t some;

		if (e == NULL)
			e = extent_at(s->extents + s->own_extents, s->extent_count - s->own_extents, at);
		if (e == NULL)
			return false;
		if (e->fd == -1) {
			int fd = rt_open_file(s->names + e->name);

			e->fd = fd < 0 ? -2 : fd;
		}
		some = e->to - at < bytes ? e->to - at : bytes;
		if (e->fd < 0 || rt_read_at(e->fd, to, some, e->offset + (at - e->from)) != (int64_t)some)
			return false;
		at += some;
		to += some;
		bytes -= some;
	}
	return true;
}
