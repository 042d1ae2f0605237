//! Invariants of one tool, and of all tools that fit.

use super::Sentences;
use super::check;
use super::cond::{Cond, write};
use super::fixture::{self, Fixture};
use super::names::Names;
use crate::writer::{self, tool};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

const KEYS: [&str; 8] = ["name", "tool", "fixed", "generate", "input", "cases", "assert", "test_fixtures"];
const APPLIED: [&str; 6] = ["fixed", "generate", "input", "cases", "assert", "test_fixtures"];
const BLOCK: [&str; 3] = ["name", "where", "apply"];
const WHERE: [&str; 3] = ["annotations", "name_matches", "description_matches"];
const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
const GENERATED: [&str; 5] = ["string", "integer", "number", "boolean", "array"];

/// The condition of a block on its tools.
#[derive(Default)]
struct Where {
    parts: Vec<Cond>,
    /// The annotations that it asks for.
    annotations: Option<Node>,
    /// Whether it asks for something that a made tool cannot be given.
    by_text: bool,
}

/// What stands in the body of an invariant.
struct Body<'n> {
    place: Span,
    /// The call, with its arguments.
    call: Vec<(Span, String)>,
    /// Its arguments, where it names them.
    fixed: Option<&'n Node>,
    asserts: Vec<(Span, Cond)>,
    fixtures: Vec<Fixture<'n>>,
    /// Whether something looks at what is known of the tool.
    about: bool,
}

impl Sentences<'_, '_> {
    /// An invariant of a named tool.
    pub(super) fn invariant(&mut self, node: &Node) {
        self.lowering.said.keys(node, "an invariant", &KEYS);
        if !node.is_map() {
            return;
        }
        let name = self.lowering.said.required_text(node, "name", "an invariant").map(str::to_owned);
        let called = self.named(node, "tool", "an invariant");
        let (Some(name), Some((called, at))) = (name, called) else { return };
        if node.get("fixed").is_some() == node.get("generate").is_some() {
            let message = format!("the invariant `{name}` has to have `fixed` or `generate`, and not both");
            let place = node.entry("name").map_or(node.span, |(key, _)| key.span);
            self.lowering.said.error(
                Slug::TypeMismatch,
                place,
                message,
                "write `fixed: { … }` for one call, or `fixed: {}` for every call",
            );
        }
        let head = self.head("invariant", &name, None);
        let names = Names::of_call(false);
        let Some(body) = self.body(node, node, &name, (tool(&called), at), &names) else { return };
        self.write_schemas();
        let (own, other) = body.fixtures.iter().partition::<Vec<_>, _>(|fixture| fixture.fits(body.fixed));
        self.out.block(
            node.span,
            |out| out.put(&head),
            |out| {
                body.write(out);
                own.iter().for_each(|fixture| fixture.of_call(out, body.fixed, body.about));
            },
        );
        self.apart(&name, &body, &other);
    }

    /// A block of `for_each_tool`.
    pub(super) fn for_each_tool(&mut self, node: &Node) {
        const WHAT: &str = "a block of `for_each_tool`";
        self.lowering.said.keys(node, WHAT, &BLOCK);
        if !node.is_map() {
            return;
        }
        let name = self.lowering.said.required_text(node, "name", WHAT).map(str::to_owned);
        let Some(apply) = node.get("apply") else {
            self.lowering.said.error(
                Slug::TypeMismatch,
                node.span.at_start(),
                format!("{WHAT} has no `apply`"),
                "write `apply: { assert: […] }`",
            );
            return;
        };
        let good = self.lowering.said.keys(apply, "`apply`", &APPLIED);
        let condition = self.condition(node.get("where"));
        let (Some(name), Some(condition), true) = (name, condition, good) else { return };
        let head = self.head("invariant", &name, None);
        let names = Names::of_call(true);
        let at = node.entry("apply").map_or(apply.span, |(key, _)| key.span);
        let Some(body) = self.body(node, apply, &name, ("tool".to_owned(), at), &names) else { return };
        self.write_schemas();
        let fits = |fixture: &&Fixture<'_>| !condition.by_text && fixture.fits(body.fixed);
        let (own, other) = body.fixtures.iter().partition::<Vec<_>, _>(fits);
        let every = condition.parts.is_empty();
        let place = node.get("where").map_or(node.span, |node| node.span);
        let asked = Cond::all(place, condition.parts);
        self.out.block(
            node.span,
            |out| out.put(&head),
            |out| {
                let tools = |out: &mut writer::Writer| {
                    out.put(if every { "for each tool" } else { "for each tool where " });
                    if !every {
                        asked.write(out);
                    }
                };
                out.block(place, tools, |out| {
                    body.write(out);
                    own.iter().for_each(|fixture| fixture.of_tool(out, body.fixed, condition.annotations.as_ref()));
                });
            },
        );
        self.apart(&name, &body, &other);
    }

