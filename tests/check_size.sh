#!/bin/sh
# SPDX-License-Identifier: MIT
# How much the four calls that everybody makes add to a static program.
set -u

build=${BUILD:-build}
limit=24576
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/empty.c" <<'C'
int main(void) { return 0; }
C
cat >"$folder/calls.c" <<'C'
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
C

# bytes NAME SECTIONS: of code and constants, or of what unwinds them, linked.
bytes() {
	${CC:-clang} -std=c17 -ffreestanding -nostdlib -nostdlibinc -O2 -fno-stack-protector -fno-pie \
		-fno-asynchronous-unwind-tables -I"$build/include" -static -fuse-ld=lld \
		-Wl,-T,linker.ld -Wl,--gc-sections -Wl,-z,max-page-size=4096 \
		"$folder/$1.c" "$build/librt.a" "$build/libashlar.a" -o "$folder/$1" || exit 1
	size -A "$folder/$1" | awk -v sections=" $2 " 'index(sections, " " $1 " ") {n += $2} END {print n + 0}'
}

# added SECTIONS
added() {
	empty=$(bytes empty "$1") && calls=$(bytes calls "$1") && echo $((calls - empty))
}

added=$(added '.text .rodata') && tables=$(added '.eh_frame .eh_frame_hdr') ||
	{ echo "FAIL size: does not link"; exit 1; }
if [ "$added" -gt 1000 ] && [ "$added" -le "$limit" ]; then
	echo "ok   size: alloc, zalloc, resize and release add $added bytes (at most $limit), and $tables of unwind tables"
else
	echo "FAIL size: alloc, zalloc, resize and release add $added bytes (at most $limit)"
	exit 1
fi
