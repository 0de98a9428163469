#!/bin/sh
# SPDX-License-Identifier: MIT
# How much the four calls that everybody makes add to a static program: code and constants, and
# unwind tables.  The descriptor for ashlar-look (.descriptor, .note.ashlar) is neither: no call
# reads it.  It has a limit of its own; those of code and constants are in the products' rows (tools/make/products.mk).
. tests/support/verdict.sh

build_flags
tables_limit=16384 # of unwind tables, which linker.ld does not load
descriptor_limit=512

cat >"$folder/empty.c" <<'C'
int main(void) { return 0; }
C
cp tests/check/calls.c "$folder"

# sizes NAME LIBRARY: linked, the bytes of code and constants, and of unwind tables.
sizes() {
	${CC:-clang} -std=c17 -ffreestanding -nostdlib -nostdlibinc -O2 -fno-stack-protector -fno-pie \
		-fno-asynchronous-unwind-tables -I"$build/include" -static -fuse-ld=lld \
		-Wl,-T,linker.ld -Wl,--gc-sections -Wl,-z,max-page-size=4096 -Wl,--no-eh-frame-hdr \
		"$folder/$1.c" "$build/libashlar_start.a" "$build/$2" -o "$folder/$1" || exit 1
	size -A "$folder/$1" | awk '
		$1 == ".text" || $1 == ".rodata" { n += $2 }
		$1 == ".eh_frame" { tables += $2 }
		$1 == ".descriptor" || $1 == ".note.ashlar" { descriptor += $2 }
		END { print n + 0, tables + 0, descriptor + 0 }'
}

# product LIBRARY LIMIT
product() {
	empty=$(sizes empty "$1") && calls=$(sizes calls "$1") || { echo "FAIL size: $1 does not link"; exit 1; }
	library=$1 limit=$2
	# shellcheck disable=SC2086 # lists of numbers
	set -- $empty $calls
	code=$(($4 - $1))
	tables=$(($5 - $2))
	[ "$code" -gt 1000 ] && [ "$code" -le "$limit" ] && [ "$tables" -gt 100 ] && [ "$tables" -le "$tables_limit" ]
	verdict "alloc, zalloc, resize and release of $library add $code bytes (at most $limit), and $tables of unwind tables (at most $tables_limit)"
	[ "$library" != libashlar-small.a ] || return 0 # which has none
	# That it is there at all shows that --gc-sections keeps it.
	[ "$3" = 0 ] && [ "$6" -gt 100 ] && [ "$6" -le $descriptor_limit ]
	verdict "the descriptor of $library has $6 bytes (at most $descriptor_limit)"
}

# told WHAT BEFORE BEHIND BYTES: README.md has the number of KB between these words, to a tenth.
told() {
	kb=$(tr '\n' ' ' <README.md | sed -n "s/.*$2\([0-9][0-9]*\)$3.*/\1/p")
	[ $((${kb:-0} * 10000)) -ge $(($4 * 9)) ] && [ $((${kb:-0} * 10000)) -le $(($4 * 11)) ]
	verdict "README.md says ${kb:-nothing} KB of $1: $4 bytes"
}

product libashlar.a "$LIMIT_lib"
told 'the four main calls' 'the four main calls take [0-9]* KB instead of ' ' KB' "$code"
product libashlar-small.a "$LIMIT_small"
told 'those of libashlar-small.a' 'the four main calls take ' ' KB instead of' "$code"

# README.md's first program, with its flags, and without the one that leaves out what is not called.
sed -n '/^```c build.hello.c/,/^```$/ { //!p }' README.md >"$folder/hello.c"
for how in -Wl,--gc-sections ''; do
	clang -ffreestanding -nostdlib -static -O2 $how -I"$build/include" "$folder/hello.c" "$build/libashlar_start.a" "$build/libashlar.a" \
		-o "$folder/hello" || exit 1
	bytes=$(size "$folder/hello" | awk 'NR == 2 { print $1 }')
	if [ -n "$how" ]; then
		told 'the first program' 'KB of code and constants to ' ' KB' "$bytes"
	else
		told 'it with all sections' 'reduces the first program from ' ' KB of code' "$bytes"
	fi
done
exit $status
