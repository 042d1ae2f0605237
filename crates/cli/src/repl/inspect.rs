//! Commands that inspect inputs: types, trees, bytecode, the meaning of words, lists and saved files.

use super::session::{LastInput, ReplFlow, ReplSession, is_expression};
use super::tree::debug_outline;
use super::workspace::{ComposedText, INPUT, ReplWorkspace, WorkspaceInput};
use crate::commands::exit::Exit;
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_base::source::{SourceFile, SourceMap};
use averment_builtins::table::type_word;
use averment_checker::CheckResult;
use averment_checker::ir::Type;
use averment_engine::bytecode::disasm::listing_of;
use averment_engine::bytecode::program::{CodeId, Program};
use averment_engine::compile::compile;
use averment_report::derivation;
use averment_syntax::ast::ItemKind;
use averment_syntax::fmt;
use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Formats a number with the unit of its type: `9100` milliseconds become `9.1s`. Empty for other types.
pub fn unit_suffix(shown: &str, ty: Type) -> String {
    let Ok(number) = shown.parse::<f64>() else { return String::new() };
    let text = match ty {
        Type::Duration if number.abs() >= 3_600_000.0 => format!("{}h", round_number(number / 3_600_000.0)),
        Type::Duration if number.abs() >= 60_000.0 => format!("{}m", round_number(number / 60_000.0)),
        Type::Duration if number.abs() >= 1_000.0 => format!("{}s", round_number(number / 1_000.0)),
        Type::Duration => format!("{}ms", round_number(number)),
        Type::Money => format!("${shown}"),
        Type::Size if number.abs() >= 1_048_576.0 => format!("{}MiB", round_number(number / 1_048_576.0)),
        Type::Size if number.abs() >= 1_024.0 => format!("{}KiB", round_number(number / 1_024.0)),
        Type::Size => format!("{shown}B"),
        _ => return String::new(),
    };
    format!("  ({text})")
}

