// SPDX-License-Identifier: MIT
fn main() {
    println!("cargo:rerun-if-env-changed=CHOSEN");
    println!("cargo:rustc-cfg={}", std::env::var("CHOSEN").unwrap_or("system".to_string()));
}
