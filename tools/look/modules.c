/* SPDX-License-Identifier: MIT */
/* Finding the descriptor: by the notes of the program and the libraries that are mapped. */
#include <ashlar.h>

#include "elf.h"
#include "source.h"

enum { SEGMENTS = 64, NOTES = 64 * 1024, MAPS = 64 << 20 };

struct search {
	struct source *source;
	struct module *out;
	unsigned count;
	const char *why; /* the last reason why a descriptor cannot be used */
};

static void try_descriptor(struct search *f, uint64_t at, const char *path)
{
	struct module *m = &f->out[f->count];
	struct ash_descriptor d;
	const char *why;
	unsigned i;

	if (f->count == MODULES)
		return;
	memset(&d, 0, sizeof d);
	if (!source_read(f->source, at, &d, sizeof d)) {
		f->why = "its descriptor cannot be read";
		return;
	}
	memset(m, 0, sizeof *m);
	why = layout_set(&m->layout, &d);
	if (why != NULL) {
		f->why = why;
		return;
	}
	for (i = 0; i < f->count; i++)
		if (f->out[i].layout.heap == m->layout.heap)
			return;
	rt_format(m->path, sizeof m->path, "%s", path);
	f->count++;
}

static void try_arenas(struct search *f, uint64_t at)
{
	struct source *s = f->source;
	unsigned i;

	for (i = 0; i < s->arenas_count; i++)
		if (s->arenas[i] == at)
			return;
	if (s->arenas_count < MODULES)
		s->arenas[s->arenas_count++] = at;
}

static void search_notes(struct search *f, uint64_t at, uint64_t bytes, uint64_t alignment,
			 const char *path)
{
	const uint64_t round = alignment == 8 ? 7 : 3;
	struct elf_note note;
	uint64_t value, end;
	char *notes;

	if (bytes > NOTES)
		return;
	notes = ash_alloc(bytes + 1);
	if (notes == NULL || !source_read(f->source, at, notes, bytes)) {
		ash_release(notes);
		return;
	}
	for (end = 0; end + sizeof note <= bytes;) {
		memcpy(&note, notes + end, sizeof note);
		value = (end + sizeof note + note.name_bytes + round) & ~round;
		if (value > bytes || note.bytes > bytes - value)
			break;
		if (note.name_bytes == sizeof ASH_DESCRIPTOR_NAME &&
		    (note.type == ASH_NOTE_TYPE || note.type == ASH_NOTE_ARENAS) && note.bytes == sizeof(int64_t) &&
		    memcmp(notes + end + sizeof note, ASH_DESCRIPTOR_NAME, note.name_bytes) == 0) {
			int64_t distance;

			memcpy(&distance, notes + value, sizeof distance);
			if (note.type == ASH_NOTE_TYPE)
				try_descriptor(f, at + value + (uint64_t)distance, path);
			else
				try_arenas(f, at + value + (uint64_t)distance);
		}
		end = (value + note.bytes + round) & ~round;
	}
	ash_release(notes);
}

/* A file's first page is mapped here. */
static void search_module(struct search *f, uint64_t base, const char *path)
{
	struct elf_segment segments[SEGMENTS];
	struct elf_header h;
	uint64_t bias = base;
	unsigned i;

	if (!source_read(f->source, base, &h, sizeof h) || memcmp(h.identity, "\177ELF\2", 5) != 0 ||
	    h.segment_bytes != sizeof segments[0] || h.segment_count > SEGMENTS ||
	    h.segments > 1 << 20 ||
	    !source_read(f->source, base + h.segments, segments, h.segment_count * sizeof segments[0]))
		return;
	for (i = h.segment_count; i-- > 0;)
		if (segments[i].type == ELF_LOAD && segments[i].offset == 0)
			bias = base - segments[i].address;
	for (i = 0; i < h.segment_count; i++)
		if (segments[i].type == ELF_NOTE)
			search_notes(f, bias + segments[i].address, segments[i].file_bytes,
				     segments[i].alignment, path);
}

/* A line of /proc/PID/maps: from-to rwxp offset device inode path. */
static const char *parse_hex(const char *p, uint64_t *value)
{
	for (*value = 0;; p++) {
		if (*p >= '0' && *p <= '9')
			*value = *value << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			*value = *value << 4 | (uint64_t)(*p - 'a' + 10);
		else
			return p;
	}
}

static void search_line(struct search *f, char *line)
{
	uint64_t from, to, offset;
	const char *p = parse_hex(line, &from);
	const char *path;

	if (*p != '-')
		return;
	p = parse_hex(p + 1, &to);
	if (*p != ' ' || p[1] != 'r' || rt_strlen(p) < 7)
		return;
	parse_hex(p + 6, &offset);
	path = rt_strstr(line, "/");
	if (path != NULL && offset == 0)
		search_module(f, from, path);
}

static void search_maps(struct search *f)
{
	char path[64], *text, *line;
	int64_t n = 0, used = 0;
	int fd;

	rt_format(path, sizeof path, "/proc/%d/maps", f->source->pid);
	fd = rt_open(path);
	text = rt_map(MAPS); /* backed where it is written */
	if (fd < 0 || text == NULL)
		return;
	while (used + 1 < MAPS && (n = rt_read_at(fd, text + used, 4096, (uint64_t)used)) > 0)
		used += n;
	rt_close(fd);
	text[used] = '\0';
	for (line = text; *line != '\0';) {
		char *end = line;

		while (*end != '\n' && *end != '\0')
			end++;
		if (*end == '\n')
			*end++ = '\0';
		search_line(f, line);
		line = end;
	}
	rt_unmap(text, MAPS);
}

/* A heap's file has it in the first page; then addresses are those of the mapping. */
static void search_file(struct search *f)
{
	struct source *s = f->source;
	char page[4096];
	size_t at;

	f->why = "it is no core, and has no heap of this version of Ashlar";
	if (!source_read(s, 0, page, sizeof page))
		return;
	for (at = 0; at + sizeof(struct ash_descriptor) <= sizeof page && f->count == 0;
	     at += sizeof(uint64_t))
		if (memcmp(page + at, ASH_DESCRIPTOR_NAME, sizeof ASH_DESCRIPTOR_NAME) == 0)
			try_descriptor(f, at, s->path);
	if (f->count == 1)
		s->file_base = f->out[0].layout.base;
}

unsigned source_modules(struct source *s, struct module *out, const char **why)
{
	struct search f = {s, out, 0, NULL};
	size_t i;

	f.why = "no program or library in it has Ashlar (or it is older than its descriptor)";
	if (s->kind == SOURCE_PROCESS)
		search_maps(&f);
	else if (s->kind == SOURCE_FILE)
		search_file(&f);
	else if (s->own_extents == s->extent_count) /* the core does not name files */
		for (i = 0; i < s->own_extents; i++)
			search_module(&f, s->extents[i].from, s->path);
	else
		for (i = s->own_extents; i < s->extent_count; i++)
			if (s->extents[i].offset == 0)
				search_module(&f, s->extents[i].from, s->names + s->extents[i].name);
	*why = f.why;
	if (s->kind == SOURCE_PROCESS && s->by_mem && s->fd < 0)
		*why = MAY_NOT_READ;
	s->failed = 0;
	return f.count;
}
