//! What stands under the cursor: type, meaning, example.

use super::chain::{Chain, Segment};
use super::context::{CursorContext, Named};
use super::cursor::{Cursor, Mode, tokens};
use super::member::{self, Field, PathTarget};
use super::vocabulary::{self, Role, Word};
use averment_base::diagnostic::Slug;
use averment_builtins::stdlib;
use averment_builtins::table::{self, Builtin};
use averment_engine::check::DeclarationKind;
use averment_syntax::token::{Kind, Token};
use std::ops::Range;

/// What is to be said of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The bytes that it is said of.
    pub range: Range<usize>,
    /// Markdown.
    pub text: String,
}

/// What stands at a byte offset; `None` for space, comments and what nothing is known of.
#[must_use]
pub fn hover(text: &str, at: usize, context: &CursorContext) -> Option<Hover> {
    let scan = tokens(text);
    if let Some(remark) = scan.remarks.iter().find(|remark| remark.start <= at && at < remark.end) {
        return in_comment(text, remark.start..remark.end, at);
    }
    let index = scan.tokens.iter().position(|token| token.start <= at && at < token.end)?;
    let token = scan.tokens.get(index)?;
    let looked = Looked { text, tokens: &scan.tokens, context, index };
    let said = match token.kind {
        Kind::Word => looked.word(token),
        Kind::Sign => looked.sign(token),
        Kind::Binding => Some(binding(text, token)),
        Kind::Text => looked.text(token, at),
        _ => None,
    }?;
    Some(said)
}

/// A slug in `# allow: slug`.
fn in_comment(text: &str, comment: Range<usize>, at: usize) -> Option<Hover> {
    let written = text.get(comment.clone())?;
    written.trim_start_matches('#').trim_start().strip_prefix("allow:")?;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let inside = at.checked_sub(comment.start)?;
    let start = written.get(..inside)?.rfind(|c| !letter(c)).map_or(0, |found| found + 1);
    let end = written.get(inside..)?.find(|c| !letter(c)).map_or(written.len(), |found| found + inside);
    let slug = Slug::parse(written.get(start..end)?)?;
    Some(Hover { range: start + comment.start..end + comment.start, text: slug.page().to_owned() })
}

fn binding(text: &str, token: &Token) -> Hover {
    let name = text.get(token.start..token.end).unwrap_or("");
    let doc = "a binding: the same value wherever it stands in this statement";
    Hover { range: token.start..token.end, text: format!("```assert\n{name}\n```\n{doc}") }
}

struct Looked<'a, 't> {
    text: &'t str,
    tokens: &'a [Token],
    context: &'a CursorContext,
    index: usize,
}

impl Looked<'_, '_> {
    fn at(&self, index: usize) -> &str {
        self.tokens.get(index).and_then(|token| self.text.get(token.start..token.end)).unwrap_or("")
    }

    fn before(&self, back: usize) -> &str {
        self.index.checked_sub(back).map_or("", |index| self.at(index))
    }

    fn said(&self, token: &Token, text: String) -> Option<Hover> {
        Some(Hover { range: token.start..token.end, text })
    }

