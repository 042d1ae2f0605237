//! Gives WebAssembly the stack that a thread of the command has: rules and runs may nest as deep as there.

#![allow(clippy::disallowed_methods, reason = "a build script is told by its environment")]

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo:rustc-link-arg-cdylib=-zstack-size=8388608");
    }
}
