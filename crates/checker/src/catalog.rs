//! The tool catalogue: `tools from "file"` and `tool NAME {…}`. Where one is declared, tools and arguments are known.

use super::Checker;
use super::described_values::DescribedValue;
use super::reading::DataFile;
use super::scope::NameScope;
use crate::ir::{self, NameTest};
use averment_base::diagnostic::{Diagnostic, Severity, Slug, suggest};
use averment_base::source::{FileId, Span};
use averment_syntax::ast::{self, ItemKind};
use indexmap::IndexMap;
use serde_json::Value;
use std::path::Path;
use std::rc::Rc;

/// The declared tools.
#[derive(Debug, Default)]
pub struct ToolCatalog {
    tools: IndexMap<String, ToolEntry>,
    /// True if a catalog could not be read: an unknown tool may be declared there.
    incomplete: bool,
    /// True while a pattern is lowered that may well match nothing (`never`, `only`, a glob): what is unknown is a warning then.
    pub lenient: bool,
    others: Vec<(String, NameTest)>,
}

#[derive(Debug)]
struct ToolEntry {
    arguments: Option<Rc<Value>>,
    declared: Option<Span>,
}

struct ListedTool {
    name: String,
    schema: Option<Value>,
    about: Option<Value>,
}

impl ToolCatalog {
    /// True when tools are known.
    pub fn is_active(&self) -> bool {
        !self.tools.is_empty()
    }

    /// True when there are tools, or would be if their declaration were right.
    pub fn is_declared(&self) -> bool {
        self.is_active() || self.incomplete
    }

    /// True for a declared tool.
    pub fn is_known(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Adds another name of a tool.
    pub fn add_other_name(&mut self, tool: &str, other: NameTest) {
        self.others.push((tool.to_owned(), other));
    }

    /// All tools with another name that is declared for them.
    pub fn all_other_names(&self) -> &[(String, NameTest)] {
        &self.others
    }

    /// The other names that are declared for a tool.
    pub fn other_names(&self, name: &str) -> Vec<NameTest> {
        self.others.iter().filter(|(tool, _)| tool == name).map(|(_, other)| other.clone()).collect()
    }

    /// Known arguments of all tools that match a glob; `None` if one of them has no schema.
    pub fn arguments_of_glob(&self, glob: &str) -> Option<DescribedValue> {
        if self.tools.is_empty() {
            return None;
        }
        let pattern = regex::Regex::new(&super::regex::of_glob(glob)).ok()?;
        let fitting = self.tools.keys().filter(|name| pattern.is_match(name));
        let all: Option<Vec<DescribedValue>> = fitting.map(|name| self.tool_arguments(name)).collect();
        DescribedValue::any_of(all?)
    }

    /// Known arguments of a tool.
    pub fn tool_arguments(&self, name: &str) -> Option<DescribedValue> {
        let schema = self.tools.get(name)?.arguments.clone()?;
        Some(DescribedValue::new(name, schema))
    }
}

impl<'a> Checker<'a> {
    pub(super) fn read_catalogue(&mut self) {
        let loaded = self.loaded;
        for (file, entry) in loaded.iter().enumerate() {
            for item in &entry.ast.items {
                match &item.kind {
                    ItemKind::ToolsFrom { path } => self.read_tools(file, path),
                    ItemKind::Tool { name, schema } => self.read_tool(file, name, schema),
                    ItemKind::ToolFacts { tools, facts } => self.read_other_names(tools, facts),
                    _ => {}
                }
            }
            self.catalogue.incomplete |= entry.broken && self.has_unread_tools(entry);
        }
    }

    fn has_unread_tools(&self, file: &super::load::LoadedFile) -> bool {
        let read = |item: &&ast::SyntaxItem| {
            matches!(item.kind, ItemKind::Tool { .. } | ItemKind::ToolFacts { .. } | ItemKind::ToolsFrom { .. })
        };
        let begins = |line: &&str| line.starts_with("tool ") || line.starts_with("tools ");
        let source = self.map.get(file.id);
        source.is_some_and(|source| {
            source.text.lines().filter(begins).count() > file.ast.items.iter().filter(read).count()
        })
    }

