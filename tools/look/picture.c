/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <ashlar.h>

bool room_for(struct picture *p, void *array, size_t *room, size_t count, size_t more, size_t bytes)
{
	void **place = array, *larger;
	size_t n = *room == 0 ? 64 : *room;

	if (count + more <= *room)
		return true;
	while (n < count + more)
		n *= 2;
	larger = ash_resize(*place, n * bytes);
	if (larger == NULL) {
		p->no_memory = true;
		return false;
	}
	*place = larger;
	*room = n;
	return true;
}

void picture_damaged(struct picture *p, const char *what, uint64_t at)
{
	if (p->damaged++ == 0)
		rt_format(p->damage, sizeof p->damage, "%s at 0x%lx", what, (unsigned long)at);
}

void picture_take(struct picture *p, struct source *s, struct module *modules, unsigned count)
{
	size_t i;

	memset(p, 0, sizeof *p);
	p->source = s;
	p->modules = modules;
	p->module_count = count;
	p->begun = rt_now();
	for (i = 0; i < count; i++)
		heaps_find(p, (unsigned)i);
	for (i = 0; i < p->heap_count; i++)
		owners_read(p, (uint32_t)i);
	for (i = 0; i < p->region_count; i++)
		p->chunks_all += p->regions[i].chunks;
	for (i = 0; i < p->region_count && !p->no_memory; i++) {
		chunks_read(p, &p->regions[i]);
		p->chunks_done += p->regions[i].chunks;
	}
	arenas_read(p);
	progress_end();
	p->done = rt_now();
}

void picture_drop(struct picture *p)
{
	size_t i;

	for (i = 0; i < p->region_count; i++) {
		ash_release(p->regions[i].free);
		ash_release(p->regions[i].clean);
	}
	arenas_drop(p);
	ash_release(p->heaps);
	ash_release(p->regions);
	ash_release(p->chunks);
	ash_release(p->slabs);
	ash_release(p->owners);
	ash_release(p->words);
	memset(p, 0, sizeof *p);
}
