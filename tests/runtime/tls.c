/* SPDX-License-Identifier: MIT */
#include "tls.h"
#include "kernel.h"
#include "rt.h"

/* From PT_TLS; all zero if the program has none. */
static struct {
	const void *image;     /* initial values       */
	size_t image_size;     /* of .tdata            */
	size_t block;          /* from the thread pointer to the block, or back; its other end */
	size_t end;
	size_t alignment_mask; /* of the thread pointer */
} tls;

struct control {
	void *self;
};

void tls_init(void)
{
	const struct program_header *h = (const void *)rt_auxv(AT_PHDR);
	unsigned long count = h != NULL ? rt_auxv(AT_PHNUM) : 0;

	tls.alignment_mask = _Alignof(struct control) - 1;
	for (; count > 0; count--, h++) {
		if (h->type != PT_TLS)
			continue;
		size_t mask = h->alignment > 1 ? h->alignment - 1 : 0;

		tls.image = (const void *)h->address;
		tls.image_size = h->file_size;
		/* As lld computes the offsets. */
		if (ABI_TLS_BELOW) {
			tls.block = h->memory_size + (-(h->address + h->memory_size) & mask);
		} else {
			tls.block = ABI_TLS_GAP + ((h->address - ABI_TLS_GAP) & mask);
			tls.end = tls.block + h->memory_size;
		}
		if (mask > tls.alignment_mask)
			tls.alignment_mask = mask;
	}
}

size_t tls_size(void)
{
	return (ABI_TLS_BELOW ? tls.block + sizeof(struct control) : tls.end) + tls.alignment_mask;
}

void *tls_build(void *memory)
{
	uintptr_t from = (uintptr_t)memory + (ABI_TLS_BELOW ? tls.block : 0),
		  pointer = (from + tls.alignment_mask) & ~tls.alignment_mask;
	struct control *control = (void *)pointer;

	if (ABI_TLS_BELOW)
		control->self = control;
	memcpy((char *)control + (ABI_TLS_BELOW ? -tls.block : tls.block), tls.image,
	       tls.image_size);
	return control;
}
