/* SPDX-License-Identifier: MIT */
/*
 * A picture for people: above, the classes that take most memory; below, a row a chunk, a cell
 * a unit.  A slab is one colour by its class, filled from below by the share of its slots that
 * are taken; under it a line tells which of its pages are resident.
 */
#include "show.h"

enum { LEFT = 150, CELL = 12, CHUNK_WIDTH = CELL * UNITS, RIGHT = 110, WIDTH = LEFT + CHUNK_WIDTH + RIGHT };
enum { ROW = 26, SLAB_HEIGHT = 16, PAGES_HEIGHT = 3, BAR = 16, BARS = 16, ROWS_MAX = 1000 };

/* Small slots are blue, large ones red: 0 ... 5 around the circle of colours, as in HSV. */
static const char *colour(const struct picture *p, unsigned class, bool light)
{
	static char text[8];
	unsigned last = p->modules[0].layout.field[ASH_classes] - 1;
	/* In steps of 1/256 of a sextant, from blue (4) back to red (0). */
	unsigned hue = last == 0 ? 0 : 4 * 256 * (last - class) / last, part = hue % 256, rgb[3], i;
	unsigned up = part, down = 255 - part;

	switch (hue / 256) {
	case 0: rgb[0] = 255, rgb[1] = up, rgb[2] = 0; break;
	case 1: rgb[0] = down, rgb[1] = 255, rgb[2] = 0; break;
	case 2: rgb[0] = 0, rgb[1] = 255, rgb[2] = up; break;
	case 3: rgb[0] = 0, rgb[1] = down, rgb[2] = 255; break;
	default: rgb[0] = 0, rgb[1] = 0, rgb[2] = 255; break;
	}
	for (i = 0; i < 3; i++) /* less glaring; light: towards white */
		rgb[i] = light ? 205 + rgb[i] * 40 / 255 : 50 + rgb[i] * 140 / 255;
	rt_format(text, sizeof text, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
	return text;
}

static void rect(unsigned x, double y, double width, double height, const char *fill)
{
	if (width > 0 && height > 0)
		out("<path fill=\"%s\" d=\"M%u %.1fh%.1fv%.1fH%uz\"/>\n", fill, x, y, width, height, x);
}

static void text(unsigned x, unsigned y, const char *what)
{
	out("<text x=\"%u\" y=\"%u\">%s</text>\n", x, y, what);
}

static void share_bar(unsigned y, unsigned width, uint64_t part, uint64_t of, uint64_t before,
		      const char *fill)
{
	double scale = of == 0 ? 0 : (double)width / (double)of;

	rect(LEFT + (unsigned)((double)before * scale), y, (double)part * scale, BAR - 3, fill);
}

/* The classes that take most memory.  Returns where the next thing begins. */
static unsigned show_bars(const struct picture *p, const struct sums *t, unsigned y)
{
	const struct layout *l = &p->modules[0].layout;
	unsigned top[BARS], n = 0, i, k;
	char label[256];

	for (i = 0; i < l->field[ASH_classes]; i++) {
		if (t->class[i].slabs == 0 ||
		    (n == BARS && t->class[top[n - 1]].bytes >= t->class[i].bytes))
			continue;
		for (k = n < BARS ? n++ : n - 1; k > 0 && t->class[top[k - 1]].bytes < t->class[i].bytes; k--)
			top[k] = top[k - 1];
		top[k] = i;
	}
	/* By size again. */
	for (i = 1; i < n; i++)
		for (k = i; k > 0 && top[k - 1] > top[k]; k--) {
			unsigned x = top[k];

			top[k] = top[k - 1];
			top[k - 1] = x;
		}
	for (i = 0, k = 0; i < n; i++)
		k = t->class[top[i]].bytes > t->class[top[k]].bytes ? i : k;
	for (i = 0; i < n; i++, y += BAR) {
		const struct row *r = &t->class[top[i]];
		uint64_t slot = l->class_bytes[top[i]], most = t->class[top[k]].bytes;

		rt_format(label, sizeof label, "%lu bytes", (unsigned long)slot);
		out("<text x=\"%u\" y=\"%u\" text-anchor=\"end\">%s</text>\n", LEFT - 8, y + 10, label);
		share_bar(y, CHUNK_WIDTH / 2, r->bytes, most, 0, colour(p, top[i], true));
		share_bar(y, CHUNK_WIDTH / 2, r->taken * slot, most, 0, colour(p, top[i], false));
		share_bar(y, CHUNK_WIDTH / 2, r->released * slot, most, r->taken * slot, "#e87722");
		rt_format(label, sizeof label, "%lu blocks, %s, in slabs of %s", (unsigned long)r->taken,
			  bytes_text(r->taken * slot), bytes_text(r->bytes));
		if (r->released > 0)
			rt_format(label + rt_strlen(label), 64, "; released %s", bytes_text(r->released * slot));
		text(LEFT + CHUNK_WIDTH / 2 + 10, y + 10, label);
	}
	return y;
}

static void show_slab(const struct picture *p, const struct slab *s, unsigned y)
{
	unsigned x = LEFT + (unsigned)s->unit * CELL;
	double height = (unsigned)SLAB_HEIGHT;
	double width = (unsigned)s->units * CELL - 1, taken = height * s->taken / s->slots;
	double released = height * s->released / s->slots;

	rect(x, y, width, height - taken, colour(p, s->class, true));
	rect(x, y + height - taken, width, taken, colour(p, s->class, false));
	rect(x, y + height - taken - released, width, released, "#e87722");
}

/* Under the units, how many of their pages are resident: one path, of a line for each run. */
static void show_pages(const struct chunk *c, unsigned y, unsigned all)
{
	unsigned u, first;

	out("<path fill=\"#333333\" d=\"");
	for (u = 0; u < UNITS; u++) {
		for (first = u; u + 1 < UNITS && c->pages[u] >= all; u++)
			;
		if (u > first || c->pages[u] > 0)
			out("M%u %uh%.1fv%uH%uz", LEFT + first * CELL, y,
			    (double)((u - first) * CELL) + (double)((CELL - 1) * c->pages[u]) / all,
			    PAGES_HEIGHT, LEFT + first * CELL);
	}
	out("\"/>\n");
}

static void show_chunk(const struct picture *p, const struct chunk *c, unsigned y,
		       const struct layout *l)
{
	char label[96];
	unsigned u, i;

	rt_format(label, sizeof label, "%lx", (unsigned long)c->base);
	out("<text x=\"%u\" y=\"%u\" text-anchor=\"end\">%s</text>\n", LEFT - 8, y + 12, label);
	if (p->resident_known)
		text(LEFT + CHUNK_WIDTH + 8, y + 12, bytes_text(c->resident));
	if (c->kind == CHUNK_SPAN) {
		double all = (double)(c->span_chunks * l->chunk);

		rect(LEFT, y, CHUNK_WIDTH - 1, SLAB_HEIGHT, "#e4e4ee");
		rect(LEFT, y, (CHUNK_WIDTH - 1) * (double)c->span_bytes / all, SLAB_HEIGHT, "#8f8fb5");
		rect(LEFT, y + SLAB_HEIGHT + 1, (CHUNK_WIDTH - 1) * (double)c->resident / all, PAGES_HEIGHT,
		     "#333333");
		rt_format(label, sizeof label, "a block of %s, in %lu chunks", bytes_text(c->span_bytes),
			  (unsigned long)c->span_chunks);
		out("<text class=\"w\" x=\"%u\" y=\"%u\">%s</text>\n", LEFT + 8, y + 12, label);
		return;
	}
	rect(LEFT, y, CHUNK_WIDTH - 1, SLAB_HEIGHT, "#f2f2f2");
	/* Free units that may be resident, in runs. */
	for (u = 0; u < UNITS; u = i + 1) {
		for (i = u; i < UNITS && (c->units & ~c->clean) >> i & 1; i++)
			;
		rect(LEFT + u * CELL, y, (i - u) * CELL - (i > u), SLAB_HEIGHT, "#cccccc");
	}
	show_pages(c, y + SLAB_HEIGHT + 1, p->resident_known ? (unsigned)(l->unit / p->piece) : 1);
	for (i = 0; i < c->slab_count; i++)
		show_slab(p, &p->slabs[c->first_slab + i], y);
}

static unsigned show_legend(unsigned y)
{
	static const struct {
		const char *fill, *text;
	} items[] = {{"#3c6fbe", "taken"},		{"#cddcf5", "free slots"},
		     {"#e87722", "released by others"}, {"#cccccc", "free, retained"},
		     {"#f2f2f2", "free"},		{"#8f8fb5", "large block"}};
	unsigned i, x = LEFT;

	for (i = 0; i < sizeof items / sizeof items[0]; i++) {
		rect(x, y, 11, 11, items[i].fill);
		text(x + 16, y + 10, items[i].text);
		x += 36 + 7 * (unsigned)rt_strlen(items[i].text);
	}
	rect(x, y + 4, 11, PAGES_HEIGHT, "#333333");
	text(x + 16, y + 10, "resident pages");
	return y + 26;
}

void show_svg(const struct picture *p, const struct sums *t)
{
	size_t rows = p->chunk_count < ROWS_MAX ? p->chunk_count : ROWS_MAX, i, classes = 0;
	const char *name, *last;
	unsigned y = 64;
	char label[256];

	for (i = 0; i < CLASSES_MAX; i++)
		classes += t->class[i].slabs > 0;
	classes = classes < BARS ? classes : BARS;
	out("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %lu\" font-size=\"12\" "
	    "font-family=\"sans-serif\" fill=\"#222222\">\n<style>.w{fill:#ffffff}</style>\n"
	    "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
	    WIDTH, (unsigned long)(64 + classes * BAR + 44 + rows * ROW + 40));
	out("<text x=\"%u\" y=\"24\" font-size=\"16\">The heap of ", LEFT);
	for (name = last = p->source->program[0] != '\0' ? p->source->program : p->source->path;
	     *name != '\0'; name++)
		last = *name == '/' ? name + 1 : last;
	out_name(last);
	out("</text>\n");
	rt_format(label, sizeof label,
		  "%lu blocks, %s; %s in free slots, %s retained; %s of address space, %s resident",
		  (unsigned long)(t->all.taken + t->spans), bytes_text(t->block_bytes + t->span_bytes),
		  bytes_text(t->free_bytes + t->empty_bytes), bytes_text(t->retained), bytes_text(t->reserved),
		  p->resident_known ? bytes_text(t->resident) : "not known what is");
	text(LEFT, 44, label);
	y = show_bars(p, t, y) + 18;
	y = show_legend(y);
	for (i = 0; i < rows; i++, y += ROW)
		show_chunk(p, &p->chunks[i], y,
			   picture_layout(p, &p->heaps[p->regions[p->chunks[i].region].heap]));
	if (rows < p->chunk_count) {
		rt_format(label, sizeof label, "and %lu chunks more", (unsigned long)(p->chunk_count - rows));
		text(LEFT, y + 12, label);
	} else {
		text(LEFT, y + 12, "A row is a chunk of 2 MiB, a cell 32 KiB of it. Colours: from small slots (blue) to large ones (red). By ashlar-look.");
	}
	out("</svg>\n");
}
