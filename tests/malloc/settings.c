/* SPDX-License-Identifier: MIT */
/* malloc's settings from the environment are written to the program's defaults, which count from then on. */
#include "ashlar.h"
#include "rt.h"

struct ash_defaults *ash_own_settings(void);

TEST(settings_begin_as_the_defaults, 10)
{
	struct ash_defaults *own = ash_own_settings();
	char *p;

	CHECK_EQ(memcmp(own, &ash_defaults, sizeof ash_defaults), 0);
	p = ash_alloc(40 * MIB);
	CHECK(p != NULL);
	ash_release(p);
	own->cap = 32 * MIB;
	CHECK(ash_own_settings() == own && own->cap == 32 * MIB);
	(void)ash_trim(0);
	CHECK(ash_alloc(40 * MIB) == NULL && ash_alloc(100) != NULL);
}
