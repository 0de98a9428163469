/* SPDX-License-Identifier: MIT */
/* The runtime: printing, strings, and the memcpy family of the archive. */
#include "rt.h"

/* ---- printing ---- */

#define CHECK_FORMAT(expected, ...)                                                                \
	do {                                                                                       \
		char text_[80];                                                                    \
		size_t length_ = rt_format(text_, sizeof(text_), __VA_ARGS__);                     \
		CHECK_EQ(length_, sizeof(expected) - 1);                                           \
		CHECK(rt_strcmp(text_, expected) == 0);                                            \
	} while (0)

TEST(runtime_format_integers, 5)
{
	CHECK_FORMAT("0 -1 42", "%d %i %u", 0, -1, 42u);
	CHECK_FORMAT("-9223372036854775808", "%ld", INT64_MIN);
	CHECK_FORMAT("18446744073709551615", "%zu", (size_t)SIZE_MAX);
	CHECK_FORMAT("ffffffff deadbeefcafe", "%x %llx", 0xffffffffu, 0xdeadbeefcafeull);
	CHECK_FORMAT("[   42][42   ][00042][-0042]", "[%5d][%-5d][%05d][%05d]", 42, 42, 42, -42);
	CHECK_FORMAT("[  7]", "[%*d]", 3, 7);
	CHECK_FORMAT("0x10 0x0", "%p %p", (void *)16, (void *)0);
}

TEST(runtime_format_text, 5)
{
	CHECK_FORMAT("a%b", "%c%%%c", 'a', 'b');
	CHECK_FORMAT("[  abc][abc  ][ab]", "[%5s][%-5s][%.2s]", "abc", "abc", "abc");
	CHECK_FORMAT("[ab]", "[%.*s]", 2, "abc");
}

TEST(runtime_format_fractions, 5)
{
	CHECK_FORMAT("3.14 -0.5 2", "%.2f %.1f %.0f", 3.14159, -0.5, 1.75);
	CHECK_FORMAT("10.00", "%.2f", 9.999); /* the carry goes through the point */
	CHECK_FORMAT("[   1.500]", "[%8.3f]", 1.5);
	CHECK_FORMAT("0.000001", "%f", 1e-6);
	CHECK_FORMAT(">=1e18", "%.1f", 1e30);
}

TEST(runtime_format_cuts_what_does_not_fit, 5)
{
	char text[8] = "1234567";

	CHECK_EQ(rt_format(text, 4, "%s", "abcdef"), 3);
	CHECK(memcmp(text, "abc\000567", 8) == 0);
	CHECK_EQ(rt_format(text, 0, "x"), 0);
}

/* ---- strings and memory ---- */

TEST(runtime_strings, 5)
{
	char hay[] = "abcabd";

	CHECK_EQ(rt_strlen(""), 0);
	CHECK(rt_strcmp("a", "b") < 0 && rt_strcmp("b", "a") > 0 && rt_strcmp("a", "ab") < 0);
	CHECK(rt_strstr(hay, "abd") == hay + 3);
	CHECK(rt_strstr(hay, "x") == NULL && rt_strstr(hay, "abcabda") == NULL);
	CHECK(rt_strstr(hay, "") == hay);
}

TEST(runtime_memory_family_at_every_small_length, 20)
{
	static unsigned char a[600], b[600];

	for (size_t n = 0; n < 300; n++) {
		for (size_t i = 0; i < sizeof(a); i++) {
			a[i] = (unsigned char)(i * 7 + 1);
			b[i] = 0;
		}
		CHECK(memcpy(b + 3, a + 5, n) == b + 3);
		CHECK(memcmp(b + 3, a + 5, n) == 0 && b[2] == 0 && b[3 + n] == 0);
		CHECK(memmove(a + 9, a + 2, n) == a + 9); /* overlapping, to the right */
		CHECK(n == 0 || (a[9] == 15 && a[8 + n] == (unsigned char)((n + 1) * 7 + 1)));
		b[n + 1] = 1;
		CHECK(memset(b + 1, 0x5a, n) == b + 1);
		CHECK(b[0] == 0 && (n == 0 || (b[1] == 0x5a && b[n] == 0x5a)) && b[n + 1] == 1);
	}
}

/* Overlaps to both sides, and lengths beyond the one where the method changes. */
TEST(runtime_memmove_by_every_distance, 60)
{
	static unsigned char a[1400], want[1400];

	for (size_t n = 0; n < 640; n += n < 80 ? 1 : 37)
		for (int distance = -70; distance <= 70; distance++) {
			unsigned char *to = a + 400 + distance;

			for (size_t i = 0; i < sizeof(a); i++)
				want[i] = a[i] = (unsigned char)(i * 13 + i / 251);
			for (size_t i = 0; i < n; i++)
				want[400 + (size_t)distance + i] = (unsigned char)((400 + i) * 13 + (400 + i) / 251);
			CHECK(memmove(to, a + 400, n) == to);
			for (size_t i = 0; i < sizeof(a); i++)
				CHECK_EQ(a[i], want[i]);
			memset(a + 100, distance, n);
			for (size_t i = 0; i < sizeof(a); i++)
				CHECK_EQ(a[i], i >= 100 && i < 100 + n ? (unsigned char)distance : want[i]);
		}
}
