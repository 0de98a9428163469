#!/bin/sh
# SPDX-License-Identifier: MIT
# The environment variable ASHLAR and mallopt, in programs with a C library: preloaded, and linked statically.
. tests/support/verdict.sh

cat >"$folder/program.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MIB ((size_t)1 << 20)
struct mallinfo2 {
	size_t before[9], keepcost;
};
struct mallinfo2 mallinfo2(void);
int mallopt(int parameter, int value);
static void *blocks[640];
int main(int argc, char **argv)
{
	size_t taken = 0, i;
	if (argc > 2 && argv[2][0] != '/' && mallopt(-1, atoi(argv[2])) != 1)
		return 1;
	if (strcmp(argv[1], "peak") == 0) { /* MiB that stay of 64 */
		for (i = 0; i < 640; i++)
			memset(blocks[i] = malloc(MIB / 10), 1, MIB / 10);
		for (i = 0; i < 640; i++)
			free(blocks[i]);
		printf("%zu\n", (size_t)mallinfo2().keepcost / MIB);
	}
	if (strcmp(argv[1], "most") == 0) { /* MiB that there are, up to 640 */
		while (taken < 640 && (blocks[taken] = malloc(MIB)) != NULL)
			taken++;
		for (i = 0; i < taken; i++)
			free(blocks[i]);
		printf("%zu\n", taken);
	}
	if (strcmp(argv[1], "huge") == 0) { /* what the kernel was told of a block of 64 MiB */
		char line[4096], *p = malloc(64 * MIB), *end;
		FILE *maps = fopen("/proc/self/smaps", "r");
		int here = 0;
		while (fgets(line, sizeof line, maps) != NULL) {
			unsigned long from = strtoul(line, &end, 16);
			if (*end == '-')
				here = from <= (size_t)p + MIB && strtoul(end + 1, NULL, 16) > (size_t)p + MIB;
			if (here && strncmp(line, "VmFlags:", 8) == 0)
				puts(strstr(line, " hg") ? "on" : strstr(line, " nh") ? "off" : "default");
		}
	}
	if (strcmp(argv[1], "file") == 0) { /* of the program's own, as fd 2 */
		free(malloc(1)); /* the first call notes which file fd 2 is */
		fclose(stderr);
		fopen(argv[2], "w");
	}
	if (strcmp(argv[1], "sparse") == 0) /* 1 TiB */
		puts(malloc(MIB << 20) != NULL ? "yes" : "no");
	return 0;
}
C

if ! cc -O1 -fno-builtin -w "$folder/program.c" -o "$folder/dynamic" 2>"$folder/errors"; then
	echo 'skip settings: no C library is here'
	exit 0
fi

# is SETTINGS WORD...: what the program prints with these
is() {
	ASHLAR=$1
	shift
	env "$preload" ASHLAR="$ASHLAR" "$program" "$@" 2>"$folder/said"
}

version=$(sh tools/install/version)
known=' (known: cap: retain: huge: sparse stats)'

between() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

