#!/bin/sh
# SPDX-License-Identifier: MIT
# Ashlar as a part of other build systems: tools/cmake, tools/meson, tools/zig, one source file.
. tools/programs/common.sh

git ls-files -z arch core sys tools/amalgamate tools/install/version tools/cmake tools/meson CHANGELOG.md | (
	mkdir "$folder/source" && xargs -0 cp --parents -t "$folder/source"
)
# A repository of its own stands for the URL.
(cd "$folder/source" && git init -q && git add . && git -c user.name=a -c user.email=a@a commit -qm a && git tag v1.0.0) >/dev/null

# A program that ends well only if strdup's malloc, and operator new, are Ashlar's.
program() {
	cat >"$1/main.c" <<-'END'
		#include <ashlar.h>
		#include <string.h>
		int main(void)
		{
			static char text[3000000];
			struct ash_statistics before, after;
			char *p;

			memset(text, 'a', sizeof text - 1);
			ash_stats(&before);
		#ifdef OWN
			p = ash_alloc(sizeof text);
		#else
			p = strdup(text);
		#endif
			ash_stats(&after);
			return p == NULL || after.block_bytes < before.block_bytes + sizeof text;
		}
	END
	cat >"$1/main.cc" <<-'END'
		#include <ashlar.h>
		int main()
		{
			ash_statistics before, after;
			ash_stats(&before);
			char *p = new char[3000000];
			p[0] = 1;
			ash_stats(&after);
			delete[] p;
			return after.block_bytes < before.block_bytes + 3000000;
		}
	END
}

in_cmake() {
	if ! have cmake g++ git; then
		skip 'builds: CMake or g++ is not here'
		return
	fi
	mkdir "$folder/cmake" && program "$folder/cmake"
	cat >"$folder/cmake/CMakeLists.txt" <<-END
		cmake_minimum_required(VERSION 3.18)
		project(program LANGUAGES C CXX)
		include(FetchContent)
		FetchContent_Declare(ashlar GIT_REPOSITORY "file://$folder/source" GIT_TAG v1.0.0 SOURCE_SUBDIR tools/cmake)
		FetchContent_MakeAvailable(ashlar)
		add_executable(c main.c)
		target_link_libraries(c PRIVATE ashlar::malloc)
		add_executable(cc main.cc)
		target_link_libraries(cc PRIVATE ashlar::malloc)
		add_executable(own main.c)
		target_compile_definitions(own PRIVATE OWN)
		target_link_libraries(own PRIVATE ashlar::ashlar)
	END
	for options in "" -DASHLAR_HARDENED=ON; do
		# shellcheck disable=SC2086 # a list
		quiet sh -c 'cmake -S "$1" -B "$1/build$2" $2 && cmake --build "$1/build$2" && cd "$1/build$2" && ./c && ./cc && ./own' \
			cmake "$folder/cmake" $options
		verdict "builds: CMake's FetchContent ${options:-without options}"
	done
}

in_meson() {
	if ! have meson ninja git; then
		skip 'builds: Meson or ninja is not here'
		return
	fi
	there=$folder/meson
	mkdir -p "$there/subprojects/packagefiles/ashlar" && program "$there"
	cp tools/meson/meson.build tools/meson/meson_options.txt "$there/subprojects/packagefiles/ashlar"
	sed "s|^url = .*|url = file://$folder/source|" tools/meson/ashlar.wrap >"$there/subprojects/ashlar.wrap"
	cat >"$there/meson.build" <<-'END'
		project('program', 'c')
		ashlar = subproject('ashlar')
		executable('c', 'main.c', dependencies: ashlar.get_variable('ashlar_malloc_dep'))
		executable('own', 'main.c', c_args: '-DOWN', dependencies: ashlar.get_variable('ashlar_dep'))
	END
	quiet sh -c 'cd "$1" && meson setup build && ninja -C build && build/c && build/own' meson "$there"
	verdict 'builds: a Meson subproject'
}

# The package's own tests, and a program that fetched the package: all without a libc, by Zig alone.
in_zig() {
	PATH=$PATH:$build/zig/ziglang
	if ! have zig || [ ! -f "$build/amalgamation/ashlar.c" ]; then
		skip 'builds: zig is not here (make setup-programs), or no amalgamation'
		return
	fi
	there=$folder/zig
	export ZIG_GLOBAL_CACHE_DIR="$build/zig/cache"
	BUILD=$build sh tools/zig/stage "$folder/package" && mkdir -p "$there"
	for options in '' '-Dhardened -Doptimize=ReleaseFast'; do
		# shellcheck disable=SC2086 # a list
		(cd "$folder/package" && quiet timeout "$limit" zig build test --summary all $options) &&
			grep -q '4/4 tests passed' "$folder/errors"
		verdict "builds: the package of Zig passes its tests ${options:-without options}"
	done
	(cd "$folder/package" && quiet timeout "$limit" zig build -Dsystem && nm -u zig-out/lib/libashlar.a | grep -q ' U ash_system_map$') &&
		! (cd "$folder/package" && quiet zig build -Dsystem -Dhardened) && grep -q 'not both hardened and system' "$folder/errors"
	verdict 'builds: -Dsystem asks the program for memory, and is refused with -Dhardened'
	cat >"$there/build.zig" <<-'END'
		const std = @import("std");
		pub fn build(b: *std.Build) void {
		    const target = b.standardTargetOptions(.{});
		    const optimize = b.standardOptimizeOption(.{});
		    const ashlar = b.dependency("ashlar", .{ .target = target, .optimize = optimize });
		    const options: std.Build.Module.CreateOptions = .{ .root_source_file = b.path("main.zig"), .target = target, .optimize = optimize };
		    const program = b.addExecutable(.{ .name = "program", .root_module = b.createModule(options) });
		    program.root_module.addImport("ashlar", ashlar.module("ashlar"));
		    b.installArtifact(program);
		    const c = b.addExecutable(.{ .name = "c", .root_module = b.createModule(.{ .target = target, .optimize = optimize, .link_libc = true }) });
		    c.root_module.addCSourceFile(.{ .file = b.path("main.c"), .flags = &.{"-DOWN"} });
		    c.root_module.linkLibrary(ashlar.artifact("ashlar"));
		    b.installArtifact(c);
		}
	END
	cat >"$there/main.zig" <<-'END'
		const std = @import("std");
		const ashlar = @import("ashlar");
		pub fn main() !void {
		    var map = std.AutoHashMap(u32, []u8).init(ashlar.allocator);
		    for (0..1000) |i| try map.put(@intCast(i), try ashlar.allocator.alloc(u8, i));
		    const heap = try ashlar.Heap.create();
		    defer heap.destroy();
		    _ = try heap.allocator().dupe(u8, "text");
		    std.debug.print("{d} lists, check {d}\n", .{ map.count(), ashlar.ash_check() });
		}
	END
	printf '.{ .name = .program, .version = "1.0.0", .fingerprint = 0x92ed7784359c02a1, .paths = .{""} }\n' >"$there/build.zig.zon"
	program "$there"
	quiet sh -c 'cd "$1" && zig fetch --save=ashlar "$2" && zig build && zig-out/bin/c && zig-out/bin/program 2>&1' zig "$there" "$folder/package" &&
		grep -qx '1000 lists, check 0' "$folder/out" && ! readelf -lW "$there/zig-out/bin/program" | grep -q INTERP
	verdict 'builds: a program that fetched the package of Zig, and one in C'
}

in_cmake
in_meson
in_zig
exit $status
