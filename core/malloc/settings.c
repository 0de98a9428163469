/* SPDX-License-Identifier: MIT */
/*
 * Settings without code: the environment variable ASHLAR, and mallopt.
 *
 *	ASHLAR=retain:64M,huge:off,cap:2G,stats
 *
 * The variable is read once, before the program's own constructors.  Earlier allocations have the settings of
 * ash_defaults.  Programs that gain rights at their start (setuid) ignore the variable.
 */
#include "facade.h"

/* Symbols of the C library.  Without a C library there is no environment, and no variable. */
extern IF_PRESENT char **__environ;
IF_PRESENT unsigned long getauxval(unsigned long type);

/* glibc's parameters, by glibc's names; each number from the first to the last is a parameter, except 0. */
enum { ARENA_MAX = -8, TRIM_THRESHOLD = -1, KEEP = 4 };
#define SECURE 23 /* AT_SECURE */

enum setting_kind { SETTING_BYTES, SETTING_HUGE, SETTING_SPARSE, SETTING_STATS };
static const struct setting {
	char name[8];
	unsigned char kind, at; /* at: the place in struct ash_defaults */
} settings[] = {
	{"cap", SETTING_BYTES, offsetof(struct ash_defaults, cap)},
	{"retain", SETTING_BYTES, offsetof(struct ash_defaults, retain)},
	{"huge", SETTING_HUGE, 0},
	{"sparse", SETTING_SPARSE, 0},
	{"stats", SETTING_STATS, 0},
};
/* The names, indexed by enum ash_huge. */
static const char huge_names[][9] = {"default", "off", "on", "populate"};

static bool stats_at_exit;

/* Returns whether the text from `at` to `end` is this word. */
static bool is_word(const char *at, const char *end, const char *word)
{
	while (at < end && *at == *word)
		at++, word++;
	return at == end && *word == '\0';
}

/* Reads a number of bytes such as 64M.  Returns false if the text is no number, or a number larger than any memory. */
static bool bytes_read(const char *at, const char *end, size_t *out)
{
	static const char units[] = "KMGT";
	unsigned shift = 0, i;
	size_t n = 0;

	if (at == end)
		return false;
	for (i = 0; i < sizeof units - 1; i++)
		if ((end[-1] & ~('a' - 'A')) == units[i])
			shift = 10 * (i + 1);
	end -= shift != 0;
	if (at == end)
		return false;
	for (; at < end; at++)
		if (*at < '0' || *at > '9' || __builtin_mul_overflow(n, (size_t)10, &n) ||
		    __builtin_add_overflow(n, (size_t)(*at - '0'), &n))
			return false;
	if (n << shift >> shift != n)
		return false;
	*out = n << shift;
	return true;
}

static bool huge_read(const char *at, const char *end, enum ash_huge *out)
{
	unsigned i;

	for (i = 0; i < sizeof huge_names / sizeof *huge_names; i++)
		if (is_word(at, end, huge_names[i])) {
			*out = (enum ash_huge)i;
			return true;
		}
	return false;
}

static bool setting_has_value(const struct setting *s)
{
	return s->kind == SETTING_BYTES || s->kind == SETTING_HUGE;
}

/*
 * Sets a setting.  `value` is the text behind the colon, or NULL if there is no colon.  Returns false and sets
 * nothing if the value is not understood.
 */
static bool setting_set(const struct setting *s, const char *value, const char *end)
{
	struct ash_defaults *own = ash_own_settings();

	if (setting_has_value(s) != (value != NULL))
		return false;
	switch (s->kind) {
	case SETTING_BYTES:
		return bytes_read(value, end, (size_t *)(void *)((char *)own + s->at));
	case SETTING_HUGE:
		return huge_read(value, end, &own->huge);
	case SETTING_SPARSE:
		own->sparse = 1;
		return true;
	default:
		stats_at_exit = true;
		return true;
	}
}

/* Reads one setting between commas.  Returns whether it is understood or empty. */
static bool setting_read(const char *at, const char *end)
{
	const char *colon = at;
	unsigned i;

	while (colon < end && *colon != ':')
		colon++;
	for (i = 0; i < sizeof settings / sizeof *settings; i++)
		if (is_word(at, colon, settings[i].name) &&
		    setting_set(&settings[i], colon < end ? colon + 1 : NULL, end))
			return true;
	return at == end;
}

