#!/bin/sh
# SPDX-License-Identifier: MIT
# README.md tells the truth: its programs compile and run by its commands and print what
# it says, what it names is there, and its figures are those of BENCHMARKS.md.
#
#	```c FILE		a program, to be saved as FILE
#	```sh run [TOOL]	commands; skipped where the compiler TOOL is not installed or finds no
#				headers of a C library.  What follows "  # " is what they print.
set -u

top=$(pwd)
build=${BUILD:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
subject='readme'
. tests/support/verdict.sh

# A tree as after make, in which the programs may leave their files.
tree=$folder/tree
mkdir -p "$tree/build"
case $build in /*) ;; *) build=$top/$build ;; esac
for file in "$top"/* "$build"/*; do
	case $file in
	"$top/build") ;;
	"$build"/*) ln -s "$file" "$tree/build/" ;;
	*) ln -s "$file" "$tree/" ;;
	esac
done

# Programs go to their places in the tree, commands to N.sh, and what these print to N.prints.
extract() {
	awk -v tree="$tree" -v folder="$folder" '
	/^```/ && out != "" { close(out); out = ""; next }
	/^```c / { out = tree "/" $2; print $2 >(folder "/programs"); next }
	/^```sh run/ {
		out = folder "/" ++n ".sh"
		print $3 >(folder "/" n ".tool")
		next
	}
	out != "" { print >out }
	' "$1"
	for script in "$folder"/*.sh; do
		sed -n 's/^.*[^ ].*  # //p' "$script" >"${script%.sh}.prints"
	done
}

# compiles TOOL: it is there, and finds the headers of a C library.
compiles() {
	echo '#include <stdio.h>' | "$1" -x c -c - -o "$folder/empty.o" 2>/dev/null
}

extract README.md
[ "$(wc -l <"$folder/programs")" -ge 3 ] && [ -f "$folder/6.sh" ]
verdict "has three programs and the commands to build them: $(tr '\n' ' ' <"$folder/programs")"

unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CC # the commands are the reader's
number=1
while [ -f "$folder/$number.sh" ]; do
	script=$folder/$number.sh
	read -r tool <"$folder/$number.tool"
	name="commands $number ($(sed -n 's/^.* -o build\///p; s/^make .*/&/p' "$script" | head -n 1))"
	if [ -n "$tool" ] && ! compiles "$tool"; then
		echo "skip readme: $name: $tool is not here, or finds no C library"
	else
		(cd "$tree" && sh -eu "$script") >"$folder/printed" 2>"$folder/errors" </dev/null &&
			! grep -q 'warning' "$folder/errors"
		verdict "$name run, without a warning"
		[ $status = 0 ] || sed 's/^/     /' "$folder/errors"
		# What make says, should it have something to do, is no output of the programs.
		grep -vE '^(CC|AS|AR|LINK|MAKE|COPY) |^make' "$folder/printed" >"$folder/said"
		cmp -s "$folder/said" "$folder/$number.prints"
		verdict "$name print what README.md says"
		diff "$folder/$number.prints" "$folder/said" | sed 's/^/     /'
	fi
	number=$((number + 1))
done

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
is_target() { grep -qE "^([a-z_ -]* )?$1( [a-z_ -]*)?:" Makefile; }
is_call() { grep -qE "\\b$1\\b" "$build"/include/*.h; }

{
	sed -n 's/.*](\([A-Za-z][^):#]*\)[#)].*/\1/p' README.md
	sed -n '/^## Where is what/,$ { s/|[^|]*|$//; s/[^`]*`\([^`]*\)`[^`]*/\1\n/g; p }' README.md | grep /
	grep -oE '`(tools|tests|core|arch|sys)/[A-Za-z0-9_./-]+' README.md | tr -d '`'
} | sort -u >"$folder/files"
named 'file' is_there <"$folder/files"
tr '\n' ' ' <README.md | grep -oE '(`make|`make [A-Z]+=[a-z]*) [a-z][a-z-]*' | sed 's/.* //' | sort -u >"$folder/targets"
named 'target of make' is_target <"$folder/targets"
grep -oE '\bash_[a-z_]+' README.md | grep -v '_$' | sort -u >"$folder/calls"
named 'call' is_call <"$folder/calls"

# ---- its figures ----

sed -n '/^<!-- summary -->$/,/^<!-- .summary -->$/ { //!p }' README.md >"$folder/summary"
sh tools/bench/accept summary >"$folder/expected" && cmp -s "$folder/summary" "$folder/expected"
verdict 'the summary has the figures of BENCHMARKS.md'
rows=$(($(grep -c '^|' "$folder/summary") - 2))
[ "$rows" -ge 5 ] && [ "$rows" -le 10 ]
verdict "the summary has at most 10 rows ($rows)"

exit $status
