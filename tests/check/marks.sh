#!/bin/sh
# SPDX-License-Identifier: MIT
# What the products say of shadow stacks and of targets of indirect branches (.note.gnu.property): a process
# runs without them as soon as one object says nothing.  And that it is true.
. tests/support/verdict.sh

# marked FILE MARKS: each of its objects, for there are several in an archive, has exactly these.
marked() {
	readelf -nW "$1" >"$folder/notes" 2>&1
	objects=$(if [ "${1%.a}" = "$1" ]; then echo 1; else ar t "$1" | wc -l; fi)
	[ "$(grep -c "Properties: .* feature: $2\$" "$folder/notes")" = "$objects" ]
	verdict "${1##*/}: $2" "$folder/notes"
}
for name in libashlar.so libashlar_malloc.so libashlar_profile.so libashlar_malloc.a; do
	marked "$build/$name" 'IBT, SHSTK'
done
for name in libashlar libashlar-small libashlar-sample libashlar-field libashlar-core libashlar_start; do
	marked "$build/$name.a" SHSTK
done

# targets FILE: what others may call by an address: exported functions, and code that a pointer in data leads to.
targets() {
	readelf --dyn-syms -W "$1" | awk '$4 == "FUNC" && $7 != "UND" { print $2 }'
	code=$(readelf -SW "$1" | awk '{ sub(/^ *\[ *[0-9]+\] */, "") } $1 == ".text" { print $3, $5 }')
	readelf -rW "$1" | awk '/RELATIVE/ { print $4 }' | while read -r at; do
		[ $((0x$at)) -ge $((0x${code% *})) ] && [ $((0x$at)) -lt $((0x${code% *} + 0x${code#* })) ] && echo "$at"
	done
}
# unguarded FILE INSTRUCTION [OBJDUMP]: those of them that do not begin with it.
unguarded() {
	${3:-objdump} -d --no-show-raw-insn "$1" | awk -v begin="$2" '$1 ~ /:$/ && $0 ~ begin {
		sub(/:/, "", $1); print $1 }' | sort -u >"$folder/guarded"
	targets "$1" | sed 's/^0*//' | sort -u >"$folder/targets"
	comm -23 "$folder/targets" "$folder/guarded" >"$folder/unguarded"
	[ "$(wc -l <"$folder/targets")" -gt 20 ] && [ ! -s "$folder/unguarded" ]
}
for name in libashlar.so libashlar_malloc.so libashlar_profile.so; do
	unguarded "$build/$name" endbr64
	verdict "$name: what may be called by its address begins with endbr64" "$folder/unguarded"
done
unguarded "$build/libashlar.so" endbr32
[ -s "$folder/unguarded" ]
verdict 'one that does not is found'

for name in libashlar_malloc.so libashlar_profile.so; do
	if [ -f "$build/aarch64/$name" ]; then
		marked "$build/aarch64/$name" 'BTI, PAC'
		unguarded "$build/aarch64/$name" 'bti|paciasp|hint.#(34|25)$' llvm-objdump
		verdict "aarch64: $name: what may be called by its address begins with bti or paciasp" "$folder/unguarded"
	else
		echo "skip $subject: aarch64's $name is not built"
	fi
done
exit $status
