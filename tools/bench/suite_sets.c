/* SPDX-License-Identifier: MIT */
/* Numbers and sets that are blocks, for two rows of suite.c. */
#include "suite.h"

#include "host.h"
#include "random.h"

/*
 * ---- numbers: the continued fraction of a square root, as programs that factor by it
 * do; each intermediate result is a block ----
 */

enum { STEPS = 20000, RELATIONS = 256 };

struct number {
	uint32_t users, length;
	uint64_t digits[];
};

static struct number *number_make(uint64_t value)
{
	/* As long as a number of that many digits, and room for the next one. */
	uint32_t length = 1 + (value > 0xff) + (value > 0xffff) + (value > 0xffffff);
	struct number *n = take(sizeof(*n) + length * sizeof(n->digits[0]));

	n->users = 1;
	n->length = length;
	n->digits[0] = value;
	n->digits[length - 1] = value;
	return n;
}

static void number_drop(struct number *n)
{
	if (n != NULL && --n->users == 0)
		give(n);
}

/* a * b + c, modulo m; a, b and m are below 2^32. */
static struct number *number_next(const struct number *a, const struct number *b,
				  const struct number *c, uint64_t m)
{
	struct number *product = number_make(a->digits[0] * b->digits[0]);
	struct number *sum = number_make(product->digits[0] % m + c->digits[0]);
	struct number *rest = number_make(sum->digits[0] % m);

	number_drop(product);
	number_drop(sum);
	return rest;
}

static uint64_t root(uint64_t n)
{
	uint64_t r = 0, bit;

	for (bit = (uint64_t)1 << 31; bit > 0; bit >>= 1)
		if ((r + bit) * (r + bit) <= n)
			r += bit;
	return r;
}

uint64_t suite_numbers(void)
{
	static struct number *relations[RELATIONS];
	static uint64_t n = 3000000019;
	uint64_t r = root(n);
	struct number *p = number_make(0), *q = number_make(1), *a = number_make(r);
	struct number *before = number_make(1), *now = number_make(r);

	for (unsigned i = 0; i < STEPS; i++) {
		struct number *p2 = number_make(a->digits[0] * q->digits[0] - p->digits[0]);
		struct number *square = number_make(p2->digits[0] * p2->digits[0]);
		struct number *q2 = number_make((n - square->digits[0]) / q->digits[0]);
		struct number *a2 = number_make((r + p2->digits[0]) / q2->digits[0]);
		struct number *next = number_next(a2, now, before, n);
		struct number **old = &relations[q2->digits[0] % RELATIONS];

		number_drop(square);
		number_drop(p);
		number_drop(q);
		number_drop(a);
		number_drop(before);
		number_drop(*old);
		*old = now;
		now->users++;
		before = now;
		now = next;
		p = p2;
		q = q2;
		a = a2;
	}
	number_drop(p);
	number_drop(q);
	number_drop(a);
	number_drop(before);
	number_drop(now);
	n += 2;
	return STEPS * 7;
}

/*
 * ---- sets: a cover of cubes, as an optimiser of logic has it: bit vectors of many lengths,
 * in arrays that grow ----
 */

enum { PROBLEMS = 60, CUBES = 160, WORDS = 40 };

struct cover {
	uint32_t **cube;
	unsigned count, room;
};

static uint64_t set_operations;

static void cover_add(struct cover *c, uint32_t *cube)
{
	if (c->count == c->room) {
		c->room = c->room == 0 ? 4 : c->room * 3 / 2;
		c->cube = change(c->cube, c->room * sizeof(*c->cube));
		set_operations++;
	}
	c->cube[c->count++] = cube;
}

static uint32_t *cube_of(unsigned words, uint64_t *random)
{
	uint32_t *cube = take(words * sizeof(*cube));

	for (unsigned i = 0; i < words; i++)
		cube[i] = (uint32_t)next_random(random) | (uint32_t)next_random(random);
	set_operations++;
	return cube;
}

static uint32_t *intersection(const uint32_t *a, const uint32_t *b, unsigned words)
{
	uint32_t *cube = take(words * sizeof(*cube)), all = 0;

	for (unsigned i = 0; i < words; i++)
		all |= cube[i] = a[i] & b[i];
	set_operations++;
	if ((all & 7) != 7)
		return cube;
	give(cube);
	return NULL;
}

uint64_t suite_sets(void)
{
	static uint64_t random = 88172645463325252u;

	set_operations = 0;
	for (unsigned problem = 0; problem < PROBLEMS; problem++) {
		unsigned words = 1 + (unsigned)(next_random(&random) >> 40) % WORDS;
		struct cover given = {0}, common = {0};

		while (given.count < 24)
			cover_add(&given, cube_of(words, &random));
		for (unsigned i = 0; i < given.count; i++)
			for (unsigned k = 0; k < i && common.count < CUBES; k++) {
				uint32_t *cube = intersection(given.cube[i], given.cube[k], words);

				if (cube != NULL)
					cover_add(&common, cube);
			}
		while (common.count > 0)
			give(common.cube[--common.count]);
		while (given.count > 0)
			give(given.cube[--given.count]);
		give(common.cube);
		give(given.cube);
	}
	return set_operations;
}
