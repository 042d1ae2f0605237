//! Hover texts: type, meaning, example.

use super::chain::{PathPrefix, PrefixPart};
use super::context::{CursorContext, DeclaredName};
use super::cursor::{ComparedWhole, CursorState, StatementPart, scan_bounded};
use super::member::{self, KnownField, PathTarget};
use super::vocabulary::{self, Word};
use super::word_role::Role;
use averment_base::diagnostic::Slug;
use averment_builtins::stdlib;
use averment_builtins::table::{self, Builtin};
use averment_checker::DeclarationKind;
use averment_syntax::token::{Token, TokenKind};
use std::ops::Range;

/// Roles of phrases that consist of two words.
const PHRASES: &[Role] =
    &[Role::Statement, Role::Test, Role::Declaration, Role::Modifier, Role::MatchClause, Role::MatchExtent];

/// Hover text for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The byte range that the text is about.
    pub range: Range<usize>,
    /// Markdown.
    pub text: String,
}

/// Hover text at a byte offset; `None` for whitespace, comments and unknown names.
#[must_use]
pub fn hover_at(text: &str, at: usize, context: &CursorContext) -> Option<Hover> {
    let scan = scan_bounded(text);
    if let Some(remark) = scan.remarks.iter().find(|remark| remark.start <= at && at < remark.end) {
        return hover_comment(text, remark.start..remark.end, at);
    }
    let index = scan.tokens.iter().position(|token| token.start <= at && at < token.end)?;
    let token = scan.tokens.get(index)?;
    let looked = HoverTarget { text, tokens: &scan.tokens, context, index };
    let said = match token.kind {
        TokenKind::Word => looked.hover_word(token),
        TokenKind::Sign => looked.hover_sign(token),
        TokenKind::Binding => Some(hover_binding(text, token)),
        TokenKind::Text => looked.hover_text(token, at),
        _ => None,
    }?;
    Some(said)
}

fn hover_comment(text: &str, comment: Range<usize>, at: usize) -> Option<Hover> {
    let written = text.get(comment.clone())?;
    written.trim_start_matches('#').trim_start().strip_prefix("allow:")?;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let inside = at.checked_sub(comment.start)?;
    let start = written.get(..inside)?.rfind(|c| !letter(c)).map_or(0, |found| found + 1);
    let end = written.get(inside..)?.find(|c| !letter(c)).map_or(written.len(), |found| found + inside);
    let slug = Slug::parse(written.get(start..end)?)?;
    Some(Hover { range: start + comment.start..end + comment.start, text: slug.page().to_owned() })
}

fn hover_binding(text: &str, token: &Token) -> Hover {
    let name = text.get(token.start..token.end).unwrap_or("");
    let doc = "a binding: the same value wherever it stands in this statement";
    Hover { range: token.start..token.end, text: format!("```assert\n{name}\n```\n{doc}") }
}

struct HoverTarget<'a, 't> {
    text: &'t str,
    tokens: &'a [Token],
    context: &'a CursorContext,
    index: usize,
}

impl HoverTarget<'_, '_> {
    fn word_at(&self, index: usize) -> &str {
        self.tokens.get(index).and_then(|token| self.text.get(token.start..token.end)).unwrap_or("")
    }

    fn word_before(&self, back: usize) -> &str {
        self.index.checked_sub(back).map_or("", |index| self.word_at(index))
    }

    fn hover_for(&self, token: &Token, text: String) -> Option<Hover> {
        Some(Hover { range: token.start..token.end, text })
    }

