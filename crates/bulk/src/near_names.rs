//! Finds names of the rules that no run has although some run has a similar name, and rules that no run reaches. Without a message, both
//! look like rules that hold.
//!
//! Names of tools are collected from all runs. Keys and file paths are looked for in the beginning of every file, and only if it has a key
//! similar to one of the rules: such runs are evaluated once more to find the paths that lead nowhere. The result does not depend on threads
//! or chunks. It is a warning by default; with `--deny near-names` it fails the check.

use crate::feed::{self, TraceInput};
use crate::near_bytes::{KEY, SearchedBytes, stands_in};
use crate::near_globs::{near_tested, near_tool};
use crate::near_words::{near_name_line, near_name_words, one_line};
use crate::skipped_rules::{skipped_members, skipped_rules};
use averment_base::near;
use averment_base::source::Span;
use averment_builtins::stdlib;
use averment_engine::bytecode::ops::Op;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::asked_texts::AskedTexts;
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::named_tools::{ToolNameTest, named_tools};
use averment_engine::vm::near_names::{self, NameCategory, NearName};
use averment_engine::vm::near_values;
use averment_engine::vm::outcome::MemberGate;
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::select::RuleSelection;
use averment_report::table::ReportTable;
use averment_runs::run::RunSource;
use averment_syntax::near_keywords::meant_by_name;
use averment_traces::read::{FilePart, RawRun};
use bumpalo::Bump;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes searched for keys at the start of each file.
const BEGINNING: u64 = 64 << 10;
/// Bytes at the beginning of a file whose runs are evaluated once more for texts alone: what a rule misspells, the first runs tell.
const BEGINNING_OF_TEXTS: u64 = 16 << 10;
/// Bytes; longer runs are not evaluated again.
const LONGEST: usize = 16 << 20;
/// Distinct keys and tools kept.
const MOST: usize = 100_000;
/// Name pairs compared per run and for all tools: rules and runs may have very many.
const PAIRS_OF_RUN: usize = 200_000;
const PAIRS_OF_TOOLS: usize = 4_000_000;
/// Runs of words in the name of a tool, about.
const WORD_PAIRS: usize = 10;
/// Tools named in the summary.
const TOLD: usize = 100;

/// Names recorded while runs are judged. By default none are looked for.
#[derive(Debug, Default)]
pub struct NearNames {
    is_asked: bool,
    wanted: FxHashSet<String>,
    /// Names of catalogues.
    known: FxHashSet<String>,
    inputs: OnceLock<Vec<TraceInput>>,
    tools: BTreeMap<String, (usize, Span)>,
    /// Tests of a part of the name of a tool.
    tool_tests: BTreeMap<ToolNameTest, (usize, Span)>,
    /// Looks for files, skills, agents, hand-overs or tags: they are not keys.
    files: bool,
    /// Texts that conditions look for.
    texts: AskedTexts,
    noted: Mutex<NearNameNotes>,
}

#[derive(Debug, Default)]
struct NearNameNotes {
    keys: FxHashMap<Box<str>, bool>,
    searched: SearchedBytes,
    tools: BTreeSet<Box<str>>,
    found: BTreeSet<(usize, NearName)>,
    /// Texts and roles of the rules that some run has.
    met: FxHashSet<Box<str>>,
    /// Program and number of assertions whose `when` is false because something is missing.
    skipped: BTreeSet<(usize, u32)>,
    /// The same for group members, plus those judged: program, number, outcome of their `when`.
    gates: BTreeSet<(usize, u32, MemberGate)>,
    remarks: BTreeSet<(usize, u32, String)>,
}

impl NearNames {
    /// Collects the names to look for in the runs of these programs.
    #[must_use]
    pub fn new(programs: &[Program], selection: &RuleSelection) -> Self {
        let mut names = Self { is_asked: true, texts: AskedTexts::of_programs(programs), ..Self::default() };
        for (number, program) in programs.iter().enumerate() {
            let keys = program.code.iter().filter_map(|op| match op {
                Op::Field(name, _) | Op::StepField(name) => program.names.get(name.0 as usize),
                _ => None,
            });
            for key in keys {
                names.wanted.insert(key.clone());
            }
            let named = named_tools(program, selection);
            for (tool, span) in named.whole {
                names.tools.entry(tool.to_owned()).or_insert((number, span));
            }
            for (test, span) in named.tests {
                names.tool_tests.entry(test).or_insert((number, span));
            }
            names.known.extend(near_names::known_names(program));
            names.files |= near_names::looks_for_files(program) || near_values::looks_for_values(program);
        }
        names
    }

