//! Invariants of one tool, and of all tools that match a condition.

use super::PackLowering;
use super::check;
use super::cond::{MappedCondition, write_pieces};
use super::fixture::{self, PackFixture};
use super::names::PathRoots;
use crate::writer::{self, tool_pattern};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

const KEYS: [&str; 8] = ["name", "tool", "fixed", "generate", "input", "cases", "assert", "test_fixtures"];
const APPLIED: [&str; 6] = ["fixed", "generate", "input", "cases", "assert", "test_fixtures"];
const BLOCK: [&str; 3] = ["name", "where", "apply"];
const WHERE: [&str; 3] = ["annotations", "name_matches", "description_matches"];
const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
const GENERATED: [&str; 5] = ["string", "integer", "number", "boolean", "array"];

#[derive(Default)]
struct BlockCondition {
    parts: Vec<MappedCondition>,
    annotations: Option<YamlNode>,
    /// True if it tests the name or description of the tool, which a generated tool cannot satisfy.
    by_text: bool,
}

struct InvariantBody<'n> {
    place: Span,
    call: Vec<(Span, String)>,
    fixed: Option<&'n YamlNode>,
    asserts: Vec<(Span, MappedCondition)>,
    fixtures: Vec<PackFixture<'n>>,
    /// True if an assertion inspects the metadata of the tool.
    about: bool,
}

impl PackLowering<'_, '_> {
    pub(super) fn lower_invariant(&mut self, node: &YamlNode) {
        self.lowering.sink.check_keys(node, "an invariant", &KEYS);
        if !node.is_map() {
            return;
        }
        let name = self.lowering.sink.required_text(node, "name", "an invariant").map(str::to_owned);
        let called = self.tool_name(node, "tool", "an invariant");
        let (Some(name), Some((called, at))) = (name, called) else { return };
        if node.get("fixed").is_some() == node.get("generate").is_some() {
            let message = format!("the invariant `{name}` has to have `fixed` or `generate`, and not both");
            let place = node.find_entry("name").map_or(node.span, |(key, _)| key.span);
            self.lowering.sink.error(
                Slug::TypeMismatch,
                place,
                message,
                "write `fixed: { … }` for one call, or `fixed: {}` for every call",
            );
        }
        let head = self.rule_head("invariant", &name, None);
        let names = PathRoots::call_roots(false);
        let Some(body) = self.read_body(node, node, &name, (self.tool_literal(node, "tool", &called), at), &names)
        else {
            return;
        };
        self.write_schemas();
        let (own, other) = body.fixtures.iter().partition::<Vec<_>, _>(|fixture| fixture.fits_arguments(body.fixed));
        self.out.write_block(
            node.span,
            |out| out.put_text(&head),
            |out| {
                body.write_body(out);
                own.iter().for_each(|fixture| fixture.write_for_call(out, body.fixed, body.about));
            },
        );
        self.write_detached_fixtures(&name, &body, &other);
    }

    pub(super) fn for_each_tool(&mut self, node: &YamlNode) {
        const WHAT: &str = "a block of `for_each_tool`";
        self.lowering.sink.check_keys(node, WHAT, &BLOCK);
        if !node.is_map() {
            return;
        }
        let name = self.lowering.sink.required_text(node, "name", WHAT).map(str::to_owned);
        let Some(apply) = node.get("apply") else {
            self.lowering.sink.error(
                Slug::TypeMismatch,
                node.span.at_start(),
                format!("{WHAT} has no `apply`"),
                "write `apply: { assert: […] }`",
            );
            return;
        };
        let good = self.lowering.sink.check_keys(apply, "`apply`", &APPLIED);
        let condition = self.read_condition(node.get("where"));
        let (Some(name), Some(condition), true) = (name, condition, good) else { return };
        let head = self.rule_head("invariant", &name, None);
        let names = PathRoots::call_roots(true);
        let at = node.find_entry("apply").map_or(apply.span, |(key, _)| key.span);
        let Some(body) = self.read_body(node, apply, &name, ("tool".to_owned(), at), &names) else { return };
        self.write_schemas();
        let fits = |fixture: &&PackFixture<'_>| !condition.by_text && fixture.fits_arguments(body.fixed);
        let (own, other) = body.fixtures.iter().partition::<Vec<_>, _>(fits);
        let every = condition.parts.is_empty();
        let place = node.get("where").map_or(node.span, |node| node.span);
        let asked = MappedCondition::all_of(place, condition.parts);
        self.out.write_block(
            node.span,
            |out| out.put_text(&head),
            |out| {
                let tools = |out: &mut writer::RuleWriter| {
                    out.put_text(if every { "for each tool" } else { "for each tool where " });
                    if !every {
                        asked.write_to(out);
                    }
                };
                out.write_block(place, tools, |out| {
                    body.write_body(out);
                    own.iter()
                        .for_each(|fixture| fixture.write_for_tool(out, body.fixed, condition.annotations.as_ref()));
                });
            },
        );
        self.write_detached_fixtures(&name, &body, &other);
    }

