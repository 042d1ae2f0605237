//! Needs: the conditions under which a program evaluates a value without an error.

use super::plain::is_part_of_run;
use super::program::SuiteProgram;
use super::value::{
    BoundName, JsValue, LocatedValue, RunExpr, RunExprKind, ScopeId, join_needs, negate_condition, open_value,
};
use crate::typescript::tree::{TsExpr, TsExprKind};
use crate::writer::BindingStrength;
use averment_base::source::Span;

/// Returns the needs of all parts of a value; an error says which part is unknown.
pub(super) fn needs_of_parts(item: &LocatedValue) -> Result<Option<String>, String> {
    let all = |mut parts: std::slice::Iter<'_, LocatedValue>| {
        parts.try_fold(None, |needs: Option<String>, part| {
            Ok(join_needs(needs.as_deref(), needs_of_parts(part)?.as_deref()))
        })
    };
    match &item.value {
        JsValue::RunExpr(told) => Ok(told.needs.clone()),
        JsValue::RuntimeOnly(why) => Err(why.clone()),
        JsValue::List(items) => all(items.iter()),
        JsValue::Object(entries) => {
            let parts: Vec<LocatedValue> = entries.iter().map(|(_, part)| part.clone()).collect();
            all(parts.iter())
        }
        _ => Ok(None),
    }
}

/// Returns a value that exists only if other values were evaluated without an error.
pub(super) fn needed_with(value: JsValue, others: &[LocatedValue]) -> JsValue {
    let mut needs = None;
    for other in others {
        match needs_of_parts(other) {
            Ok(own) => needs = join_needs(needs.as_deref(), own.as_deref()),
            Err(why) => return JsValue::RuntimeOnly(why),
        }
    }
    match (value, needs) {
        (value, None) => value,
        (JsValue::RunExpr(told), Some(needs)) if told.needs.as_ref().is_some_and(|own| own.contains(&needs)) => {
            JsValue::RunExpr(told)
        }
        (JsValue::Bool(truth), Some(needs)) => {
            let [holds, fails] = if truth { [needs.as_str(), "false"] } else { ["false", needs.as_str()] };
            let opposite = Some(format!("({fails})"));
            let holds = RunExpr::new(format!("({holds})"), RunExprKind::Truth);
            JsValue::RunExpr(RunExpr { opposite, needs: Some(needs), ..holds })
        }
        (JsValue::RunExpr(told), Some(needs)) if told.kind == RunExprKind::Truth => {
            let opposite = format!("({needs} and {})", negate_condition(&told).nested_text(BindingStrength::And));
            let text = format!("({needs} and {})", told.nested_text(BindingStrength::And));
            let needs = join_needs(Some(&needs), told.needs.as_deref());
            JsValue::RunExpr(RunExpr { needs, opposite: Some(opposite), ..RunExpr::new(text, RunExprKind::Truth) })
        }
        (JsValue::RunExpr(told), Some(needs)) if told.kind == RunExprKind::Text => {
            let text = format!("(if {needs} then {} else null)", told.text);
            let needs = join_needs(Some(&needs), told.needs.as_deref());
            JsValue::RunExpr(RunExpr { needs, lack: told.lack, ..RunExpr::new(text, RunExprKind::Text) })
        }
        _ => open_value("a value of what may throw"),
    }
}

/// Functions that do not change their arguments.
const LOOKS_ON: [&str; 6] =
    ["JSON.stringify", "Object.is", "Object.hasOwn", "Object.fromEntries", "Array.from", "Object.getOwnPropertyNames"];

impl SuiteProgram<'_, '_> {
    /// Returns the result of a function that is not followed; it may change its arguments.
    pub(super) fn given_by_unknown(&mut self, name: &str, arguments: &[LocatedValue], span: Span) -> JsValue {
        const CHANGES: [&str; 6] = [
            "Object.assign",
            "Object.defineProperty",
            "Object.defineProperties",
            "Object.setPrototypeOf",
            "Reflect.set",
            "Reflect.defineProperty",
        ];
        let looks_on = LOOKS_ON.contains(&name) || name.starts_with("console.");
        if CHANGES.contains(&name) || !looks_on && arguments.iter().any(is_part_of_run) {
            self.record_unread(span, &format!("`{name}`, which may change what it is given"));
        }
        JsValue::RuntimeOnly(format!("what `{name}` gives"))
    }

    /// Marks a named value as changed, so that it is unknown from here on.
    pub(super) fn mark_changed(&mut self, part: &TsExpr, span: Span, scope: ScopeId) {
        if let TsExprKind::Name(name) = &part.kind
            && let Some((_, found)) = self.scopes.find_name(scope, name)
        {
            let changed = LocatedValue::new(open_value("a value that changes"), span);
            self.scopes.bind_name(found, name, BoundName::Item(changed));
        }
    }
}