    fn word(&self, token: &Token) -> Option<Hover> {
        let cursor = Cursor::new(self.text, token.start);
        let name = self.at(self.index);
        if self.before(1) == "."
            && self.tokens.get(self.index.wrapping_sub(1)).is_some_and(|dot| dot.end == token.start)
        {
            return self.member(token, &cursor);
        }
        let statement = matches!(cursor.mode, Mode::Start(_)) && vocabulary::word(name, &[Role::Statement]).is_some();
        if self.at(self.index + 1) == "("
            && !statement
            && !matches!(cursor.mode, Mode::Step | Mode::Call)
            && let Some(builtin) = table::lookup(name)
        {
            return self.said(token, of_builtin(builtin));
        }
        if let Some(said) = self.in_place(token, &cursor, name) {
            return Some(said);
        }
        let several = self.several_words(name);
        if let Some((range, word)) = several {
            return Some(Hover { range, text: of_word(word) });
        }
        let roles: &[Role] = match cursor.mode {
            Mode::Start(_) => &[Role::Statement, Role::Declaration, Role::Setting, Role::Modifier, Role::Root],
            Mode::Step if cursor.behind_operand => &[Role::Modifier, Role::Operator, Role::List],
            Mode::Step => &[Role::Kind, Role::Modifier],
            Mode::Type => &[Role::Type],
            Mode::Severity => &[Role::Severity, Role::Modifier],
            Mode::Test => &[Role::Verdict],
            Mode::Expression | Mode::Arguments(_) | Mode::Value(..) if cursor.behind_operand => {
                &[Role::Test, Role::Operator, Role::List, Role::Modifier]
            }
            Mode::Expression | Mode::Value(..) => {
                &[Role::Root, Role::List, Role::Type, Role::Test, Role::Operator, Role::Constant]
            }
            _ => &[Role::Modifier, Role::Setting],
        };
        let word = vocabulary::word(name, roles)?;
        self.said(token, of_word(word))
    }

    /// Declared names, tools, fields and arguments.
    fn in_place(&self, token: &Token, cursor: &Cursor<'_>, name: &str) -> Option<Hover> {
        let any = [
            DeclarationKind::Param,
            DeclarationKind::Let,
            DeclarationKind::Def,
            DeclarationKind::DefStep,
            DeclarationKind::Schema,
        ];
        let rules = [DeclarationKind::Rule, DeclarationKind::Case, DeclarationKind::Invariant];
        match &cursor.mode {
            Mode::Step | Mode::Call if !cursor.behind_operand => {
                if let Some(step) = self.context.named(name, &[DeclarationKind::DefStep, DeclarationKind::Def]) {
                    return self.said(token, of_named(step));
                }
                let (range, name) = self.tool_name(token);
                return of_tool(&name, self.context).map(|text| Hover { range, text });
            }
            Mode::Arguments(steps) if !cursor.behind_operand => {
                let chain = Chain { segments: vec![Segment::Name(name.to_owned())] };
                let places = member::places(&chain, Some(steps), true, self.context);
                if !places.is_empty() {
                    return self.said(token, of_places(name, &places));
                }
            }
            Mode::Test | Mode::Free => {
                if let Some(rule) = self.context.named(name, &rules).or_else(|| self.context.named(name, &any)) {
                    return self.said(token, of_named(rule));
                }
            }
            _ => {}
        }
        if let Some(scope) = &cursor.scope
            && !cursor.behind_operand
        {
            let kind = scope.kind.as_deref().and_then(member::kind_of).unwrap_or(averment_runs::run::Kind::Call);
            let fields = member::fields(&PathTarget::Step(kind, scope.tools.clone()), self.context);
            if let Some(field) = fields.iter().find(|field| field.name == name) {
                return self.said(token, of_field_named(field));
            }
        }
        let declared = self.context.named(name, &any)?;
        self.said(token, of_named(declared))
    }

