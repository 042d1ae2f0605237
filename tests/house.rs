//! The house rules that no compiler checks. That a lower layer never imports a higher one is what the crates are for; see ARCHITECTURE.md.

#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test reads files, and one that cannot go on fails"
)]

use std::path::{Path, PathBuf};

/// The Rust files of a folder and of all folders below it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The folders of all packages.
fn packages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = std::fs::read_dir(root.join("crates")).expect("crates").flatten().map(|entry| entry.path());
    let found: Vec<PathBuf> = crates.filter(|path| path.join("Cargo.toml").exists()).chain([root.to_owned()]).collect();
    assert!(found.len() > 2, "the crates are missing");
    found
}

#[test]
fn no_source_file_is_long() {
    let files = packages().into_iter().flat_map(|package| sources(&package.join("src")));
    let long: Vec<String> = files
        .filter_map(|path| {
            let lines = std::fs::read_to_string(&path).expect("a source file").lines().count();
            (lines > 450).then(|| format!("{lines} {}", path.display()))
        })
        .collect();
    assert!(long.is_empty(), "files want to be about 400 lines at most:\n{}", long.join("\n"));
}

/// The fuzz target carries the modules of the test, and nothing that runs here compiles it.
#[test]
fn the_fuzz_target_of_all_ways_has_the_modules_of_their_test() {
    let modules = |path: &str| -> Vec<String> {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a source file");
        let mut names: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("mod "))
            .map(|name| name.replace([';', '{', ' '], ""))
            .collect();
        names.sort();
        names
    };
    assert_eq!(modules("fuzz/fuzz_targets/ways.rs"), modules("tests/every_way/main.rs"));
}

/// A package without them would be free of the lints of the workspace, and nobody would be told.
#[test]
fn every_package_takes_the_lints_and_versions_of_the_workspace() {
    let bindings = Path::new(env!("CARGO_MANIFEST_DIR")).join("bindings");
    for package in packages().into_iter().chain(["python", "javascript/wasm"].map(|name| bindings.join(name))) {
        let manifest = std::fs::read_to_string(package.join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("[lints]\nworkspace = true\n"), "{} has lints of its own", package.display());
        let (_, own) = manifest.split_once("[package]").expect("a package");
        let dependencies = own
            .split("dependencies]\n")
            .skip(1)
            .flat_map(|part| part.lines().take_while(|line| !line.starts_with('[')));
        for line in dependencies.filter(|line| !line.trim().is_empty()) {
            let is_comment = line.starts_with('#');
            let has_no_version = line.contains("workspace = true") || line.contains("path = ");
            assert!(is_comment || has_no_version, "{}: `{line}` names a version of its own", package.display());
        }
    }
}

/// The linter denies unsafe code everywhere else; SECURITY.md names every file in which it does not.
#[test]
fn unsafe_code_stands_only_in_files_that_security_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("SECURITY.md")).expect("the page");
    let (_, promise) = page.split_once("- **No memory is unsafe.**").expect("the promise");
    let promise = promise.split("\n- ").next().unwrap_or_default();
    let named: Vec<PathBuf> = promise.split('`').skip(1).step_by(2).map(|word| root.join(word)).collect();
    let folders = ["crates", "src", "bindings"].map(|folder| root.join(folder));
    let found: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| sources(folder))
        .filter(|path| std::fs::read_to_string(path).expect("a source file").contains("(unsafe_code"))
        .collect();
    let is_named = |path: &PathBuf| named.iter().any(|one| path.starts_with(one));
    let unnamed: Vec<_> = found.iter().filter(|path| !is_named(path)).collect();
    assert!(unnamed.is_empty(), "unsafe code that SECURITY.md does not name: {unnamed:?}");
    let empty: Vec<_> = named.iter().filter(|one| !found.iter().any(|path| path.starts_with(one))).collect();
    assert!(!named.is_empty() && empty.is_empty(), "SECURITY.md names these, and they hold no unsafe code: {empty:?}");
}

/// Whether a crate asks or answers over the network is seen in what it imports.
#[test]
fn only_few_crates_use_the_network() {
    let uses = |text: &str| ["ureq::", "TcpStream", "TcpListener", "UdpSocket"].iter().any(|word| text.contains(word));
    let mut found: Vec<String> = packages()
        .into_iter()
        .filter(|package| {
            let texts = sources(&package.join("src")).into_iter().map(std::fs::read_to_string);
            texts.flatten().any(|text| uses(&text))
        })
        .filter_map(|package| Some(package.file_name()?.to_string_lossy().into_owned()))
        .collect();
    found.sort();
    assert_eq!(found, ["guard", "http", "probe"]);
}

/// What is missing there is neither built nor tested by a plain `cargo build` or `cargo test` at the top.
#[test]
fn every_package_but_fixtures_and_columns_is_a_default_member() {
    let manifest = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).expect("a manifest");
    let (_, behind) = manifest.split_once("default-members = [").expect("default members");
    let (members, _) = behind.split_once(']').expect("their end");
    let mut missing: Vec<String> = packages()
        .into_iter()
        .filter_map(|package| Some(package.strip_prefix(env!("CARGO_MANIFEST_DIR")).ok()?.display().to_string()))
        .filter(|name| !members.contains(&format!("\"{}\"", if name.is_empty() { "." } else { name })))
        .collect();
    missing.sort();
    assert_eq!(missing, ["crates/columns", "crates/fixtures"]);
}

