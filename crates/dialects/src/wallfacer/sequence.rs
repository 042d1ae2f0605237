//! Sequences: what the calls that follow each other as the steps of a pack have to answer.
//!
//! A run is no server that is called step by step: the first call of the first step is looked for, behind it the first of the second, and so on. What a step
//! asks for is asked of its call where there is one.

use super::Sentences;
use super::check;
use super::cond::Cond;
use super::fixture::line;
use super::names::Names;
use super::placeholder::{Earlier, Piece, made};
use crate::writer::member;
use crate::writer::{label, quoted};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

const KEYS: [&str; 4] = ["name", "description", "steps", "test_fixtures"];
const STEP: [&str; 5] = ["call", "with", "bind", "expect", "assert"];
const FIXTURE: [&str; 3] = ["name", "responses", "expect"];

/// A step that was read.
struct Step<'n> {
    place: Span,
    tool: String,
    with: Option<&'n Node>,
    /// The `let` of its call.
    found: String,
    variable: String,
    /// What it asks for, with its place.
    asserts: Vec<(Span, Cond)>,
}

/// A fixture: its place, its name, what is expected, and its calls with their arguments and responses.
type Fixture<'n> = (Span, String, String, Vec<(String, Node, &'n Node)>);

impl Sentences<'_, '_> {
    /// A sequence.
    pub(super) fn sequence(&mut self, node: &Node) {
        self.lowering.said.keys(node, "a sequence", &KEYS);
        if !node.is_map() {
            return;
        }
        let Some(name) = self.lowering.said.required_text(node, "name", "a sequence").map(str::to_owned) else {
            return;
        };
        let says = self.lowering.said.optional_text(node, "description", "a sequence").map(str::to_owned);
        if node.get("steps").is_none() {
            self.lowering.said.error(
                Slug::TypeMismatch,
                node.span.at_start(),
                "a sequence has no `steps`",
                "write `steps: […]`",
            );
        }
        let head = self.head("rule", &name, says.as_deref());
        let prefix = self.label.replace(['.', '-'], "_");
        let mut earlier: Vec<Earlier> = Vec::new();
        let mut steps: Vec<Step<'_>> = Vec::new();
        for node in self.lowering.said.list(node, "steps", "a sequence") {
            let Some(step) = self.step(node, &prefix, &mut earlier, &mut steps) else { continue };
            steps.push(step);
        }
        if self.lowering.said.has_errors() {
            return;
        }
        self.write_schemas();
        for step in &steps {
            self.out.line(step.place, |out| out.put(&format!("let {} = {}", step.variable, step.found)));
        }
        self.out.gap();
        let fixtures = self.lowering.said.list(node, "test_fixtures", "a sequence");
        let tests: Vec<_> = fixtures.iter().filter_map(|node| self.test(node, &steps, &earlier)).collect();
        self.out.block(
            node.span,
            |out| out.put(&head),
            |out| {
                if steps.is_empty() {
                    out.remark("allow: always-true");
                    out.line(node.span, |out| out.put("true"));
                }
                for step in &steps {
                    for (place, cond) in &step.asserts {
                        out.line(*place, |out| cond.write(out));
                    }
                }
                for (place, name, expect, calls) in &tests {
                    line(out, *place, name, expect, |out| {
                        out.put("{ calls: [");
                        for (at, (tool, args, response)) in calls.iter().enumerate() {
                            out.put(if at > 0 { ", " } else { "" });
                            out.put(&format!("{{ tool: {}, args: ", quoted(tool)));
                            out.literal(args);
                            out.put(", result: ");
                            out.literal(response);
                            out.put(" }");
                        }
                        out.put("] }");
                    });
                }
            },
        );
    }

