//! Predicates: operators on one value of an event, all of which have to hold.

use crate::Lowering;
use crate::regex_flavour::{PyRegexFlags, UnusableRegex, translate_python, translate_re2};
use crate::writer::{quote_text, value_literal};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

/// The settings for reading the predicates of a constraint.
#[derive(Debug, Clone, Default)]
pub(super) struct PredicateScope {
    /// True if regular expressions use Python's syntax.
    pub(super) backtracks: bool,
    /// Names that the constraint binds, with the expression of each.
    pub(super) bound: Vec<(String, String)>,
}

/// A predicate after reading.
#[derive(Debug, Clone, Default)]
pub(super) struct LoweredPredicate {
    /// The conditions.
    pub(super) tests: Vec<String>,
    /// Its comparisons with bound values.
    pub(super) comparable: Vec<BoundComparison>,
}

/// A comparison with a bound value. tolokaforge fails the whole constraint if the types can never be equal, so this case must be detected.
#[derive(Debug, Clone)]
pub(super) struct BoundComparison {
    value: String,
    bound: String,
    /// True if lists and objects are searched for the value.
    searches: bool,
}

impl BoundComparison {
    /// Returns the condition on `event` under which the comparison is possible.
    pub(super) fn test(&self, event: &str) -> String {
        let value = self.value.replacen("value.", &format!("{event}.value."), 1);
        let helper = if self.searches { "can_hold" } else { "can_equal" };
        format!("{helper}({value}, {})", self.bound)
    }
}

const OPERATORS: &[&str] = &[
    "equals",
    "equals_ci",
    "contains",
    "contains_ci",
    "not_contains",
    "not_equals",
    "regex",
    "not_regex",
    "is_null",
    "omitted",
    "gt",
    "gte",
    "lt",
    "lte",
    "date_gt",
    "date_gte",
    "date_lt",
    "date_lte",
    "in_",
    "not_in",
    "len_gt",
    "len_gte",
    "exists",
    "equals_binding",
    "contains_binding",
];

/// Reads a predicate; `value` is the expression of the tested value.
pub(super) fn read_predicate(
    value: &str,
    node: &YamlNode,
    scope: &PredicateScope,
    lowering: &mut Lowering<'_>,
) -> Option<LoweredPredicate> {
    let known: Vec<&str> = OPERATORS.iter().copied().chain(["regex_engine"]).collect();
    if !lowering.sink.check_keys(node, "a predicate", &known) {
        return None;
    }
    let declared: Vec<(&str, &YamlNode)> = node
        .entries()
        .iter()
        .filter(|(_, operand)| !operand.is_null())
        .filter_map(|(key, operand)| Some((key.as_text()?, operand)))
        .collect();
    if declared.iter().all(|(name, _)| *name == "regex_engine") {
        let help = "write a test of the value, such as `equals: refund`";
        lowering.sink.error(Slug::TypeMismatch, node.span, "the predicate asks for nothing", help);
        return None;
    }
    let mut scope = scope.clone();
    if let Some(engine) = node.get("regex_engine").filter(|engine| !engine.is_null()) {
        scope.backtracks = read_engine(engine, lowering)?;
    }
    let mut lowered = LoweredPredicate::default();
    for (name, operand) in declared.into_iter().filter(|(name, _)| *name != "regex_engine") {
        let one = OperatorUse { value, name, operand, scope: &scope };
        lowered.tests.push(one.test(lowering)?);
        lowered.comparable.extend(one.comparison());
    }
    Some(lowered)
}

/// Reads the regex engine: true for Python's.
pub(super) fn read_engine(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<bool> {
    match node.as_text() {
        Some("linear") => Some(false),
        Some("backtracking") => Some(true),
        _ => {
            lowering.sink.unknown_word(node, "engine of regular expressions", &["linear", "backtracking"]);
            None
        }
    }
}

/// Returns a regular expression as a literal; `folded` ignores case.
pub(super) fn regex_literal(
    node: &YamlNode,
    backtracks: bool,
    folded: bool,
    lowering: &mut Lowering<'_>,
) -> Option<String> {
    let pattern = lowering.sink.as_text(node, "a regular expression")?;
    let translated = match backtracks {
        true => translate_python(pattern, PyRegexFlags { ignore_case: folded, ..PyRegexFlags::default() }),
        false => translate_re2(pattern, folded),
    };
    match translated {
        Ok(literal) => Some(literal.text),
        Err(UnusableRegex { at, why }) => {
            let message = format!("`{pattern}` is no regular expression of this engine: {why}, from byte {at} on");
            lowering.sink.error(Slug::BadRegex, node.span, message, "fix the expression");
            None
        }
    }
}

struct OperatorUse<'a> {
    value: &'a str,
    name: &'a str,
    operand: &'a YamlNode,
    scope: &'a PredicateScope,
}

