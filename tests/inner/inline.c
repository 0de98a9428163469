/* SPDX-License-Identifier: MIT */
/* ash_alloc inlined from the header: the layout it knows, its blocks, handlers in it. */
#include "base/class.h"
#include "support/handler_at_step.h"
#include "thread/owner.h"

#include "ashlar_inline.h"
#include "thread/seat.h"

#undef seat /* here the object's own name, not the way to it (thread/seat.h) */

_Static_assert(offsetof(struct seat, open) == offsetof(struct ash_inline_seat, open) &&
		       offsetof(struct seat, self) == offsetof(struct ash_inline_seat, self),
	       "the seat");
_Static_assert(offsetof(struct owner, bins) == ASH_INLINE_BINS &&
		       sizeof(struct bin) == ASH_INLINE_BIN && offsetof(struct bin, word) == 0 &&
		       offsetof(struct bin, base) == 8 && ASH_INLINE_BIN / CLASS_SMALL == 8,
	       "the bins");
_Static_assert(ASH_INLINE_MOST <= SLOT_SMALL, "the classes");

TEST(inner_inline_classes, 10)
{
	size_t n;

	for (n = 0; n <= ASH_INLINE_MOST; n++) {
		CHECK_EQ(ASH_INLINE_CLASS(n), class_of(n));
		CHECK_EQ(ASH_INLINE_SIZE(n), class_size(class_of(n)));
	}
}

/* Its instructions are counted: tools/golden. */
void *inlined_64(void);
void *inlined_64(void)
{
	return ash_alloc(64);
}

#define EACH(f) f(0) f(1) f(8) f(9) f(16) f(48) f(128) f(129) f(256) f(257) f(500) f(512) f(513) f(1000) f(1024)

/* Blocks of the same slabs as those of the call, filled to the brim, all different. */
TEST(inner_inline_blocks, 20)
{
	enum { ROUNDS = 3000, SIZES = 15 };
	static char *block[2 * SIZES];
	unsigned round, i;

	for (round = 0; round < ROUNDS; round++) {
		i = 0;
#define TAKE(n)                                                                                    \
	block[i] = ash_alloc(n);                                                                   \
	CHECK_EQ(ash_usable_size(block[i]), class_size(class_of(n)));                              \
	memset(block[i], (int)(i + 1), ash_usable_size(block[i]));                                 \
	i++;                                                                                       \
	block[i] = (ash_alloc)(n);                                                                 \
	memset(block[i], (int)(i + 1), ash_usable_size(block[i]));                                 \
	i++;
		EACH(TAKE)
		while (i-- > 0) {
			size_t size = ash_usable_size(block[i]);

			CHECK_EQ(block[i][0], i + 1);
			CHECK_EQ(block[i][size - 1], i + 1);
			if (round % 3 != 0 || i % 2 != 0) /* some stay, so that slabs come and go */
				ash_release(block[i]);
		}
	}
	CHECK_EQ(ash_check(), 0);
}

static void *mine, *theirs[4];

static void take_mine(void)
{
	mine = inlined_64();
}

static void take_theirs(void)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		theirs[i] = i % 2 == 0 ? inlined_64() : (ash_alloc)(64);
}

/* A handler at each instruction, where the thread has a record and where not. */
TEST(inner_inline_handlers, 30)
{
	struct ash_statistics st;
	unsigned first, i;
	size_t k, before;
	bool more;

	step_begin(take_theirs);
	for (first = 0; first < 2; first++) {
		ash_release(ash_alloc(64));
		ash_stats(&st);
		before = st.blocks;
		more = true;
		for (k = 0; more; k += k < 200 ? 1 : 23) {
			if (first == 1)
				ash_thread_detach();
			more = with_act_at(k, take_mine);
			CHECK(seat.open == SEAT_OPEN && seat.self != owner_none);
			for (i = 0; i < 4 && more; i++) {
				CHECK(theirs[i] != mine);
				ash_release(theirs[i]);
			}
			ash_release(mine);
		}
		CHECK(k > 11);
		ash_stats(&st);
		CHECK_EQ(st.blocks, before);
	}
	CHECK_EQ(ash_check(), 0);
}
