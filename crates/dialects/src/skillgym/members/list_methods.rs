//! Methods on lists of a run.

use super::member_tables::element_field;
use super::*;
use crate::skillgym::plain::whole_number;

/// Returns a list of texts from a list whose elements are texts in SkillGym but objects here.
pub(in crate::skillgym) fn text_list(told: &RunExpr) -> RunExpr {
    match element_field(told.kind) {
        "" => told.clone(),
        field => {
            let list = told.nested_text(BindingStrength::Closely);
            RunExpr::new(format!("{list}[*].{field}"), RunExprKind::Texts)
        }
    }
}

fn joined_path(element: &str, field: &str) -> String {
    if field.is_empty() || element.is_empty() { format!("{element}{field}") } else { format!("{element}.{field}") }
}

/// True if a condition may read the run. Inside a `where` filter, the names of run fields would be taken for fields of the element.
fn reads_run(text: &str) -> bool {
    const OF_RUN: [&str; 9] = ["output", "prompt", "duration", "skills", "usage", "meta", "commands", "calls", "reads"];
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.into_iter().any(|word| OF_RUN.contains(&word))
}

/// Returns the needs of the elements that a program looks at before it stops at one of them.
fn needed_until(element: &str, list: &str, needs: &str) -> String {
    format!("(all {element} in {list}: {needs} or undecided(\"the program may end before it looks at each element\"))")
}

impl SuiteProgram<'_, '_> {
    pub(in crate::skillgym) fn list_element(&mut self, told: &RunExpr, place: i64) -> JsValue {
        let Some(kind) = element_of(told.kind) else { return open_value("an element of what is no list") };
        let list = told.nested_text(BindingStrength::Closely);
        // After `[*]`, an index would apply to each element.
        let path = match list.matches("[*]").count() {
            _ if list.ends_with(')') && !list.starts_with("(if ") => format!("{list}[{place}]"),
            0 => format!("{list}[{place}]"),
            1 if !list.ends_with(')') => list.replace("[*]", &format!("[{place}]")),
            _ => return open_value("an element of a list that is made of others"),
        };
        let path = joined_path(&path, element_field(told.kind));
        JsValue::RunExpr(RunExpr { lack: Lack::Element, needs: told.needed_parts(), ..RunExpr::new(path, kind) })
    }

    /// Returns an element bound to a name, as the program sees it.
    pub(in crate::skillgym) fn named_element(&self, told: &RunExpr, name: &str) -> Option<LocatedValue> {
        let kind = element_of(told.kind)?;
        let element = RunExpr::new(joined_path(name, element_field(told.kind)), kind);
        Some(LocatedValue::new(JsValue::RunExpr(element), Span::default()))
    }

