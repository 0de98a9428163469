#!/bin/sh
# SPDX-License-Identifier: MIT
# Each layout of a store has a version word of its own: constants that decide it
# are changed in a copy of the headers, one at a time.
set -u

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP
status=0

# word: of the headers in the copy.
word() {
	printf '#include "shm/store.h"\nunsigned long word = STORE_VERSION;\n' |
		${CC:-clang} -std=c17 -ffreestanding -nostdlibinc -I"$folder/core" -I"$folder/core/include" -Isys -Iarch/x86_64 \
			-S -o - -x c - | awk '$1 == ".quad" { print $2 }'
}

fresh() {
	rm -rf "$folder/core"
	mkdir "$folder/core"
	cp -r core/*/ "$folder/core"
}

fresh
right=$(word)
[ -n "$right" ] || { echo "FAIL version: core/shm/store.h does not compile"; exit 1; }

# other FILE PATTERN REPLACEMENT: must give another word.
others=$right
other() {
	fresh
	sed "s/$2/$3/" "core/$1" >"$folder/core/$1"
	if cmp -s "core/$1" "$folder/core/$1"; then
		echo "FAIL version: nothing in core/$1 is '$2'"
		status=1
		return
	fi
	new=$(word)
	[ -n "$new" ] || { echo "FAIL version: core/$1 with '$3' does not compile"; status=1; }
	case " $others " in
	*" $new "*)
		echo "FAIL version: core/$1 with '$3' has the word of another layout"
		status=1
		;;
	esac
	others="$others $new"
}

other shm/store.h '^#define STORE_RECORDS 4096' '#define STORE_RECORDS 2048'
other shm/store.h '^#define STRANGERS     64' '#define STRANGERS     72'
other shm/store.h '^#define CENSUS_ENTRIES 16384' '#define CENSUS_ENTRIES 8192'
other shm/store.h 'STORE_FORMAT	8' 'STORE_FORMAT	9'
other shm/store.h '^	uint64_t visits;' '	uint64_t visits, more[8];'
other shm/store.h 'SLAB_SLOTS \* sizeof(uint16_t)' 'SLAB_SLOTS * sizeof(uint32_t)'
other thread/owner.h '^#define SPARES	    24' '#define SPARES	    16'
other thread/owner.h '^#define INBOX_SLABS   32' '#define INBOX_SLABS   64'
other thread/owner.h '^#define INTENTS 4' '#define INTENTS 8'
other base/holder_word.h '^#define OWNER_THREAD 2 ' '#define OWNER_THREAD 3 '
other thread/owner.h '^	uint64_t building;' '	uint64_t moved, building;'
other base/layout.h '^	size_t metadata;' '	size_t metadata, more;'
other backend/heap.h '^	uint64_t root;' '	uint64_t root, more[8];'
other base/class.h '^#define CLASSES	      113' '#define CLASSES	      105'
other base/class.h '^#define CLASS_LINEAR  128' '#define CLASS_LINEAR  256'
[ $status -eq 0 ] && echo "ok   version: $(echo "$others" | wc -w) layouts have as many words"
exit $status
