//! Sequences: assertions on calls that match the steps of a pack in order.
//!
//! A recorded run cannot be called step by step like a server. So the first call for the first step is searched, after it the first call for the
//! second step, and so on. The assertions of a step apply to its call if there is one.

use super::PackLowering;
use super::check;
use super::cond::MappedCondition;
use super::fixture::write_test_line;
use super::names::PathRoots;
use super::placeholder::{ArgumentPiece, EarlierStep, fill_fixture};
use crate::writer::member_path;
use crate::writer::{quote_text, to_label};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

const KEYS: [&str; 4] = ["name", "description", "steps", "test_fixtures"];
const STEP: [&str; 5] = ["call", "with", "bind", "expect", "assert"];
const FIXTURE: [&str; 3] = ["name", "responses", "expect"];

struct PackStep<'n> {
    place: Span,
    tool: String,
    with: Option<&'n YamlNode>,
    found: String,
    variable: String,
    asserts: Vec<(Span, MappedCondition)>,
}

/// Location, name, expected verdict, and calls with arguments and responses.
type SequenceFixture<'n> = (Span, String, String, Vec<(String, YamlNode, &'n YamlNode)>);

impl PackLowering<'_, '_> {
    pub(super) fn lower_sequence(&mut self, node: &YamlNode) {
        self.lowering.sink.check_keys(node, "a sequence", &KEYS);
        if !node.is_map() {
            return;
        }
        let Some(name) = self.lowering.sink.required_text(node, "name", "a sequence").map(str::to_owned) else {
            return;
        };
        let says = self.lowering.sink.optional_text(node, "description", "a sequence").map(str::to_owned);
        if node.get("steps").is_none() {
            self.lowering.sink.error(
                Slug::TypeMismatch,
                node.span.at_start(),
                "a sequence has no `steps`",
                "write `steps: […]`",
            );
        }
        let head = self.rule_head("rule", &name, says.as_deref());
        let prefix = self.label.replace(['.', '-'], "_");
        let mut earlier: Vec<EarlierStep> = Vec::new();
        let mut steps: Vec<PackStep<'_>> = Vec::new();
        for node in self.lowering.sink.list_items(node, "steps", "a sequence") {
            let Some(step) = self.read_step(node, &prefix, &mut earlier, &mut steps) else { continue };
            steps.push(step);
        }
        if self.lowering.sink.has_errors() {
            return;
        }
        self.write_schemas();
        for step in &steps {
            self.out.write_line(step.place, |out| out.put_text(&format!("let {} = {}", step.variable, step.found)));
        }
        self.out.write_gap();
        let fixtures = self.lowering.sink.list_items(node, "test_fixtures", "a sequence");
        let tests: Vec<_> = fixtures.iter().filter_map(|node| self.sequence_fixture(node, &steps, &earlier)).collect();
        self.out.write_block(
            node.span,
            |out| out.put_text(&head),
            |out| {
                if steps.is_empty() {
                    out.write_remark("allow: always-true");
                    out.write_line(node.span, |out| out.put_text("true"));
                }
                for step in &steps {
                    for (place, cond) in &step.asserts {
                        out.write_line(*place, |out| cond.write_to(out));
                    }
                }
                for (place, name, expect, calls) in &tests {
                    write_test_line(out, *place, name, expect, |out| {
                        out.put_text("{ calls: [");
                        for (at, (tool, args, response)) in calls.iter().enumerate() {
                            out.put_text(if at > 0 { ", " } else { "" });
                            out.put_text(&format!("{{ tool: {}, args: ", quote_text(tool)));
                            out.put_literal(args);
                            out.put_text(", result: ");
                            out.put_literal(response);
                            out.put_text(" }");
                        }
                        out.put_text("] }");
                    });
                }
            },
        );
    }