    /// Evaluates a method of a list; returns `None` if it is a method of another type.
    pub(super) fn run_list_method(
        &mut self,
        told: &RunExpr,
        name: &str,
        arguments: &[LocatedValue],
    ) -> Option<JsValue> {
        let list = told.nested_text(BindingStrength::Closely);
        // A method that texts also have is checked later.
        let is_of_text = ["includes", "toString", "at", "slice", "concat", "indexOf", "lastIndexOf"].contains(&name);
        let needs = if is_of_text { told.needed_parts() } else { told.needed_type(&["list"]) };
        let texts = RunExpr { needs: needs.clone(), ..text_list(told) };
        let is_texts = texts.kind == RunExprKind::Texts;
        Some(match (name, arguments) {
            ("includes", [part]) if is_texts => self.contains_part(&texts, part),
            ("at", [place]) => match place.as_number().and_then(whole_number) {
                Some(place) => self.list_element(told, place),
                None => open_value("an element that only a running program shows"),
            },
            ("join", _) | ("toString", []) if is_texts || name == "join" => {
                let separator = arguments.first().map_or(Some(","), LocatedValue::as_text);
                let joined = |separator| format!("join({}, {})", texts.text, quote_text(separator));
                separator.map_or_else(
                    || open_value("a text"),
                    |separator| {
                        JsValue::RunExpr(RunExpr { needs, ..RunExpr::new(joined(separator), RunExprKind::Text) })
                    },
                )
            }
            ("reverse" | "toReversed", []) if is_texts => JsValue::RunExpr(RunExpr {
                needs,
                ..RunExpr::new(format!("reverse({})", texts.text), RunExprKind::Texts)
            }),
            ("sort" | "toSorted", []) if is_texts => {
                JsValue::RunExpr(RunExpr { needs, ..RunExpr::new(format!("sort({})", texts.text), RunExprKind::Texts) })
            }
            ("slice", []) => JsValue::RunExpr(told.clone()),
            ("map", [LocatedValue { value: JsValue::Function(function, scope), .. }]) => {
                self.map_elements(told, function, *scope)
            }
            ("some" | "every", [LocatedValue { value: JsValue::Function(function, scope), .. }]) => {
                let element = self.fresh_name();
                let Some(condition) = self.condition_on(told, function, *scope, &element) else {
                    return Some(open_value("a condition on elements"));
                };
                let word = if name == "some" { "any" } else { "all" };
                let text = format!("{word} {element} in {list}: {}", condition.text);
                let reached = RunExpr::with_binding(text, BindingStrength::Reaches, RunExprKind::Truth);
                let own = condition.needs.as_ref().map(|needs| needed_until(&element, &list, needs));
                let needs = join_needs(needs.as_deref(), own.as_deref());
                let needed = needs.as_ref().map(|needs| format!("{needs} and ")).unwrap_or_default();
                let total = condition.total.as_ref().map(|total| {
                    let [holds, _] = &**total;
                    let quantified = format!("({word} {element} in {list}: {holds})");
                    Box::new([format!("({needed}{quantified})"), format!("({needed}not {quantified})")])
                });
                match own {
                    // The loop ends at the first element that satisfies the condition, or throws before.
                    Some(own) if name == "some" => {
                        let text = format!("{own} and {}", reached.nested_text(BindingStrength::And));
                        let both = RunExpr::with_binding(text, BindingStrength::And, RunExprKind::Truth);
                        JsValue::RunExpr(RunExpr { needs, total, ..both })
                    }
                    // A value that is not a list does not satisfy `every`.
                    _ if name == "every" && told.kind == RunExprKind::Any && needs.is_some() => {
                        let text = format!("{needed}{}", reached.nested_text(BindingStrength::And));
                        let both = RunExpr::with_binding(text, BindingStrength::And, RunExprKind::Truth);
                        JsValue::RunExpr(RunExpr { needs, total, ..both })
                    }
                    _ => JsValue::RunExpr(RunExpr { needs, total, ..reached }),
                }
            }
            ("filter" | "find" | "findLast", [LocatedValue { value: JsValue::Function(function, scope), .. }]) => {
                self.chosen_elements(told, name, function, *scope)
            }
            ("includes" | "toString", _) if !is_texts => return None,
            // The value may also be a text.
            _ if told.kind == RunExprKind::Any => return None,
            _ => JsValue::RuntimeOnly(format!("what `{name}` gives of a list of a run")),
        })
    }