rows() {
	between "$(is '' peak)" 0 16 && between "$(is retain:1G peak)" 60 90 && between "$(is retain:64K peak)" 0 1
	verdict "$how: retain"
	between "$(is retain:64K peak 100000000)" 60 90 && between "$(is retain:1G peak 16384)" 0 1
	verdict "$how: mallopt, which comes later than the variable"
	[ "$(is '' most)" = 640 ] && between "$(is cap:64M most)" 40 64 && between "$(is cap:65536k most)" 40 64 &&
		[ "$(is cap:0 most)" = 640 ] && between "$(is cap:3M most)" 1 2 && between "$(is cap:1M most)" 1 2 &&
		between "$(is cap:1 most)" 1 2
	verdict "$how: cap"
	[ "$(is huge:off huge)" != on ] && [ "$(is huge:on huge)" = on ] && [ "$(is huge:default huge)" = "$(is '' huge)" ]
	verdict "$how: huge"
	if [ "$(cat /proc/sys/vm/overcommit_memory)" = 0 ]; then
		[ "$(is '' sparse)$(is sparse sparse)" = noyes ]
		verdict "$how: sparse"
	else
		echo "skip settings: $how: sparse: the kernel promises everything, or nothing"
	fi
	[ "$(is stats most)" = 640 ] && [ "$(grep -c '^ashlar: address space:  *[0-9]*$' "$folder/said")" = 1 ]
	verdict "$how: stats, at the end" "$folder/said"
	name=${program##*/}
	head -n 1 "$folder/said" | grep -qE "^ashlar: $version, pid [1-9][0-9]*, $name\$"
	verdict "$how: stats begin with the version, the process and its program" "$folder/said"
	is stats file "$folder/own" && [ -f "$folder/own" ] && [ ! -s "$folder/own" ]
	verdict "$how: stats, but not into a file that has become fd 2"
	[ "$(is retain:1G,stats peak)" -ge 60 ] && grep -q 'address space' "$folder/said" && [ "$(is ,retain:1G,, peak)" -ge 60 ] &&
		[ ! -s "$folder/said" ]
	verdict "$how: several, and empty ones" "$folder/said"
	right=yes
	for wrong in retain retain: retain:64X retain:M retain:-1 retain:99999999999999999999 retain:99999999T huge:no huge \
		sparse:1 stats: re ' retain:1G' "$(printf '%200s' x)"; do
		[ "$(is "$wrong" most)" = 640 ] && [ "$(wc -l <"$folder/said")" = 1 ] &&
			grep -q '^ashlar: not understood in ASHLAR: ' "$folder/said" && continue
		right=no
		break
	done
	[ $right = yes ] && between "$(is retain:16777217T peak)" 0 16 # 2^64 bytes and one TiB
	verdict "$how: what is not understood is told in one line, sets nothing, and the program goes on" "$folder/said"
	is "$(i=0; while [ $i -lt 3000 ]; do printf 'w%d,' $i; i=$((i + 1)); done)retain:64K" peak >"$folder/out"
	between "$(cat "$folder/out")" 0 1 && echo "ashlar: not understood in ASHLAR: w0$known" | cmp -s - "$folder/said"
	verdict "$how: of many words one line names the first, and the others are set" "$folder/said"
	is "$(printf 'stats:\033[2J\n\r\\x\001\177\303\244')" most >"$folder/out"
	printf '%s\n' 'ashlar: not understood in ASHLAR: stats:\x1b[2J\x0a\x0d\x5cx\x01\x7f\xc3\xa4'"$known" | cmp -s - "$folder/said"
	verdict "$how: the line has no byte that is not printed" "$folder/said"
	right=yes
	for path in /opt/ashlar /opt/ashlar,stats ./ashlar ../a:stats build/a,cap:1 /; do
		[ "$(is "$path" most)" = 640 ] && [ ! -s "$folder/said" ] || right=$path
	done
	[ "$right" = yes ] && is retain:/ most >"$folder/out" && [ "$(wc -l <"$folder/said")" = 1 ]
	verdict "$how: a path is not for Ashlar ($right)" "$folder/said"
	ASHLARX=stats env "$preload" "$program" most >"$folder/out" 2>&1 && env -i "$preload" "$program" most >>"$folder/out" 2>&1 &&
		[ "$(uniq "$folder/out")" = 640 ]
	verdict "$how: another variable, and none" "$folder/out"
}

how='preloaded' program=$folder/dynamic preload=LD_PRELOAD=$(realpath "$build/libashlar_malloc.so")
rows

for cc in cc musl-gcc; do
	how="static, $cc" program=$folder/static preload=NONE=
	if ! $cc -static -O1 -fno-builtin -w "$folder/program.c" "$build/libashlar_malloc.a" -o "$program" 2>"$folder/errors"; then
		echo "skip settings: $how: it links no static program"
		continue
	fi
	rows
	if [ "$(id -u)" = 0 ] && cp "$program" "$folder/setuid" && chown 65534 "$folder/setuid" && chmod 4755 "$folder/setuid" &&
		chmod 755 "$folder"; then
		program=$folder/setuid
		[ "$(is stats,cap:64M most)" = 640 ] && [ ! -s "$folder/said" ]
		verdict "$how: not in a program that gains rights" "$folder/said"
	else
		echo "skip settings: $how: a program that gains rights: only root can make one here"
	fi
done
exit $status
