//! SPDX-License-Identifier: MIT
//! Ashlar as a std.mem.Allocator, from Zig 0.14 on: use the package (build.zig), or copy this file into a program and link
//! libashlar.a.  A release with a wrong size or alignment ends the program, as any misuse does.
const std = @import("std");
const Alignment = std.mem.Alignment;
const Allocator = std.mem.Allocator;

extern fn ash_alloc(size: usize) ?[*]u8;
extern fn ash_aligned_alloc(alignment: usize, size: usize) ?[*]u8;
extern fn ash_aligned_resize(p: [*]u8, alignment: usize, size: usize) ?[*]u8;
extern fn ash_resize(p: [*]u8, size: usize) ?[*]u8;
extern fn ash_expand(p: [*]u8, size: usize) usize;
extern fn ash_release_aligned_sized(p: [*]u8, alignment: usize, size: usize) void;
extern fn ash_heap_aligned_alloc(heap: *Heap, alignment: usize, size: usize) ?[*]u8;

/// Gives the default heap's free memory back; what `ash_trim` and the other calls promise: ashlar.h.
pub extern fn ash_trim(keep: usize) usize;
pub extern fn ash_trim_step(budget: usize) usize;
pub extern fn ash_thread_detach() void;
pub extern fn ash_check() c_int;

/// The default heap, for any thread.
pub const allocator: Allocator = .{ .ptr = undefined, .vtable = &.{
    .alloc = alloc,
    .resize = resize,
    .remap = remap,
    .free = free,
} };

/// A heap as an object (ashlar_heap.h).  All its blocks go with it.
pub const Heap = opaque {
    extern fn ash_heap_create(options: ?*const anyopaque) ?*Heap;
    extern fn ash_heap_create_in(memory: [*]u8, bytes: usize) ?*Heap;
    extern fn ash_heap_destroy(heap: *Heap) void;

    pub fn create() Allocator.Error!*Heap {
        return ash_heap_create(null) orelse error.OutOfMemory;
    }

    /// In memory of the caller's: without a system call.
    pub fn createIn(memory: []u8) Allocator.Error!*Heap {
        return ash_heap_create_in(memory.ptr, memory.len) orelse error.OutOfMemory;
    }

    pub const destroy = ash_heap_destroy;

    /// The calls for blocks that exist find their heap themselves.
    pub fn allocator(heap: *Heap) Allocator {
        return .{ .ptr = heap, .vtable = &.{
            .alloc = allocIn,
            .resize = resize,
            .remap = remap,
            .free = free,
        } };
    }
};

/// What ash_alloc and ash_resize promise for this size.
fn isUsual(alignment: Alignment, len: usize) bool {
    return alignment.toByteUnits() <= @as(usize, if (len >= 16) 16 else 8);
}

fn alloc(_: *anyopaque, len: usize, alignment: Alignment, _: usize) ?[*]u8 {
    return if (isUsual(alignment, len)) ash_alloc(len) else ash_aligned_alloc(alignment.toByteUnits(), len);
}

fn allocIn(heap: *anyopaque, len: usize, alignment: Alignment, _: usize) ?[*]u8 {
    return ash_heap_aligned_alloc(@ptrCast(heap), alignment.toByteUnits(), len);
}

fn resize(_: *anyopaque, memory: []u8, _: Alignment, len: usize, _: usize) bool {
    return ash_expand(memory.ptr, len) != 0;
}

fn remap(_: *anyopaque, memory: []u8, alignment: Alignment, len: usize, _: usize) ?[*]u8 {
    return if (isUsual(alignment, len)) ash_resize(memory.ptr, len) else ash_aligned_resize(memory.ptr, alignment.toByteUnits(), len);
}

fn free(_: *anyopaque, memory: []u8, alignment: Alignment, _: usize) void {
    ash_release_aligned_sized(memory.ptr, alignment.toByteUnits(), memory.len);
}
