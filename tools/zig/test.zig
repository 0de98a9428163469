//! SPDX-License-Identifier: MIT
//! The package's tests: what std expects of allocators, for the default heap and for heaps as objects, and threads.
const std = @import("std");
const ashlar = @import("ashlar");

fn isAnAllocator(memory: std.mem.Allocator) !void {
    try std.heap.testAllocator(memory);
    try std.heap.testAllocatorAligned(memory);
    try std.heap.testAllocatorLargeAlignment(memory);
    try std.heap.testAllocatorAlignedShrink(memory);
}

test "the default heap" {
    try isAnAllocator(ashlar.allocator);
    try std.testing.expectEqual(0, ashlar.ash_check());
}

test "a heap as an object" {
    const heap = try ashlar.Heap.create();
    defer heap.destroy();
    try isAnAllocator(heap.allocator());
}

test "a heap in an array" {
    var array: [1 << 20]u8 = undefined;
    const heap = try ashlar.Heap.createIn(&array);
    defer heap.destroy();
    const memory = heap.allocator();
    var list: std.ArrayListUnmanaged(u32) = .empty;
    defer list.deinit(memory);
    for (0..10_000) |i| try list.append(memory, @intCast(i));
    const at = @intFromPtr(list.items.ptr);
    try std.testing.expect(at >= @intFromPtr(&array) and at < @intFromPtr(&array) + array.len);
    try std.testing.expectError(error.OutOfMemory, memory.alloc(u8, 2 << 20));
    try std.testing.expectError(error.OutOfMemory, ashlar.Heap.createIn(array[0..1000]));
}

fn fill(map: *std.StringHashMap(usize), failed: *bool) void {
    defer ashlar.ash_thread_detach();
    var buffer: [16]u8 = undefined;
    for (0..5000) |i| {
        const word = std.fmt.bufPrint(&buffer, "{d}", .{i}) catch unreachable;
        const key = ashlar.allocator.dupe(u8, word) catch return;
        map.put(key, i) catch return;
    }
    failed.* = false;
}

test "threads, whose blocks another thread releases" {
    var maps: [4]std.StringHashMap(usize) = undefined;
    var failed = [_]bool{true} ** 4;
    var threads: [4]std.Thread = undefined;
    for (&maps) |*map| map.* = .init(ashlar.allocator);
    for (&threads, &maps, &failed) |*thread, *map, *fail| {
        thread.* = try std.Thread.spawn(.{ .allocator = ashlar.allocator }, fill, .{ map, fail });
    }
    for (threads) |thread| thread.join();
    for (&maps, failed) |*map, fail| {
        try std.testing.expect(!fail and map.count() == 5000);
        var keys = map.keyIterator();
        while (keys.next()) |key| ashlar.allocator.free(key.*);
        map.deinit();
    }
    try std.testing.expectEqual(0, ashlar.ash_check());
}
