//! State and helpers shared by all parts of lowering a policy file.

use super::action_schema::ActionSchema;
use super::event_kinds::EventKinds;
use super::tree::{EntityName, EntityTest, ScopeRoot};
use crate::shape::DiagnosticSink;
use crate::writer::{member_path, quote_text};
use averment_base::diagnostic::{Slug, suggest};

/// Definitions that the written rules may use, in the order in which they are written.
pub(super) const DEFINITIONS: &[&str] = &[
    "def request_of(call) = { kind: \"request\", tool: call.tool, at: timestamp(call.start), place: call.index * 3, args: call.args, id: call.id, meta: call.meta }",
    "def came_of(call) = coalesce(call.status, if coalesce(call.error, \"\") != \"\" then \"failed\" else if coalesce(call.end, \"\") != \"\" or coalesce(call.result, \"\") != \"\" then \"ok\" else \"open\")",
    "def response_of(call) = { kind: \"response\", tool: call.tool, at: timestamp(call.end), place: call.index * 3 + 1, args: call.args, result: call.result, id: call.id, meta: call.meta, came: came_of(call) }",
    "def error_of(call) = { kind: \"error\", tool: call.tool, at: timestamp(coalesce(call.end, call.start)), place: call.index * 3 + 2, args: call.args, id: call.id, meta: call.meta, came: came_of(call) }",
    "def events_of(call) = [request_of(call), response_of(call), error_of(call)]",
    "def ends_recorded(events) = any f in events: f.came in [\"ok\", \"failed\", \"denied\", \"pending\"]",
    "def came_so(e, events, words) = e.came in words or e.came == \"open\" and not ends_recorded(events) and undecided(\"the run does not record how calls end\")",
    "def happened(e, events) = e.kind == \"request\" or e.kind == \"response\" and came_so(e, events, [\"ok\"]) or e.kind == \"error\" and came_so(e, events, [\"failed\", \"denied\"])",
    "def before_event(e, f) = e.at < f.at or e.at == f.at and e.place < f.place",
    "def not_after(e, f) = e.at < f.at or e.at == f.at and e.place <= f.place",
    "def past(e, f, events, time) = happened(e, events) and not_after(e, f) and f.at - e.at <= time",
    "def between_events(e, f, g, events) = happened(f, events) and before_event(e, f) and not_after(f, g)",
    "def just_before(e, g, events, time) = happened(e, events) and before_event(e, g) and g.at - e.at <= time and no f in events: happened(f, events) and before_event(e, f) and before_event(f, g)",
    "def position_of(e, events) = count f in events: happened(f, events) and before_event(f, e)",
    "def is_event(e, kind, tool) = e.kind == kind and e.tool == tool",
    "def meta_principal(e) = coalesce(e.meta.principal, run.meta.principal)",
    "def meta_resource(e) = coalesce(e.meta.resource, run.meta.resource)",
    "def is_entity(value, kind, id, whole) = value == id or value == whole or value.type == kind and value.id == id",
    "def is_of_type(value, kind, prefix) = if value.type exists then value.type == kind else if value contains '::\"' then value starts with prefix else undecided(\"the run does not record its type\")",
    "def within_long(sum) = if sum > 9223372036854775807 then 9223372036854775807 else if sum < -9223372036854775808 then -9223372036854775808 else sum",
];

/// A value in a written rule.
#[derive(Debug, Clone)]
pub(super) struct ReadValue {
    /// The expression.
    pub(super) text: String,
    pub(super) kind: ReadKind,
}

/// The source of a value.
#[derive(Debug, Clone)]
pub(super) enum ReadKind {
    Plain,
    /// From `meta`: a test for whether the run records it, and its name.
    Recorded {
        test: String,
        name: String,
    },
    /// A timepoint: the variable of an event.
    Timepoint,
    Entity(EntityName),
}

impl ReadValue {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: ReadKind::Plain }
    }
}

