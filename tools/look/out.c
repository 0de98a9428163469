/* SPDX-License-Identifier: MIT */
#include "out.h"

#include "outside.h"

static char buffer[1 << 16];
static size_t used;
static bool failed;

static void flush(void)
{
	if (used > 0 && !failed)
		failed = !rt_write(1, buffer, used);
	used = 0;
}

void out(const char *format, ...)
{
	va_list list;

	if (sizeof buffer - used < 4096)
		flush();
	va_start(list, format);
	used += rt_vformat(buffer + used, sizeof buffer - used, format, list);
	va_end(list);
}

void out_name(const char *text)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;
		bool plain = c >= ' ' && c < 127 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';

		out("%c", plain ? c : '?');
	}
}

bool out_end(void)
{
	flush();
	return !failed;
}

static const char *format_bytes(uint64_t bytes, const char *format)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	static char texts[8][32];
	static unsigned next;
	char *text = texts[next++ % 8], number[32];
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 1000 && unit < 4) {
		value /= 1024;
		unit++;
	}
	rt_format(number, sizeof number, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
	rt_format(text, sizeof texts[0], format, number);
	return text;
}

const char *bytes_wide(uint64_t bytes)
{
	return format_bytes(bytes, "%10s");
}

const char *bytes_text(uint64_t bytes)
{
	return format_bytes(bytes, "%s");
}
