//! Judging of sessions that have ended, and of the files that their rules look at.

use averment_engine::vm::world::{Permissions, WorldLookup, WorldNotes};
use averment_suite::{FailureQuestion, SessionVerdict};
use std::path::Path;

/// Evaluates the rules of a run on the files of its session; returns the lookups that the rules made.
pub(super) fn observe_world(rules: &averment::Rules, run: &str, folder: &Path) -> Vec<WorldLookup> {
    let notes = WorldNotes::default();
    let working_directory = Some(folder.to_owned());
    let permissions =
        Permissions { working_directory, notes: Some(notes.clone()), ..rules.world_permissions().clone() };
    let _judged_again = rules.check_permitted(run, permissions);
    notes.take_notes()
}

/// Judges a run, and prepares the questions about its failures.
pub(super) fn judge_session(rules: &averment::Rules, run: &str) -> SessionVerdict {
    let Ok(outcome) = rules.check_one(run) else { return SessionVerdict::default() };
    let mut judged = SessionVerdict { passed: outcome.passed(), ..SessionVerdict::default() };
    for found in outcome.findings() {
        match found.status() {
            averment::Status::ExpectedFailed => judged.expected = true,
            averment::Status::Failed | averment::Status::UnexpectedPassed => {
                judged.questions.extend(rules.assertion(found.id()).map(|assertion| {
                    let place = assertion.place();
                    let said = found.message().map(|message| format!(" ({message})")).unwrap_or_default();
                    let question = format!(
                        "Something was expected of this session and was not so: {}{said}. What was found: {}. What did you do there, and which instruction or lack of one led to it?",
                        found.text(),
                        found.reason()
                    );
                    FailureQuestion { question, file: place.file.clone(), line: place.line, column: place.column }
                }));
            }
            _ => {}
        }
    }
    judged
}
