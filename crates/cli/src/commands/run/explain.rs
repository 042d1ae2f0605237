//! `aver run SUITE --explain DIR`: the agent of a session that failed is asked why.

use super::told;
use super::{is_stopped, note, shown};
use crate::commands::exit::{Exit, Stop};
use averment_base::diagnostic::render::{one_line, printable};
use averment_report::redact::Withheld;
use averment_suite::{Allowed, Answered, Suite, Supervisor, ask, of_session, only_below, private_values};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Asks, or shows what was answered before.
pub(super) fn run(
    folder: &Path,
    again: bool,
    suites: &[Suite],
    supervisor: &Supervisor,
    allowed: &Allowed,
    stop: &AtomicBool,
) -> Result<Exit, Stop> {
    let folder = only_below(folder).map_err(|found| {
        let all: Vec<String> = found.iter().take(5).map(|folder| format!("`{}`", shown(folder))).collect();
        if all.is_empty() {
            let message = format!("no session below `{}` failed an assertion", folder.display());
            Stop::usage(message, "name the folder of a session that did")
        } else {
            Stop::usage("there are several sessions to ask about", format!("name one: {}", all.join(", ")))
        }
    })?;
    let folder = folder.canonicalize()?;
    let Some((record, questions, answers)) = of_session(&folder) else {
        return Err(Stop::usage(format!("`{}` is no folder of a session", shown(&folder)), "name another one"));
    };
    let withheld = Withheld::of(private_values(suites, allowed));
    if let Some(answers) = answers.filter(|_| !again) {
        note("these answers were kept; `--again` asks once more");
        return write(&answers, &withheld);
    }
    let mut executions = suites.iter().flat_map(Suite::executions);
    let execution = executions.find(|one| one.case.name == record.case && one.runner.name == record.runner);
    let Some(execution) = execution else {
        let message = format!("the suite has no case `{}` with a runner `{}`", record.case, record.runner);
        return Err(Stop::usage(message, "name the suite that the session is of"));
    };
    let answers = ask(&execution, &folder, &record, &questions, supervisor, allowed, stop)
        .map_err(|why| Stop::usage(format!("the agent cannot be asked: {why}"), ""))?;
    if is_stopped(stop) {
        return Ok(Exit::Interrupted);
    }
    write(&answers, &withheld)
}

fn write(answers: &[Answered], withheld: &Withheld) -> Result<Exit, Stop> {
    let shown = |words: &str| told::shown(withheld, words);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for Answered { of, answer } in answers {
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
