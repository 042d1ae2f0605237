//! The text that mutants are derived from: the rule file without its tests and, if the tests of a rule name only that rule, without all other rules.
//! The cost of a mutant then depends on its rule, not on the size of the file.

use crate::subject::TestSubject;
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceMap};
use averment_engine::bytecode::program::Program;
use averment_syntax as syntax;
use averment_syntax::ast::{self, ItemKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::OnceLock;

#[derive(Debug)]
pub(super) struct MutantBase {
    /// The text; its offsets equal those in the file.
    pub(super) text: String,
    pub(super) original: Program,
}

/// Base texts by rule; `None` is the whole file.
#[derive(Debug)]
pub(super) struct MutantBases {
    file: String,
    tree: ast::RuleFile,
    bases: BTreeMap<Option<String>, OnceLock<Option<MutantBase>>>,
}

impl MutantBases {
    pub(super) fn new(subject: &TestSubject, limits: &Limits) -> Self {
        let (tree, _, _) = syntax::parse(&subject.sources, FileId(0), limits);
        let named = lone_rules(subject).into_iter().map(Some).chain([None]);
        Self {
            file: text_of(&subject.sources).to_owned(),
            bases: named.map(|name| (name, OnceLock::new())).collect(),
            tree,
        }
    }

    /// Returns the base of a rule, compiled once; `None` if it does not compile.
    pub(super) fn rule_base(
        &self,
        rule: Option<&str>,
        compile: impl Fn(&str) -> Option<Program>,
    ) -> Option<&MutantBase> {
        let own = rule.map(str::to_owned).filter(|rule| self.bases.contains_key(&Some(rule.clone())));
        let base = self.bases.get(&own)?;
        let made = base.get_or_init(|| {
            let text = blank_items(&self.file, &self.tree.items, own.as_deref());
            let original = compile(&text)?;
            Some(MutantBase { text, original })
        });
        made.as_ref()
    }
}

fn text_of(sources: &SourceMap) -> &str {
    sources.get(FileId(0)).map_or("", |file| &file.text)
}

/// Returns the rules whose tests name no other rule. A test without names covers all rules.
fn lone_rules(subject: &TestSubject) -> BTreeSet<String> {
    if subject.trials.iter().any(|trial| trial.rules.is_empty()) {
        return BTreeSet::new();
    }
    let together = |rule: u32| subject.trials.iter().any(|trial| trial.rules.len() > 1 && trial.rules.contains(&rule));
    let rules = (0..).zip(&subject.program.rules);
    rules.filter(|(number, _)| !together(*number)).map(|(_, rule)| rule.id.clone()).collect()
}

/// Blanks out all tests and, for a single rule, all other top-level rules and bare assertions.
fn blank_items(text: &str, items: &[ast::SyntaxItem], only: Option<&str>) -> String {
    let mut ranges = Vec::new();
    for item in items {
        let named = rule_of(item);
        let other = match (only, &item.kind) {
            (Some(only), _) if named.is_some() => named != Some(only),
            (Some(_), ItemKind::Assertion(_)) => true,
            _ => false,
        };
        if other {
            ranges.push(item.span.as_range());
        } else {
            tests_in(std::slice::from_ref(item), &mut ranges);
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        let (Some(before), Some(gone)) = (text.get(at..range.start), text.get(range.clone())) else { continue };
        out.push_str(before);
        out.extend(gone.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

pub(super) fn rule_of(item: &ast::SyntaxItem) -> Option<&str> {
    match &item.kind {
        ItemKind::Rule(rule) | ItemKind::Invariant(rule) => Some(&rule.name.text),
        ItemKind::Case { name, .. } => Some(&name.text),
        _ => None,
    }
}

fn tests_in(items: &[ast::SyntaxItem], ranges: &mut Vec<Range<usize>>) {
    for item in items {
        match &item.kind {
            ItemKind::Test(_) => ranges.push(item.span.as_range()),
            ItemKind::Rule(rule) | ItemKind::Invariant(rule) => tests_in(&rule.body, ranges),
            ItemKind::Suite { body, .. } | ItemKind::Case { body, .. } | ItemKind::ForEachTool { body, .. } => {
                tests_in(body, ranges);
            }
            _ => {}
        }
    }
}