    fn read_tool(&mut self, file: usize, name: &'a ast::Name, schema: &'a ast::Expr) {
        if let Some(earlier) = self.catalogue.tools.get(&name.text).and_then(|entry| entry.declared) {
            let at = self.place_of(earlier, name.span);
            self.report_diagnostic(
                Diagnostic::new(
                    Slug::Duplicate,
                    name.span,
                    format!("tool `{}` is already declared in {at}", name.text),
                )
                .with_other(earlier, "declared here")
                .with_help("keep one of the declarations"),
            );
            return;
        }
        let value = self.json_literal(file, schema, "a tool's schema").and_then(|value| {
            let entry = self.loaded.get(file)?;
            let (folder, id) = (entry.folder.clone(), entry.id);
            let value = self.bundle_or_report(value, &folder, id, folder.clone(), schema.span)?;
            self.check_schema(&value, schema.span, Some(schema))?;
            Some(value)
        });
        self.add_tool(&name.text, value, None, Some(name.span));
    }

    fn read_tools(&mut self, file: usize, path: &ast::Name) {
        let Some(data) = self.read_named(file, path) else {
            self.catalogue.incomplete = true;
            return;
        };
        let inside = self.schema_root(file, &data.folder);
        self.add_tools(&data, &path.text, path.span, &inside);
    }

    pub(super) fn read_given_tools(&mut self, files: &[FileId]) {
        for &id in files {
            let Some(file) = self.map.get(id) else { continue };
            let name = file.name.clone();
            let folder = file.folder.clone().unwrap_or_default();
            let data = DataFile { id, key: (&name).into(), text: file.text.clone(), folder: folder.clone() };
            self.add_tools(&data, &name, Span::new(id, 0, 0), &folder);
        }
    }

    /// Adds the tools of a catalog. Its references must stay in the folder `inside`.
    fn add_tools(&mut self, data: &DataFile, name: &str, place: Span, inside: &Path) {
        let tools = self.listed_tools(data, name, place);
        self.catalogue.incomplete |= tools.is_none();
        for tool in tools.unwrap_or_default() {
            let schema = tool.schema.map(|schema| {
                let bundled = self.bundle_schema(schema.clone(), &data.folder, data.id, inside.to_path_buf());
                let why = match &bundled {
                    Ok(bundled) => self.tool_schema_error(bundled),
                    Err(why) => Some(why.clone()),
                };
                if let Some(why) = why {
                    self.warn_unusable(&tool.name, &why, place);
                }
                bundled.unwrap_or(schema)
            });
            self.add_tool(&tool.name, schema, tool.about, None);
        }
    }

    /// A schema that cannot be used concerns its tool alone: `args valid` decides nothing of its calls.
    fn warn_unusable(&mut self, tool: &str, why: &str, place: Span) {
        let message = format!("the schema of tool `{tool}` cannot be used: {why}");
        let mut diagnostic = Diagnostic::new(Slug::BadSchema, place, message)
            .with_help("`args valid` is undecided for calls of this tool; correct the schema in the file");
        diagnostic.severity = Severity::Warning;
        self.report_diagnostic(diagnostic);
    }

    fn listed_tools(&mut self, data: &DataFile, name: &str, place: Span) -> Option<Vec<ListedTool>> {
        let value = self.parse_json(data, name, place)?;
        let tools = parse_tool_list(&value);
        if tools.is_none() {
            self
                .report_diagnostic(Diagnostic::new(Slug::BadSchema, place, format!("the file `{name}` is no list of tools")).with_help(
                "it is an answer to MCP `tools/list`, a list of OpenAI tools, or an object from names to JSON Schemas",
            ));
        }
        tools
    }

    fn tool_schema_error(&self, schema: &Value) -> Option<String> {
        averment_builtins::schema::CompiledSchema::compile(&schema.to_string(), &self.options.limits).err()
    }

    fn add_tool(&mut self, name: &str, schema: Option<Value>, about: Option<Value>, declared: Option<Span>) {
        let arguments = schema.as_ref().map(|schema| self.add_schema(name, schema, None));
        let tool =
            ir::CatalogTool { name: name.to_owned(), arguments, annotations: about.map(|about| about.to_string()) };
        // Of two declarations of one tool the later counts, as in a catalogue that is put together from files.
        let known = self.catalogue.tools.get_index_of(name);
        match known.and_then(|place| self.module.tools.get_mut(place)).filter(|known| known.name == name) {
            Some(known) => *known = tool,
            None => self.module.tools.push(tool),
        }
        self.catalogue.tools.insert(name.to_owned(), ToolEntry { arguments: schema.map(Rc::new), declared });
    }