    fn hover_word(&self, token: &Token) -> Option<Hover> {
        let cursor = CursorState::new(self.text, token.start);
        let name = self.word_at(self.index);
        if self.word_before(1) == "."
            && self.tokens.get(self.index.wrapping_sub(1)).is_some_and(|dot| dot.end == token.start)
        {
            return self.hover_member(token, &cursor);
        }
        let statement =
            matches!(cursor.mode, StatementPart::Start(_)) && vocabulary::find_word(name, &[Role::Statement]).is_some();
        if self.word_at(self.index + 1) == "("
            && !statement
            && !matches!(cursor.mode, StatementPart::Step | StatementPart::Call)
            && let Some(builtin) = table::find_builtin(name)
        {
            return self.hover_for(token, builtin_page(builtin));
        }
        if let Some(said) = self.hover_in_context(token, &cursor, name) {
            return Some(said);
        }
        let several = self.several_words(name);
        if let Some((range, word)) = several {
            return Some(Hover { range, text: word_page(word) });
        }
        let roles: &[Role] = match cursor.mode {
            StatementPart::Start(_) => &[Role::Statement, Role::Declaration, Role::Setting, Role::Modifier, Role::Root],
            StatementPart::Step if cursor.behind_operand => {
                &[Role::StepClause, Role::Modifier, Role::Operator, Role::List]
            }
            StatementPart::Step => &[Role::Kind, Role::Modifier],
            StatementPart::Type => &[Role::Type],
            StatementPart::Severity => &[Role::Severity, Role::Modifier],
            StatementPart::Test => &[Role::Verdict],
            StatementPart::Expression | StatementPart::Arguments(_) | StatementPart::Value(..)
                if cursor.behind_operand =>
            {
                match cursor.compared {
                    ComparedWhole::Nothing => &[Role::Test, Role::Operator, Role::List, Role::Modifier],
                    ComparedWhole::Calls => &[Role::MatchClause, Role::Modifier],
                    ComparedWhole::Part => &[Role::LikeClause, Role::Test, Role::Operator, Role::List, Role::Modifier],
                }
            }
            StatementPart::Expression | StatementPart::Value(..) => {
                &[Role::Root, Role::List, Role::Type, Role::Test, Role::Operator, Role::Constant]
            }
            _ => &[Role::Modifier, Role::Setting],
        };
        let word = vocabulary::find_word(name, roles)?;
        self.hover_for(token, word_page(word))
    }

    fn hover_in_context(&self, token: &Token, cursor: &CursorState<'_>, name: &str) -> Option<Hover> {
        let any = [
            DeclarationKind::Param,
            DeclarationKind::Let,
            DeclarationKind::Def,
            DeclarationKind::DefStep,
            DeclarationKind::Schema,
        ];
        let rules = [DeclarationKind::Rule, DeclarationKind::Case, DeclarationKind::Invariant];
        match &cursor.mode {
            StatementPart::Step | StatementPart::Call if !cursor.behind_operand => {
                if let Some(step) = self.context.find_name(name, &[DeclarationKind::DefStep, DeclarationKind::Def]) {
                    return self.hover_for(token, declaration_page(step));
                }
                let (range, name) = self.tool_name(token);
                return tool_page(&name, self.context).map(|text| Hover { range, text });
            }
            StatementPart::Arguments(steps) if !cursor.behind_operand => {
                let chain = PathPrefix { segments: vec![PrefixPart::Name(name.to_owned())] };
                let places = member::resolve_path(&chain, Some(steps), true, self.context);
                if !places.is_empty() {
                    return self.hover_for(token, places_page(name, &places));
                }
            }
            StatementPart::Test | StatementPart::Free => {
                if let Some(rule) = self.context.find_name(name, &rules).or_else(|| self.context.find_name(name, &any))
                {
                    return self.hover_for(token, declaration_page(rule));
                }
            }
            _ => {}
        }
        if let Some(scope) = &cursor.scope
            && !cursor.behind_operand
        {
            let kind = scope.kind.as_deref().and_then(member::step_kind).unwrap_or(averment_runs::run::StepKind::Call);
            let fields = member::target_fields(&PathTarget::Step(kind, scope.tools.clone()), self.context);
            if let Some(field) = fields.iter().find(|field| field.name == name) {
                return self.hover_for(token, named_field_page(field));
            }
        }
        let declared = self.context.find_name(name, &any)?;
        self.hover_for(token, declaration_page(declared))
    }

