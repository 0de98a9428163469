/* SPDX-License-Identifier: MIT */
/* Advice is believed only of the memory that it was given for: not of what came to its place. */
#include "backend/region.h"
#include "rt.h"

static void needs_huge_pages(void)
{
	char text[64];

	if (rt_under_qemu())
		rt_skip("huge pages are the emulator's business");
	if (rt_read_file("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof(text)) <= 0 ||
	    rt_strstr(text, "[never]") != NULL)
		rt_skip("this machine has no transparent huge pages");
}

static uint64_t number(const char **at)
{
	uint64_t n = 0;

	for (;; (*at)++) {
		unsigned digit = **at >= 'a' ? (unsigned)(**at - 'a') + 10 : (unsigned)(**at - '0');

		if (digit >= 16)
			return n;
		n = n * 16 + digit;
	}
}

/* Bytes of the range whose mapping has the flag ("hg": advised to be huge). */
static size_t flagged(const void *p, size_t bytes, const char *flag)
{
	static char text[1 << 20];
	uintptr_t from = 0, to = 0, low = (uintptr_t)p, high = low + bytes;
	const char *at = text, *end;
	size_t sum = 0;

	CHECK(rt_read_file("/proc/self/smaps", text, sizeof(text)) > 0);
	for (; *at != 0; at = end + 1) {
		const char *line = at;
		uintptr_t first = number(&at);

		end = rt_strstr(at, "\n");
		if (*at == '-' && at > line) {
			at++;
			from = first > low ? first : low;
			to = number(&at);
			to = to < high ? to : high;
		} else if (rt_strstr(line, "VmFlags:") == line && from < to) {
			at = rt_strstr(line, flag);
			sum += at != NULL && at < end ? to - from : 0;
		}
	}
	return sum;
}

static unsigned char *written(unsigned char *p, size_t bytes)
{
	CHECK(p != NULL);
	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = 1;
	/* Advice may be given late: by an operation that finds it written. */
	for (unsigned i = 0; i < 4; i++)
		ash_release(ash_alloc(3 * MIB));
	return p;
}

/* A region is retired, and one that comes in its record's place lies in fresh memory. */
TEST(huge_in_a_region_made_anew, 20)
{
	const size_t bytes = 128 * MIB;
	size_t before, after;
	unsigned char *p;

	needs_huge_pages();
	p = written(ash_alloc(bytes), bytes);
	before = flagged(p, bytes, " hg");
	CHECK(before >= bytes / 2);
	ash_release(p);
	(void)ash_trim(0);
	CHECK(region_of(&heap_default, p) == NULL);
	p = written(ash_alloc(bytes), bytes);
	after = flagged(p, bytes, " hg");
	CHECK_EQ(after, before);
}

/* Pages that move bring the advice of the place that they come from. */
TEST(huge_where_a_block_moved_to, 20)
{
	const size_t bytes = 64 * MIB;
	unsigned char *p, *q, *target;

	needs_huge_pages();
	q = ash_alloc(bytes);
	p = ash_alloc(3 * MIB); /* too small to be huge, and in another region */
	target = written(q, bytes);
	p = written(p, 3 * MIB);
	CHECK_EQ(flagged(p, 2 * MIB, " hg"), 0);
	CHECK(flagged(target, 4 * MIB, " hg") == 4 * MIB);
	ash_release(target);
	q = ash_resize(p, bytes);
	if (q != target)
		rt_skip("the block did not move to where the other one was");
	(void)written(q, bytes);
	CHECK_EQ(flagged(q, 4 * MIB, " hg"), 4 * MIB);
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