    /// Writes fixtures that the invariant's calls do not cover: the same assertions on a tool that no run has.
    fn write_detached_fixtures(&mut self, name: &str, body: &InvariantBody<'_>, fixtures: &[&PackFixture<'_>]) {
        if fixtures.is_empty() {
            return;
        }
        let head = self.rule_head("invariant", &format!("{name}.fixtures"), None);
        self.out.write_gap();
        self.out.write_remark("Fixtures with other arguments or tools than the calls that are judged.");
        let apart = InvariantBody {
            call: vec![(body.place, format!("call {} {{}}", fixture::TOOL))],
            asserts: body.asserts.clone(),
            fixtures: Vec::new(),
            ..*body
        };
        self.out.write_block(
            body.place,
            |out| out.put_text(&head),
            |out| {
                apart.write_body(out);
                fixtures.iter().for_each(|fixture| fixture.write_detached(out, body.fixed));
            },
        );
    }

    fn read_body<'n>(
        &mut self,
        whole: &'n YamlNode,
        node: &'n YamlNode,
        name: &str,
        called: (String, Span),
        names: &PathRoots,
    ) -> Option<InvariantBody<'n>> {
        let what = format!("the invariant `{name}`");
        for (key, wanted) in [
            ("fixed", "a mapping of arguments: `fixed: {}`"),
            ("generate", "a mapping of arguments to what they may be"),
        ] {
            if let Some(node) = node.get(key).filter(|node| !node.is_map()) {
                self.lowering.sink.wrong_shape(node, &format!("`{key}` of {what}"), wanted);
            }
        }
        if let Some(input) = node.get("input").filter(|input| input.as_text() != Some("schema_valid")) {
            self.lowering.sink.unknown_word(input, "input", &["schema_valid"]);
        }
        if let Some(cases) = node.get("cases").filter(|cases| !is_count(cases)) {
            self.lowering.sink.wrong_shape(cases, "`cases`", "a whole number");
        }
        if node.get("assert").is_none() {
            self.lowering.sink.error(
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
                call.extend(self.generated_arguments(generate));
                call.push((node.span, self.seed_clause(node, name, names.each_tool)));
            }
            (Some(fixed), None) => call.push((fixed.span, names.value_literal(fixed, self.kept))),
            (None, None) if by_schema => {
                let input = node.get("input").map_or(node.span, |input| input.span);
                call.push((input, "generate from schema".to_owned()));
                call.push((node.span, self.seed_clause(node, name, names.each_tool)));
            }
            (None, None) => call.push((node.span, "{}".to_owned())),
        }
        let place = node.find_entry("assert").map_or(node.span, |(key, list)| key.span.cover_with(list.span));
        let checks = self.read_checks(node, &what, names);
        let mut asserts = check::check_sentences(place, checks, true);
        if asserts.is_empty() {
            asserts.push((place, MappedCondition::from_text(place, "true")));
        }
        let about = asserts.iter().any(|(_, cond)| cond.pieces.iter().any(|(_, text)| text.contains("about(")));
        let fixtures = self.read_fixtures(node, &what);
        Some(InvariantBody { place: whole.span, call, fixed, asserts, fixtures, about })
    }

    fn generated_arguments(&mut self, generate: &YamlNode) -> Vec<(Span, String)> {
        let mut pieces = vec![(generate.span, "generate {".to_owned())];
        for (key, spec) in generate.entries() {
            let Some(made) = self.value_spec(spec) else { continue };
            let comma = if pieces.len() > 1 { "," } else { "" };
            pieces.push((generate.span, format!("{comma} ")));
            pieces.push((key.span.cover_with(spec.span), format!("{}: {made}", writer::object_key(&key.key_text()))));
        }
        pieces.push((generate.span, if pieces.len() > 1 { " }" } else { "}" }.to_owned()));
        pieces
    }

    /// Returns ` cases 50 seed 0`; names the seed if the label differs from the name.
    fn seed_clause(&self, node: &YamlNode, name: &str, each_tool: bool) -> String {
        let cases = node.get("cases").and_then(YamlNode::as_number).unwrap_or("100");
        let plain = format!(" cases {cases} seed 0");
        if name == self.label {
            return plain;
        }
        let pieces: Vec<&str> = if each_tool { name.split("{{tool_name}}").collect() } else { vec![name] };
        let pieces: Vec<String> = pieces.into_iter().map(writer::quote_text).collect();
        let inner: Vec<&str> =
            pieces.iter().map(|piece| piece.get(1..piece.len().saturating_sub(1)).unwrap_or("")).collect();
        let inner = inner.join("${tool}");
        format!("{plain} for \"{inner}\"")
    }

    /// Returns the specification of generated values, such as `list 1..3 of integer 0..9`.
    fn value_spec(&mut self, spec: &YamlNode) -> Option<String> {
        const SPEC: [&str; 8] = ["type", "min_length", "max_length", "min", "max", "items", "min_items", "max_items"];
        if !self.lowering.sink.check_keys(spec, "a generated value", &SPEC) {
            return None;
        }
        let name = self.lowering.sink.required_text(spec, "type", "a generated value")?;
        let (ty, least, most) = match name {
            "string" => ("string", "min_length", "max_length"),
            "integer" => ("integer", "min", "max"),
            "number" => ("number", "min", "max"),
            "boolean" => ("boolean", "", ""),
            "array" => ("list", "min_items", "max_items"),
            _ => {
                self.lowering.sink.unknown_word(spec.get("type")?, "type of generated values", &GENERATED);
                return None;
            }
        };
        for key in ["min_length", "max_length", "min", "max", "min_items", "max_items"] {
            if let Some(bound) =
                spec.get(key).filter(|bound| bound.as_number().is_none_or(|number| number.contains(['.', 'e', 'E'])))
            {
                self.lowering.sink.wrong_shape(bound, &format!("`{key}`"), "a whole number");
            }
        }
        let items = match spec.get("items") {
            Some(items) => Some(self.value_spec(items)?),
            None => None,
        };
        let bound = |key: &str| spec.get(key).and_then(YamlNode::as_number).unwrap_or("");
        let range = match (bound(least), bound(most)) {
            ("", "") => String::new(),
            (least, most) => format!(" {least}..{most}"),
        };
        let items = items.filter(|_| ty == "list").map(|items| format!(" of {items}")).unwrap_or_default();
        Some(format!("{ty}{range}{items}"))
    }

    /// Reads a condition on tools; returns `None` if it is unusable.
    fn read_condition(&mut self, node: Option<&YamlNode>) -> Option<BlockCondition> {
        let mut asked = BlockCondition::default();
        let Some(node) = node.filter(|node| !node.is_null()) else { return Some(asked) };
        if !self.lowering.sink.check_keys(node, "`where`", &WHERE) {
            return None;
        }
        if let Some(annotations) = node.get("annotations") {
            if !self.lowering.sink.check_keys(annotations, "`annotations`", &HINTS) {
                return None;
            }
            for (key, value) in annotations.entries() {
                let Some(wanted) = value.as_boolean() else {
                    self.lowering.sink.wrong_shape(value, &format!("`{}`", key.key_text()), "`true` or `false`");
                    return None;
                };
                asked.parts.push(MappedCondition::from_text(
                    key.span.cover_with(value.span),
                    format!("annotations.{} == {wanted}", key.key_text()),
                ));
            }
            asked.annotations = Some(annotations.clone());
        }
        for (key, field) in [("name_matches", "name"), ("description_matches", "description")] {
            let Some(pattern) = node.get(key) else { continue };
            let text = self.lowering.sink.as_text(pattern, &format!("`{key}`"))?;
            let literal = self.regex_literal(pattern, text, &PathRoots::call_roots(true))?;
            asked.by_text = true;
            asked.parts.push(MappedCondition::from_text(pattern.span, format!("{field} matches {literal}")));
        }
        Some(asked)
    }

    /// Returns a tool name as written in a `call`; a parameter if the pack uses one.
    fn tool_literal(&self, node: &YamlNode, key: &str, called: &str) -> String {
        let kept =
            node.get(key).filter(|tool| tool.as_text().is_some()).and_then(|tool| self.kept.scalar_literal(tool));
        kept.unwrap_or_else(|| tool_pattern(called))
    }

    pub(super) fn tool_name(&mut self, node: &YamlNode, key: &str, what: &str) -> Option<(String, Span)> {
        let value = node.get(key);
        // A parameter may give a number as the name of a tool.
        if let Some(YamlValue::Number(number)) = value.map(|value| &value.value) {
            return Some((number.clone(), value.map_or(node.span, |value| value.span)));
        }
        let text = self.lowering.sink.required_text(node, key, what)?;
        Some((text.to_owned(), value.map_or(node.span, |value| value.span)))
    }
}

impl InvariantBody<'_> {
    fn write_body(&self, out: &mut writer::RuleWriter) {
        out.write_line(self.place, |out| write_pieces(&self.call, out));
        for (place, cond) in &self.asserts {
            out.write_line(*place, |out| cond.write_to(out));
        }
    }
}

fn is_count(node: &YamlNode) -> bool {
    node.as_number().is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
