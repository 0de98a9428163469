/* SPDX-License-Identifier: MIT */
/* The same figures for programs; all sizes in bytes. */
#include "show.h"

static void number(const char *name, uint64_t value, const char *after)
{
	out("\"%s\": %lu%s", name, (unsigned long)value, after);
}

static void row_numbers(const struct row *r)
{
	number("slabs", r->slabs, ", ");
	number("bytes", r->bytes, ", ");
	number("slots", r->slots, ", ");
	number("taken", r->taken, ", ");
	number("free", r->free, ", ");
	number("released", r->released, ", ");
	number("partly", r->partly, ", ");
	number("empty", r->empty, ", ");
	number("rounding", r->rounding, ", ");
	number("tails", r->tail, ", ");
	number("resident_empty", r->resident_empty, ", ");
	number("resident", r->resident, "}");
}

static void owner_object(const struct picture *p, const struct sums *t, size_t i)
{
	static const char *const states[] = {"vacant", "alive", "ended", "likely", "unknown"};
	const struct owner *o = &p->owners[i];

	out("%s    {\"record\": \"0x%lx\", ", i == 0 ? "" : ",\n", (unsigned long)o->at);
	number("heap", p->heaps[o->heap].id, ", ");
	number("thread", (uint64_t)o->tid, ", \"name\": \"");
	out_name(o->name);
	out("\", \"is\": \"%s\", \"guest\": %s, ", states[o->is], o->guest ? "true" : "false");
	row_numbers(&t->owner[i]);
}

void show_json(const struct picture *p, const struct sums *t)
{
	const struct layout *l = &p->modules[0].layout;
	bool first = true;
	size_t i;

	out("{\n  ");
	number("process", (uint64_t)p->source->pid, ", \"program\": \"");
	out_name(p->source->program);
	out("\", \"exact\": %s, ",
	    t->apart == 0 && (p->source->stopped || p->source->kind == SOURCE_CORE) ? "true" : "false");
	number("nanoseconds", p->done - p->begun, ", ");
	number("apart", t->apart, ", ");
	number("changed_slots", t->changed, ", ");
	number("changed_large", t->changed_spans, ", ");
	number("restless", t->restless, ", ");
	number("damaged", p->damaged, ",\n  ");
	number("blocks", t->all.taken + t->spans, ", ");
	number("block_bytes", t->block_bytes + t->span_bytes, ", ");
	number("retained", t->retained, ", ");
	number("reserved", t->reserved, ", ");
	number("metadata", t->metadata, ", ");
	out("\"resident_known\": %s, ", p->resident_known ? "true" : "false");
	number("resident", t->resident, ", ");
	number("swapped", p->swapped, ",\n  \"classes\": [\n");
	for (i = 0; i < l->field[ASH_classes]; i++) {
		if (t->class[i].slabs == 0 && t->class[i].changed == 0)
			continue;
		out("%s    {", first ? "" : ",\n");
		number("size", l->class_bytes[i], ", ");
		number("changed", t->class[i].changed, ", ");
		row_numbers(&t->class[i]);
		first = false;
	}
	out("\n  ],\n  \"owners\": [\n");
	for (i = 0; i < p->owner_count; i++)
		owner_object(p, t, i);
	out("\n  ],\n  \"unowned\": {");
	row_numbers(&t->owner[p->owner_count]);
	out(",\n  \"large\": [\n");
	for (i = 0, first = true; i < p->chunk_count; i++) {
		const struct chunk *c = &p->chunks[i];

		if (c->kind != CHUNK_SPAN)
			continue;
		out("%s    {\"at\": \"0x%lx\", ", first ? "" : ",\n", (unsigned long)c->base);
		number("bytes", c->span_bytes, ", ");
		number("resident", c->resident, "}");
		first = false;
	}
	out("\n  ],\n  \"heaps\": [\n");
	for (i = 0; i < p->heap_count; i++) {
		const struct heap *h = &p->heaps[i];

		out("%s    {\"at\": \"0x%lx\", ", i == 0 ? "" : ",\n", (unsigned long)h->at);
		number("id", h->id, ", ");
		number("cap", h->cap, ", ");
		number("retain", h->retain, ", ");
		out("\"shared\": %s}", h->shared ? "true" : "false");
	}
	out("\n  ],\n  \"regions\": [\n");
	for (i = 0; i < p->region_count; i++) {
		const struct region *r = &p->regions[i];

		out("%s    {\"records_at\": \"0x%lx\", ", i == 0 ? "" : ",\n", (unsigned long)r->at);
		number("metadata", r->metadata, ", ");
		out("\"at\": \"0x%lx\", ", (unsigned long)r->base);
		number("chunks", r->all, ", ");
		number("resident_free", r->resident_free, "}");
	}
	out("\n  ],\n  \"arenas\": [\n");
	for (i = 0; i < p->arena_count; i++) {
		const struct arena *a = &p->arenas[i];

		out("%s    {\"at\": \"0x%lx\", ", i == 0 ? "" : ",\n", (unsigned long)a->at);
		number("bytes", a->granules * a->granule, ", ");
		number("blocks", a->blocks, ", ");
		number("block_bytes", a->taken * a->granule, ", ");
		number("longest", a->longest * a->granule, "}");
	}
	out("\n  ]\n}\n");
}
