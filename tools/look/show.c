/* SPDX-License-Identifier: MIT */
/* Summary and tables. */
#include "show.h"

static void line(const char *name, uint64_t count, uint64_t bytes, const char *text)
{
	char number[32] = "";

	if (count != UINT64_MAX)
		rt_format(number, sizeof number, "%lu", (unsigned long)count);
	out("  %-20s %12s  %s   %s\n", name, number, bytes_wide(bytes), text);
}

static void show_source(const struct picture *p)
{
	const struct source *s = p->source;
	unsigned i;

	if (s->kind == SOURCE_PROCESS)
		out("process %d", s->pid);
	else
		out(s->kind == SOURCE_CORE ? "core " : "heap in ");
	if (s->kind != SOURCE_PROCESS)
		out_name(s->path);
	if (s->program[0] != '\0') {
		out(": ");
		out_name(s->program);
	}
	out("\n");
	for (i = 0; i < p->module_count; i++) {
		if (s->kind == SOURCE_FILE)
			continue;
		out("  Ashlar ");
		out_name(p->modules[i].layout.release);
		out(" in ");
		out_name(p->modules[i].path);
		out("\n");
	}
}

static void show_sharpness(const struct picture *p, const struct sums *t)
{
	const struct source *s = p->source;
	double ms = (double)(p->done - p->begun) / 1e6;

	out("  %s read in %.1f ms by %s", bytes_text(s->bytes), ms,
	    s->kind != SOURCE_PROCESS ? "pread"
	    : s->by_mem		      ? "/proc/PID/mem"
				      : "process_vm_readv");
	if (s->kind == SOURCE_CORE)
		out("; nothing changes in a core: exact\n");
	else if (s->stopped)
		out("; all its threads were stopped: exact\n");
	else if (s->kind == SOURCE_FILE && t->apart == 0)
		out("\n");
	else
		out(", while it ran:\n  two looks %.1f ms apart differ in %lu slots and %lu large blocks"
		    " (column +-)\n",
		    (double)t->apart / 1e6, (unsigned long)t->changed, (unsigned long)t->changed_spans);
	if (t->restless != 0)
		out("  %lu chunks changed each time they were read; what could not be in them is left out\n",
		    (unsigned long)t->restless);
	if (p->damaged != 0)
		out("  DAMAGED: %lu records are not what a heap has, and are left out; the first: %s\n",
		    (unsigned long)p->damaged, p->damage);
	if (p->no_memory)
		out("  INCOMPLETE: the picture needs more memory than ashlar-look takes\n");
	if (s->failed != 0)
		out("  %lu pieces of memory could not be read\n", (unsigned long)s->failed);
}

static void show_heaps(const struct picture *p)
{
	size_t i, k;

	for (i = 0; p->heap_count > 1 && i < p->heap_count; i++) {
		const struct heap *h = &p->heaps[i];
		uint64_t chunks = 0, blocks = 0, bytes = 0;

		for (k = 0; k < p->chunk_count; k++) {
			const struct chunk *c = &p->chunks[k];
			unsigned u;

			if (p->regions[c->region].heap != i)
				continue;
			chunks++;
			blocks += c->kind == CHUNK_SPAN;
			bytes += c->span_bytes;
			for (u = 0; u < c->slab_count; u++) {
				const struct slab *s = &p->slabs[c->first_slab + u];

				blocks += s->taken;
				bytes += (uint64_t)s->taken * s->slot_bytes;
			}
		}
		out("  heap %-3lu %-8s at 0x%lx: %lu blocks, %s, in %lu chunks\n", (unsigned long)h->id,
		    h->is_default ? "default" : h->shared ? "shared" : "created", (unsigned long)h->at,
		    (unsigned long)blocks, bytes_text(bytes), (unsigned long)chunks);
	}
	for (i = 0; i < p->arena_count; i++) {
		const struct arena *a = &p->arenas[i];

		out("  heap in the program's memory at 0x%lx: %lu blocks, %s of %s, longest free run %s\n",
		    (unsigned long)a->at, (unsigned long)a->blocks, bytes_text(a->taken * a->granule),
		    bytes_text(a->granules * a->granule), bytes_text(a->longest * a->granule));
	}
}

void show_summary(const struct picture *p, const struct sums *t)
{
	show_source(p);
	show_sharpness(p, t);
	show_heaps(p);
	out("\n");
	line("blocks", t->all.taken + t->spans, t->block_bytes + t->span_bytes, "that the program has");
	line("  small", t->all.taken, t->block_bytes, "in slabs");
	line("  large", t->spans, t->span_bytes, "in chunks of their own");
	line("released by others", t->all.released, t->released_bytes, "and not yet collected");
	line("free slots", t->all.free, t->free_bytes, "in slabs that have blocks");
	line("empty slabs", t->all.empty, t->empty_bytes, "kept by their threads");
	line("slab tails", UINT64_MAX, t->all.tail, "behind the last slot");
	line("large blocks' tails", UINT64_MAX, t->span_space - t->span_bytes, "up to the next chunk");
	line("retained", UINT64_MAX, t->retained, "free, and may be resident: ash_trim gives it back");
	line("address space", p->region_count, t->reserved, "in so many regions");
	line("records", UINT64_MAX, t->metadata, "of regions; resident where used");
	if (p->resident_known) {
		line("resident", UINT64_MAX, t->resident, "of that address space, by /proc/PID/pagemap");
		if (p->swapped != 0)
			line("swapped", UINT64_MAX, p->swapped, "by /proc/PID/pagemap");
	} else {
		out("  resident: not known (%s)\n", p->source->kind == SOURCE_PROCESS
							    ? "pagemap cannot be read"
							    : "only of a process");
	}
}

