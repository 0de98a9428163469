#!/bin/sh
# SPDX-License-Identifier: MIT
# The unwind tables of the assembly, of each CPU, say what its instructions do: where the stack
# pointer moved, and from where on a function has no caller.  Threads begin and end there, which
# no test can step through with an unwinder of a C library.
. tests/support/verdict.sh

for tool in clang ld.lld llvm-dwarfdump llvm-objdump; do
	if ! command -v $tool >/dev/null; then
		echo "skip $subject: $tool is not here"
		exit 0
	fi
done

# wrong CPU FILE: prints the instructions whose row of the table is not right.  A function that ends in a
# trap has no caller behind its last return, or its first system call, or at all; what has no entry is for unwind.sh.
wrong() {
	clang --target="$1-linux-gnu" -mno-relax -w -I. -I"arch/$1" -c "$2" -o "$folder/one.o" &&
		ld.lld --unresolved-symbols=ignore-all -e 0 "$folder/one.o" -o "$folder/one" || return
	{
		llvm-dwarfdump --eh-frame "$folder/one" | sed -n -e 's/^  0x\([0-9a-f]*\): CFA=\(.*\)/\1 row \2/p' \
			-e 's/.* FDE .*pc=0*\([0-9a-f]*\)\.\.\.0*\([0-9a-f]*\)$/\1 from\n\2 end/p'
		llvm-objdump -dz --no-show-raw-insn "$folder/one" |
			sed -n -e 's/^0*\([0-9a-f]*\) <\([^.$].*\)>:$/\1 name \2/p' \
				-e 's/^ *\([0-9a-f]*\): *[[:blank:]]\([a-z]\)/\1 code \2/p'
	} | awk '
		BEGIN { split("end name from row code", order); for (i in order) rank[order[i]] = i }
		{ printf "%16s %d %s\n", $1, rank[$2], $0 }' | sort | awk -v cpu="$1" '
		function end(    i, from) {
			if (n == 0) return
			from = n + 1
			if (text[n] ~ /^(ud2|udf|unimp|brk|ebreak)/) {
				from = 1
				for (i = n; i > 0 && text[i] !~ /^ret/; i--)
					if (text[i] ~ /^(syscall|svc|ecall)/) from = i + 1
				if (i > 0) from = i + 1
			}
			for (i = 1; i <= n; i++) {
				if (i >= from) wanted = "undefined"
				else wanted = cpu != "x86_64" ? "" : "RSP+" moved[i]
				if (rule[i] == "" || (i >= from) != (rule[i] ~ /undefined/) ||
				    (i < from && wanted != "" && index(rule[i], wanted ":") != 1))
					print "     " name ": " text[i] ": " (rule[i] == "" ? "no row" : rule[i])
			}
			n = 0
		}
		$2 == 1 { end(); inside = 0 }
		$2 == 2 { name = $5 }
		$2 == 3 { inside = 1; row = ""; stack = 8 }
		$2 == 4 { row = $5 " " $6 }
		$2 == 5 && inside {
			n++; rule[n] = row; moved[n] = stack
			text[n] = $5 " " $6 " " $7; sub(/ *$/, "", text[n])
			if ($5 ~ /^push/) stack += 8
			if ($5 ~ /^pop/) stack -= 8
			all++
		}
		END { end(); if (all == 0) print "     no instruction" }'
}

lines=0
for file in arch/[!g]*/start.S arch/[!g]*/thread.S arch/[!g]*/syscall.S; do
	cpu=${file#arch/} cpu=${cpu%%/*}
	wrong "$cpu" "$file" >"$folder/wrong" 2>&1
	[ ! -s "$folder/wrong" ]
	verdict "$file: the tables are right"
	head -n 10 "$folder/wrong"
	# Each line of them, left out.
	for line in $(grep -n '^	\.cfi_' "$file" | cut -d : -f 1); do
		lines=$((lines + 1))
		sed "${line}s/.*//; s,\"\.\./generic,\"arch/generic," "$file" >"$folder/less.S"
		wrong "$cpu" "$folder/less.S" >"$folder/wrong" 2>&1
		[ -s "$folder/wrong" ] && ! grep -q error "$folder/wrong"
		verdict "$file: line $line left out is found"
	done
done
[ "$lines" -gt 0 ]
verdict "there are such lines: $lines"
exit $status
