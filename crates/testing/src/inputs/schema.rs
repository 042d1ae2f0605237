//! Arguments by the schema that a tool declares: made by its keywords, and given away only where the validator accepts them.

use super::ANY_TOOL;
use super::random::Random;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug, suggest};
use averment_base::limits::{Limits, Meter};
use averment_base::source::Span;
use averment_base::value::json;
use averment_builtins::schema::Schema;
use averment_engine::ir::Module;
use bumpalo::Bump;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

mod keywords;
mod merged;
mod texts;

/// How often something else is tried where the validator refuses it.
const TRIES: u32 = 32;

/// What makes arguments, by tool.
pub(super) struct Makers<'a> {
    module: &'a Module,
    limits: &'a Limits,
    known: BTreeMap<String, Option<Rc<Maker>>>,
}

impl<'a> Makers<'a> {
    pub fn new(module: &'a Module, limits: &'a Limits) -> Self {
        Self { module, limits, known: BTreeMap::new() }
    }

    /// What makes the arguments of a tool; `place` is where the rules ask for it.
    pub fn of(&mut self, tool: &str, place: Span, said: &mut Diagnostics) -> Option<Rc<Maker>> {
        let made = match self.known.get(tool) {
            Some(known) => known.clone(),
            None => {
                let made = self.made(tool).map(Rc::new);
                self.known.insert(tool.to_owned(), made.clone());
                made
            }
        };
        if made.is_none() {
            said.push(self.unknown(tool, place));
        }
        made
    }

    fn made(&self, tool: &str) -> Option<Maker> {
        let declared = self.module.tools.iter().find(|one| one.name == tool)?;
        let json = &self.module.schemas.get(declared.arguments? as usize)?.json;
        let root = serde_json::from_str(json).ok()?;
        Some(Maker { root, validator: Schema::compile(json, self.limits).ok()?, limits: *self.limits })
    }

    fn unknown(&self, tool: &str, place: Span) -> Diagnostic {
        let message = match tool {
            ANY_TOOL => {
                "these inputs come from the schemas of the tools, and which tools there are is not known".to_owned()
            }
            _ => format!("these inputs come from the schema of the tool `{tool}`, which is not known"),
        };
        let near = suggest::nearest(tool, self.module.tools.iter().map(|one| one.name.as_str()));
        let help = match near {
            Some(near) if near != tool => format!("did you mean the tool `{near}`?"),
            _ => "give a catalogue that holds it: `--tools FILE`, or `tools from \"FILE\"` in the rules".to_owned(),
        };
        Diagnostic::new(Slug::UnknownSchema, place, message).help(help)
    }
}

/// What makes the arguments of one tool.
#[derive(Debug)]
pub(super) struct Maker {
    root: Value,
    validator: Schema,
    limits: Limits,
}

impl Maker {
    /// Arguments that the schema allows; with `border` the largest, where it allows those. `None` where none were found.
    pub fn arguments(&self, random: &mut Random, border: bool) -> Option<Map<String, Value>> {
        for number in 0..TRIES {
            let mut making = keywords::Making::new(&self.root, random, border && number == 0);
            let value = making.value(&self.root, 0);
            if let Value::Object(arguments) = value
                && self.accepts(&arguments)
            {
                return Some(arguments);
            }
        }
        None
    }

    pub fn accepts(&self, arguments: &Map<String, Value>) -> bool {
        let Ok(text) = serde_json::to_string(arguments) else { return false };
        let arena = Bump::new();
        let Ok(document) = json::parse(&text, 0, &arena, &self.limits) else { return false };
        let value = &document.node.value;
        let within = self.validator.charge(value, &mut Meter::new(&self.limits)).is_ok();
        within && self.validator.accepts(value)
    }
}