char *facade_add_printed(char *to, const char *last, const char *at, const char *end)
{
	for (; at < end && to + 4 <= last; at++)
		if (*at >= ' ' && *at <= '~' && *at != '\\') {
			*to++ = *at;
		} else {
			to = facade_add(to, (unsigned char)*at < 16 ? "\\x0" : "\\x");
			to = text_add_number(to, (unsigned char)*at, 16);
		}
	return to;
}

/* The line names the words that are understood. */
static void settings_refuse(const char *at, const char *end)
{
	char text[192], *to = facade_add(text, "ashlar: not understood in ASHLAR: ");
	unsigned i;

	to = facade_add_printed(to, text + 128, at, end);
	for (i = 0; i < sizeof settings / sizeof *settings; i++) {
		to = facade_add(to, i == 0 ? " (known: " : " ");
		to = facade_add(to, settings[i].name);
		to = facade_add(to, setting_has_value(&settings[i]) ? ":" : "");
	}
	to = facade_add(to, ")\n");
	ash_say(text, (size_t)(to - text));
}

/* Returns whether the value is a path and therefore has no settings: some scripts call a folder ASHLAR. */
static bool is_path(const char *value)
{
	while (*value != '\0' && *value != ':' && *value != ',' && *value != '/')
		value++;
	return *value == '/';
}

/* Sets all settings that are understood.  Reports only the first unknown word, because a long value would fill a log. */
static void settings_set(const char *at)
{
	const char *end, *wrong = NULL, *wrong_end = NULL;

	do {
		for (end = at; *end != '\0' && *end != ','; end++)
			;
		if (!setting_read(at, end) && wrong == NULL)
			wrong = at, wrong_end = end;
		at = end + 1;
	} while (*end != '\0');
	if (wrong != NULL)
		settings_refuse(wrong, wrong_end);
}

/* Returns whether the process has, or may have, rights that its starter has not. */
static bool is_secure(char **environment)
{
	const unsigned long *auxiliary;

	if (getauxval != NULL)
		return getauxval(SECURE) != 0;
	/*
	 * getauxval is linked into a static program only if the program calls it.  The kernel's words follow the
	 * kernel's environment, on the first thread's stack; an earlier constructor may have made another environment
	 * elsewhere.
	 */
	if ((uintptr_t)environment < (uintptr_t)__builtin_frame_address(0))
		return true;
	while (*environment++ != NULL)
		;
	for (auxiliary = (const unsigned long *)(void *)environment; auxiliary[0] != 0; auxiliary += 2)
		if (auxiliary[0] == SECURE)
			return auxiliary[1] != 0;
	return true;
}

static void settings_read(void)
{
	static const char name[] = "ASHLAR=";
	char **each = &__environ != NULL ? __environ : NULL;
	const char *at, *end;

	if (each == NULL || is_secure(each))
		return;
	for (; *each != NULL; each++) {
		for (at = *each, end = name; *end != '\0' && *at == *end; at++)
			end++;
		if (*end != '\0')
			continue;
		if (!is_path(at))
			settings_set(at);
		return;
	}
}

static void settings_end(void)
{
	if (stats_at_exit && ash_may_say())
		malloc_stats();
}

/* These have sections of their own, which a linker script of a program without a C library leaves out (linker.ld). */
static void (*settings_begins)(void) __attribute__((used, section(".init_array.ashlar"))) = settings_read;
static void (*settings_ends)(void) __attribute__((used, section(".fini_array.ashlar"))) = settings_end;

/*
 * M_TRIM_THRESHOLD: the number of free bytes that stay.  A quarter of ash_defaults.retain stays, so `retain` is four times
 * this number; negative means all bytes.  glibc's other parameters have no effect, and the result is not 0, because
 * programs take 0 for an error.  Like glibc's, the call is for the first thread, at the start.
 */
int mallopt(int parameter, int value)
{
	if (parameter == TRIM_THRESHOLD)
		ash_own_settings()->retain = value < 0 ? SIZE_MAX : (size_t)value * 4;
	return parameter >= ARENA_MAX && parameter <= KEEP && parameter != 0;
}
