//! What tokens cost, by a table that the user gives: the cost of runs that record how much they used and not what it cost. Nothing is
//! guessed: a model that the table does not know, a count without a price and models that cannot be told apart leave the cost unknown.

use super::names::file::parse_entries;
use crate::adapt::nodes::node_object;
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::CostSource;
use bumpalo::Bump;

/// Prices of models.
#[derive(Debug, Clone, Default)]
pub struct PriceTable {
    /// Longest pattern first.
    models: Vec<ModelPrice>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ModelPrice {
    pattern: String,
    input: i64,
    output: i64,
    cache_read: Option<i64>,
    cache_write: Option<i64>,
}

const INPUT: &str = "input";
const OUTPUT: &str = "output";
const CACHE_READ: &str = "cache_read";
const CACHE_WRITE: &str = "cache_write";
const KEYS: [&str; 4] = [INPUT, OUTPUT, CACHE_READ, CACHE_WRITE];
/// For a price per million tokens; per token there are as many more.
const PLACES: usize = 6;
const DIGITS: usize = 9;
const MOST_TOKENS: i64 = 1_000_000_000_000_000;
const MOST: usize = 10_000;

/// Input, output, total, thinking, cache read, cache write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelTokens<'run> {
    pub(crate) model: Option<&'run str>,
    pub(crate) counts: UsageCounts,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ModelSpending<'run> {
    pub(crate) models: Vec<&'run str>,
    pub(crate) parts: Vec<ModelTokens<'run>>,
}

pub(crate) type UsageCounts = [Option<Number<'static>>; 6];

const COUNTS: [&str; 6] = [
    of_usage::INPUT,
    of_usage::OUTPUT,
    of_usage::TOTAL,
    of_usage::REASONING,
    of_usage::CACHE_READ,
    of_usage::CACHE_WRITE,
];

impl PriceTable {
    /// The prices in a file, TOML or JSON: for each model, or pattern of names, what a million tokens cost in USD.
    ///
    /// # Errors
    /// What is wrong with the file, in words.
    pub fn of_file(text: &str) -> Result<Self, String> {
        let entries = parse_entries(text)?;
        if entries.is_empty() || entries.len() > MOST {
            let problem = if entries.is_empty() { "is empty" } else { "names more than 10,000 models" };
            return Err(format!("the file {problem}"));
        }
        let models = entries.into_iter().map(|(pattern, prices)| ModelPrice::from_entry(pattern, &prices));
        let mut models = models.collect::<Result<Vec<_>, _>>()?;
        // A name is longer than a pattern that it stands behind: what says most of a model is looked at first.
        models.sort_by(|a, b| b.pattern_weight().cmp(&a.pattern_weight()).then_with(|| a.pattern.cmp(&b.pattern)));
        Ok(Self { models })
    }

    fn model_price(&self, model: &str) -> Option<&ModelPrice> {
        self.models.iter().find(|one| matches_pattern(one.pattern.as_bytes(), model.as_bytes()))
    }
}

impl ModelPrice {
    fn from_entry(pattern: String, prices: &serde_json::Value) -> Result<Self, String> {
        let serde_json::Value::Object(prices) = prices else {
            return Err(format!("`{pattern}` has no prices: write `input = 2.5` and `output = 10` below its heading"));
        };
        if let Some(other) = prices.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(match suggest_name(other, KEYS) {
                Some(near) => format!("`{pattern}` has no price `{other}`: did you mean `{near}`?"),
                None => format!("`{pattern}` has no price `{other}`: known are {}", KEYS.join(", ")),
            });
        }
        let price = |key: &str| prices.get(key).map(|price| self::parse_price(&pattern, key, price)).transpose();
        let needed = |key: &str| price(key)?.ok_or_else(|| format!("`{pattern}` has no price for `{key}`"));
        let (input, output) = (needed(INPUT)?, needed(OUTPUT)?);
        let (cache_read, cache_write) = (price(CACHE_READ)?, price(CACHE_WRITE)?);
        Ok(Self { pattern, input, output, cache_read, cache_write })
    }

    /// Exact names before patterns, longer before shorter.
    fn pattern_weight(&self) -> (bool, usize) {
        (!self.pattern.contains(['*', '?']), self.pattern.chars().count())
    }

    /// In 1e-12 dollars.
    fn counts_cost(&self, counts: &UsageCounts) -> Result<i128, String> {
        let [input, output, total, reasoning, read, write] = counts.map(|count| count.map(parse_tokens).transpose());
        let (input, output) = (input?, output?);
        let (Some(input), Some(output)) = (input, output) else {
            return Err("its usage does not tell input and output apart".to_owned());
        };
        let (read, write) = (read?.unwrap_or(0), write?.unwrap_or(0));
        let plain = input - read - write;
        if plain < 0 {
            return Err("more is counted of its cache than of its input".to_owned());
        }
        // What a model thinks costs as what it says. In most formats it is a part of that; where the total says that it is none, it is added.
        let (reasoning, total) = (reasoning?.unwrap_or(0), total?);
        let thought = if total == Some(input + output + reasoning) { reasoning } else { 0 };
        let of_cache = |count: i128, price: Option<i64>, key: &str| match (count, price) {
            (0, _) => Ok(0),
            (count, Some(price)) => Ok(count * i128::from(price)),
            (_, None) => Err(format!("`{}` has no price for `{key}`", self.pattern)),
        };
        let cached = of_cache(read, self.cache_read, CACHE_READ)? + of_cache(write, self.cache_write, CACHE_WRITE)?;
        Ok(plain * i128::from(self.input) + (output + thought) * i128::from(self.output) + cached)
    }
}

