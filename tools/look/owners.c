/* SPDX-License-Identifier: MIT */
/* Owner records, and the threads that hold them. */
#include <ashlar.h>

#include "picture.h"

enum { OWNERS_MAX = 1 << 20 };

struct owner *owner_find(const struct picture *p, uint64_t at)
{
	size_t low = 0, high = p->owner_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (p->owners[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->owner_count && p->owners[low].at == at ? &p->owners[low] : NULL;
}

static void sort_owners(struct owner *o, size_t n)
{
	size_t gap, i, j;

	for (gap = n / 2; gap > 0; gap /= 2)
		for (i = gap; i < n; i++) {
			struct owner x = o[i];

			for (j = i; j >= gap && o[j - gap].at > x.at; j -= gap)
				o[j] = o[j - gap];
			o[j] = x;
		}
}

void owners_read(struct picture *p, uint32_t heap)
{
	const struct heap *h = &p->heaps[heap];
	const struct layout *l = picture_layout(p, h);
	/* All members in question lie in the record's first bytes, or it is read as a whole. */
	size_t bytes = l->field[ASH_owner_bytes], most = 0, i;
	static const enum ash_field used[] = {ASH_owner_next, ASH_owner_heap, ASH_owner_state,
					      ASH_owner_identity};
	uint64_t at = h->owners_at;
	char *record;
	size_t n;

	for (i = 0; i < sizeof used / sizeof used[0]; i++) {
		size_t end = ASH_MEMBER_OFFSET(l->field[used[i]]) + ASH_MEMBER_BYTES(l->field[used[i]]);

		most = end > most ? end : most;
	}
	record = ash_alloc(bytes);
	if (record == NULL) {
		p->no_memory = true;
		return;
	}
	for (n = 0; at != 0 && n < OWNERS_MAX && ROOM(p, owner, 1); n++) {
		struct owner *o = &p->owners[p->owner_count];

		if (!source_read(p->source, at, record, most) ||
		    member(l, record, ASH_owner_heap) != h->at) {
			picture_damaged(p, "an owner record", at);
			break;
		}
		memset(o, 0, sizeof *o);
		o->at = at;
		o->heap = heap;
		o->state = member(l, record, ASH_owner_state);
		o->identity = member(l, record, ASH_owner_identity);
		p->owner_count++;
		at = member(l, record, ASH_owner_next);
	}
	if (n == OWNERS_MAX)
		picture_damaged(p, "a list of owner records has no end,", at);
	ash_release(record);
	sort_owners(p->owners, p->owner_count);
	/* A list that comes back to itself: each record counts once. */
	for (n = i = 0; i < p->owner_count; i++)
		if (n == 0 || p->owners[n - 1].at != p->owners[i].at)
			p->owners[n++] = p->owners[i];
	if (n != p->owner_count)
		picture_damaged(p, "an owner record is in two places,", 0);
	p->owner_count = n;
}

/* ---- who they are ---- */

struct thread {
	int tid, inner; /* as the process itself knows it, in its namespace */
	char name[20];
};

struct threads {
	const char *folder;
	struct thread *list;
	size_t count, room;
	int process; /* its own number in its namespace */
};

/* The last number of a line "NSpid:	4711	17". */
static int last_number(const char *line)
{
	int value = 0;

	for (; *line != '\n' && *line != '\0'; line++) {
		if (*line < '0' || *line > '9')
			continue;
		value = (line[-1] < '0' || line[-1] > '9') ? 0 : value;
		value = value * 10 + (*line - '0');
	}
	return value;
}

static void thread_status(const char *path, int tid, struct thread *t)
{
	char text[4096];
	char *line;
	size_t i;

	*t = (struct thread){tid, tid, ""};
	if (rt_read_file(path, text, sizeof text) <= 0)
		return;
	line = rt_strstr(text, "Name:\t");
	if (line != NULL)
		for (i = 0; i + 1 < sizeof t->name && line[6 + i] != '\n' && line[6 + i] != '\0'; i++)
			t->name[i] = line[6 + i];
	line = rt_strstr(text, "\nNSpid:");
	if (line != NULL)
		t->inner = last_number(line + 1);
}

static void see_thread(void *context, const char *name)
{
	struct threads *t = context;
	struct thread *larger;
	char path[128];
	int tid = 0;
	const char *digit;

	for (digit = name; *digit >= '0' && *digit <= '9'; digit++)
		tid = tid * 10 + (*digit - '0');
	if (tid == 0)
		return;
	if (t->count == t->room) {
		larger = ash_resize(t->list, (t->room * 2 + 64) * sizeof *larger);
		if (larger == NULL)
			return;
		t->list = larger;
		t->room = t->room * 2 + 64;
	}
	rt_format(path, sizeof path, "%s/%d/status", t->folder, tid);
	thread_status(path, tid, &t->list[t->count++]);
}

static void owner_holder(const struct picture *p, struct owner *o, const struct threads *t)
{
	const struct layout *l = picture_layout(p, &p->heaps[o->heap]);
	bool shared = p->heaps[o->heap].shared;
	uint64_t id = shared ? o->state >> l->field[ASH_holder_shift] & l->field[ASH_life_id]
			     : o->identity & UINT32_MAX;
	struct thread one;
	char path[64];
	size_t i;

	if (o->state == 0) {
		o->is = OWNER_VACANT;
		return;
	}
	o->guest = (o->state & l->field[ASH_holder_guest]) != 0;
	o->is = OWNER_UNKNOWN;
	if (id == 0)
		return;
	o->tid = (int)id;
	if (shared && p->source->kind != SOURCE_CORE) { /* a thread of any process of the system */
		rt_format(path, sizeof path, "/proc/%d/status", o->tid);
		thread_status(path, o->tid, &one);
		memcpy(o->name, one.name, sizeof o->name);
		o->is = one.name[0] != '\0' ? OWNER_LIVES : OWNER_ENDED;
		return;
	}
	o->pid = (int)(o->identity >> 32);
	if (!shared && o->pid != t->process)
		return; /* from before a fork */
	o->is = OWNER_ENDED;
	for (i = 0; i < t->count; i++)
		if (t->list[i].inner == o->tid) {
			o->is = OWNER_LIVES;
			o->tid = t->list[i].tid;
			memcpy(o->name, t->list[i].name, sizeof o->name);
		}
}

/*
 * A record that was taken while the process had one thread does not know its holder (forks are
 * not watched yet).  If there is one such record, and the first thread has no other, it is
 * likely the first thread's; certain, if there is no other thread.
 */
static void owner_guess(const struct picture *p, uint32_t heap, const struct threads *t)
{
	struct owner *one = NULL;
	size_t i, first = t->count;

	if (p->heaps[heap].shared)
		return;
	for (i = 0; i < t->count; i++)
		if (t->list[i].tid == p->source->pid)
			first = i;
	for (i = 0; i < p->owner_count; i++) {
		struct owner *o = &p->owners[i];

		if (o->heap != heap || o->is == OWNER_VACANT)
			continue;
		if (o->tid == p->source->pid || (o->identity == 0 && one != NULL))
			return;
		if (o->identity == 0)
			one = o;
	}
	if (one == NULL || first == t->count)
		return;
	one->is = t->count == 1 ? OWNER_LIVES : OWNER_LIKELY;
	one->tid = t->list[first].tid;
	memcpy(one->name, t->list[first].name, sizeof one->name);
}

void owners_name(struct picture *p)
{
	struct source *s = p->source;
	struct threads t = {NULL, NULL, 0, 0, s->pid};
	struct thread self;
	char path[64];
	size_t i;

	if (s->kind == SOURCE_PROCESS) {
		rt_format(path, sizeof path, "/proc/%d/status", s->pid);
		thread_status(path, s->pid, &self);
		t.process = self.inner;
		rt_format(path, sizeof path, "/proc/%d/task", s->pid);
		t.folder = path;
		(void)rt_list(path, see_thread, &t);
	} else if (s->kind == SOURCE_CORE) {
		t.list = ash_zalloc(s->tid_count + 1, sizeof *t.list);
		for (i = 0; t.list != NULL && i < s->tid_count; i++)
			t.list[t.count++] = (struct thread){s->tids[i], s->tids[i], ""};
	}
	for (i = 0; i < p->owner_count; i++)
		owner_holder(p, &p->owners[i], &t);
	for (i = 0; i < p->heap_count; i++)
		owner_guess(p, (uint32_t)i, &t);
	ash_release(t.list);
}
