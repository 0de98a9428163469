#!/bin/sh
# SPDX-License-Identifier: MIT
# Real programs with Ashlar as their malloc, checked against a run without it.
. tools/programs/common.sh

# First, because all other tests would pass if the library were not loaded.
with cat /proc/self/maps | grep -q "$library"
verdict 'LD_PRELOAD loads the library'

if have sqlite3; then
	cat >"$folder/script" <<'SQL'
PRAGMA cache_size=200;
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL, d BLOB);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60000)
INSERT INTO t SELECT i, 'text ' || (i * 7919 % 10007) || substr(hex(zeroblob(i % 200)), 1, i % 300),
	i / 3.0, zeroblob(i % 900) FROM n;
CREATE INDEX tb ON t(b);
CREATE INDEX tc ON t(c, b);
SELECT count(*), sum(length(b)), sum(length(d)), round(sum(c), 3) FROM t;
UPDATE t SET b = b || b WHERE a % 3 = 0;
DELETE FROM t WHERE a % 5 = 0;
SELECT b, count(*) FROM t GROUP BY substr(b, 1, 7) ORDER BY 2 DESC, 1 LIMIT 20;
SELECT group_concat(x, ',') FROM (SELECT t.a AS x FROM t JOIN t u ON t.b = u.b AND t.a < u.a ORDER BY 1 LIMIT 500);
SELECT length(group_concat(b)) FROM t;
VACUUM;
PRAGMA integrity_check;
SELECT count(*), sum(length(b)) FROM t;
SQL
	export folder
	same 'sqlite3: tables, indexes, vacuum' sh -c 'sqlite3 :memory: <"$folder/script"'
else
	skip 'sqlite3: not installed'
fi

if have lua5.4; then
	cat >"$folder/script.lua" <<'LUA'
local t, seed = {}, 1
local function random(n) seed = (seed * 16807) % 2147483647 return seed % n + 1 end
for round = 1, 40 do
	for i = 1, 5000 do
		local k = random(20000)
		t[k] = t[k] and nil or { string.rep(tostring(k), random(30)), k, { i } }
	end
	if round % 10 == 0 then collectgarbage() end
