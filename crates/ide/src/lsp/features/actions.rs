//! Code actions: apply fixes, silence a diagnostic, open its page; and suggestions that make a rule safer.

use super::super::analysis::Analysis;
use super::super::publish::{lsp_diagnostic, lsp_range};
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use super::super::text::Encoding;
use super::commands;
use super::hover::statement_at;
use crate::lint::fix;
use crate::lint::lint_semantics::vacuous_without;
use averment_base::diagnostic::{Diagnostic, Severity};
use averment_base::source::Span;
use averment_syntax::ast::{
    AtomSubject, Expr, ExprKind, ItemKind, ModifierKind, PatternForm, Statement, StatementKind, StepPattern,
    SyntaxItem, TestKind,
};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Command, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::json;
use std::collections::BTreeMap;

/// `textDocument/codeAction`.
pub fn code_actions(
    server: &mut LspServer,
    parameters: CodeActionParams,
) -> LspResult<Option<Vec<CodeActionOrCommand>>> {
    let encoding = server.encoding;
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    let Some(file) = analysis.source_file() else { return Ok(None) };
    let bytes = encoding.to_bytes(file, parameters.range);
    let place = analysis.span(bytes);
    let mut found = ActionCollector { analysis, encoding, actions: Vec::new() };
    for one in analysis.diagnostics.0.iter().filter(|one| spans_touch(one.span, place)) {
        found.add_fix(one);
        found.add_allow(one);
        found.add_explain(one);
    }
    found.fix_all();
    found.add_guards(place);
    let only = parameters.context.only;
    let wanted = |action: &CodeActionOrCommand| {
        let CodeActionOrCommand::CodeAction(action) = action else { return true };
        let kind = action.kind.as_ref().map_or("", |kind| kind.as_str());
        only.as_ref().is_none_or(|only| only.iter().any(|one| is_of_kind(kind, one.as_str())))
    };
    found.actions.retain(wanted);
    Ok(Some(found.actions))
}

/// True if a kind is the wanted one or a subkind: `refactor.rewrite` is a `refactor`.
fn is_of_kind(kind: &str, wanted: &str) -> bool {
    kind == wanted || kind.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
}

fn spans_touch(span: Span, place: Span) -> bool {
    span.file == place.file && span.start <= place.end && place.start <= span.end.max(span.start.saturating_add(1))
}

struct ActionCollector<'a> {
    analysis: &'a Analysis,
    encoding: Encoding,
    actions: Vec<CodeActionOrCommand>,
}

