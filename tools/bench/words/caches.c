/* SPDX-License-Identifier: MIT */
#include "caches.h"

#include "places.h"

#include <stdlib.h>
#include <string.h>

#define DRAIN	   UINT64_C(200000) /* ps that stores on their way may be behind */
#define WORDS_MOST 16 /* of a line */

/*
 * Of one core to another, after the tables of core-to-core latency that Chips and Cheese and AnandTech
 * published for Genoa and Sapphire Rapids (half of a round trip, rounded); here: measured by `pingpong`.
 */
static const struct machine machines[] = {
	{"zen4", 8, 125, 4000, 25000, 100000, 200000},
	{"golden-cove", 56, 125, 5000, 60000, 60000, 130000},
	{"test", 256, 1000, 0, 10000, 10000, 20000},
};
struct machine machine;

struct word {
	uint32_t writes, moves, reads, version;
	uint16_t writer; /* thread, plus one; 0: none */
	uint64_t writers; /* threads; bits modulo 64 */
	uint64_t readers; /* cores since the last write; the same */
};

struct line {
	uint64_t address, busy;
	struct line *next;
	uint32_t *seen;	 /* version when each core had the line last; NULL: one core only */
	uint64_t have[CORES_MOST / 64];
	uint64_t lost;	 /* ps that cores waited for it */
	uint32_t version, reads, writes, apart;
	uint16_t owner;	 /* core that may write, plus one; 0: shared */
	uint16_t first;	 /* core that had it first */
	struct word word[];
};

static struct line *lines[BUCKETS];
static unsigned line_shift, line_words;

bool caches_machine(const char *name)
{
	unsigned i;

	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (strcmp(machines[i].name, name) == 0) {
			machine = machines[i];
			return true;
		}
	return false;
}

bool caches_begin(unsigned line_bytes)
{
	line_words = line_bytes / 8;
	for (line_shift = 0; 1u << line_shift < line_bytes;)
		line_shift++;
	return line_words > 0 && line_words <= WORDS_MOST && 1u << line_shift == line_bytes;
}

static unsigned my_core(void)
{
	return (unsigned)(me->core - cores);
}

static struct line *line_of(uint64_t key)
{
	static struct line *latest;
	struct line **at, *l;

	if (latest != NULL && latest->address == key)
		return latest;
	at = &lines[bucket(key)];
	for (l = *at; l != NULL && l->address != key; l = l->next)
		;
	if (l == NULL) {
		l = calloc(1, sizeof *l + line_words * sizeof(struct word));
		if (l == NULL)
			abort();
		l->address = key;
		l->next = *at;
		l->first = (uint16_t)my_core();
		*at = l;
		(void)places_node(key << line_shift);
	}
	return latest = l;
}

static bool bit(const uint64_t *set, unsigned i)
{
	return (set[i / 64] >> i % 64 & 1) != 0;
}

static uint64_t distance(unsigned a, unsigned b)
{
	if (cores[a].node != cores[b].node)
		return machine.far;
	return a / machine.group == b / machine.group ? machine.near : machine.node;
}

/* What it takes to get the line from those who have it: for a write the farthest, else the nearest. */
static uint64_t fetch(const struct line *l, unsigned c, bool write)
{
	uint64_t far = 0, near = UINT64_MAX;
	unsigned i, w;

	for (w = 0; w < CORES_MOST / 64; w++) {
		uint64_t left = l->have[w];

		for (; left != 0; left &= left - 1) {
			i = w * 64 + (unsigned)__builtin_ctzll(left);
			if (i == c)
				continue;
			far = distance(c, i) > far ? distance(c, i) : far;
			near = distance(c, i) < near ? distance(c, i) : near;
		}
	}
	return write ? far : near;
}

/* The core waits for the line, or its stores do. */
static void wait_for(struct line *l, uint64_t time, bool store)
{
	struct core *c = me->core;
	uint64_t begin = c->clock, end;

	if (store && c->drained > begin)
		begin = c->drained;
	if (l->busy > begin)
		begin = l->busy;
	end = begin + time;
	l->busy = end;
	if (!store) {
		l->lost += end - c->clock;
		c->clock = end;
		return;
	}
	c->drained = end;
	if (end > c->clock + DRAIN) {
		l->lost += end - DRAIN - c->clock;
		c->clock = end - DRAIN;
	}
}

