/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>

/* The linker's: the bounds of the section, or NULL if there is none. */
extern const char __start_ashlar_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_ashlar_text[] __attribute__((weak, visibility("hidden")));

/* Returns true if this is an address of Ashlar's code (section.h). */
bool profile_is_ours(uintptr_t address);
bool profile_is_ours(uintptr_t address)
{
	return address - (uintptr_t)__start_ashlar_text < (uintptr_t)__stop_ashlar_text - (uintptr_t)__start_ashlar_text;
}
