/* SPDX-License-Identifier: MIT */
#include "prereloc.h"

#if IS_SO

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Constants of the ELF format. */
enum { DT_NULL = 0, DT_RELA = 7, DT_RELACOUNT = 0x6ffffff9 };

struct dynamic {
	int64_t tag;
	uint64_t value;
};

struct rela {
	uint64_t place, info;
	int64_t addend;
};

/* Defined by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const struct dynamic _DYNAMIC[] __attribute__((visibility("hidden")));

#if PRERELOC_BY_WORD
/* In assembly, because in C the compiler would know the value. */
__asm__(".pushsection .data.rel.ro, \"aw\", @progbits\n"
	".balign 8\n"
	"prereloc_word: .quad prereloc_word\n"
	".popsection\n");

static bool not_relocated(const void *word)
{
	(void)word;
	return prereloc_word == 0;
}

/* Nothing is relocated here: prereloc_word stays 0, because the thread-local words do not exist yet. */
#define is_the_word(place) ((const uintptr_t *)(place) == &prereloc_word)
#else
#define is_the_word(place) false
static bool not_relocated(const void *word)
{
	return (const char *)word - cpu_thread_pointer() == CPU_PRERELOC_OFFSET;
}
#endif

bool prereloc_call(const void *word)
{
	const struct dynamic *d;
	uint64_t base = (uint64_t)(uintptr_t)__ehdr_start, table = 0, count = 0, i;

	if (!not_relocated(word))
		return false;
	for (d = _DYNAMIC; d->tag != DT_NULL; d++) {
		if (d->tag == DT_RELA) /* some dynamic linkers have already made this an address */
			table = d->value < base ? d->value + base : d->value;
		else if (d->tag == DT_RELACOUNT)
			count = d->value;
	}
	/* The relative relocations come first.  Applying them again gives the same result. */
	for (i = 0; i < count; i++) {
		const struct rela *r = (const struct rela *)(uintptr_t)table + i;
		uint64_t *place = (uint64_t *)(uintptr_t)(base + r->place);

		if (!is_the_word(place))
			*place = base + (uint64_t)r->addend;
	}
	return true;
}

#endif
