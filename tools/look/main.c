/* SPDX-License-Identifier: MIT */
/*
 * ashlar-look: the heap of a running process, of a core or in a file, seen from outside.
 * The target's bitmaps are the truth at each instruction, so it need not stop nor help.
 */
#include <ashlar.h>

#include "show.h"

/* A picture that would need more is given up. */
const struct ash_defaults ash_defaults = {
	.initial = (size_t)2 << 20, .cap = (size_t)8 << 30, .retain = (size_t)10 << 20};

static const char usage[] =
	"usage: ashlar-look [OPTION...] PID | CORE | HEAPFILE\n"
	"  --svg           a picture of the chunks, on standard output\n"
	"  --json          the figures, for programs\n"
	"  --blocks        every block: address, bytes, owner\n"
	"  --find ADDRESS  what an address is\n"
	"  --watch         every second, with what changed\n"
	"  --stop          stop the process's threads meanwhile (ptrace): exact\n"
	"  --version       the version, and nothing else\n"
	"Status: 0 done; 1 it is damaged, incomplete or, with --find, in no heap; 2 nothing to see.\n";

struct options {
	bool svg, json, blocks, find, watch, stop;
	uint64_t address;
	const char *what;
};

static bool parse_address(const char *text, uint64_t *address)
{
	const char *p = text;
	unsigned n;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (*address = 0, n = 0; *p != '\0'; p++, n++) {
		unsigned digit = *p >= '0' && *p <= '9'	  ? (unsigned)(*p - '0')
				 : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a' + 10)
				 : *p >= 'A' && *p <= 'F' ? (unsigned)(*p - 'A' + 10)
							  : 16;

		if (digit == 16)
			return false;
		*address = *address << 4 | digit;
	}
	return n > 0 && n <= 16;
}

static bool parse(struct options *o, int argc, char **argv)
{
	struct flag {
		const char *name;
		bool *value;
	} flags[] = {{"--svg", &o->svg},	 {"--json", &o->json}, {"--blocks", &o->blocks},
		     {"--watch", &o->watch}, {"--stop", &o->stop}, {"--find", &o->find}};
	const size_t n = sizeof flags / sizeof flags[0];
	size_t k;
	int i;

	memset(o, 0, sizeof *o);
	for (i = 1; i < argc; i++) {
		for (k = 0; k < n && rt_strcmp(argv[i], flags[k].name) != 0; k++)
			;
		if (k < n) {
			*flags[k].value = true;
			if (flags[k].value == &o->find &&
			    (++i == argc || !parse_address(argv[i], &o->address)))
				return false;
		} else if (argv[i][0] == '-' || o->what != NULL) {
			return false;
		} else {
			o->what = argv[i];
		}
	}
	return o->what != NULL;
}

/* One or two looks: two where the target runs, so that it is known what changed meanwhile. */
struct look {
	struct picture before, now;
	struct sums sums;
};

static bool look_take(struct look *k, struct source *s, struct module *modules, unsigned count)
{
	bool twice = s->kind != SOURCE_CORE && !s->stopped;

	s->bytes = s->failed = 0;
	memset(k, 0, sizeof *k);
	if (twice)
		picture_take(&k->before, s, modules, count);
	s->failed = 0;
	picture_take(&k->now, s, modules, count);
	resident_read(&k->now);
	owners_name(&k->now);
	return sums_make(&k->sums, &k->now, twice ? &k->before : NULL);
}

static void look_drop(struct look *k)
{
	picture_drop(&k->before);
	picture_drop(&k->now);
	sums_drop(&k->sums);
}

static bool show(const struct options *o, const struct look *k)
{
	if (o->find)
		return show_find(&k->now, o->address);
	if (o->json)
		show_json(&k->now, &k->sums);
	else if (o->svg)
		show_svg(&k->now, &k->sums);
	else if (o->blocks)
		show_blocks(&k->now);
	if (o->json || o->svg || o->blocks)
		return true;
	show_summary(&k->now, &k->sums);
	show_classes(&k->now, &k->sums);
	show_owners(&k->now, &k->sums);
	show_large(&k->now);
	return true;
}

static int no(const char *what, const char *why)
{
	rt_fprint(2, "ashlar-look: %s: %s\n", what, why);
	return 2;
}

static int watch(const struct options *o, struct source *s, struct module *modules, unsigned count)
{
	static struct look looks[2];
	unsigned i;

	for (i = 0;; i ^= 1) {
		if (!look_take(&looks[i], s, modules, count))
			return no(o->what, "no memory");
		if (looks[i].now.heap_count == 0)
			return 0; /* it has ended */
		show_changes(&looks[i].now, &looks[i].sums,
			     looks[i ^ 1].now.source == NULL ? NULL : &looks[i ^ 1].sums);
		if (!out_end())
			return 0;
		look_drop(&looks[i ^ 1]);
		rt_sleep(1000000000);
	}
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	static struct module modules[MODULES];
	static struct source source;
	static struct look look;
	struct options o;
	const char *why;
	unsigned count;
	bool good;

	if (argc == 2 && rt_strcmp(argv[1], "--version") == 0) {
		rt_print("ashlar-look %s\n", ash_version());
		return 0;
	}
	if (!parse(&o, argc, argv)) {
		rt_fprint(2, "%s", usage);
		return 2;
	}
	why = source_open(&source, o.what);
	if (why != NULL)
		return no(o.what, why);
	if (o.stop && source.kind == SOURCE_PROCESS && !source_stop(&source))
		return no(o.what, "its threads cannot be stopped");
	count = source_modules(&source, modules, &why);
	if (count == 0) {
		source_go(&source);
		return no(o.what, why);
	}
	if (o.watch)
		return watch(&o, &source, modules, count);
	good = look_take(&look, &source, modules, count);
	source_go(&source);
	if (!good)
		return no(o.what, "no memory for the sums");
	good = show(&o, &look);
	if (!out_end())
		return no("standard output", "it cannot be written");
	return good && look.now.damaged == 0 && !look.now.no_memory && source.failed == 0 ? 0 : 1;
}
