//! Assertion types about the calls of a run.

use super::asserted::{AssertionSubject, Declarations, KindContext, PromptfooAssertion};
use super::modes::LoweringMode;
use super::recorded::{recorded_or_undecided, recorded_pass};
use super::text_kinds::{LowerKind, glob_regex};
use super::traced_steps::{STEP_KINDS, names_regex};
use super::values::script_number;
use crate::Lowering;
use crate::writer::{member_path, quote_text, value_literal};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;

pub(super) const TRAJECTORY_KINDS: &[(&str, LowerKind)] = &[
    ("trajectory:tool-used", tool_used),
    ("trajectory:tool-sequence", tool_sequence),
    ("trajectory:tool-args-match", args_match),
    ("trajectory:step-count", step_count),
];

/// Binds `tools_used` to the tool calls except shell calls, which promptfoo counts as commands.
pub(crate) const TOOLS: &str = "let tools_used = ({ names: tool, args: args } of (calls where lower(tool) not in [\"exec_command\", \"local_shell\", \"shell\"]))";

/// Returns the expression of a trajectory assertion, for another system with the same assertion types.
pub(crate) fn trajectory_truth(
    node: &YamlNode,
    kind: &str,
    negated: bool,
    value: Option<YamlNode>,
    lowering: &mut Lowering<'_>,
) -> Option<String> {
    let (_, lower) = TRAJECTORY_KINDS.iter().find(|(name, _)| *name == kind)?;
    let subject = AssertionSubject { text: "answer".to_owned(), guard: None };
    let one = PromptfooAssertion { node, kind, negated, value, subject };
    let mut declared = Declarations::default();
    lower(&one, &mut KindContext { lowering, mode: LoweringMode::Config, declared: &mut declared, score: None })
}

/// Returns the glob of a tool matcher.
fn tool_glob(matcher: &YamlNode) -> Option<&str> {
    let named = |key: &str| matcher.get(key).and_then(YamlNode::as_text).filter(|glob| !glob.is_empty());
    matcher.as_text().filter(|glob| !glob.is_empty()).or_else(|| named("pattern")).or_else(|| named("name"))
}

fn tool_used(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    const WANTED: &str = "the name of a tool, a list of names, or `{name: …, min: 1}`,";
    context.declared.asks_tools = true;
    let Some(value) = &one.value else { return context.wrong_value(one, WANTED) };
    let found = |glob: &str| format!("any t in tools_used: t.names matches {}", names_regex(glob));
    if value.is_map() {
        let Some(glob) = tool_glob(value) else {
            return context.wrong_value(one, "a mapping with `name` or `pattern`");
        };
        let count = named_count(glob);
        let bound = |key: &str| value.get(key).and_then(YamlNode::as_number).map(script_number);
        let least = bound("min").unwrap_or_else(|| "1".to_owned());
        let most = bound("max").map(|most| format!(" and {count} <= {most}")).unwrap_or_default();
        return Some(one.signed(format!("{count} >= {least}{most}")));
    }
    let globs: Option<Vec<&str>> = match &value.value {
        YamlValue::Text(_) => value.as_text().map(|glob| vec![glob]),
        YamlValue::List(items) => items.iter().map(YamlNode::as_text).collect(),
        _ => None,
    };
    let Some(globs) = globs.filter(|globs| !globs.is_empty()) else { return context.wrong_value(one, WANTED) };
    let test = |glob: &&str| if one.negated { format!("not ({})", found(glob)) } else { format!("({})", found(glob)) };
    Some(globs.iter().map(test).collect::<Vec<_>>().join(" and "))
}

