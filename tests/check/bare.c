/* SPDX-License-Identifier: MIT */
/* A program without a C library, built from what is installed (install.sh, tools/programs/deb.sh). */
#include <ashlar.h>
#include <ashlar_start.h>
int main(void)
{
	char *p = ash_alloc(10);
	ash_write(1, ash_usable_size(p) == 16 ? "16\n" : "?\n", ash_usable_size(p) == 16 ? 3 : 2);
	ash_release(p);
	return 0;
}
