#!/bin/sh
# SPDX-License-Identifier: MIT
# libashlar_profile.so: a program whose places allocate known amounts, with threads, a child and a
# signal, has a profile with these amounts.  Random numbers begin alike in each process, so no
# verdict hangs on chance.
# promises: ashlar_profile_dump
. tests/support/verdict.sh
. tests/support/profile.sh

case $build in /*) ;; *) build=$(pwd)/$build ;; esac

library=$build/libashlar_profile.so

# ---- the product ----

! nm -D -u "$library" | grep -v ' w ' | grep -vE ' U (mem(cpy|set|move|cmp))$' | grep .
verdict 'it needs nothing that must be there'
readelf -dW "$library" >"$folder/dynamic"
! grep -qE 'NEEDED|TEXTREL' "$folder/dynamic" && grep -q NODELETE "$folder/dynamic" &&
	grep -q STATIC_TLS "$folder/dynamic"
verdict 'it needs no library, stays loaded, and its thread-local words are at a fixed offset'

# ---- a program ----

if ! cc=$(command -v gcc || command -v clang) || ! $cc -O1 -g -no-pie -fomit-frame-pointer \
	-fno-optimize-sibling-calls -Wno-attributes -DROUNDS=40000 tests/check/sampled.c -lpthread -o "$folder/program" 2>"$folder/errors"; then
	echo 'skip profile: there is no compiler that finds a C library'
	exit "$status"
fi
# run DISTANCE: leaves first.heap (by the signal), child.heap and last.heap.
run() {
	mkdir -p "$folder/out"
	rm -f "$folder"/out/*
	ASHLAR_PROFILE=$folder/out/p ASHLAR_PROFILE_DISTANCE=$1 ASHLAR_PROFILE_SIGNAL=12 \
		LD_PRELOAD=$library "$folder/program" 2>"$folder/errors" </dev/null &&
		[ ! -s "$folder/errors" ] && [ "$(ls "$folder/out" | wc -l)" = 3 ] || return 1
	parent=$(ls "$folder/out" | sed -n 's/^\(p.*\)\.1\.heap$/\1/p')
	mv "$folder/out/$parent.1.heap" "$folder/first.heap"
	mv "$folder/out/$parent.2.heap" "$folder/last.heap"
	mv "$folder"/out/* "$folder/child.heap"
}
run 16384
verdict 'a signal and the ends of a process and its child write a file each'
head -n 5 "$folder/errors"

symbols "$folder/program"

# near FILE PLACE LIVE ALL COUNT: the estimates are within 4 standard deviations, for COUNT blocks.
near() {
	sums "$1" "$2" | awk -v place="$2" -v live="$3" -v all="$4" -v count="$5" '{
		chance = 1 - exp(-all / count / 16384)
		deviation = all / count * sqrt(count * (1 / chance - 1))
		if (($1 - live) ^ 2 > 16 * (live / all) * deviation ^ 2 || ($2 - all) ^ 2 > 16 * deviation ^ 2 + 1) {
			printf "     %s: %d live, of %d; %d of %d\n", place, $1, live, $2, all
			exit 1
		}
	}'
}
# Sizes are those of the blocks: 112, 704, ...
last=$folder/last.heap
near "$last" small 4480000 4480000 40000 && near "$last" middle 9216000 9216000 1000 &&
	near "$last" handler 4096000 4096000 8000
verdict 'what places allocated, in a handler too, is estimated'
near "$last" passing 0 28160000 40000
verdict 'what was released is not live'
awk '/^MAPPED/ { exit } /^[0-9]+: / { n++; bad += ($1 + 0 == 0) != ($2 == 0) } END { exit n < 9 || bad > 0 }' "$last"
verdict 'where no block is live, no byte is'
near "$last" large 13107200 13107200 40 && near "$last" span 25165824 25165824 8 &&
	near "$last" grown 33554432 50331648 16
verdict 'large blocks, also those that realloc makes larger'
near "$last" thread 8320000 8320000 40000
verdict 'what a thread allocated that has ended'
near "$folder/first.heap" small 4480000 4480000 40000 && ! near "$folder/first.heap" middle 9216000 9216000 1000
verdict 'at the signal, what there was by then'
near "$folder/child.heap" child 10240000 10240000 10000 && near "$folder/child.heap" small 4480000 4480000 40000 &&
	! near "$last" child 10240000 10240000 10000
verdict 'a child has what it inherited, and its own'
grep -q "^MAPPED_LIBRARIES:" "$last" && grep -q "r-xp.*$folder/program" "$last"
verdict 'the file tells where the code is'

# ---- folded stacks ----

# folded PLACE BYTES [OPTION...]: the sum of the lines that end so is BYTES, but for rounding.
folded() {
	place=$1 bytes=$2
	shift 2
	sh tools/ashlar-folded "$@" | awk -v place="$place" -v bytes="$bytes" '
		{ n = split($1, name, ";") } name[n] == place || name[n - 1] == place { sum += $NF }
		END { exit (sum - bytes) ^ 2 > 100 ^ 2 }'
}
# live PLACE, all PLACE: what the file says.
live() {
	sums "$last" "$1" | cut -d ' ' -f 1
}
all() {
	sums "$last" "$1" | cut -d ' ' -f 2
}
if ! command -v addr2line >/dev/null && ! command -v llvm-addr2line >/dev/null; then
	echo 'skip profile: folded stacks: no addr2line is here'
else
	folded small "$(live small)" "$last" && folded grown "$(live grown)" "$last" && folded grown "$(all grown)" --all "$last"
	verdict 'folded stacks have the same estimates'
	sh tools/ashlar-folded --all "$last" >"$folder/folded"
	grep -q ';main;times;passing [0-9]*$' "$folder/folded" && grep -q ';work;thread [0-9]*$' "$folder/folded" &&
		grep -q ';main;times;middle [0-9]*$' "$folder/folded"
	verdict 'with the names of functions, from the outermost to the innermost'
	sh tools/ashlar-folded --base "$folder/first.heap" "$last" >"$folder/folded"
	! grep -q ';small ' "$folder/folded" && grep -q ';middle ' "$folder/folded"
	verdict 'less those of an older profile, what came since'
fi
! sh tools/ashlar-folded tests/check/sampled.c >"$folder/folded" 2>"$folder/errors" &&
	[ ! -s "$folder/folded" ] && grep -q 'is no profile' "$folder/errors"
verdict 'what is no profile is refused'

cp "$last" "$folder/before"
run 16384 && stacks "$last" >"$folder/again" && stacks "$folder/before" | cmp -s - "$folder/again"
verdict 'another run has the same samples'
# By a call, which others do not have; and as memory grows: 40 MB by steps of 10 MB, then less, and again.
cat >"$folder/dump.c" <<'C'
#include <ashlar_malloc.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
static void *kept[40000];
int main(int argc, char **argv)
{
	(void)argv;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 40000; i++)
			kept[i] = malloc(1000);
		errno = 99;
		if (argc > 1 && round == 0)
			printf("%d %d\n", ashlar_profile_dump != NULL ? ashlar_profile_dump() : -1, errno);
		for (int i = 0; i < 40000; i++)
			free(kept[i]);
	}
	fflush(stdout);
	_Exit(0);
}
C
$cc -O1 -fpie -pie -fno-builtin -Icore/include "$folder/dump.c" -o "$folder/dump" && rm -f "$folder"/out/* &&
	[ "$("$folder/dump" call)" = '-1 99' ] &&
	[ "$(ASHLAR_PROFILE=$folder/out/p ASHLAR_PROFILE_DISTANCE=16384 LD_PRELOAD=$library "$folder/dump" call)" = '1 99' ] &&
	[ "$(ls "$folder/out" | wc -l)" = 1 ] && awk 'NR == 1 { exit !($3 + 0 > 2200 && $3 + 0 < 2700) }' "$folder"/out/*
verdict 'a call writes one, and leaves errno alone'
[ "$(ASHLAR_PROFILE=/no/such/folder/p LD_PRELOAD=$library "$folder/dump" call)" = '0 99' ]
verdict 'and tells where nothing can be written'
rm -f "$folder"/out/*
ASHLAR_PROFILE=$folder/out/p ASHLAR_PROFILE_DISTANCE=16384 ASHLAR_PROFILE_GROWTH=10000000 LD_PRELOAD=$library "$folder/dump"
found=$(ls "$folder/out" | wc -l)
highest=$(awk 'FNR == 1 && /^heap profile/ { if ($3 + 0 > most) most = $3 + 0 } END { print most }' "$folder"/out/*)
[ "$found" -ge 3 ] && [ "$found" -le 5 ] && [ "$highest" -gt 1700 ]
verdict "one for each 10 MB that it grows, and none again below its peak ($found, $highest samples live)"
# A library whose resolver allocates before this one is relocated.
early=tools/programs/early.c
$cc -O1 -fno-builtin -fPIC -shared -fno-plt $early -o "$folder/libearly.so" &&
	$cc -DPROGRAM -O1 $early -L"$folder" -learly -Wl,-rpath,"$folder" -o "$folder/early" &&
	"$folder/early" >"$folder/expected" && ASHLAR_PROFILE=$folder/early ASHLAR_PROFILE_DISTANCE=1 \
	LD_PRELOAD=$library "$folder/early" >"$folder/found" && cmp "$folder/expected" "$folder/found" &&
	ls "$folder"/early.*.heap >/dev/null
verdict 'calls before it is relocated work'
ASHLAR_PROFILE=/no/such/folder/p ASHLAR_PROFILE_SIGNAL=12 LD_PRELOAD=$library "$folder/program" 2>&1 |
	grep -q '^ashlar-profile: the profile cannot be written$'
verdict 'where nothing can be written, it says so'

# ---- without libgcc_s, as with musl alone ----

if ! musl-gcc -O1 -g -no-pie -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wno-attributes -DROUNDS=40000 tests/check/sampled.c -o "$folder/program" \
	2>"$folder/errors"; then
	echo 'skip profile: by frame pointers: musl-gcc is not here'
	exit "$status"
fi
symbols "$folder/program"
rm -f "$folder"/out/*
ASHLAR_PROFILE=$folder/out/p ASHLAR_PROFILE_DISTANCE=16384 ASHLAR_PROFILE_SIGNAL=12 LD_PRELOAD=$library \
	"$folder/program" 2>"$folder/errors" </dev/null && parent=$(ls "$folder/out" | sed -n 's/^\(p.*\)\.1\.heap$/\1/p') &&
	last=$folder/out/$parent.2.heap && near "$last" small 4480000 4480000 40000 && near "$last" middle 9216000 9216000 1000 &&
	near "$last" thread 8320000 8320000 40000 && near "$last" handler 4096000 4096000 8000 && near "$last" passing 0 28160000 40000
verdict 'a program with musl has a profile by frame pointers'
grep -qx 'ashlar-profile: no libgcc_s.so.1: stacks are as far as there are frame pointers' "$folder/errors"
verdict 'and a message says that it is by these'
# main, times and middle are in the stack, and nothing above the chain's end.
if command -v addr2line >/dev/null || command -v llvm-addr2line >/dev/null; then
	sh tools/ashlar-folded --all "$last" | grep -q ';main;times;middle [0-9]*$'
	verdict 'its stacks reach main'
fi
exit "$status"
