//! SPDX-License-Identifier: MIT
//! Ashlar as a package: the module "ashlar" (ashlar.zig with the library, compiled from one C file), and libashlar.a.
//!
//!     const ashlar = b.dependency("ashlar", .{ .target = target, .optimize = optimize });
//!     program.root_module.addImport("ashlar", ashlar.module("ashlar"));
const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const hardened = b.option(bool, "hardened", "Guard blocks: a write behind a block's end or after its release ends the program") orelse false;
    const system = b.option(bool, "system", "Ask the program for memory, not Linux: it defines ash_system_map (ashlar_system.h)") orelse false;
    if (hardened and system) std.debug.panic("not both hardened and system: guards need Linux", .{});

    const module = b.addModule("ashlar", .{
        .root_source_file = b.path("ashlar.zig"),
        .target = target,
        .optimize = optimize,
    });
    addLibrary(b, module, hardened, system);

    // For programs in C, and the public headers beside it.
    const library = b.addLibrary(.{
        .name = "ashlar",
        .linkage = .static,
        .root_module = b.createModule(.{ .target = target, .optimize = optimize }),
    });
    addLibrary(b, library.root_module, hardened, system);
    library.installHeadersDirectory(b.path("c"), "", .{ .include_extensions = &.{".h"} });
    b.installArtifact(library);

    const tests = b.addTest(.{ .root_module = b.createModule(.{
        .root_source_file = b.path("test.zig"),
        .target = target,
        .optimize = optimize,
    }) });
    tests.root_module.addImport("ashlar", module);
    b.step("test", "Run the package's tests").dependOn(&b.addRunArtifact(tests).step);
}

/// The C code is optimised in any case, and without checks that a Debug build adds.
fn addLibrary(b: *std.Build, module: *std.Build.Module, hardened: bool, system: bool) void {
    var flags: std.ArrayListUnmanaged([]const u8) = .empty;
    flags.appendSlice(b.allocator, &.{
        "-std=c17",
        "-O2",
        "-ffreestanding",
        "-fvisibility=hidden",
        "-fno-stack-protector",
        "-fno-sanitize=all",
        "-ffunction-sections",
        "-fdata-sections",
        "-fno-vectorize",
        "-fno-slp-vectorize",
        "-fno-unroll-loops",
        "-w",
    }) catch @panic("OOM");
    if (module.resolved_target.?.result.cpu.arch == .aarch64) flags.append(b.allocator, "-mno-outline-atomics") catch @panic("OOM");
    if (hardened) flags.append(b.allocator, "-DASHLAR_HARDENED") catch @panic("OOM");
    // Threads of a C library, if there is one, are detached when they end.
    flags.append(b.allocator, if (system) "-DASHLAR_SYSTEM" else "-DASHLAR_PTHREAD") catch @panic("OOM");
    module.addCSourceFile(.{ .file = b.path("c/ashlar.c"), .flags = flags.items });
}
