#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs with libashlar_malloc.so under a filter of system calls (filter.c): what the library
# makes besides mmap, munmap, mremap and madvise kills the process, or gets an errno.
set -u

build=${BUILD:-build}
case $build in /*) ;; *) build=$(pwd)/$build ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

subject='filter'
. tests/support/verdict.sh

if ! command -v cc >"$folder/log" 2>&1 || [ "$(uname -m)" != x86_64 ]; then
	echo 'skip filter: no cc, or another CPU than x86_64'
	exit 0
fi
cc -O2 -shared -fPIC -o "$folder/filter.so" tests/check/filter.c && cc -O2 -pthread -o "$folder/program" tests/check/filtered.c
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
