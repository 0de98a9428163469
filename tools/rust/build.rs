// SPDX-License-Identifier: MIT
//! Compiles c/ashlar.c, the whole of Ashlar.  It is freestanding C: no header and no library of
//! the target is needed, so any clang serves every target, and any gcc its own.
//!
//! CC and AR, or CC_<target> and AR_<target> with the target's dashes as underscores, choose
//! other tools than clang or cc, and llvm-ar or ar.

use std::env;
use std::path::PathBuf;
use std::process::{exit, Command, Stdio};

fn fail(text: &str) -> ! {
    eprintln!("ashlar: {}", text);
    exit(1);
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// The tool that the environment names, for this target or for all.
fn chosen(name: &str) -> Option<String> {
    let target = variable("TARGET").replace('-', "_");

    [format!("{}_{}", name, target), format!("TARGET_{}", name), name.to_string()]
        .iter()
        .filter_map(|variable| {
            println!("cargo:rerun-if-env-changed={}", variable);
            env::var(variable).ok()
        })
        .find(|value| !value.is_empty())
}

/// Returns whether the feature of this name is on; cargo writes its dashes as underscores.
fn has(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_some()
}

/// What the tool prints of its version; None: it is not there.
fn version(tool: &str) -> Option<String> {
    let output = Command::new(tool).arg("--version").stderr(Stdio::null()).output().ok()?;

    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => (),
        result => fail(&format!("{:?}: {:?}", command, result)),
    }
}

fn main() {
    let arch = variable("CARGO_CFG_TARGET_ARCH");
    let out = PathBuf::from(variable("OUT_DIR"));

    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=c");
    if !["x86_64", "aarch64", "riscv64"].contains(&arch.as_str()) {
        fail("it is for x86_64, aarch64 and riscv64");
    }
    if variable("CARGO_CFG_TARGET_OS") != "linux" && !has("core") {
        fail("it is for Linux; for other systems use the feature core, and define the system");
    }
    for other in ["override", "hardened", "profile"] {
        if has("core") && has(other) {
            fail(&format!("not both core and {}, which needs Linux", other));
        }
    }
    if has("profile") && has("hardened") {
        fail("not both profile and hardened: the sizes of guarded blocks would be wrong in profiles");
    }
    let native = variable("HOST").split('-').next() == variable("TARGET").split('-').next();
    let compiler = chosen("CC").unwrap_or_else(|| {
        let tools: &[&str] = if native { &["clang", "cc", "gcc"] } else { &["clang"] };

        match tools.iter().find(|tool| version(tool).is_some()) {
            Some(tool) => tool.to_string(),
            None => fail("no C compiler: install clang, or gcc, or set CC"),
        }
    });
    let clang = version(&compiler).unwrap_or_default().contains("clang");
    let mut cc = Command::new(&compiler);

    // -fPIC: for programs, position independent or not, and for shared objects.  Hidden: nothing
    // of it goes by way of a table, and it is not exported, but for the names of malloc.
    cc.args(["-std=c17", "-O2", "-ffreestanding", "-fPIC", "-fvisibility=hidden", "-fno-stack-protector"])
        .args(["-ffunction-sections", "-fdata-sections", "-fasynchronous-unwind-tables", "-w"]);
    if clang {
        cc.arg(format!("--target={}-linux-gnu", arch)).args(["-fno-vectorize", "-fno-slp-vectorize"]);
    } else {
        cc.args(["-fno-tree-vectorize"]);
    }
    cc.args(["-fno-unroll-loops", "-falign-functions=1"]);
    // As the target's Rust code: with or without registers for floating point, and without a red zone in kernels, where
    // an interrupt handler has the stack of the code that it interrupts.
    let features = variable("CARGO_CFG_TARGET_FEATURE");
    let is_on = |feature| features.split(',').any(|each| each == feature);
    match arch.as_str() {
        "aarch64" => {
            cc.arg("-mno-outline-atomics");
            if !is_on("neon") {
                cc.arg("-mgeneral-regs-only");
            }
        }
        "riscv64" if variable("TARGET").starts_with("riscv64imac") => drop(cc.args(["-march=rv64imac", "-mabi=lp64"])),
        "riscv64" => drop(cc.args(["-march=rv64gc", "-mabi=lp64d"])),
        _ => {
            if !is_on("sse2") {
                cc.args(["-mno-sse", "-mno-mmx"]);
            }
            if variable("CARGO_CFG_TARGET_OS") != "linux" {
                cc.arg("-mno-red-zone");
            }
        }
    }
    if variable("DEBUG") == "true" {
        cc.arg("-gdwarf-4"); // valgrind before 3.20 gives up on the DWARF 5 of clang
    }
    if has("override") {
        cc.arg("-DASHLAR_MALLOC");
    }
    if has("hardened") {
        cc.arg("-DASHLAR_HARDENED");
    }
    if has("local-dynamic-tls") {
        if has("override") {
            fail("not both override and local-dynamic-tls: the loader's malloc, which gives threads their memory, would need it");
        }
        cc.args(["-DASHLAR_DYNAMIC_TLS", "-ftls-model=local-dynamic"]);
    }
    if has("profile") {
        cc.arg("-DASHLAR_SAMPLE");
        if clang {
            cc.args(["-include", "c/profile/section.h"]);
        }
    }
    // A system of the program's own; or the heaps, and threads of a C library, if there is one, that give up their slabs
    // when they end.
    cc.arg(if has("core") { "-DASHLAR_SYSTEM" } else { "-DASHLAR_PTHREAD" });
    let archive = out.join("libashlar.a");
    let sources: &[&str] = if has("profile") { &["ashlar", "profile/live", "profile/sites", "profile/ours"] } else { &["ashlar"] };
    let mut objects = Vec::new();

    cc.arg("-c");
    for source in sources {
        let object = out.join(source.replace("profile/", "")).with_extension("o");
        let mut each = Command::new(&compiler);

        run(each.args(cc.get_args()).arg(format!("c/{}.c", source)).arg("-o").arg(&object));
        objects.push(object);
    }

    let ar = chosen("AR").unwrap_or_else(|| {
        match ["llvm-ar", "ar"].iter().find(|tool| version(tool).is_some()) {
            Some(tool) => tool.to_string(),
            None => fail("no ar: install binutils or llvm, or set AR"),
        }
    });
    let _ = std::fs::remove_file(&archive);
    run(Command::new(ar).arg("crs").arg(&archive).args(&objects));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=ashlar");
}
