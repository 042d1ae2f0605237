//! A slow, obvious evaluator written from `docs/reference/course.md` and sections 4 to 7 of the language reference alone,
//! and its comparison with the program on written and on generated cases.
//!
//! `AVERMENT_ORACLE_CASES=100000 cargo test --release --test oracle` is the full run; `AVERMENT_ORACLE_SEED` starts elsewhere.

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

mod answers;
mod calls_match;
mod cases;
mod compare;
mod condition;
mod course;
mod denied;
mod evaluate;
mod expression;
mod expression_test;
mod generate_expression;
mod generate_rule;
mod generate_run;
mod generate_step;
mod generated;
mod match_calls;
mod matching;
mod model;
mod order;
mod parse;
mod parse_step;
mod print;
mod print_expression;
mod program;
mod run;
mod selection;
mod source;
mod statement;
mod tokens;
mod truth;
mod value;
mod violations;
