#!/bin/sh
# SPDX-License-Identifier: MIT
#
#	BUILD=build sh tests/long/without_store.sh
#
# A copy of the tree without the store (core/store, tests/store): the products and the programs build, no layer is
# broken, the tests of build/tests/all pass, and the fast paths are the same.  The other scripts of tests/check are about
# the products as they are shipped, with the store.
. tests/support/verdict.sh

find . \( -path ./.git -o -path "./${build#./}" -o -path ./build -o -path ./core/store -o -path ./tests/store \) -prune -o -type f -print |
	tar cf - -T - | tar xf - -C "$folder"
[ ! -e "$folder/core/store" ] && [ ! -e "$folder/tests/store" ] && [ -e "$folder/core/heaps/instance.h" ]
verdict 'a copy has all but the store'
cd "$folder" || exit 1

mkdir -p build # the top level of the copy stays as it is
log=$folder/build/log
${MAKE:-make} BUILD=build programs >"$log" 2>&1
verdict 'the products and the programs build' "$log"

sh tools/layers . >"$log" 2>&1
verdict 'the layers are whole' "$log"

# calls HEADER...: their public calls.
calls() {
	sed -n 's/^[a-z].*[ *]\(ash_[a-z_]*\)(.*/\1/p' "$@" | sort -u
}
nm -g --defined-only build/libashlar.a 2>/dev/null | awk '$2 == "T" { print $3 }' | sort -u >defined
calls core/include/ashlar.h core/include/ashlar_heap.h | grep -vxE 'ash_heap_create_shared|ash_on_(misuse|no_memory|thread)' >expected
comm -12 expected defined >found
same 'the library has the calls of ashlar.h and ashlar_heap.h, but for the maker of shared heaps'
calls core/include/ashlar_heap_*.h | comm -12 - defined >more
[ ! -s more ]
verdict 'it has no call of the store' more

build/tests/all >"$log" 2>&1
verdict 'the tests pass' "$log"

BUILD=build sh tests/check/golden.sh >"$log" 2>&1
verdict 'the fast paths are those of tests/golden' "$log"
exit $status