    fn lock_notes(&self) -> std::sync::MutexGuard<'_, NearNameNotes> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_tools<'a>(&self, names: impl Iterator<Item = &'a str>) {
        let mut noted = self.lock_notes();
        for name in names {
            if noted.tools.len() < MOST && !noted.tools.contains(name) {
                noted.tools.insert(name.into());
            }
        }
    }

    pub(crate) fn add_skipped(&self, program: usize, assertion: u32) {
        self.lock_notes().skipped.insert((program, assertion));
    }

    pub(crate) fn add_gates(&self, program: usize, assertion: u32, gates: &BTreeSet<MemberGate>) {
        if !gates.is_empty() {
            self.lock_notes().gates.extend(gates.iter().map(|gate| (program, assertion, *gate)));
        }
    }

    pub(crate) fn add_remark(&self, program: usize, assertion: u32, words: &str) {
        let mut noted = self.lock_notes();
        if noted.remarks.len() < MOST {
            noted.remarks.insert((program, assertion, words.to_owned()));
        }
    }

    pub(crate) fn search_part(&self, looking: &NearNameSearch<'_>, part: &FilePart, lines: &[u8]) {
        match part {
            _ if !self.is_asked => {}
            FilePart::Runs(runs) => {
                for raw in runs.iter().flatten().filter(|raw| raw.source.offset < BEGINNING) {
                    self.note_searched(&raw.source.file, raw.source.offset, raw.run_text());
                    self.look_at(looking, raw.run_text(), raw);
                }
            }
            FilePart::Lines(whole) => {
                let Some(left) = BEGINNING.checked_sub(whole.byte_offset()).and_then(|left| usize::try_from(left).ok())
                else {
                    return;
                };
                let mut start = 0;
                for line in lines.split_inclusive(|byte| *byte == b'\n') {
                    let at = start;
                    start += line.len();
                    if at >= left {
                        break;
                    }
                    let offset = whole.byte_offset().saturating_add(u64::try_from(at).unwrap_or(u64::MAX));
                    let Ok(text) = std::str::from_utf8(line) else { continue };
                    self.note_searched(whole.file_name(), offset, text);
                    let text = text.trim_end_matches(['\n', '\r']);
                    if !text.trim_ascii().is_empty()
                        && let Some(sought) = self.sought_in(text, offset)
                    {
                        self.probe_run(looking, &RawRun::new(text.to_owned(), RunSource::default()), sought);
                    }
                }
            }
        }
    }

    /// A run that is looked at for texts is known up to its end, or as far as it is looked at before it is evaluated.
    fn note_searched(&self, file: &str, offset: u64, run: &str) {
        if offset >= BEGINNING_OF_TEXTS {
            return;
        }
        let length = u64::try_from(run.len()).unwrap_or(BEGINNING).min(BEGINNING);
        let mut noted = self.lock_notes();
        if noted.searched.len() < MOST {
            let end = noted.searched.entry(file.into()).or_default();
            *end = (*end).max(offset.saturating_add(length));
        }
    }

    fn look_at(&self, looking: &NearNameSearch<'_>, text: &str, raw: &RawRun) {
        if text.len() <= LONGEST
            && let Some(sought) = self.sought_in(text, raw.source.offset)
        {
            self.probe_run(looking, raw, sought);
        }
    }

    /// What a run is evaluated once more for.
    fn sought_in(&self, text: &str, offset: u64) -> Option<SoughtNames> {
        if (self.files || !self.wanted.is_empty()) && self.is_odd(text) {
            return Some(SoughtNames::All);
        }
        if offset >= BEGINNING_OF_TEXTS {
            return None;
        }
        let end = text.len().min(usize::try_from(BEGINNING).unwrap_or(usize::MAX));
        let begin = text.get(..text.floor_char_boundary(end)).unwrap_or_default();
        self.texts.stand_in(begin, |text| !self.lock_notes().met.contains(text)).then_some(SoughtNames::Texts)
    }

    /// True if a run has a near miss of a key in the rules, or may have files.
    fn is_odd(&self, text: &str) -> bool {
        let mut odd = self.files;
        let end = text.len().min(usize::try_from(BEGINNING).unwrap_or(usize::MAX));
        let mut noted = self.lock_notes();
        let (mut seen, keys) = (FxHashSet::default(), json_keys(text.as_bytes().get(..end).unwrap_or_default()));
        for key in keys.filter(|key| seen.insert(*key)).take(PAIRS_OF_RUN / self.wanted.len().max(1)) {
            let near = match noted.keys.get(key) {
                Some(near) => *near,
                None => {
                    let near = !self.known.contains(key) && self.wanted.iter().any(|one| is_near_key(one, key));
                    if noted.keys.len() < MOST {
                        noted.keys.insert(key.into(), near);
                    }
                    near
                }
            };
            odd |= near;
        }
        odd
    }