static void show_row(const char *name, const struct row *r, bool resident)
{
	char pages[16] = "?";

	if (resident)
		rt_format(pages, sizeof pages, "%s", bytes_text(r->resident));
	out("%12s %8lu %9lu %9lu %9lu %8lu %8lu %10s %10s %10s %6lu\n", name, (unsigned long)r->slabs,
	    (unsigned long)r->slots, (unsigned long)r->taken, (unsigned long)r->free,
	    (unsigned long)r->released, (unsigned long)r->partly, bytes_text(r->rounding),
	    bytes_text(r->tail), pages, (unsigned long)r->changed);
}

void show_classes(const struct picture *p, const struct sums *t)
{
	const struct layout *l = &p->modules[0].layout;
	struct row all = t->all;
	char name[16];
	unsigned i;

	out("\n%12s %8s %9s %9s %9s %8s %8s %10s %10s %10s %6s\n", "class", "slabs", "slots", "taken",
	    "free", "released", "partly", "rounding", "tails", "resident", "+-");
	for (i = 0; i < l->field[ASH_classes]; i++) {
		const struct row *r = &t->class[i];

		if (r->slabs == 0 && r->changed == 0)
			continue;
		rt_format(name, sizeof name, "%u", l->class_bytes[i]);
		show_row(name, r, p->resident_known);
	}
	all.changed = t->changed;
	show_row("all", &all, p->resident_known);
	out("  class: bytes of a slot; partly: slabs with blocks and free slots; rounding: of the\n"
	    "  blocks, at most (sizes asked for are not kept); +-: slots that changed meanwhile\n");
}

const char *owner_text(const struct picture *p, const struct slab *s)
{
	static const char *const states[] = {"vacant", "", "ended", "likely", "not known"};
	static char text[64];
	const struct owner *o;

	if ((s->flags & SLAB_UNOWNED) != 0)
		return "unowned";
	if (s->owner_index == UINT32_MAX)
		return "no owner";
	o = &p->owners[s->owner_index];
	if (o->is == OWNER_LIVES || o->is == OWNER_LIKELY)
		rt_format(text, sizeof text, "%d %s", o->tid, o->name);
	else if (o->tid != 0)
		rt_format(text, sizeof text, "%d %s", o->tid, states[o->is]);
	else
		rt_format(text, sizeof text, "%s", states[o->is]);
	return text;
}

static void show_owner(const char *thread, const char *name, const char *state, uint64_t at,
		       const struct row *r, const char *resident)
{
	out("%10s  ", thread);
	out_name(name);
	out("%*s %-9s %16lx %8lu %10s %9lu %9lu %8lu %10s\n", (int)(16 - rt_strlen(name)), "", state,
	    (unsigned long)at, (unsigned long)r->slabs, bytes_text(r->bytes),
	    (unsigned long)r->taken, (unsigned long)r->free, (unsigned long)r->released, resident);
}

void show_owners(const struct picture *p, const struct sums *t)
{
	static const char *const states[] = {"vacant", "alive", "ended", "likely", "unknown"};
	char tid[16], resident[32];
	size_t i;

	out("\n%10s  %-16s %-9s %16s %8s %10s %9s %9s %8s %10s\n", "thread", "name", "is", "record", "slabs",
	    "bytes", "taken", "free", "released", "resident");
	for (i = 0; i < p->owner_count + 2; i++) {
		const struct row *r = &t->owner[i];
		const struct owner *o = &p->owners[i];

		rt_format(resident, sizeof resident, "%s",
			  p->resident_known ? bytes_text(r->resident) : "?");
		if (i >= p->owner_count) {
			if (r->slabs > 0)
				show_owner("-", i == p->owner_count ? "unowned slabs" : "no known record",
					   "-", 0, r, resident);
			continue;
		}
		rt_format(tid, sizeof tid, o->tid == 0 ? "?" : "%d", o->tid);
		show_owner(o->is == OWNER_VACANT ? "-" : tid, o->name[0] != '\0' ? o->name : "-",
			   o->guest ? "guest" : states[o->is], o->at, r, resident);
	}
	out("  vacant: left by a thread that ended, for the next; ended: not left yet; likely: taken when\n"
	    "  there was one thread\n");
}

void show_large(const struct picture *p)
{
	enum { SHOWN = 20 };
	const struct chunk *top[SHOWN];
	size_t n = 0, i, k, all = 0;

	for (i = 0; i < p->chunk_count; i++) {
		const struct chunk *c = &p->chunks[i];

		if (c->kind != CHUNK_SPAN)
			continue;
		all++;
		if (n == SHOWN && top[n - 1]->span_bytes >= c->span_bytes)
			continue;
		for (k = n < SHOWN ? n++ : n - 1; k > 0 && top[k - 1]->span_bytes < c->span_bytes; k--)
			top[k] = top[k - 1];
		top[k] = c;
	}
	if (all == 0)
		return;
	out("\nlarge blocks%s\n", all > n ? ", the largest" : "");
	for (i = 0; i < n; i++)
		out("  0x%012lx  %10s   resident %s\n", (unsigned long)top[i]->base,
		    bytes_text(top[i]->span_bytes),
		    p->resident_known ? bytes_text(top[i]->resident) : "?");
}