    /// The whole name of a tool around a token, with its globs, dots and dashes.
    fn tool_name(&self, token: &Token) -> (Range<usize>, String) {
        let part = |index: usize| {
            self.tokens
                .get(index)
                .is_some_and(|one| one.kind == Kind::Word || matches!(self.at(index), "-" | "." | "/" | "*" | "?"))
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

    /// `contains all`, `immediately before`, `sequence only`: the longest known words around this one.
    fn several_words(&self, name: &str) -> Option<(Range<usize>, &'static Word)> {
        let pairs = [(self.index, self.index + 1), (self.index.wrapping_sub(1), self.index)];
        pairs.into_iter().find_map(|(left, right)| {
            let both = format!("{} {}", self.at(left), self.at(right));
            let known = vocabulary::word(&both, &[Role::Statement, Role::Test, Role::Declaration, Role::Modifier])?;
            let range = self.tokens.get(left)?.start..self.tokens.get(right)?.end;
            (both.split(' ').any(|word| word == name)).then_some((range, known))
        })
    }

    fn member(&self, token: &Token, cursor: &Cursor<'_>) -> Option<Hover> {
        if self.before(2) == "std" {
            let module = stdlib::module(self.at(self.index))?;
            return self.said(token, of_module(module));
        }
        let left = matches!(cursor.mode, Mode::Arguments(_));
        let chain = Chain::ending(self.text, self.tokens, self.index + 1)?;
        let places = member::places(&chain, cursor.scope.as_ref(), left, self.context);
        let name = self.at(self.index);
        if places.is_empty() {
            let field = vocabulary::word(name, &[Role::Field])?;
            return matches!(chain.segments.get(chain.segments.len().wrapping_sub(2)), Some(Segment::Element))
                .then(|| Hover { range: token.start..token.end, text: of_word(field) });
        }
        self.said(token, of_places(name, &places))
    }

    fn sign(&self, token: &Token) -> Option<Hover> {
        let word = vocabulary::word(self.at(self.index), &[Role::Test])?;
        self.said(token, of_word(word))
    }

    /// A string: a quoted tool or what it interpolates.
    fn text(&self, token: &Token, at: usize) -> Option<Hover> {
        let written = self.at(self.index);
        let inner = written.trim_matches(['"', '\'']);
        let cursor = Cursor::new(self.text, token.start);
        if matches!(cursor.mode, Mode::Step | Mode::Call) {
            return of_tool(inner, self.context).and_then(|text| self.said(token, text));
        }
        let open = self.text.get(token.start..at)?.rfind("${")? + token.start + 2;
        let close = self.text.get(at..token.end)?.find('}')? + at;
        let value = self.text.get(open..close)?;
        let found = hover(value, at.checked_sub(open)?, self.context)?;
        Some(Hover { range: found.range.start + open..found.range.end + open, text: found.text })
    }
}

/// A word of the language as Markdown.
pub(super) fn of_word(word: &Word) -> String {
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

/// A function as Markdown.
pub(super) fn of_builtin(builtin: &Builtin) -> String {
    format!("```assert\n{}\n```\n{}\n\n```assert\n{}\n```", builtin.signature(), builtin.doc, builtin.example)
}

/// A declared name as Markdown.
pub(super) fn of_named(one: &Named) -> String {
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

/// A field with what is known of it as Markdown, without its name.
pub(super) fn of_field(field: &Field) -> String {
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

fn of_field_named(field: &Field) -> String {
    let ty = if field.ty.is_empty() { String::new() } else { format!(": {}", field.ty) };
    format!("```assert\n{}{ty}\n```\n{}", field.name, of_field(field)).trim_end().to_owned()
}

fn of_places(name: &str, places: &[PathTarget<'_>]) -> String {
    let fields = places.iter().map(|place| Field { name: name.to_owned(), ..member::itself(place) });
    member::merged(fields).first().map_or_else(String::new, of_field_named)
}

fn of_module(module: stdlib::Module) -> String {
    let head: Vec<&str> = module
        .text
        .lines()
        .take_while(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches(['#', ' ']))
        .collect();
    format!("```assert\nuse std.{}\n```\n{}", module.name, head.join("\n"))
}

/// A tool as Markdown: what the catalogue and the run say of it. A glob lists what it names.
fn of_tool(name: &str, context: &CursorContext) -> Option<String> {
    if name.contains(['*', '?']) {
        let fits = member::matcher(&[name.to_owned()]);
        let all: Vec<String> =
            context.tool_names().into_iter().filter(|tool| fits(tool)).map(|tool| format!("`{tool}`")).collect();
        return (!all.is_empty()).then(|| format!("```assert\n{name}\n```\n{}", all.join(", ")));
    }
    let declared = context.tools.get(name);
    let called = context.run.as_ref().and_then(|run| Some((run.name.clone(), run.tools.get(name)?)));
    if declared.is_none() && called.is_none() {
        return None;
    }
    let steps = super::cursor::Steps { tools: vec![name.to_owned()], kind: None };
    let args = Chain { segments: vec![Segment::Name("args".to_owned())] };
    let places = member::places(&args, Some(&steps), false, context);
    let fields = member::merged(places.iter().flat_map(|place| member::fields(place, context)));
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