    fn tool_name(&self, token: &Token) -> (Range<usize>, String) {
        let part = |index: usize| {
            self.tokens.get(index).is_some_and(|one| {
                one.kind == TokenKind::Word || matches!(self.word_at(index), "-" | "." | "/" | "*" | "?")
            })
        };
        let touches = |left: usize, right: usize| {
            self.tokens.get(left).zip(self.tokens.get(right)).is_some_and(|(left, right)| left.end == right.start)
        };
        let (mut first, mut last) = (self.index, self.index);
        while first > 0 && touches(first - 1, first) && part(first - 1) {
            first -= 1;
        }
        while touches(last, last + 1) && part(last + 1) {
            last += 1;
        }
        let start = self.tokens.get(first).map_or(token.start, |one| one.start);
        let end = self.tokens.get(last).map_or(token.end, |one| one.end);
        (start..end, self.text.get(start..end).unwrap_or("").to_owned())
    }

    /// Returns the longest known phrase around a word, such as `contains all` or `immediately before`.
    fn several_words(&self, name: &str) -> Option<(Range<usize>, &'static Word)> {
        let pairs = [(self.index, self.index + 1), (self.index.wrapping_sub(1), self.index)];
        pairs.into_iter().find_map(|(left, right)| {
            let both = format!("{} {}", self.word_at(left), self.word_at(right));
            let known = vocabulary::find_word(&both, PHRASES)?;
            let range = self.tokens.get(left)?.start..self.tokens.get(right)?.end;
            (both.split(' ').any(|word| word == name)).then_some((range, known))
        })
    }

    fn hover_member(&self, token: &Token, cursor: &CursorState<'_>) -> Option<Hover> {
        if let Some(module) = self.module_at(token) {
            return self.hover_for(token, module_page(module));
        }
        let left = matches!(cursor.mode, StatementPart::Arguments(_));
        let chain = PathPrefix::ending_at(self.text, self.tokens, self.index + 1)?;
        let places = member::resolve_path(&chain, cursor.scope.as_ref(), left, self.context);
        let name = self.word_at(self.index);
        if places.is_empty() {
            let field = vocabulary::find_word(name, &[Role::Field])?;
            return matches!(chain.segments.get(chain.segments.len().wrapping_sub(2)), Some(PrefixPart::Element))
                .then(|| Hover { range: token.start..token.end, text: word_page(field) });
        }
        self.hover_for(token, places_page(name, &places))
    }

    /// Returns the module named in the `use` on the line of a token. The name of a pack consists of several tokens.
    fn module_at(&self, token: &Token) -> Option<stdlib::StdModule> {
        let start = self.text.get(..token.start)?.rfind('\n').map_or(0, |at| at + 1);
        let name = self.text.get(start..)?.trim_start().strip_prefix("use")?.trim_start().strip_prefix("std.")?;
        let of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        stdlib::find_module(name.split(|letter| !of_name(letter)).next()?)
    }

    fn hover_sign(&self, token: &Token) -> Option<Hover> {
        let word = vocabulary::find_word(self.word_at(self.index), &[Role::Test])?;
        self.hover_for(token, word_page(word))
    }

    fn hover_text(&self, token: &Token, at: usize) -> Option<Hover> {
        let written = self.word_at(self.index);
        let inner = written.trim_matches(['"', '\'']);
        let cursor = CursorState::new(self.text, token.start);
        let is_tool = matches!(cursor.mode, StatementPart::Step | StatementPart::Call);
        if is_tool && let Some(text) = tool_page(inner, self.context) {
            return self.hover_for(token, text);
        }
        let open = self.text.get(token.start..at)?.rfind("${")? + token.start + 2;
        let close = self.text.get(at..token.end)?.find('}')? + at;
        let value = self.text.get(open..close)?;
        let found = hover_at(value, at.checked_sub(open)?, self.context)?;
        Some(Hover { range: found.range.start + open..found.range.end + open, text: found.text })
    }
}