    /// Fixtures whose call is none of those that the invariant judges: the same assertions, of a tool that no run has.
    fn apart(&mut self, name: &str, body: &Body<'_>, fixtures: &[&Fixture<'_>]) {
        if fixtures.is_empty() {
            return;
        }
        let head = self.head("invariant", &format!("{name}.fixtures"), None);
        self.out.gap();
        self.out.remark("Fixtures with other arguments or tools than the calls that are judged.");
        let apart = Body {
            call: vec![(body.place, format!("call {} {{}}", fixture::TOOL))],
            asserts: body.asserts.clone(),
            fixtures: Vec::new(),
            ..*body
        };
        self.out.block(
            body.place,
            |out| out.put(&head),
            |out| {
                apart.write(out);
                fixtures.iter().for_each(|fixture| fixture.apart(out, body.fixed));
            },
        );
    }

    /// What stands in an invariant.
    fn body<'n>(
        &mut self,
        whole: &'n Node,
        node: &'n Node,
        name: &str,
        called: (String, Span),
        names: &Names,
    ) -> Option<Body<'n>> {
        let what = format!("the invariant `{name}`");
        for (key, wanted) in [
            ("fixed", "a mapping of arguments: `fixed: {}`"),
            ("generate", "a mapping of arguments to what they may be"),
        ] {
            if let Some(node) = node.get(key).filter(|node| !node.is_map()) {
                self.lowering.said.shape(node, &format!("`{key}` of {what}"), wanted);
            }
        }
        if let Some(input) = node.get("input").filter(|input| input.text() != Some("schema_valid")) {
            self.lowering.said.unknown_word(input, "input", &["schema_valid"]);
        }
        if let Some(cases) = node.get("cases").filter(|cases| !is_count(cases)) {
            self.lowering.said.shape(cases, "`cases`", "a whole number");
        }
        if node.get("assert").is_none() {
            self.lowering.said.error(
                Slug::TypeMismatch,
                node.span.at_start(),
                format!("{what} has no `assert`"),
                "write `assert: […]`",
            );
        }
        let by_schema = node.get("input").is_some();
        let fixed = node.get("fixed").filter(|_| !by_schema);
        let generate = node.get("generate").filter(|generate| !by_schema && fixed.is_none() && generate.is_map());
        let (called, at) = called;
        let mut call = vec![(at, format!("call {called} "))];
        match (fixed, generate) {
            (_, Some(generate)) => {
                call.extend(self.generated(generate));
                call.push((node.span, self.seeded(node, name, names.each_tool)));
            }
            (Some(fixed), None) => call.push((fixed.span, names.literal(fixed))),
            (None, None) if by_schema => {
                let input = node.get("input").map_or(node.span, |input| input.span);
                call.push((input, "generate from schema".to_owned()));
                call.push((node.span, self.seeded(node, name, names.each_tool)));
            }
            (None, None) => call.push((node.span, "{}".to_owned())),
        }
        let place = node.entry("assert").map_or(node.span, |(key, list)| key.span.to(list.span));
        let checks = self.checks(node, &what, names);
        let mut asserts = check::sentences(place, checks, true);
        if asserts.is_empty() {
            asserts.push((place, Cond::plain(place, "true")));
        }
        let about = asserts.iter().any(|(_, cond)| cond.pieces.iter().any(|(_, text)| text.contains("about(")));
        let fixtures = self.fixtures(node, &what);
        Some(Body { place: whole.span, call, fixed, asserts, fixtures, about })
    }

    /// `generate { a: integer 0..9 }`, each argument with its place.
    fn generated(&mut self, generate: &Node) -> Vec<(Span, String)> {
        let mut pieces = vec![(generate.span, "generate {".to_owned())];
        for (key, spec) in generate.entries() {
            let Some(made) = self.spec(spec) else { continue };
            let comma = if pieces.len() > 1 { "," } else { "" };
            pieces.push((generate.span, format!("{comma} ")));
            pieces.push((key.span.to(spec.span), format!("{}: {made}", writer::object_key(&key.key()))));
        }
        pieces.push((generate.span, if pieces.len() > 1 { " }" } else { "}" }.to_owned()));
        pieces
    }

    /// ` cases 50 seed 0`, with the name that the seed goes with where the label is another one.
    fn seeded(&self, node: &Node, name: &str, each_tool: bool) -> String {
        let cases = node.get("cases").and_then(Node::number).unwrap_or("100");
        let plain = format!(" cases {cases} seed 0");
        if name == self.label {
            return plain;
        }
        let pieces: Vec<&str> = if each_tool { name.split("{{tool_name}}").collect() } else { vec![name] };
        let pieces: Vec<String> = pieces.into_iter().map(writer::quoted).collect();
        let inner: Vec<&str> =
            pieces.iter().map(|piece| piece.get(1..piece.len().saturating_sub(1)).unwrap_or("")).collect();
        let inner = inner.join("${tool}");
        format!("{plain} for \"{inner}\"")
    }

    /// What a generated value may be: `list 1..3 of integer 0..9`.
    fn spec(&mut self, spec: &Node) -> Option<String> {
        const SPEC: [&str; 8] = ["type", "min_length", "max_length", "min", "max", "items", "min_items", "max_items"];
        if !self.lowering.said.keys(spec, "a generated value", &SPEC) {
            return None;
        }
        let name = self.lowering.said.required_text(spec, "type", "a generated value")?;
        let (ty, least, most) = match name {
            "string" => ("string", "min_length", "max_length"),
            "integer" => ("integer", "min", "max"),
            "number" => ("number", "min", "max"),
            "boolean" => ("boolean", "", ""),
            "array" => ("list", "min_items", "max_items"),
            _ => {
                self.lowering.said.unknown_word(spec.get("type")?, "type of generated values", &GENERATED);
                return None;
            }
        };
        for key in ["min_length", "max_length", "min", "max", "min_items", "max_items"] {
            if let Some(bound) =
                spec.get(key).filter(|bound| bound.number().is_none_or(|number| number.contains(['.', 'e', 'E'])))
            {
                self.lowering.said.shape(bound, &format!("`{key}`"), "a whole number");
            }
        }
        let items = match spec.get("items") {
            Some(items) => Some(self.spec(items)?),
            None => None,
        };
        let bound = |key: &str| spec.get(key).and_then(Node::number).unwrap_or("");
        let range = match (bound(least), bound(most)) {
            ("", "") => String::new(),
            (least, most) => format!(" {least}..{most}"),
        };
        let items = items.filter(|_| ty == "list").map(|items| format!(" of {items}")).unwrap_or_default();
        Some(format!("{ty}{range}{items}"))
    }

    /// The condition of a block; `None` where it cannot be used.
    fn condition(&mut self, node: Option<&Node>) -> Option<Where> {
        let mut asked = Where::default();
        let Some(node) = node.filter(|node| !node.is_null()) else { return Some(asked) };
        if !self.lowering.said.keys(node, "`where`", &WHERE) {
            return None;
        }
        if let Some(annotations) = node.get("annotations") {
            if !self.lowering.said.keys(annotations, "`annotations`", &HINTS) {
                return None;
            }
            for (key, value) in annotations.entries() {
                let Some(wanted) = value.boolean() else {
                    self.lowering.said.shape(value, &format!("`{}`", key.key()), "`true` or `false`");
                    return None;
                };
                asked
                    .parts
                    .push(Cond::plain(key.span.to(value.span), format!("annotations.{} == {wanted}", key.key())));
            }
            asked.annotations = Some(annotations.clone());
        }
        for (key, field) in [("name_matches", "name"), ("description_matches", "description")] {
            let Some(pattern) = node.get(key) else { continue };
            let text = self.lowering.said.as_text(pattern, &format!("`{key}`"))?;
            let literal = self.pattern(pattern, text, &Names::of_call(true))?;
            asked.by_text = true;
            asked.parts.push(Cond::plain(pattern.span, format!("{field} matches {literal}")));
        }
        Some(asked)
    }

    /// The name of a tool under a key, with its place.
    pub(super) fn named(&mut self, node: &Node, key: &str, what: &str) -> Option<(String, Span)> {
        let value = node.get(key);
        // A tool may be called by a number, where a parameter says so.
        if let Some(Value::Number(number)) = value.map(|value| &value.value) {
            return Some((number.clone(), value.map_or(node.span, |value| value.span)));
        }
        let text = self.lowering.said.required_text(node, key, what)?;
        Some((text.to_owned(), value.map_or(node.span, |value| value.span)))
    }
}

impl Body<'_> {
    fn write(&self, out: &mut writer::Writer) {
        out.line(self.place, |out| write(&self.call, out));
        for (place, cond) in &self.asserts {
            out.line(*place, |out| cond.write(out));
        }
    }
}

fn is_count(node: &Node) -> bool {
    node.number().is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
