# SPDX-License-Identifier: MIT
# A package of Nix: nix-build -E 'with import <nixpkgs> { }; callPackage ./tools/install/ashlar.nix { }'
{ lib, stdenv, llvmPackages }:

stdenv.mkDerivation {
  pname = "ashlar";
  version = "1.0.0";
  src = lib.cleanSource ../..;
  nativeBuildInputs = [ llvmPackages.clang llvmPackages.lld ];
  # A stack protector, for example, would need a libc.
  hardeningDisable = [ "all" ];
  enableParallelBuilding = true;
  makeFlags = [ "CC=clang" "PREFIX=${placeholder "out"}" ];
  meta = {
    description = "Lock-free memory allocator for programs with and without a C library";
    license = lib.licenses.mit;
    platforms = [ "x86_64-linux" "aarch64-linux" "riscv64-linux" ];
  };
}
