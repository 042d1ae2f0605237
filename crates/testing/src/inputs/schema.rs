//! Generates arguments from the schema that a tool declares. They are built from its keywords and used only if the validator accepts them.

use super::ANY_TOOL;
use super::random::CaseRandom;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug, suggest};
use averment_base::limits::{FuelMeter, Limits};
use averment_base::source::Span;
use averment_base::value::json;
use averment_builtins::schema::CompiledSchema;
use averment_checker::ir::CheckedModule;
use bumpalo::Bump;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

mod keywords;
mod schema_merge;
mod texts;

/// Maximum number of attempts if the validator rejects a value.
const TRIES: u32 = 32;

pub(super) struct ArgumentMakers<'a> {
    module: &'a CheckedModule,
    limits: &'a Limits,
    known: BTreeMap<String, Option<Rc<ArgumentMaker>>>,
}

impl<'a> ArgumentMakers<'a> {
    pub fn new(module: &'a CheckedModule, limits: &'a Limits) -> Self {
        Self { module, limits, known: BTreeMap::new() }
    }

    /// Returns the generator for a tool's arguments; `place` is the location of the request in the rules.
    pub fn tool_maker(&mut self, tool: &str, place: Span, said: &mut Diagnostics) -> Option<Rc<ArgumentMaker>> {
        let made = match self.known.get(tool) {
            Some(known) => known.clone(),
            None => {
                let made = self.new_maker(tool).map(Rc::new);
                self.known.insert(tool.to_owned(), made.clone());
                made
            }
        };
        if made.is_none() {
            said.push(self.unknown_schema(tool, place));
        }
        made
    }

    fn new_maker(&self, tool: &str) -> Option<ArgumentMaker> {
        let declared = self.module.tools.iter().find(|one| one.name == tool)?;
        let json = &self.module.schemas.get(declared.arguments? as usize)?.json;
        let root = serde_json::from_str(json).ok()?;
        Some(ArgumentMaker { root, validator: CompiledSchema::compile(json, self.limits).ok()?, limits: *self.limits })
    }

    fn unknown_schema(&self, tool: &str, place: Span) -> Diagnostic {
        let message = match tool {
            ANY_TOOL => {
                "these inputs come from the schemas of the tools, and which tools there are is not known".to_owned()
            }
            _ => format!("these inputs come from the schema of the tool `{tool}`, which is not known"),
        };
        let near = suggest::suggest_name(tool, self.module.tools.iter().map(|one| one.name.as_str()));
        let help = match near {
            Some(near) if near != tool => format!("did you mean the tool `{near}`?"),
            _ => "give a catalogue that holds it: `--tools FILE`, or `tools from \"FILE\"` in the rules".to_owned(),
        };
        Diagnostic::new(Slug::UnknownSchema, place, message).with_help(help)
    }
}

#[derive(Debug)]
pub(super) struct ArgumentMaker {
    root: Value,
    validator: CompiledSchema,
    limits: Limits,
}

impl ArgumentMaker {
    /// Returns arguments that the schema allows; with `border`, the largest ones if the validator accepts them. Returns `None` if none were found.
    pub fn make_arguments(&self, random: &mut CaseRandom, border: bool) -> Option<Map<String, Value>> {
        for number in 0..TRIES {
            let mut making = keywords::ValueMaker::new(&self.root, random, border && number == 0);
            let value = making.make_value(&self.root, 0);
            if let Value::Object(arguments) = value
                && self.accepts_arguments(&arguments)
            {
                return Some(arguments);
            }
        }
        None
    }

    pub fn accepts_arguments(&self, arguments: &Map<String, Value>) -> bool {
        let Ok(text) = serde_json::to_string(arguments) else { return false };
        let arena = Bump::new();
        let Ok(document) = json::parse(&text, 0, &arena, &self.limits) else { return false };
        let value = &document.node.value;
        let within = self.validator.charge_check(value, &mut FuelMeter::new(&self.limits)).is_ok();
        within && self.validator.accepts(value)
    }
}
