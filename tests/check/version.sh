#!/bin/sh
# SPDX-License-Identifier: MIT
# Each layout of a store has a number of its own for what is not format 1 (core/store/file/store_caches.c): constants
# that decide it are changed in a copy of the headers, one at a time.  What is format 1 cannot be changed (format.c).
. tests/support/verdict.sh

assembled() {
	${CC:-clang} -std=c17 -ffreestanding -nostdlibinc -I"$folder/core" -I"$folder/core/include" -Isys -Iarch/x86_64 \
		-S -o - "$@" 2>>"$folder/why"
}

# word: a sum of what the number is computed from, by the headers in the copy.
word() {
	: >"$folder/why"
	{
		assembled "$folder/core/store/file/store_caches.c"
		assembled "$folder/core/store/file/format.c"
		printf '#include "thread/owner.h"\nconst struct ash_descriptor it = DESCRIPTOR;' | assembled -x c -
	} >"$folder/all.s"
	[ -s "$folder/why" ] || awk '$1 == ".quad" || $1 == ".long"' "$folder/all.s" | cksum | tr -d ' '
}

fresh() {
	rm -rf "$folder/core"
	mkdir "$folder/core"
	cp -r core/*/ "$folder/core"
}

fresh
right=$(word)
[ -n "$right" ] || { echo "FAIL version: core/store/file/store_caches.c does not compile"; exit 1; }

# changed FILE PATTERN REPLACEMENT: the sources with that in one file; `new` is their word.
changed() {
	fresh
	sed "s/$2/$3/" "core/$1" >"$folder/core/$1"
	if cmp -s "core/$1" "$folder/core/$1"; then
		echo "FAIL version: nothing in core/$1 is '$2'"
		status=1
		return 1
	fi
	new=$(word)
}

# other FILE PATTERN REPLACEMENT: must give another word.
others=$right
other() {
	changed "$@" || return
	[ -n "$new" ] || { echo "FAIL version: core/$1 with '$3' does not compile"; status=1; }
	case " $others " in
	*" $new "*)
		echo "FAIL version: core/$1 with '$3' has the word of another layout"
		status=1
		;;
	esac
	others="$others $new"
}

other store/file/store.h '^#define STRANGERS    64' '#define STRANGERS    56'
other store/file/store.h '^	uint64_t suspect;' '	uint64_t moved, suspect;'
other store/file/store_caches.c 'CACHES_MEANING 4' 'CACHES_MEANING 5'
other thread/owner.h '^#define SPARES	    24' '#define SPARES	    16'
other thread/owner.h '^#define INBOX_SLABS 32' '#define INBOX_SLABS 64'
other base/roll.h '^#define OWNER_THREAD 2 ' '#define OWNER_THREAD 3 '
other thread/owner.h '^	uint64_t building;' '	uint64_t moved, building;'
other backend/heap.h '^	uint64_t slab_chunks;' '	uint64_t moved, slab_chunks;'

# moved FILE PATTERN REPLACEMENT: must not compile, as format 1 says something else.
moves=0
moved() {
	changed "$@" || return
	if ! grep -q 'format 1: ' "$folder/why"; then
		echo "FAIL version: core/$1 with '$3' is taken for format 1"
		status=1
	fi
	moves=$((moves + 1))
}

moved store/file/store.h '^#define STORE_RECORDS  4096' '#define STORE_RECORDS  2048'
moved store/file/store.h '^#define CENSUS_ENTRIES 16384' '#define CENSUS_ENTRIES 8192'
moved store/file/store.h '^#define INTENTS 4' '#define INTENTS 3'
moved store/file/store.h '^	uint64_t flight;' '	uint64_t census, flight;'
moved store/file/store.h 'SLAB_SLOTS \* sizeof(uint16_t)' 'SLAB_SLOTS * sizeof(uint32_t)'
moved store/file/store.h '^	uint64_t names;' '	uint64_t more, names;'
moved backend/heap.h '	uint64_t records;' '	uint64_t more, records;'
moved base/class.h '^#define CLASSES	      113' '#define CLASSES	      105'
moved base/class.h '^#define CLASS_LINEAR  128' '#define CLASS_LINEAR  256'
moved base/layout.h '^	uint64_t ready;' '	uint64_t more, ready;'
moved base/layout.h '^	uint64_t hold;' '	uint64_t more, hold;'
moved base/layout.h '^	uint32_t span_chunks;' '	uint32_t more, span_chunks;'
moved base/layout.h '^	size_t metadata;' '	size_t metadata, more;'
[ $status -eq 0 ] && echo "ok   version: $(echo "$others" | wc -w) layouts have as many numbers; $moves moves of format 1 are refused"
exit $status
