#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of `make bench` say what was measured, and what was not: no row is dropped.
. tests/support/verdict.sh

printf '%s\n' 'fast|micro fast|1000|a row|ns' 'lost|micro lost|1000|another|' \
	'none|program none|1000|a third|' 'tie|micro tie|1000|a fourth|' >"$folder/rows"
# Medians 3 and 6 ns for the first; the peer wins the second; the third was not run.
# The fourth: the medians are 5 and 4 ns, and equal runs differ by as much.  What is no row (the loop
# without a malloc) is in no table.
for line in 'fast ashlar time 9000' 'fast ashlar time 2000' 'fast ashlar time 3000' \
	'fast peer time 6000' 'fast peer time 4000' 'fast peer time 90000' \
	'lost ashlar time 4000' 'lost peer time 1000' \
	'tie ashlar time 4000' 'tie ashlar time 5000' 'tie ashlar time 9000' 'tie peer time 4000' \
	'quiet calibration time 1000' \
	'none ashlar skip not_here' 'none peer skip not_here' 'fast musl time 5000' \
	'fast ashlar cpu 7000' 'fast peer cpu 14000'; do
	echo "$line"
done | tr ' ' '\t' >"$folder/results"
tables() { # WHAT
	awk -v what="$1" -f tools/bench/titles -f tools/bench/table "$folder/rows" "$folder/results"
}
tables time >"$folder/time"
tables cpu >"$folder/cpu"
tables peak >"$folder/peak"
tables plot >"$folder/plot"

# expect NAME FILE LINE
expect() {
	grep -qxF "$3" "$folder/$2"
	verdict "$1" "$folder/$2"
}
expect 'minimum / median, the best is bold' time '| a row, ns | **2 / 3** | 2.00 / 2.00 |'
expect 'a row that is not won is counted' time \
	'Ashlar first in 1, tied with the first in 1 of 3 rows. Behind in: another 0.25 (peer).'
expect 'the loop without a malloc is no column' time '| time | Ashlar | peer |'
expect 'a row that did not run is shown' time '| a third | did not run | did not run |'
expect 'static programs have a table of their own' time '| a row, ns | **5 / 5** |'
expect 'processor time is a table of its own' cpu '| a row, ns | **7 / 7** | 2.00 / 2.00 |'
expect '... of what was measured only' cpu 'Ashlar first in 1, tied with the first in 0 of 1 rows.'
expect 'a reason is given for each that did not run' peak '* did not run: a third, Ashlar, peer: not_here'
expect 'the plot has ratios of medians' plot "$(printf 'time\ta row\tpeer\t2.0000')"
{
	printf '%s\n' '*`make bench`, 2026-01-02, a CPU, 2 CPUs, Linux: 3 rounds; minimum / median.*' ''
	cat "$folder/time"
	printf '%s\n' '| peak resident, MiB | Ashlar | peer |' '|---|---|---|' '| large | 1 / 2 | **0.40 / 0.50** |' \
		'| small | **1 / 1.99** | 2.00 / 2.00 |' '| ... static | 4 / 4 | did not run |'
} >"$folder/compare.txt"
for part in glance time peak; do
	awk -v part=$part -f tools/bench/titles -f tools/bench/page "$folder/compare.txt" >"$folder/page-$part"
done
expect 'a page has the medians' page-time '| a row, ns | **3** | 2.00 |'
expect 'at a glance there is what is behind, of what ran' page-glance '| time, one thread | 2 of 3 | another 0.25 (peer) |'
! grep -qF '**5**' "$folder/page-time" && [ "$(grep -c '^|' "$folder/page-time")" = 6 ]
verdict '... of the programs that a malloc is preloaded into'
expect 'a page has peaks of 2 MiB' page-peak '| large | 2 | **0.50** |'
expect '... by their full titles' page-peak '| small, static | 4 | - |'
! grep -q '1.99' "$folder/page-peak"
verdict '... and none below'

# make bench-accept, in a tree of its own: date and CPU above each table, and no table without.
accepting=$folder/accept
mkdir -p "$accepting/build/bench" "$accepting/tools"
cp -r tools/bench "$accepting/tools/"
cp BENCHMARKS.md README.md "$accepting"
printf '%s\n' '*`make x`, 2026-01-02, a CPU, 2 CPUs, Linux: once.*' '' '| a |' '|---|' '| 1 |' '' '| b |' '|---|' '| 2 |' '' \
	'text' >"$accepting/build/bench/scale.md"
