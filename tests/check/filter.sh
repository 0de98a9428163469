#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs with libashlar_malloc.so under a filter of system calls (filter.c): what the library
# makes besides those of README.md's table kills the process, or gets an errno.  Likewise tests of
# the public headers, by the archive.
. tests/support/verdict.sh

case $build in /*) ;; *) build=$(pwd)/$build ;; esac

if ! command -v cc >"$folder/log" 2>&1 || [ "$(uname -m)" != x86_64 ]; then
	echo 'skip filter: no cc, or another CPU than x86_64'
	exit 0
fi
# row TEXT: the calls of the row of README.md's table that begins with it.
row() {
	sed -n "s/^| $1[^|]*|\([^|]*\)|\$/\1/p" README.md
}

# of TEXT...: what of it are calls, as filter.c wants them.
of() {
	for call in $(echo "$*" | tr -cs 'a-z0-9_' ' '); do
		echo "#include <sys/syscall.h>
SYS_$call" | cc -E -P -x c - | grep -q '^[0-9]' && printf 'SYS_%s,' "$call"
	done
}

allocation=$(row malloc,) looks="$(row .ash_trim) $(row .ash_find)" misuse=$(row misuse)
shared=$(sed -n '/^ \* System calls, besides/,/^ \*$/p' core/include/ashlar_heap.h)
[ "$(of "$allocation" | tr ',' '\n' | sort | tr '\n' ' ')" = 'SYS_fstat SYS_madvise SYS_mmap SYS_mremap SYS_munmap ' ]
verdict "README.md's table has the calls of an allocation"
# A preloaded program is past its first call, and so makes no fstat.
cc -O2 -shared -fPIC -DALLOWED="$(of "${allocation%%;*}")" -o "$folder/filter.so" tests/check/filter.c && cc -O2 -pthread -o "$folder/program" tests/check/filtered.c
verdict 'the filter and the program compile'

# run FILTER COMMAND...
run() {
	how=$1
	shift
	FILTER=$how LD_PRELOAD="$build/libashlar_malloc.so $folder/filter.so" "$@" >"$folder/out" 2>"$folder/log"
}

run kill "$folder/program" forbidden
[ $? = 159 ]
verdict 'a call that is not in the list kills (malloc_stats writes)' "$folder/log"

# The code of the archive in the tests' program; the runtime's calls are not judged.
at=$(awk '/libashlar\.a\(.*:\(\.text/ { if (!from) from = $1; to = $1; more = $3 } END { print from "-" to " " more }' \
	"$build/tests/filtered.map")
at=${at%-*}-$(printf '%x' $((0x$(echo "${at#*-}" | cut -d' ' -f1) + 0x${at#* })))

# tests NAME FILTER CALLS WORD...: those tests, in which the library makes none but the calls.
tests() {
	name=$1 how=$2 calls=$3
	shift 3
	cc -O2 -DALLOWED="$calls" -o "$folder/filter" tests/check/filter.c &&
		FILTER=$how FILTER_AT=$at "$folder/filter" "$build/tests/filtered" "$@" >"$folder/out" 2>"$folder/log" &&
		grep -q '^[1-9][0-9]* passed' "$folder/out"
	verdict "$how: tests of $name" "$folder/log" "$folder/out"
}

# left TEST REASON: is not among those tests.
left() {
	echo "skip filter: $1: $2"
}

# EPERM
for how in kill 1; do
	tests 'allocations' $how "$(of "$allocation")" grow_ resize_class resize_shrinks resize_span_ zalloc_stays zalloc_from \
		fork_t addresses_under_a_limit_100mb_4 keep_a_peak_again_of_1000 keep_a_peak_again_of_5 expand_large expand_within heap_cap heap_signals heap_many \
		heap_fork threads_slabs threads_share signal_at_each_step_of_fast signal_at_each_step_of_a_first \
		-grow_to_a_power -grow_beside -resize_span_leaves -misuse
done
tests 'looks, trims and misuse' kill "$(of "$allocation $looks $misuse")" align_all grow_to_a_power find_ misuse_ resize_span_leaves \
	trim_keeps trim_last trim_slabs trim_of_idle -find_in_shared -aligned_misuse -in_misuse
tests 'shared heaps' kill "$(of "$allocation $looks $misuse $shared")" find_in_shared heap_aligned heap_expand heap_shared_capacity \
	names_ -heap_aligned_refuses
cc -O2 -DALLOWED="$(of "$allocation")" -o "$folder/filter" tests/check/filter.c
FILTER=kill FILTER_AT=$at "$folder/filter" "$build/tests/filtered" find_no_block 2>"$folder/log" | grep -q '^FAIL find_no_block: signal 31'
verdict 'a call of the archive that is not in the list kills (ash_find)' "$folder/log"
cc -O2 -DALLOWED="$(of "$allocation $looks")" -o "$folder/filter" tests/check/filter.c
FILTER=1 FILTER_AT=$at "$folder/filter" "$build/tests/filtered" misuse_release_interior >"$folder/out" 2>&1
grep -q ': 1004 (.*) and 1006 (' "$folder/out"
verdict '1: where the calls of an abort are refused, a trap ends the program' "$folder/out"
left 'traces, each step of slow calls, rings of threads' 'they take seconds'
left 'tests of allocations that ask ash_stats, ash_check or ash_trim' 'these may make further calls; some are among the looks'
left 'inner, program' 'there the runtime and the library share the code that makes calls'

python=$(python3 -c 'import sys; print(sys.executable)' 2>"$folder/log")
printf '%s\n' 'import threading, zlib' \
	'def work():' \
	'    for i in range(300): zlib.compress(str(list(range(i))).encode() * 20)' \
	'for r in range(3):' \
	'    t = [threading.Thread(target=work) for _ in range(4)]' \
	'    [x.start() for x in t]; [x.join() for x in t]' \
	'big = [bytearray(100000) for _ in range(1000)]; del big' \
	'print("done")' >"$folder/work.py"
# EPERM, ENOSYS, ENOMEM, EINVAL and ESRCH
for how in kill 1 38 12 22 3; do
	run $how "$folder/program"
	verdict "$how: threads, peaks, blocks of all sizes, fork" "$folder/log"
	# Others' programs with each errno: make test-long.
	case $how in kill | 1) ;; *) [ -n "${STEPS_FULL:-}" ] || continue ;; esac
	run $how perl -e 'my %h; $h{$_} = "x" x ($_ % 3000) for 1..50000; %h = (); my @a = map { "y" x 100000 } 1..300; print "done\n"'
	[ $? = 0 ] && grep -qx done "$folder/out"
	verdict "$how: perl" "$folder/log"
	if [ -n "$python" ]; then
		run $how env PYTHONMALLOC=malloc "$python" "$folder/work.py"
		[ $? = 0 ] && grep -qx done "$folder/out"
		verdict "$how: python3 with threads" "$folder/log"
	fi
	if command -v sqlite3 >>"$folder/log"; then
		run $how sqlite3 :memory: 'create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) insert into t select i, hex(randomblob(i % 200)) from n; create index x on t(b); delete from t where a % 3 = 0; vacuum; select count(*) from t;'
		[ $? = 0 ] && grep -qx 66667 "$folder/out"
		verdict "$how: sqlite3" "$folder/log"
	fi
	if command -v redis-server >>"$folder/log" && command -v redis-benchmark >>"$folder/log"; then
		FILTER=$how LD_PRELOAD="$build/libashlar_malloc.so $folder/filter.so" redis-server --port 0 --unixsocket "$folder/socket" \
			--save '' >"$folder/log" 2>&1 &
		pid=$!
		tries=0
		until [ -S "$folder/socket" ] || [ $tries = 200 ]; do
			sleep 0.05
			tries=$((tries + 1))
		done
		redis-benchmark -s "$folder/socket" -q -n 2000 -d 500 -t set,get,lpush,lrange_100 >"$folder/out" 2>&1 &&
			redis-cli -s "$folder/socket" shutdown nosave >>"$folder/out" 2>&1
		wait $pid
		verdict "$how: redis-server" "$folder/log" "$folder/out"
		rm -f "$folder/socket"
	fi
done
[ -n "$python" ] || echo 'skip filter: no python3'
command -v sqlite3 >>"$folder/log" || echo 'skip filter: no sqlite3'
command -v redis-server >>"$folder/log" || echo 'skip filter: no redis-server'
exit $status