impl OperatorUse<'_> {
    /// Returns the condition. Missing and `null` values fail every operator except `exists`, `is_null` and `omitted`.
    fn test(&self, lowering: &mut Lowering<'_>) -> Option<String> {
        let value = self.value;
        let there = format!("{value} exists and {value} != null");
        Some(match self.name {
            "equals" => format!("{value} == {}", value_literal(self.operand)),
            "not_equals" => format!("{there} and {value} != {}", value_literal(self.operand)),
            "equals_ci" => format!("lower({value}) == {}", quote_text(&self.text(lowering)?.to_lowercase())),
            "contains" => self.contains(&value_literal(self.operand), false, lowering)?,
            "contains_ci" => self.contains(&quote_text(&self.text(lowering)?.to_lowercase()), true, lowering)?,
            "not_contains" => {
                format!("{there} and not {}", self.contains(&value_literal(self.operand), false, lowering)?)
            }
            "regex" | "not_regex" => self.regexes(lowering)?,
            "is_null" => self.flagged(&format!("{value} == null"), lowering)?,
            "omitted" => self.flagged(&format!("{value} not exists"), lowering)?,
            "exists" => self.flagged(&format!("({there})"), lowering)?,
            "gt" | "gte" | "lt" | "lte" => {
                format!("{value} {} {}", comparison_sign(self.name), self.number(lowering)?)
            }
            "date_gt" | "date_gte" | "date_lt" | "date_lte" => self.date(lowering)?,
            "in_" => format!("{value} in {}", self.members(lowering)?),
            "not_in" => format!("{there} and {value} not in {}", self.members(lowering)?),
            "len_gt" | "len_gte" => {
                format!("length({value}) {} {}", comparison_sign(self.name), self.whole_number(lowering)?)
            }
            _ => self.bound(lowering)?,
        })
    }

    fn text(&self, lowering: &mut Lowering<'_>) -> Option<String> {
        lowering.sink.as_text(self.operand, &format!("`{}`", self.name)).map(str::to_owned)
    }

    fn flagged(&self, test: &str, lowering: &mut Lowering<'_>) -> Option<String> {
        match self.operand.as_boolean() {
            Some(true) => Some(test.to_owned()),
            Some(false) => Some(format!("not ({test})")),
            None => {
                lowering.sink.wrong_shape(self.operand, &format!("`{}`", self.name), "`true` or `false`");
                None
            }
        }
    }

    fn number<'n>(&'n self, lowering: &mut Lowering<'_>) -> Option<&'n str> {
        let number = self.operand.as_number();
        if number.is_none() {
            lowering.sink.wrong_shape(self.operand, &format!("`{}`", self.name), "a number");
        }
        number
    }

    fn whole_number<'n>(&'n self, lowering: &mut Lowering<'_>) -> Option<&'n str> {
        let number = self.operand.as_number().filter(|number| number.parse::<u32>().is_ok());
        if number.is_none() {
            lowering.sink.wrong_shape(self.operand, &format!("`{}`", self.name), "a whole number from 0 on");
        }
        number
    }

    /// Returns the listed values as a literal, without `null`, because a `null` value never matches.
    fn members(&self, lowering: &mut Lowering<'_>) -> Option<String> {
        if !self.operand.is_list() {
            lowering.sink.wrong_shape(self.operand, &format!("`{}`", self.name), "a list of values");
            return None;
        }
        let members = self.operand.items().iter().filter(|item| !item.is_null()).map(value_literal);
        Some(format!("[{}]", members.collect::<Vec<_>>().join(", ")))
    }

    /// Writes a substring test. In lists and objects, any value may contain the text.
    fn contains(&self, needle: &str, folded: bool, lowering: &mut Lowering<'_>) -> Option<String> {
        if self.operand.is_list() || self.operand.is_map() {
            let help = "write a text, a number or a boolean: values of lists and objects are searched one by one";
            let message = format!("`{}` of a list or an object is found in nothing", self.name);
            lowering.sink.error(Slug::TypeMismatch, self.operand.span, message, help);
            return None;
        }
        let is_text = folded || self.operand.as_text().is_some();
        Some(contains_test(self.value, needle, is_text, folded))
    }

    fn regexes(&self, lowering: &mut Lowering<'_>) -> Option<String> {
        let single = std::slice::from_ref(self.operand);
        let patterns = if self.operand.is_list() { self.operand.items() } else { single };
        if patterns.is_empty() {
            let message = format!("`{}` lists no regular expression", self.name);
            lowering.sink.error(Slug::TypeMismatch, self.operand.span, message, "write one, or leave the key out");
            return None;
        }
        let test = if self.name == "regex" { "matches" } else { "not matches" };
        let mut tests = vec![format!("{} is string", self.value)];
        for pattern in patterns {
            let literal = regex_literal(pattern, self.scope.backtracks, false, lowering)?;
            tests.push(format!("{} {test} {literal}", self.value));
        }
        Some(tests.join(" and "))
    }

    fn date(&self, lowering: &mut Lowering<'_>) -> Option<String> {
        let text = self.text(lowering)?;
        if !is_date(&text) {
            let message = format!("`{text}` is neither a date nor a time");
            let help = "write it as `2026-03-01` or `2026-03-01T12:00:00Z`";
            lowering.sink.error(Slug::TypeMismatch, self.operand.span, message, help);
            return None;
        }
        let sign = comparison_sign(self.name.trim_start_matches("date_"));
        let value = self.value;
        Some(format!("{value} matches {DATE_SHAPE} and timestamp({value}) {sign} timestamp({})", quote_text(&text)))
    }

    fn bound(&self, lowering: &mut Lowering<'_>) -> Option<String> {
        let name = self.text(lowering)?;
        let Some((_, bound)) = self.scope.bound.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = self.scope.bound.iter().map(|(known, _)| known.as_str()).collect();
            match known.is_empty() {
                true => {
                    let message = format!("`{name}` is bound by nothing: the constraint has no `bind`");
                    let help = "write `bind` with a `match` and `values`";
                    lowering.sink.error(Slug::UnknownName, self.operand.span, message, help);
                }
                false => lowering.sink.unknown_word(self.operand, "bound value", &known),
            }
            return None;
        };
        Some(match self.name {
            "equals_binding" => format!("{} == {bound}", self.value),
            _ => contains_bound(self.value, bound),
        })
    }

    fn comparison(&self) -> Option<BoundComparison> {
        let searches = self.name == "contains_binding";
        let name = self.operand.as_text().filter(|_| searches || self.name == "equals_binding")?;
        let (_, bound) = self.scope.bound.iter().find(|(known, _)| known == name)?;
        Some(BoundComparison { value: self.value.to_owned(), bound: bound.clone(), searches })
    }
}

