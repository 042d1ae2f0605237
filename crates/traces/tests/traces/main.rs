//! Reading runs: the normal form, the formats of the field, files good and bad.

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

mod actions_in_words;
mod agent_programs;
mod agent_streams;
mod agents;
mod answers;
mod apis;
mod blocks;
mod calls_of_spans;
mod commands;
mod containers;
mod continued;
mod copies;
mod counted_once;
mod damaged;
mod damaged_keys;
mod event_logs;
mod evidence;
mod evidence_of_calls;
mod exchanges;
mod files;
mod formats;
mod frameworks;
mod golden;
mod harmless_parts;
mod kept_results;
mod kept_streams;
mod later_results;
mod later_versions;
mod left_out;
mod memory;
mod nameless_calls;
mod newer_records;
mod normal_form;
mod observed;
mod observed_agents;
mod older_forms;
mod open_calls;
mod other_forms;
mod passed_over;
mod pieces;
mod printed;
mod producers;
mod recorded;
mod renamed_keys;
mod repeated;
mod robust;
mod service_streams;
mod service_tools;
mod sessions;
mod several_agents;
mod skillgym;
mod smaller_shapes;
mod spans;
mod stray;
mod told;
mod told_beside;
mod told_in_parts;
mod unfinished_answers;
mod unknown_parts;
mod wild;
mod written_alike;