fn parse_tokens(count: Number<'_>) -> Result<i128, String> {
    let whole = count.as_i64().filter(|count| (0..=MOST_TOKENS).contains(count)).map(i128::from);
    whole.ok_or_else(|| "a count of its usage is no number of tokens".to_owned())
}

/// In 1e-6 dollars.
fn parse_price(pattern: &str, key: &str, price: &serde_json::Value) -> Result<i64, String> {
    let wrong = |why: &str| format!("the price `{key}` of `{pattern}` is {why}: `{price}`");
    let serde_json::Value::Number(number) = price else { return Err(wrong("no number")) };
    let mut text = number.to_string();
    if text.contains("e-") {
        let far = format!("{:.12}", number.as_f64().unwrap_or(f64::NAN));
        text = far.trim_end_matches('0').to_owned();
    }
    let (whole, places) = text.split_once('.').unwrap_or((&text, ""));
    let places = if places == "0" { "" } else { places };
    if whole.starts_with('-') {
        return Err(wrong("below zero"));
    }
    if places.len() > PLACES || whole.len() > DIGITS || text.contains(['e', 'E']) {
        return Err(wrong("too large, or has more than six decimal places"));
    }
    format!("{whole}{places:0<PLACES$}").parse().map_err(|_| wrong("no number"))
}

/// `*` matches any characters, `?` one.
fn matches_pattern(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut here, mut star) = (0, 0, None);
    while let Some(byte) = name.get(here) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(sign) if *sign == b'?' || sign == byte => (at, here) = (at + 1, here + 1),
            _ => match star {
                Some((sign, from)) => {
                    star = Some((sign, from + 1));
                    (at, here) = (sign + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|sign| *sign == b'*'))
}

/// The recorded cost, else that of its usage. The second is an entry to add.
pub(crate) fn of_run<'run>(
    prices: &PriceTable,
    run: Object<'run>,
    spending: &ModelSpending<'run>,
    arena: &'run Bump,
) -> (CostSource, Option<Node<'run>>) {
    let recorded = |key| run.get(key).filter(|node| !matches!(node.value, Value::Null | Value::Absent));
    if recorded(of_run::COST).is_some() {
        return (CostSource::Recorded, None);
    }
    let Some(usage) = recorded(of_run::USAGE).and_then(node_object) else {
        return (CostSource::Unknown("it records no usage".to_owned()), None);
    };
    let counts = COUNTS.map(|key| match usage.get(key).map(|node| node.value) {
        Some(Value::Number(number)) => number.add(Number::Integer(0)),
        _ => None,
    });
    match of_parts(prices, &spending.parts, &counts).unwrap_or_else(|| of_whole(prices, run, spending, &counts)) {
        Ok(cost) => {
            let text = arena.alloc_str(&decimal_text(cost));
            (CostSource::ByTable, Some(Node::computed(Value::Number(Number::Written(text)))))
        }
        Err(why) => (CostSource::Unknown(why), None),
    }
}

/// `None` if the parts do not add up to the whole.
fn of_parts(prices: &PriceTable, parts: &[ModelTokens<'_>], whole: &UsageCounts) -> Option<Result<i128, String>> {
    let sum = |index: usize| {
        let counts = parts.iter().filter_map(|part| part.counts.get(index).copied().flatten());
        counts.map(|count| parse_tokens(count).ok()).try_fold(0, |sum, count| Some(sum + count?))
    };
    let makes_up = |index: usize| {
        let whole = whole.get(index).copied().flatten().map(parse_tokens).transpose().ok()?;
        Some(sum(index)? == whole.unwrap_or(0))
    };
    let complete = !parts.is_empty() && parts.iter().all(|part| part.model.is_some());
    if !complete || makes_up(0) != Some(true) || makes_up(1) != Some(true) {
        return None;
    }
    let cost = |part: &ModelTokens<'_>| {
        let model = part.model.unwrap_or_default();
        prices.model_price(model).ok_or_else(|| unknown_model(model))?.counts_cost(&part.counts)
    };
    Some(parts.iter().try_fold(0, |sum, part| Ok(sum + cost(part)?)))
}

