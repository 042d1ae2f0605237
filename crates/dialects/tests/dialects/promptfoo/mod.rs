//! promptfoo: configs and result files, and the diagnostics of broken ones.

mod as_promptfoo;
mod configs;
mod refused;
mod results;

use crate::judged::lines;
use averment::Rules;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_dialects::{ForeignOptions, LoweringInputs};
use std::path::Path;

/// The result of importing a file.
pub enum Imported {
    Rules {
        rules: Box<Rules>,
        text: String,
    },
    /// The diagnostics, one per line.
    Refused(String),
}

/// Imports a config, with promptfoo's semantics if requested.
pub fn import(config: &str, as_promptfoo: bool) -> Imported {
    import_file("promptfooconfig.yaml", config, &[], as_promptfoo)
}

/// Imports a file with other files beside it.
pub fn import_file(name: &str, text: &str, beside: &[(&str, &str)], as_promptfoo: bool) -> Imported {
    let files = Memory::new(beside.iter().copied());
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new(name, Some(Path::new("")), text));
    let how = LoweringInputs { files: &files, options: ForeignOptions { as_promptfoo, ..ForeignOptions::default() } };
    let compiled = averment_dialects::compile_foreign(&mut sources, root, &[], Limits::default(), how);
    match (compiled.program, compiled.lowered) {
        (Some(_), Some(lowered)) => {
            let text = lowered.written.text;
            let rules = Rules::builder().files(files).text("imported.assert", text.as_str()).allow_empty(true).build();
            Imported::Rules { rules: Box::new(rules.unwrap_or_else(|error| panic!("{error}\n{text}"))), text }
        }
        _ => Imported::Refused(lines(&sources, &compiled.diagnostics)),
    }
}

/// Returns the imported text, or the diagnostics.
fn imported_text(text: &str, beside: &[(&str, &str)]) -> String {
    match import_file("promptfooconfig.yaml", text, beside, false) {
        Imported::Rules { text, .. } => text,
        Imported::Refused(said) => said,
    }
}
