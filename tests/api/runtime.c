/* SPDX-License-Identifier: MIT */
/*
 * The runtime, where a defect would not show in another test: thread-local storage, a guard page, limits, children.
 * tests/check/runner.sh tests the lines that the runner prints.
 */
#include "rt.h"

enum { SIGSEGV = 11 };

/* ---- thread-local storage ---- */

static _Thread_local uint64_t tls_value = 0x1122334455667788;
static _Thread_local char tls_zero[24];
static _Thread_local _Alignas(64) char tls_aligned[64] = "aligned";

static bool tls_is_fresh(void)
{
	bool zero = true;

	for (size_t i = 0; i < sizeof(tls_zero); i++)
		zero = zero && tls_zero[i] == 0;
	return zero && tls_value == 0x1122334455667788 && (uintptr_t)tls_aligned % 64 == 0 &&
	       rt_strcmp(tls_aligned, "aligned") == 0;
}

static void tls_body(void *result)
{
	*(bool *)result = tls_is_fresh();
	tls_value = 1;
	memset(tls_zero, 0xff, sizeof(tls_zero));
	memset(tls_aligned, 0xff, sizeof(tls_aligned));
}

TEST(runtime_tls_is_fresh_in_every_thread, 10)
{
	CHECK(tls_is_fresh());
	for (int i = 0; i < 3; i++) {
		bool fresh = false;
		struct rt_thread *thread = NOT_NULL(rt_thread_start(tls_body, &fresh));

		rt_thread_join(thread);
		CHECK(fresh);
	}
	CHECK(tls_is_fresh()); /* the threads wrote to copies of their own */
}

/* ---- threads ---- */

/* Each level looks at the frame of its caller, so that none can be optimized away. */
static void dig(volatile char *above, int depth)
{
	volatile char frame[4096];

	frame[0] = (char)(above[0] + 1);
	if (depth > 0)
		dig(frame, depth - 1);
	above[0] = frame[0];
}

static void dig_body(void *depth)
{
	volatile char bottom = 0;

	dig(&bottom, *(int *)depth);
	*(int *)depth = bottom;
}

static void overflow_body(__attribute__((unused)) void *argument)
{
	int depth = 1000; /* times 4 KiB: far beyond the stack */

	rt_thread_join(rt_thread_start(dig_body, &depth));
}

TEST(runtime_guard_page_ends_a_deep_recursion, 10)
{
	int depth = 40;
	char text[256];

	rt_thread_join(rt_thread_start(dig_body, &depth));
	CHECK_EQ(depth, 41);
	CHECK_EQ(rt_run_child(overflow_body, NULL, text, sizeof(text)), 1000 + SIGSEGV);
}

/* ---- memory ---- */

TEST(runtime_limits_address_space, 5)
{
	if (!rt_limit_address_space(64 << 20))
		rt_skip("QEMU ignores the limit");
	CHECK(rt_map(128 << 20) == NULL);
	CHECK(rt_map(1 << 20) != NULL);
}

/* ---- processes and signals ---- */

static void talk_and_fault(void *text)
{
	rt_fprint(2, "%s\n", (const char *)text);
	*(volatile char *)1 = 1;
}

static void talk_much(__attribute__((unused)) void *argument)
{
	for (int i = 0; i < 3000; i++) /* more than a pipe holds */
		rt_fprint(2, "%063d\n", i);
}

TEST(runtime_run_child_catches_text_and_signal, 10)
{
	char text[256] = "";
	char little[64];

	CHECK_EQ(rt_run_child(talk_and_fault, "last words", text, sizeof(text)), 1000 + SIGSEGV);
	CHECK(rt_strcmp(text, "last words\n") == 0);
	CHECK_EQ(rt_run_child(talk_much, NULL, little, sizeof(little)), 0);
	CHECK_EQ(rt_strlen(little), 63);
}

static void exit_in_handler(int number, __attribute__((unused)) void *info,
			    __attribute__((unused)) void *context)
{
	rt_exit(number);
}

static void fault_with_handler(void *address)
{
	rt_signal(SIGSEGV, exit_in_handler);
	*(volatile char *)address = 1;
}

TEST(runtime_fault_reaches_the_handler, 10)
{
	char text[64];

	CHECK_EQ(rt_run_child(fault_with_handler, (void *)8, text, sizeof(text)), SIGSEGV);
}

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
