//! Averment: a compiled rule language that checks the actions and answers of AI agents.
//!
//! Rules are compiled once, and judge any number of recorded runs in any known format. The results are deterministic:
//!
//! ```
//! use averment::{Rules, Trace};
//!
//! let rules = Rules::builder()
//!     .text("refunds.assert", "rule approval { before approve(id: $id) -> refund(id: $id, amount > limit) }\nparam limit: number")
//!     .param("limit", 100)
//!     .build()?;
//! let run = r#"{"calls": [{"tool": "refund", "args": {"id": "o-1", "amount": 250}}]}"#;
//! for outcome in rules.check(Trace::from(run).named("run.json")) {
//!     let outcome = outcome?;
//!     let first = outcome.findings().next().ok_or("nothing was found")?;
//!     assert_eq!((first.id(), first.verdict().as_str()), ("approval.1", "fail"));
//!     assert_eq!(rules.assertion(first.id()).ok_or("no such id")?.place().line, 1);
//!     println!("{}", serde_json::to_string(&outcome)?);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | what | where |
//! |---|---|
//! | rules of text and files, with parameters, a catalogue of tools, limits and permissions | [`Rules::builder`] |
//! | the runs of one trace: text, bytes, a value, a reader, a file | [`Rules::check`], [`Rules::check_one`] |
//! | files of many runs, with several threads | [`Rules::batch`] |
//! | verdicts, reasons and evidence | [`Outcome`], which serializes to the schema of `aver check --format json` |
//! | the derivation of each verdict | [`Rules::explain`] |
//! | the tests inside rules | [`Rules::run_tests`] |
//! | calls of a program before they are made | [`guard::Guard`] |
//!
//! # Features
//!
//! | feature | with it | default |
//! |---|---|---|
//! | `files` | rules and traces are read from the disk where a path is given | yes |
//! | `world` | rules may look at files, commands and variables, as far as [`Permissions`] allow it | yes |
//! | `batch` | [`Rules::batch`], with threads; needs `files` | yes |
//! | `pages` | the pages of the documentation, as `aver docs` shows them | no |
//! | `pictures` | `Outcome::draw`: what `aver check` prints of a run, with the places that prove it | no |
//!
//! Without any feature, this crate uses no file, process, thread, environment variable or clock.

#![deny(missing_docs)]

/// The page on embedding; its examples run as tests.
#[cfg(all(doctest, feature = "batch"))]
#[doc = include_str!("../docs/embedding.md")]
struct Page;

mod assertion;
#[cfg(feature = "batch")]
mod batch;
mod builder;
#[cfg(feature = "pictures")]
mod draw;
mod error;
mod explain;
#[doc(hidden)]
pub mod growing;
pub mod guard;
#[doc(hidden)]
pub mod load;
mod outcome;
#[cfg(feature = "pages")]
pub mod pages;
mod rules;
#[doc(hidden)]
pub mod stages;
#[cfg(feature = "batch")]
mod subtotal;
#[cfg(feature = "batch")]
mod summary;
mod trace;

pub use assertion::Assertion;
#[cfg(feature = "pictures")]
#[doc(inline)]
pub use averment_base::diagnostic::render::TextStyle;
#[doc(inline)]
pub use averment_base::limits::{Cancel, ChosenLimits, Limits};
#[cfg(feature = "files")]
#[doc(inline)]
pub use averment_checker::files::Disk;
#[doc(inline)]
pub use averment_checker::files::{FileError, Files, FoundFile, Memory};
#[doc(inline)]
pub use averment_engine::vm::online_use::OnlineUse;
pub use averment_engine::vm::world::Permissions;
#[doc(inline)]
pub use averment_report::table::Location;
#[cfg(feature = "batch")]
#[doc(inline)]
pub use averment_report::totals::Counts;
#[cfg(feature = "batch")]
pub use batch::{Batch, BatchOutcomes};
pub use builder::RulesBuilder;
pub use error::{Diagnostic, DiagnosticSeverity, Diagnostics, Problem, ReadError, RulesError, RunError};
pub use explain::Explanation;
pub use outcome::{
    AssertionResult, Evidence, Outcome, Role, RuleResult, Severity, Status, TracePlace, UndecidedCause, Unjudged,
    Verdict, Violation,
};
pub use rules::{Explanations, Outcomes, Rules, TestOutcome};
#[cfg(feature = "batch")]
pub use subtotal::RunsSubtotal;
#[cfg(feature = "batch")]
pub use summary::Summary;
pub use trace::Trace;