pub(super) fn word_page(word: &Word) -> String {
    let (ty, doc) = match word.role {
        Role::Root | Role::Field => word.doc.split_once(": ").unwrap_or(("", word.doc)),
        _ => ("", word.doc),
    };
    let head = if ty.is_empty() { word.word.to_owned() } else { format!("{}: {ty}", word.word) };
    let mut out = format!("```assert\n{head}\n```\n{doc}");
    if !word.example.is_empty() {
        out.push_str(&format!("\n\n```assert\n{}\n```", word.example));
    }
    out
}

pub(super) fn builtin_page(builtin: &Builtin) -> String {
    format!("```assert\n{}\n```\n{}\n\n```assert\n{}\n```", builtin.signature(), builtin.doc, builtin.example)
}

pub(super) fn declaration_page(one: &DeclaredName) -> String {
    let mut out = format!("```assert\n{}\n```", one.signature);
    if let Some(doc) = &one.doc {
        out.push('\n');
        out.push_str(doc);
    }
    if let Some(file) = &one.file {
        out.push_str(&format!("\n\nfrom `{file}`"));
    }
    out
}

pub(super) fn field_page(field: &KnownField) -> String {
    let mut parts = Vec::new();
    if !field.doc.is_empty() {
        parts.push(field.doc.clone());
    }
    if !field.examples.is_empty() {
        let some: Vec<String> = field.examples.iter().take(6).map(|one| format!("`{one}`")).collect();
        parts.push(format!("for example {}", some.join(", ")));
    }
    parts.join("\n\n")
}

fn named_field_page(field: &KnownField) -> String {
    let ty = if field.ty.is_empty() { String::new() } else { format!(": {}", field.ty) };
    format!("```assert\n{}{ty}\n```\n{}", field.name, field_page(field)).trim_end().to_owned()
}

fn places_page(name: &str, places: &[PathTarget<'_>]) -> String {
    let fields = places.iter().map(|place| KnownField { name: name.to_owned(), ..member::value_field(place) });
    member::merge_fields(fields).first().map_or_else(String::new, named_field_page)
}

fn module_page(module: stdlib::StdModule) -> String {
    let head: Vec<&str> = module
        .text
        .lines()
        .take_while(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches(['#', ' ']))
        .collect();
    format!("```assert\nuse std.{}\n```\n{}", module.name, head.join("\n"))
}

/// Returns a tool as Markdown, from catalog and run. A glob lists its matches.
fn tool_page(name: &str, context: &CursorContext) -> Option<String> {
    if name.contains(['*', '?']) {
        let fits = member::tool_matcher(&[name.to_owned()]);
        let all: Vec<String> =
            context.tool_names().into_iter().filter(|tool| fits(tool)).map(|tool| format!("`{tool}`")).collect();
        return (!all.is_empty()).then(|| format!("```assert\n{name}\n```\n{}", all.join(", ")));
    }
    let declared = context.tools.get(name);
    let called = context.run.as_ref().and_then(|run| Some((run.name.clone(), run.tools.get(name)?)));
    if declared.is_none() && called.is_none() {
        return None;
    }
    let steps = super::cursor::StepScope { tools: vec![name.to_owned()], kind: None };
    let args = PathPrefix { segments: vec![PrefixPart::Name("args".to_owned())] };
    let places = member::resolve_path(&args, Some(&steps), false, context);
    let fields = member::merge_fields(places.iter().flat_map(|place| member::target_fields(place, context)));
    let listed: Vec<String> = fields
        .iter()
        .map(|field| {
            let mark = if field.required || declared.is_none() { "" } else { "?" };
            let ty = if field.ty.is_empty() { String::new() } else { format!(": {}", field.ty) };
            format!("{}{mark}{ty}", field.name)
        })
        .collect();
    let mut out = format!("```assert\n{name}({})\n```", listed.join(", "));
    if let Some(doc) = declared.and_then(|tool| tool.description.as_ref()) {
        out.push('\n');
        out.push_str(doc);
    }
    if let Some((run, called)) = called {
        let count = called.count;
        let noun = if count == 1 { "call" } else { "calls" };
        out.push_str(&format!("\n\n{count} {noun} in `{run}`"));
    }
    Some(out)
}
