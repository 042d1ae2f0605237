//! `aver run SUITE --explain DIR`: asks the agent of a failed session for the reasons.

use super::progress_messages;
use super::{is_stopped, print_note, shown_path};
use crate::commands::exit::{CommandError, Exit};
use averment_base::diagnostic::render::{one_line, printable};
use averment_report::redact::WithheldTexts;
use averment_suite::{
    AllowedVariables, AnsweredQuestion, PlannedSuite, Supervisor, ask_questions, only_below, private_values,
    session_questions,
};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

pub(super) fn explain_failures(
    folder: &Path,
    again: bool,
    suites: &[PlannedSuite],
    supervisor: &Supervisor,
    allowed: &AllowedVariables,
    stop: &AtomicBool,
) -> Result<Exit, CommandError> {
    let folder = only_below(folder).map_err(|found| {
        let all: Vec<String> = found.iter().take(5).map(|folder| format!("`{}`", shown_path(folder))).collect();
        if all.is_empty() {
            let message = format!("no session below `{}` failed an assertion", folder.display());
            CommandError::usage(message, "name the folder of a session that did")
        } else {
            CommandError::usage("there are several sessions to ask about", format!("name one: {}", all.join(", ")))
        }
    })?;
    let folder = folder.canonicalize()?;
    let Some((record, questions, answers)) = session_questions(&folder) else {
        return Err(CommandError::usage(
            format!("`{}` is no folder of a session", shown_path(&folder)),
            "name another one",
        ));
    };
    let withheld = WithheldTexts::of_texts(private_values(suites, allowed));
    if let Some(answers) = answers.filter(|_| !again) {
        print_note("these answers were kept; `--again` asks once more");
        return write_answers(&answers, &withheld);
    }
    let mut executions = suites.iter().flat_map(PlannedSuite::executions);
    let execution = executions.find(|one| one.case.name == record.case && one.runner.name == record.runner);
    let Some(execution) = execution else {
        let message = format!("the suite has no case `{}` with a runner `{}`", record.case, record.runner);
        return Err(CommandError::usage(message, "name the suite that the session is of"));
    };
    let answers = ask_questions(&execution, &folder, &record, &questions, supervisor, allowed, stop)
        .map_err(|why| CommandError::usage(format!("the agent cannot be asked: {why}"), ""))?;
    if is_stopped(stop) {
        return Ok(Exit::Interrupted);
    }
    write_answers(&answers, &withheld)
}

fn write_answers(answers: &[AnsweredQuestion], withheld: &WithheldTexts) -> Result<Exit, CommandError> {
    let shown = |words: &str| progress_messages::redacted_words(withheld, words);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for AnsweredQuestion { of, answer } in answers {
        writeln!(out, "{}:{}:{}", one_line(&of.file), of.line, of.column)?;
        writeln!(out, "  {}", one_line(&shown(&of.question)))?;
        match answer {
            Ok(answer) => writeln!(out, "{}\n", printable(&shown(answer)))?,
            Err(why) => writeln!(out, "no answer: {}\n", one_line(&shown(why)))?,
        }
    }
    out.flush()?;
    Ok(if answers.iter().all(|one| one.answer.is_ok()) { Exit::Holds } else { Exit::Error })
}