/// Writes policies as expressions.
pub(super) struct PolicyLowering<'a> {
    pub(super) kinds: &'a EventKinds,
    pub(super) schema: Option<&'a ActionSchema>,
    pub(super) said: &'a mut DiagnosticSink,
    /// Definitions created for lists.
    pub(super) made: Vec<String>,
    pub(super) fresh: usize,
}

impl PolicyLowering<'_> {
    /// Returns an unused variable name.
    pub(super) fn new_variable(&mut self) -> String {
        self.fresh = self.fresh.saturating_add(1);
        format!("e{}", self.fresh)
    }

    /// Returns the field of an event, or of the current request (`now`).
    pub(super) fn field_of(&self, event: &str, path: &[String], is_request: bool) -> ReadValue {
        if let Some(root) = self.kinds.alias(path).filter(|_| !is_request) {
            return self.scope_value(event, root, &[]);
        }
        match path.split_first() {
            Some((first, rest)) if first == "input" => ReadValue::plain(format!("{event}.args{}", members(rest))),
            Some((first, rest)) if first == "output" => {
                // A request has no output yet.
                ReadValue::plain(format!("{event}.{}{}", if is_request { "output" } else { "result" }, members(rest)))
            }
            Some((first, [second])) if is_request && first == "system" && second == "now" => {
                ReadValue::plain(format!("{event}.at"))
            }
            Some((first, [])) if first == "requestId" => ReadValue::plain(format!("{event}.id")),
            _ => {
                let path = members(path);
                let read = |event: &str| format!("coalesce({event}.meta{path}, run.meta{path})");
                Self::recorded(read(event), &read("f"), format!("meta{path}"))
            }
        }
    }

    /// Returns the principal or the resource of an event, or an attribute of it.
    pub(super) fn scope_value(&self, event: &str, root: ScopeRoot, path: &[String]) -> ReadValue {
        let path = members(path);
        let read = |event: &str| format!("meta_{}({event}){path}", root.name());
        Self::recorded(read(event), &read("f"), format!("meta.{}{path}", root.name()))
    }

    fn recorded(text: String, of_any: &str, name: String) -> ReadValue {
        ReadValue { text, kind: ReadKind::Recorded { test: format!("(any f in events: {of_any} exists)"), name } }
    }

    /// Returns the answer of an information provider, as recorded in the run.
    pub(super) fn provider_value(&self, name: &str, path: &[String]) -> ReadValue {
        let path = format!(".guardrails{}{}", member_path(name), members(path));
        let read = |event: &str| format!("coalesce({event}.meta{path}, run.meta{path})");
        // The answer must be recorded for this request; other calls do not matter.
        let test = format!("({} exists)", read("now"));
        ReadValue { text: read("now"), kind: ReadKind::Recorded { test, name: format!("meta{path}") } }
    }

    /// Writes a test of an entity.
    pub(super) fn entity_test(
        &mut self,
        value: &ReadValue,
        root: Option<ScopeRoot>,
        test: &EntityTest,
    ) -> Option<String> {
        if root == Some(ScopeRoot::Action) {
            return self.action_test(test);
        }
        let text = match test {
            EntityTest::Equals(name) => equals_entity(&value.text, name),
            EntityTest::Is(kind) => {
                format!("is_of_type({}, {}, {})", value.text, quote_text(kind), quote_text(&format!("{kind}::\"")))
            }
            EntityTest::In(names) => {
                let groups = match root {
                    Some(root) => format!("coalesce(now.meta.{0}_in, run.meta.{0}_in)", root.name()),
                    None => format!("{}.in", value.text),
                };
                let one = |name: &EntityName| {
                    let own = equals_entity(&value.text, name);
                    format!("{own} or (any g in {groups}: {})", equals_entity("g", name))
                };
                let any = names.iter().map(one).collect::<Vec<_>>().join(" or ");
                let unknown = "undecided(\"the run does not record which groups it is in\")";
                format!(
                    "(if {groups} exists then ({any}) else ({} or {unknown}))",
                    names.iter().map(|name| equals_entity(&value.text, name)).collect::<Vec<_>>().join(" or ")
                )
            }
        };
        Some(known(&[value], text))
    }

    fn action_test(&mut self, test: &EntityTest) -> Option<String> {
        let names: Vec<String> = match test {
            EntityTest::Is(_) => return Some("true".to_owned()),
            EntityTest::Equals(name) => {
                self.check_action(name)?;
                vec![name.id.clone()]
            }
            EntityTest::In(groups) => {
                let mut all = Vec::new();
                for group in groups {
                    self.check_action(group)?;
                    let Some(schema) = self.schema else {
                        let help =
                            "put the Cedar schema beside the policies as `schema.cedarschema`, or write `action ==`";
                        self.said.error(
                            Slug::UnknownName,
                            group.span,
                            format!("which actions are in `{}` is not known", group.id),
                            help,
                        );
                        return None;
                    };
                    all.extend(schema.members(&group.id));
                }
                all
            }
        };
        Some(match names.as_slice() {
            [one] => format!("now.tool == {}", quote_text(one)),
            several => {
                format!("now.tool in [{}]", several.iter().map(|name| quote_text(name)).collect::<Vec<_>>().join(", "))
            }
        })
    }

    /// Reports an error if the schema does not have this action.
    pub(super) fn check_action(&mut self, name: &EntityName) -> Option<()> {
        let Some(schema) = self.schema.filter(|schema| !schema.knows(&name.id)) else { return Some(()) };
        let help = match suggest::suggest_name(&name.id, schema.names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "declare it in the schema".to_owned(),
        };
        self.said.error(Slug::UnknownName, name.span, format!("the schema has no action `{}`", name.id), help);
        None
    }

    /// Writes a comparison of two values.
    pub(super) fn compare(&mut self, operator: &str, left: &ReadValue, right: &ReadValue) -> String {
        let negated = operator == "!=";
        let text = match (&left.kind, &right.kind) {
            (ReadKind::Entity(one), ReadKind::Entity(other)) => {
                (one.kind == other.kind && one.id == other.id && operator == "=="
                    || negated && (one.kind != other.kind || one.id != other.id))
                    .to_string()
            }
            (ReadKind::Entity(name), _) if !negated => equals_entity(&right.text, name),
            (_, ReadKind::Entity(name)) if !negated => equals_entity(&left.text, name),
            (ReadKind::Entity(name), _) => {
                format!("({0} exists and not {1})", right.text, equals_entity(&right.text, name))
            }
            (_, ReadKind::Entity(name)) => {
                format!("({0} exists and not {1})", left.text, equals_entity(&left.text, name))
            }
            (ReadKind::Timepoint, _) | (_, ReadKind::Timepoint) => {
                let place = |value: &ReadValue| match value.kind {
                    ReadKind::Timepoint => format!("position_of({}, events)", value.text),
                    _ => value.text.clone(),
                };
                format!("{} {operator} {}", place(left), place(right))
            }
            _ if negated => {
                let there = [left, right]
                    .into_iter()
                    .filter(|value| value.text.contains('.') && !value.text.starts_with(['"', '\'']));
                let there: String = there.map(|value| format!("{} exists and ", value.text)).collect();
                format!("({there}{} != {})", left.text, right.text)
            }
            _ => format!("{} {operator} {}", left.text, right.text),
        };
        known(&[left, right], text)
    }
}

/// Returns `text`, undecided if the run does not record one of the values.
pub(super) fn known(values: &[&ReadValue], text: String) -> String {
    values.iter().fold(text, |text, value| match &value.kind {
        ReadKind::Recorded { test, name } => {
            let why = quote_text(&format!("the run does not record `{name}`"));
            format!("(if {test} then {text} else undecided({why}))")
        }
        _ => text,
    })
}

fn equals_entity(value: &str, name: &EntityName) -> String {
    let whole = format!("{}::\"{}\"", name.kind, name.id.replace('\\', "\\\\").replace('"', "\\\""));
    format!("is_entity({value}, {}, {}, {})", quote_text(&name.kind), quote_text(&name.id), quote_text(&whole))
}

/// Returns a path as member accesses.
pub(super) fn members(path: &[String]) -> String {
    path.iter().map(|name| member_path(name)).collect()
}
