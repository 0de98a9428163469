/* SPDX-License-Identifier: MIT */
/* --watch: what changed since the last look. */
#include "show.h"

static void change(const char *name, uint64_t now, uint64_t before, bool in_bytes)
{
	uint64_t by = now > before ? now - before : before - now;

	if (by == 0)
		return;
	if (in_bytes)
		out("  %s %c%s", name, now > before ? '+' : '-', bytes_text(by));
	else
		out("  %s %c%lu", name, now > before ? '+' : '-', (unsigned long)by);
}

void show_changes(const struct picture *p, const struct sums *t, const struct sums *before)
{
	const struct layout *l = &p->modules[0].layout;
	char name[32];
	unsigned i;

	out("%lu blocks, %s, resident %s", (unsigned long)(t->all.taken + t->spans),
	    bytes_text(t->block_bytes + t->span_bytes), p->resident_known ? bytes_text(t->resident) : "?");
	if (before == NULL) {
		out("\n");
		return;
	}
	out(":");
	change("blocks", t->all.taken + t->spans, before->all.taken + before->spans, false);
	change("bytes", t->block_bytes + t->span_bytes, before->block_bytes + before->span_bytes, true);
	change("resident", t->resident, before->resident, true);
	change("retained", t->retained, before->retained, true);
	change("reserved", t->reserved, before->reserved, true);
	change("large", t->spans, before->spans, false);
	for (i = 0; i < l->field[ASH_classes]; i++) {
		rt_format(name, sizeof name, "[%u]", l->class_bytes[i]);
		change(name, t->class[i].taken, before->class[i].taken, false);
	}
	out("\n");
}
