//! A lower layer never imports a higher one, and the house rules that no compiler checks.

use std::path::{Path, PathBuf};

/// Modules by layer, lowest first; see ARCHITECTURE.md.
const LAYERS: [&[&str]; 10] = [
    &["source", "diagnostic", "limits", "truth", "value"],
    &["syntax", "trace"],
    &["ir", "builtins", "check"],
    &["lint", "project"],
    &["bytecode", "compile"],
    &["vm"],
    &["report", "rules"],
    &["fmt", "propose", "testing", "assist"],
    &["lsp"],
    &["repl", "cli"],
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

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

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The top module that a file belongs to.
fn module_of(path: &Path) -> String {
    let inside = path.strip_prefix(src()).expect("a source file");
    let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn a_lower_layer_never_imports_a_higher_one() {
    let mut wrong = Vec::new();
    for path in sources(&src()) {
        let module = module_of(&path);
        let Some(own) = layer(&module) else { continue };
        let text = std::fs::read_to_string(&path).expect("a source file");
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for used in line.split("crate::").skip(1).map(|rest| {
                rest.split(|character: char| !character.is_alphanumeric() && character != '_')
                    .next()
                    .unwrap_or_default()
            }) {
                if layer(used).is_some_and(|other| other > own) {
                    wrong.push(format!("{}:{}: `{module}` uses `{used}`", path.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_layer() {
    for path in sources(&src()) {
        let module = module_of(&path);
        assert!(["lib", "main"].contains(&module.as_str()) || layer(&module).is_some(), "`{module}` has no layer");
    }
}

#[test]
fn no_source_file_is_long() {
    let long: Vec<String> = sources(&src())
        .into_iter()
        .filter_map(|path| {
            let lines = std::fs::read_to_string(&path).expect("a source file").lines().count();
            (lines > 450).then(|| format!("{lines} {}", path.display()))
        })
        .collect();
    assert!(long.is_empty(), "files want to be about 400 lines at most:\n{}", long.join("\n"));
}
