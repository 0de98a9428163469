#!/bin/sh
# SPDX-License-Identifier: MIT
# The test runner's bad news: a test that fails, crashes, hangs or skips must
# be reported as what it is, or all other tests prove nothing.
. tests/support/verdict.sh

cat >"$folder/bad.c" <<'C'
#include "rt.h"

TEST(good, 5) {}
TEST(skipping, 5) { rt_skip("no reason"); }
TEST(failing, 5) { CHECK(1 > 2); }
TEST(differing, 5) { CHECK_EQ(6 * 7, 0x2b); }
TEST(crashing, 5) { *(volatile char *)8 = 1; }
TEST(trapping, 5) { __builtin_trap(); }
TEST(exiting, 5) { rt_exit(3); }
TEST(hanging, 1)
{
	if (rt_fork() == 0)
		rt_sleep(30000000000); /* holds the output open: killed with its group */
	for (;;)
		;
}
TEST(sleeping, 1) { rt_sleep(600000000000); }
static void body(void *p) { CHECK(p != NULL); }
TEST(failing_in_a_thread, 5) { rt_thread_join(rt_thread_start(body, NULL)); }
int main(int argc, char **argv, char **envp) { (void)envp; return rt_run_tests(argc, argv); }
C
build_flags
$COMPILE -w -c "$folder/bad.c" -o "$folder/bad.o" || exit 1
$LINK "$folder/bad.o" "$build/runtime.a" "$build/libashlar_start.a" "$build/libashlar.a" -o "$folder/bad" || exit 1

# Through a pipe, which ends only when every process that holds it has ended.
{
	RT_LEAST=1 RT_SEED=5 "$folder/bad"
	echo "exit $?"
} | cat >"$folder/out"

# expect NAME PATTERN: a line of the output.
expect() {
	grep -qE "$2" "$folder/out"
	verdict "$1" "$folder/out"
}

ms='\([0-9]+ ms, [0-9]+ ms CPU\)$'
expect 'passes a good test' "^ok   good $ms"
expect 'gives the reason of a skip' '^skip skipping: no reason$'
expect 'names the place and the expression' '^     failing: .*/bad\.c:5: 1 > 2 \(RT_SEED=5\)$'
expect 'fails a failing test' "^FAIL failing $ms"
expect 'shows both values' ': 6 \* 7 == 0x2b: 42 \(0x2a\) and 43 \(0x2b\)'
expect 'names the signal of a fault' "^FAIL crashing: SIGSEGV 11 $ms"
expect 'names the signal of a trap' "^FAIL trapping: SIGILL 4 $ms"
expect 'reports a strange exit' "^FAIL exiting: exit status 3 $ms"
expect 'ends a test that hangs' "^FAIL hanging: timeout $ms"
expect 'ends a test that hangs asleep' "^FAIL sleeping: timeout $ms"
expect 'hears of a failure in a thread' "^FAIL failing_in_a_thread $ms"
expect 'sums up' '^1 passed, 8 failed, 1 skipped$'

expect 'exits with 1' '^exit 1$'

"$folder/bad" good >"$folder/out"
echo "exit $?" >>"$folder/out"
expect 'runs by name, and exits with 0' '^1 passed, 0 failed, 0 skipped$'
expect 'exits with 0 when all is well' '^exit 0$'
"$folder/bad" good exit -goo >"$folder/out"
expect 'runs by several names, and not by some' '^0 passed, 1 failed, 0 skipped$'
for names in 'nosuchtest' 'good -goo'; do
	{
		# shellcheck disable=SC2086 # words
		"$folder/bad" $names
		echo "exit $?"
	} >"$folder/out"
	expect "fails if no test has the name: $names" '^FAIL .*/bad: no test has such a name$'
	expect '... and exits with 1' '^exit 1$'
done

# Of a process that is reaped the id may be another's, and is soon where runners run side by side.
cat >"$folder/kill.c" <<'C'
#include "rt.h"
long __real_arch_kill(long pid, long signal);
long __wrap_arch_kill(long pid, long signal)
{
	if (__real_arch_kill(pid < 0 ? -pid : pid, 0) != 0)
		rt_print("reaped before\n");
	rt_print("kills\n");
	return __real_arch_kill(pid, signal);
}
C
$COMPILE -w -c "$folder/kill.c" -o "$folder/kill.o" &&
	$LINK -Wl,--wrap=arch_kill "$folder/bad.o" "$folder/kill.o" "$build/runtime.a" "$build/libashlar_start.a" \
		"$build/libashlar.a" -o "$folder/kill" || exit 1
RT_LEAST=1 "$folder/kill" good crashing >"$folder/out"
expect 'ends the group of each test' '^kills$'
! grep -q '^reaped before$' "$folder/out"
echo "exit $?" >"$folder/out"
expect 'kills nobody by an id that may be free' '^exit 0$'
exit $status