fn comparison_sign(name: &str) -> &'static str {
    match name {
        "gt" | "len_gt" | "date_gt" => ">",
        "gte" | "len_gte" | "date_gte" => ">=",
        "lt" | "date_lt" => "<",
        _ => "<=",
    }
}

fn contains_test(value: &str, needle: &str, is_text: bool, folded: bool) -> String {
    let own = |one: &str| match (is_text, folded) {
        (false, _) => format!("{one} == {needle}"),
        (true, false) => format!("({one} is string and {one} contains {needle})"),
        (true, true) => format!("({one} is string and lower({one}) contains {needle})"),
    };
    let inside = format!("({value} is list or {value} is object) and (any part in {value}[**]: {})", own("part"));
    format!("({} or {inside})", own(value))
}

fn contains_bound(value: &str, bound: &str) -> String {
    let own =
        |one: &str| format!("({one} == {bound} or {one} is string and {bound} is string and {one} contains {bound})");
    let scalar = format!("({bound} is not list and {bound} is not object)");
    let inside = format!("({value} is list or {value} is object) and (any part in {value}[**]: {})", own("part"));
    format!("{scalar} and ({} or {inside})", own(value))
}

const DATE_SHAPE: &str = r"/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})?)?$/";

fn is_date(text: &str) -> bool {
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    has_shape(date, "dddd-dd-dd") && time.is_none_or(is_time) && is_day(date)
}

fn is_day(date: &str) -> bool {
    let mut parts = date.split('-').map(|part| part.parse::<u32>().unwrap_or(0));
    let (year, month, day) = (parts.next(), parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    let leaps =
        year.is_some_and(|year| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leaps => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=days).contains(&day) && year != Some(0)
}

fn is_time(time: &str) -> bool {
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at_checked(zone).unwrap_or((time, ""));
    let (clock, fraction) = clock.split_once('.').map_or((clock, None), |(clock, rest)| (clock, Some(rest)));
    let zone_fits = zone.is_empty() || zone == "Z" || has_shape(zone.get(1..).unwrap_or(""), "dd:dd");
    let fraction_fits = fraction.is_none_or(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    let mut parts = clock.split(':').map(|part| part.parse::<u32>().unwrap_or(99));
    let within = parts.next().is_some_and(|hour| hour < 24) && parts.all(|part| part < 60);
    has_shape(clock, "dd:dd:dd") && zone_fits && fraction_fits && within
}

/// True if a text has the given shape, in which `d` matches a digit and any other byte matches itself.
fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(letter, wanted): (u8, u8)| if wanted == b'd' { letter.is_ascii_digit() } else { letter == wanted };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}
