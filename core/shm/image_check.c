/* SPDX-License-Identifier: MIT */
#include "shm/image_check.h"

#include "memory.h"
#include "pages.h"
#include "shm/image_chunks.h"
#include "shm/image_lists.h"
#include "shm/image_records.h"

/* A heap that other processes are changing may look wrong, but not each time. */
enum { CHECKS = 4 };

static bool is_right(struct image *m)
{
	return image_read_chunks(m) && image_records_check(m) && image_read_bits(m) && image_chunks_check(m) &&
	       (image_lists_check(m) || image_is_changing(m));
}

bool image_check(int fd, const char *mapped, const struct store *head, enum ash_attach *why)
{
	size_t n = head->heap.reserved, words = bits_words(n) * (1 + ROOM_PARTS);
	size_t bytes = (sizeof(struct image) + words * sizeof(uint64_t) + PAGE_MOST - 1) &
		       ~(PAGE_MOST - 1);
	struct image *m = pages_reserve(bytes, PAGE_LEAST, PAGES_PRIVATE);
	bool right = false;
	unsigned i;

	*why = ASH_ATTACH_NO_MEMORY;
	if (m == NULL)
		return false;
	m->fd = fd;
	m->mapped = mapped;
	m->bytes = head->bytes;
	memcpy(&m->head, head, sizeof *head);
	store_set_region(&m->region, head->base, n);
	for (i = 0; i < CHECKS && !right; i++)
		right = is_right(m);
	(void)pages_release(m, bytes);
	*why = ASH_ATTACH_NO_HEAP;
	return right;
}
