//! The context of a cursor in addition to the text: declared names, the tool catalog, a recorded run.

use super::skeleton::ValueSkeleton;
use averment_base::source::{FileId, SourceMap, Span};
use averment_builtins::table::type_word;
use averment_checker::ir::{CheckedModule, NameTest, ToolClaim, ToolFact, Type, TypedExpr};
use averment_checker::{CheckResult, Declaration, DeclarationKind};
use averment_runs::run::{Run, StepKind};
use averment_syntax::ast::ItemKind;
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum steps of a run that are read.
const STEPS: usize = 20_000;
/// Maximum names of one kind of step.
const NAMES: usize = 200;

/// The context of a cursor in addition to the text.
#[derive(Debug, Clone, Default)]
pub struct CursorContext {
    /// Declared names visible in the file: its own first, then imported ones.
    pub names: Vec<DeclaredName>,
    /// The tools of the catalog.
    pub tools: BTreeMap<String, DeclaredTool>,
    /// Names and values of a recorded run.
    pub run: Option<RunShape>,
}

/// A declared name.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredName {
    /// The name.
    pub name: String,
    /// The kind of declaration.
    pub kind: DeclarationKind,
    /// The declaration as written: `def paid(amount)`, `param limit: number = 100`, `let total: number`.
    pub signature: String,
    /// The names of its parameters; bindings with their `$`.
    pub parameters: Vec<String>,
    /// The doc comment above it.
    pub doc: Option<String>,
    /// The name of the file that declares it; `None` for this one.
    pub file: Option<String>,
}

/// A declared tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeclaredTool {
    /// The JSON Schema of its arguments.
    pub arguments: Option<Value>,
    /// The description from the catalog.
    pub description: Option<String>,
}

/// Names and values of a recorded run.
#[derive(Debug, Clone, Default)]
pub struct RunShape {
    /// Its name.
    pub name: String,
    /// The run, under the names of its entries.
    pub root: ValueSkeleton,
    /// Its tools by name, with the number of calls, their arguments and results.
    pub tools: BTreeMap<String, ToolShape>,
    /// Names of other steps by kind: commands, paths, skills, URLs, spans.
    pub steps: BTreeMap<StepKind, Vec<String>>,
}

/// The calls of one tool.
#[derive(Debug, Clone, Default)]
pub struct ToolShape {
    /// The number of steps.
    pub count: usize,
    /// Their arguments.
    pub args: ValueSkeleton,
    /// Their results.
    pub result: ValueSkeleton,
}

impl RunShape {
    /// Collects the names and values of a run.
    #[must_use]
    pub fn from_run(run: &Run<'_>) -> Self {
        let mut recorded = Self { name: run.source.run_name(), ..Self::default() };
        for entry in run.object.entries() {
            recorded.root.fields.entry(entry.key.to_owned()).or_default().add_value(&entry.node.value);
        }
        for step in run.steps.iter().take(STEPS) {
            if step.kind == StepKind::Call {
                let known = recorded.tools.len();
                if known < NAMES || recorded.tools.contains_key(step.name) {
                    let called = recorded.tools.entry(step.name.to_owned()).or_default();
                    called.count = called.count.saturating_add(1);
                    let value = |key: &str| step.object.get(key);
                    value("args").iter().for_each(|node| called.args.add_value(&node.value));
                    value("result").iter().for_each(|node| called.result.add_value(&node.value));
                }
                continue;
            }
            let names = recorded.steps.entry(step.kind).or_default();
            if names.len() < NAMES && !names.iter().any(|name| name == step.name) {
                names.push(step.name.to_owned());
            }
        }
        recorded
    }
}

impl CursorContext {
    /// Collects the results of checking the file `root`.
    #[must_use]
    pub fn from_checked(checked: &CheckResult, sources: &SourceMap, root: FileId) -> Self {
        let module = &checked.module;
        let seen = VisibleNames::from_checked(checked, root);
        let names = checked.symbols.declarations.iter();
        let mut names: Vec<DeclaredName> =
            names.filter(|one| seen.is_visible(one)).map(|one| declared_name(one, module, sources, root)).collect();
        names.sort_by_key(|one| one.file.is_some());
        let tools = module.tools.iter().map(|tool| (tool.name.clone(), declared_tool(tool, module)));
        let mut tools: BTreeMap<String, DeclaredTool> = tools.collect();
        module.tool_facts.iter().for_each(|fact| add_fact(&mut tools, fact));
        Self { names, tools, run: None }
    }

    /// Adds a recorded run.
    #[must_use]
    pub fn with_run(self, run: &Run<'_>) -> Self {
        Self { run: Some(RunShape::from_run(run)), ..self }
    }

    /// Returns the declaration of a name.
    #[must_use]
    pub fn find_name(&self, name: &str, kinds: &[DeclarationKind]) -> Option<&DeclaredName> {
        self.names.iter().find(|one| one.name == name && kinds.contains(&one.kind))
    }

