/* SPDX-License-Identifier: MIT */
/*
 *	words ROW ROUNDS OUT [FILE]	a row of tools/bench/row.h, counted by the plugin beside this file,
 *					which writes to OUT; then the counts by kinds of words
 *					(ROUNDS 01: without a round before that, which is not counted)
 *	words plant ROUNDS OUT		what tests/check/words.sh knows the counts of
 *
 * Lines, sums over all rounds (times in ns of the model):
 *	row	operations slabs-made-and-unmade time instructions
 *	node	allocations, of slots released before, ... by another thread, ... of another node,
 *		in a page of another node
 *	word	writes moves reads threads words-of-this-kind hottest-word's-writes kind
 *	line	misses-by-reads by-writes without-reason-in-the-words waited lines kinds
 */
#include "bench/crowd.h"
#include "marks.h"
#include "names.h"

struct tally {
	uint64_t writes, moves, reads, threads, words, most;
};
struct set {
	uint64_t kinds, reads, writes, apart, lost, lines;
};
enum { SETS = 512 };

static struct tally tallies[KINDS_MOST];
static struct set sets[SETS];
static uint64_t operations, slabs;

/* ---- what the plugin wrote ---- */

static uint64_t number(const char **p)
{
	uint64_t n = 0;

	while (**p == ' ')
		++*p;
	for (; **p >= '0' && **p <= '9'; ++*p)
		n = n * 10 + (uint64_t)(**p - '0');
	return n;
}

static void add_word(const char *p)
{
	struct tally *t = &tallies[kind_at(number(&p))];
	uint64_t writes = number(&p), threads;

	t->writes += writes;
	t->moves += number(&p);
	t->reads += number(&p);
	threads = number(&p);
	t->threads = threads > t->threads ? threads : t->threads;
	t->words++;
	t->most = writes > t->most ? writes : t->most;
}

/* The words of a line come before it. */
static void add_line(const char *p, uint64_t kinds)
{
	struct set *s = sets;
	uint64_t address = number(&p), reads = number(&p), writes = number(&p);

	if (reads + writes == 0)
		return;
	if (kinds == 0)
		kinds = (uint64_t)1 << kind_at(address);
	while (s->lines != 0 && s->kinds != kinds && s < &sets[SETS - 1])
		s++;
	s->kinds = kinds;
	s->lines++;
	s->reads += reads;
	s->writes += writes;
	s->apart += number(&p);
	s->lost += number(&p);
}

static void total(char letter, const char *p)
{
	uint64_t n[5];

	for (unsigned i = 0; i < 5; i++)
		n[i] = number(&p);
	if (letter == 'T')
		rt_print("row %lu %lu %lu %lu\n", operations, slabs, n[0], n[1]);
	else if (n[0] > 0)
		rt_print("node %lu %lu %lu %lu %lu\n", n[0], n[1], n[2], n[3], n[4]);
}

static void sum_up(const char *file)
{
	size_t length;
	const char *text = rt_map_file(file, &length), *end = text + length, *p = text;
	uint64_t kinds = 0;

	if (text == NULL) {
		rt_print("%s: no counts; is the plugin loaded?\n", file);
		rt_exit(1);
	}
	for (; p < end; p++) {
		const char *values = p + 1;

		if (*p == 'W') {
			add_word(values);
			kinds |= (uint64_t)1 << kind_at(number(&values));
		} else if (*p == 'L') {
			add_line(values, kinds);
			kinds = 0;
		} else {
			total(*p, values);
		}
		while (p < end && *p != '\n')
			p++;
	}
}

static void report(void)
{
	for (unsigned i = 0; i < KINDS_MOST; i++) {
		const struct tally *t = &tallies[i];

		if (t->words > 0)
			rt_print("word %lu %lu %lu %lu %lu %lu %s\n", t->writes, t->moves, t->reads,
				 t->threads, t->words, t->most, kind_name(i));
	}
	for (const struct set *s = sets; s < &sets[SETS] && s->lines > 0; s++) {
		rt_print("line %lu %lu %lu %lu %lu ", s->reads, s->writes, s->apart, s->lost, s->lines);
		for (unsigned i = 0, n = 0; i < KINDS_MOST; i++)
			if ((s->kinds >> i & 1) != 0)
				rt_print("%s%s", n++ > 0 ? " + " : "", kind_name(i));
		rt_print("\n");
	}
}

/* ---- what has known counts ---- */

enum { PLANTED = 1000 };
static struct {
	_Alignas(LINE) volatile uint64_t both; /* written by two threads in turn */
	volatile uint64_t turn;
	_Alignas(LINE) volatile uint64_t left; /* one line, a word for each */
	volatile uint64_t right;
	_Alignas(LINE) volatile uint64_t own[2][LINE / 8];
} planted;

static void planted_body(void *argument)
{
	unsigned me = ((struct worker *)argument)->number, waits = 0;

	for (unsigned i = 0; i < PLANTED; i++) {
		while (planted.turn % 2 != me)
			wait_some(&waits);
		planted.both = i;
		*(me == 0 ? &planted.left : &planted.right) = i;
		planted.own[me][0] = i;
		planted.turn++;
	}
}

static uint64_t plant(void)
{
	together(TWO, planted_body);
	return 1000;
}

/* The words that are planted have no kind: by address. */
static void print_planted(void)
{
	rt_print("at both %lu\nat left %lu\nat right %lu\nat own %lu\n", (uint64_t)(uintptr_t)&planted.both,
		 (uint64_t)(uintptr_t)&planted.left, (uint64_t)(uintptr_t)&planted.right,
		 (uint64_t)(uintptr_t)&planted.own[0]);
}

static const struct row plant_rows[] = {{"plant", plant, 1, true, NULL}, {NULL, NULL, 0, false, NULL}};

/* ---- */

static const struct row *row_named(const char *name)
{
	const struct row *const families[] = {single_rows, crowd_rows, suite_rows, trace_rows, plant_rows};

	for (unsigned i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		for (const struct row *row = families[i]; row->name != NULL; row++)
			if (rt_strcmp(row->name, name) == 0)
				return row;
	return NULL;
}

static void nothing(void *argument)
{
	(void)argument;
}

int main(int argc, char **argv, char **envp)
{
	const struct row *row = argc > 3 ? row_named(argv[1]) : NULL;
	const char *rounds = argc > 3 ? argv[2] : "", *why;

	(void)envp;
	if (row == NULL) {
		rt_print("words ROW ROUNDS OUT [FILE]\n");
		return 2;
	}
	why = row->prepare != NULL ? row->prepare(argc > 4 ? argv[4] : "") : NULL;
	if (why != NULL) {
		rt_print("%s\n", why);
		return 1;
	}
	/* QEMU stops all threads once when the second begins, and could not while some wait for their turn. */
	together(1, nothing);
	MARK(MARK_BEGIN);
	if (!row->cold && argv[2][0] != '0') {
		(void)row->round();
		MARK(MARK_RESET);
	}
	slabs = slabs_changed();
	for (uint64_t n = number(&rounds); n > 0; n--)
		operations += row->round();
	MARK(MARK_END);
	slabs = slabs_changed() - slabs;
	sum_up(argv[3]);
	report();
	if (row == plant_rows)
		print_planted();
	return 0;
}
