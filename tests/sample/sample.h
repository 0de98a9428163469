/* SPDX-License-Identifier: MIT */
/* The one who is told of samples (sample.c), and those who want to know as well. */
#ifndef TESTS_SAMPLE_SAMPLE_H
#define TESTS_SAMPLE_SAMPLE_H

#include "ashlar_sample.h"

extern void (*sample_also)(void *p, size_t size); /* a sample was taken  */
extern void (*sample_also_gone)(void *p);	  /* and was released    */

#endif
