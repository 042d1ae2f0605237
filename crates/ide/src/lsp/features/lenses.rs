//! Lenses: a button above every test, and the verdicts of the selected run above rules.

use super::super::analysis::Analysis;
use super::super::picked_run::{PickedRun, outcome_summary};
use super::super::publish::lsp_range;
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use super::super::text::Encoding;
use super::commands;
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::AssertionOutcome;
use averment_syntax::ast::{ItemKind, SyntaxItem};
use lsp_types::{CodeLens, CodeLensParams, Command};
use serde_json::{Value, json};

/// Maximum characters of a reason.
const LETTERS: usize = 110;

/// `textDocument/codeLens`.
pub fn code_lenses(server: &mut LspServer, parameters: CodeLensParams) -> LspResult<Option<Vec<CodeLens>>> {
    if !server.settings.code_lens {
        return Ok(Some(Vec::new()));
    }
    let encoding = server.encoding;
    let key = super::settle_document(server, &parameters.text_document.uri)?;
    let Some(analysis) = server.cached_analysis(&key) else { return Ok(None) };
    let mut found = LensCollector { analysis, encoding, lenses: Vec::new() };
    found.add_tests(&analysis.checked.ast.items);
    if analysis.checked.ast.items.iter().any(|item| item.kind.has_assertions()) {
        match &server.run {
            Some(run) => found.add_verdicts(run),
            None => found.add_lens(analysis.span(0..0), "pick a run to check", commands::PICK_RUN, Vec::new()),
        }
    }
    found.lenses.sort_by_key(|lens| (lens.range.start.line, lens.range.start.character));
    Ok(Some(found.lenses))
}

struct LensCollector<'a> {
    analysis: &'a Analysis,
    encoding: Encoding,
    lenses: Vec<CodeLens>,
}

impl LensCollector<'_> {
    fn add_lens(&mut self, span: Span, title: &str, command: &str, arguments: Vec<Value>) {
        let command = Command { title: title.to_owned(), command: command.to_owned(), arguments: Some(arguments) };
        let range = lsp_range(self.analysis, span.at_start(), self.encoding);
        self.lenses.push(CodeLens { range, command: Some(command), data: None });
    }

    fn add_tests(&mut self, items: &[SyntaxItem]) {
        let uri = self.analysis.uri.as_str().to_owned();
        for item in items {
            match &item.kind {
                ItemKind::Test(test) => {
                    let arguments = vec![json!(uri), json!(test.name.text), json!(test.name.span.start)];
                    self.add_lens(item.span, "run test", commands::RUN_TEST, arguments);
                }
                ItemKind::Rule(rule) | ItemKind::Invariant(rule) => self.add_tests(&rule.body),
                ItemKind::Suite { body, .. } | ItemKind::Case { body, .. } => self.add_tests(body),
                _ => {}
            }
        }
    }

    fn add_verdicts(&mut self, run: &PickedRun) {
        let analysis = self.analysis;
        let arguments = || vec![json!(analysis.uri.as_str())];
        let Some((outcome, compiled)) = analysis.outcome(run).zip(analysis.compiled()) else {
            let title = format!("{}: the rules do not compile", run.name);
            return self.add_lens(analysis.span(0..0), &title, commands::CHECK_RUN, arguments());
        };
        self.add_lens(analysis.span(0..0), &outcome_summary(&run.name, outcome), commands::CHECK_RUN, arguments());
        let program = &compiled.program;
        for rule in &outcome.rules {
            let Some(known) = program.rules.get(rule.rule as usize) else { continue };
            let own = |result: &&AssertionOutcome| {
                program.assertions.get(result.assertion as usize).is_some_and(|one| one.rule == Some(rule.rule))
            };
            let worst = outcome.results.iter().filter(own).find(|result| result.verdict == rule.verdict);
            let title = verdict_title(rule.verdict, worst.map_or("", |result| &result.reason));
            self.add_lens(known.span, &title, commands::CHECK_RUN, arguments());
        }
        for result in &outcome.results {
            let Some(assertion) = program.assertions.get(result.assertion as usize) else { continue };
            let alone = assertion.rule.is_none();
            if alone || matches!(result.verdict, Verdict::Fail | Verdict::Error) {
                self.add_lens(
                    assertion.span,
                    &verdict_title(result.verdict, &result.reason),
                    commands::CHECK_RUN,
                    arguments(),
                );
            }
        }
    }
}

fn verdict_title(verdict: Verdict, reason: &str) -> String {
    if reason.is_empty() || verdict == Verdict::Pass {
        return verdict.as_str().to_owned();
    }
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = reason.chars().take(LETTERS).collect();
    let dots = if short.len() < reason.len() { "…" } else { "" };
    format!("{}: {short}{dots}", verdict.as_str())
}