    fn step<'n>(
        &mut self,
        node: &'n Node,
        prefix: &str,
        earlier: &mut Vec<Earlier>,
        steps: &mut [Step<'n>],
    ) -> Option<Step<'n>> {
        self.lowering.said.keys(node, "a step", &STEP);
        if !node.is_map() {
            return None;
        }
        let (tool, _) = self.named(node, "call", "a step")?;
        let bind = self.lowering.said.optional_text(node, "bind", "a step").map(str::to_owned);
        let with = node.get("with");
        if let Some(with) = with.filter(|with| !with.is_map()) {
            self.lowering.said.shape(with, "`with`", "a mapping of arguments");
            return None;
        }
        let number = earlier.len().saturating_add(1);
        let of = bind.as_deref().map(label).unwrap_or_default().replace(['.', '-'], "_");
        let variable = match bind.is_some() && !earlier.iter().any(|step| step.bind == bind) {
            true => format!("{prefix}_{of}"),
            false => format!("{prefix}_step_{number}"),
        };
        let mut asked = Vec::new();
        if let Some(before) = steps.last() {
            asked.push(format!("index > {}.index", before.variable));
        }
        asked.push(format!("tool == {}", quoted(&tool)));
        let mut taken = Vec::new();
        for (key, value) in with.map(Node::entries).unwrap_or_default() {
            let argument = self.argument(value, earlier, &mut taken)?;
            asked.push(format!("args{} == {argument}", member(&key.key())));
        }
        for (step, text) in taken {
            if let Some(from) = steps.get_mut(step) {
                from.hands_on(node.span, &text);
            }
        }
        let ends = self.ends(node, &variable)?;
        let place = node.entry("assert").map_or(node.span, |(key, list)| key.span.to(list.span));
        let checks = self.checks(node, "a step", &Names::of_step(&variable));
        let mut asserts = vec![ends];
        asserts.extend(check::sentences(place, checks, false));
        for (place, cond) in &mut asserts {
            cond.pieces.push((*place, format!(" when {variable} exists")));
        }
        earlier.push(Earlier { bind, variable: variable.clone() });
        let found = format!("first(calls where {})", asked.join(" and "));
        Some(Step { place: node.span, tool, with, found, variable, asserts })
    }

    /// How the call of a step ends.
    fn ends(&mut self, node: &Node, variable: &str) -> Option<(Span, Cond)> {
        let expect = node.entry("expect");
        let place = expect.map_or(node.span, |(key, value)| key.span.to(value.span));
        let is_error = match expect.map(|(_, value)| value) {
            None => false,
            Some(value) => match value.text() {
                Some("ok") => false,
                Some("error") => true,
                _ => {
                    self.lowering.said.unknown_word(value, "end of a step", &["ok", "error"]);
                    return None;
                }
            },
        };
        let not = if is_error { "" } else { "not " };
        Some((place, Cond::plain(place, format!("{not}is_error(answer({variable}))"))))
    }

    /// The calls of a fixture: as far as its answers give what later steps are called with.
    fn test<'n>(&mut self, node: &'n Node, steps: &[Step<'_>], earlier: &[Earlier]) -> Option<Fixture<'n>> {
        if !self.lowering.said.keys(node, "a fixture", &FIXTURE) {
            return None;
        }
        let (name, expect) = self.stated(node)?;
        let Some(list) = node.get("responses") else {
            self.lowering.said.error(
                Slug::TypeMismatch,
                node.span,
                "a fixture has no `responses`",
                "write `responses: [{ … }]`",
            );
            return None;
        };
        let responses = self.lowering.said.list(node, "responses", "a fixture");
        if responses.len() != steps.len() {
            let message =
                format!("the sequence has {} steps and this fixture {} responses", steps.len(), responses.len());
            self.lowering.said.error(Slug::TypeMismatch, list.span, message, "write a response for each step");
            return None;
        }
        let mut calls: Vec<(String, Node, &Node)> = Vec::new();
        for (step, response) in steps.iter().zip(responses) {
            let empty = Node { value: Value::Map(Vec::new()), span: node.span };
            let Some(args) = self.arguments(step.with.unwrap_or(&empty), earlier, &calls) else { break };
            calls.push((step.tool.clone(), args, response));
        }
        Some((node.span, name.to_owned(), expect.to_owned(), calls))
    }

    /// The arguments of a call, with what earlier calls of the fixture gave.
    fn arguments(&mut self, with: &Node, earlier: &[Earlier], calls: &[(String, Node, &Node)]) -> Option<Node> {
        let known = earlier.get(..calls.len())?;
        let sentences = std::cell::RefCell::new(self);
        made(with, &|node, text| {
            let whole = text.trim();
            let alone = whole.starts_with("{{") && whole.ends_with("}}");
            let pieces = sentences.borrow_mut().pieces(node, if alone { whole } else { text }, known)?;
            let pieces = match pieces.as_slice() {
                [Piece::Placeholder(_)] => pieces,
                _ => sentences.borrow_mut().pieces(node, text, known)?,
            };
            if let [Piece::Placeholder(one)] = pieces.as_slice() {
                return found(one, calls).map(|node| node.value);
            }
            let mut out = String::new();
            for piece in &pieces {
                match piece {
                    Piece::Text(text) => out.push_str(text),
                    Piece::Placeholder(one) => out.push_str(&found(one, calls)?.key()),
                }
            }
            Some(Value::Text(out))
        })
    }
}

/// What a placeholder stands for in a fixture.
fn found(one: &super::placeholder::Placeholder, calls: &[(String, Node, &Node)]) -> Option<Node> {
    let (_, args, response) = calls.get(one.step)?;
    let key = |name: &str| Node { value: Value::Text(name.to_owned()), span: response.span };
    let bound = vec![(key("input"), args.clone()), (key("response"), (*response).clone())];
    let bound = Node { value: Value::Map(bound), span: response.span };
    one.path.find(&bound).cloned()
}

impl Step<'_> {
    /// That the call of this step gave what a later one is called with, where it ended as it should.
    fn hands_on(&mut self, place: Span, text: &str) {
        let variable = &self.variable;
        let line = format!("required({text}) exists when ");
        if self.asserts.iter().any(|(_, cond)| cond.pieces.iter().any(|(_, known)| known.starts_with(&line))) {
            return;
        }
        let ended = self.asserts.first().and_then(|(_, cond)| cond.pieces.first()).map(|(_, text)| text.clone());
        let ended = ended.unwrap_or_default();
        self.asserts.push((place, Cond::plain(place, format!("{line}{variable} exists and {ended}"))));
    }
}