    /// Returns the names of all known tools, declared or recorded.
    pub fn tool_names(&self) -> Vec<&str> {
        let recorded = self.run.iter().flat_map(|run| run.tools.keys());
        let mut names: Vec<&str> = self.tools.keys().chain(recorded).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn declared_tool(tool: &averment_checker::ir::CatalogTool, module: &CheckedModule) -> DeclaredTool {
    let schema = tool.arguments.and_then(|number| module.schemas.get(number as usize));
    let about: Option<Value> = tool.annotations.as_ref().and_then(|text| serde_json::from_str(text).ok());
    DeclaredTool {
        arguments: schema.and_then(|schema| serde_json::from_str(&schema.json).ok()),
        description: about.and_then(|about| Some(about.get("description")?.as_str()?.to_owned())),
    }
}

fn add_fact(tools: &mut BTreeMap<String, DeclaredTool>, fact: &ToolFact<TypedExpr>) {
    let said = match &fact.says {
        ToolClaim::Fails(_) => "Rules say when a call of it failed.".to_owned(),
        ToolClaim::Tagged(tags) => format!("Tagged `{}`.", tags.join("`, `")),
        ToolClaim::Named(name) => {
            tools.entry(name.clone()).or_default();
            format!("Another name of `{name}`.")
        }
    };
    for name in fact.tools.iter().filter_map(|test| if let NameTest::Exactly(name) = test { Some(name) } else { None })
    {
        let tool = tools.entry(name.clone()).or_default();
        let before = tool.description.take().map_or_else(String::new, |before| before + "\n\n");
        tool.description = Some(before + &said);
    }
}

struct VisibleNames {
    root: FileId,
    /// Imported files, each with the selected names; `None` for all.
    imports: Vec<(FileId, Option<Vec<String>>)>,
}

impl VisibleNames {
    fn from_checked(checked: &CheckResult, root: FileId) -> Self {
        let uses = checked.ast.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Use(import) => Some(import),
            _ => None,
        });
        let imports = uses.zip(&checked.imports).filter_map(|(import, file)| {
            let names = import.names.as_ref();
            Some(((*file)?, names.map(|names| names.iter().map(|name| name.text.clone()).collect())))
        });
        Self { root, imports: imports.collect() }
    }

    fn is_visible(&self, one: &Declaration) -> bool {
        if one.span.file == self.root {
            return true;
        }
        let importable = matches!(
            one.kind,
            DeclarationKind::Param
                | DeclarationKind::Let
                | DeclarationKind::Def
                | DeclarationKind::DefStep
                | DeclarationKind::Schema
        );
        let chosen = |(file, chosen): &(FileId, Option<Vec<String>>)| {
            *file == one.span.file && chosen.as_ref().is_none_or(|all| all.contains(&one.name))
        };
        importable && self.imports.iter().any(chosen)
    }
}

fn declared_name(one: &Declaration, module: &CheckedModule, sources: &SourceMap, root: FileId) -> DeclaredName {
    let parameters = match one.kind {
        DeclarationKind::Def | DeclarationKind::DefStep => parameter_names(one.span, sources),
        _ => Vec::new(),
    };
    DeclaredName {
        name: one.name.clone(),
        kind: one.kind,
        signature: declaration_signature(one, module, &parameters),
        parameters,
        doc: one.doc.clone(),
        file: (one.span.file != root).then(|| sources.file_name(one.span).to_owned()),
    }
}

fn parameter_names(name: Span, sources: &SourceMap) -> Vec<String> {
    let text = sources.get(name.file).and_then(|file| file.text.get(name.end as usize..)).unwrap_or("");
    let Some(inside) = text.trim_start().strip_prefix('(').and_then(|rest| rest.split(')').next()) else {
        return Vec::new();
    };
    inside.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
}

fn declaration_signature(one: &Declaration, module: &CheckedModule, parameters: &[String]) -> String {
    let name = &one.name;
    let listed = parameters.join(", ");
    match one.kind {
        DeclarationKind::Param => {
            let known = module.params.iter().find(|param| param.span == one.span);
            let ty = known.map_or("any", |param| type_word(param.ty));
            let default = known.and_then(|param| param.default.as_ref());
            format!(
                "param {name}: {ty}{}",
                default.map_or(String::new(), |value| format!(" = {}", constant_text(value)))
            )
        }
        DeclarationKind::Let => {
            let ty = module.lets.iter().find(|known| known.name == *name && known.value.span.file == one.span.file);
            format!("let {name}{}", type_suffix(ty.map(|known| known.value.ty)))
        }
        DeclarationKind::Def => {
            let ty = module.defs.iter().find(|known| known.name == *name && known.body.span.file == one.span.file);
            format!("def {name}({listed}){}", type_suffix(ty.map(|known| known.body.ty)))
        }
        DeclarationKind::DefStep if parameters.is_empty() => format!("def step {name}"),
        DeclarationKind::DefStep => format!("def step {name}({listed})"),
        DeclarationKind::Schema => format!("schema {name}"),
        DeclarationKind::Tool => format!("tool {name}"),
        DeclarationKind::Rule => format!("rule {name}"),
        DeclarationKind::Case => format!("case {name}"),
        DeclarationKind::Invariant => format!("invariant {name}"),
    }
}

fn type_suffix(ty: Option<Type>) -> String {
    match ty {
        None | Some(Type::Any) => String::new(),
        Some(ty) => format!(": {}", type_word(ty)),
    }
}

fn constant_text(value: &averment_checker::ir::Constant) -> String {
    use averment_checker::ir::Constant;
    match value {
        Constant::Null => "null".to_owned(),
        Constant::Boolean(is) => is.to_string(),
        Constant::Text(text) => format!("\"{text}\""),
        Constant::Number(number) => number.to_string(),
        _ => "…".to_owned(),
    }
}
