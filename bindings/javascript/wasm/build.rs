//! Gives WebAssembly the same stack size as a thread of the command, so that rules and runs may nest as deeply.

#![allow(clippy::disallowed_methods, reason = "a build script is told by its environment")]

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo:rustc-link-arg-cdylib=-zstack-size=8388608");
    }
}
