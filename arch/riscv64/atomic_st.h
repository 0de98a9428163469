/* SPDX-License-Identifier: MIT */
#ifndef ARCH_ATOMIC_ST_H
#define ARCH_ATOMIC_ST_H

#include "host.h"
#ifdef ARCH_RISCV64
#include "../generic/atomic_st.h"
#endif
#endif