    /// Reports a tool that is not declared, if any tools are.
    pub(super) fn check_tool(&mut self, scope: &NameScope<'a>, name: &str, place: Span) {
        if let Some(declared) = self.catalogue.tools.get(name).and_then(|entry| entry.declared) {
            self.symbols.add_reference(place, declared);
        }
        if !self.catalogue.is_active() || self.catalogue.tools.contains_key(name) || self.catalogue.incomplete {
            return;
        }
        let steps: Vec<String> = self.step_names(scope.file);
        let near = suggest::suggest_name(
            name,
            self.catalogue.tools.keys().map(String::as_str).chain(steps.iter().map(String::as_str)),
        );
        let message = format!("the catalogue has no tool `{name}`");
        let slug = if self.catalogue.lenient { Slug::UnlistedTool } else { Slug::UnknownTool };
        let mut diagnostic = Diagnostic::new(slug, place, message);
        diagnostic = match near {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                place,
                near,
            ),
            None => diagnostic.with_help(format!("declare it: `tool {} {{ type: \"object\" }}`", quoted_name(name))),
        };
        self.report_diagnostic(diagnostic);
    }

    pub(super) fn check_tool_glob(&mut self, glob: &str, place: Span) {
        if !self.catalogue.is_active() || self.catalogue.incomplete {
            return;
        }
        let Ok(pattern) = regex::Regex::new(&super::regex::of_glob(glob)) else { return };
        if !self.catalogue.tools.keys().any(|name| pattern.is_match(name)) {
            let mut diagnostic =
                Diagnostic::new(Slug::UnlistedTool, place, format!("no tool of the catalogue fits `{glob}`"));
            diagnostic.severity = Severity::Warning;
            self.report_diagnostic(
                diagnostic.with_help(
                    "the tools are known from `tools from` and `tool`; correct the glob or declare the tool",
                ),
            );
        }
    }
}

fn quoted_name(name: &str) -> String {
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./".contains(letter));
    if plain { name.to_owned() } else { format!("\"{name}\"") }
}

fn parse_tool_list(value: &Value) -> Option<Vec<ListedTool>> {
    match value {
        Value::Array(all) => all.iter().map(listed_tool).collect(),
        Value::Object(entries) => {
            let inner = value.get("tools").or_else(|| value.get("result")?.get("tools"));
            match inner {
                Some(Value::Array(all)) => all.iter().map(listed_tool).collect(),
                _ => entries.iter().map(|(name, schema)| named_tool(name, schema)).collect(),
            }
        }
        _ => None,
    }
}

fn named_tool(name: &str, value: &Value) -> Option<ListedTool> {
    let schema = schema_of(value);
    let bare = schema.is_none() && (value.is_object() || value.is_boolean());
    if !bare && schema.is_none() {
        return None;
    }
    let about = schema.is_some().then(|| tool_details(value)).flatten();
    Some(ListedTool { name: name.to_owned(), schema: Some(schema.unwrap_or(value).clone()), about })
}

/// An entry of a list, in the format of MCP, OpenAI (both forms) or Anthropic.
fn listed_tool(value: &Value) -> Option<ListedTool> {
    let inner = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let name = inner.get("name")?.as_str()?.to_owned();
    Some(ListedTool { name, schema: schema_of(inner).cloned(), about: tool_details(inner) })
}

/// The schema of the arguments. A property `parameters` inside a bare schema does not count.
fn schema_of(value: &Value) -> Option<&Value> {
    ["inputSchema", "input_schema", "parameters"]
        .into_iter()
        .find_map(|key| value.get(key))
        .filter(|found| found.is_object())
}

fn tool_details(value: &Value) -> Option<Value> {
    let entries = value
        .as_object()?
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "inputSchema" | "input_schema" | "parameters" | "outputSchema"));
    let about: serde_json::Map<String, Value> = entries.map(|(key, value)| (key.clone(), value.clone())).collect();
    (!about.is_empty()).then_some(Value::Object(about))
}
