#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages of the smallest programs, counted by smaps while they live: those that hold what was
# written (dirtied), and those of files.  The stack is left out: where it begins within a page is random.
# make bench-footprint has the sums, tools/bench/NOTES.md explains them.  And its mappings, with the stack.
. tests/support/verdict.sh

build_flags

# pages LIBRARY|- PROGRAM: "dirtied file address-space mappings", in pages; with a library, preloaded, those
# of its own mappings alone, but all mappings.  The program waits for the end of its input.
pages() {
	rm -f "$folder/input"
	mkfifo "$folder/input"
	: >"$folder/output"
	if [ "$1" = - ]; then
		"$2" wait <"$folder/input" >"$folder/output" &
	else
		LD_PRELOAD=$1 "$2" wait <"$folder/input" >"$folder/output" &
	fi
	pid=$!
	exec 3>"$folder/input"
	tries=0
	until grep -q 'hello, world' "$folder/output" || [ $tries = 12000 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	# A mapping without a name that begins where the library ends is the library's .bss.
	awk -v library="$1" '
		/^[0-9a-f]+-[0-9a-f]+ / {
			split($1, ends, "-")
			ours = $6 !~ /^\[(stack|v)/ && (library == "-" || $6 == library ||
				$6 == "" && ends[1] == last)
			if (ours) last = ends[2]
			mappings += $6 !~ /^\[v/
		}
		/^Size:/ && ours { space += $2 }
		/^Rss:/ && ours { resident += $2 }
		/^Anonymous:/ && ours { dirtied += $2 }
		END { print dirtied / 4, (resident - dirtied) / 4, space / 4, mappings }' "/proc/$pid/smaps"
	exec 3>&-
	wait "$pid"
}

# within NAME DIRTIED FILE SPACE: each at most; the figures are in $1, $2, $3 of `figures`.
within() {
	# shellcheck disable=SC2086 # a list
	set -- "$1" "$2" "$3" "$4" $figures
	[ "${5:-0}" -gt 0 ] && [ "$5" -le "$2" ]
	verdict "$1: ${5:-no} pages dirtied (at most $2)"
	[ "${6:-0}" -gt 0 ] && [ "$6" -le "$3" ]
	verdict "$1: ${6:-no} pages of files (at most $3)"
	[ "${7:-0}" -gt 0 ] && [ "$7" -le "$4" ]
	verdict "$1: ${7:-no} pages of address space (at most $4)"
}

# The pages of files are of 4 KiB, the kernel's on x86_64.
if [ "$(getconf PAGE_SIZE)" != 4096 ]; then
	echo 'skip footprint: the limits are for pages of 4 KiB'
	exit 0
fi
if grep -q '\[always\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null; then
	echo 'skip footprint: the system makes pages huge by itself'
	exit 0
fi

# ---- without a C library ----

# linked SOURCE PROGRAM: as users link, without what tests draw in.
linked() {
	$COMPILE -Iarch/x86_64 -c "$1" -o "$2.o" &&
		${LINK% -Wl,-u,*} "$2.o" "$build/runtime.a" "$build/libashlar_start.a" "$build/libashlar.a" -o "$2"
}

# All pages of files of a static program are mapped (by 64 KiB): they are its code.  Spans alone, short
# addresses, the floor and the roll are 5.5 KB of it, one page here and two with musl: 7, 16 and 12 before.
# Holes that go by themselves, larger slots before NULL and the notes of builders are 2.8 KB: 8 and 17 before.
# Settings by the environment, with the statistics at exit, are 3 KB with musl: 18 and 14 before.
# .data and the first owner record; a page of chunk_map.units; one of the first leaf; the end of the
# root, the small variables and the first metadata; and the block.
linked tests/program/hello.c "$folder/free" && figures=$(pages - "$folder/free")
verdict 'without a C library: it links, and ends well'
within 'without a C library' 5 9 1095
[ "${figures##* }" -le 5 ]
verdict "without a C library: ${figures##* } mappings (at most 5: code, data, .bss, the stack, the heap)"
dirtied=${figures%% *}

# What it counts: the same program with a page more, written.
sed 's,^\tarch_write(1,\t*(volatile char *)arch_mmap(0\, 4096\, 3\, 0x22\, -1\, 0) = 1;\n&,' tests/program/hello.c \
	>"$folder/dirt.c"
linked "$folder/dirt.c" "$folder/dirt"
for _ in 1 2 3 4 5; do # the system may take a page back meanwhile
	figures=$(pages - "$folder/dirt")
	[ "${figures%% *}" != $((dirtied + 1)) ] || break
	figures=$(pages - "$folder/free")
	dirtied=${figures%% *}
done
[ "${figures%% *}" = $((dirtied + 1)) ]
verdict 'a page more that the program writes is counted'

# ---- with one ----

cat >"$folder/hello.c" <<'C'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char *line = realloc(malloc(4), 14), *zero = calloc(1, 14), c;
	(void)argv;
	memcpy(line, "hello, world\n", 14);
	free(zero);
	free(line);
	write(1, "hello, world\n", 13);
	while (argc > 1 && read(0, &c, 1) > 0)
		;
	return 0;
}
C

# Where .bss begins is the program's business: one page more if what is behind the root is on two.
late() {
	nm "$1" | sed 's/^0*//' | awk '$3 == "chunk_map" { print "map=0x" $1 } $3 == "ash_first_metadata" { print "first=0x" $1 }' \
		>"$folder/addresses"
	. "$folder/addresses"
	echo $((((first + 0x518) >> 12) - ((map + 0x220000 - 1) >> 12)))
}

# The same; the C library's variables are on the first and the fourth of these pages.
if ! command -v musl-gcc >/dev/null; then
	echo 'skip footprint: static, with musl: there is no musl-gcc'
elif musl-gcc -O2 -fno-builtin -w -static "$folder/hello.c" "$build/libashlar_malloc.a" -o "$folder/musl" &&
	musl-gcc -O2 -fno-builtin -w -static -Wl,--gc-sections "$folder/hello.c" "$build/libashlar_malloc.a" \
		-o "$folder/musl-gc"; then
	figures=$(pages - "$folder/musl")
	within 'static, with musl' $((5 + $(late "$folder/musl"))) 24 1100
	figures=$(pages - "$folder/musl-gc")
	within 'the same with --gc-sections' $((5 + $(late "$folder/musl-gc"))) 18 1096
else
	false
	verdict 'links with musl'
fi

# The constants that hold addresses, .data with the owner record, and three as above.
if ${CC:-clang} -O2 -fno-builtin -w "$folder/hello.c" -o "$folder/hosted" 2>/dev/null; then
	figures=$(pages "$(realpath "$build/libashlar_malloc.so")" "$folder/hosted")
	within 'libashlar_malloc.so, preloaded' 5 24 600
else
	echo 'skip footprint: preloaded: no headers of a C library'
fi

# ---- of all CPUs, by the addresses ----

# In each program, what is written first is side by side (linker.ld); ends of objects by their sizes.
for folder_of in "$build" $(for cpu in ${CPUS:-}; do echo "$build/$cpu"; done); do
	program=$folder_of/tests/all
	[ -e "$program" ] || continue
	nm -n "$program" >"$folder/names"
	[ "$(awk '$3 ~ /^(heap_default|owner_static|chunk_map|ash_first_metadata)$/ { print $3 }' "$folder/names" |
		tr '\n' ' ')" = 'heap_default owner_static chunk_map ash_first_metadata ' ] &&
		[ "$(awk '$2 ~ /[bB]/ { last = $3 } END { print last }' "$folder/names")" = ash_first_metadata ] &&
		[ "$(awk '$3 == "chunk_map" { print substr($1, length($1) - 2) }' "$folder/names")" = 400 ]
	verdict "$program: the owner record, the map, the first metadata behind all else"
done
exit $status
