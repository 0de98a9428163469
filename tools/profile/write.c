/* SPDX-License-Identifier: MIT */
/*
 * The file: gperftools' legacy format of heap profiles, which both pprofs read.  A line for each
 * site has raw samples; pprof makes estimates of them, by the distance in the first line.  As all
 * blocks of a line have the same size, below 1 MiB, these are exact in the mean.
 */
#include "profile.h"

enum { O_RDONLY = 0, O_WRONLY = 1, O_CREAT = 0100, O_EXCL = 0200, O_CLOEXEC = 02000000 };
enum { NO_CANCEL = 1 }; /* PTHREAD_CANCEL_DISABLE */

IF_PRESENT int open(const char *path, int flags, ...);
IF_PRESENT long read(int fd, void *out, size_t size);
IF_PRESENT long write(int fd, const void *text, size_t size);
IF_PRESENT int close(int fd);
IF_PRESENT int getpid(void);
IF_PRESENT int pthread_setcancelstate(int state, int *old);

struct out {
	int fd;
	bool failed;
	size_t length;
	char text[1024];
};

static void flush(struct out *o)
{
	const char *at = o->text;

	while (o->length > 0 && !o->failed) {
		long n = write(o->fd, at, o->length);

		o->failed = n <= 0; /* also if a handler interrupted it: signals restart calls */
		if (n > 0) {
			at += n;
			o->length -= (size_t)n;
		}
	}
	o->length = 0;
}

static void put(struct out *o, const char *text)
{
	for (; *text != '\0'; text++) {
		if (o->length == sizeof o->text)
			flush(o);
		o->text[o->length++] = *text;
	}
}

static void put_number(struct out *o, uint64_t n, unsigned base)
{
	char digits[24], *at = digits + sizeof digits - 1;

	*at = '\0';
	do
		*--at = "0123456789abcdef"[n % base];
	while ((n /= base) != 0);
	put(o, at);
}

/* LIVE: BYTES [ALL: BYTES] @ */
static void put_figures(struct out *o, const struct figures *s)
{
	put_number(o, s->live, 10);
	put(o, ": ");
	put_number(o, s->live_bytes, 10);
	put(o, " [");
	put_number(o, s->all, 10);
	put(o, ": ");
	put_number(o, s->all_bytes, 10);
	put(o, "] @");
}

/* Of a site, at this moment. */
static struct figures figures(const struct site *s)
{
	struct figures now;

	now.all = __atomic_load_n(&s->now.all, __ATOMIC_RELAXED);
	now.all_bytes = __atomic_load_n(&s->now.all_bytes, __ATOMIC_RELAXED);
	now.live = __atomic_load_n(&s->now.live, __ATOMIC_RELAXED);
	now.live_bytes = __atomic_load_n(&s->now.live_bytes, __ATOMIC_RELAXED);
	return now;
}

static void put_sites(struct out *o, size_t distance)
{
	struct figures sum = {0};
	const struct site *s;
	uint32_t place = 0;

	while ((s = site_next(&place)) != NULL) {
		struct figures now = figures(s);

		sum.all += now.all;
		sum.all_bytes += now.all_bytes;
		sum.live += now.live;
		sum.live_bytes += now.live_bytes;
	}
	put(o, "heap profile: ");
	put_figures(o, &sum);
	put(o, " heap_v2/");
	put_number(o, distance, 10);
	put(o, "\n");
	for (place = 0; (s = site_next(&place)) != NULL;) {
		struct figures now = figures(s);

		if (now.all == 0)
			continue;
		put_figures(o, &now);
		for (unsigned i = 0; i < s->depth; i++) {
			put(o, " 0x");
			put_number(o, s->stack[i], 16);
		}
		put(o, "\n");
	}
	if (sites_lost != 0) {
		put(o, "# samples for which there was no room: ");
		put_number(o, sites_lost, 10);
		put(o, "\n");
	}
}

/* Where the code is: pprof names functions by this. */
static void put_mappings(struct out *o)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char text[512 + 1];
	long n;

	put(o, "\nMAPPED_LIBRARIES:\n");
	if (fd < 0)
		return;
	while ((n = read(fd, text, sizeof text - 1)) > 0) {
		text[n] = '\0';
		put(o, text);
	}
	(void)close(fd);
}

static int create(const char *prefix)
{
	static unsigned number;
	struct out name = {.fd = -1};

	for (; *prefix != '\0' && name.length < sizeof name.text - 64; prefix++)
		name.text[name.length++] = *prefix;
	if (*prefix != '\0')
		return -1;
	put(&name, ".");
	put_number(&name, (uint64_t)getpid(), 10);
	put(&name, ".");
	put_number(&name, __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED), 10);
	put(&name, ".heap");
	name.text[name.length] = '\0';
	return open(name.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

bool write_profile(const char *prefix, size_t distance)
{
	struct out o = {.fd = -1};
	int state = 0;

	if (open == NULL || read == NULL || write == NULL || close == NULL || getpid == NULL)
		return false;
	/* These calls are cancellation points: a cancelled thread must not end here. */
	if (pthread_setcancelstate != NULL)
		(void)pthread_setcancelstate(NO_CANCEL, &state);
	o.fd = create(prefix);
	o.failed = o.fd < 0;
	if (!o.failed) {
		put_sites(&o, distance);
		put_mappings(&o);
		flush(&o);
		(void)close(o.fd);
	}
	if (pthread_setcancelstate != NULL)
		(void)pthread_setcancelstate(state, NULL);
	return !o.failed;
}