fn round_number(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

struct CheckedInput {
    composed: ComposedText,
    checked: CheckResult,
    /// True if it was parsed as a value.
    is_value: bool,
}

impl ReplSession<'_> {
    /// Returns the text for a command: its argument, or otherwise the last input.
    pub(super) fn command_text(&mut self, rest: &str) -> io::Result<Option<String>> {
        let text = if rest.is_empty() { self.input.clone() } else { rest.to_owned() };
        if text.is_empty() {
            self.report_error("there is no input to look at", "write one after the command", Exit::Usage)?;
            return Ok(None);
        }
        Ok(Some(text))
    }

    fn check_input(&mut self, text: &str) -> io::Result<Option<CheckedInput>> {
        let Some(items) = self.parse_items(text)? else { return Ok(None) };
        let is_value = is_expression(&items);
        let input = if is_value {
            WorkspaceInput { before: "let _input = (", text, after: "\n)" }
        } else {
            WorkspaceInput { text, ..WorkspaceInput::default() }
        };
        let mut composed = self.workspace.compose_text(input, &ReplWorkspace::declared_keys(&items));
        let checked = composed.check_text(self.settings.limits, &self.settings.permissions.read);
        let broken = self.report_diagnostics(&composed, &checked)?;
        Ok((!broken).then_some(CheckedInput { composed, checked, is_value }))
    }

    pub(super) fn show_type(&mut self, rest: &str) -> io::Result<ReplFlow> {
        let Some(text) = self.command_text(rest)? else { return Ok(ReplFlow::Continue) };
        let Some(CheckedInput { checked, is_value, .. }) = self.check_input(&text)? else {
            return Ok(ReplFlow::Continue);
        };
        if is_value {
            let ty = checked.module.lets.iter().find(|one| one.name == "_input").map_or(Type::Any, |one| one.value.ty);
            let word = if ty == Type::Any { "any: a run decides" } else { type_word(ty) };
            writeln!(self.out, "{word}")?;
            return Ok(ReplFlow::Continue);
        }
        let mut map = SourceMap::default();
        map.add_file(SourceFile::new(INPUT, None, text.as_str()));
        for item in self.parse_items(&text)?.unwrap_or_default() {
            let line = match &item.kind {
                ItemKind::Assertion(assertion) => {
                    match averment_ide::assist::statement_reading(&assertion.statement, &map) {
                        Some(reading) => format!("statement: {reading}"),
                        None => "statement".to_owned(),
                    }
                }
                ItemKind::Let { name, .. } => {
                    let ty = checked
                        .module
                        .lets
                        .iter()
                        .find(|one| one.name == name.text)
                        .map_or(Type::Any, |one| one.value.ty);
                    format!("{}: {}", name.text, type_word(ty))
                }
                ItemKind::Rule(rule) => format!("rule {}", rule.name.text),
                _ => "declaration".to_owned(),
            };
            writeln!(self.out, "{}", one_line(&line))?;
        }
        Ok(ReplFlow::Continue)
    }

    pub(super) fn show_ast(&mut self, rest: &str) -> io::Result<ReplFlow> {
        let Some(text) = self.command_text(rest)? else { return Ok(ReplFlow::Continue) };
        for item in self.parse_items(&text)?.unwrap_or_default() {
            let outline = debug_outline(&item.kind, self.settings.style.width);
            self.out.write_all(averment_base::diagnostic::render::printable(&outline).as_bytes())?;
        }
        Ok(ReplFlow::Continue)
    }

    pub(super) fn show_ir(&mut self, rest: &str) -> io::Result<ReplFlow> {
        let Some(text) = self.command_text(rest)? else { return Ok(ReplFlow::Continue) };
        let Some(CheckedInput { composed, checked, is_value }) = self.check_input(&text)? else {
            return Ok(ReplFlow::Continue);
        };
        let width = self.settings.style.width;
        let module = &checked.module;
        let mut shown = String::new();
        if is_value {
            module
                .lets
                .iter()
                .filter(|one| one.name == "_input")
                .for_each(|one| shown.push_str(&debug_outline(&one.value, width)));
        } else {
            let own = |span| composed.is_input(span);
            module
                .lets
                .iter()
                .filter(|one| one.is_written && own(one.value.span))
                .for_each(|one| shown.push_str(&debug_outline(one, width)));
            module
                .defs
                .iter()
                .filter(|one| one.is_written && own(one.body.span))
                .for_each(|one| shown.push_str(&debug_outline(one, width)));
            module
                .assertions
                .iter()
                .filter(|one| own(one.span))
                .for_each(|one| shown.push_str(&debug_outline(&one.check, width)));
        }
        self.out.write_all(averment_base::diagnostic::render::printable(&shown).as_bytes())?;
        Ok(ReplFlow::Continue)
    }

    pub(super) fn show_ops(&mut self, rest: &str) -> io::Result<ReplFlow> {
        let Some(text) = self.command_text(rest)? else { return Ok(ReplFlow::Continue) };
        let Some(CheckedInput { composed, checked, is_value }) = self.check_input(&text)? else {
            return Ok(ReplFlow::Continue);
        };
        let value = checked.module.lets.iter().position(|one| is_value && one.name == "_input");
        let mut module = checked.module;
        module.assertions.retain(|assertion| composed.is_input(assertion.span));
        let program = compile(&module, &composed.sources);
        let mut shown = String::new();
        for pattern in program.patterns.iter().filter(|pattern| composed.is_input(pattern.span)) {
            let _ = writeln!(shown, "pattern  {}", one_line(&pattern.text));
            for alternative in &pattern.alternatives {
                let _ = writeln!(shown, "  {}", debug_outline(alternative, usize::MAX).trim_end());
            }
        }
        let value = value.and_then(|number| program.lets.get(number)).copied();
        for code in value.map_or_else(|| own_codes(&program, &composed), |code| vec![code]) {
            shown.push_str(&listing_of(&program, code));
        }
        let shown = if is_value { unwrap_listing(&shown, &text) } else { shown };
        let shown = averment_base::diagnostic::render::printable(shown.trim_end()).into_owned();
        writeln!(self.out, "{}", if shown.is_empty() { "it needs no instructions" } else { &shown })?;
        Ok(ReplFlow::Continue)
    }

    /// Enters a text for `:explain`. Prints only errors, no results.
    pub(super) fn enter_quietly(&mut self, text: &str) -> io::Result<()> {
        let Some(looked) = self.check_input(text)? else { return Ok(()) };
        if looked.is_value {
            return self.value_quietly(text);
        }
        let mut module = looked.checked.module;
        module.assertions.retain(|assertion| looked.composed.is_input(assertion.span));
        if self.position.is_none() {
            return self.report_error("there is no run to explain it on", "`:on TRACE` takes one", Exit::Usage);
        }
        let program = compile(&module, &looked.composed.sources);
        if let Some(view) = self.derivation_view(program, &looked.composed)? {
            (self.last, self.step) = (LastInput::Verdicts(view), 0);
        }
        Ok(())
    }

    /// Selects the named rule or assertion for `:explain`; false if there is none.
    pub(super) fn explain_rule(&mut self, name: &str) -> io::Result<bool> {
        let Some((program, composed)) = self.compile_all()? else { return Ok(true) };
        let rule = program.rules.iter().position(|rule| rule.id == name);
        let of_rule = |number: Option<u32>| number.is_some() && number.map(|number| number as usize) == rule;
        if !program.assertions.iter().any(|one| one.id == name || of_rule(one.rule)) {
            return Ok(false);
        }
        if self.position.is_none() {
            self.report_error("there is no run to explain it on", "`:on TRACE` takes one", Exit::Usage)?;
            return Ok(true);
        }
        let mut program = program;
        program.assertions.retain(|one| one.id == name || of_rule(one.rule));
        if let Some(view) = self.derivation_view(program, &composed)? {
            (self.last, self.step) = (LastInput::Verdicts(view), 0);
        }
        Ok(true)
    }

    fn compile_all(&mut self) -> io::Result<Option<(Program, ComposedText)>> {
        let mut composed = self.workspace.compose_text(WorkspaceInput::default(), &[]);
        let checked = composed.check_text(self.settings.limits, &self.settings.permissions.read);
        if self.report_diagnostics(&composed, &checked)? {
            return Ok(None);
        }
        Ok(Some((compile(&checked.module, &composed.sources), composed)))
    }

    pub(super) fn list_rules(&mut self) -> io::Result<ReplFlow> {
        let style = self.settings.style;
        let entries: Vec<String> =
            self.workspace.entries.iter().filter(|entry| !entry.hidden).map(|entry| entry.text.clone()).collect();
        if let Some(base) = &self.workspace.base {
            writeln!(self.out, "{}", paint_text(style, TextColor::Bold, &one_line(&base.name)))?;
        }
        let Some((program, composed)) = self.compile_all()? else { return Ok(ReplFlow::Continue) };
        if program.assertions.is_empty() && entries.is_empty() {
            self.print_info("nothing was loaded or entered yet")?;
            return Ok(ReplFlow::Continue);
        }
        let known: Vec<String> = program.assertions.iter().map(|one| one.text.clone()).collect();
        match self.position {
            Some(_) => {
                let worst = self.worst;
                if let Some(view) = self.derivation_view(program, &composed)? {
                    for one in &view.assertions {
                        let word = paint_text(
                            style,
                            derivation::verdict_ink(one.verdict),
                            &format!("{:9}", one.verdict.as_str()),
                        );
                        let name = if one.named { format!("{}  ", one.id) } else { String::new() };
                        let line = derivation::cut(&format!("{name}{}", one.text), style.width.saturating_sub(10));
                        writeln!(self.out, "{word} {line}")?;
                    }
                }
                // Listing verdicts is not a check, so the exit code stays as it was.
                self.worst = worst;
            }
            None => {
                for text in &known {
                    writeln!(self.out, "{}", derivation::cut(&one_line(text), style.width))?;
                }
            }
        }
        let entered: Vec<&String> = entries.iter().filter(|text| !known.contains(text)).collect();
        if !entered.is_empty() {
            writeln!(self.out, "{}", paint_text(style, TextColor::Bold, "entered"))?;
            for text in entered {
                let first = text.lines().next().unwrap_or("");
                let more = if text.lines().count() > 1 { " …" } else { "" };
                writeln!(
                    self.out,
                    "  {}",
                    derivation::cut(&format!("{}{more}", one_line(first)), style.width.saturating_sub(2))
                )?;
            }
        }
        Ok(ReplFlow::Continue)
    }

    pub(super) fn save_rules(&mut self, file: &str, replace: bool) -> io::Result<ReplFlow> {
        if file.is_empty() {
            self.report_error("`:save` takes a file", "write `:save tried.assert`", Exit::Usage)?;
            return Ok(ReplFlow::Continue);
        }
        let named = if Path::new(file).extension().is_none() { format!("{file}.assert") } else { file.to_owned() };
        let (file, path) = (named.as_str(), Path::new(&named));
        if path.exists() && !replace {
            self.report_error(&format!("`{file}` exists"), &format!("`:save! {file}` replaces it"), Exit::Usage)?;
            return Ok(ReplFlow::Continue);
        }
        let entries: Vec<&str> =
            self.workspace.entries.iter().filter(|entry| !entry.hidden).map(|entry| entry.text.as_str()).collect();
        if entries.is_empty() {
            self.report_error("nothing was entered yet", "", Exit::Usage)?;
            return Ok(ReplFlow::Continue);
        }
        let import = self.workspace.base.as_ref().and_then(|base| import_line(path, Path::new(&base.name)));
        let text: String = import.into_iter().chain(entries.iter().map(|text| format!("{text}\n"))).collect();
        let text = fmt::format_text(&text, &fmt::FormatOptions::default()).unwrap_or(text);
        match crate::commands::draft_file::write_file(path, text.as_bytes()) {
            Ok(()) => {
                let count = entries.len();
                let items = if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") };
                self.print_info(&format!("wrote `{file}`: {items}"))?;
            }
            Err(error) => {
                let said = crate::commands::io_error_text(&error);
                self.report_error(&format!("`{file}` cannot be written: {said}"), "", Exit::Usage)?;
            }
        }
        Ok(ReplFlow::Continue)
    }
}

