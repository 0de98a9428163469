/* SPDX-License-Identifier: MIT */
#include "tls.h"
#include "kernel.h"
#include "rt.h"

/* From PT_TLS; all zero if the program has none. */
static struct {
	const void *image;     /* initial values       */
	size_t image_size;     /* of .tdata            */
	size_t below;          /* block and padding    */
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
		/* As lld computes the offsets: the size up to the aligned end of the segment. */
		tls.below = h->memory_size + (-(h->address + h->memory_size) & mask);
		if (mask > tls.alignment_mask)
			tls.alignment_mask = mask;
	}
}

size_t tls_size(void)
{
	return tls.below + tls.alignment_mask + sizeof(struct control);
}

void *tls_build(void *memory)
{
	uintptr_t pointer =
		((uintptr_t)memory + tls.below + tls.alignment_mask) & ~tls.alignment_mask;
	struct control *control = (void *)pointer;

	control->self = control;
	memcpy((char *)control - tls.below, tls.image, tls.image_size);
	return control;
}
