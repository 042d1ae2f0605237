//! Survey of a project folder: traces, rules, tools and frameworks.

use super::known_tools::{KNOWN_TOOLS, KnownTool};
use averment_base::files;
use averment_base::limits::Limits;
use averment_bulk::feed::{self, RunReadOptions, TraceInput};
use averment_traces::read::is_named_like_a_trace;
use bumpalo::Bump;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum depth of visited folders.
const DEPTH: usize = 6;
/// Maximum number of visited files and folders.
const ENTRIES: usize = 20_000;
/// Maximum number of files that are read to detect traces.
const TRACES: usize = 500;
/// Maximum size of a file that is read to detect traces, in bytes.
const TRACE_SIZE: u64 = 64 << 20;
/// Maximum size of a dependency file, in bytes.
const DEPENDENCIES_SIZE: usize = 1 << 20;

/// Folders with dependencies or build output.
const FOREIGN_FOLDERS: [&str; 8] =
    ["node_modules", "target", "venv", "dist", "build", "vendor", "site-packages", "__pycache__"];
/// Files that name dependencies. `package.json` is read separately, as only its package names count: short ones are also words of descriptions.
const DEPENDENCY_FILES: [&str; 6] =
    ["pyproject.toml", "requirements.txt", "setup.cfg", "Pipfile", "Cargo.toml", "go.mod"];
/// Members of a `package.json` whose keys are package names.
const NPM_MEMBERS: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// The result of a survey. Paths are relative to the folder.
#[derive(Default)]
pub struct FolderSurvey {
    /// Trace files with the names of their formats.
    pub traces: BTreeMap<PathBuf, &'static str>,
    /// Rule files.
    pub rules: BTreeSet<PathBuf>,
    /// Tools and frameworks, in the order of the table.
    pub tools: Vec<&'static KnownTool>,
    /// True if a limit was reached before everything was visited.
    pub cut_short: bool,
    entries: usize,
    opened: usize,
    dependencies: String,
    npm_packages: BTreeSet<String>,
}

impl FolderSurvey {
    /// Surveys a folder. Unreadable files are skipped, because a check could not use them.
    pub fn look_through(folder: &Path) -> Self {
        let mut survey = Self::default();
        survey.visit_folder(folder, Path::new(""), DEPTH);
        let formats: BTreeSet<&str> = survey.traces.values().copied().collect();
        let is_used = |tool: &&KnownTool| {
            tool.marks.iter().any(|mark| folder.join(mark).exists())
                || tool.is_named_in(&survey.dependencies)
                || survey.npm_packages.iter().any(|package| tool.has_npm_package(package))
                || formats.iter().any(|format| format.starts_with(tool.name))
        };
        survey.tools = KNOWN_TOOLS.iter().filter(is_used).collect();
        survey
    }

    fn visit_folder(&mut self, root: &Path, inside: &Path, depth: usize) {
        let Ok(entries) = std::fs::read_dir(root.join(inside)) else { return };
        let mut entries: Vec<std::fs::DirEntry> = entries.flatten().take(ENTRIES).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            self.entries += 1;
            if self.entries > ENTRIES {
                self.cut_short = true;
                return;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            // Links are not followed, because they may lead out of the folder.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !name.starts_with('.') && !FOREIGN_FOLDERS.contains(&name.as_str()) {
                match depth.checked_sub(1) {
                    Some(depth) => self.visit_folder(root, &inside.join(&name), depth),
                    None => self.cut_short = true,
                }
            } else if kind.is_file() {
                self.visit_file(root, inside.join(&name), &name);
            }
        }
    }

    fn visit_file(&mut self, root: &Path, path: PathBuf, name: &str) {
        if name == "package.json" {
            let text = files::text_of(&root.join(&path), DEPENDENCIES_SIZE).unwrap_or_default();
            self.npm_packages.extend(npm_dependencies(&text));
        } else if DEPENDENCY_FILES.contains(&name) || name.starts_with("requirements") && name.ends_with(".txt") {
            let text = files::text_of(&root.join(&path), DEPENDENCIES_SIZE).unwrap_or_default();
            self.dependencies.push_str(&text);
            self.dependencies.push('\n');
        } else if path.extension().is_some_and(|ending| ending == "assert") {
            self.rules.insert(path);
        } else if is_named_like_a_trace(name) {
            if self.opened >= TRACES {
                self.cut_short = true;
                return;
            }
            self.opened += 1;
            if let Some(format) = trace_format(&root.join(&path)) {
                self.traces.insert(path, format);
            }
        }
    }
}

/// Returns the names of the packages that a `package.json` depends on.
fn npm_dependencies(text: &str) -> Vec<String> {
    let described: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let members = NPM_MEMBERS.iter().filter_map(|member| described.get(member)?.as_object());
    members.flat_map(|packages| packages.keys().cloned()).collect()
}

/// Returns the format of the first run of a file; `None` if the file is not a readable trace.
fn trace_format(path: &Path) -> Option<&'static str> {
    if path.metadata().ok()?.len() > TRACE_SIZE {
        return None;
    }
    let reading = RunReadOptions { limits: Limits::default(), ..RunReadOptions::default() };
    let chunk = feed::run_chunks(&TraceInput::File(path.to_path_buf()), &reading).next()?;
    let raw = chunk.raw_runs().next()?.ok()?;
    let arena = Bump::new();
    let run = reading.parse_run(raw, &arena).ok()?;
    Some(run.format)
}

/// Returns the paths for `averment.toml`: files in the folder itself, and for all others the topmost folder that contains some.
pub fn settings_paths<'a>(found: impl Iterator<Item = &'a PathBuf>) -> Vec<String> {
    let mut paths = BTreeSet::new();
    for path in found {
        match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            None => paths.insert(path.clone()),
            Some(parent) => paths.insert(parent.to_path_buf()),
        };
    }
    let covered = |path: &PathBuf| path.ancestors().skip(1).any(|above| paths.contains(above));
    paths.iter().filter(|path| !covered(path)).map(|path| slashed_name(path)).collect()
}

fn slashed_name(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let is_file = is_named_like_a_trace(&path.to_string_lossy()) || path.extension().is_some_and(|end| end == "assert");
    format!("{}{}", parts.join("/"), if is_file { "" } else { "/" })
}
