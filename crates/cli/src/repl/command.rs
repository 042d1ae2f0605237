//! The commands of the REPL, in one table.

use super::session::{LastInput, ReplFlow, ReplSession};
use super::steps;
use crate::commands::docs;
use crate::commands::exit::Exit;
use averment_base::diagnostic::Slug;
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_builtins::detect::redacted_start;
use averment_report::{derivation, redact_run};
use averment_runs::timeline::render_timeline;
use bumpalo::Bump;
use std::fmt::Write as _;
use std::io;

/// A command.
pub struct SessionCommand {
    /// Its word, without the colon.
    pub name: &'static str,
    /// The argument it takes.
    pub argument: &'static str,
    /// A description of the command.
    pub doc: &'static str,
    run: fn(&mut ReplSession<'_>, &str) -> io::Result<ReplFlow>,
}

const fn session_command(
    name: &'static str,
    argument: &'static str,
    doc: &'static str,
    run: fn(&mut ReplSession<'_>, &str) -> io::Result<ReplFlow>,
) -> SessionCommand {
    SessionCommand { name, argument, doc, run }
}

/// All commands, in the order of `:help`.
pub const COMMANDS: &[SessionCommand] = &[
    session_command("on", "TRACE [N]", "takes a run: the first of a trace, or its Nth", select_run),
    session_command("next", "", "goes to the next run of the trace", |it, _| it.go_to_neighbor(true)),
    session_command("prev", "", "goes to the run before", |it, _| it.go_to_neighbor(false)),
    session_command("trace", "", "shows the run step by step", |it, _| it.show_trace()),
    session_command("load", "RULES", "loads a rule file in place of the one at hand", load_file),
    session_command("rules", "", "lists what was loaded and entered, with its verdicts on the run", |it, _| {
        it.list_rules()
    }),
    session_command(
        "explain",
        "[RULE|INPUT]",
        "says how the last verdict or value came about, or that of a rule",
        |it, rest| it.explain_last(rest),
    ),
    session_command(
        "step",
        "[N]",
        "shows where the last statements stood after step N, or after the next one",
        |it, rest| it.walk_steps(rest),
    ),
    session_command("table", "[INPUT]", "shows a list or an object in rows and columns", |it, rest| {
        it.show_table(rest)
    }),
    session_command("type", "[INPUT]", "says what is known of a type without a run", |it, rest| it.show_type(rest)),
    session_command("ast", "[INPUT]", "shows how a text is read", |it, rest| it.show_ast(rest)),
    session_command("ir", "[INPUT]", "shows what the checker makes of it", |it, rest| it.show_ir(rest)),
    session_command("ops", "[INPUT]", "lists the instructions that it becomes", |it, rest| it.show_ops(rest)),
    session_command("docs", "[NAME]", "shows the page of a function, word or topic", |it, rest| it.show_docs(rest)),
    session_command("error", "SLUG", "says what a message is about: the word in its brackets", |it, rest| {
        it.explain_error(rest)
    }),
    session_command(
        "save",
        "FILE",
        "writes what was entered as a rule file; `:save! FILE` replaces one",
        |it, rest| it.save_rules(rest, false),
    ),
    session_command("fuel", "[N]", "says what the last value took, or sets what one may take", |it, rest| {
        it.set_fuel(rest)
    }),
    session_command("help", "", "lists the commands", |it, _| it.print_help()),
    session_command("quit", "", "ends the session, as Ctrl-D does", |_, _| Ok(ReplFlow::Quit)),
];

fn select_run(session: &mut ReplSession<'_>, rest: &str) -> io::Result<ReplFlow> {
    let words = shell_words::split(rest).unwrap_or_else(|_| rest.split_whitespace().map(str::to_owned).collect());
    let (trace, number) = match words.as_slice() {
        [trace] => (trace, Ok(1)),
        [trace, number] => (trace, number.parse::<usize>()),
        _ => {
            session.report_error(
                "`:on` takes a trace",
                "write `:on trace.json`, or `:on runs.jsonl 3`",
                Exit::Usage,
            )?;
            return Ok(ReplFlow::Continue);
        }
    };
    match number {
        Ok(number) if number > 0 => session.open_run(trace, number)?,
        _ => {
            session.report_error("the number of a run, from 1, follows the trace", "", Exit::Usage)?;
            false
        }
    };
    Ok(ReplFlow::Continue)
}

fn load_file(session: &mut ReplSession<'_>, rest: &str) -> io::Result<ReplFlow> {
    match rest {
        "" => session.report_error("`:load` takes a rule file", "write `:load refunds.assert`", Exit::Usage)?,
        trace if trace.ends_with(".json") || trace.ends_with(".jsonl") => {
            let help = format!("write `:on {trace}`");
            session.report_error(&format!("`{trace}` looks like a trace, not like rules"), &help, Exit::Usage)?;
        }
        path => {
            session.load_rules(std::path::Path::new(path))?;
        }
    }
    Ok(ReplFlow::Continue)
}

impl ReplSession<'_> {
    /// Runs a command; `text` follows the colon.
    pub(super) fn run_command(&mut self, text: &str) -> io::Result<ReplFlow> {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        if word == "save!" {
            return self.save_rules(rest, true);
        }
        let known = COMMANDS.iter().find(|command| command.name == word).or_else(|| {
            // An unambiguous prefix selects its command.
            let mut fitting = COMMANDS.iter().filter(|command| !word.is_empty() && command.name.starts_with(word));
            fitting.next().filter(|_| fitting.next().is_none())
        });
        match known {
            Some(command) => (command.run)(self, rest),
            None => {
                let help = Self::near_name_help(
                    word,
                    COMMANDS.iter().map(|command| command.name),
                    "`:help` lists the commands",
                );
                let help = help.replacen("did you mean `", "did you mean `:", 1);
                self.report_error(&format!("there is no command `:{word}`"), &help, Exit::Usage)?;
                Ok(ReplFlow::Continue)
            }
        }
    }

    fn print_help(&mut self) -> io::Result<ReplFlow> {
        let mut text = String::new();
        for command in COMMANDS {
            let _ = writeln!(text, ":{:22} {}", format!("{} {}", command.name, command.argument), command.doc);
        }
        text.push_str("\nEverything else is an expression, a statement or a declaration of the language; what is open goes on in the next line.\n");
        text.push_str("`it` is the last value. Ctrl-C ends an evaluation, Ctrl-D the session.\n");
        self.out.write_all(text.as_bytes())?;
        Ok(ReplFlow::Continue)
    }

    fn go_to_neighbor(&mut self, forward: bool) -> io::Result<ReplFlow> {
        let Some(position) = &self.position else {
            self.report_error("there is no run", "`:on TRACE` takes one", Exit::Usage)?;
            return Ok(ReplFlow::Continue);
        };
        let number = if forward { position.number + 1 } else { position.number - 1 };
        if number == 0 {
            self.report_error("this is the first run", "", Exit::Usage)?;
            return Ok(ReplFlow::Continue);
        }
        match position.other_run(number, &self.settings.limits) {
            Err(super::runs::NoSuchRun::Fewer(_)) => self.report_error("this is the last run", "", Exit::Usage)?,
            found => {
                self.move_to_run(found, "")?;
            }
        }
        Ok(ReplFlow::Continue)
    }

    fn show_trace(&mut self) -> io::Result<ReplFlow> {
        let Some(raw) = self.position.as_ref().map(|position| position.run.clone()) else {
            self.report_error("there is no run", "`:on TRACE` takes one", Exit::Usage)?;
            return Ok(ReplFlow::Continue);
        };
        let arena = Bump::new();
        if let Some(run) = self.read_run(&raw, &arena)? {
            let text = render_timeline(&run, self.settings.style.width, redacted_start);
            let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
            let head = paint_text(self.settings.style, TextColor::Bold, head);
            write!(self.out, "{head}\n{}", redact_run(&run, rest))?;
        }
        Ok(ReplFlow::Continue)
    }

    fn explain_last(&mut self, rest: &str) -> io::Result<ReplFlow> {
        if !rest.is_empty() && !self.explain_rule(rest)? {
            let before = std::mem::take(&mut self.last);
            self.enter_quietly(rest)?;
            if matches!(self.last, LastInput::Nothing) {
                self.last = before;
                return Ok(ReplFlow::Continue);
            }
        }
        let style = self.settings.style;
        match &self.last {
            LastInput::Nothing => self.report_error(
                "there is nothing to explain yet",
                "enter a statement or an expression, or name a rule: `:explain approval`",
                Exit::Usage,
            )?,
            LastInput::Value(nodes) => derivation::write_nodes(self.out, nodes, style)?,
            LastInput::Verdicts(view) => {
                for (at, assertion) in view.assertions.iter().enumerate() {
                    if at > 0 {
                        writeln!(self.out)?;
                    }
                    derivation::write_assertion(self.out, assertion, style)?;
                }
            }
        }
        Ok(ReplFlow::Continue)
    }

    fn walk_steps(&mut self, rest: &str) -> io::Result<ReplFlow> {
        // `self.walk` belongs to the last statements, even if values were evaluated since.
        let Some(view) = &self.walk else {
            let help = "enter a statement about the course of the run, such as `before a -> b`";
            self.report_error("there is no statement to walk through", help, Exit::Usage)?;
            return Ok(ReplFlow::Continue);
        };
        let step = match rest {
            "" => Ok(self.step + 1),
            text => text.trim_start_matches("step").trim().parse::<usize>(),
        };
        let steps = view.run.steps;
        match step {
            Ok(step) if (1..=steps).contains(&step) => {
                let lines = steps::standings_after(view, step);
                self.step = step;
                self.show_step(step, lines)?;
            }
            Ok(_) if rest.is_empty() => self.print_info("that was the last step")?,
            _ => {
                let there = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
                self.report_error(&format!("there is no step `{rest}`: the run has {there}"), "", Exit::Usage)?;
            }
        }
        Ok(ReplFlow::Continue)
    }

    fn show_step(&mut self, step: usize, lines: Vec<steps::StatementState>) -> io::Result<()> {
        let Some(raw) = self.position.as_ref().map(|position| position.run.clone()) else { return Ok(()) };
        let arena = Bump::new();
        if let Some(run) = self.read_run(&raw, &arena)? {
            let row = averment_runs::timeline::timeline_rows(
                &run,
                std::iter::once(step.saturating_sub(1)),
                2_000,
                redacted_start,
            );
            for row in row {
                let line =
                    format!("step {step}  {}  {}  {}", row.kind, one_line(&redact_run(&run, &row.what)), row.status);
                writeln!(self.out, "{}", derivation::cut(line.trim_end(), self.settings.style.width))?;
            }
        }
        for line in lines {
            let ink = if line.violated { TextColor::Red } else { TextColor::Dim };
            writeln!(self.out, "  {}", line.text)?;
            for state in line.states {
                writeln!(self.out, "    {}", paint_text(self.settings.style, ink, &state))?;
            }
        }
        Ok(())
    }

    fn show_docs(&mut self, rest: &str) -> io::Result<ReplFlow> {
        let style = self.settings.style;
        let word = rest.trim_matches('`');
        let text = if word.is_empty() {
            Ok(docs::topic_list())
        } else if word == "functions" {
            Ok(docs::styled_page(&averment_builtins::reference::reference_page(), style))
        } else {
            match docs::word_page(word) {
                Some(page) => Ok(page),
                None => docs::topic_page(word, style),
            }
        };
        match text {
            Ok(text) => self.out.write_all(text.as_bytes())?,
            Err(stop) => self.report_stop(stop)?,
        }
        Ok(ReplFlow::Continue)
    }

    fn explain_error(&mut self, rest: &str) -> io::Result<ReplFlow> {
        let word = rest.trim_matches(['[', ']', '`']);
        match Slug::parse(word) {
            Some(slug) => {
                let page = docs::styled_page(slug.page(), self.settings.style);
                self.out.write_all(page.as_bytes())?;
            }
            None if word.is_empty() => {
                self.report_error("`:error` takes the word in the brackets of a message", "", Exit::Usage)?;
            }
            None => {
                let help = Self::near_name_help(word, Slug::ALL.iter().map(|slug| slug.as_str()), "");
                self.report_error(&format!("there is no diagnostic `{word}`"), &help, Exit::Usage)?;
            }
        }
        Ok(ReplFlow::Continue)
    }

    fn set_fuel(&mut self, rest: &str) -> io::Result<ReplFlow> {
        match rest.replace('_', "").parse::<u64>() {
            _ if rest.is_empty() => {
                let used = self
                    .fuel
                    .map_or("nothing was evaluated yet".to_owned(), |fuel| format!("the last value took {fuel}"));
                self.print_info(&format!("{used}; the limit is {}", self.settings.limits.fuel))?;
            }
            Ok(fuel) if fuel > 0 => {
                self.settings.limits.fuel = fuel;
                self.print_info(&format!("the limit is {fuel}"))?;
            }
            _ => self.report_error("`:fuel` takes a number of instructions, such as `1_000_000`", "", Exit::Usage)?,
        }
        Ok(ReplFlow::Continue)
    }
}
