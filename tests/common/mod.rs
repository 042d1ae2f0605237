//! What several test programs share: the folder of shared vectors, and verdicts by text.

use std::path::PathBuf;

/// The folder of vectors and traces beside the project, or `None` with a loud remark that the test skips.
///
/// `AVERMENT_SHARED` names it; otherwise it is the `shared` folder next to the project or to a folder above it.
#[allow(dead_code, reason = "not every test program reads vectors")]
pub fn shared(part: &str) -> Option<PathBuf> {
    let named = std::env::var_os("AVERMENT_SHARED").map(PathBuf::from);
    let above =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1).map(|folder| folder.join("shared"));
    let found = named.into_iter().chain(above).map(|folder| folder.join(part)).find(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: there is no shared/{part}; set AVERMENT_SHARED to the folder that holds it");
    }
    found
}

/// The lines of a JSONL file as values.
#[allow(dead_code, reason = "not every test program reads vectors")]
pub fn lines(path: &std::path::Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).expect("a readable vector file");
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// A string of the language.
#[allow(dead_code, reason = "not every test program writes rules")]
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' | '$' => quoted.extend(['\\', character]),
            control if control.is_control() || matches!(control, '\u{2028}' | '\u{2029}') => {
                quoted.push_str(&format!("\\u{{{:x}}}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}
