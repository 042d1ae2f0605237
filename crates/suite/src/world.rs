//! The world of a session, as its run records it when the session ends: the files of its folder, and the commands of rules that were run there.
//! So that a verdict is fixed then, and nothing is ever looked for in another folder.

use crate::copied::{self, Texts};
use crate::paths::plain;
use averment_engine::vm::world::{FileState, Seen};
use averment_runs::normal::{of_meta, of_run, of_step};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Looks at the world in a folder as the rules of a run ask for it; what they looked at.
pub type Look<'a> = dyn Fn(&str, &Path) -> Vec<Seen> + Sync + 'a;

/// What is recorded.
#[derive(Debug)]
pub(crate) struct World {
    files: Map<String, Value>,
    ran: Vec<Value>,
}

impl World {
    /// Nothing is known of any file, and no command was run.
    pub(crate) fn unknown() -> Self {
        let mut world = Self { files: Map::new(), ran: Vec::new() };
        world.open(".");
        world.outside();
        world
    }

    /// The folder of a session that has ended: all of it, or with `asked` only what rules ask for.
    pub(crate) fn of(folder: &Path, asked: bool, run: &str, look: &Look<'_>) -> Self {
        let mut world = Self::unknown();
        let mut texts = Texts::new();
        if !asked {
            world.files = copied::recorded(folder, &mut texts);
            world.outside();
        }
        for seen in look(run, folder) {
            match seen {
                Seen::File(path, state) => world.file(folder, path, state.as_ref(), &mut texts),
                Seen::Command(words, outcome) => world.ran.push(match outcome {
                    Ok(outcome) => {
                        json!({ of_step::COMMAND: words, of_step::EXIT_CODE: outcome.code, of_step::OUTPUT: outcome.output })
                    }
                    Err(why) => json!({ of_step::COMMAND: words, of_step::ERROR: why }),
                }),
            }
        }
        world
    }

    fn open(&mut self, folder: &str) {
        self.files.insert(folder.to_owned(), json!({ of_run::COMPLETE: false }));
    }

    /// What lies outside of the folder is not recorded.
    fn outside(&mut self) {
        self.open("..");
        self.open("/");
    }

    /// A file that a rule has asked for.
    fn file(&mut self, folder: &Path, path: String, state: Option<&FileState>, texts: &mut Texts) {
        let place = plain(&folder.join(&path));
        let found = match place.strip_prefix(folder) {
            Ok(below) if below.as_os_str().is_empty() => None,
            Ok(below) => copied::found(folder, below, texts),
            Err(_) => state.map(|state| if *state == FileState::Missing { Value::Null } else { json!({}) }),
        };
        let name = match place.strip_prefix(folder) {
            Ok(below) if !path.starts_with('/') => below.to_string_lossy().into_owned(),
            _ => path,
        };
        match found {
            Some(Value::Object(mut file)) => {
                match state {
                    // A link may lead anywhere.
                    _ if file.contains_key(of_run::COMPLETE) => {}
                    Some(FileState::Folder(names)) => drop(file.insert("content".to_owned(), json!(names))),
                    Some(FileState::Text(text)) if !file.contains_key("content") && texts.takes(text.len() as u64) => {
                        file.insert("content".to_owned(), json!(text));
                    }
                    _ => {}
                }
                // What was listed already is known besides.
                match self.files.entry(name).or_insert_with(|| json!({})) {
                    Value::Object(known) => known.extend(file),
                    other => *other = Value::Object(file),
                }
            }
            Some(_) => drop(self.files.insert(name, json!({ "exists": false }))),
            None => {}
        }
    }

    /// Puts it into a run that records nothing of it. What the transcript itself says of files stays.
    pub(crate) fn into_run(self, run: &str, says_files: bool) -> String {
        // The first of these signs stands before anything that an agent said.
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
