//! Globs of files that no path of a run matches, while some path nearly does: in another letter case, in a folder that the glob names,
//! or without the root that the glob begins with.

use super::near_regexes::is_location_glob;
use super::temporal::names::path_glob;
use super::why::near_keys::{NameCategory, NearKeys, NearName};
use crate::bytecode::ops::Op;
use crate::bytecode::program::Program;
use averment_base::source::Span;
use averment_checker::ir::NameTest;
use averment_runs::run::{Run, StepKind};
use std::collections::BTreeSet;

/// A glob of files in the rules; `kind` is `None` where the rules ask for a location.
struct AskedGlob<'p> {
    glob: &'p str,
    kind: Option<StepKind>,
    span: Span,
}

impl AskedGlob<'_> {
    fn is_about(&self, kind: StepKind) -> bool {
        self.kind.map_or(matches!(kind, StepKind::Read | StepKind::Write), |own| own == kind)
    }
}

/// True if a program matches files.
pub(super) fn asks_for_files(program: &Program) -> bool {
    !asked_globs(program).is_empty()
}

fn asked_globs(program: &Program) -> Vec<AskedGlob<'_>> {
    let mut globs = Vec::new();
    for pattern in &program.patterns {
        for one in &pattern.alternatives {
            if let NameTest::PathGlob(glob) = &one.name {
                globs.push(AskedGlob { glob, kind: Some(one.kind), span: pattern.span });
            }
        }
    }
    for (op, span) in program.code.iter().zip(&program.spans) {
        if let Op::Regex(number) = op
            && let Some(regex) = program.regexes.get(number.0 as usize).filter(|regex| is_location_glob(regex))
        {
            globs.push(AskedGlob { glob: &regex.text, kind: None, span: *span });
        }
    }
    globs
}

/// Adds the globs that no path of the run matches while one nearly does.
pub(super) fn near_paths(program: &Program, run: &Run<'_>, near: &mut NearKeys) {
    for asked in asked_globs(program) {
        let paths: BTreeSet<&str> =
            run.steps.iter().filter(|step| asked.is_about(step.kind)).map(|step| step.name).collect();
        if paths.is_empty() {
            continue;
        }
        let matched = |glob: &str, any_case: bool| {
            let glob = path_glob(glob, any_case)?;
            paths.iter().find(|path| glob.is_match(path)).copied()
        };
        if matched(asked.glob, false).is_some() {
            near.met.insert(asked.glob.to_owned());
            continue;
        }
        let others = [
            (NameCategory::File, matched(asked.glob, true)),
            (NameCategory::Folder, deeper_glob(asked.glob).and_then(|glob| matched(&glob, false))),
            (NameCategory::Rooted, unrooted_path(asked.glob, &paths)),
        ];
        let found = others.into_iter().find_map(|(what, path)| Some((what, path?)));
        if let Some((what, path)) = found {
            let (wanted, found) = (asked.glob.to_owned(), path.to_owned());
            near.found.insert(NearName { wanted, found, what, span: asked.span });
        }
    }
}

/// `src/**` for `src` and `src/*`: all files below. A name with an ending is that of a file.
pub fn deeper_glob(glob: &str) -> Option<String> {
    let folder = glob.strip_suffix("/*").unwrap_or(glob);
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let is_plain = !name.is_empty() && !name.contains(['*', '?', '{', '[']);
    (is_plain && (folder != glob || !name.contains('.') || name.starts_with('.'))).then(|| format!("{folder}/**"))
}

/// A path without a root that ends as a glob with one: `src/a.py` for `/repo/src/**`.
fn unrooted_path<'r>(glob: &str, paths: &BTreeSet<&'r str>) -> Option<&'r str> {
    let mut rest = glob.strip_prefix('/')?;
    let is_root = |sign: char| sign == '/' || sign == '~' || sign == '$';
    let relative = || paths.iter().filter(|path| !path.starts_with(is_root) && !path.contains(':'));
    relative().next()?;
    loop {
        let first = rest.split('/').next().unwrap_or_default();
        if first.contains(['*', '?', '{', '[']) || first.is_empty() {
            return None;
        }
        let whole = globset::GlobBuilder::new(rest).literal_separator(true).build().ok()?.compile_matcher();
        if let Some(path) = relative().find(|path| whole.is_match(path)) {
            return Some(path);
        }
        // The name of a file alone, without the folder that the glob names, is no place.
        rest = rest.split_once('/')?.1;
        if !rest.contains('/') {
            return None;
        }
    }
}
