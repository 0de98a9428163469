/* SPDX-License-Identifier: MIT */
#include "profile.h"

#include "ashlar_malloc.h"
#include "ashlar_sample.h"

IF_PRESENT char *secure_getenv(const char *name);
IF_PRESENT char *getenv(const char *name);
IF_PRESENT void (*signal(int number, void (*handler)(int number)))(int);
IF_PRESENT long write(int fd, const void *text, size_t size);
IF_PRESENT int *__errno_location(void);

#define SIGNALS	      64
#define SPAN_ABOVE    ((size_t)1 << 20)
#define DISTANCE_MOST ((size_t)1 << 40)

/* Settings; constant from the start on. */
static size_t distance = ASH_SAMPLE_DISTANCE;
static char prefix[512] = "ashlar-profile";
static size_t growth; /* 0: not asked for */
static bool begun;

/* Estimates, in bytes: what is live, and from where on a profile is written. */
static uint64_t live_now, live_next;

/* A profile from a call, a signal or an allocation, which have the program's errno. */
static bool write_now(void)
{
	int error = __errno_location != NULL ? *__errno_location() : 0;
	bool written = write_profile(prefix, distance);

	if (__errno_location != NULL)
		*__errno_location() = error;
	return written;
}

/* What a sample stands for: size / (1 - exp(-size / distance)), but for a tenth. */
static uint64_t stands_for(size_t size)
{
	return size < distance ? distance + size / 2 : size;
}

/* At most one thread writes a profile for each step; relaxed: the numbers publish nothing. */
static void live_grew(size_t size)
{
	uint64_t now = __atomic_add_fetch(&live_now, stands_for(size), __ATOMIC_RELAXED);
	uint64_t next = __atomic_load_n(&live_next, __ATOMIC_RELAXED);

	if (growth != 0 && now >= next &&
	    __atomic_compare_exchange_n(&live_next, &next, now + growth, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		(void)write_now();
}

void ash_on_sample(void *p, size_t size)
{
	uintptr_t stack[STACK_MOST];
	struct site *s;
	uint32_t site;

	if (!begun)
		return;
	site = site_of(stack, stack_take(stack), size > SPAN_ABOVE ? 0 : size);
	if (site == 0 || !live_add(p, size, site)) {
		(void)__atomic_fetch_add(&sites_lost, 1, __ATOMIC_RELAXED);
		return;
	}
	s = site_at(site);
	(void)__atomic_fetch_add(&s->now.all, 1, __ATOMIC_RELAXED);
	(void)__atomic_fetch_add(&s->now.all_bytes, size, __ATOMIC_RELAXED);
	(void)__atomic_fetch_add(&s->now.live, 1, __ATOMIC_RELAXED);
	(void)__atomic_fetch_add(&s->now.live_bytes, size, __ATOMIC_RELAXED);
	live_grew(size);
}

void ash_on_sample_release(void *p)
{
	size_t size = 0;
	uint32_t site = live_remove(p, &size);
	struct site *s;

	if (site == 0)
		return;
	s = site_at(site);
	(void)__atomic_fetch_sub(&s->now.live, 1, __ATOMIC_RELAXED);
	(void)__atomic_fetch_sub(&s->now.live_bytes, size, __ATOMIC_RELAXED);
	(void)__atomic_fetch_sub(&live_now, stands_for(size), __ATOMIC_RELAXED);
}

static void say(const char *text)
{
	size_t length = 0;

	while (text[length] != '\0')
		length++;
	if (write != NULL)
		(void)!write(2, text, length);
}

static void on_signal(int number)
{
	(void)number;
	(void)write_now();
}

IF_PRESENT int ashlar_profile_dump(void)
{
	return begun && write_now();
}

/* NULL: not set, or not to be believed, as the program has the rights of another user. */
static const char *setting(const char *name)
{
	if (secure_getenv != NULL)
		return secure_getenv(name);
	return getenv != NULL ? getenv(name) : NULL;
}

/* 0: not set, no number, or too large. */
static size_t setting_number(const char *name, size_t most)
{
	const char *text = setting(name);
	size_t n = 0;

	if (text == NULL || *text == '\0')
		return 0;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' || n > most)
			return 0;
		n = n * 10 + (size_t)(*text - '0');
	}
	return n <= most ? n : 0;
}

__attribute__((constructor)) static void profile_begin(void)
{
	const char *name = setting("ASHLAR_PROFILE");
	size_t number = setting_number("ASHLAR_PROFILE_DISTANCE", DISTANCE_MOST), i;

	if (number != 0)
		distance = number;
	if (name != NULL && *name != '\0') {
		for (i = 0; name[i] != '\0' && i < sizeof prefix - 1; i++)
			prefix[i] = name[i];
		prefix[i] = '\0';
	}
	switch (stack_begin()) {
	case STACK_NONE:
		say("ashlar-profile: no libgcc_s.so.1 and no process_vm_readv, and so no profile\n");
		return;
	case STACK_FRAMES:
		say("ashlar-profile: no libgcc_s.so.1: stacks are as far as there are frame pointers\n");
		break;
	case STACK_TABLES:
		break;
	}
	growth = setting_number("ASHLAR_PROFILE_GROWTH", (size_t)1 << 62);
	live_next = growth;
	begun = true;
	ash_sample_every(distance);
	number = setting_number("ASHLAR_PROFILE_SIGNAL", SIGNALS);
	if (number != 0 && signal != NULL)
		(void)signal((int)number, on_signal);
}

__attribute__((destructor)) static void profile_end(void)
{
	if (begun && !write_profile(prefix, distance))
		say("ashlar-profile: the profile cannot be written\n");
}
