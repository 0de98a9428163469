#!/bin/sh
# SPDX-License-Identifier: MIT
# The counts of make bench-words are right on a program whose writes are known: two threads that write
# in turn, a word of both, two words of one line, and a line for each.
. tests/support/verdict.sh

CC=${CC:-clang} BUILD=$build sh tools/bench/words/build 2 10 >"$folder/why" 2>&1
case $? in
0) ;;
77)
	cat "$folder/why"
	exit
	;;
*)
	sed 's/^/     /' "$folder/why"
	echo 'FAIL words: it builds'
	exit 1
	;;
esac
counts=$folder/counts
timeout 3600 qemu-x86_64 -plugin "$build/bench/words/words.so,out=$counts,cores=2,machine=test" "$build/bench/words/2/words" \
	plant 1 "$counts" >"$folder/out" 2>&1
at() { awk -v name="$1" '$1 == "at" && $2 == name { print $3 }' "$folder/out"; }
# word ADDRESS: writes, moves, others' reads, writers
word() { awk -v at="$1" '$1 == "W" && $2 == at { print $3, $4, $6 }' "$counts"; }
line() { awk -v at="$1" '$1 == "L" && $2 == at { print $3, $4, $5 }' "$counts"; }

[ "$(word "$(at both)")" = '2000 1999 2' ]
verdict 'a word that two threads write in turn moves each time'
[ "$(word "$(at left)") $(word "$(at right)")" = '1000 0 1 1000 0 1' ]
verdict 'words of one line each have one writer'
# Each write but the first takes the line from the other core, for no reason of the word's own.
[ "$(line "$(at left)")" = '0 1999 1999' ]
verdict '... and their line moves each time, without a reason in the words'
[ -z "$(line "$(at own)")" ] && [ -n "$(at own)" ]
verdict 'a line of one thread alone is in no count'
grep -q "^row 1000 " "$folder/out" && grep -q "^word .* the program's own" "$folder/out"
verdict 'the program sums the counts up by kinds'
[ $status = 0 ] || reason "$folder/out"
exit $status
