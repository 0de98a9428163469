/* SPDX-License-Identifier: MIT */
#include "source.h"

#include "core_file.h"

static bool is_number(const char *text)
{
	const char *p = text;

	while (*p >= '0' && *p <= '9')
		p++;
	return p != text && *p == '\0' && p - text < 10;
}

/* Why /proc/PID/maps cannot be opened.  With hidepid, or in another user namespace, the folder of a process may seem absent. */
static const char *refusal(const struct source *s)
{
	enum { EPERM = -1, ESRCH = -3, EACCES = -13 };

	if (s->fd == EACCES || s->fd == EPERM)
		return MAY_NOT_READ;
	switch (rt_process_asked(s->pid)) {
	case ESRCH:
		return "there is no such process";
	case EPERM:
		return MAY_NOT_READ;
	default:
		return s->fd == ESRCH ? "it has no memory (it has ended, or is the kernel's)" : "/proc/PID/maps cannot be opened";
	}
}

static const char *open_process(struct source *s)
{
	char path[64];

	rt_format(path, sizeof path, "/proc/%d/maps", s->pid);
	s->fd = rt_open(path);
	if (s->fd < 0)
		return refusal(s);
	rt_close(s->fd);
	rt_format(path, sizeof path, "/proc/%d/exe", s->pid);
	(void)rt_link_text(path, s->program, sizeof s->program);
	rt_format(path, sizeof path, "/proc/%d/mem", s->pid);
	s->fd = rt_open(path);
	return NULL;
}

const char *source_open(struct source *s, const char *what)
{
	char magic[4] = {0};

	memset(s, 0, sizeof *s);
	s->path = what;
	if (is_number(what)) {
		s->kind = SOURCE_PROCESS;
		for (; *what != '\0'; what++)
			s->pid = s->pid * 10 + (*what - '0');
		return open_process(s);
	}
	s->fd = rt_open_file(what);
	if (s->fd < 0)
		return s->fd == -22 ? "it is no ordinary file" : "it cannot be opened";
	if (rt_read_at(s->fd, magic, sizeof magic, 0) == sizeof magic &&
	    memcmp(magic, "\177ELF", 4) == 0) {
		s->kind = SOURCE_CORE;
		return core_open(s);
	}
	s->kind = SOURCE_FILE;
	return NULL;
}

static bool process_pieces(struct source *s, const struct rt_piece *pieces, size_t n)
{
	size_t i, bytes = 0;
	bool all = true;

	for (i = 0; i < n; i++)
		bytes += pieces[i].bytes;
	s->bytes += bytes;
	if (!s->by_mem) {
		int64_t got = rt_peek(s->pid, pieces, n);

		if (got == (int64_t)bytes)
			return true;
		if (got == -38 || got == -1) /* ENOSYS under an emulator, EPERM under a filter */
			s->by_mem = true;
	}
	/* One by one: what is there is read. */
	for (i = 0; i < n; i++) {
		int64_t got = -1;

		if (!s->by_mem)
			got = rt_peek(s->pid, &pieces[i], 1);
		else if (s->fd >= 0)
			got = rt_read_at(s->fd, pieces[i].to, pieces[i].bytes, pieces[i].from);
		if (got != (int64_t)pieces[i].bytes) {
			memset(pieces[i].to, 0, pieces[i].bytes);
			s->failed++;
			all = false;
		}
	}
	return all;
}

bool source_pieces(struct source *s, const struct rt_piece *pieces, size_t n)
{
	bool all = true;
	size_t i, some;

	if (s->kind == SOURCE_PROCESS) {
		for (i = 0; i < n; i += some) {
			some = n - i < RT_PIECES ? n - i : RT_PIECES;
			all &= process_pieces(s, pieces + i, some);
		}
		return all;
	}
	for (i = 0; i < n; i++) {
		const struct rt_piece *p = &pieces[i];
		bool there = s->kind == SOURCE_CORE
				     ? core_read(s, p->from, p->to, p->bytes)
				     : rt_read_at(s->fd, p->to, p->bytes, p->from - s->file_base) ==
					       (int64_t)p->bytes;

		s->bytes += p->bytes;
		if (!there) {
			memset(p->to, 0, p->bytes);
			s->failed++;
			all = false;
		}
	}
	return all;
}

bool source_read(struct source *s, uint64_t at, void *out, size_t bytes)
{
	struct rt_piece piece = {out, at, bytes};

	return source_pieces(s, &piece, 1);
}

struct stopping {
	struct source *source;
	bool more, failed;
};

static void stop_thread(void *context, const char *name)
{
	struct stopping *t = context;
	struct source *s = t->source;
	int tid = 0;
	size_t i;

	if (!is_number(name))
		return;
	for (; *name != '\0'; name++)
		tid = tid * 10 + (*name - '0');
	for (i = 0; i < s->tid_count; i++)
		if (s->tids[i] == tid)
			return;
	if (s->tid_count == THREADS_STOPPED) {
		t->failed = true;
	} else if (rt_thread_stop(tid)) {
		s->tids[s->tid_count++] = tid;
		t->more = true;
	} else {
		t->failed = true;
	}
}

bool source_stop(struct source *s)
{
	struct stopping t = {s, true, false};
	char path[64];
	unsigned tries;

	s->tids = rt_map(THREADS_STOPPED * sizeof *s->tids);
	if (s->kind != SOURCE_PROCESS || s->tids == NULL)
		return false;
	rt_format(path, sizeof path, "/proc/%d/task", s->pid);
	/* Threads that run may start others: until a round finds no new one. */
	for (tries = 0; t.more && tries < 100; tries++) {
		t.more = t.failed = false;
		if (!rt_list(path, stop_thread, &t))
			t.failed = true;
	}
	s->stopped = s->tid_count > 0 && !t.failed && !t.more;
	if (!s->stopped)
		source_go(s);
	return s->stopped;
}

void source_go(struct source *s)
{
	if (s->kind == SOURCE_PROCESS)
		while (s->tid_count > 0)
			rt_thread_go(s->tids[--s->tid_count]);
}
