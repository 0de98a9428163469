/* SPDX-License-Identifier: MIT */
/*
 * malloc_info: the figures as XML, in glibc's format, written with the program's stdio.  In the archive this file is
 * an object of its own, so that it links fwrite into a static program that calls malloc_info; in shared objects
 * fwrite may be absent.
 */
#include "facade.h"

#if IS_AMALGAMATION
#define IF_CALLED     IF_PRESENT
#define xml_can_write() (xml_write != NULL)
#else
#define IF_CALLED
#define xml_can_write() true
#endif

IF_CALLED size_t xml_write(const void *bytes, size_t size, size_t count, void *file)
	__asm__("fwrite");
IF_PRESENT int pthread_setcancelstate(int state, int *old);

EXPORT int malloc_info(int options, void *file);

#define XML_NO_CANCEL 1 /* PTHREAD_CANCEL_DISABLE, in every C library on Linux */
#define XML_ROW	      256 /* no line is longer */

struct xml {
	void *file;
	char *at;
	size_t last; /* size of the previous row */
	size_t slots, taken, bytes;
	char text[1024];
};

static void xml_flush(struct xml *x)
{
	(void)xml_write(x->text, 1, (size_t)(x->at - x->text), x->file);
	x->at = x->text;
}

static void xml_add(struct xml *x, const char *text)
{
	if (x->at + XML_ROW > x->text + sizeof x->text)
		xml_flush(x);
	x->at = facade_add(x->at, text);
}

static void xml_number(struct xml *x, const char *before, size_t n)
{
	xml_add(x, before);
	x->at = facade_add_number(x->at, n);
	*x->at++ = '"';
}

/* from, to, total and count are glibc's attributes, for free slots; the others are additions of Ashlar. */
static void xml_row(void *to, const struct ash_class *class)
{
	struct xml *x = to;
	size_t size = class->size, slots = class->slots, taken = class->taken, bytes = class->bytes;
	size_t one = size != 0 ? size : bytes; /* spans have all sizes, and no free slots */

	x->slots += slots;
	x->taken += taken;
	x->bytes += bytes;
	if (slots > 0) {
		xml_number(x, "  <size from=\"", x->last + 1);
		xml_number(x, " to=\"", one);
		xml_number(x, " total=\"", (slots - taken) * size);
		xml_number(x, " count=\"", slots - taken);
		xml_number(x, " slots=\"", slots);
		xml_number(x, " taken=\"", taken);
		xml_number(x, " bytes=\"", bytes);
		xml_add(x, "/>\n");
	}
	x->last = size;
}

static void xml_totals(struct xml *x, const struct ash_statistics *s, bool whole)
{
	size_t now = s->slabs + s->spans + s->dirty;

	xml_add(x, "<total type=\"fast\" count=\"0\" size=\"0\"/>\n");
	xml_number(x, "<total type=\"rest\" count=\"", x->slots - x->taken);
	xml_number(x, " size=\"", now - s->block_bytes);
	xml_add(x, "/>\n");
	if (whole) /* no block has a mapping of its own */
		xml_add(x, "<total type=\"mmap\" count=\"0\" size=\"0\"/>\n");
	xml_number(x, "<system type=\"current\" size=\"", now);
	xml_add(x, "/>\n");
	xml_number(x, "<system type=\"max\" size=\"", s->peak_kept);
	xml_add(x, "/>\n");
	xml_number(x, "<aspace type=\"total\" size=\"", s->reserved);
	xml_add(x, "/>\n");
	xml_number(x, "<aspace type=\"mprotect\" size=\"", s->reserved);
	xml_add(x, "/>\n");
}

int malloc_info(int options, void *file)
{
	struct ash_statistics s;
	struct xml x;
	int state = 0;

	if (options != 0)
		return FACADE_EINVAL;
	if (!xml_can_write())
		return FACADE_ENOSYS;
	x.file = file;
	x.at = x.text;
	x.last = x.slots = x.taken = x.bytes = 0;
	/* stdio has cancellation points: a cancelled thread must not end inside this call. */
	if (pthread_setcancelstate != NULL)
		(void)pthread_setcancelstate(XML_NO_CANCEL, &state);
	xml_add(&x, "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n");
	/* Both count before anything is written, because writing may allocate. */
	ash_stats(&s);
	ash_stats_rows(xml_row, &x);
	xml_add(&x, "</sizes>\n");
	xml_totals(&x, &s, false);
	xml_add(&x, "</heap>\n");
	xml_totals(&x, &s, true);
	xml_add(&x, "</malloc>\n");
	xml_flush(&x);
	if (pthread_setcancelstate != NULL)
		(void)pthread_setcancelstate(state, NULL);
	return 0;
}
