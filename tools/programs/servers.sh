#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes for servers (tools/RECIPES.md): node, nginx and postgres with the library preloaded,
# redis built with MALLOC=libc of Debian's source, and a chroot like Alpine's, in which all is
# musl's.  While each works, ashlar-look shows its heap.
. tools/programs/common.sh

# What other users may read.
chmod 755 "$folder"
cp "$library" "$folder/libashlar_malloc.so"
library=$folder/libashlar_malloc.so

# seen PID...: each has the library, and live blocks in it, at least a few.
seen() {
	[ $# -gt 0 ] || return 1
	for pid in "$@"; do
		grep -q "$library" "/proc/$pid/maps" &&
			"$build/ashlar-look" --json "$pid" >"$folder/look" 2>>"$folder/errors" &&
			awk '/"class|"size"/ && match($0, /"taken": [0-9]+/) { n += substr($0, RSTART + 9, RLENGTH - 9) }
				END { exit !(n >= 100) }' "$folder/look" || return 1
	done
}

# until_true COMMAND...: ten minutes end what hangs, and judge nothing.
until_true() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		[ $tries -lt 6000 ] || return 1
		sleep 0.1
		tries=$((tries + 1))
	done
}

# ---- node ----

if have node; then
	cat >"$folder/work.js" <<'JS'
const { Worker, isMainThread, parentPort } = require('worker_threads');
const zlib = require('zlib');
if (isMainThread) {
	let sum = 0, left = 4;
	for (let i = 0; i < 4; i++)
		new Worker(__filename).on('message', n => { sum += n; if (--left == 0) console.log(sum, process.report !== undefined); });
} else {
	const parts = [];
	for (let i = 0; i < 3000; i++) parts.push(Buffer.from('part ' + i * 7919 % 1009));
	const all = Buffer.concat(parts);
	parentPort.postMessage(zlib.gunzipSync(zlib.gzipSync(all)).length + JSON.stringify(parts).length);
}
JS
	same 'node: threads, buffers, zlib' node "$folder/work.js"
	mkfifo "$folder/go"
	with node -e 'console.log(process.pid); require("fs").readFileSync(0)' <"$folder/go" >"$folder/pid" 2>"$folder/errors" &
	exec 3>"$folder/go"
	until_true grep -q . "$folder/pid" && seen "$(cat "$folder/pid")"
	verdict 'node: its heap is seen'
	exec 3>&-
	wait
else
	skip 'node: not installed'
fi

# ---- nginx ----

if have nginx curl; then
	mkdir "$folder/nginx"
	cat >"$folder/nginx/conf" <<END
pid $folder/nginx/pid;
worker_processes 2;
events {}
http {
	access_log off;
	client_body_temp_path $folder/nginx/a;
	proxy_temp_path $folder/nginx/b;
	fastcgi_temp_path $folder/nginx/c;
	uwsgi_temp_path $folder/nginx/d;
	scgi_temp_path $folder/nginx/e;
	server {
		listen unix:$folder/nginx/socket;
		location /text { return 200 "of nginx"; }
		location / { root $PWD/core; gzip on; gzip_types *; gzip_min_length 1; autoindex on; }
	}
}
END
	# ask PATH
	ask_nginx() {
		curl -sf --max-time $limit --unix-socket "$folder/nginx/socket" "http://localhost$1"
	}
	# Its workers' numbers.
	workers() {
		cat /proc/[0-9]*/status 2>/dev/null | awk -v master="$(cat "$folder/nginx/pid")" '
			/^Pid:/ { pid = $2 }
			/^PPid:/ && $2 == master { print pid }'
	}
	both_work() {
		[ "$(workers | wc -l)" = 2 ]
	}
	# Those from before the reload end when they have nothing left to do, and two others begin.
	both_are_new() {
		both_work && ! workers | grep -qxF "$before"
	}
	asked=0 before=
	with nginx -e "$folder/errors" -c "$folder/nginx/conf" >"$folder/out" 2>&1 &&
		until_true ask_nginx /text && [ "$(ask_nginx /text)" = 'of nginx' ] &&
		for i in 1 2 3 4 5 6 7 8 9 10; do
			ask_nginx /front/alloc.c | cmp -s - core/front/alloc.c || break
			curl -sf --max-time $limit --compressed --unix-socket "$folder/nginx/socket" http://localhost/front/alloc.c |
				cmp -s - core/front/alloc.c || break
			asked=$i
			[ $i != 5 ] || { until_true both_work && before=$(workers) &&
				with nginx -e "$folder/errors" -c "$folder/nginx/conf" -s reload; } || break
		done && [ "$asked" = 10 ]
	verdict 'nginx: files, packed and plain, and a reload meanwhile'
	# shellcheck disable=SC2046 # a list
	[ -n "$before" ] && until_true both_are_new && seen "$(cat "$folder/nginx/pid")" $(workers)
	verdict 'nginx: the heaps of its processes are seen'
	plain nginx -e "$folder/errors" -c "$folder/nginx/conf" -s quit
	until_true [ ! -e "$folder/nginx/pid" ]
	verdict 'nginx: it ends in peace'
