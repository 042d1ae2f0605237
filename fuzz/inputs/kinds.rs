//! The kinds of inputs: what each is made of, and what it goes through.

use super::mutate::files;
use averment_engine::bytecode::codec;
use std::path::Path;

/// One way in.
pub struct InputKind {
    /// The name of its target.
    pub name: &'static str,
    /// The texts that its inputs are made of, in the folder of the project.
    pub seeds: fn(&Path) -> Vec<Vec<u8>>,
    /// What is done with an input; it panics where that is not right.
    pub run: fn(&[u8]),
}

/// All of them.
pub const KINDS: &[InputKind] = &[
    InputKind { name: "rules", seeds: rules, run: super::rules::run },
    InputKind { name: "format", seeds: rules, run: super::format::run },
    InputKind { name: "foreign", seeds: foreign, run: super::foreign::run },
    InputKind { name: "traces", seeds: traces, run: super::traces::run },
    InputKind { name: "green", seeds: traces, run: super::green::run },
    #[cfg(feature = "parquet")]
    InputKind { name: "columns", seeds: columns, run: super::traces::run_file },
    InputKind { name: "compiled", seeds: compiled, run: super::compiled::run },
    InputKind { name: "protocol", seeds: protocol, run: super::protocol::run },
    #[cfg(feature = "guard")]
    InputKind { name: "guard", seeds: |project| corpus(project, "guard"), run: super::guard::run },
];

/// The kind of this name.
#[must_use]
pub fn kind(name: &str) -> Option<&'static InputKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The small inputs of a fuzz target that are in the repository.
#[must_use]
pub fn corpus(project: &Path, target: &str) -> Vec<Vec<u8>> {
    let folder = project.join("fuzz/seeds").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn below(project: &Path, folders: &[&str], endings: &[&str]) -> Vec<Vec<u8>> {
    let folders: Vec<_> = folders.iter().map(|folder| project.join(folder)).collect();
    files(&folders, endings)
}

fn rules(project: &Path) -> Vec<Vec<u8>> {
    below(project, &["tests/golden", "examples", "crates/builtins/stdlib"], &["assert"])
}

fn foreign(project: &Path) -> Vec<Vec<u8>> {
    let mut found = below(project, &["examples", "tests/golden/import", "crates/dialects/tests"], &["ts", "yaml"]);
    found.extend(below(project, &["examples", "crates/dialects/tests"], &["json"]));
    found
}

fn traces(project: &Path) -> Vec<Vec<u8>> {
    below(project, &["tests/golden", "examples"], &["json", "jsonl"])
}

#[cfg(feature = "parquet")]
fn columns(project: &Path) -> Vec<Vec<u8>> {
    below(project, &["crates/cli/tests/columns", "examples/parquet"], &["parquet", "arrow"])
}

fn compiled(project: &Path) -> Vec<Vec<u8>> {
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let programs = rules(project);
    let programs = programs.iter().filter_map(|rules| super::rules::program(&text(rules)));
    programs.map(|one| codec::encode(&one)).collect()
}

fn protocol(project: &Path) -> Vec<Vec<u8>> {
    let said = "\n#> hover 1 3\n#> completion 1 5\n#> change 1 0 1 2 each\\n\n#> rename 1 4 x\n#> codeAction 9 9\n#> semanticTokens/full\n";
    rules(project).into_iter().map(|rules| [&rules, said.as_bytes()].concat()).collect()
}
