#!/bin/sh
# SPDX-License-Identifier: MIT
# In full, all that asks rt_in_full() but the steps (steps.sh): more kills and calls.
if [ "${STEPS_SHARE:-1}" != 1 ]; then
	echo 'skip full.sh: make test has a share of it'
	exit
fi
export STEPS_FULL=1
tests=${BUILD:-build}/tests
names='signal_at_ midst_of_settling pass_blocks ring_of kills_at fork_in_the_middle fork_takes_over publish_ signal_handlers shadow_model
	zalloc_products threads_check arena_interrupted under_a_limit_gib small_handler_at small_survives_death'
status=0
# shellcheck disable=SC2086 # a list, here and below
"$tests/all" $names -steps_ -death_ || status=1
for program in malloc small system; do
	"$tests/$program" steps_ death_ $names || status=1
done
# What make test thins as a whole.
for program in storm faults faults_foreign race beside attach_killed advice look_damaged look_damaged_files look_speed look_steps; do
	[ ! -e "$tests/$program" ] || "$tests/$program" || status=1 # a tree without the store has not all
done
RT_QEMU=1 "qemu-${ARCH:-$(uname -m)}" "$tests/look_speed" || status=1
exit $status
