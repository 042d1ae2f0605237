//! The signature of the function or step whose parentheses contain the cursor.

use super::context::CursorContext;
use super::member::{self, KnownField};
use averment_builtins::table;
use averment_checker::DeclarationKind;

/// A signature with the parameter at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The whole signature: `round(value: number, digits?: integer) -> number`.
    pub label: String,
    /// Its parameters as they appear in the label.
    pub parameters: Vec<String>,
    /// The index of the parameter at the cursor; beyond the last one if there are too many arguments.
    pub active: usize,
    /// The result, as Markdown.
    pub doc: String,
}

/// Returns the signature of the innermost open call at a byte offset.
#[must_use]
pub fn signature_at(text: &str, at: usize, context: &CursorContext) -> Option<Signature> {
    super::cursor::open_calls(text, at).into_iter().find_map(|call| {
        let name = text.get(call.name.clone())?;
        if call.is_step {
            return step_signature(name, text.get(call.inside..at)?, call.commas, context);
        }
        function_signature(name, call.commas + usize::from(call.is_piped), context)
    })
}

fn function_signature(name: &str, active: usize, context: &CursorContext) -> Option<Signature> {
    if let Some(builtin) = table::find_builtin(name) {
        let label = builtin.signature();
        let inside =
            label.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") ->")).map_or("", |(inside, _)| inside);
        let parameters = inside.split(", ").filter(|one| !one.is_empty()).map(str::to_owned).collect();
        return Some(Signature { parameters, active, doc: builtin.doc.to_owned(), label });
    }
    let one = context.find_name(name, &[DeclarationKind::Def])?;
    let doc = one.doc.clone().unwrap_or_default();
    let label = one.signature.strip_prefix("def ").unwrap_or(&one.signature).to_owned();
    Some(Signature { label, parameters: one.parameters.clone(), active, doc })
}

/// Returns the signature of a step pattern: the parameters of its `def step`, or the arguments of the tool; the named one is active.
fn step_signature(name: &str, written: &str, commas: usize, context: &CursorContext) -> Option<Signature> {
    if let Some(one) = context.find_name(name, &[DeclarationKind::DefStep]) {
        let doc = one.doc.clone().unwrap_or_default();
        let label = one.signature.strip_prefix("def step ").unwrap_or(&one.signature).to_owned();
        return Some(Signature { label, parameters: one.parameters.clone(), active: commas, doc });
    }
    let steps = super::cursor::StepScope { tools: vec![name.to_owned()], kind: None };
    let args = super::chain::PathPrefix { segments: vec![super::chain::PrefixPart::Name("args".to_owned())] };
    let places = member::resolve_path(&args, Some(&steps), false, context);
    let fields = member::merge_fields(places.iter().flat_map(|place| member::target_fields(place, context)));
    if fields.is_empty() {
        return None;
    }
    let parameters: Vec<String> = fields.iter().map(parameter_label).collect();
    let entry = written.rsplit(',').next().unwrap_or("").trim();
    let first = entry.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    let active = fields.iter().position(|field| field.name == first).unwrap_or(parameters.len());
    let doc = context.tools.get(name).and_then(|tool| tool.description.clone()).unwrap_or_default();
    Some(Signature { label: format!("{name}({})", parameters.join(", ")), parameters, active, doc })
}

fn parameter_label(field: &KnownField) -> String {
    let mark = if field.required { "" } else { "?" };
    if field.ty.is_empty() { format!("{}{mark}", field.name) } else { format!("{}{mark}: {}", field.name, field.ty) }
}
