/* SPDX-License-Identifier: MIT */
/*
 * Included before Ashlar's sources for the feature profile, if the compiler is clang: the code is in a section of its
 * own, for ours.c.  gcc leaves the code where other code is; stacks in profiles then begin in Ashlar.
 */
#ifndef RUST_SECTION_H
#define RUST_SECTION_H

#pragma clang section text = "ashlar_text"

#endif
