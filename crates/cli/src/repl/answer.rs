//! Answers to inputs: values, verdicts and test results.

use super::session::{LastInput, ReplFlow, ReplSession, is_expression};
use super::table::{hide_cells, render_table};
use super::workspace::{ComposedText, WorkspaceInput};
use crate::commands::exit::Exit;
use crate::commands::params;
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_base::truth::{Truth, Verdict};
use averment_checker::CheckResult;
use averment_checker::ir::Type;
use averment_engine::bytecode::program::{CodeId, Program};
use averment_engine::compile::compile;
use averment_engine::vm::evaluate::{EvaluateOptions, derive_run};
use averment_engine::vm::inspect::{InspectedValue, inspect_expression};
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::testing::run_tests;
use averment_report::derivation::view::{AssertionView, DerivationView};
use averment_report::derivation::{self, StepChoice};
use averment_report::redact_run;
use averment_report::table::ReportTable;
use averment_runs::run::{Run, RunSource};
use averment_traces::read::{self, RawRun};
use bumpalo::Bump;
use std::io;

/// The internal name of a compiled expression.
const VALUE: &str = "_input";
const IT: &str = "it";
/// Maximum number of steps listed below a verdict.
const STEPS: usize = 5;
/// In runs with more steps, `:step` shows only the steps around matches.
const WALKED: usize = 5_000;

const NO_TABLE: &str = "write `:table calls`, `:table usage`, or another list or object";

/// The form in which a value is printed.
#[derive(Clone, Copy)]
enum AnswerForm {
    Nothing,
    Line,
    Table,
}