/// Removes the parentheses that were added for compilation from a listing.
fn unwrap_listing(listing: &str, text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = listing.lines().filter(|line| *line != "  | )");
    let lines = lines.map(|line| match line.strip_prefix("  | (") {
        Some(source) => format!("  | {source}\n"),
        None => format!("{}\n", line.replace(&format!("({folded} )"), &folded)),
    });
    lines.collect()
}

/// Returns the line for a saved file that imports the session's rules; `None` if there is no relative path.
fn import_line(saved: &Path, rules: &Path) -> Option<String> {
    let folder = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::canonicalize(parent).ok()
    };
    let (from, to) = (folder(saved)?, folder(rules)?);
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let mut path = PathBuf::new();
    from.components().skip(common).for_each(|_| path.push(Component::ParentDir));
    to.components().skip(common).for_each(|part| path.push(part));
    path.push(rules.file_name()?);
    let path = path.to_str()?;
    let lead = if path.starts_with("..") { "" } else { "./" };
    Some(format!("use {}\n", averment_base::value::notation::quoted_text(&format!("{lead}{path}"), path.len() + 8)))
}

fn own_codes(program: &Program, composed: &ComposedText) -> Vec<CodeId> {
    let numbers = (0..).zip(&program.chunks).filter(|(_, chunk)| composed.is_input(chunk.span));
    numbers.map(|(number, _)| CodeId(number)).collect()
}