impl ActionCollector<'_> {
    fn push_action(&mut self, action: CodeAction) {
        self.actions.push(CodeActionOrCommand::CodeAction(action));
    }

    fn workspace_edit(&self, edits: &[(Span, String)]) -> Option<WorkspaceEdit> {
        let mut changes: BTreeMap<String, (Uri, Vec<TextEdit>)> = BTreeMap::new();
        for (span, text) in edits {
            let uri = self.analysis.file_uri(span.file)?;
            let range = lsp_range(self.analysis, *span, self.encoding);
            let list = changes.entry(uri.as_str().to_owned()).or_insert((uri, Vec::new()));
            list.1.push(TextEdit { range, new_text: text.clone() });
        }
        #[expect(
            clippy::mutable_key_type,
            reason = "the type of the protocol library has this map; the keys are never changed"
        )]
        let changes = changes.into_values().collect();
        Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
    }

    fn add_fix(&mut self, one: &Diagnostic) {
        let Some(fix) = &one.fix else { return };
        let edits: Vec<(Span, String)> = fix.edits.iter().map(|edit| (edit.span, edit.text.clone())).collect();
        let Some(edit) = self.workspace_edit(&edits) else { return };
        self.push_action(CodeAction {
            title: fix.title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![lsp_diagnostic(self.analysis, one, self.encoding)]),
            edit: Some(edit),
            is_preferred: Some(true),
            ..CodeAction::default()
        });
    }

    /// Adds `# allow: slug` on a line above; compile errors cannot be silenced.
    fn add_allow(&mut self, one: &Diagnostic) {
        if one.severity == Severity::Error && !one.slug.is_lint() || one.span.file != self.analysis.root {
            return;
        }
        let Some(file) = self.analysis.source_file() else { return };
        let line = file.line_column(one.span.start).line;
        let start = file.line_start(line);
        let indent: String = file.line_text(line).chars().take_while(|c| c.is_whitespace()).collect();
        let place = self.analysis.span(start..start);
        let Some(edit) = self.workspace_edit(&[(place, format!("{indent}# allow: {}\n", one.slug.as_str()))]) else {
            return;
        };
        self.push_action(CodeAction {
            title: format!("allow `{}` here", one.slug.as_str()),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![lsp_diagnostic(self.analysis, one, self.encoding)]),
            edit: Some(edit),
            ..CodeAction::default()
        });
    }

    fn add_explain(&mut self, one: &Diagnostic) {
        let title = format!("explain `{}`", one.slug.as_str());
        let known = |action: &CodeActionOrCommand| matches!(action, CodeActionOrCommand::CodeAction(known) if known.title == title);
        if self.actions.iter().any(known) {
            return;
        }
        let arguments = Some(vec![json!(one.slug.as_str())]);
        self.push_action(CodeAction {
            title: title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            command: Some(Command { title, command: commands::EXPLAIN.to_owned(), arguments }),
            ..CodeAction::default()
        });
    }

    fn fix_all(&mut self) {
        let analysis = self.analysis;
        let fixed = fix::apply_fixes(analysis.source_text(), analysis.root, &analysis.diagnostics);
        if fixed.applied == 0 {
            return;
        }
        let edits = averment_syntax::fmt::line_edits(analysis.source_text(), &fixed.text).into_iter();
        let edits: Vec<(Span, String)> = edits.map(|edit| (analysis.span(edit.range), edit.text)).collect();
        let Some(edit) = self.workspace_edit(&edits) else { return };
        self.push_action(CodeAction {
            title: "fix everything that can be fixed".to_owned(),
            kind: Some(CodeActionKind::SOURCE_FIX_ALL),
            edit: Some(edit),
            ..CodeAction::default()
        });
    }

    fn add_guards(&mut self, place: Span) {
        let analysis = self.analysis;
        let items = &analysis.checked.ast.items;
        if let Some(statement) = statement_at(items, place.start as usize) {
            self.missing_require(statement);
            self.missing_guard(items, statement);
        }
        self.missing_test(items, place);
    }

    fn add_rewrite(&mut self, title: String, edits: &[(Span, String)]) {
        let Some(edit) = self.workspace_edit(edits) else { return };
        let kind = Some(CodeActionKind::REFACTOR_REWRITE);
        self.push_action(CodeAction { title, kind, edit: Some(edit), ..CodeAction::default() });
    }

    /// Adds a `require` after a statement that is vacuous if its step never occurs.
    fn missing_require(&mut self, statement: &Statement) {
        for step in vacuous_without(&statement.kind) {
            let Some(name) = plain_name(step) else { continue };
            if self.analysis.source_text().lines().any(|line| line.trim().starts_with(&format!("require {name}"))) {
                continue;
            }
            let at = self.line_end(statement.span.end);
            let indent = self.indent_at(statement.span.start);
            let place = self.analysis.span(at..at);
            self.add_rewrite(
                format!("add `require {name}`, so that a run without it fails"),
                &[(place, format!("\n{indent}require {name}"))],
            );
        }
    }

    fn missing_guard(&mut self, items: &[SyntaxItem], statement: &Statement) {
        let StatementKind::Expression(expr) = &statement.kind else { return };
        let Some(path) = tested_path(expr) else { return };
        let written = self.analysis.sources.span_text(path.span).to_owned();
        let guarded = statement_modifiers(items, statement.span)
            .is_some_and(|all| all.iter().any(|one| matches!(one, ModifierKind::When(_))));
        if guarded {
            return;
        }
        let place = statement.span.at_end();
        self.add_rewrite(
            format!("count it only where `{written}` exists"),
            &[(place, format!(" when {written} exists"))],
        );
    }

    fn missing_test(&mut self, items: &[SyntaxItem], place: Span) {
        let here = |item: &&SyntaxItem| item.span.start <= place.start && place.end <= item.span.end;
        let Some(item) = items.iter().find(here) else { return };
        let ItemKind::Rule(rule) = &item.kind else { return };
        let name = &rule.name.text;
        let tests = |item: &SyntaxItem| matches!(&item.kind, ItemKind::Test(test) if test.rules.iter().any(|one| one.text == *name));
        if rule.name.span.end < place.start || items.iter().any(tests) {
            return;
        }
        let end = self.analysis.source_text().trim_end().len();
        let place = self.analysis.span(end..self.analysis.source_text().len());
        let test = format!("\n\ntest \"a run that breaks {name}\" expect fail {name} {{\n  calls: []\n}}\n");
        self.add_rewrite(format!("add a test of `{name}`"), &[(place, test)]);
    }

    fn line_end(&self, at: u32) -> usize {
        let rest = self.analysis.source_text().get(at as usize..).unwrap_or("");
        at as usize
            + rest.find('\n').map_or(rest.len(), |end| rest.get(..end).map_or(end, |line| line.trim_end().len()))
    }

    fn indent_at(&self, at: u32) -> String {
        let Some(file) = self.analysis.source_file() else { return String::new() };
        file.line_text(file.line_column(at).line).chars().take_while(|c| c.is_whitespace()).collect()
    }
}

fn plain_name(step: &StepPattern) -> Option<&str> {
    match &step.kind {
        PatternForm::Atom(atom) => match &atom.subject {
            AtomSubject::Tool(name) if !name.text.contains(['*', '?']) && name.text != "any" => Some(&name.text),
            _ => None,
        },
        PatternForm::Where { step, .. } => plain_name(step),
        _ => None,
    }
}

fn tested_path(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Group(inner) => tested_path(inner),
        ExprKind::Test { subject, test } => {
            let asks = matches!(test.kind, TestKind::Exists | TestKind::IsMissing | TestKind::IsEmpty);
            (!asks && is_path(subject)).then_some(subject)
        }
        _ => None,
    }
}

fn is_path(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Field { base, .. } => matches!(base.kind, ExprKind::Name(_)) || is_path(base),
        ExprKind::Index { base, .. } => is_path(base) || matches!(base.kind, ExprKind::Name(_)),
        _ => false,
    }
}

/// Returns the modifiers of the assertion whose statement has this span.
fn statement_modifiers(items: &[SyntaxItem], statement: Span) -> Option<Vec<&ModifierKind>> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Assertion(assertion) if assertion.statement.span == statement => {
            Some(assertion.modifiers.iter().map(|one| &one.kind).collect())
        }
        ItemKind::Assertion(assertion) => match &assertion.statement.kind {
            StatementKind::Block { body, .. } | StatementKind::Group { body, .. } => {
                statement_modifiers(body, statement)
            }
            _ => None,
        },
        ItemKind::Rule(rule) | ItemKind::Invariant(rule) => statement_modifiers(&rule.body, statement),
        ItemKind::Suite { body, .. }
        | ItemKind::Case { body, .. }
        | ItemKind::Pre { body }
        | ItemKind::Post { body } => statement_modifiers(body, statement),
        _ => None,
    })
}
