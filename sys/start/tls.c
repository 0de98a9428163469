/* SPDX-License-Identifier: MIT */
#include "tls.h"

#include "ashlar_start.h"
#include "cpu.h"
#include "memory.h"
#include "start.h"
#include "syscall.h"

struct control {
	void *self;
};

void tls_of(const struct image *i, struct tls *t)
{
	const struct program_header *h = i->tls;
	uint64_t mask;

	*t = (struct tls){.alignment_mask = _Alignof(struct control) - 1, .bytes = 2 * sizeof(struct control)};
	if (h == NULL)
		return;
	mask = h->alignment - (h->alignment != 0);
	t->image = (const void *)(i->base + h->address);
	t->image_size = h->file_size;
	t->alignment_mask |= mask;
	/* Linkers compute the offsets in this way. */
	if (START_TLS_BELOW) {
		t->block = h->memory_size + (-(h->address + h->memory_size) & mask);
		t->bytes = t->block + sizeof(struct control) + t->alignment_mask;
	} else {
		t->block = START_TLS_GAP + ((h->address - START_TLS_GAP) & mask);
		t->bytes = t->block + h->memory_size + t->alignment_mask;
	}
}

void tls_here(struct tls *t)
{
	struct image i;

	image_here(&i);
	tls_of(&i, t);
}

void *tls_build(const struct tls *t, void *memory)
{
	uintptr_t from = (uintptr_t)memory + (START_TLS_BELOW ? t->block : 0),
		  pointer = (from + t->alignment_mask) & ~t->alignment_mask;
	struct control *control = (void *)pointer;

	if (START_TLS_BELOW)
		control->self = control;
	memcpy((char *)control + (START_TLS_BELOW ? -t->block : t->block), t->image, t->image_size);
	return control;
}

/* ---- for programs with a start of their own ---- */

size_t ashlar_tls_size(void)
{
	struct tls t;

	tls_here(&t);
	return t.bytes;
}

void *ashlar_tls_init(void *memory)
{
	struct tls t;

	tls_here(&t);
	return tls_build(&t, memory);
}

long ashlar_tls_use(void *thread_pointer)
{
	return arch_set_thread_pointer(thread_pointer);
}

void ashlar_tls_check(void)
{
	static const char line[] = "ashlar: no thread-local storage in this thread, see ashlar_start.h\n";

	if (arch_thread_pointer() != NULL)
		return;
	(void)arch_write(2, line, sizeof line - 1);
	cpu_stop();
}
