//! JSON Schemas: inline or from a file, found good before any run, each with everything that it refers to.

use super::expr::CheckedExpr;
use super::scope::NameScope;
use super::{Checker, fold, keywords};
use crate::ir;
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_builtins::schema::{CompiledSchema, FORMATS, check_meta_schema};
use averment_syntax::ast::{self, ExprKind, ItemKind};
use serde_json::Value;

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// Which schemas were imported: by file and name, from which file.
#[derive(Debug, Default)]
pub struct SchemaImports {
    imports: Vec<(usize, String, usize)>,
}

impl SchemaImports {
    /// Notes that a file imports a schema from another.
    pub fn add_import(&mut self, file: usize, name: &str, target: usize) {
        self.imports.push((file, name.to_owned(), target));
    }
}

impl<'a> Checker<'a> {
    pub(super) fn read_schemas(&mut self) {
        let loaded = self.loaded;
        for (file, entry) in loaded.iter().enumerate() {
            for item in &entry.ast.items {
                let ItemKind::Schema { name, source } = &item.kind else { continue };
                let declared =
                    self.scopes.get(file).and_then(|scope| scope.schemas.get(&name.text)).map(|(_, place)| *place);
                if declared != Some(name.span) {
                    continue;
                }
                let number = self.read_schema(file, name, source);
                if let Some(entry) = self.scopes.get_mut(file).and_then(|scope| scope.schemas.get_mut(&name.text)) {
                    entry.0 = number;
                }
            }
        }
        for (file, name, target) in std::mem::take(&mut self.schemas.imports) {
            let number =
                self.scopes.get(target).and_then(|scope| scope.schemas.get(&name)).and_then(|(number, _)| *number);
            if let Some(entry) = self.scopes.get_mut(file).and_then(|scope| scope.schemas.get_mut(&name)) {
                entry.0 = number;
            }
        }
    }

    fn read_schema(&mut self, file: usize, name: &'a ast::Name, source: &'a ast::SchemaSource) -> Option<u32> {
        match source {
            ast::SchemaSource::Inline(expr) => {
                let value = self.json_literal(file, expr, "a schema")?;
                let entry = self.loaded.get(file)?;
                let (folder, id) = (entry.folder.clone(), entry.id);
                let value = self.bundle_or_report(value, &folder, id, folder.clone(), expr.span)?;
                self.check_schema(&value, expr.span, Some(expr))?;
                Some(self.add_schema(&name.text, &value, Some(expr.span)))
            }
            ast::SchemaSource::File(path) => {
                let data = self.read_named(file, path)?;
                let value = self.parse_json(&data, &path.text, path.span)?;
                let inside = self.schema_root(file, &data.folder);
                let value = self.bundle_or_report(value, &data.folder, data.id, inside, path.span)?;
                self.check_schema(&value, path.span, None)?;
                let whole = Span::new(data.id, 0, data.text.len());
                Some(self.add_schema(&name.text, &value, Some(whole)))
            }
        }
    }

    pub(super) fn bundle_or_report(
        &mut self,
        value: Value,
        folder: &std::path::Path,
        file: averment_base::source::FileId,
        inside: std::path::PathBuf,
        place: Span,
    ) -> Option<Value> {
        match self.bundle_schema(value, folder, file, inside) {
            Ok(value) => Some(value),
            Err(why) => {
                self.report_diagnostic(
                    Diagnostic::new(Slug::BadSchema, place, why)
                        .with_help("a reference is `#/…` in the same schema, or a file in the folder of the rules"),
                );
                None
            }
        }
    }

    pub(super) fn add_schema(&mut self, name: &str, value: &Value, place: Option<Span>) -> u32 {
        self.module.schemas.push(ir::ProgramSchema { name: name.to_owned(), json: value.to_string(), place });
        super::to_number(self.module.schemas.len().saturating_sub(1))
    }

    pub(super) fn json_literal(&mut self, file: usize, expr: &'a ast::Expr, what: &str) -> Option<Value> {
        let value: CheckedExpr = self.top_expr(&NameScope::of_file(file), expr);
        if value.is_broken() {
            return None;
        }
        match self.constant_value(&value.expr) {
            Some(constant) => Some(fold::json_of(&constant)),
            None => {
                self.report_diagnostic(
                    Diagnostic::new(Slug::BadSchema, expr.span, format!("{what} holds only literals"))
                        .with_help("write numbers, texts, lists and objects, without names of the run"),
                );
                None
            }
        }
    }

