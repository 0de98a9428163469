/* SPDX-License-Identifier: MIT */
/*
 * Writes a core of this process to a file, as the kernel and gcore do: its memory that can be
 * written, the names of the files that are mapped, and its thread.
 */
#ifndef TESTS_PROGRAM_CORE_IMAGE_H
#define TESTS_PROGRAM_CORE_IMAGE_H

#include "rt.h"
#include "syscall.h"

enum { CORE_MAPS = 1 << 16, CORE_RANGES = 256, CORE_HEAD = 1 << 16 };

struct core_range {
	uint64_t from, to, offset;
	bool written;
	char name[256]; /* empty: of no file */
};

static struct core_range core_ranges[CORE_RANGES];

static uint64_t core_hex(char **p)
{
	uint64_t value = 0;

	for (;; (*p)++) {
		if (**p >= '0' && **p <= '9')
			value = value << 4 | (uint64_t)(**p - '0');
		else if (**p >= 'a' && **p <= 'f')
			value = value << 4 | (uint64_t)(**p - 'a' + 10);
		else
			return value;
	}
}

static unsigned core_maps(void)
{
	static char text[CORE_MAPS];
	unsigned n = 0;
	char *p = text;

	CHECK(rt_read_file("/proc/self/maps", text, sizeof text) > 0);
	while (*p != '\0' && n < CORE_RANGES) {
		struct core_range *r = &core_ranges[n];
		char *end = p, *name;

		while (*end != '\n' && *end != '\0')
			end++;
		if (*end == '\n')
			*end++ = '\0';
		*r = (struct core_range){0};
		r->from = core_hex(&p);
		p++;
		r->to = core_hex(&p);
		r->written = p[2] == 'w';
		p += 6;
		r->offset = core_hex(&p);
		name = rt_strstr(p, "/");
		if (name != NULL)
			rt_format(r->name, sizeof r->name, "%s", name);
		/* Neither the kernel's pages nor what cannot be read. */
		n += rt_strstr(p, "[v") == NULL;
		p = end;
	}
	return n;
}

static size_t core_put(char *to, size_t at, const void *what, size_t bytes)
{
	CHECK(at + bytes <= CORE_HEAD);
	memcpy(to + at, what, bytes);
	return at + bytes;
}

static size_t core_note(char *to, size_t at, uint32_t type, const char *value, size_t bytes)
{
	const uint32_t head[3] = {5, (uint32_t)bytes, type};

	at = core_put(to, at, head, sizeof head);
	at = core_put(to, at, "CORE\0\0\0", 8);
	at = core_put(to, at, value, bytes);
	return (at + 3) & ~(size_t)3;
}

/* Returns the bytes of the core. */
static uint64_t core_write(int fd)
{
	static char head[CORE_HEAD], files[CORE_HEAD / 2], status[336], process[136];
	unsigned n = core_maps(), loads = 0, named = 0, i;
	const char identity[16] = {127, 'E', 'L', 'F', 2, 1, 1};
	uint16_t *half = (uint16_t *)(void *)(head + 16);
	size_t at = 64, files_at, notes, notes_end;
	uint64_t offset = CORE_HEAD;
	int id = (int)arch_getpid();

	memset(head, 0, sizeof head);
	memcpy(head, identity, sizeof identity);
	half[0] = 4;  /* a core */
	half[1] = 62; /* x86_64 */
	*(uint64_t *)(void *)(head + 32) = 64; /* the segments follow the header */
	*(uint16_t *)(void *)(head + 52) = 64;
	*(uint16_t *)(void *)(head + 54) = 56;

	for (i = 0; i < n; i++)
		named += core_ranges[i].name[0] != '\0';
	((uint64_t *)(void *)files)[0] = named;
	((uint64_t *)(void *)files)[1] = 1;
	files_at = 16 + named * 24;
	for (i = 0, named = 0; i < n; i++) {
		const struct core_range *r = &core_ranges[i];
		const uint64_t range[3] = {r->from, r->to, r->offset};

		if (r->name[0] == '\0')
			continue;
		memcpy(files + 16 + named++ * 24, range, sizeof range);
		memcpy(files + files_at, r->name, rt_strlen(r->name) + 1);
		files_at += rt_strlen(r->name) + 1;
	}
	for (i = 0; i < n; i++) {
		const struct core_range *r = &core_ranges[i];
		const uint64_t segment[7] = {1 | (uint64_t)6 << 32, offset, r->from, 0,
					     r->written ? r->to - r->from : 0, r->to - r->from, 4096};

		at = core_put(head, at, segment, sizeof segment);
		loads++;
		if (!r->written)
			continue;
		/* What cannot be read, as the guards of stacks, stays a hole. */
		(void)arch_pwrite64(fd, (const void *)(uintptr_t)r->from, r->to - r->from, (long)offset);
		offset += r->to - r->from;
	}
	notes = at + 56;
	memcpy(status + 32, &id, sizeof id);
	memcpy(process + 24, &id, sizeof id);
	memcpy(process + 40, "a test", 7);
	notes_end = core_note(head, notes, 1, status, sizeof status);
	notes_end = core_note(head, notes_end, 3, process, sizeof process);
	notes_end = core_note(head, notes_end, 0x46494c45, files, files_at);
	{
		const uint64_t segment[7] = {4, notes, 0, 0, notes_end - notes, 0, 4};

		(void)core_put(head, at, segment, sizeof segment);
	}
	*(uint16_t *)(void *)(head + 56) = (uint16_t)(loads + 1);
	CHECK(arch_pwrite64(fd, head, sizeof head, 0) == sizeof head);
	return offset;
}

#endif
