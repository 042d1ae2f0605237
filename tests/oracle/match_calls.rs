//! `calls match`, read and judged: what it says is found by trying every way to pair the calls.

use crate::calls_match::{Arguments, CallsMatch, Expected, Extent};
use crate::parse::Parser;
use crate::run::{Found, Step};
use crate::statement::Judged;
use crate::tokens::Token;
use crate::truth::{Truth, UNDECIDED, by_missing, sure};
use crate::value;
use serde_json::{Map, Value};

/// What stands behind `calls match`.
pub fn parse(parser: &mut Parser) -> CallsMatch {
    let extent = match () {
        () if parser.words("subset of") => Extent::Subset,
        () if parser.words("superset of") => Extent::Superset,
        () => Extent::Exactly,
    };
    parser.expect("[");
    let mut expected = Vec::new();
    while !parser.sign("]") {
        let mut fields = object(parser);
        let Some(Value::String(tool)) = fields.remove("tool") else { panic!("a call has a tool") };
        expected.push(Expected { tool, args: fields.remove("args").and_then(|args| args.as_object().cloned()) });
        parser.sign(",");
    }
    let repeats_ignored = parser.words("repeats ignored");
    let in_order = match () {
        () if repeats_ignored => false,
        () if parser.words("in any order") => false,
        () if parser.words("in order") => true,
        () => extent == Extent::Exactly,
    };
    let arguments = match () {
        () if parser.words("arguments named") => Arguments::Named,
        () if parser.words("arguments optional") => Arguments::Optional,
        () if parser.words("arguments ignored") => Arguments::Ignored,
        () => Arguments::Exact,
    };
    let folded = parser.words("folded");
    let mut ignored = Vec::new();
    if parser.words("ignoring") {
        parser.expect("[");
        while !parser.sign("]") {
            let Token::Word(key) = parser.next() else { panic!("a key") };
            ignored.push(key);
            parser.sign(",");
        }
    }
    let score = parser.words("score").then(|| {
        parser.expect(">=");
        let Token::Number(text) = parser.next() else { panic!("a score is a number") };
        text.strip_prefix("0.").expect("a share").parse().expect("hundredths")
    });
    CallsMatch { extent, expected, in_order, arguments, folded, ignored, repeats_ignored, score }
}

fn object(parser: &mut Parser) -> Map<String, Value> {
    parser.expect("{");
    let mut fields = Map::new();
    while !parser.sign("}") {
        let Token::Word(key) = parser.next() else { panic!("a key") };
        parser.expect(":");
        let value = match parser.peek() {
            Some(Token::Sign("{")) => Value::Object(object(parser)),
            _ => parser.literal(),
        };
        fields.insert(key, value);
        parser.sign(",");
    }
    fields
}

impl CallsMatch {
    /// What it says of executed calls; `perhaps` is the answer of a pair that depends on what is not recorded.
    pub fn judge(&self, calls: &[&Step], perhaps: &mut dyn FnMut() -> bool) -> Judged {
        let fits = self.pairs(calls, &mut |truth| truth.plain.unwrap_or_else(&mut *perhaps));
        let nothing = if self.extent == Extent::Subset { calls.is_empty() } else { self.expected.is_empty() };
        match self.is_met(&fits, calls.len()) {
            true if nothing => Judged::Vacuous,
            true => Judged::Pass { for_good: self.extent == Extent::Superset },
            false => Judged::Fail { for_good: !self.may_be_met(&fits, calls.len()) },
        }
    }

    /// Whether a fail proves nothing: it would be none if values that are alike were equal.
    pub fn fails_unproved(&self, calls: &[&Step], complete: bool) -> bool {
        let fits = self.pairs(calls, &mut |truth| truth == sure(true) || truth == by_missing(false));
        if complete { self.is_met(&fits, calls.len()) } else { self.may_be_met(&fits, calls.len()) }
    }

    fn pairs(&self, calls: &[&Step], answer: &mut dyn FnMut(Truth) -> bool) -> Vec<Vec<bool>> {
        let row = |wanted: &Expected| calls.iter().map(|call| answer(self.fit(wanted, call))).collect();
        self.expected.iter().map(row).collect()
    }

    /// Further calls may stand for any expected one; where each does for all of them, many may come.
    fn may_be_met(&self, fits: &[Vec<bool>], made: usize) -> bool {
        let most = if self.repeats_ignored { 100 } else { self.expected.len() };
        (1..=most).any(|more| {
            let longer = |row: &Vec<bool>| row.iter().copied().chain(std::iter::repeat_n(true, more)).collect();
            self.is_met(&fits.iter().map(longer).collect::<Vec<_>>(), made + more)
        })
    }

    fn is_met(&self, fits: &[Vec<bool>], made: usize) -> bool {
        let (pairs, whole) = if self.repeats_ignored {
            let rows = fits.iter().filter(|row| row.contains(&true)).count();
            let columns = (0..made).filter(|place| fits.iter().any(|row| row[*place])).count();
            match self.extent {
                Extent::Exactly => (rows + columns, self.expected.len() + made),
                Extent::Subset => (columns, made),
                Extent::Superset => (rows, self.expected.len()),
            }
        } else {
            let whole = match self.extent {
                Extent::Exactly => self.expected.len().max(made),
                Extent::Subset => made,
                Extent::Superset => self.expected.len(),
            };
            (self.most_pairs(fits, &mut Vec::new()), whole)
        };
        whole == 0 || pairs * 100 >= whole * self.score.map_or(100, |score| score as usize)
    }

    fn most_pairs(&self, fits: &[Vec<bool>], taken: &mut Vec<usize>) -> usize {
        let Some((first, rest)) = fits.split_first() else { return 0 };
        let mut best = self.most_pairs(rest, taken);
        for (place, fits) in first.iter().enumerate() {
            let free = if self.in_order { taken.iter().all(|one| *one < place) } else { !taken.contains(&place) };
            if *fits && free {
                taken.push(place);
                best = best.max(1 + self.most_pairs(rest, taken));
                taken.pop();
            }
        }
        best
    }

    /// Undecided where that depends on arguments which are not recorded.
    fn fit(&self, wanted: &Expected, call: &Step) -> Truth {
        if wanted.tool != call.text() {
            return sure(false);
        }
        let (Some(args), false) = (&wanted.args, self.arguments == Arguments::Ignored) else { return sure(true) };
        let given = match call.field("args") {
            Found::Value(Value::Null) => Map::new(),
            Found::Value(Value::Object(given)) => given,
            Found::Value(_) => return sure(false),
            Found::Missing | Found::Absent => return UNDECIDED,
        };
        let counts = |key: &String| !self.ignored.contains(key);
        let equal = |(key, value): (&String, &Value)| match given.get(key) {
            None => sure(self.arguments == Arguments::Optional),
            Some(own) if self.folded && same_folded(own, value) => sure(true),
            Some(own) => value::equality(own, value, value::equal),
        };
        let others = given.keys().filter(|key| counts(key)).all(|key| args.contains_key(key));
        let named = args.iter().filter(|(key, _)| counts(key)).map(equal).fold(sure(true), Truth::and);
        named.and(sure(others || self.arguments == Arguments::Named))
    }
}

/// Texts that differ in letter case and white space alone.
fn same_folded(one: &Value, other: &Value) -> bool {
    let fold = |value: &Value| {
        let words = value.as_str()?.split_whitespace().map(str::to_lowercase);
        Some(words.collect::<Vec<String>>().join(" "))
    };
    matches!((fold(one), fold(other)), (Some(one), Some(other)) if one == other)
}