    /// Reports an invalid schema, at the invalid part if it is written inline.
    pub(super) fn check_schema(&mut self, value: &Value, place: Span, inline: Option<&ast::Expr>) -> Option<()> {
        if let Err(error) = meta_error(value) {
            let (pointer, message) = error;
            let at = inline.and_then(|expr| span_at(expr, &pointer)).unwrap_or(place);
            let wrong = value.pointer(&pointer);
            let (message, help) = explain_violation(&pointer, wrong, &message);
            self.report_diagnostic(Diagnostic::new(Slug::BadSchema, at, message).with_help(help));
            return None;
        }
        if let Err(why) = CompiledSchema::compile(&value.to_string(), &self.options.limits) {
            self.report_diagnostic(
                Diagnostic::new(Slug::BadSchema, place, format!("the schema cannot be used: {why}")).with_help(
                    "correct the schema; references lead to `#/…` inside it or to files in the folder of the rules",
                ),
            );
            return None;
        }
        self.check_keywords(value, place, inline);
        Some(())
    }

    /// Warns about keys that JSON Schema ignores because it does not know them.
    fn check_keywords(&mut self, value: &Value, place: Span, inline: Option<&ast::Expr>) {
        // Another dialect has keywords of its own.
        if value.get("$schema").and_then(Value::as_str).is_some_and(|dialect| !dialect.contains("json-schema.org/")) {
            return;
        }
        for (pointer, format) in keywords::unknown_formats(value, &FORMATS) {
            let at = inline.and_then(|expr| span_at(expr, &pointer)).unwrap_or(place);
            let message = format!("the format `{format}` is not known and asks for nothing");
            let help = match suggest::suggest_name(&format, FORMATS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "say what a text looks like with `pattern`".to_owned(),
            };
            self.report_diagnostic(Diagnostic::new(Slug::UnknownKeyword, at, message).with_help(help));
        }
        for (pointer, key) in keywords::unknown_keywords(value) {
            let at = inline.and_then(|expr| span_at(expr, &pointer)).unwrap_or(place);
            let message = format!("JSON Schema does not know `{key}` and passes it over");
            let help = match suggest::suggest_name(&key, keywords::KNOWN.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("remove it, or write `x-{key}` for a key of your own"),
            };
            self.report_diagnostic(Diagnostic::new(Slug::UnknownKeyword, at, message).with_help(help));
        }
    }

    /// `None` for an unknown (reported) or invalid name (reported at its declaration).
    pub(super) fn schema_named(&mut self, file: usize, name: &ast::Name) -> Option<u32> {
        let scope = self.scopes.get(file)?;
        if let Some((number, declared)) = scope.schemas.get(&name.text).copied() {
            self.symbols.add_reference(name.span, declared);
            return number;
        }
        if scope.incomplete {
            return None;
        }
        let names: Vec<String> = scope.schemas.keys().cloned().collect();
        let near = suggest::suggest_name(
            &name.text,
            names
                .iter()
                .map(String::as_str)
                .chain(["string", "number", "integer", "boolean", "list", "object", "null"]),
        );
        let mut diagnostic = Diagnostic::new(Slug::UnknownSchema, name.span, format!("unknown schema `{}`", name.text));
        diagnostic = match near {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                name.span,
                near,
            ),
            None => diagnostic.with_help(format!("declare it: `schema {} = {{ type: \"object\" }}`", name.text)),
        };
        self.report_diagnostic(diagnostic);
        None
    }
}

fn meta_error(value: &Value) -> Result<(), (String, String)> {
    match value.get("$schema").and_then(Value::as_str) {
        Some(dialect) if !dialect.contains("json-schema.org/") => Ok(()),
        _ => check_meta_schema(value).map_err(|error| (error.instance_path().to_string(), error.to_string())),
    }
}

fn explain_violation(pointer: &str, wrong: Option<&Value>, message: &str) -> (String, String) {
    if let (true, Some(Value::String(word))) = (pointer.ends_with("/type"), wrong) {
        let help = match suggest::suggest_name(word, TYPES) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the types of JSON Schema are {}", TYPES.join(", ")),
        };
        return (format!("JSON Schema has no type `{word}`"), help);
    }
    let place = if pointer.is_empty() { "the schema".to_owned() } else { format!("`{pointer}`") };
    (
        format!("{place} does not fit JSON Schema: {message}"),
        "see json-schema.org for the value of this keyword".to_owned(),
    )
}

fn span_at(expr: &ast::Expr, pointer: &str) -> Option<Span> {
    let mut here = expr;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        here = match &here.kind {
            ExprKind::Object(entries) => &entries.iter().find(|(name, _)| name.text == part)?.1,
            ExprKind::List(elements) => elements.get(part.parse::<usize>().ok()?)?,
            ExprKind::Group(inner) => inner,
            _ => return Some(here.span),
        };
    }
    Some(here.span)
}