/// Looking for examples takes seconds for each library, one after the other: only those are looked through that have some.
#[test]
fn examples_are_tested_where_there_are_some() {
    for package in packages().into_iter().filter(|package| package.join("src/lib.rs").exists()) {
        let has_example = sources(&package.join("src")).iter().any(|path| {
            let text = std::fs::read_to_string(path).expect("a source file");
            let of_docs = text.lines().filter_map(|line| {
                let line = line.trim_start();
                line.strip_prefix("/// ").or(line.strip_prefix("//! "))?.strip_prefix("```")
            });
            of_docs.step_by(2).any(|language| language.trim() != "text")
        });
        let manifest = std::fs::read_to_string(package.join("Cargo.toml")).expect("a manifest");
        assert_eq!(has_example, !manifest.contains("doctest = false"), "examples of {}", package.display());
    }
}

/// What `clippy.toml` forbids is allowed as a whole where it is the purpose of a crate, and nowhere else; features name their modules.
#[test]
fn files_processes_threads_and_clocks_are_the_matter_of_few_crates() {
    let mut found: Vec<String> = packages()
        .into_iter()
        .filter(|package| {
            let texts = ["src/lib.rs", "src/main.rs"].map(|name| std::fs::read_to_string(package.join(name)));
            let joined = |text: &String| text.split_whitespace().collect::<String>();
            texts.iter().flatten().any(|text| joined(text).contains("#![allow(clippy::disallowed_methods"))
        })
        .filter_map(|package| Some(package.file_name()?.to_string_lossy().into_owned()))
        .collect();
    found.sort();
    assert_eq!(found, ["bulk", "cli", "fixtures", "guard", "history", "http", "ide", "probe", "suite", "testing"]);
}

/// What is published of a package is its folder: a file that it includes from elsewhere is missing for everybody who installs it.
#[test]
fn every_package_includes_files_of_its_own_folder_alone() {
    let mut outside = Vec::new();
    for package in packages().into_iter().filter(|package| !package.ends_with("fixtures")) {
        for file in sources(&package.join("src")) {
            let text = std::fs::read_to_string(&file).expect("a source file");
            let depth = file.strip_prefix(&package).expect("below its package").components().count() - 1;
            let included = ["include_str!(", "include_bytes!("].into_iter().flat_map(|sign| text.split(sign).skip(1));
            let paths = included.filter_map(|behind| behind.split('"').nth(1));
            let climbs = |path: &str| path.matches("../").count() > depth;
            outside.extend(paths.filter(|path| climbs(path)).map(|path| format!("{}: {path}", file.display())));
        }
    }
    outside.retain(|line| !line.contains("/src/tests.rs"));
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

/// What `cargo deny` holds, as far as a machine without it can: everything is from the registry with its checksum, nothing speaks over the
/// network, and the number of packages grows only on purpose.
#[test]
fn what_is_built_in_comes_from_the_registry_and_is_looked_at() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).expect("the lock file");
    let (mut foreign, mut names, mut own) = (Vec::new(), Vec::new(), 0);
    for package in lock.split("[[package]]").skip(1) {
        let field = |name: &str| package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        names.push(field("name").expect("a name").trim_matches('"').to_owned());
        let known = field("source").is_none_or(|source| source.contains("github.com/rust-lang/crates.io-index"));
        own += usize::from(field("source").is_none());
        if !known || field("source").is_some() && field("checksum").is_none() {
            foreign.push(package.trim().to_owned());
        }
    }
    assert!(foreign.is_empty(), "not from the registry: {foreign:?}");
    // `tokio` is there without its network, which is what `socket2` would come with; `crates/http` alone speaks, with `ureq`.
    let denied = ["reqwest", "hyper", "openssl-sys", "socket2"];
    assert!(!names.iter().any(|name| denied.contains(&name.as_str())), "something speaks over the network");
    let foreign_count = names.len() - own;
    assert!(foreign_count <= 335, "{foreign_count} packages: say in ARCHITECTURE.md why one more is worth it");
}

/// SECURITY.md names a test for everybody who may cause something and for everything that holds; the tests exist.
#[test]
fn every_promise_of_security_has_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("SECURITY.md")).expect("the page");
    let part = |title: &str| {
        let (_, behind) = page.split_once(title).expect("a section");
        behind.split("\n## ").next().unwrap_or_default().to_owned()
    };
    let rows = part("## Which test holds what\n");
    let rows: Vec<(&str, &str)> =
        rows.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | ")).skip(1).collect();
    let mut promises: Vec<String> = part("## Who may cause what\n").lines().skip(3).map(str::to_owned).collect();
    promises.retain(|line| line.starts_with("| "));
    let bold = part("## What holds whatever is read\n");
    promises.extend(bold.lines().filter_map(|line| line.strip_prefix("- **")).map(|line| format!("| {line}")));
    assert!(promises.len() > 10, "{promises:?}");
    for promise in &promises {
        let is_held = rows.iter().any(|(name, _)| promise.starts_with(&format!("| {name}")));
        assert!(is_held, "no test is named for: {promise}");
    }
    let mut known = String::new();
    for folder in packages().iter().flat_map(|package| [package.join("src"), package.join("tests")]) {
        for path in if folder.is_dir() { sources(&folder) } else { Vec::new() } {
            known.push_str(&std::fs::read_to_string(path).expect("a source file"));
        }
    }
    for (name, tests) in rows {
        let tests: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "{name} has no test");
        for test in tests {
            assert!(known.contains(&format!("fn {test}(")), "{name}: there is no test `{test}`");
        }
    }
}
