//! Runsight: assertions about the blocks of a workflow, and offline suites of cases.
//!
//! Each block becomes a rule with its name. Each case of a suite becomes a rule for each of its blocks. The run of a workflow records its blocks
//! under `meta.blocks`. If only one block has assertions, a run without recorded blocks is that block.

mod asserted;
mod assertion;
mod kinds;
mod path;
mod suite;

use crate::shape::DiagnosticSink;
use crate::writer::UniqueLabels;
use crate::yaml::{YamlNode, YamlSchema};
use crate::{Dialect, FileSyntax, Lowering, YamlDialect};
use asserted::AssertionSubject;
use averment_base::diagnostic::Slug;
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use std::borrow::Cow;

/// Workflows with assertions, suites of cases, and lists of assertions.
pub const DIALECT: Dialect = Dialect {
    files: "workflows with `assertions` on blocks, `eval` suites",
    reads: FileSyntax::Yaml(YamlDialect {
        marks: &["blocks", "eval", "assertions"],
        schema: YamlSchema::Yaml11,
        is_one: |document| {
            let list = document.get("assertions").is_some_and(YamlNode::is_list);
            list || is_bare(document)
                || document.get("eval").is_some()
                || document.get("blocks").is_some_and(YamlNode::is_map)
        },
        lower: lower_document,
    }),
    verdicts: ForeignVerdicts {
        system: Cow::Borrowed("Runsight"),
        pass: ForeignVerdict::new("passed", Some(1.0)),
        fail: ForeignVerdict::new("failed", Some(0.0)),
        // A vacuous test passes in Runsight.
        vacuous: ForeignVerdict::new("passed", Some(1.0)),
        undecided: ForeignVerdict::new("failed", Some(0.0)),
        error: ForeignVerdict::new("error", Some(0.0)),
    },
};

fn is_bare(document: &YamlNode) -> bool {
    let is_asserted = |item: &YamlNode| {
        let kind = item.get("type").and_then(YamlNode::as_text).unwrap_or_default();
        kinds::KINDS.iter().any(|(name, _)| *name == kind.strip_prefix("not-").unwrap_or(kind))
    };
    document.is_list() && document.items().iter().any(is_asserted)
}

fn lower_document(document: &YamlNode, lowering: &mut Lowering<'_>) {
    if is_bare(document) {
        return assertion::write_rule(document, "assertions", &AssertionSubject::of_run(), lowering);
    }
    let asserted: Vec<(&YamlNode, &YamlNode)> = asserted_blocks(document, &mut lowering.sink);
    let suite = document.get("eval");
    let mut labels = UniqueLabels::default();
    if let Some(list) = document.get("assertions").filter(|_| asserted.is_empty()) {
        // A list of assertions without a workflow is about the output of the run.
        if list.is_list() {
            assertion::write_rule(list, &labels.unique_label("assertions"), &AssertionSubject::of_run(), lowering);
        } else {
            lowering.sink.wrong_shape(list, "`assertions`", "a list");
        }
    } else if asserted.is_empty() && suite.is_none() {
        let place = document.entries().first().map_or(document.span, |(key, _)| key.span);
        let message = "no block of this workflow has assertions, and it has no `eval` suite";
        lowering.sink.error(Slug::Syntax, place, message, "write `assertions:` on a block");
    }
    let alone = asserted.len() == 1;
    for (name, list) in asserted {
        let Some(text) = lowering.sink.as_text(name, "the name of a block") else { continue };
        lowering.out.write_gap();
        let subject = AssertionSubject::of_block(text, alone);
        assertion::write_rule(list, &labels.unique_label(text), &subject, lowering);
    }
    if let Some(suite) = suite {
        suite::lower_suite(suite, &mut labels, lowering);
    }
}

fn asserted_blocks<'a>(document: &'a YamlNode, said: &mut DiagnosticSink) -> Vec<(&'a YamlNode, &'a YamlNode)> {
    let Some(blocks) = document.get("blocks") else { return Vec::new() };
    if !blocks.is_map() {
        said.wrong_shape(blocks, "`blocks`", "a mapping from names to blocks");
    }
    let mut found = Vec::new();
    for (name, block) in blocks.entries() {
        match block.get("assertions") {
            Some(list) if list.is_list() => found.push((name, list)),
            Some(none) if none.is_null() => {}
            Some(other) => {
                said.wrong_shape(other, &format!("`assertions` of the block `{}`", name.key_text()), "a list")
            }
            None => {}
        }
    }
    found
}
