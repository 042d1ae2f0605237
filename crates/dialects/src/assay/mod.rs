//! Assay: suites of tests over recorded calls (`mcp-eval.yaml`, `eval.yaml`), and the policies that they name.
//!
//! Two forms of suites are read. In the documented one a test is a `metric` that looks at the whole run, and becomes a rule. In the one that the
//! program runs, a test has a prompt and an `expected` block, and becomes a case: it judges the runs of its prompt. What they share are the rules about
//! the order of calls ([`rules`]) and the policies of arguments ([`policy`]). A rule of the first form is a statement of the language; of the second it is
//! said of what is recorded, in an unfinished run, too, because that program judges runs that go on as they stand.

mod arguments;
mod asked;
mod assertions;
mod constraints;
mod expected;
mod files;
mod formats;
mod metrics;
mod nested;
mod patterns;
mod policy;
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

use crate::writer::Labels;
use crate::yaml::{Node, Schema};
use crate::{Dialect, Lowering, OfYaml, Reads};
use averment_engine::bytecode::program::{OwnVerdict, OwnVerdicts};
use schemas::Schemas;
use std::borrow::Cow;

/// The row of this dialect.
pub(crate) const DIALECT: Dialect = Dialect {
    files: "`mcp-eval.yaml`, `eval.yaml`, policies of tools",
    reads: Reads::Yaml(OfYaml { marks: &["suite", "tests"], schema: Schema::Core, is_one, lower }),
    verdicts: VERDICTS,
};

/// A rule that nothing exercised passes there, and has no score. So does one that a run which goes on has not decided.
const VERDICTS: OwnVerdicts = OwnVerdicts {
    system: Cow::Borrowed("Assay"),
    pass: OwnVerdict::new("pass", Some(1.0)),
    fail: OwnVerdict::new("fail", Some(0.0)),
    vacuous: OwnVerdict::new("not_exercised", None),
    undecided: OwnVerdict::new("not_exercised", None),
    error: OwnVerdict::new("error", Some(0.0)),
};

/// The names of its metrics.
pub(crate) fn own_metrics() -> impl Iterator<Item = &'static str> {
    metrics::names()
}

/// A file that is being lowered.
struct Assay<'l, 'a> {
    low: &'l mut Lowering<'a>,
    labels: Labels,
    schemas: Schemas,
}

fn is_one(document: &Node) -> bool {
    suite::is_one(document) || policy::is_one(document)
}

fn lower(document: &Node, low: &mut Lowering<'_>) {
    let mut assay = Assay { low, labels: Labels::default(), schemas: Schemas::default() };
    match suite::is_one(document) {
        true => suite::lower(&mut assay, document),
        false => policy::lower_alone(&mut assay, document),
    }
}