    fn probe_run(&self, looking: &NearNameSearch<'_>, raw: &RawRun, sought: SoughtNames) {
        let arena = Bump::new();
        let Ok(run) = looking.reading.parse_run(raw, &arena) else { return };
        for (number, (program, prepared)) in looking.programs.iter().zip(looking.prepared).enumerate() {
            let found = near_names::near_names(program, prepared, &run, &arena, looking.options);
            let mut noted = self.lock_notes();
            if noted.met.len() < MOST {
                noted.met.extend(found.met.into_iter().map(String::into_boxed_str));
            }
            // Which runs are evaluated for texts alone depends on threads, and so nothing else of them counts.
            for one in found.near.into_iter().filter(|one| sought == SoughtNames::All || one.what.is_text()) {
                // Rules that name one and several of them mean two keys.
                let is_meant = near::is_other_number(&one.wanted, &one.found) && self.wanted.contains(&one.found);
                if !is_meant && !self.known.contains(&one.found) && noted.found.len() < MOST {
                    noted.found.insert((number, one));
                }
            }
        }
    }

    /// Warnings for the summary, one per name. `judged` tells whether some run was judged by an assertion, by its table index.
    #[must_use]
    pub fn warning_lines(
        &self,
        table: &ReportTable,
        inputs: &[TraceInput],
        judged: impl Fn(usize) -> bool,
        programs: &[Program],
    ) -> String {
        let found = self.near_names(inputs, programs);
        let mut lines: Vec<String> =
            found.iter().take(TOLD).map(|(program, found)| near_name_line(table, *program, found)).collect();
        if let Some(more) = found.len().checked_sub(TOLD).filter(|more| *more > 0) {
            lines.push(format!("warning: {more} more names that no run has are nearly those that some run has\n"));
        }
        let noted = self.lock_notes();
        lines.extend(skipped_rules(table, &noted.skipped, judged, programs));
        lines.extend(skipped_members(table, &noted.gates, programs));
        let mut of = BTreeSet::new();
        for (program, assertion, words) in &noted.remarks {
            if let Some(item) = table.item_index(*program, *assertion).and_then(|item| table.items.get(item))
                && of.insert((program, assertion))
            {
                lines.push(format!("warning: {}: {}\n", item.location, one_line(words)));
            }
        }
        lines.concat()
    }
}

impl NearNames {
    /// Keeps what is read, to look for names in the rest of it.
    pub fn remember_inputs(&self, inputs: &[TraceInput]) {
        let _ = self.inputs.set(inputs.to_vec());
    }

    /// The names that no run has while some run has nearly it, each with the assertion of the table that names it, as an index, and in words.
    #[must_use]
    pub fn denied_names(&self, table: &ReportTable, programs: &[Program]) -> Vec<(usize, String)> {
        let found = self.near_names(self.inputs.get().map_or(&[], Vec::as_slice), programs);
        let item_of = |program: usize, span: Span| {
            let assertions = (0_u32..).zip(&programs.get(program)?.assertions);
            let items = assertions.filter_map(|(number, one)| Some((one.span, table.item_index(program, number)?)));
            let covers = |whole: Span| whole.file == span.file && whole.start <= span.start && span.end <= whole.end;
            let all: Vec<(Span, usize)> = items.collect();
            all.iter().find(|(whole, _)| covers(*whole)).or(all.first()).map(|(_, item)| *item)
        };
        // A text that is only nearly there is no misspelt name.
        let names = found.iter().filter(|(_, found)| !found.what.is_text());
        let told = names.filter_map(|(program, found)| Some((item_of(*program, found.span)?, near_name_words(found))));
        told.collect()
    }