static void count(struct line *l, struct word *w, unsigned c, bool write)
{
	uint64_t mine = UINT64_C(1) << me->number % 64;

	w->readers |= UINT64_C(1) << c % 64;
	if (!write) {
		w->reads += w->writer != 0 && w->writer != me->number + 1;
		return;
	}
	w->writes++;
	w->moves += w->writer != 0 && w->writer != me->number + 1;
	w->writer = (uint16_t)(me->number + 1);
	w->writers |= mine;
	w->readers = UINT64_C(1) << c % 64;
	w->version = ++l->version;
}

/* True: another core has written the word since this one had the line, or (a write) has read it. */
static bool concerns(const struct line *l, const struct word *w, unsigned c, bool write)
{
	return w->version > l->seen[c] || (write && (w->readers & ~(UINT64_C(1) << c % 64)) != 0);
}

static void access_line(uint64_t address, uint64_t end, bool write, bool locked)
{
	struct line *l = line_of(address >> line_shift);
	unsigned c = my_core(), first = (unsigned)(address / 8 % line_words), last, i;
	bool have = bit(l->have, c), miss, apart = true;

	last = (unsigned)((end - 1) / 8 % line_words);
	if (l->seen == NULL && c != l->first) {
		l->seen = calloc(CORES_MOST, sizeof *l->seen);
		if (l->seen == NULL)
			abort();
		l->seen[l->first] = l->version;
	}
	if (locked && me->core->drained > me->core->clock)
		me->core->clock = me->core->drained;
	me->core->clock += locked ? machine.locked : 0;
	/* The core alone has it, or reads what it has. */
	miss = l->seen != NULL && !(have && (!write || l->owner == c + 1));
	if (miss) {
		for (i = first; i <= last; i++)
			apart = apart && !concerns(l, &l->word[i], c, write);
		l->apart += apart;
		*(write ? &l->writes : &l->reads) += 1;
		wait_for(l, fetch(l, c, write), write && !locked);
	}
	if (write && (miss || l->owner != c + 1)) {
		memset(l->have, 0, sizeof l->have);
		l->owner = (uint16_t)(c + 1);
	} else if (miss) {
		l->owner = 0;
	}
	l->have[c / 64] |= UINT64_C(1) << c % 64;
	for (i = first; i <= last; i++)
		count(l, &l->word[i], c, write);
	if (l->seen != NULL)
		l->seen[c] = l->version;
}

void caches_access(uint64_t address, unsigned bytes, bool write, bool locked)
{
	uint64_t end = address + bytes, next = (address >> line_shift) + 1;

	if (end > next << line_shift) {
		access_line(address, next << line_shift, write, locked);
		address = next << line_shift;
	}
	access_line(address, end, write, locked);
}

void caches_reset(void)
{
	size_t k;
	unsigned i;

	places_reset();
	for (k = 0; k < BUCKETS; k++)
		for (struct line *l = lines[k]; l != NULL; l = l->next) {
			l->lost = 0;
			l->reads = l->writes = l->apart = 0;
			for (i = 0; i < line_words; i++) {
				struct word *w = &l->word[i];

				w->writes = w->moves = w->reads = 0;
				w->writers = 0;
			}
		}
}

/*
 * W address writes moves reads writers	a word in a line that several cores had, or that
 *					several threads wrote
 * L address reads writes apart lost	its line, behind them: its misses, those without a reason
 *					in the words accessed, ns
 */
void caches_write(FILE *out)
{
	size_t k;
	unsigned i;

	places_write(out);
	for (k = 0; k < BUCKETS; k++)
		for (struct line *l = lines[k]; l != NULL; l = l->next) {
			bool shared = l->seen != NULL;

			for (i = 0; i < line_words; i++) {
				const struct word *w = &l->word[i];

				if (w->writes == 0 || (l->seen == NULL && (w->writers & (w->writers - 1)) == 0))
					continue;
				shared = true;
				fprintf(out, "W %lu %u %u %u %u\n", (l->address << line_shift) + i * 8ul, w->writes,
					w->moves, w->reads, (unsigned)__builtin_popcountll(w->writers));
			}
			if (shared)
				fprintf(out, "L %lu %u %u %u %lu\n", l->address << line_shift, l->reads,
					l->writes, l->apart, l->lost / 1000);
		}
}