impl ReplSession<'_> {
    pub(super) fn judge_input(&mut self, composed: &ComposedText, checked: &CheckResult) -> io::Result<()> {
        let mut module = checked.module.clone();
        module.assertions.retain(|assertion| composed.is_input(assertion.span));
        if module.assertions.is_empty() {
            return Ok(());
        }
        if self.position.is_none() {
            return self.print_info("it compiles; there is no run to judge it on: `:on TRACE` takes one");
        }
        let program = compile(&module, &composed.sources);
        self.print_verdicts(program, composed)
    }

    pub(super) fn print_verdicts(&mut self, program: Program, composed: &ComposedText) -> io::Result<()> {
        let Some(view) = self.derivation_view(program, composed)? else { return Ok(()) };
        let several = view.assertions.len() > 1;
        for assertion in &view.assertions {
            self.print_verdict(assertion, several)?;
        }
        (self.last, self.step) = (LastInput::Verdicts(view), 0);
        Ok(())
    }

    /// Returns the derivations on the current run; `None` without a run or if a parameter has no value.
    pub(super) fn derivation_view(
        &mut self,
        program: Program,
        composed: &ComposedText,
    ) -> io::Result<Option<DerivationView>> {
        let mut programs = vec![program];
        let given = self.declared_params(&programs);
        if let Err(stop) = params::apply_params(&mut programs, &[], &given) {
            self.report_stop(stop)?;
            return Ok(None);
        }
        let Some(raw) = self.position.as_ref().map(|position| position.run.clone()) else { return Ok(None) };
        let prepared: Vec<PreparedProgram> = programs.iter().map(PreparedProgram::new).collect();
        let arena = Bump::new();
        let Some(run) = self.read_run(&raw, &arena)? else { return Ok(None) };
        let options = EvaluateOptions {
            permissions: self.settings.permissions.clone(),
            limits: self.settings.limits,
            assume_case: true,
            ..EvaluateOptions::default()
        };
        let mut derived = Vec::new();
        for (at, (program, prepared)) in programs.iter().zip(&prepared).enumerate() {
            derived.push((at, derive_run(program, prepared, &run, &arena, &options).1));
        }
        let table = ReportTable::new(&programs, |_, _| true);
        let mut view = derivation::derivation_view(&table, &run, &derived, StepChoice::Around);
        view.assertions.iter_mut().for_each(|one| one.location = composed.shown_location(one.span));
        // Short runs are walked through completely by `:step`.
        let walk = if run.steps.len() <= WALKED { StepChoice::All } else { StepChoice::Around };
        self.walk = Some(derivation::derivation_view(&table, &run, &derived, walk));
        Ok(Some(view))
    }

    fn declared_params(&self, programs: &[Program]) -> Vec<String> {
        let has = |name: &str| programs.iter().flat_map(|program| &program.params).any(|param| param.name == name);
        let given = self.settings.params.iter();
        given.filter(|text| text.split_once('=').is_some_and(|(name, _)| has(name.trim()))).cloned().collect()
    }

    pub(super) fn read_run<'r>(&mut self, raw: &'r RawRun, arena: &'r Bump) -> io::Result<Option<Run<'r>>> {
        match read::parse_run(raw, arena, &self.settings.limits) {
            Ok(run) => Ok(Some(run)),
            Err(error) => {
                self.worst = self.worst.max(Exit::Trace);
                let help = error.help.clone();
                self.report_error(&format!("{}:{}: {}", error.file, error.line, error.message), &help, Exit::Trace)?;
                Ok(None)
            }
        }
    }

    fn print_verdict(&mut self, view: &AssertionView, several: bool) -> io::Result<()> {
        let style = self.settings.style;
        let word = paint_text(style, derivation::verdict_ink(view.verdict), view.verdict.as_str());
        let name =
            if several { format!("  {}", if view.named { &view.id } else { &view.text }) } else { String::new() };
        let why = if view.reason.is_empty() { String::new() } else { format!(": {}", view.reason) };
        writeln!(self.out, "{word}{name}{why}")?;
        if let Some(message) = &view.message {
            writeln!(self.out, "  message: {message}")?;
        }
        match view.verdict {
            Verdict::Pass | Verdict::Skipped => return Ok(()),
            Verdict::Fail => self.worst = self.worst.max(Exit::Failed),
            Verdict::Error => self.worst = self.worst.max(Exit::Error),
            Verdict::Vacuous | Verdict::Undecided => {}
        }
        let mut told: Vec<u64> = Vec::new();
        for evidence in &view.evidence {
            if let (Some(step), Some(what)) = (evidence.step, &evidence.what)
                && !told.contains(&step)
                && told.len() < STEPS
            {
                told.push(step);
                let line = format!("  step {step}  {what}");
                writeln!(self.out, "{}", averment_report::derivation::cut(&line, style.width))?;
            }
        }
        Ok(())
    }

    pub(super) fn run_tests(&mut self, composed: &ComposedText, checked: &CheckResult) -> io::Result<()> {
        if !checked.module.tests.iter().any(|test| composed.is_input(test.span)) {
            return Ok(());
        }
        let program = compile(&checked.module, &composed.sources);
        let prepared = PreparedProgram::new(&program);
        for result in run_tests(&program, &prepared, &self.settings.limits, averment_traces::read_str) {
            let Some(test) = program.tests.get(result.test as usize) else { continue };
            if !composed.is_input(test.span) {
                continue;
            }
            let style = self.settings.style;
            let word = if result.passed {
                paint_text(style, TextColor::Green, "ok")
            } else {
                paint_text(style, TextColor::Red, "failed")
            };
            let why = if result.passed { String::new() } else { format!(": {}", result.reason) };
            writeln!(self.out, "{word}  test {}{}", one_line(&test.name), one_line(&why))?;
            if !result.passed {
                self.worst = self.worst.max(Exit::Failed);
            }
        }
        Ok(())
    }

    pub(super) fn print_expression(&mut self, text: &str) -> io::Result<()> {
        self.evaluate_text(text, AnswerForm::Line)
    }

    /// Evaluates an expression for `:explain`, without printing it.
    pub(super) fn value_quietly(&mut self, text: &str) -> io::Result<()> {
        self.evaluate_text(text, AnswerForm::Nothing)
    }

    /// `:table`: prints a value in rows and columns. Without an argument, it prints the last value.
    pub(super) fn show_table(&mut self, rest: &str) -> io::Result<ReplFlow> {
        let Some(text) = self.command_text(rest)? else { return Ok(ReplFlow::Continue) };
        let Some(items) = self.parse_items(&text)? else { return Ok(ReplFlow::Continue) };
        match is_expression(&items) {
            true => self.evaluate_text(&text, AnswerForm::Table)?,
            false => self.report_error("`:table` takes an expression", NO_TABLE, Exit::Usage)?,
        }
        Ok(ReplFlow::Continue)
    }

    fn evaluate_text(&mut self, text: &str, form: AnswerForm) -> io::Result<()> {
        let Some((program, code, ty)) = self.compile_expression(text)? else { return Ok(()) };
        let mut programs = vec![program];
        let given = self.declared_params(&programs);
        if let Err(stop) = params::apply_params(&mut programs, &[], &given) {
            return self.report_stop(stop);
        }
        let Some(program) = programs.first() else { return Ok(()) };
        let raw = match &self.position {
            Some(position) => position.run.clone(),
            // Expressions without a run can still compute, so they are evaluated on an empty run.
            None => RawRun::new("{}".to_owned(), RunSource::default()),
        };
        let (prepared, arena) = (PreparedProgram::new(program), Bump::new());
        let Some(run) = self.read_run(&raw, &arena)? else { return Ok(()) };
        match inspect_expression(program, &prepared, &run, &arena, self.settings.limits, code) {
            Ok(inspected) => {
                let table = ReportTable::new(&programs, |_, _| true);
                let (shown, mut nodes) = derivation::value_view(&table, &run, &inspected.shown, &inspected.part);
                let reason = derivation::value_words(&run, &inspected.part, &inspected.shown, &inspected.reason);
                // Removes the parentheses that were added for compilation.
                for node in &mut nodes {
                    let inner = node.text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).map(str::trim);
                    let typed = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    if inner.is_some_and(|inner| inner == one_line(&typed)) {
                        node.text = inner.unwrap_or_default().to_owned();
                    }
                }
                match form {
                    AnswerForm::Nothing => {}
                    AnswerForm::Line => {
                        self.print_value(&inspected, &shown, &reason, ty)?;
                        self.remember_value(&inspected);
                    }
                    AnswerForm::Table => match &inspected.table {
                        Some(table) => {
                            let hide = |text: &str| redact_run(&run, text);
                            let table = hide_cells(table.clone(), hide);
                            self.out.write_all(render_table(&table, self.settings.style).as_bytes())?;
                            self.remember_value(&inspected);
                        }
                        None => {
                            let what = format!("`:table` shows a list or an object, and this is {shown}");
                            self.report_error(&what, NO_TABLE, Exit::Usage)?;
                        }
                    },
                }
                self.last = LastInput::Value(nodes);
            }
            Err(fault) => self.report_error(&fault.to_string(), "", Exit::Error)?,
        }
        Ok(())
    }

    pub(super) fn compile_expression(&mut self, text: &str) -> io::Result<Option<(Program, CodeId, Type)>> {
        let before = format!("let {VALUE} = (");
        let input = WorkspaceInput { before: &before, text, after: "\n)" };
        let mut composed = self.workspace.compose_text(input, &[]);
        let mut checked = composed.check_text(self.settings.limits, &self.settings.permissions.read);
        if self.report_diagnostics(&composed, &checked)? {
            return Ok(None);
        }
        let number = checked.module.lets.iter().position(|one| one.name == VALUE);
        let ty = number.and_then(|number| checked.module.lets.get(number)).map(|one| one.value.ty);
        checked.module.assertions.clear();
        checked.module.tests.clear();
        let program = compile(&checked.module, &composed.sources);
        let code = number.and_then(|number| program.lets.get(number)).copied();
        Ok(code.zip(ty).map(|(code, ty)| (program, code, ty)))
    }

    fn print_value(&mut self, inspected: &InspectedValue, shown: &str, reason: &str, ty: Type) -> io::Result<()> {
        self.fuel = Some(inspected.fuel);
        let style = self.settings.style;
        let ink = match inspected.shown.truth {
            Some(Truth::True) => Some(TextColor::Green),
            Some(Truth::False | Truth::FalseByMissing) => Some(TextColor::Red),
            Some(_) => Some(TextColor::Yellow),
            None => None,
        };
        let value = ink.map_or_else(|| shown.to_owned(), |ink| paint_text(style, ink, shown));
        let unit = super::inspect::unit_suffix(&inspected.shown.text, ty);
        let why = match (inspected.shown.truth, inspected.part.note.as_str()) {
            (Some(_), _) if !reason.is_empty() => format!(": {reason}"),
            (None, note) if !note.is_empty() && shown == "missing" => format!(": {}", one_line(note)),
            (None, _) if shown == "not recorded" && self.position.is_none() => ": there is no run".to_owned(),
            _ => String::new(),
        };
        writeln!(self.out, "{value}{unit}{why}")
    }

    /// Stores the value under the name `it`, unless the rules declare that name.
    fn remember_value(&mut self, inspected: &InspectedValue) {
        let literal = inspected.literal.as_ref().map(|literal| format!("let {IT} = {literal}"));
        self.workspace.set_hidden(IT, literal);
    }
}
