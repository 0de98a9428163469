#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of `make bench` say what was measured, and what was not: no row is dropped.
set -u

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

printf '%s\n' 'fast|micro fast|1000|a row|ns' 'lost|micro lost|1000|another|' \
	'none|program none|1000|a third|' >"$folder/rows"
# Medians 3 and 6 ns for the first; the peer wins the second; nobody ran the third.
for line in 'fast ashlar time 9000' 'fast ashlar time 2000' 'fast ashlar time 3000' \
	'fast peer time 6000' 'fast peer time 4000' 'fast peer time 90000' \
	'lost ashlar time 4000' 'lost peer time 1000' \
	'none ashlar skip not_here' 'none peer skip not_here' 'fast musl time 5000' \
	'fast ashlar cpu 7000' 'fast peer cpu 14000'; do
	echo "$line"
done | tr ' ' '\t' >"$folder/results"
awk -f tools/bench/table -v what=time "$folder/rows" "$folder/results" >"$folder/time"
awk -f tools/bench/table -v what=cpu "$folder/rows" "$folder/results" >"$folder/cpu"
awk -f tools/bench/table -v what=peak "$folder/rows" "$folder/results" >"$folder/peak"
awk -f tools/bench/table -v what=plot "$folder/rows" "$folder/results" >"$folder/plot"

# expect NAME FILE LINE
expect() {
	if grep -qxF "$3" "$folder/$2"; then
		echo "ok   bench: $1"
	else
		sed 's/^/     /' "$folder/$2"
		echo "FAIL bench: $1"
		status=1
	fi
}
expect 'minimum / median, the best is bold' time '| a row, ns | **2 / 3** | 2.00 / 2.00 |'
expect 'a row that is not won is counted' time \
	'Ashlar first, or within 1 %, in 1 of 2 rows; not in: lost 0.25 (peer).'
expect 'a row that did not run is shown' time '| a third | did not run | did not run |'
expect 'static programs have a table of their own' time '| a row, ns | **5 / 5** |'
expect 'processor time is a table of its own' cpu '| a row, ns | **7 / 7** | 2.00 / 2.00 |'
expect '... of what was measured only' cpu 'Ashlar first, or within 1 %, in 1 of 1 rows.'
expect 'a reason is given for each that did not run' peak '* did not run: a third, Ashlar, peer: not_here'
expect 'the plot has ratios of medians' plot "$(printf 'time\tfast\tpeer\t2.0000')"
awk -f tools/bench/plot "$folder/plot" >"$folder/svg"
expect 'the plot is an SVG' svg '</svg>'

# Each row of the list is one that the program has; the program is not built here.
awk -F'|' '$2 ~ /^micro / { split($2, w, " "); print w[2] }' tools/bench/rows | sort -u >"$folder/listed"
sed -n 's/^\t{"\([^"]*\)", .*/\1/p' tools/bench/single.c tools/bench/crowd.c tools/bench/traces.c |
	sort -u >"$folder/there"
if cmp -s "$folder/listed" "$folder/there"; then
	echo "ok   bench: the list and the programs have the same rows"
else
	diff "$folder/listed" "$folder/there"
	echo "FAIL bench: the list and the programs have the same rows"
	status=1
fi
exit $status