fn tool_sequence(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    const WANTED: &str = "a list of tools, or `{mode: exact, steps: […]}`,";
    context.declared.asks_tools = true;
    let Some(value) = &one.value else { return context.wrong_value(one, WANTED) };
    let steps = value.get("steps").unwrap_or(value).items();
    let globs: Option<Vec<&str>> = steps.iter().map(tool_glob).collect();
    let Some(globs) = globs.filter(|globs| !globs.is_empty()) else { return context.wrong_value(one, WANTED) };
    let regexes: Vec<String> = globs.iter().map(|glob| names_regex(glob)).collect();
    let is_exact = value.get("mode").and_then(YamlNode::as_text) == Some("exact");
    Some(one.signed(match is_exact {
        false => format!("contains_in_order((names of tools_used), [{}])", regexes.join(", ")),
        true => {
            let each =
                regexes.iter().enumerate().map(|(at, regex)| format!(" and tools_used[{at}].names matches {regex}"));
            format!("length(tools_used) == {}{}", regexes.len(), each.collect::<String>())
        }
    }))
}

fn step_count(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let Some(value) = one.value.as_ref().filter(|value| value.is_map()) else {
        return context.wrong_value(one, "`{type: tool, max: 5}`");
    };
    let bound = |key: &str, sign: &str| {
        value.get(key).and_then(YamlNode::as_number).map(|number| format!(" {sign} {}", script_number(number)))
    };
    let bounds: Vec<String> = [bound("min", ">="), bound("max", "<=")].into_iter().flatten().collect();
    if bounds.is_empty() {
        return context.wrong_value(one, "a mapping with `min` or `max`");
    }
    let Some(kinds) = step_kinds(value) else {
        let kinds = STEP_KINDS.join("`, `");
        let message = "`type` names no kind of step";
        let help = format!("write one of `{kinds}`, or a list of them");
        return context.unusable(value.get("type").unwrap_or(value).span, Slug::UnknownType, message, &help);
    };
    context.declared.asks_tools = true;
    let within = |count: &str| {
        one.signed(bounds.iter().map(|bound| format!("{count}{bound}")).collect::<Vec<_>>().join(" and "))
    };
    if kinds == ["tool"] {
        return Some(within(&named_count(tool_glob(value).unwrap_or("*"))));
    }
    let mut tests = Vec::new();
    if !kinds.is_empty() {
        let kinds: Vec<String> = kinds.iter().map(|kind| quote_text(kind)).collect();
        tests.push(format!("s.kind in [{}]", kinds.join(", ")));
    }
    tests.extend(tool_glob(value).map(|glob| format!("s.names matches {}", names_regex(glob))));
    let count = match tests.is_empty() {
        true => "(count s in traced_steps: s exists)".to_owned(),
        false => format!("(count s in traced_steps: {})", tests.join(" and ")),
    };
    let recorded = recorded_or_undecided(&recorded_pass(one.node), "the run has no spans of promptfoo");
    Some(format!("(if meta.spans exists then {} else {recorded})", within(&count)))
}

/// Writes the number of calls whose name matches.
fn named_count(glob: &str) -> String {
    format!("(count t in tools_used: t.names matches {})", names_regex(glob))
}

/// Returns the step types to count; an empty list means all types, `None` an unknown type.
fn step_kinds(value: &YamlNode) -> Option<Vec<&str>> {
    let Some(kinds) = value.get("type").filter(|kinds| !kinds.is_null()) else { return Some(Vec::new()) };
    let items = if kinds.is_list() { kinds.items() } else { std::slice::from_ref(kinds) };
    items.iter().map(|kind| kind.as_text().filter(|kind| STEP_KINDS.contains(kind))).collect()
}

