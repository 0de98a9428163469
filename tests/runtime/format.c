/* SPDX-License-Identifier: MIT */
/*
 * A small printf: %s %c %d %i %u %x %p %% with h, l, ll, z; flags - and 0;
 * width and precision, also as *; and %.Nf up to 9 places.  Output that does not
 * fit is truncated.  No allocation and no state, so it works in signal handlers.
 */
#include "rt.h"

struct sink {
	char *out;
	size_t used, room; /* room: without the final NUL */
};

struct spec {
	bool left, zeros;
	int width;
	int precision; /* -1: none given */
	int longs;     /* 0: int, else 64 bits */
};

static void put(struct sink *s, char c)
{
	if (s->used < s->room)
		s->out[s->used++] = c;
}

static void put_padding(struct sink *s, char c, long n)
{
	for (; n > 0; n--)
		put(s, c);
}

/* One field: padding, sign and text, in the order that the flags demand. */
static void put_field(struct sink *s, const struct spec *spec, const char *sign, const char *text,
		      size_t length)
{
	long padding = spec->width - (long)(rt_strlen(sign) + length);

	if (!spec->left && !spec->zeros)
		put_padding(s, ' ', padding);
	while (*sign != '\0')
		put(s, *sign++);
	if (!spec->left && spec->zeros)
		put_padding(s, '0', padding);
	for (size_t i = 0; i < length; i++)
		put(s, text[i]);
	if (spec->left)
		put_padding(s, ' ', padding);
}

/* Writes the digits of value so that they end before `end`; returns their start. */
static char *digits(char *end, uint64_t value, unsigned base, unsigned least)
{
	char *start = end;

	for (; value != 0 || least > 0; value /= base) {
		*--start = "0123456789abcdef"[value % base];
		if (least > 0)
			least--;
	}
	return start;
}

static void put_number(struct sink *s, const struct spec *spec, const char *sign, uint64_t value,
		       unsigned base)
{
	char text[24];
	char *end = text + sizeof(text), *start = digits(end, value, base, 1);

	put_field(s, spec, sign, start, (size_t)(end - start));
}

/* Fixed point, rounded half up.  Values of 1e18 and more are printed as ">=1e18". */
static void put_double(struct sink *s, const struct spec *spec, double value)
{
	unsigned places = spec->precision < 0 ? 6 : (unsigned)spec->precision;
	const char *sign = value < 0 ? "-" : "";
	char text[40], *end = text + sizeof(text), *start = end;
	uint64_t scale = 1, whole, fraction;

	if (places > 9)
		places = 9;
	if (value < 0)
		value = -value;
	if (!(value < 1e18)) {
		bool number = value >= 1e18;
		struct spec plain = *spec;

		plain.zeros = false;
		put_field(s, &plain, sign, number ? ">=1e18" : "nan", number ? 6 : 3);
		return;
	}
	for (unsigned i = 0; i < places; i++)
		scale *= 10;
	whole = (uint64_t)value;
	fraction = (uint64_t)((value - (double)whole) * (double)scale + 0.5);
	if (fraction >= scale) {
		whole++;
		fraction -= scale;
	}
	if (places > 0) {
		start = digits(start, fraction, 10, places);
		*--start = '.';
	}
	start = digits(start, whole, 10, 1);
	put_field(s, spec, sign, start, (size_t)(end - start));
}

static void put_string(struct sink *s, const struct spec *spec, const char *text)
{
	size_t length = 0, limit = spec->precision < 0 ? SIZE_MAX : (size_t)spec->precision;

	if (text == NULL)
		text = "(null)";
	while (length < limit && text[length] != '\0')
		length++;
	put_field(s, spec, "", text, length);
}

static const char *parse_int(const char *f, int *value)
{
	for (*value = 0; *f >= '0' && *f <= '9'; f++)
		*value = *value * 10 + (*f - '0');
	return f;
}

/* va_list is an array type; inside a struct it can be passed by address. */
struct arguments {
	va_list list;
};

static const char *parse_spec(const char *f, struct spec *spec, struct arguments *a)
{
	*spec = (struct spec){.precision = -1};
	for (; *f == '-' || *f == '0'; f++) {
		spec->left |= *f == '-';
		spec->zeros |= *f == '0';
	}
	if (*f == '*') {
		spec->width = va_arg(a->list, int);
		f++;
	} else {
		f = parse_int(f, &spec->width);
	}
	if (f[0] == '.' && f[1] == '*') {
		spec->precision = va_arg(a->list, int);
		f += 2;
	} else if (f[0] == '.') {
		f = parse_int(f + 1, &spec->precision);
	}
	for (; *f == 'l' || *f == 'z' || *f == 'h'; f++)
		spec->longs |= *f != 'h';
	return f;
}

static void put_spec(struct sink *s, const struct spec *spec, char kind, struct arguments *a)
{
	int64_t number;
	char c;

	switch (kind) {
	case 'd':
	case 'i':
		number = spec->longs ? va_arg(a->list, int64_t) : va_arg(a->list, int);
		put_number(s, spec, number < 0 ? "-" : "",
			   number < 0 ? -(uint64_t)number : (uint64_t)number, 10);
		break;
	case 'u':
	case 'x':
		put_number(s, spec, "",
			   spec->longs ? va_arg(a->list, uint64_t) : va_arg(a->list, unsigned),
			   kind == 'x' ? 16 : 10);
		break;
	case 'p':
		put_number(s, spec, "0x", (uintptr_t)va_arg(a->list, void *), 16);
		break;
	case 'f':
		put_double(s, spec, va_arg(a->list, double));
		break;
	case 's':
		put_string(s, spec, va_arg(a->list, const char *));
		break;
	case 'c':
		c = (char)va_arg(a->list, int);
		put_field(s, spec, "", &c, 1);
		break;
	default: /* %%, and unknown letters, which are printed unchanged */
		put(s, kind);
	}
}

size_t rt_vformat(char *out, size_t size, const char *format, va_list list)
{
	struct sink s = {.out = out, .room = size - 1};
	struct arguments a;
	struct spec spec;

	if (size == 0)
		return 0;
	va_copy(a.list, list);
	for (; *format != '\0'; format++) {
		if (*format != '%') {
			put(&s, *format);
			continue;
		}
		format = parse_spec(format + 1, &spec, &a);
		if (*format == '\0')
			break;
		put_spec(&s, &spec, *format, &a);
	}
	va_end(a.list);
	out[s.used] = '\0';
	return s.used;
}

size_t rt_format(char *out, size_t size, const char *format, ...)
{
	va_list list;
	size_t length;

	va_start(list, format);
	length = rt_vformat(out, size, format, list);
	va_end(list);
	return length;
}
