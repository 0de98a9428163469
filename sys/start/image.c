/* SPDX-License-Identifier: MIT */
#include "image.h"

#include "start.h" /* of the CPU */

struct elf_header {
	unsigned char identity[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, headers_at, sections_at;
	uint32_t flags;
	uint16_t size, header_size, headers;
	uint16_t rest[3];
};

/* A symbol of the linker: the address of the file's first byte. */
extern const struct elf_header __ehdr_start __attribute__((visibility("hidden")));

enum { PT_LOAD = 1, PT_DYNAMIC = 2, PT_TLS = 7 };

void image_here(struct image *i)
{
	const struct elf_header *e = &__ehdr_start;
	uintptr_t at = (uintptr_t)e;
	const struct program_header *h = (const struct program_header *)(at + e->headers_at);
	unsigned n;

	i->base = 0;
	i->dynamic = i->tls = NULL;
	for (n = e->headers; n > 0; n--, h++) {
		if (h->type == PT_DYNAMIC)
			i->dynamic = h;
		if (h->type == PT_TLS)
			i->tls = h;
		/* The segment with the file's beginning has the intended address. */
		if (h->type == PT_LOAD && h->offset == 0)
			i->base = at - h->address;
	}
}

/* ---- relocation ---- */

struct pair {
	uint64_t tag, value;
};
struct relocation {
	uint64_t place, kind, addend;
};
enum { DT_NULL = 0, DT_RELA = 7, DT_RELASZ = 8, DT_RELRSZ = 35, DT_RELR = 36 };

/* In packed relocations, an even word is a place, and an odd word has a bit for each of the next 63 words. */
static void relocate_packed(uintptr_t base, const uint64_t *word, size_t bytes)
{
	uint64_t *at = NULL, bits;
	unsigned i;

	for (; bytes > 0; word++, bytes -= sizeof *word) {
		if ((*word & 1) == 0) {
			at = (uint64_t *)(base + *word);
			*at++ += base;
			continue;
		}
		for (bits = *word >> 1, i = 0; i < 63; i++, bits >>= 1)
			if (bits & 1)
				at[i] += base;
		at += 63;
	}
}

bool image_relocate(const struct image *i)
{
	uintptr_t base = i->base, relocations = 0, packed = 0;
	size_t bytes = 0, packed_bytes = 0;
	const struct relocation *r;
	const struct pair *d;

	if (i->dynamic == NULL || base == 0)
		return true;
	for (d = (const struct pair *)(base + i->dynamic->address); d->tag != DT_NULL; d++) {
		if (d->tag == DT_RELA)
			relocations = base + d->value;
		if (d->tag == DT_RELASZ)
			bytes = d->value;
		if (d->tag == DT_RELR)
			packed = base + d->value;
		if (d->tag == DT_RELRSZ)
			packed_bytes = d->value;
	}
	for (r = (const struct relocation *)relocations; bytes > 0; r++, bytes -= sizeof *r) {
		if (r->kind != START_RELATIVE)
			return false;
		*(uint64_t *)(base + r->place) = base + r->addend;
	}
	relocate_packed(base, (const uint64_t *)packed, packed_bytes);
	return true;
}
