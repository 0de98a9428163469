#!/bin/sh
# SPDX-License-Identifier: MIT
# Each instruction of what we build has its entry in the unwind tables; that the entries
# are right is seen where they are walked, at each step (tools/programs/unwind.c).
. tests/support/verdict.sh

# uncovered FILE: prints the functions that have instructions without an entry; padding
# between functions has none.  Entries of .debug_frame are for debuggers, and gone when stripped.
uncovered() {
	objcopy -R .debug_frame "$1" "$folder/loaded" || return
	{
		readelf --debug-dump=frames "$folder/loaded" 2>/dev/null |
			sed -n 's/.* FDE .*pc=\([0-9a-f]*\)\.\.\([0-9a-f]*\).*/\1 2\n\2 1/p'
		objdump -d --no-show-raw-insn "$1" | awk '
			/^[0-9a-f]+ </ { name = $2 }
			/^ *[0-9a-f]+:\t/ && !/\t(nop|int3|cs nop|data16|xchg +%ax,%ax)/ {
				sub(/:/, "", $1); zeros = "0000000000000000"
				print substr(zeros, length($1) + 1) $1, 3, name }'
	} | sort -k 1,1 -k 2,2 | awk '
		$2 == 1 { depth-- }
		$2 == 2 { depth++; entries++ }
		$2 == 3 { all++; if (depth == 0) bare[$3]++ }
		END {
			for (name in bare) print "     " name, bare[name]
			if (entries < 10 || all < 1000) print "     only " entries " entries, " all " instructions"
		}'
}

# covered NAME FILE
covered() {
	uncovered "$2" >"$folder/bare"
	[ ! -s "$folder/bare" ]
	verdict "$1"
	head -n 10 "$folder/bare"
}

# An archive in full, at addresses of its own.
for archive in libashlar libashlar-small libashlar-field libashlar-core libashlar-sample libashlar_malloc; do
	ld.lld --whole-archive "$build/$archive.a" --unresolved-symbols=ignore-all -e 0 \
		-o "$folder/$archive" || exit 1
	covered "each instruction of $archive.a has an entry" "$folder/$archive"
done
covered 'each instruction of libashlar_malloc.so has an entry' "$build/libashlar_malloc.so"
strip -o "$folder/stripped" "$build/libashlar_malloc.so"
covered 'and of a stripped one' "$folder/stripped"
covered 'each instruction of libashlar_profile.so has an entry' "$build/libashlar_profile.so"
readelf -lW "$build/libashlar_malloc.so" | grep -q GNU_EH_FRAME
verdict 'the shared object tells where its tables are'

# What has no entry is found.
cat >"$folder/bare.S" <<'S2'
	.text
	.globl	planted
	.type	planted, @function
planted:
	push	%rax
	pop	%rax
	ret
	.size	planted, . - planted
	.section .note.GNU-stack, "", @progbits
S2
${CC:-clang} -c "$folder/bare.S" -o "$folder/bare.o" &&
	ld.lld --whole-archive "$build/libashlar.a" "$folder/bare.o" --unresolved-symbols=ignore-all -e 0 \
		-o "$folder/planted"
uncovered "$folder/planted" >"$folder/bare"
[ "$(cat "$folder/bare")" = '     <planted>: 3' ]
verdict 'a function without an entry is found'
exit $status
