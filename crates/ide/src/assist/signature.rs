//! The function or step whose parentheses the cursor stands in.

use super::context::CursorContext;
use super::member::{self, Field};
use averment_builtins::table;
use averment_engine::check::DeclarationKind;

/// A signature with the parameter at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The whole signature: `round(value: number, digits?: integer) -> number`.
    pub label: String,
    /// Its parameters as they stand in the label.
    pub parameters: Vec<String>,
    /// The number of the parameter at the cursor; beyond the last one where too many are written.
    pub active: usize,
    /// What it gives, as Markdown.
    pub doc: String,
}

/// The signature at a byte offset: of the innermost call that is open there.
#[must_use]
pub fn signature(text: &str, at: usize, context: &CursorContext) -> Option<Signature> {
    super::cursor::open_calls(text, at).into_iter().find_map(|call| {
        let name = text.get(call.name.clone())?;
        if call.is_step {
            return of_step(name, text.get(call.inside..at)?, call.commas, context);
        }
        of_function(name, call.commas + usize::from(call.is_piped), context)
    })
}

fn of_function(name: &str, active: usize, context: &CursorContext) -> Option<Signature> {
    if let Some(builtin) = table::lookup(name) {
        let label = builtin.signature();
        let inside =
            label.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") ->")).map_or("", |(inside, _)| inside);
        let parameters = inside.split(", ").filter(|one| !one.is_empty()).map(str::to_owned).collect();
        return Some(Signature { parameters, active, doc: builtin.doc.to_owned(), label });
    }
    let one = context.named(name, &[DeclarationKind::Def])?;
    let doc = one.doc.clone().unwrap_or_default();
    let label = one.signature.strip_prefix("def ").unwrap_or(&one.signature).to_owned();
    Some(Signature { label, parameters: one.parameters.clone(), active, doc })
}

/// A step pattern: the parameters of a `def step`, or the arguments of the tool; the one that is named is active.
fn of_step(name: &str, written: &str, commas: usize, context: &CursorContext) -> Option<Signature> {
    if let Some(one) = context.named(name, &[DeclarationKind::DefStep]) {
        let doc = one.doc.clone().unwrap_or_default();
        let label = one.signature.strip_prefix("def step ").unwrap_or(&one.signature).to_owned();
        return Some(Signature { label, parameters: one.parameters.clone(), active: commas, doc });
    }
    let steps = super::cursor::Steps { tools: vec![name.to_owned()], kind: None };
    let args = super::chain::Chain { segments: vec![super::chain::Segment::Name("args".to_owned())] };
    let places = member::places(&args, Some(&steps), false, context);
    let fields = member::merged(places.iter().flat_map(|place| member::fields(place, context)));
    if fields.is_empty() {
        return None;
    }
    let parameters: Vec<String> = fields.iter().map(parameter).collect();
    let entry = written.rsplit(',').next().unwrap_or("").trim();
    let first = entry.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    let active = fields.iter().position(|field| field.name == first).unwrap_or(parameters.len());
    let doc = context.tools.get(name).and_then(|tool| tool.description.clone()).unwrap_or_default();
    Some(Signature { label: format!("{name}({})", parameters.join(", ")), parameters, active, doc })
}

fn parameter(field: &Field) -> String {
    let mark = if field.required { "" } else { "?" };
    if field.ty.is_empty() { format!("{}{mark}", field.name) } else { format!("{}{mark}: {}", field.name, field.ty) }
}