(cd "$accepting" && BUILD=build sh tools/bench/accept >/dev/null) && cp "$accepting/tools/bench/accepted/scale.txt" "$folder/accepted"
[ "$(grep -c '^.`make x`, 2026-01-02, a CPU' "$folder/accepted")" = 2 ] &&
	[ "$(sed -n 1p "$folder/accepted" | cut -c 1)" = '*' ] && [ "$(grep -c '^|' "$folder/accepted")" = 6 ] && grep -qx text "$folder/accepted"
verdict 'make bench-accept stamps each table with date and CPU'
cmp -s README.md "$accepting/README.md" && cmp -s BENCHMARKS.md "$accepting/BENCHMARKS.md"
verdict 'make bench-accept makes the same documents of the same figures'
# The same tables as of another CPU, and of a third one.
for cpu in second third; do
	{
		echo "*\`make bench\`, 2026-01-02, $cpu, 2 CPUs, Linux*"
		sed '/^\*.*CPU/d' tools/bench/accepted/compare.txt
	} >"$accepting/build/bench/compare.md"
	(cd "$accepting" && BUILD=build sh tools/bench/accept >/dev/null)
done
sed -n 1p "$accepting/tools/bench/accepted/others.txt" | grep -q ' second, 2 CPUs' &&
	! grep -q ' third, ' "$accepting/tools/bench/accepted/others.txt" &&
	[ "$(grep -c '^\*.*CPU' "$accepting/tools/bench/accepted/others.txt")" -ge 2 ] &&
	[ "$(grep -c '^| pair of 16 B' "$accepting/tools/bench/accepted/others.txt")" -ge 2 ]
verdict 'make bench-accept keeps the first table of each other CPU'
[ "$(grep -c '^\*.*, third, 2 CPUs' "$accepting/BENCHMARKS.md")" = 4 ] && grep -q '^\*.*, third, 2 CPUs' "$accepting/README.md"
verdict 'make bench-accept puts the new tables into the documents'
rm "$accepting/build/bench/compare.md"
sed 1d "$accepting/build/bench/scale.md" >"$accepting/build/bench/shared.md"
before() {
	rm -rf "$folder/before"
	mkdir "$folder/before"
	cp -r "$accepting/BENCHMARKS.md" "$accepting/README.md" "$accepting/tools/bench/accepted" "$folder/before"
}
unchanged() {
	for part in BENCHMARKS.md README.md; do cmp -s "$folder/before/$part" "$accepting/$part" || return; done
	diff -rq "$folder/before/accepted" "$accepting/tools/bench/accepted" >/dev/null
}
before
! (cd "$accepting" && BUILD=build sh tools/bench/accept >/dev/null 2>"$folder/errors") &&
	grep -q 'no date and CPU' "$folder/errors" && unchanged
verdict 'make bench-accept refuses a table without them'
printf '%s\n' '*`make x`, 2026-01-02, a CPU, 2 CPUs, Linux: once.*' '' '| time | Ashlar | b |' '|---|' '| 1 |' '' \
	>"$accepting/build/bench/compare.md"
rm "$accepting/build/bench/shared.md"
! (cd "$accepting" && BUILD=build sh tools/bench/accept >/dev/null 2>"$folder/errors") &&
	grep -q 'no row: time|pair of 128 B' "$folder/errors" && unchanged
verdict 'make bench-accept refuses tables that lack a row of the summary'

# Each row of the list is one that the program has, but `quiet` (compare) and `cold` (cost); the program is not built here.
awk -F'|' '$2 ~ /^micro / { split($2, w, " "); print w[2] }' tools/bench/rows | sort -u >"$folder/listed"
sed -n 's/^\t{"\([^"]*\)", .*/\1/p' tools/bench/single.c tools/bench/operators.c tools/bench/crowd.c tools/bench/suite.c \
	tools/bench/traces.c | grep -vxE "quiet|cold" | sort -u >"$folder/there"
if cmp -s "$folder/listed" "$folder/there"; then
	echo "ok   bench: the list and the programs have the same rows"
else
	diff "$folder/listed" "$folder/there"
	echo "FAIL bench: the list and the programs have the same rows"
	status=1
fi
exit $status
