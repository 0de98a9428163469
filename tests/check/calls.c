/* SPDX-License-Identifier: MIT */
/* The four main calls: what a program gets that makes these and no others (size.sh, archives.sh). */
#include "ashlar.h"

int main(int argc, char **argv)
{
	void *p = ash_alloc((size_t)argc), *q = ash_zalloc((size_t)argc, 8);

	(void)argv;
	p = ash_resize(p, 1000);
	ash_release(p);
	ash_release(q);
	return 0;
}