    /// Lowers `filter`, `find` and `findLast`: `LIST where COND`, if the elements have fields here.
    fn chosen_elements(&mut self, told: &RunExpr, name: &str, function: &TsFunction, scope: ScopeId) -> JsValue {
        let list = told.nested_text(BindingStrength::Closely);
        let element = self.fresh_name();
        let condition = self.condition_on(told, function, scope, &element).map(|condition| condition.as_total());
        let Some(condition) = condition else { return open_value("a condition on elements") };
        let own = condition.needs.as_ref().map(|needs| match name {
            "filter" => format!("(all {element} in {list}: {needs})"),
            _ => needed_until(&element, &list, needs),
        });
        let needs = join_needs(told.needed_type(&["list"]).as_deref(), own.as_deref());
        let count = format!("(count {element} in {list}: {})", condition.text);
        let any = format!("(any {element} in {list}: {})", condition.text);
        let has_fields =
            matches!(told.kind, RunExprKind::Commands | RunExprKind::Reads | RunExprKind::Calls | RunExprKind::Skills);
        let bare = if has_fields { self.condition_on(told, function, scope, "") } else { None };
        let bare = bare.map(|bare| bare.as_total());
        let Some(bare) = bare.filter(|bare| !bare.text.is_empty() && !reads_run(&bare.text)) else {
            if name == "filter" {
                let length = JsValue::RunExpr(RunExpr { needs, ..RunExpr::new(count, RunExprKind::Number) });
                return JsValue::Object(vec![("length".to_owned(), LocatedValue::new(length, Span::default()))]);
            }
            let found = RunExpr::new(any.as_str(), RunExprKind::Found);
            // The found element may be an empty text.
            let is_text =
                element_of(told.kind).is_some_and(|kind| matches!(kind, RunExprKind::Text | RunExprKind::Any));
            let field = joined_path(&element, element_field(told.kind));
            let full = format!("({any} and (no {element} in {list}: {field} == \"\" or undecided(\"an empty text\")))");
            let truth = is_text.then(|| {
                let opposite = Some(format!("(not {full})"));
                Box::new(RunExpr { needs: needs.clone(), opposite, ..RunExpr::new(full, RunExprKind::Truth) })
            });
            return JsValue::RunExpr(RunExpr { found: Some(any), needs, truth, ..found });
        };
        let list = RunExpr::new(format!("({list} where {})", bare.text), told.kind);
        let chosen = RunExpr { found: Some(count), needs, ..list };
        if name == "filter" {
            return JsValue::RunExpr(chosen);
        }
        match self.list_element(&chosen, if name == "find" { 0 } else { -1 }) {
            JsValue::RunExpr(element) => JsValue::RunExpr(RunExpr { found: Some(any), ..element }),
            other => other,
        }
    }

    fn condition_on(&mut self, told: &RunExpr, function: &TsFunction, scope: ScopeId, name: &str) -> Option<RunExpr> {
        let element = self.named_element(told, name)?;
        let value = self.element_result(element, function, scope);
        self.truth_condition(&LocatedValue::new(value, Span::default()))
    }

    /// Returns the result of a function for an element; the index of the element is unknown.
    fn element_result(&mut self, element: LocatedValue, function: &TsFunction, scope: ScopeId) -> JsValue {
        let open = |why: &str| LocatedValue::new(open_value(why), Span::default());
        self.function_result(function, &[element, open("the place of an element"), open("a list in a function")], scope)
    }

    fn map_elements(&mut self, told: &RunExpr, function: &TsFunction, scope: ScopeId) -> JsValue {
        let list = told.nested_text(BindingStrength::Closely);
        let path = format!("{list}[*]");
        let Some(element) = self.named_element(told, &path) else { return open_value("a list") };
        let list_kind = |kind| if kind == RunExprKind::Text { RunExprKind::Texts } else { RunExprKind::Any };
        match self.element_result(element, function, scope) {
            JsValue::RunExpr(given) if given.text.starts_with(&path) && given.binds == BindingStrength::Closely => {
                let kind = list_kind(given.kind);
                return JsValue::RunExpr(RunExpr { kind, lack: Lack::Never, needs: None, ..given });
            }
            JsValue::RunExpr(given) if matches!(given.kind, RunExprKind::Text | RunExprKind::Number) => {}
            _ => return open_value("a list of other values"),
        }
        let Some(bare) = self.named_element(told, "") else { return open_value("a list") };
        match self.element_result(bare, function, scope) {
            JsValue::RunExpr(given)
                if !element_field(told.kind).is_empty() && !reads_run(&given.text) && given.needs.is_none() =>
            {
                let text = format!("({} of {list})", given.nested_text(BindingStrength::Closely));
                JsValue::RunExpr(RunExpr::new(text, list_kind(given.kind)))
            }
            _ => open_value("a list of other values"),
        }
    }
}