    /// Each with the number of its program; tools first.
    fn near_names(&self, inputs: &[TraceInput], programs: &[Program]) -> Vec<(usize, NearName)> {
        let noted = self.lock_notes();
        let mut names = self.tools_missed(&noted);
        names.extend(self.tool_tests_missed(&noted));
        let mut told = BTreeSet::new();
        for (program, found) in &noted.found {
            let is_met =
                (found.what.is_text() || found.what == NameCategory::Role) && noted.met.contains(found.wanted.as_str());
            let is_there = is_met || found.what == NameCategory::Key && noted.keys.contains_key(found.wanted.as_str());
            // A similar tool is reported once, not also as a text or value.
            let is_told = |(of, name): &(usize, NearName)| {
                let is_tool = matches!(name.what, NameCategory::Tool | NameCategory::ToolText);
                of == program && is_tool && name.span == found.span
            };
            if !is_there && !names.iter().any(is_told) && told.insert((found.what, found.wanted.clone())) {
                let words: Vec<&str> = self.texts.words_of_regex(&found.wanted).collect();
                if stands_in(inputs, found, &words, &noted.searched) {
                    continue;
                }
                names.push((*program, found.clone()));
            }
        }
        // Modules of the standard set name all spellings of a key on purpose, and nobody can correct them.
        let is_meant = |(program, found): &(usize, NearName)| {
            programs.get(*program).is_some_and(|program| {
                let file = program.sources.get(found.span.file.0 as usize);
                file.is_some_and(|file| stdlib::is_module_file(&file.name))
                    || near_names::is_other_spelling(program, found)
            })
        };
        // Whoever quotes such a word means the tool.
        let is_quoted = |(program, found): &(usize, NearName)| {
            let text = programs.get(*program).and_then(|program| program.source_text(found.span));
            found.what == NameCategory::NoTool
                && text.is_some_and(|text| text.contains(&format!("\"{}\"", found.wanted)))
        };
        names.retain(|one| !is_meant(one) && !is_quoted(one));
        names
    }

    /// Tools in the rules that no run calls, although one calls a similar name.
    fn tools_missed(&self, noted: &NearNameNotes) -> Vec<(usize, NearName)> {
        let mut missed = Vec::new();
        let asked = self.tools.iter().filter(|(tool, _)| !noted.tools.contains(tool.as_str()));
        for (tool, (program, span)) in asked.take(PAIRS_OF_TOOLS / noted.tools.len().max(1)) {
            let mut others = noted.tools.iter().map(|name| &**name).filter(|name| !self.known.contains(*name));
            let found = if tool.contains(['*', '?']) {
                near_tool(tool, noted.tools.iter().map(|name| &**name))
            } else {
                near::nearest_name(tool, others.clone())
            };
            // Rules that name one and several of them mean two tools.
            let other_number = |name: &&str| near::is_other_number(tool, name) && !self.tools.contains_key(*name);
            let found = found.or_else(|| others.find(other_number));
            let near = found.map(|found| (found.to_owned(), NameCategory::Tool));
            let meant = || Some((meant_by_name(tool)?, NameCategory::NoTool));
            if let Some((found, what)) = near.or_else(|| meant().filter(|_| !self.known.contains(tool))) {
                missed.push((*program, NearName { wanted: tool.clone(), found, what, span: *span }));
            }
        }
        missed
    }

    /// Tests of a part of a tool's name that no tool meets, although one nearly does.
    fn tool_tests_missed(&self, noted: &NearNameNotes) -> Vec<(usize, NearName)> {
        let tools = noted.tools.iter().map(|name| &**name);
        let most = PAIRS_OF_TOOLS / WORD_PAIRS / noted.tools.len().max(1);
        let missed = self.tool_tests.iter().take(most).filter_map(|(test, (program, span))| {
            let found = near_tested(test, tools.clone())?.to_owned();
            let is_meant = self.known.contains(&found) || self.known.contains(&test.written);
            let what = NameCategory::ToolText;
            (!is_meant).then(|| (*program, NearName { wanted: test.written.clone(), found, what, span: *span }))
        });
        missed.collect()
    }
}

fn is_near_key(wanted: &str, key: &str) -> bool {
    near::near_miss(wanted, key).is_some() || near::is_other_number(wanted, key)
}

/// What a run is evaluated once more for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SoughtNames {
    All,
    Texts,
}

#[derive(Clone, Copy)]
pub(crate) struct NearNameSearch<'p> {
    pub(crate) programs: &'p [Program],
    pub(crate) prepared: &'p [PreparedProgram],
    pub(crate) options: &'p EvaluateOptions,
    pub(crate) reading: &'p feed::RunReadOptions,
}

fn json_keys(text: &[u8]) -> impl Iterator<Item = &str> {
    memchr::memchr_iter(b':', text).filter_map(|colon| {
        let before = text.get(..colon)?.trim_ascii_end();
        let before = before.strip_suffix(b"\"")?;
        let before = before.strip_suffix(b"\\").unwrap_or(before);
        let from = before.len().saturating_sub(KEY);
        let open = memchr::memrchr(b'"', before.get(from..)?)?;
        std::str::from_utf8(before.get(from + open + 1..)?).ok().filter(|key| !key.contains('\\') && !key.is_empty())
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn keys_are_those_of_objects_also_inside_of_texts() {
        let text = br#"{"a": 1, "b c" : "x: y", "args": "{\"d\": 2}", "": 3}"#;
        assert_eq!(super::json_keys(text).collect::<Vec<_>>(), ["a", "b c", "args", "d"]);
    }
}
