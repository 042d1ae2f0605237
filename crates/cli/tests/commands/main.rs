//! The command `aver` as a user meets it.

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

mod as_skillgym;
mod assay_report;
mod baseline;
mod breakdown;
mod check_terminal;
mod code_of_runs;
#[cfg(feature = "history")]
mod compare;
mod denied;
mod derived_steps;
mod dialects;
mod documents;
mod explain;
mod facade;
mod fail_fast;
mod fast;
mod fmt;
mod folder;
mod formats_agree;
#[cfg(feature = "guard")]
mod guard;
#[cfg(feature = "guard")]
mod guard_http;
#[cfg(feature = "guard")]
mod guard_transcripts;
mod handovers;
#[cfg(feature = "history")]
mod history;
mod honesty;
mod hostile_files;
mod html;
mod html_browser;
mod integrations;
mod lost;
mod lsp;
mod manual;
mod memory;
mod mutated;
mod mutated_inputs;
mod names;
mod near_names;
mod near_spellings;
mod new;
mod no_traces;
mod outside;
mod over_runs;
mod overwritten;
#[cfg(not(feature = "parquet"))]
mod parquet;
mod phases;
mod plain_words;
mod prices;
#[cfg(all(feature = "probe", target_os = "linux"))]
mod probe;
#[cfg(all(feature = "probe", target_os = "linux"))]
mod probe_told;
mod profile;
mod project;
mod promptfoo;
mod reading;
mod reasons;
mod records;
mod redact;
mod redaction;
mod repl;
mod repl_terminal;
mod reports;
#[cfg(feature = "run")]
mod run;
mod run_refused;
mod run_sessions;
mod run_worlds;
mod runsight;
mod screen;
mod secrets;
mod silent_slips;
mod skillgym;
mod testing;
mod testing_coverage;
mod testing_discriminate;
mod testing_mutants;
mod testing_snapshots;
mod too_much;
mod tool_inputs;
mod trace;
mod trace_facts;
mod trace_foreign;
mod trace_shrink;
mod unjudged;
mod usage;
mod violations;
mod world;
mod written;
