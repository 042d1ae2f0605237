//! Every way in which a rule is evaluated on a run gives the same verdicts, reasons and evidence.
//!
//! Generated rules and runs (those of the reference evaluator, and more that look at texts and entries) are checked on the route of
//! `aver check`: read in full, in part and not at all, under `--strict`, by one and two threads, one run a file and many, in every format,
//! each rule alone, all in one file and each in a file of its own. What each way writes is compared, byte for byte, with a plain evaluation
//! of every assertion on every run that is read in full.
//!
//! `AVERMENT_WAYS_CASES=100000 cargo test --test every_way` compares so many pairs of a rule and a run, `AVERMENT_WAYS_SEED` others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test that meets something unexpected has failed, and may look at files and clocks"
)]

// The generators of the reference evaluator, and what they are written with.
#[path = "../oracle/calls_match.rs"]
mod calls_match;
#[allow(dead_code, reason = "the evaluator of expressions is not asked here")]
#[path = "../oracle/condition.rs"]
mod condition;
#[allow(dead_code, reason = "the evaluator of expressions is not asked here")]
#[path = "../oracle/expression.rs"]
mod expression;
#[allow(dead_code, reason = "the evaluator of expressions is not asked here")]
#[path = "../oracle/expression_test.rs"]
mod expression_test;
#[path = "../oracle/generate_expression.rs"]
mod generate_expression;
#[path = "../oracle/generate_rule.rs"]
mod generate_rule;
#[path = "../oracle/generate_run.rs"]
mod generate_run;
#[path = "../oracle/generate_step.rs"]
mod generate_step;
#[allow(dead_code, reason = "the evaluator of statements is not asked here")]
#[path = "../oracle/model.rs"]
mod model;
#[path = "../oracle/print.rs"]
mod print;
#[path = "../oracle/print_expression.rs"]
mod print_expression;
#[allow(dead_code, reason = "runs are read by the program alone here")]
#[path = "../oracle/run.rs"]
mod run;
#[path = "../oracle/source.rs"]
mod source;
mod spans;
#[allow(dead_code, reason = "the program's own tables are what is asked here")]
#[path = "../oracle/truth.rs"]
mod truth;
#[allow(dead_code, reason = "the evaluator of expressions is not asked here")]
#[path = "../oracle/value.rs"]
mod value;

/// Nobody asks here what lists over steps are worth.
mod selection {
    use crate::condition::{Scope, Variables};
    use crate::model::Selected;
    use crate::truth::{Truth, UNDECIDED};

    pub fn truth(_: &Selected, _: Scope, _: Variables) -> Truth {
        UNDECIDED
    }
}

mod by_names;
mod case;
mod cells;
mod check;
mod compare;
mod conversation;
mod coverage;
mod engine;
mod forms;
mod full;
mod layout;
mod minimize;
mod recorded;
mod rules;
mod searches;
mod ways;
mod write;
