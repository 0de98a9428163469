#!/bin/sh
# SPDX-License-Identifier: MIT
# The crate (tools/rust): its tests with glibc; static with musl, as malloc, with threads; with its features;
# and a program without a libc.  All offline: the crate has no dependency.
. tests/support/verdict.sh

if ! command -v cargo >/dev/null; then
	echo 'skip rust: cargo is not here'
	exit 0
fi
if [ ! -f "$build/amalgamation/ashlar.c" ]; then
	echo "skip rust: no amalgamation in $build"
	exit 0
fi
build=$(cd "$build" && pwd)
log=$build/rust.log
OFFLINE=1 BUILD=$build sh tools/rust/stage "$build/crate" || exit 1
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 RUST_BACKTRACE=0 CARGO_TERM_COLOR=never

# laid_out TYPE STRUCTURE: each member of the Rust type, in its order, is one of the C structure,
# which has no others.
laid_out() {
	{
		echo '#include "ashlar_heap.h"'
		cat tools/rust/src/*.rs | awk -v type="$1" -v structure="$2" '
			$0 ~ "^pub struct " type " " { inside = 1; next }
			/^}/ { inside = 0 }
			inside && /^ *pub / {
				sub(/:$/, "", $2)
				print "_Static_assert(__builtin_offsetof(struct " structure ", " $2 ") / 8 == " n++ ", \"\");"
			}
			END { print "_Static_assert(sizeof(struct " structure ") == 8 * " n + 0 ", \"\");" }'
	} | tee "$log" | ${CC:-cc} -fsyntax-only -Icore/include -x c - && [ "$(wc -l <"$log")" -gt 5 ]
	verdict "$1 is struct $2"
}
laid_out Statistics ash_statistics
laid_out RawOptions ash_heap_options

# The figures of a site are a structure of their own in C.
awk '/^struct Site / { inside = 1; next } /^}/ { inside = 0 }
	inside && /:/ { sub(/:/, "", $1); print "AT(" ($1 ~ /^(all|live)/ ? "now." : "") $1 ", " n++ ")" }
	END { print "AT(stack, " n + 0 ")" }' tools/rust/src/profile.rs >"$folder/site"
[ "$(wc -l <"$folder/site")" = 8 ] && {
	printf '#include "tools/profile/profile.h"\n#define AT(member, n) _Static_assert(__builtin_offsetof(struct site, member) == 8 * n, "");\n'
	cat "$folder/site"
} | ${CC:-cc} -fsyntax-only -I. -x c - 2>"$log"
verdict 'Site is struct site' "$log"

# passes NAME TESTS ARGUMENT...: cargo test with these, which runs so many tests at least.
passes() {
	name=$1 tests=$2
	shift 2
	(cd "$build/crate" && unset MAKEFLAGS MFLAGS; cargo test --offline "$@") >"$log" 2>&1 && ! grep -q '^warning' "$log" &&
		ran=$(awk '/^test result: ok/ { n += $4 } /: ok$/ { n++ } END { print n + 0 }' "$log") && [ "$ran" -ge "$tests" ]
	verdict "$name: ${ran:-no} tests" "$log"
	ran=
}

# has TARGET: the toolchain has a standard library for it.
has() {
	[ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]
}

passes 'with glibc, and the examples of the documentation' 50
# Trait methods, fields and modules apart.
awk '/^ *\/\/\/ ```/ { example = 1 } /^ *(\/\/\/|#\[|$)/ { next }
	/^ *pub (unsafe )?(fn|struct|enum|trait|const) |^macro_rules! system/ { n++; if (!example) print "     " FILENAME ": " $0 }
	{ example = 0 } END { exit n < 40 }' $(ls tools/rust/src/*.rs | grep -v /sys.rs) >"$log" && [ ! -s "$log" ]
verdict 'each public item has an example' "$log"
if has x86_64-unknown-linux-musl && [ "$(uname -m)" = x86_64 ]; then
	passes 'static with musl, as malloc, with threads' 3 --target x86_64-unknown-linux-musl --features override \
		--test malloc --test threads
	program=$(find "$build/crate/target/x86_64-unknown-linux-musl/debug/deps" -name 'threads-*' ! -name '*.d' | head -n 1)
	[ -n "$program" ] && ! readelf -lW "$program" | grep -q INTERP
	verdict 'static with musl: no interpreter'
else
	echo 'skip rust: static with musl: no x86_64-unknown-linux-musl'
	passes 'as malloc' 2 --features override --test malloc
fi
passes 'hardened, and as malloc' 12 --features hardened,override --test global --test hardened --test malloc --test threads

# ---- profiles ----

profiles() {
	passes 'profile, and as malloc' 3 --features profile,override --test profile --test malloc
	passes '... and its documentation' 4 --features profile,override --doc profile
	! (cd "$build/crate" && cargo check --offline --features profile,hardened) >"$log" 2>&1 && grep -q 'ashlar: not both profile and hardened' "$log"
	verdict '... and is refused with hardened' "$log"
}

# ---- without Linux ----

without_linux() {
	passes 'with a system of the program (core)' 1 --features core --test system
	passes '... and its documentation' 2 --features core --doc system
	# bare TARGET PATTERN: the crate is built for it.  Where Rust's library for the target is not installed, only the C code is:
	# it asks for ash_system_map alone, and has no instruction that matches the pattern.
	bare() {
		if ! clang --version >/dev/null 2>&1; then
			echo "skip rust: for $1: no clang"
			return
		fi
		rm -rf "$build/crate/target/$1"
		(cd "$build/crate" && unset MAKEFLAGS MFLAGS && CC=clang cargo build --offline --features core --target "$1") >"$log" 2>&1
		built=$?
		[ $built = 0 ] || grep -q "error\[E0463\]: can't find crate for \`core\`" "$log" &&
			object=$(find "$build/crate/target/$1" -name ashlar.o) && [ "$(nm -u "$object" | grep -v _GLOBAL_OFFSET_TABLE_ | tr -d ' ')" = Uash_system_map ] &&
			llvm-objdump -d "$object" >"$folder/code" && [ "$(wc -l <"$folder/code")" -gt 10000 ] && ! grep -E "$2" "$folder/code"
		verdict "the C code for $1" "$log"
		[ $built = 0 ] || echo "skip rust: the Rust code for $1: its core is not installed"
	}
	bare x86_64-unknown-none '%[xy]mm|[[:space:]]syscall|-0x[0-9a-f]+\(%rsp\)'
	bare aarch64-unknown-none-softfloat '[[:space:]][vqds][0-9]+[,.]|[[:space:]]svc'
	bare x86_64-unknown-hermit '[[:space:]]syscall'
	! (cd "$build/crate" && cargo check --offline --features core,override) >"$log" 2>&1 && grep -q 'ashlar: not both core and override' "$log" &&
		! (cd "$build/crate" && cargo check --offline --target x86_64-unknown-none) >"$log" 2>&1 && grep -q 'ashlar: it is for Linux; for other' "$log"
	verdict 'core is not malloc, and needed without Linux' "$log"
}

# ---- in a shared object that is loaded late ----

loaded_late() {
	if command -v cc >/dev/null && [ "$(uname -m)" = x86_64 ] && ldd --version 2>&1 | grep -q -i 'glibc\|gnu libc'; then
		echo 'static __thread char filler[64] __attribute__((tls_model("initial-exec"))) = {1}; char *f(void) { return filler; }' |
			cc -x c -shared -fPIC - -o "$folder/filler.so"
		for each in $(seq 100); do
			cp "$folder/filler.so" "$folder/$each.filler"
		done
		# late FEATURES: builds it with them, and loads it where the loader has no place left that threads have from their start.
		late() {
			(cd "$build/late" && unset MAKEFLAGS MFLAGS && cargo build --offline --features "$1" &&
				target/debug/late target/debug/liblate.so "$folder"/*.filler) >"$log" 2>&1
		}
		late local-dynamic-tls && grep -qx '997 words in each of 200 threads, at most 5 records' "$log" && ! grep -q '^warning' "$log" &&
			! readelf -dW "$build/late/target/debug/liblate.so" | grep -q STATIC_TLS
		verdict 'a library that is loaded late, with local-dynamic-tls' "$log"
		! late '' && grep -q 'cannot allocate memory in static TLS block' "$log"
		verdict '... cannot be loaded without' "$log"
		! (cd "$build/crate" && cargo check --offline --features local-dynamic-tls,override) >"$log" 2>&1 && grep -q 'ashlar: not both' "$log"
		verdict '... and is refused as malloc' "$log"
	else
		echo 'skip rust: a library that is loaded late: no cc, or no glibc'
	fi
}

# These features compile the library eleven times: make test-long.
if [ -n "${STEPS_FULL:-}" ]; then
	profiles
	without_linux
	loaded_late
else
	echo 'skip rust: profiles, without Linux, loaded late: they compile for a minute, and run in make test-long'
fi

# ---- without a libc ----

version=$(sh tools/install/version)
# Before 1.68 a program without std needs a nightly compiler for what happens without memory.
minor=$(rustc --version | sed 's/^rustc 1\.\([0-9]*\).*/\1/')
host=$(rustc -vV | sed -n 's/^host: //p')
if [ "$minor" -lt 68 ] || [ "$host" != x86_64-unknown-linux-gnu ] || ! command -v clang >/dev/null; then
	echo 'skip rust: without a libc: no rustc 1.68 for x86_64, or no clang'
else
	flags='-C linker=clang -C relocation-model=static'
	for each in -fuse-ld=lld -nostdlib -static "$build/libashlar_start.a"; do
		flags="$flags -C link-arg=$each"
	done
	# Of the package, outside of the tree.
	apart=$(mktemp -d)
	trap 'rm -rf "$apart"' EXIT
	program=$apart/freestanding/target/$host/release/freestanding
	(cd "$build/crate" && unset MAKEFLAGS MFLAGS && cargo package --offline --allow-dirty --no-verify --quiet) >"$log" 2>&1 &&
		tar -xzf "$build/crate/target/package/ashlar-$version.crate" -C "$apart" && mv "$apart/ashlar-$version" "$apart/crate" &&
		cp -r "$build/freestanding" "$apart" && rm -rf "$apart/freestanding/target" &&
		(cd "$apart/freestanding" && RUSTFLAGS=$flags cargo build --offline --release --target "$host") >>"$log" 2>&1 &&
		[ "$("$program")" = '3997 texts, 4000 in all, 0' ] && ! nm -u "$program" | grep -Ev ' w (pthread_.*|__errno_location|munmap|madvise|mremap|gnu_get_libc_version|_IO_stdin_used)$' | grep -q .
	verdict 'without a libc, of the package unpacked elsewhere: threads, maps and strings'
	grep -E '^error|undefined symbol' "$log" | head -n 10 | sed 's/^/     /'
fi

# ---- the package ----

OFFLINE=1 BUILD=$build REPOSITORY=https://example.org/a sh tools/rust/stage "$folder/staged/crate" &&
	[ "$(grep -cxE '(repository|homepage|documentation) = "https://example.org/a"' "$folder/staged/crate/Cargo.toml")" = 3 ] &&
	! grep -qE '^(repository|homepage|documentation) ' "$build/crate/Cargo.toml"
verdict 'the crate has the address of the repository, if there is one'
(cd "$folder/staged/crate" && unset MAKEFLAGS MFLAGS && cargo package --offline --allow-dirty --no-verify) >"$log" 2>&1 && ! grep -q '^warning' "$log"
verdict '... and is packed without a warning then' "$log"

grep -qx "version = \"$version\"" "$build/crate/Cargo.toml"
verdict 'the crate has the version of the library'
(cd "$build/crate" && cargo package --offline --allow-dirty --list) >"$log" 2>&1
for file in c/ashlar.c c/ashlar.h c/ashlar_heap.h c/ashlar_heap_file.h c/profile/ours.c c/profile/live.c LICENSE README.md build.rs src/lib.rs src/heap.rs tests/global.rs; do
	grep -qx "$file" "$log" || echo "     missing: $file"
done | tee "$log.missing"
[ ! -s "$log.missing" ] && grep -qx c/ashlar.c "$log" && ! grep -q '^target/' "$log"
verdict 'the package is complete'
exit $status