else
	skip 'nginx: nginx or curl is not installed'
fi

# ---- postgres ----

pg=$(find /usr/lib/postgresql -name initdb -exec dirname {} + 2>/dev/null | sort -V | tail -n 1)
# It refuses to be root.
as=
[ "$(id -u)" != 0 ] || as='runuser -u nobody --'
if [ -n "$pg" ] && [ -x "$pg/postgres" ] && [ -x "$pg/psql" ] && { [ -z "$as" ] || have runuser; }; then
	mkdir -m 777 "$folder/postgres"
	# sql TEXT
	sql() {
		(cd "$folder" && $as "$pg/psql" -X -A -t -q -v ON_ERROR_STOP=1 -h "$folder/postgres" -U tester -c "$1" postgres)
	}
	# start_pg RUN, stop_pg: RUN is with or plain.
	start_pg() {
		(cd "$folder" && quiet "$1" $as "$pg/pg_ctl" -D "$folder/postgres/data" -w -t $limit -l "$folder/postgres/log" \
			-o "-c listen_addresses= -k $folder/postgres -c fsync=off" start)
	}
	stop_pg() {
		(cd "$folder" && quiet $as "$pg/pg_ctl" -D "$folder/postgres/data" -w -t $limit -m fast stop)
	}
	question='SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
		SELECT count(*), sum(length(r)), min(h), max(h) FROM t; SELECT count(DISTINCT left(h, 3)) FROM t;
		SELECT h, count(*) FROM (SELECT left(h, 2) AS h FROM t) AS s GROUP BY h ORDER BY h'
	(cd "$folder" && quiet with $as "$pg/initdb" -D "$folder/postgres/data" -U tester -A trust --no-sync) && start_pg with &&
		sql 'CREATE TABLE t AS SELECT i, md5(i::text) AS h, repeat(md5(i::text), i % 9) AS r FROM generate_series(1, 200000) i;
			CREATE INDEX ON t(h); ANALYZE t' >"$folder/out" 2>"$folder/errors" &&
		sql "$question" >"$folder/answer" 2>"$folder/errors" && [ "$(wc -l <"$folder/answer")" = 258 ]
	verdict 'postgres: a cluster, a table with an index, queries by several processes'
	# shellcheck disable=SC2046 # a list
	seen $(head -n 1 "$folder/postgres/data/postmaster.pid")
	verdict 'postgres: its heap is seen'
	stop_pg && start_pg plain && sql "$question" 2>"$folder/errors" | cmp -s - "$folder/answer"
	verdict 'postgres: without Ashlar it finds the same'
	stop_pg
else
	skip 'postgres: not installed'
fi

# ---- redis, with MALLOC=libc ----

# make setup-programs fetched its source.
source=$(find "$build/redis" -maxdepth 1 -name 'redis_*.orig.tar.gz' 2>/dev/null | head -n 1)

