//! Assay: suites of tests over recorded calls (`mcp-eval.yaml`, `eval.yaml`), and the policies that they name.
//!
//! Two suite formats are read. In the documented format, a test is a `metric` about the whole run and becomes a rule. In the format that the program
//! runs, a test has a prompt and an `expected` block and becomes a case for runs with that prompt. Both share the rules about the order of calls
//! ([`rules`]) and the argument policies ([`policy`]). A rule of the documented format becomes a statement. A rule of the program's format is
//! evaluated over the recorded steps, even if the run is unfinished, because the program judges an unfinished run by its steps so far.

mod arguments;
mod assertions;
mod constraints;
mod expected;
mod files;
mod formats;
mod metrics;
mod nested;
mod patterns;
mod policy;
mod policy_scope;
mod reading;
mod regex;
mod rules;
mod schemas;
mod select;
mod sentence;
mod sequence;
mod structured;
mod suite;
mod unit;

use crate::writer::UniqueLabels;
use crate::yaml::{YamlNode, YamlSchema};
use crate::{Dialect, FileSyntax, Lowering, YamlDialect};
use averment_engine::bytecode::program::{ForeignVerdict, ForeignVerdicts};
use schemas::DeclaredSchemas;
use std::borrow::Cow;

pub(crate) const DIALECT: Dialect = Dialect {
    files: "`mcp-eval.yaml`, `eval.yaml`, policies of tools",
    reads: FileSyntax::Yaml(YamlDialect {
        marks: &["suite", "tests"],
        schema: YamlSchema::Core,
        is_one: is_assay_file,
        lower: lower_document,
    }),
    verdicts: VERDICTS,
};

/// A vacuous rule passes and has no score. The same applies to a rule that an unfinished run leaves undecided.
const VERDICTS: ForeignVerdicts = ForeignVerdicts {
    system: Cow::Borrowed("Assay"),
    pass: ForeignVerdict::new("pass", Some(1.0)),
    fail: ForeignVerdict::new("fail", Some(0.0)),
    vacuous: ForeignVerdict::new("not_exercised", None),
    undecided: ForeignVerdict::new("not_exercised", None),
    error: ForeignVerdict::new("error", Some(0.0)),
};

pub(crate) fn own_metrics() -> impl Iterator<Item = &'static str> {
    metrics::metric_names()
}

struct AssayLowering<'l, 'a> {
    low: &'l mut Lowering<'a>,
    labels: UniqueLabels,
    schemas: DeclaredSchemas,
}

fn is_assay_file(document: &YamlNode) -> bool {
    suite::is_suite(document) || policy::is_policy(document)
}

fn lower_document(document: &YamlNode, low: &mut Lowering<'_>) {
    let mut assay = AssayLowering { low, labels: UniqueLabels::default(), schemas: DeclaredSchemas::default() };
    match suite::is_suite(document) {
        true => suite::lower_suite(&mut assay, document),
        false => policy::lower_policy_file(&mut assay, document),
    }
}
