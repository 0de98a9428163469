/* SPDX-License-Identifier: MIT */
/*
 * The hardened product's public calls (hardened.c) stand above the ordinary ones, which have other names
 * there, from here to the head of hardened.c.  For the amalgamation alone, behind all other headers.
 */
#ifndef CORE_BARE_H
#define CORE_BARE_H

#include "ashlar.h"
#include "internal.h"

#define ash_alloc		  bare_alloc
#define ash_alloc_or		  bare_alloc_or
#define ash_zalloc		  bare_zalloc
#define ash_aligned_alloc	  bare_aligned_alloc
#define ash_aligned_zalloc	  bare_aligned_zalloc
#define ash_good_size		  bare_good_size
#define ash_release		  bare_release
#define ash_release_sized	  bare_release_sized
#define ash_release_aligned_sized bare_release_aligned_sized
#define ash_release_told	  bare_release_told
#define ash_free		  bare_free
#define ash_delete		  bare_delete
#define ash_delete_sized	  bare_delete_sized
#define ash_resize		  bare_resize
#define ash_aligned_resize	  bare_aligned_resize
#define ash_realloc		  bare_realloc
#define ash_expand		  bare_expand
#define ash_usable_size		  bare_usable_size
#define ash_trim		  bare_trim
#define ash_trim_step		  bare_trim_step
#define ash_thread_detach	  bare_thread_detach
#define ash_stats		  bare_stats
#define ash_check		  bare_check
#define ash_find		  bare_find
#define ash_object_size		  bare_object_size

INTERNAL void *ash_alloc(size_t size);
INTERNAL void *ash_alloc_or(size_t size, void *rest(size_t size));
INTERNAL void *ash_zalloc(size_t count, size_t size);
INTERNAL void *ash_aligned_alloc(size_t alignment, size_t size);
INTERNAL void *ash_aligned_zalloc(size_t alignment, size_t size);
INTERNAL size_t ash_good_size(size_t size);
INTERNAL void ash_release(void *p);
INTERNAL void ash_release_sized(void *p, size_t size);
INTERNAL void ash_release_aligned_sized(void *p, size_t alignment, size_t size);
INTERNAL void ash_release_told(const char *name, void *p, size_t alignment, size_t size, bool resized);
INTERNAL void ash_free(void *p);
INTERNAL void ash_delete(void *p);
INTERNAL void ash_delete_sized(void *p, size_t size);
INTERNAL void *ash_resize(void *p, size_t size);
INTERNAL void *ash_aligned_resize(void *p, size_t alignment, size_t size);
INTERNAL void *ash_realloc(void *p, size_t size);
INTERNAL size_t ash_expand(void *p, size_t size);
INTERNAL size_t ash_usable_size(const void *p);
INTERNAL size_t ash_trim(size_t keep);
INTERNAL size_t ash_trim_step(size_t budget);
INTERNAL void ash_thread_detach(void);
INTERNAL void ash_stats(struct ash_statistics *out);
INTERNAL int ash_check(void);
INTERNAL enum ash_place ash_find(const void *p, struct ash_block *out);
INTERNAL size_t ash_object_size(const void *p);

#endif
