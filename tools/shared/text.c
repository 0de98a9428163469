/* SPDX-License-Identifier: MIT */
#include "rt.h"
#include "table.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static uint32_t hash_of(const char *p, size_t n)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	while (n-- > 0)
		hash = (hash ^ (unsigned char)*p++) * 16777619u;
	return hash;
}

/* Finds the words; notes them where there is room for them. */
static size_t words(const struct text *t, struct word *out)
{
	size_t at = 0, start, n = 0;

	while (at < t->length) {
		if (!is_letter(t->bytes[at])) {
			at++;
			continue;
		}
		start = at;
		while (at < t->length && is_letter(t->bytes[at]))
			at++;
		if (out != NULL)
			out[n] = (struct word){(uint32_t)start, (uint32_t)(at - start),
					       hash_of(t->bytes + start, at - start)};
		n++;
	}
	return n;
}

bool text_read(struct text *t, const char *path)
{
	t->bytes = rt_map_file(path, &t->length);
	if (t->bytes == NULL || t->length > UINT32_MAX)
		return false;
	t->count = words(t, NULL);
	t->words = ash_zalloc(t->count, sizeof *t->words);
	if (t->words == NULL || t->count == 0)
		return false;
	(void)words(t, t->words);
	return true;
}
