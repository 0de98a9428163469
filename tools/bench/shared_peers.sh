# SPDX-License-Identifier: MIT
# Builds the peers of shared heaps that are here: `peers` are their names, build/bench/shared-NAME the programs.  Sourced
# after tools/bench/common.sh.
# shellcheck shell=sh

boost=$build/bench/shared-boost
peers=
rm -f "$boost" "$boost-mapped" "$build/bench/shared-pmemobj"
for cxx in ${CXX:-g++ clang++}; do
	command -v "$cxx" >/dev/null || continue
	if echo '#include <boost/interprocess/managed_shared_memory.hpp>' |
	   "$cxx" -x c++ -fsyntax-only - 2>/dev/null; then
		"$cxx" -x c++ -std=c++17 -O2 -DBOOST tools/bench/shared.c -o "$boost" -lrt -pthread
		"$cxx" -x c++ -std=c++17 -O2 -DBOOST -DMAPPED tools/bench/shared.c -o "$boost-mapped" -lrt -pthread
		peers='boost boost-mapped'
		break
	fi
done
[ -n "$peers" ] || echo "skip boost: no C++ compiler here that finds boost/interprocess (Debian: libboost-dev)" >&2
for cc in gcc clang; do
	command -v "$cc" >/dev/null || continue
	if "$cc" -O2 -DPMEMOBJ tools/bench/shared.c -o "$build/bench/shared-pmemobj" -lpmemobj 2>/dev/null; then
		peers="$peers pmemobj"
		break
	fi
done
[ -x "$build/bench/shared-pmemobj" ] || echo "skip pmemobj: no C compiler here that finds libpmemobj (Debian: libpmemobj-dev)" >&2
rm -f "$build/bench/shared-rts"
if ! command -v cargo >/dev/null || ! command -v cc >/dev/null; then
	echo "skip rts: no cargo or C compiler here" >&2
# Without the variables of make, which cargo's own builds would take for theirs.
elif env -u MAKEFLAGS -u MFLAGS cargo build --quiet --locked --release --manifest-path tools/bench/shared_rts/Cargo.toml \
	--target-dir "$build/bench/rts" 2>"$work/rts.log" &&
     cc -O2 -DRTS tools/bench/shared.c "$build/bench/rts/release/libshared_rts.a" -o "$build/bench/shared-rts" -pthread -lm; then
	peers="$peers rts"
else
	echo "skip rts: the crate rts-alloc was not to be had or built: $(tail -n 1 "$work/rts.log")" >&2
fi
for missing in Ralloc cxlalloc metall; do
	echo "skip $missing: packaged neither by Debian nor on crates.io" >&2
done
for arena in mimalloc jemalloc; do
	rm -f "$build/bench/shared-$arena"
	define=-D$(echo $arena | tr '[:lower:]' '[:upper:]')
	for cc in gcc clang; do
		command -v "$cc" >/dev/null || continue
		if "$cc" -O2 "$define" tools/bench/shared.c -o "$build/bench/shared-$arena" "-l$arena" 2>/dev/null; then
			peers="$peers $arena"
			break
		fi
	done
	[ -x "$build/bench/shared-$arena" ] ||
		echo "skip $arena: no C compiler here that finds its header and library (Debian: lib$arena-dev)" >&2
done
# libpmemobj's files are in memory, where msync, which it would call, does nothing.
export PMEM_IS_PMEM_FORCE=1

# The file of a peer's heap, which a signal would leave there.
export BENCH_HEAP=/dev/shm/ashlar-bench-$$
trap 'rm -f "$BENCH_HEAP"' EXIT
trap 'exit 1' HUP INT TERM
