//! What a library without its default features brings along.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// What no library may need: terminals, the command line, editors, watching of files.
const NONE_OF: [&str; 16] = [
    "clap",
    "clap_complete",
    "clap_mangen",
    "anstream",
    "anstyle",
    "terminal_size",
    "indicatif",
    "console",
    "rustyline",
    "supports-unicode",
    "supports-color",
    "miette",
    "codespan-reporting",
    "lsp-server",
    "notify",
    "signal-hook",
];
/// What only looks at the world, or starts threads.
const OF_FEATURES: [&str; 2] = ["rustix", "averment-bulk"];

/// The packages of `cargo tree`, of normal dependencies.
fn packages(more: &[&str]) -> BTreeSet<String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    command.args([
        "tree",
        "--offline",
        "--locked",
        "-p",
        "averment",
        "-e",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    let output = command.args(more).output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_library_brings_no_terminal_no_editor_and_no_watcher() {
    let all: BTreeMap<&str, BTreeSet<String>> =
        [("default features", packages(&[])), ("no features", packages(&["--no-default-features"]))].into();
    for (features, packages) in &all {
        assert!(packages.contains("averment-engine"), "{features}: {packages:?}");
        let found: Vec<&str> = NONE_OF.into_iter().filter(|name| packages.contains(*name)).collect();
        assert!(found.is_empty(), "with {features}: {found:?}");
    }
    let found: Vec<&str> = OF_FEATURES.into_iter().filter(|name| all["no features"].contains(*name)).collect();
    assert!(found.is_empty(), "without features: {found:?}");
}