end
local keys, sum = {}, 0
for k, v in pairs(t) do keys[#keys + 1] = k sum = sum + #v[1] end
table.sort(keys)
print(#keys, sum, table.concat(keys, " ", 1, 50))
local parts = {}
for i = 1, 100000 do parts[#parts + 1] = string.format("%d:%s", i, ("x"):rep(i % 17)) end
print(#table.concat(parts, ","))
local co = {}
for i = 1, 2000 do co[i] = coroutine.wrap(function(a) while true do a = coroutine.yield(a * i) end end) end
local s = 0
for i = 1, 2000 do s = s + co[i](i) end
print(s)
LUA
	same 'lua5.4: tables, strings, coroutines, collections' lua5.4 "$folder/script.lua"
else
	skip 'lua5.4: not installed'
fi

# A python whose own tests are installed; in Debian they are a separate package.
python=
for candidate in /usr/bin/python3 python3 python3.13 python3.12 python3.11 python3.10 "$HOME"/.pyenv/versions/*/bin/python3; do
	have "$candidate" && "$candidate" -c 'import test.test_json, test.test_gc' 2>/dev/null &&
		python=$("$candidate" -c 'import sys; print(sys.executable)') && break
done
if [ -n "$python" ]; then
	for module in test_json test_dict test_gc test_threading test_list; do
		# A test that also fails without Ashlar shows nothing.
		if ! quiet plain env PYTHONMALLOC=malloc "$python" -m test -q $module; then
			skip "python3 $module: it fails without Ashlar"
			continue
		fi
		# Some of them hang on the clock: one that fails, but not by a signal, has two more tries.
		for _ in 1 2 3; do
			quiet with env PYTHONMALLOC=malloc "$python" -m test -q $module
			ended=$?
			[ $ended != 0 ] && [ $ended -lt 124 ] || break
		done
		if [ $ended != 0 ] && [ $ended -lt 124 ] &&
			! plain env PYTHONMALLOC=malloc "$python" -m test -q $module >/dev/null 2>&1; then
			skip "python3 $module: by now it fails without Ashlar, too"
			continue
		fi
		[ $ended = 0 ]
		verdict "python3 with PYTHONMALLOC=malloc: $module"
	done
else
	skip 'python3: no python with its own tests here'
fi

if have perl; then
	cat >"$folder/script.pl" <<'PERL'
my ($seed, %h) = (1);
sub r { $seed = ($seed * 16807) % 2147483647; $seed % $_[0] }
for my $i (1 .. 200000) { my $k = "k" . r(30000); if (exists $h{$k} && r(2)) { delete $h{$k} } else { $h{$k} = "v" x r(100) . $i } }
my @k = sort keys %h;
print scalar(@k), " ", length(join ",", map { $h{$_} } @k), "\n";
my $text = join " ", map { "word$_" x (1 + r(3)) } 1 .. 50000;
my $n = () = $text =~ /word(\d*)7\b/g;
(my $u = $text) =~ s/(\d+)/<$1>/g;
print "$n ", length $u, "\n";
my @deep; push @deep, { list => [1 .. r(50)], name => "n$_" } for 1 .. 20000;
print scalar(grep { @{ $_->{list} } > 25 } @deep), "\n";
PERL
	same 'perl: hashes, expressions, nested data' perl "$folder/script.pl"
else
	skip 'perl: not installed'
fi

if have php; then
	# It opens its extensions by RTLD_DEEPBIND (core/malloc/open.c), and USE_ZEND_ALLOC=0 gives malloc all that it needs.
	cat >"$folder/script.php" <<'PHP'
<?php
$seed = 1;
function r($n) { global $seed; $seed = ($seed * 16807) % 2147483647; return $seed % $n; }
$h = [];
for ($i = 0; $i < 200000; $i++) { $k = 'k' . r(30000); if (isset($h[$k]) && r(2)) unset($h[$k]); else $h[$k] = str_repeat('v', r(100)) . $i; }
ksort($h);
echo count($h), ' ', strlen(implode(',', $h)), ' ', md5(json_encode($h)), "\n";
echo preg_match_all('/v+(\d*)7\b/', implode(' ', $h)), ' ', strlen(gzcompress(serialize($h))), "\n";
class Node { public $next, $list; function __construct($n) { $this->list = range(0, $n); } }
for ($i = 0; $i < 20000; $i++) { $a = new Node(r(50)); $b = new Node(r(5)); $a->next = $b; $b->next = $a; }
echo gc_collect_cycles() > 0 ? 'cycles' : 'none', ' ', implode(',', array_map('strtoupper', str_split('extensions', 3))), "\n";
PHP
	for own in 1 0; do
		USE_ZEND_ALLOC=$own same "php: extensions, arrays, expressions, cycles (USE_ZEND_ALLOC=$own)" php "$folder/script.php"
	done
else
	skip 'php: not installed'
fi

if have git && [ -e .git ]; then
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	rm -rf "$folder/clone"
	quiet with git clone -q --no-local "file://$PWD" "$folder/clone" &&
		quiet with git -C "$folder/clone" fsck --full --strict &&
		quiet with git -C "$folder/clone" -c gc.auto=0 gc -q --aggressive --prune=now &&
		quiet with git -C "$folder/clone" fsck --full &&
		quiet plain git -C "$folder/clone" fsck --full
	verdict 'git: clone, fsck, gc, fsck of this repository'
	same 'git: log with patches' git -C "$folder/clone" log -p --stat
else
	skip 'git: not installed, or no repository here'
fi

for compiler in gcc clang; do
	if ! have $compiler; then
		skip "$compiler: not installed"
		continue
	fi
	plain $compiler -O2 -g -c "$build/amalgamation/ashlar.c" -o "$folder/plain.o" &&
		quiet with $compiler -O2 -g -c "$build/amalgamation/ashlar.c" -o "$folder/with.o" &&
		cmp -s "$folder/plain.o" "$folder/with.o"
	verdict "$compiler: all of Ashlar in one source, the same object byte for byte"
done

if have redis-server redis-cli redis-benchmark; then
	# By a socket of its own: another run may have the port, and a container no network.
	mkdir "$folder/redis"
	socket=$folder/redis/socket
	ask() {
		redis-cli -s "$socket" "$@" 2>/dev/null
	}
	# serve PRELOAD: starts a server and waits until it answers.
	serve() {
		LD_PRELOAD=$1 redis-server --port 0 --unixsocket "$socket" --dir "$folder/redis" --save '' \
			--enable-debug-command yes >"$folder/errors" 2>&1 &
		server=$!
		tries=0
		until [ "$(ask ping)" = PONG ] || [ $tries = 6000 ]; do
			sleep 0.1
			tries=$((tries + 1))
		done
	}
	serve "$library"
	quiet plain redis-benchmark -q -s "$socket" -n 20000 -c 20 -d 200 -r 20000 \
		-t set,get,incr,lpush,rpush,lpop,sadd,hset,spop,zadd,lrange_100,mset
	before=$(ask dbsize)
	ask bgsave >/dev/null
	# The child of fork reads all the data while the parent continues.
	quiet plain redis-benchmark -q -s "$socket" -n 20000 -c 20 -d 300 -r 1000 -t set,lpush,hset
	tries=0
	until ask info persistence | grep -q 'rdb_bgsave_in_progress:0' || [ $tries = 6000 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	ask info persistence | grep -q 'rdb_last_bgsave_status:ok' && [ "${before:-0}" -gt 1000 ] &&
		grep -q "$library" "/proc/$server/maps"
	verdict 'redis-server: redis-benchmark, and a BGSAVE while it works'
	ask save >/dev/null
	digest=$(ask debug digest)
	ask shutdown nosave
	wait $server
	if have redis-check-rdb; then
		quiet plain redis-check-rdb "$folder/redis/dump.rdb"
		verdict 'redis-server: redis-check-rdb finds its file whole'
	fi
	serve ''
	[ -n "$digest" ] && [ "$digest" = "$(ask debug digest)" ]
	verdict 'redis-server: without Ashlar it loads the file, the same data'
	ask shutdown nosave
	wait $server
else
	skip 'redis-server: not installed'
fi

if have stress-ng; then
	quiet with stress-ng --malloc 4 --malloc-bytes 64M --malloc-ops 200000 --verify --timeout 60 --metrics-brief
	verdict 'stress-ng: --malloc with verification'
	quiet with stress-ng --malloc 2 --malloc-pthreads 4 --malloc-bytes 32M --malloc-ops 50000 --verify --timeout 60
	verdict 'stress-ng: --malloc with threads'
else
	skip 'stress-ng: not installed'
fi

packed="$build/amalgamation/ashlar.c $build/tests/all $build/libashlar.a"
# shellcheck disable=SC2086 # a list
for tool in xz zstd; do
	if ! have $tool; then
		skip "$tool: not installed"
		continue
	fi
	cat $packed $packed $packed >"$folder/input"
	plain $tool -q -T2 -c "$folder/input" >"$folder/expected" &&
		with $tool -q -T2 -c "$folder/input" >"$folder/packed" 2>"$folder/errors" &&
		cmp -s "$folder/expected" "$folder/packed" &&
		with $tool -q -d -c "$folder/packed" 2>"$folder/errors" | cmp -s - "$folder/input"
	verdict "$tool: packed with threads and unpacked, the same bytes"
done
exit $status
