/* SPDX-License-Identifier: MIT */
/* Tests mallinfo, mallinfo2, malloc_info, malloc_stats; none of them is a cancellation point. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                                           \
	((condition) ? (void)0                                                                     \
		     : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

/* musl's headers lack these, and glibc's mark mallinfo as deprecated. */
void *pvalloc(size_t size);
int mallopt(int parameter, int value);
int malloc_trim(size_t pad);
void malloc_stats(void);
int malloc_info(int options, FILE *file);
struct figures {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks,
		keepcost;
};
struct figures figures(void) __asm__("mallinfo2");
struct short_figures {
	int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct short_figures short_figures(void) __asm__("mallinfo");

/* mallinfo agrees with mallinfo2; arena is the sum of free and taken bytes. */
static void figures_add_up(void)
{
	void *p = malloc(5000000), *q = malloc(500);
	struct figures f = figures();
	struct short_figures s = short_figures();

	CHECK(f.hblks == 1 && f.hblkhd >= 5000000 && f.hblkhd < 5100000);
	CHECK(f.arena == f.uordblks + f.fordblks && f.uordblks >= 500 && f.uordblks < 1000000);
	CHECK((size_t)s.hblks == f.hblks && (size_t)s.hblkhd == f.hblkhd);
	CHECK(f.keepcost <= f.fordblks && f.ordblks > 0 && f.ordblks <= f.fordblks / 8);
	CHECK((size_t)s.arena == f.arena && (size_t)s.uordblks == f.uordblks);
	CHECK((size_t)s.fordblks == f.fordblks && (size_t)s.ordblks == f.ordblks);
	CHECK((size_t)s.keepcost == f.keepcost && s.smblks == 0 && s.fsmblks == 0);
	free(p);
	free(q);
	/* A value too large for an int. */
	p = malloc((size_t)3 << 30);
	CHECK(p == NULL || short_figures().hblkhd == INT32_MAX);
	free(p);
}

struct row {
	size_t from, to, total, count, slots, taken, bytes;
};

/* Reads malloc_info's output: the row for blocks of this size, and the sum of all rows. */
static void read_xml(size_t size, struct row *mine, struct row *sum, struct figures *f)
{
	static const char begin[] = "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n";
	static char text[65536], buffer[100];
	FILE *file = fmemopen(text, sizeof text, "w");
	struct row r;
	size_t rest[2], system[2], n = 0, before = 0;
	char *at;

	memset(mine, 0, sizeof *mine);
	memset(sum, 0, sizeof *sum);
	setvbuf(file, buffer, _IOFBF, sizeof buffer);
	CHECK(malloc_info(1, file) == EINVAL && ftell(file) == 0);
	CHECK(malloc_info(0, file) == 0);
	*f = figures();
	fclose(file);
	for (at = text; (at = strstr(at, "  <size ")) != NULL; at++) {
		n++;
		CHECK(sscanf(at, "  <size from=\"%zu\" to=\"%zu\" total=\"%zu\" count=\"%zu\" slots=\"%zu\""
				 " taken=\"%zu\" bytes=\"%zu\"/>",
			     &r.from, &r.to, &r.total, &r.count, &r.slots, &r.taken, &r.bytes) == 7);
		CHECK(r.from > before && r.to >= r.from && r.taken + r.count == r.slots);
		CHECK(r.total == r.count * r.to && r.bytes >= r.slots * (r.count > 0 ? r.to : 1));
		before = r.to;
		sum->total += r.total;
		sum->count += r.count;
		sum->slots += r.slots;
		sum->taken += r.taken;
		sum->bytes += r.bytes;
		if (r.from <= size && size <= r.to)
			*mine = r;
	}
	CHECK(n > 0 && strncmp(text, begin, sizeof begin - 1) == 0);
	at = strstr(text, "</sizes>\n");
	CHECK(at != NULL && strstr(at, "</heap>\n") != NULL && strstr(at, "\n</malloc>\n") != NULL);
	/* The totals of the only heap, then those of the whole. */
	for (n = 0; n < 2; n++) {
		at = strstr(at, "<total type=\"fast\" count=\"0\" size=\"0\"/>\n<total type=\"rest\"");
		CHECK(at != NULL);
		if (at == NULL)
			return;
		CHECK(sscanf(strstr(at, "\"rest\""), "\"rest\" count=\"%zu\" size=\"%zu\"/>", &rest[0],
			     &rest[1]) == 2);
		CHECK(sscanf(strstr(at, "<system"),
			     "<system type=\"current\" size=\"%zu\"/>\n<system type=\"max\" size=\"%zu\"/>",
			     &system[0], &system[1]) == 2);
		CHECK(strstr(at, "<aspace type=\"total\"") != NULL);
		CHECK(rest[0] == sum->count && rest[1] >= sum->total && rest[1] <= system[0]);
		CHECK(system[1] >= system[0] && system[0] >= sum->bytes);
		CHECK(system[0] >= f->arena + f->hblkhd && system[0] <= f->arena + f->hblkhd + (f->hblks << 21));
		CHECK(rest[1] == system[0] - f->uordblks - f->hblkhd && rest[0] <= f->ordblks && (f->keepcost != 0) == (rest[0] != f->ordblks));
		at++;
	}
}

static void in_xml(void)
{
	static void *blocks[3000], *large;
	struct row before, now, sum;
	struct figures f;
	unsigned i;

	read_xml(200, &before, &sum, &f);
	for (i = 0; i < 3000; i++)
		blocks[i] = malloc(200);
	read_xml(200, &now, &sum, &f);
	CHECK(now.taken == before.taken + 3000 && now.slots >= now.taken && now.to < 230);
	for (i = 0; i < 3000; i += 3)
		free(blocks[i]);
	read_xml(200, &now, &sum, &f);
	CHECK(now.taken == before.taken + 2000 && now.count >= 1000);
	large = malloc(7000000);
	read_xml(7000000, &now, &sum, &f);
	CHECK(now.slots >= 1 && now.taken == now.slots && now.bytes >= 7000000);
	for (i = 0; i < 3000; i++)
		if (i % 3 != 0)
			free(blocks[i]);
	free(large);
}

/* A cancellation is pending and enabled: none of these calls may act on it. */
static volatile int survived;

static void *cancelled(void *file)
{
	void *p, *q = NULL;

	pthread_cancel(pthread_self());
	malloc_stats();
	survived++;
	CHECK(malloc_info(0, file) == 0);
	survived++;
	(void)figures();
	(void)short_figures();
	p = realloc(malloc(100), 5000000);
	free(reallocarray(p, 3, 3000000));
	free(calloc(10, 300000));
	if (posix_memalign(&q, 64, 100) == 0)
		free(q);
	free(memalign(4096, 10000));
	free(valloc(1));
	free(pvalloc(1));
	CHECK(mallopt(1, 1) == 1);
	(void)malloc_trim(0);
	survived++;
	pthread_testcancel();
	survived = 0;
	return NULL;
}

static void no_cancellation_point(void)
{
	FILE *file = fopen("/dev/null", "w");
	void *result = NULL;
	pthread_t t;

	CHECK(file != NULL && setvbuf(file, NULL, _IONBF, 0) == 0);
	CHECK(pthread_create(&t, NULL, cancelled, file) == 0 && pthread_join(t, &result) == 0);
	CHECK(survived == 3 && result == PTHREAD_CANCELED);
	fclose(file);
}

int main(void)
{
	figures_add_up();
	in_xml();
	no_cancellation_point();
	puts(failures == 0 ? "the figures agree" : "they do not");
	return failures != 0;
}
