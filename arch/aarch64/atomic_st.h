/* SPDX-License-Identifier: MIT */
#ifndef ARCH_ATOMIC_ST_H
#define ARCH_ATOMIC_ST_H

#include "host.h"
#ifdef ARCH_AARCH64
#include "../generic/atomic_st.h"
#endif
#endif
