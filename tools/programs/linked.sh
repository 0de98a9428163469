#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs of this folder with Ashlar as their malloc: by LD_PRELOAD, linked, and static,
# with glibc and musl, in C and C++.
. tools/programs/common.sh

CC_HOST=$(command -v gcc || command -v clang || command -v cc)
CXX_HOST=$(command -v g++ || command -v clang++)
musl=/usr/lib/x86_64-linux-musl
warn='-Wall -Wextra -Wno-unused-result'

# compiled COMMAND...: makes $folder/program; false: it could not.
compiled() {
	rm -f "$folder/program"
	"$@" -o "$folder/program" 2>"$folder/errors" >"$folder/out"
	[ -x "$folder/program" ]
}

# kinds RUN SOURCE FLAG...: links the program in each way and calls RUN with the way's name.
# shellcheck disable=SC2086 # lists of words, here and below
kinds() {
	run=$1 source=$2 name=${2##*/}
	shift 2
	flags="-O1 -g -fno-builtin $warn -Icore/include -pthread $*"
	if [ -z "$CC_HOST" ]; then
		skip "$name with glibc: no compiler for it is here"
	else
		compiled "$CC_HOST" $flags "$source" && $run preload "$name by LD_PRELOAD"
		compiled "$CC_HOST" $flags -fno-pie -no-pie -DFIXED "$source" &&
			$run preload "$name at fixed addresses, by LD_PRELOAD"
		compiled "$CC_HOST" $flags "$source" "$archive" && $run linked "$name with glibc, the archive linked in"
		for how in -static -static-pie; do
			if compiled "$CC_HOST" $flags $how -DSTATIC "$source" "$archive"; then
				$run linked "$name with glibc, $how"
			else
				skip "$name with glibc, $how: no such libc here"
			fi
		done
	fi
	if compiled musl-gcc $flags -static -DSTATIC "$source" "$archive"; then
		$run linked "$name with musl, by musl-gcc"
	else
		skip "$name with musl: musl-gcc cannot link it here"
	fi
	if [ ! -f "$musl/libc.a" ]; then
		skip "$name with musl, by clang: no musl here"
		return
	fi
	compiled clang --target=x86_64-linux-musl -nostdinc -isystem "$(clang -print-resource-dir)/include" \
		-isystem /usr/include/x86_64-linux-musl -nostdlib -static -fuse-ld=lld $flags -DSTATIC \
		"$musl/crt1.o" "$source" "$archive" "$musl/libc.a"
	$run linked "$name with musl, by clang"
}

# says HOW NAME...: a RUN for `kinds`; the program's last line must be $wanted.
wanted=
says() {
	how=$1
	shift
	if [ "$how" = preload ]; then
		quiet with "$folder/program"
	else
		quiet plain "$folder/program"
	fi
	[ $? = 0 ] && [ "$(tail -n 1 "$folder/out")" = "$wanted" ] &&
		{ [ "$how" = preload ] || quiet sh tools/ashlar-check "$folder/program"; }
	verdict "$*"
}

wanted='all is well'
kinds says "$here/names.c" -ldl
wanted='the figures agree'
kinds says "$here/info.c"
wanted='1024 destructors, 1000 guests'
kinds says "$here/threads.c"
# ---- names ----

if [ -n "$CC_HOST" ] && echo '#include <malloc.h>' | "$CC_HOST" -E - >"$folder/header" 2>"$folder/errors"; then
	# Only declarations of the header itself, not of headers it includes.
	awk '/^# / { mine = $3 ~ /malloc\.h"$/; next } mine' "$folder/header" | tr '\n' ' ' | tr ';' '\n' |
		sed -n 's/^ *extern [^(]*[ *]\([a-z_][a-z_0-9]*\) *(.*/\1/p' | sort -u >"$folder/names"
	nm -D --defined-only "$library" | awk '{print $3}' | sort >"$folder/shown"
	comm -23 "$folder/names" "$folder/shown" >"$folder/errors"
	[ "$(wc -l <"$folder/names")" -gt 10 ] && [ ! -s "$folder/errors" ]
	verdict "each function of this C library's <malloc.h> ($(wc -l <"$folder/names"))"
else
	skip 'names of <malloc.h>: no compiler, or no such header here'
fi

# ---- unwinding from each instruction ----

# unwound NAME COMMAND...: runs unwind.c's program
unwound() {
	name=$1
	shift
	quiet "$@" && [ "$(tail -n 1 "$folder/out")" = 'every walk was complete' ]
	verdict "$name"
}
flags="-O1 -g -fno-builtin $warn -Icore/include -pthread"
if [ "$(uname -m)" != x86_64 ] || [ -z "$CC_HOST" ] || ! compiled "$CC_HOST" $flags "$here/unwind.c"; then
	skip 'the stack at each step: no compiler, or no <unwind.h> here'
else
	quiet with "$folder/program" plant && [ "$(tail -n 1 "$folder/out")" = found ]
	verdict 'the stack at each step: a function without its entry is found'
	unwound 'the stack at each step, by LD_PRELOAD' with "$folder/program"
	cp "$library" "$folder/stripped.so" && strip "$folder/stripped.so"
	unwound 'the stack at each step, the shared object stripped' \
		env LD_PRELOAD="$folder/stripped.so" timeout $limit "$folder/program"
	compiled "$CC_HOST" $flags -DNAMES "$here/unwind.c" "$build/libashlar.a"
	unwound 'the stack at each step, libashlar.a' plain "$folder/program"
	if compiled "$CC_HOST" $flags -static -s -DSTATIC "$here/unwind.c" "$archive"; then
		unwound 'the stack at each step, static and stripped' plain "$folder/program"
	else
		skip 'the stack at each step, static: no such libc here'
	fi
fi

# ---- valgrind ----

# memcheck NAME COMMAND...: valgrind must find both faults of memory.c
memcheck() {
	name=$1
	shift
	plain valgrind --leak-check=full --error-exitcode=7 --num-callers=20 "$@" >"$folder/out" 2>"$folder/errors"
	[ $? = 7 ] && grep -q 'Invalid write of size 1' "$folder/errors" &&
		grep -q 'is 0 bytes after a block of size 40 alloc.d' "$folder/errors" &&
		grep -q '77 bytes in 1 blocks are definitely lost' "$folder/errors" &&
		grep -q 'by 0x.*: leak (memory.c:' "$folder/errors"
	verdict "valgrind: an invalid write and a leak are found, $name"
}
if ! have valgrind; then
	skip 'valgrind: not installed'
elif [ -z "$CC_HOST" ]; then
	skip 'valgrind: no compiler here'
else
	compiled "$CC_HOST" -O0 -g "$here/memory.c" &&
		LD_PRELOAD=$library memcheck 'by LD_PRELOAD' "$folder/program"
	compiled "$CC_HOST" -O0 -g "$here/memory.c" "$archive" &&
		memcheck 'the archive linked in' --soname-synonyms=somalloc=NONE "$folder/program"
	# In a static program valgrind cannot replace any malloc, so it only has to run.
	if compiled "$CC_HOST" -O0 -g -static "$here/memory.c" "$archive"; then
		quiet plain valgrind "$folder/program" && grep -q 'ERROR SUMMARY' "$folder/errors"
		verdict 'valgrind: a static program runs'
	else
		skip 'valgrind: static: no such libc here'
	fi
fi

wanted='1000 forks'
if [ -n "$CC_HOST" ] && compiled "$CC_HOST" -O1 -pthread "$here/fork.c"; then
	says preload 'fork 1000 times beside eight threads that allocate'
else
	skip 'fork: no compiler here'
fi

# ---- C++ ----

wanted='0 failures'
if [ -z "$CXX_HOST" ]; then
	skip 'operators.cc: no C++ compiler here'
else
	flags="-std=c++17 -O1 -g $warn -pthread"
	compiled "$CXX_HOST" $flags "$here/operators.cc" && says preload 'operators.cc by LD_PRELOAD'
	compiled "$CXX_HOST" $flags "$here/operators.cc" "$archive" &&
		says linked 'operators.cc with glibc, the archive linked in'
	if compiled "$CXX_HOST" $flags -static -DSTATIC "$here/operators.cc" "$archive"; then
		says linked 'operators.cc with glibc, -static'
	else
		skip 'operators.cc with glibc, -static: no such library here'
	fi
fi
flags='-std=c++17 -O1 -fno-exceptions -fno-rtti -nostdinc++'
if compiled musl-gcc $flags -static -x c++ "$here/bare.cc" -x none "$archive"; then
	says linked 'bare.cc with musl, by musl-gcc'
else
	skip 'bare.cc with musl: musl-gcc cannot link it here'
fi
if [ -f "$musl/libc.a" ]; then
	compiled clang --target=x86_64-linux-musl -nostdinc -isystem "$(clang -print-resource-dir)/include" \
		-isystem /usr/include/x86_64-linux-musl -nostdlib -static -fuse-ld=lld $flags \
		"$musl/crt1.o" -x c++ "$here/bare.cc" -x none "$archive" "$musl/libc.a"
	says linked 'bare.cc with musl, by clang'
else
	skip 'bare.cc with musl, by clang: no musl here'
fi

# ---- misuse, and the example of the manual page ----

# misused HOW ARGUMENT PATTERN: the line has the pattern, and SIGABRT is the end.
misused() {
	quiet "$1" sh -c '"$0" "$1"; exit $?' "$folder/program" "$2"
	[ $? = 134 ] && grep -qE "^ashlar: $3" "$folder/errors"
	verdict "misuse: $2 ($1)"
}
all_misused() {
	inside='\(0x[0-9a-f]+\): interior pointer, 112-byte block at 0x[0-9a-f]+$'
	size='\(0x[0-9a-f]+\): wrong size, 112-byte block at 0x[0-9a-f]+$'
	misused "$1" free "free$inside"
	misused "$1" cfree "cfree$inside"
	misused "$1" realloc "realloc$inside"
	misused "$1" realloc0 "realloc$inside"
	misused "$1" usable "malloc_usable_size$inside"
	misused "$1" free_sized "free_sized$inside"
	misused "$1" delete "operator delete$inside"
	misused "$1" delete_size "operator delete$size"
	misused "$1" delete_aligned "operator delete$size"
}
# hooked HOW: the program is told instead.
hooked() {
	quiet "$1" "$folder/program" free
	[ $? = 33 ] && grep -q '^ashlar: free(0x' "$folder/out" && cmp -s "$folder/out" "$folder/errors"
	verdict "misuse: ash_on_misuse ($1)"
}
if [ -z "$CXX_HOST" ]; then
	skip 'misuse.cc: no C++ compiler here'
else
	flags="-std=c++17 -O1 -g -fno-builtin $warn"
	compiled "$CXX_HOST" $flags -w "$here/misuse.cc"; verdict "misuse.cc can be built"; all_misused with
	compiled "$CXX_HOST" $flags -w "$here/misuse.cc" "$archive" && all_misused plain
	compiled "$CXX_HOST" $flags -w -DHOOK -rdynamic "$here/misuse.cc" && hooked with
	compiled "$CXX_HOST" $flags -w -DHOOK "$here/misuse.cc" "$archive" && hooked plain
fi
sed -n '/^\.\\" example/,/^\.\\" end/{/^\./d;s/\\e/\\/g;p}' tools/install/ashlar.3 >"$folder/leaks.c"
echo 'int main(void) { return malloc(77) == 0 || malloc(3000000) == 0; }' | sed '1i #include <stdlib.h>' >"$folder/leaking.c"
if [ -n "$CC_HOST" ] && compiled "$CC_HOST" -O0 $warn -Icore/include "$folder/leaks.c" "$folder/leaking.c" "$archive"; then
	quiet plain "$folder/program" && grep -q '^leaked: 80 bytes at 0x' "$folder/errors" &&
		grep -q '^leaked: 3002368 bytes at 0x' "$folder/errors" && [ "$(wc -l <"$folder/leaks.c")" -le 22 ]
	verdict 'the example of the manual page lists what was not released'
else
	skip 'the example of the manual page: no compiler here'
fi

# ---- calls before relocation, and dlopen ----

if [ -z "$CC_HOST" ]; then
	skip 'ifunc resolver, dlopen: no compiler here'
	exit $status
fi
compiled "$CC_HOST" -O1 -fno-builtin -fPIC -shared -fno-plt "$here/early.c" &&
	mv "$folder/program" "$folder/libearly.so" &&
	compiled "$CC_HOST" -DPROGRAM -O1 "$here/early.c" -L"$folder" -learly -Wl,-rpath,"$folder" &&
	same 'ifunc resolver of a library that is relocated first, and its constructor' "$folder/program"

compiled "$CC_HOST" -O1 -pthread "$here/opened.c" -ldl
mv "$folder/program" "$folder/opened"
quiet plain "$folder/opened" "$library"
verdict 'dlopen, threads that end, dlclose'
others=
for kind in 512:8 64:12 8:16; do
	for i in $(seq ${kind#*:}); do
		other=$folder/tls_${kind%:*}_$i.so
		echo "__thread char bytes[${kind%:*}] __attribute__((tls_model(\"initial-exec\"))) = {1};
			char *get(void) { return bytes; }" |
			"$CC_HOST" -shared -fPIC -x c - -o "$other"
		others="$others $other"
	done
done
for each in "$library" "$build/libashlar.so"; do
	quiet plain "$folder/opened" "$each" $others
	[ $? = 3 ] && grep -q 'cannot allocate memory in static TLS block' "$folder/out"
	verdict "dlopen where static TLS is used up: ${each##*/} is refused, with a message"
done
quiet "${MAKE:-make}" BUILD="$build" late && quiet plain "$folder/opened" "$build/late/libashlar.so" $others
verdict '... and that of make late serves threads'

# ---- ashlar-check ----

cat >"$folder/small.c" <<'C'
#include <stdlib.h>
int main(int c, char **v) { (void)v; free(realloc(malloc((size_t)c), 100)); free(calloc(1, 9)); return 0; }
C
make_small() {
	compiled "$CC_HOST" -fno-builtin "$@"
}
# checked STATUS PATTERN NAME: exit status and output of ashlar-check
checked() {
	quiet sh tools/ashlar-check "$folder/program"
	[ $? = "$1" ] && grep -q "$2" "$folder/out"
	verdict "ashlar-check: $3"
}
mkdir "$folder/lib"
cp "$library" "$folder/lib/libashlar_malloc.so"
make_small "$folder/small.c" && checked 1 'NOT.*left to: libc.so' 'nothing linked'
make_small "$folder/small.c" "$archive" && checked 0 'linked in' 'the archive in its place'
make_small "$archive" "$folder/small.c" && checked 1 'NOT.*left to: libc.so' 'the archive before the objects'
if make_small -static "$folder/small.c"; then
	checked 1 'the C library brought its own' 'static, nothing linked'
	make_small -static "$folder/small.c" -Wl,--start-group -lc -lgcc -lgcc_eh "$archive" -Wl,--end-group &&
		checked 1 'the C library brought its own' 'static, the archive behind the C library'
	make_small -static "$folder/small.c" "$archive" && checked 0 'linked in' 'static, the archive in its place' &&
		strip "$folder/program" && checked 2 'undecidable' 'static and stripped'
fi
cat >"$folder/both.c" <<'C'
#include <stdlib.h>
void *ash_alloc(size_t size);
int main(int c, char **v) { (void)v; free(malloc((size_t)c)); return ash_alloc(9) == NULL; }
C
make_small "$folder/both.c" "$build/libashlar.a" && checked 1 'NOT.*beside another malloc' 'by its own names and malloc' &&
	grep -q '"override"' "$folder/out"
verdict 'ashlar-check: ... and names what Rust needs'
! make_small -static "$folder/both.c" "$build/libashlar.a" || checked 1 'NOT.*beside another malloc' 'static, by its own names and malloc'
# Calls only two of the four functions and not ashlar_is_malloc: the linker drops the rest.
cat >"$folder/two.c" <<'C'
#include <stdlib.h>
int main(int c, char **v) { (void)v; free(malloc((size_t)c)); return 0; }
C
cat >"$folder/own.c" <<'C'
#include <stdlib.h>
#include <string.h>
static char bytes[1 << 20], *at = bytes;
void *malloc(size_t n) { return (at += (n + 31) / 16 * 16) - (n + 15) / 16 * 16; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { return memcpy(malloc(n), p, n); }
void free(void *p) { (void)p; }
int main(int c, char **v) { (void)v; free(realloc(malloc((size_t)c), 9)); free(calloc(1, 9)); return 0; }
C
cat >"$folder/mixed.c" <<'C'
#include <stdlib.h>
int ashlar_is_malloc(void);
void free(void *p) { (void)p; }
int main(int c, char **v) { (void)v; free(realloc(malloc((size_t)c), 9)); free(calloc(1, 9)); return ashlar_is_malloc(); }
C
for how in "$CC_HOST" musl-gcc; do
	lib=${how##*/}
	if ! have "$how" || ! CC_HOST=$how make_small -static "$folder/two.c"; then
		skip "ashlar-check: static, by $lib: it cannot link so here"
		continue
	fi
	for linker in bfd lld; do
		CC_HOST=$how make_small -static -ffunction-sections -Wl,--gc-sections -fuse-ld=$linker "$folder/two.c" "$archive" ||
			continue
		checked 0 'linked in' "static, by $lib and $linker, --gc-sections"
		CC_HOST=$how make_small -static -ffunction-sections -Wl,--gc-sections -fuse-ld=$linker "$folder/small.c" "$archive"
		checked 0 'linked in' "static, by $lib and $linker, --gc-sections, all four names"
		CC_HOST=$how make_small -static -ffunction-sections -Wl,--gc-sections -fuse-ld=$linker "$folder/own.c"
		checked 1 'NOT' "static, by $lib and $linker, a malloc of the program's own"
		CC_HOST=$how make_small -static -ffunction-sections -Wl,--gc-sections,--allow-multiple-definition \
			-fuse-ld=$linker "$folder/mixed.c" "$archive"
		checked 1 'NOT.*free is another' "static, by $lib and $linker, a mixture"
	done
done
echo 'fn main() { println!("{}", (0..1000).map(|i| i.to_string()).collect::<Vec<_>>().join(",").len()); }' >"$folder/small.rs"
# rust FLAG...: compiles a static Rust program, which contains musl.
rust() {
	compiled rustc --target x86_64-unknown-linux-musl -O "$folder/small.rs" "$@"
}
if have rustc && rust; then
	checked 1 'the C library brought its own' 'Rust with musl, nothing linked'
	rust -L "$build" -l static:+whole-archive=ashlar_malloc
	checked 0 'linked in' 'Rust with musl, the archive linked in'
	[ "$("$folder/program")" = 3889 ]
	verdict 'Rust with musl: it runs'
else
	skip 'ashlar-check: Rust with musl: no rustc here, or not for that target'
fi
make_small -ffunction-sections -Wl,--gc-sections "$folder/two.c" "$archive" &&
	checked 0 'linked in' 'the archive, --gc-sections' && strip "$folder/program" &&
	checked 2 'undecidable' 'the archive, stripped'
make_small -Wl,--exclude-libs,ALL "$folder/small.c" "$archive" &&
	checked 1 'NOT.*libraries do not see' 'the archive, hidden from the C library: a mixture'
make_small "$folder/own.c" && checked 1 'NOT.*itself, or another' 'a malloc of the program itself'
make_small "$folder/small.c" -L"$folder/lib" -lashlar_malloc && checked 0 'by libashlar_malloc' 'the shared object'
make_small "$folder/small.c" -lc -L"$folder/lib" -Wl,--no-as-needed -lashlar_malloc &&
	checked 1 'comes before libashlar_malloc' 'the shared object behind the C library'
make_small "$folder/small.c" -L"$build" -lashlar_malloc-hardened && checked 0 'by libashlar_malloc-hardened' 'the hardened one'
exit $status
