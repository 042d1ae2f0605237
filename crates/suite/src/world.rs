//! The world of a session, recorded in its run when the session ends: the files of its folder, and the commands of rules that were run there. So a
//! verdict is final then, and later evaluations never examine another folder.

use crate::folder_copy::{self, TextBudget};
use crate::paths::normalize_path;
use averment_engine::vm::world::{FileState, WorldLookup};
use averment_runs::normal::{of_meta, of_run, of_step};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Inspects the world in a folder as the rules of a run require; returns the lookups.
pub type WorldLook<'a> = dyn Fn(&str, &Path) -> Vec<WorldLookup> + Sync + 'a;

#[derive(Debug)]
pub(crate) struct WorldRecord {
    files: Map<String, Value>,
    ran: Vec<Value>,
}

impl WorldRecord {
    pub(crate) fn nothing_known() -> Self {
        let mut world = Self { files: Map::new(), ran: Vec::new() };
        world.leave_open(".");
        world.leave_outside();
        world
    }

    /// Records the folder of an ended session; with `asked`, only the files that rules read.
    pub(crate) fn of_folder(folder: &Path, asked: bool, run: &str, look: &WorldLook<'_>) -> Self {
        let mut world = Self::nothing_known();
        let mut texts = TextBudget::new();
        if !asked {
            world.files = folder_copy::record_files(folder, &mut texts);
            world.leave_outside();
        }
        for seen in look(run, folder) {
            match seen {
                WorldLookup::File(path, state) => world.record_file(folder, path, state.as_ref(), &mut texts),
                WorldLookup::Command(words, outcome) => world.ran.push(match outcome {
                    Ok(outcome) => {
                        json!({ of_step::COMMAND: words, of_step::EXIT_CODE: outcome.code, of_step::OUTPUT: outcome.output })
                    }
                    Err(why) => json!({ of_step::COMMAND: words, of_step::ERROR: why }),
                }),
            }
        }
        world
    }

    fn leave_open(&mut self, folder: &str) {
        self.files.insert(folder.to_owned(), json!({ of_run::COMPLETE: false }));
    }

    fn leave_outside(&mut self) {
        self.leave_open("..");
        self.leave_open("/");
    }

    fn record_file(&mut self, folder: &Path, path: String, state: Option<&FileState>, texts: &mut TextBudget) {
        let place = normalize_path(&folder.join(&path));
        let found = match place.strip_prefix(folder) {
            Ok(below) if below.as_os_str().is_empty() => None,
            Ok(below) => folder_copy::record_path(folder, below, texts),
            Err(_) => state.map(|state| if *state == FileState::Missing { Value::Null } else { json!({}) }),
        };
        let name = match place.strip_prefix(folder) {
            Ok(below) if !path.starts_with('/') => below.to_string_lossy().into_owned(),
            _ => path,
        };
        match found {
            Some(Value::Object(mut file)) => {
                match state {
                    // A link may lead anywhere, so it is not followed.
                    _ if file.contains_key(of_run::COMPLETE) => {}
                    Some(FileState::Folder(names)) => drop(file.insert("content".to_owned(), json!(names))),
                    Some(FileState::Text(text))
                        if !file.contains_key("content") && texts.take_bytes(text.len() as u64) =>
                    {
                        file.insert("content".to_owned(), json!(text));
                    }
                    _ => {}
                }
                // Merges with the entry that was already listed.
                match self.files.entry(name).or_insert_with(|| json!({})) {
                    Value::Object(known) => known.extend(file),
                    other => *other = Value::Object(file),
                }
            }
            Some(_) => drop(self.files.insert(name, json!({ "exists": false }))),
            None => {}
        }
    }

    /// Adds the records to a run that has none. The transcript's own file records are kept.
    pub(crate) fn into_run(self, run: &str, says_files: bool) -> String {
        // The first occurrence of this text comes before anything that an agent wrote.
        let meta = format!("\"{}\":{{", of_run::META);
        let ran = format!("{meta}\"{}\":{},", of_meta::RAN, Value::Array(self.ran));
        let run = run.replacen(&meta, &ran, 1);
        match run.strip_suffix('}') {
            Some(open) if !says_files => {
                format!("{open},\"{}\":{}}}", of_run::FILES, Value::Object(self.files))
            }
            _ => run,
        }
    }
}
