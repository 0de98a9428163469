#!/bin/sh
# SPDX-License-Identifier: MIT
# What the smallest program costs: addresses, memory, and nothing it needs of others.
. tests/support/verdict.sh

program=${BUILD:-build}/tests/hello

# verdict NAME FIGURE LIMIT UNIT
verdict() {
	if [ "${2:-none}" != none ] && [ "$2" -le "$3" ]; then
		echo "ok   hello: $1: $2 $4 (at most $3)"
	else
		echo "FAIL hello: $1: ${2:-no figure} $4 (at most $3)"
		status=1
	fi
}

# It waits for the end of its input while we look.
mkfifo "$folder/input"
"$program" wait <"$folder/input" >"$folder/output" &
pid=$!
exec 3>"$folder/input"
tries=0
until grep -q 'hello, world' "$folder/output" || [ $tries = 12000 ]; do
	sleep 0.05
	tries=$((tries + 1))
done

# VmRSS and statm are sums of counters kept by CPU, which may lag: the rollup
# walks the pages themselves.
space=$(awk '/^VmSize:/ {print $2}' "/proc/$pid/status")
resident=$(awk '/^Rss:/ {print $2}' "/proc/$pid/smaps_rollup")
mappings=$(grep -c -v '\[v' "/proc/$pid/maps")
exec 3>&-
wait "$pid"
verdict 'exit status' "$?" 0 ''
verdict 'address space' "$space" 16384 KiB
verdict 'resident memory' "$resident" 64 KiB
# Code, data, bss, stack, and the heap.
verdict 'mappings' "$mappings" 5 ''

verdict 'undefined symbols' "$(nm -u "$program" | wc -l)" 0 ''
stack=$(readelf -lW "$program" | awk '$1 == "GNU_STACK" {print $7}')
if [ "$stack" = RW ]; then
	echo "ok   hello: the stack is not executable"
else
	echo "FAIL hello: the stack is ${stack:-not declared}"
	status=1
fi
verdict 'segments both writable and executable' \
	"$(readelf -lW "$program" | grep -c 'RWE')" 0 ''
exit $status