fn of_whole<'run>(
    prices: &PriceTable,
    run: Object<'run>,
    spending: &ModelSpending<'run>,
    counts: &UsageCounts,
) -> Result<i128, String> {
    let meta = run.get(of_run::META).and_then(node_object).and_then(|meta| meta.get(of_meta::MODEL));
    let said = [meta, run.get(of_meta::MODEL)].into_iter().flatten().filter_map(crate::adapt::nodes::node_text);
    let parts = spending.parts.iter().filter_map(|part| part.model);
    let models: Vec<&str> = parts.chain(spending.models.iter().copied()).chain(said).collect();
    let Some((first, others)) = models.split_first() else { return Err("it names no model".to_owned()) };
    let known = |model: &str| prices.model_price(model).ok_or_else(|| unknown_model(model));
    let price = known(first)?;
    for other in others {
        if known(other)? != price {
            return Err("it has several models, and does not tell what each used".to_owned());
        }
    }
    price.counts_cost(counts)
}

fn unknown_model(model: &str) -> String {
    format!("the table has no model `{model}`")
}

/// From units of 1e-12.
fn decimal_text(cost: i128) -> String {
    let unit = 10_i128.pow(12);
    let text = format!("{}.{:012}", cost / unit, cost % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(model: &ModelPrice, counts: [i64; 6]) -> Result<String, String> {
        model.counts_cost(&counts.map(|count| (count >= 0).then_some(Number::Integer(count)))).map(decimal_text)
    }

    #[test]
    fn costs_are_exact() {
        let prices = PriceTable::of_file("[m]\ninput = 0.1\noutput = 0.2\ncache_read = 0.000001\n").expect("prices");
        let model = prices.model_price("m").expect("m");
        assert_eq!(cost(model, [1, 0, -1, -1, -1, -1]).as_deref(), Ok("0.0000001"));
        assert_eq!(cost(model, [3_000_000, 1_000_000, -1, -1, -1, -1]).as_deref(), Ok("0.5"));
        assert_eq!(cost(model, [1, 0, -1, -1, 1, -1]).as_deref(), Ok("0.000000000001"));
        assert_eq!(cost(model, [0, 0, -1, -1, -1, -1]).as_deref(), Ok("0"));
        // What was thought is a part of what was said, unless the total says otherwise.
        assert_eq!(cost(model, [0, 5, 5, 3, -1, -1]).as_deref(), Ok("0.000001"));
        assert_eq!(cost(model, [0, 2, 5, 3, -1, -1]).as_deref(), Ok("0.000001"));
        assert!(cost(model, [5, 0, -1, -1, -1, 2]).is_err_and(|why| why.contains("cache_write")));
        assert!(cost(model, [5, 0, -1, -1, 6, -1]).is_err() && cost(model, [5, -1, 9, -1, -1, -1]).is_err());
    }

    #[test]
    fn what_says_most_of_a_model_counts() {
        let text = r#"{"*": {"input": 1, "output": 1}, "gpt-*": {"input": 2, "output": 2}, "gpt-4o": {"input": 3, "output": 3},
            "gpt-4o-*": {"input": 4, "output": 4}, "o?": {"input": 5, "output": 5}}"#;
        let prices = PriceTable::of_file(text).expect("prices");
        for (model, price) in [("gpt-4o", 3), ("gpt-4o-mini", 4), ("gpt-5", 2), ("a/gpt-5", 1), ("o3", 5), ("o", 1)] {
            assert_eq!(prices.model_price(model).map(|one| one.input / 1_000_000), Some(price), "{model}");
        }
        assert!(PriceTable::of_file("[m]\ninput = 1\noutput = 1").expect("prices").model_price("n").is_none());
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said() {
        for (text, said) in [
            ("", "is empty"),
            ("m = 5", "below its heading"),
            ("[m]\ninput = 1", "no price for `output`"),
            ("[m]\ninput = 1\noutput = 1\ncached = 1", "no price `cached`"),
            ("[m]\ninput = 1\noutput = 1\ncache-read = 1", "did you mean `cache_read`"),
            ("[m]\ninput = \"1\"\noutput = 1", "no number"),
            ("[m]\ninput = -1\noutput = 1", "below zero"),
            ("[m]\ninput = 0.0000001\noutput = 1", "six decimal places"),
            ("[m]\ninput = 1e30\noutput = 1", "too large"),
            ("{", "not JSON"),
        ] {
            let error = PriceTable::of_file(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for (pattern, name, fits) in [
            ("", "", true),
            ("*", "", true),
            ("a*b*c", "aXbYbc", true),
            ("a*b", "ab", true),
            ("a*b", "abc", false),
            ("?", "", false),
            ("*4?", "gpt-4o", true),
            ("*claude-*", "eu.anthropic.claude-x", true),
        ] {
            assert_eq!(matches_pattern(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        }
    }
}