fn args_match(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let value = one.value.as_ref().filter(|value| value.is_map());
    let wanted =
        value.and_then(|value| Some((value, tool_glob(value)?, value.get("args").or(value.get("arguments"))?)));
    let Some((value, glob, args)) = wanted else {
        return context.wrong_value(one, "`{name: refund, args: {amount: 5}}`");
    };
    let is_exact = match value.get("mode").map(|mode| (mode, mode.as_text())) {
        None | Some((_, Some("partial"))) => false,
        Some((_, Some("exact"))) => true,
        Some((mode, _)) => {
            let message = "`mode` is neither `partial` nor `exact`";
            return context.unusable(mode.span, Slug::UnknownType, message, "write `mode: exact`, or leave it out");
        }
    };
    let ignored: Vec<&str> = match value.get("ignore") {
        Some(ignore) => {
            ignore.as_text().into_iter().chain(ignore.items().iter().filter_map(YamlNode::as_text)).collect()
        }
        None => Vec::new(),
    };
    let defaults = value.get("defaults").map(YamlNode::entries).unwrap_or_default();
    let kept = KeptArgs { ignored, defaults };
    let mut tests = vec![format!("c.names matches {}", names_regex(glob))];
    match args.is_map() {
        true => kept.push_tests(args, is_exact, &mut tests),
        false if is_exact => tests.push(format!("c.args == {}", value_literal(args))),
        false => partial_tests("c.args", args, &mut tests),
    }
    context.declared.asks_tools = true;
    Some(one.signed(format!("any c in tools_used: {}", tests.join(" and "))))
}

struct KeptArgs<'a> {
    ignored: Vec<&'a str>,
    defaults: &'a [(YamlNode, YamlNode)],
}

impl KeptArgs<'_> {
    fn is_ignored(&self, key: &str) -> bool {
        let glob =
            |glob: &&str| averment_base::value::glob::matches_wildcard(&glob.to_lowercase(), &key.to_lowercase());
        self.ignored.iter().any(|entry| *entry == key || entry.contains(['*', '?']) && glob(entry))
    }

    /// Adds tests of arguments. An argument with its default value may also be missing; ignored arguments are skipped.
    fn push_tests(&self, args: &YamlNode, is_exact: bool, tests: &mut Vec<String>) {
        let wanted = args.entries().iter().map(|(key, value)| (key.key_text(), value));
        let wanted: Vec<(String, &YamlNode)> = wanted.filter(|(key, _)| !self.is_ignored(key)).collect();
        for (key, value) in &wanted {
            let default = self.defaults.iter().find(|(name, _)| name.key_text() == *key);
            if default.is_some_and(|(_, default)| default.to_json() == value.to_json()) {
                tests.push("c.args is missing".to_owned());
            }
            let path = format!("c.args{}", member_path(key));
            match is_exact {
                true => tests.push(format!("{path} == {}", value_literal(value))),
                false => partial_tests(&path, value, tests),
            }
        }
        if !is_exact {
            return tests.push("c.args is object".to_owned());
        }
        let names: Vec<String> = wanted.iter().map(|(key, _)| quote_text(key)).collect();
        let mut allowed = vec![format!("k in [{}]", names.join(", "))];
        for entry in &self.ignored {
            allowed.push(match entry.contains(['*', '?']) {
                true => format!("k matches {}", glob_regex(entry)),
                false => format!("k == {}", quote_text(entry)),
            });
        }
        for (key, value) in self.defaults {
            let key = key.key_text();
            allowed.push(format!(
                "k == {} and c.args{} == {}",
                quote_text(&key),
                member_path(&key),
                value_literal(value)
            ));
        }
        let left = allowed.iter().map(|test| format!("({test})")).collect::<Vec<_>>().join(" or ");
        tests.push(format!("c.args is object and (length(c.args) == 0 or (all k in keys(c.args): {left}))"));
    }
}

fn partial_tests(path: &str, wanted: &YamlNode, tests: &mut Vec<String>) {
    match &wanted.value {
        YamlValue::Map(entries) => {
            tests.push(format!("{path} is object"));
            for (key, value) in entries {
                partial_tests(&format!("{path}{}", member_path(&key.key_text())), value, tests);
            }
        }
        YamlValue::List(items) => {
            tests.push(format!("{path} is list and length({path}) == {}", items.len()));
            for (at, item) in items.iter().enumerate() {
                partial_tests(&format!("{path}[{at}]"), item, tests);
            }
        }
        _ => tests.push(format!("{path} == {}", value_literal(wanted))),
    }
}
