/* SPDX-License-Identifier: MIT */
/*
 * Ashlar for the feature profile, in a section of its own: stacks begin at the callers of its code.  A compiler that
 * does not know the pragma leaves the code where other code is; stacks then begin in Ashlar.
 */
#ifdef __clang__
#pragma clang section text = "ashlar_text"
#endif
#include "../ashlar.c"

/* The linker's. */
extern const char __start_ashlar_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_ashlar_text[] __attribute__((weak, visibility("hidden")));

/* Returns true if this is an address of Ashlar's code. */
bool profile_is_ours(uintptr_t address);
bool profile_is_ours(uintptr_t address)
{
	return address - (uintptr_t)__start_ashlar_text < (uintptr_t)__stop_ashlar_text - (uintptr_t)__start_ashlar_text;
}