    fn read_step<'n>(
        &mut self,
        node: &'n YamlNode,
        prefix: &str,
        earlier: &mut Vec<EarlierStep>,
        steps: &mut [PackStep<'n>],
    ) -> Option<PackStep<'n>> {
        self.lowering.sink.check_keys(node, "a step", &STEP);
        if !node.is_map() {
            return None;
        }
        let (tool, _) = self.tool_name(node, "call", "a step")?;
        let bind = self.lowering.sink.optional_text(node, "bind", "a step").map(str::to_owned);
        let with = node.get("with");
        if let Some(with) = with.filter(|with| !with.is_map()) {
            self.lowering.sink.wrong_shape(with, "`with`", "a mapping of arguments");
            return None;
        }
        let number = earlier.len().saturating_add(1);
        let of = bind.as_deref().map(to_label).unwrap_or_default().replace(['.', '-'], "_");
        let variable = match bind.is_some() && !earlier.iter().any(|step| step.bind == bind) {
            true => format!("{prefix}_{of}"),
            false => format!("{prefix}_step_{number}"),
        };
        let mut asked = Vec::new();
        if let Some(before) = steps.last() {
            asked.push(format!("index > {}.index", before.variable));
        }
        let kept =
            node.get("call").filter(|tool| tool.as_text().is_some()).and_then(|tool| self.kept.scalar_literal(tool));
        asked.push(format!("tool == {}", kept.unwrap_or_else(|| quote_text(&tool))));
        let mut taken = Vec::new();
        for (key, value) in with.map(YamlNode::entries).unwrap_or_default() {
            let argument = self.argument_expression(value, earlier, &mut taken)?;
            asked.push(format!("args{} == {argument}", member_path(&key.key_text())));
        }
        for (step, text) in taken {
            if let Some(from) = steps.get_mut(step) {
                from.hands_on(node.span, &text);
            }
        }
        let ends = self.call_ending(node, &variable)?;
        let place = node.find_entry("assert").map_or(node.span, |(key, list)| key.span.cover_with(list.span));
        let checks = self.read_checks(node, "a step", &PathRoots::step_roots(&variable));
        let mut asserts = vec![ends];
        asserts.extend(check::check_sentences(place, checks, false));
        for (place, cond) in &mut asserts {
            cond.pieces.push((*place, format!(" when {variable} exists")));
        }
        earlier.push(EarlierStep { bind, variable: variable.clone() });
        let found = format!("first(calls where {})", asked.join(" and "));
        Some(PackStep { place: node.span, tool, with, found, variable, asserts })
    }

    fn call_ending(&mut self, node: &YamlNode, variable: &str) -> Option<(Span, MappedCondition)> {
        let expect = node.find_entry("expect");
        let place = expect.map_or(node.span, |(key, value)| key.span.cover_with(value.span));
        let is_error = match expect.map(|(_, value)| value) {
            None => false,
            Some(value) => match value.as_text() {
                Some("ok") => false,
                Some("error") => true,
                _ => {
                    self.lowering.sink.unknown_word(value, "end of a step", &["ok", "error"]);
                    return None;
                }
            },
        };
        let not = if is_error { "" } else { "not " };
        Some((place, MappedCondition::from_text(place, format!("{not}is_error(answer({variable}))"))))
    }

    /// Reads a fixture. Its run ends with the last call whose arguments can be filled from earlier responses.
    fn sequence_fixture<'n>(
        &mut self,
        node: &'n YamlNode,
        steps: &[PackStep<'_>],
        earlier: &[EarlierStep],
    ) -> Option<SequenceFixture<'n>> {
        if !self.lowering.sink.check_keys(node, "a fixture", &FIXTURE) {
            return None;
        }
        let (name, expect) = self.fixture_header(node)?;
        let Some(list) = node.get("responses") else {
            self.lowering.sink.error(
                Slug::TypeMismatch,
                node.span,
                "a fixture has no `responses`",
                "write `responses: [{ … }]`",
            );
            return None;
        };
        let responses = self.lowering.sink.list_items(node, "responses", "a fixture");
        if responses.len() != steps.len() {
            let message =
                format!("the sequence has {} steps and this fixture {} responses", steps.len(), responses.len());
            self.lowering.sink.error(Slug::TypeMismatch, list.span, message, "write a response for each step");
            return None;
        }
        let mut calls: Vec<(String, YamlNode, &YamlNode)> = Vec::new();
        for (step, response) in steps.iter().zip(responses) {
            let empty = YamlNode { value: YamlValue::Map(Vec::new()), span: node.span };
            let Some(args) = self.fixture_arguments(step.with.unwrap_or(&empty), earlier, &calls) else { break };
            calls.push((step.tool.clone(), args, response));
        }
        Some((node.span, name.to_owned(), expect.to_owned(), calls))
    }

    fn fixture_arguments(
        &mut self,
        with: &YamlNode,
        earlier: &[EarlierStep],
        calls: &[(String, YamlNode, &YamlNode)],
    ) -> Option<YamlNode> {
        let known = earlier.get(..calls.len())?;
        let sentences = std::cell::RefCell::new(self);
        fill_fixture(with, &|node, text| {
            let whole = text.trim();
            let alone = whole.starts_with("{{") && whole.ends_with("}}");
            let pieces = sentences.borrow_mut().split_pieces(node, if alone { whole } else { text }, known)?;
            let pieces = match pieces.as_slice() {
                [ArgumentPiece::Placeholder(_)] => pieces,
                _ => sentences.borrow_mut().split_pieces(node, text, known)?,
            };
            if let [ArgumentPiece::Placeholder(one)] = pieces.as_slice() {
                return fixture_value(one, calls).map(|node| node.value);
            }
            let mut out = String::new();
            for piece in &pieces {
                match piece {
                    ArgumentPiece::Text(text) => out.push_str(text),
                    ArgumentPiece::Placeholder(one) => out.push_str(&fixture_value(one, calls)?.key_text()),
                }
            }
            Some(YamlValue::Text(out))
        })
    }
}

fn fixture_value(
    one: &super::placeholder::StepPlaceholder,
    calls: &[(String, YamlNode, &YamlNode)],
) -> Option<YamlNode> {
    let (_, args, response) = calls.get(one.step)?;
    let key = |name: &str| YamlNode { value: YamlValue::Text(name.to_owned()), span: response.span };
    let bound = vec![(key("input"), args.clone()), (key("response"), (*response).clone())];
    let bound = YamlNode { value: YamlValue::Map(bound), span: response.span };
    one.path.find_value(&bound).cloned()
}

impl PackStep<'_> {
    /// Writes that this step, if successful, provides an argument of a later step.
    fn hands_on(&mut self, place: Span, text: &str) {
        let variable = &self.variable;
        let line = format!("required({text}) exists when ");
        if self.asserts.iter().any(|(_, cond)| cond.pieces.iter().any(|(_, known)| known.starts_with(&line))) {
            return;
        }
        let ended = self.asserts.first().and_then(|(_, cond)| cond.pieces.first()).map(|(_, text)| text.clone());
        let ended = ended.unwrap_or_default();
        self.asserts.push((place, MappedCondition::from_text(place, format!("{line}{variable} exists and {ended}"))));
    }
}
