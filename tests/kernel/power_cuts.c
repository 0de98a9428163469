/* SPDX-License-Identifier: MIT */
/*
 *	power_cuts BASE LOG CUTS COUNT
 *
 * Makes COUNT disks as power failures leave them (power.h), of the disk before the first write and the log of
 * all writes.  Power fails behind a random entry of the log: of ten cuts three are right behind a mark that a
 * state is sealed, three while one is being sealed, two while the seal is broken, one while the file is made, one
 * anywhere.  What was written before the last flush is there.  Of what was written since, any pages may be,
 * whatever their order; RT_SEED chooses.  Runs on the host.
 */
#include "kernel/power_log.h"

enum { BUFFER = 128 * SECTOR, O_READ_WRITE = 2, O_CREATE = 0100, O_ANEW = 01000 };
enum { SEEK_DATA = 3, SEEK_HOLE = 4 };

static struct log log;
static struct cuts *cuts;
static struct rt_random dice;
static long base, out;
/* Of each sector of the file system: where in the log it was last written before the flush; 0: nowhere. */
static uint64_t *durable;

static void copy(long from, uint64_t at, uint64_t to, uint64_t bytes)
{
	static char buffer[BUFFER];

	while (bytes > 0) {
		size_t n = bytes < BUFFER ? (size_t)bytes : BUFFER;

		read_at(from, buffer, n, at);
		CHECK_EQ(arch_pwrite64(out, buffer, n, (long)to), n);
		at += n;
		to += n;
		bytes -= n;
	}
}

static void write_base(uint64_t to)
{
	long from = 0, hole;

	while ((from = arch_lseek(base, from, SEEK_DATA)) >= 0 && (uint64_t)from < POWER_BYTES) {
		hole = arch_lseek(base, from, SEEK_HOLE);
		CHECK(hole > from);
		if ((uint64_t)hole > POWER_BYTES)
			hole = (long)POWER_BYTES;
		copy(base, (uint64_t)from, to + (uint64_t)from, (uint64_t)(hole - from));
		from = hole;
	}
}

static void write_durable(uint64_t to)
{
	const uint64_t most = POWER_BYTES / SECTOR;
	uint64_t i, n;

	for (i = 0; i < most; i += n) {
		for (n = 1; durable[i] != 0 && i + n < most && durable[i + n] == durable[i] + n; n++)
			;
		if (durable[i] != 0)
			copy(log.fd, durable[i] * SECTOR, to + i * SECTOR, n * SECTOR);
	}
}

static void make_durable(uint64_t from, uint64_t before)
{
	for (; from < before; from++) {
		const struct written *w = &log.entry[from];

		for (uint64_t k = 0; k < w->is.sectors && w->is.sector + k < POWER_BYTES / SECTOR; k++)
			durable[w->is.sector + k] = w->at + k;
	}
}

/* Of the entry those pages that the disk had written; a page is not torn, as a disk's sector. */
static void write_some(const struct written *w, uint64_t to, struct cut *cut, unsigned eighths)
{
	uint64_t i, n;

	for (i = 0; i < w->is.sectors && w->is.sector < POWER_BYTES / SECTOR; i += n) {
		n = PIECE - (w->is.sector + i) % PIECE;
		if (n > w->is.sectors - i)
			n = w->is.sectors - i;
		cut->pieces++;
		if ((w->is.flags & LOG_THROUGH) == 0 && rt_below(&dice, 8) >= eighths)
			continue;
		cut->kept++;
		copy(log.fd, (w->at + i) * SECTOR, to + (w->is.sector + i) * SECTOR, n * SECTOR);
	}
}

static uint64_t last_flush(uint64_t before)
{
	while (before > 0 && (log.entry[before - 1].is.flags & LOG_FLUSH) == 0)
		before--;
	return before;
}

/*
 * From behind a mark to the next.  While a seal is being broken the moments that matter are the last before the disk
 * has that: what was changed by then is under the seal.
 */
static uint64_t within(enum phase phase, uint64_t at)
{
	uint64_t end = at;

	while (end < log.count && log_mark(&log, end).phase == 0 && (phase != MARK_BREAKING || !log_breaks(&log, end)))
		end++;
	if (phase == MARK_BREAKING && end - at > 4)
		at = end - 4;
	return phase == MARK_SEALED ? at : at + rt_below(&dice, end - at + 1);
}

/* Cuts between entry `from`, where the file begins to be, and the end, in order. */
static void choose(uint64_t from)
{
	static const unsigned char phases[] = {MARK_SEALED,   MARK_SEALING, MARK_BREAKING, MARK_SEALED,	 MARK_SEALING,
					       MARK_BREAKING, MARK_MAKING,  MARK_SEALED,   MARK_SEALING, 0};

	for (uint64_t i = 0; i < cuts->count; i++) {
		const enum phase phase = (enum phase)phases[i % sizeof(phases)];
		uint64_t at = from + 1 + rt_below(&dice, log.count - from), k = i;

		while (phase != 0 && log_mark(&log, at - 1).phase != (uint64_t)phase)
			at = at < log.count ? at + 1 : from + 1;
		if (phase != 0)
			at = within(phase, at);
		for (; k > 0 && cuts->cut[k - 1].entry > at; k--)
			cuts->cut[k].entry = cuts->cut[k - 1].entry;
		cuts->cut[k].entry = at;
	}
}

static void make(uint64_t i, uint64_t flushed_before)
{
	static const unsigned char eighths[] = {0, 1, 4, 7, 8};
	const uint64_t to = CUTS_BYTES + i * POWER_BYTES;
	const unsigned some = eighths[rt_below(&dice, sizeof(eighths))];
	struct cut *cut = &cuts->cut[i];
	struct mark m;
	uint64_t k;

	for (k = cut->entry; (m = log_mark(&log, k - 1)).phase == 0; k--)
		;
	cut->phase = m.phase;
	cut->state = m.state;
	cut->flushed = last_flush(cut->entry);
	make_durable(flushed_before, cut->flushed);
	write_base(to);
	write_durable(to);
	for (k = cut->flushed; k < cut->entry; k++)
		write_some(&log.entry[k], to, cut, some);
}

int main(int argc, char **argv, UNUSED char **envp)
{
	uint64_t from = 0;

	CHECK_EQ(argc, 5);
	log_read(&log, argv[2]);
	base = arch_open(argv[1], O_RDONLY, 0);
	out = arch_open(argv[3], O_READ_WRITE | O_CREATE | O_ANEW, 0600);
	CHECK(base >= 0 && out >= 0);
	cuts = NOT_NULL(rt_map(sizeof(*cuts)));
	durable = NOT_NULL(rt_map(POWER_BYTES / SECTOR * sizeof(*durable)));
	*cuts = (struct cuts){.magic = POWER_MAGIC, .count = rt_number_in(argv[4])};
	CHECK(cuts->count > 0 && cuts->count <= MOST_CUTS);
	rt_seed(&dice, rt_test_seed());
	while (log_mark(&log, from).phase != MARK_MAKING) {
		from++;
		CHECK(from < log.count);
	}
	choose(from);
	for (uint64_t i = 0; i < cuts->count; i++)
		make(i, i == 0 ? 0 : cuts->cut[i - 1].flushed);
	CHECK_EQ(arch_pwrite64(out, cuts, sizeof(*cuts), 0), sizeof(*cuts));
	CHECK_EQ(arch_ftruncate(out, (long)(CUTS_BYTES + cuts->count * POWER_BYTES)), 0);
	rt_print("     %lu cuts of a log of %lu writes and flushes, seed %lu\n", cuts->count, log.count, rt_test_seed());
	return 0;
}
