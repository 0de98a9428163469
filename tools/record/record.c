/* SPDX-License-Identifier: MIT */
/*
 * record.so: preloaded into a program that has a libc, writes what it asks
 * of malloc as a trace (tools/trace.h).
 *
 * One lock is held around the real call and the note of it, so the order of
 * the trace is the order in which things happened, whatever the threads do.
 * Only the process that opened the trace writes; a forked child compares its
 * process id and passes everything through, without the lock, which its
 * parent may have held.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "book.h"

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	void (*free)(void *);
} real;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile bool recording;
static pid_t recorder;

/* Numbered from 1 at its first call; initial-exec, since the dynamic model calls malloc. */
static __thread uint32_t thread __attribute__((tls_model("initial-exec")));
static uint32_t threads;

/*
 * dlsym may allocate before it has told us where the allocator is.  Such
 * blocks come from here, are zero, and stay.
 */
static _Alignas(16) char early[1 << 16];
static size_t early_used;

static void *early_alloc(size_t size)
{
	void *p = early + early_used;

	if (size > sizeof(early) - early_used - 16)
		abort();
	early_used += (size + 15) & ~(size_t)15;
	return p;
}

static bool is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < sizeof(early);
}

/* The first call of a process comes long before its second thread. */
static bool resolved(void)
{
	static enum { NOT, BUSY, DONE } state;

	if (__builtin_expect(state == DONE, 1))
		return true;
	if (state == BUSY)
		return false;
	state = BUSY;
	*(void **)&real.malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&real.calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real.realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&real.memalign = dlsym(RTLD_NEXT, "memalign");
	*(void **)&real.free = dlsym(RTLD_NEXT, "free");
	state = DONE;
	return true;
}

/* True: this call is to be noted, and the lock is held. */
static bool enter(void)
{
	if (!recording || getpid() != recorder)
		return false;
	pthread_mutex_lock(&lock);
	if (!recording) {
		pthread_mutex_unlock(&lock);
		return false;
	}
	if (!thread)
		thread = ++threads;
	return true;
}

static void leave(bool room)
{
	if (!room) {
		recording = false;
		book_close();
	}
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void start(void)
{
	const char *program = getenv("RECORD_PROGRAM");
	const char *events = getenv("RECORD_EVENTS");
	const char *bytes = getenv("RECORD_BYTES");
	const char *out = getenv("RECORD_OUT");

	if (!out || (program && strcmp(program, program_invocation_short_name) != 0))
		return;
	recorder = getpid();
	recording = book_open(out, bytes ? strtoull(bytes, NULL, 0) : 1000000,
			      events ? strtoull(events, NULL, 0) : UINT64_MAX);
}

__attribute__((destructor)) static void stop(void)
{
	if (enter())
		leave(false);
}

/* From here on, what the program is to find before its libc. */
#pragma GCC visibility push(default)

/* Runs no destructors, so the trace is closed here. */
_Noreturn void _exit(int status)
{
	stop();
	for (;;)
		syscall(SYS_exit_group, status);
}

_Noreturn void _Exit(int status)
{
	_exit(status);
}

void *malloc(size_t size)
{
	void *p;

	if (!resolved())
		return early_alloc(size);
	if (!enter())
		return real.malloc(size);
	p = real.malloc(size);
	leave(!p || book_alloc(TRACE_ALLOC, thread - 1, p, size, 0));
	return p;
}

void *calloc(size_t count, size_t size)
{
	void *p;

	if (!resolved())
		return early_alloc(count * size);
	if (!enter())
		return real.calloc(count, size);
	p = real.calloc(count, size);
	leave(!p || book_alloc(TRACE_ZALLOC, thread - 1, p, count * size, 0));
	return p;
}

void free(void *p)
{
	int saved = errno;

	if (!p || is_early(p) || !resolved())
		return;
	if (enter()) {
		bool room = book_release(thread - 1, p);

		real.free(p);
		leave(room);
	} else {
		real.free(p);
	}
	errno = saved;
}

void *realloc(void *p, size_t size)
{
	void *q;

	if (!p)
		return malloc(size);
	if (is_early(p) || !resolved()) {
		size_t rest = (size_t)(early + sizeof(early) - (char *)p);

		q = malloc(size);
		return q ? memcpy(q, p, size < rest ? size : rest) : NULL;
	}
	if (!size) { /* as glibc has it */
		free(p);
		return NULL;
	}
	if (!enter())
		return real.realloc(p, size);
	q = real.realloc(p, size);
	leave(!q || book_resize(thread - 1, p, q, size));
	return q;
}

void *reallocarray(void *p, size_t count, size_t size)
{
	if (__builtin_mul_overflow(count, size, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, size);
}

void *memalign(size_t alignment, size_t size)
{
	void *p;

	if (!resolved())
		abort();
	if (!enter())
		return real.memalign(alignment, size);
	p = real.memalign(alignment, size);
	leave(!p || book_alloc(TRACE_ALIGNED, thread - 1, p, size, alignment));
	return p;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	int saved = errno;
	void *p;

	if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
		return EINVAL;
	p = memalign(alignment, size);
	errno = saved;
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

void *valloc(size_t size)
{
	return memalign(4096, size);
}

void *pvalloc(size_t size)
{
	return memalign(4096, (size + 4095) & ~(size_t)4095);
}