build_redis() {
	mkdir "$folder/redis" && quiet tar -xzf "$source" -C "$folder/redis" --strip-components 1 || return
	(
		unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CC V
		# In src: the Makefile above it starts one make for each target, all in src at once, and they
		# write the same objects.
		quiet plain make -C "$folder/redis/src" -j "$(nproc)" MALLOC=libc redis-server redis-cli redis-benchmark
	)
}
if [ -z "$source" ] || ! have make cc; then
	skip 'redis with MALLOC=libc: no source of it (make setup-programs), or no compiler'
elif build_redis || {
	verdict 'redis: it is built with MALLOC=libc'
	false
}; then
	redis=$folder/redis/src
	# ask WORD...
	ask() {
		"$redis/redis-cli" -s "$folder/redis/socket" "$@" 2>/dev/null
	}
	with "$redis/redis-server" --port 0 --unixsocket "$folder/redis/socket" --save '' --dir "$folder/redis" >"$folder/errors" 2>&1 &
	server=$!
	until_true ask ping
	quiet plain "$redis/redis-benchmark" -q -s "$folder/redis/socket" -n 30000 -c 20 -d 300 -r 30000 -t set,lpush,hset
	# What it says of its memory is its own count, and of the libc's malloc: there is no jemalloc in it.
	ask info memory | tr -d '\r' >"$folder/memory"
	grep -qx 'mem_allocator:libc' "$folder/memory" && ask memory malloc-stats | grep -q 'not supported' && [ "$(ask dbsize)" -gt 1000 ]
	verdict 'redis, built with MALLOC=libc: it knows that malloc is not its own'
	serving=$(ask info server | tr -d '\r' | sed -n 's/^process_id://p')
	seen "$serving"
	verdict 'redis: its heap is seen'
	# The sizes of all blocks, ours, are at least what redis counts, and not far from it.
	used=$(sed -n 's/^used_memory://p' "$folder/memory")
	"$build/ashlar-look" --json "$serving" 2>"$folder/errors" |
		awk -v used="$used" 'match($0, /"block_bytes": [0-9]+/) { n = substr($0, RSTART + 15, RLENGTH - 15); exit }
			END { exit n < used * 0.9 || n > used * 1.3 }'
	verdict "redis: its count of memory is that of ashlar-look ($used bytes)"
	ask shutdown nosave
	wait $server
fi

# ---- a chroot like Alpine's ----

loader=/lib/ld-musl-x86_64.so.1
if [ "$(id -u)" != 0 ] || ! have chroot musl-gcc || [ ! -e $loader ]; then
	skip 'chroot: not root, or no musl here'
else
	root=$folder/root
	mkdir -p "$root/lib" "$root/bin" "$root/etc" "$root/proc" "$root/usr/lib"
	cp -L $loader "$root/lib/"
	cp "$build/libashlar_malloc.so" "$root/usr/lib/"
	cat >"$folder/is.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
extern int ashlar_is_malloc(void) __attribute__((weak));
int main(void)
{
	void *volatile p = malloc(100);
	printf("%d\n", p != NULL && ashlar_is_malloc != NULL && ashlar_is_malloc());
	return 0;
}
C
	for source in "$folder/is.c" "$here/threads.c" "$here/fork.c"; do
		name=${source##*/}
		musl-gcc -O1 -w -fno-builtin -Icore/include -pthread "$source" -o "$root/bin/${name%.c}" 2>"$folder/errors" &&
			quiet plain chroot "$root" "/bin/${name%.c}" 50 || break
	done && [ "$(plain chroot "$root" /bin/is)" = 0 ]
	verdict 'chroot with musl: programs without Ashlar'
	# The variable is for what runs inside; outside, the path is not there, and a message says so.
	quiet plain env LD_PRELOAD=/usr/lib/libashlar_malloc.so chroot "$root" /bin/is && [ "$(cat "$folder/out")" = 1 ]
	verdict 'chroot with musl: LD_PRELOAD makes malloc Ashlar'\''s'
	for name in threads fork; do
		quiet plain env LD_PRELOAD=/usr/lib/libashlar_malloc.so chroot "$root" "/bin/$name" 50
		verdict "chroot with musl: $name.c with Ashlar: $(tail -n 1 "$folder/out")"
	done
fi
exit "$status"
