/* SPDX-License-Identifier: MIT */
/* The sources of the store for the amalgamation.  The first are fast paths. */
#include "core/store/recover/intent.c"
#include "core/store/calls/draft.c"
#include "core/store/calls/hooks_blocks.c"
#include "core/store/data/slots.c"

ASHLAR_FOR_SIZE
#if IS_SYSTEM
#include "core/store/process/system/sharing.c"
#else
#include "core/store/process/borrow.c"
#include "core/store/process/life.c"
#include "core/store/process/mapping.c"
#include "core/store/process/proc_stat.c"
#include "core/store/process/share.c"
#include "core/store/process/world.c"
#endif
#include "core/store/file/store.c"
#include "core/store/file/store_caches.c"
#include "core/store/file/format.c"
#include "core/store/recover/builders.c"
#include "core/store/recover/census.c"
#include "core/store/recover/block_tags.c"
#include "core/store/recover/holds.c"
#include "core/store/recover/recover_count.c"
#include "core/store/recover/recover_memory.c"
#include "core/store/recover/recover.c"
#include "core/store/file/open_claim.c"
#include "core/store/file/image.c"
#include "core/store/file/image_check.c"
#include "core/store/file/open_renew.c"
#include "core/store/file/open_create.c"
#include "core/store/file/open_attach.c"
#include "core/store/calls/hooks.c"
#include "core/store/calls/hooks_seats.c"
#include "core/store/calls/open_calls.c"
#include "core/store/calls/hooks_heap.c"
#include "core/store/calls/file_calls.c"
#include "core/store/data/view.c"
#include "core/store/data/view_calls.c"
#include "core/store/data/names.c"
#include "core/store/data/view_names.c"
ASHLAR_FOR_SIZE_END
