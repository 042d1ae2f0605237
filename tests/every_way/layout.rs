//! Runs in files: a run on each line, one run a file, a list, values over several lines.

use crate::case::Settings;
use crate::forms::{Form, Written};
use std::path::{Path, PathBuf};

/// Which runs stand in which files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// A run on each line.
    Lines,
    /// The same without those of which something is odd: what `--strict` reads.
    Clean,
    /// A run on each line, several times: more runs than reports for people tell apart.
    Repeated,
    /// Each run in a file of its own, sessions among them.
    Files,
    /// A list of runs.
    List,
    /// Values one behind the other, over several lines each; those in the normal form.
    Spread,
}

impl Layout {
    /// Writes the files of a layout; `odd` says of which runs something is odd. `None` where nothing would stand in them.
    pub fn write(self, folder: &Path, runs: &[Written], odd: &[bool], settings: &Settings) -> Option<Vec<PathBuf>> {
        let lines = || runs.iter().zip(odd).filter(|(run, _)| run.is_line());
        let one = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            vec![path]
        };
        let texts = |wanted: &dyn Fn(&Written, bool) -> bool| -> Vec<&str> {
            lines().filter(|(run, odd)| wanted(run, **odd)).map(|(run, _)| run.text.as_str()).collect()
        };
        match self {
            Layout::Lines | Layout::Clean => {
                let texts = texts(&|_, odd| self == Layout::Lines || !odd);
                let name = if self == Layout::Lines { "lines.jsonl" } else { "clean.jsonl" };
                (!texts.is_empty()).then(|| one(name, settings.lines(&texts)))
            }
            Layout::Repeated => {
                let texts = texts(&|_, _| true);
                let many = texts.iter().cycle().take(texts.len().max(8) * 3).copied().collect::<Vec<_>>();
                (!texts.is_empty()).then(|| one("repeated.jsonl", settings.lines(&many)))
            }
            Layout::Files => Some(
                runs.iter()
                    .enumerate()
                    .flat_map(|(number, run)| one(&format!("run-{number:02}.json"), run.text.clone()))
                    .collect(),
            ),
            Layout::List => {
                let texts = texts(&|_, _| true);
                (!texts.is_empty()).then(|| one("list.json", format!("[{}]\n", texts.join(",\n"))))
            }
            Layout::Spread => {
                let texts = texts(&|run, _| matches!(run.form, Form::Normal | Form::Varied));
                let spread: Vec<String> = texts.iter().map(|text| spread(text)).collect();
                (!spread.is_empty()).then(|| one("spread.json", spread.join("\n")))
            }
        }
    }
}

/// A value over several lines.
fn spread(text: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}
