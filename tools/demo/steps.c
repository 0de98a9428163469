/* SPDX-License-Identifier: MIT */
#include "steps.h"

#include "rt.h"

/* What the decoder knows while it reads. */
struct decoder {
	const uint8_t *at, *end;
	const char *why; /* the first reason, NULL so far */

	uint32_t slots, slots_max; /* used so far, to be had */
	uint32_t *free;            /* stack of slots given back */
	uint32_t free_count;
	uint64_t *held; /* size + 1 of the block in each slot, 0: none */

	uint32_t last; /* slot named or taken by the event before */
	uint64_t thread, threads;
	uint64_t live, peak;
};

static void refuse(struct decoder *d, const char *why)
{
	if (d->why == NULL)
		d->why = why;
}

static uint64_t number(struct decoder *d)
{
	uint64_t value = 0;

	for (unsigned shift = 0; d->at < d->end && shift < 64; shift += 7) {
		uint8_t byte = *d->at++;

		/* The tenth byte has room for one bit. */
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	refuse(d, "a number is too long or has no end");
	return 0;
}

static void hold(struct decoder *d, uint32_t slot, uint64_t size)
{
	if (size > PTRDIFF_MAX) {
		refuse(d, "a block is larger than memory");
		return;
	}
	if (d->held[slot] != 0)
		d->live -= d->held[slot] - 1;
	d->held[slot] = size + 1;
	d->live += size;
	if (d->live > d->peak)
		d->peak = d->live;
}

static uint32_t take_slot(struct decoder *d)
{
	if (d->free_count > 0)
		return d->free[--d->free_count];
	if (d->slots == d->slots_max) {
		refuse(d, "there are more slots than the header says");
		return 0;
	}
	return d->slots++;
}

static uint32_t named_slot(struct decoder *d, uint64_t folded)
{
	uint64_t slot = d->last + (uint64_t)trace_unfold(folded);

	if (slot >= d->slots || d->held[slot] == 0) {
		refuse(d, "an empty slot is named");
		return 0;
	}
	return (uint32_t)slot;
}

static void change_thread(struct decoder *d, uint64_t thread)
{
	if (thread > TRACE_THREAD_MAX)
		refuse(d, "there are too many threads");
	d->thread = thread;
	if (thread >= d->threads)
		d->threads = thread + 1;
}

static struct step event(struct decoder *d, enum trace_op op, uint64_t operand)
{
	struct step step = {.thread = (uint16_t)d->thread, .op = (uint8_t)op};

	switch (op) {
	case TRACE_ALLOC:
	case TRACE_ZALLOC:
	case TRACE_ALIGNED:
		step.size = operand;
		if (op == TRACE_ALIGNED) {
			uint64_t shift = number(d);

			if (shift > TRACE_SHIFT_MAX)
				refuse(d, "an alignment is too large");
			step.shift = (uint8_t)shift;
		}
		step.slot = take_slot(d);
		break;
	case TRACE_RESIZE:
		step.slot = named_slot(d, operand);
		step.size = number(d);
		break;
	case TRACE_RELEASE:
		step.slot = named_slot(d, operand);
		break;
	default:
		refuse(d, "an event is of no known kind");
	}
	d->last = step.slot;
	if (d->why != NULL)
		return step;
	if (op == TRACE_RELEASE) {
		d->live -= d->held[step.slot] - 1;
		d->held[step.slot] = 0;
		d->free[d->free_count++] = step.slot;
	} else {
		hold(d, step.slot, step.size);
	}
	return step;
}

static void decode(struct decoder *d, const struct trace_header *header, struct step *steps)
{
	uint64_t done = 0;

	while (d->at < d->end && d->why == NULL) {
		uint64_t first = number(d);
		enum trace_op op = (enum trace_op)(first & 7);

		if (op == TRACE_THREAD) {
			change_thread(d, first >> 3);
		} else if (done == header->events) {
			refuse(d, "there are more events than the header says");
		} else {
			steps[done++] = event(d, op, first >> 3);
		}
	}
	if (done != header->events || d->slots != header->slots || d->peak != header->peak ||
	    d->threads != header->threads)
		refuse(d, "the header does not fit the events");
}

static const char *header_fault(const struct trace_header *h, const void *file, size_t length)
{
	if (h->magic != TRACE_MAGIC)
		return "this is no trace, or one whose recording did not end";
	if (h->bytes != length - sizeof(*h))
		return "the file is longer or shorter than its header says";
	if (h->sum != trace_sum((const uint8_t *)file + sizeof(*h), h->bytes))
		return "the checksum is wrong";
	/* An event is a byte at least: so no header can ask for absurd tables. */
	if (h->events == 0 || h->events > h->bytes || h->slots > h->events)
		return "the header contradicts itself";
	return NULL;
}

const char *steps_decode(struct steps *s, const void *file, size_t length)
{
	struct decoder d = {.threads = 1};
	const char *why;
	size_t tables;

	if (length < sizeof(s->header))
		return "the file is too short for a trace";
	memcpy(&s->header, file, sizeof(s->header));
	why = header_fault(&s->header, file, length);
	if (why != NULL)
		return why;

	tables = s->header.slots * (sizeof(*d.held) + sizeof(*d.free)) + 1;
	d.held = rt_map(tables);
	s->step = rt_map(s->header.events * sizeof(*s->step));
	if (d.held != NULL && s->step != NULL) {
		d.free = (uint32_t *)(d.held + s->header.slots);
		d.slots_max = s->header.slots;
		d.at = (const uint8_t *)file + sizeof(s->header);
		d.end = (const uint8_t *)file + length;
		decode(&d, &s->header, s->step);
	} else {
		refuse(&d, "there is no memory for its tables");
	}
	if (d.held != NULL)
		rt_unmap(d.held, tables);
	if (d.why != NULL && s->step != NULL)
		steps_drop(s);
	return d.why;
}

const char *steps_load(struct steps *s, const char *path)
{
	size_t length;
	const void *file = rt_map_file(path, &length);
	const char *why;

	if (file == NULL)
		return "the file cannot be read";
	why = steps_decode(s, file, length);
	rt_unmap((void *)(uintptr_t)file, length);
	return why;
}

void steps_drop(struct steps *s)
{
	rt_unmap(s->step, s->header.events * sizeof(*s->step));
	s->step = NULL;
}
