#!/bin/sh
# SPDX-License-Identifier: MIT
# README.md tells the truth: its programs compile and run by its commands and print what
# it says (tests/support/document.sh), what it names is there, and its figures and those of
# BENCHMARKS.md are of the accepted tables.
. tests/support/document.sh

extract README.md
[ "$(wc -l <"$folder/programs")" -ge 2 ] && [ -f "$folder/4.sh" ]
verdict "has two programs and the commands to build them: $(tr '\n' ' ' <"$folder/programs")"

unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CC # the commands are the reader's
run_document README.md

# ---- what it names is there ----

# named WHAT TEST: each line of standard input passes it; no line at all is a fault of the patterns.
named() {
	count=0 absent=
	while read -r word; do
		count=$((count + 1))
		"$2" "$word" || absent="$absent $word"
	done
	[ "$count" -gt 0 ] && [ -z "$absent" ]
	verdict "each $1 that it names is there ($count)"
	[ -z "$absent" ] || echo "     not there:$absent"
}

is_there() { [ -e "$1" ]; }
MAKEFLAGS= "${MAKE:-make}" -pq BUILD="$build" help >"$folder/rules"
is_target() { grep -q "^$1:" "$folder/rules"; }
is_call() { grep -qE "\\b$1\\b" "$build"/include/*.h; }

{
	grep -oE '\]\([A-Za-z][^):#]*[#)]' README.md | sed 's/^](//; s/[#)]$//'
	grep -oE '`(tools|tests|core|arch|sys)/[A-Za-z0-9_./-]+' README.md | tr -d '`'
} | sort -u >"$folder/files"
named 'file' is_there <"$folder/files"
# All that is quoted in the section about tests is a target.
{
	tr '\n' ' ' <README.md | grep -oE '(`make|`make [A-Z]+=[a-z]*) [a-z][a-z-]*' | sed 's/.* //'
	sed -n '/^## How it is tested/,$p' README.md | grep -oE '`[^`]*`' | tr -d '`' | sed 's/^make //'
} | sort -u >"$folder/targets"
grep -qx model "$folder/targets"
verdict 'the section about tests is found'
named 'target of make' is_target <"$folder/targets"
grep -oE '\bash_[a-z_]+' README.md | grep -v '_$' | sort -u >"$folder/calls"
named 'call' is_call <"$folder/calls"

# ---- its figures ----

# marked PART DOCUMENT: what stands between its marks is what tools/bench/accept makes.
marked() {
	sed -n "/^<!-- $1 -->\$/,/^<!-- .$1 -->\$/ { //!p }" "$2" >"$folder/$1"
	[ -s "$folder/$1" ] && sh tools/bench/accept "$1" >"$folder/expected" && cmp -s "$folder/$1" "$folder/expected"
	verdict "the table '$1' of $2 has the accepted figures"
}
marked summary README.md
for part in glance time peak static shared kills footprint; do
	marked $part BENCHMARKS.md
done
sh tools/bench/accept chart | awk -v low=-1 -v high=2 -f tools/bench/plot | cmp -s - tools/bench/programs.svg
verdict "the README's chart has the accepted figures"
rows=$(($(grep -c '^|' "$folder/summary") - 2))
[ "$rows" -ge 5 ] && [ "$rows" -le 10 ]
verdict "the summary has at most 10 rows ($rows)"

exit $status
