//! Reads the text that `print.rs` writes, so that cases can be kept as rules and runs that people read.

use crate::model::{
    Adjacency, Comparison, Condition, CountTest, Denied, Header, Over, Pattern, Quantifier, SequenceMode, Statement,
    Within,
};
use crate::tokens::{Token, tokens};
use serde_json::Value;

/// All statements of a text.
pub fn statements(text: &str) -> Vec<Statement> {
    let mut parser = Parser { tokens: tokens(text), at: 0, patterns: 0, kind: None };
    let body = parser.body();
    assert_eq!(parser.at, parser.tokens.len(), "left over: {:?} of `{text}`", &parser.tokens[parser.at..]);
    body
}

pub struct Parser {
    pub tokens: Vec<Token>,
    pub at: usize,
    /// Patterns read so far: the place of a pattern is its number.
    pub patterns: usize,
    /// The last kind word of the list that is read.
    pub kind: Option<String>,
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Eq),
    ("!=", Comparison::Ne),
    ("<", Comparison::Lt),
    ("<=", Comparison::Le),
    (">", Comparison::Gt),
    (">=", Comparison::Ge),
];

impl Parser {
    pub fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is_word(&self, ahead: usize, word: &str) -> bool {
        self.tokens.get(self.at + ahead) == Some(&Token::Word(word.to_owned()))
    }

    /// Takes these words when they all stand here.
    pub fn words(&mut self, words: &str) -> bool {
        let words: Vec<&str> = words.split(' ').collect();
        let found = words.iter().enumerate().all(|(ahead, word)| self.is_word(ahead, word));
        self.at += if found { words.len() } else { 0 };
        found
    }

    pub fn sign(&mut self, sign: &'static str) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, sign: &'static str) {
        assert!(self.sign(sign), "`{sign}` expected at {:?}", &self.tokens[self.at..]);
    }

    pub fn next(&mut self) -> Token {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned().expect("the text goes on")
    }

    fn body(&mut self) -> Vec<Statement> {
        let mut out = Vec::new();
        loop {
            while self.peek() == Some(&Token::Newline) {
                self.at += 1;
            }
            if self.peek().is_none() || self.peek() == Some(&Token::Sign("}")) {
                return out;
            }
            let statement = self.statement();
            let statement = match self.words("when") {
                true => Statement::When(Box::new(statement), self.condition()),
                false => statement,
            };
            let denied = self.modifiers();
            out.push(match denied == Denied::default() {
                true => statement,
                false => Statement::Gated(Box::new(statement), denied),
            });
        }
    }

    /// `deny vacuous allow undecided`.
    fn modifiers(&mut self) -> Denied {
        let mut denied = Denied::default();
        loop {
            let denies = self.words("deny");
            if !denies && !self.words("allow") {
                return denied;
            }
            match self.next() {
                Token::Word(word) if word == "vacuous" => denied.vacuous = Some(denies),
                Token::Word(word) if word == "undecided" => denied.undecided = Some(denies),
                other => panic!("{other:?} is nothing to deny"),
            }
        }
    }

    fn block(&mut self) -> Vec<Statement> {
        self.expect("{");
        let body = self.body();
        self.expect("}");
        body
    }

    fn statement(&mut self) -> Statement {
        use Statement as S;
        if self.selection_follows() {
            let condition = self.condition();
            return self.around(condition);
        }
        match () {
            () if self.words("require") => self.require(),
            () if self.words("never repeat") => self.never_repeat(),
            () if self.words("never") => self.never(),
            () if self.words("only") => S::Only(self.patterns(",")),
            () if self.words("count") => {
                let a = self.pattern();
                S::Count(a, self.count_test())
            }
            () if self.words("first") => S::First(self.pattern()),
            () if self.words("last") => S::Last(self.pattern()),
            () if self.words("immediately before") => self.ordered(true, Adjacency::Immediately),
            () if self.words("immediately after") => self.ordered(false, Adjacency::Immediately),
            () if self.words("starts before each") => self.ordered(true, Adjacency::StartsEach),
            () if self.words("starts before") => self.ordered(true, Adjacency::Starts),
            () if self.words("before each") => self.ordered(true, Adjacency::Each),
            () if self.words("after each") => self.ordered(false, Adjacency::Each),
            () if self.words("before") => self.ordered(true, Adjacency::Plain),
            () if self.words("after") => self.ordered(false, Adjacency::Plain),
            () if self.words("sequence only") => self.sequence(SequenceMode::Only),
            () if self.words("sequence exactly") => self.sequence(SequenceMode::Exactly),
            () if self.words("sequence") => self.sequence(SequenceMode::Gaps),
            () if self.words("nested") => self.pair("->", S::Nested),
            () if self.words("together") => self.pair(",", S::Together),
            () if self.words("apart") => self.pair(",", S::Apart),
            () if self.words("not both") => self.pair(",", S::NotBoth),
            () if self.words("if") => self.pair("then", S::If),
            () if self.words("either") => S::Either(self.patterns("or")),
            () if self.words("flow") => S::Flow(self.flow()),
            () if self.words("any of") => S::AnyOf(self.block()),
            () if self.words("all of") => S::AllOf(self.block()),
            () if self.words("none of") => S::NoneOf(self.block()),
            () if self.words("at least") => {
                let n = self.integer() as usize;
                assert!(self.words("of"));
                S::AtLeast(n, self.block())
            }
            () if self.words("between") => {
                let a = self.pattern();
                assert!(self.words("and"));
                let c = self.pattern();
                S::Block(Header::Between(a, c), self.block())
            }
            () if self.words("when") => {
                let condition = self.condition();
                S::Block(Header::When(condition), self.block())
            }
            () if self.words("each") => self.quantified(Quantifier::Each),
            () if self.words("some") => self.quantified(Quantifier::Some),
            () if self.words("calls match") => S::CallsMatch(crate::match_calls::parse(self)),
            () if self.words("no bad in") => S::NoBad(self.pattern()),
            () if self.words("no") => self.quantified(Quantifier::No),
            () => self.other(),
        }
    }

    /// An expression, alone or around every match.
    fn around(&mut self, condition: Condition) -> Statement {
        let over = match self.words("in a row") {
            true => Some(Over::Row),
            false => self.within().map(Over::Within),
        };
        match (condition, over) {
            (Condition::Selected(mut selected), Some(over)) => {
                selected.left.over = Some(over);
                let mut step = selected.left.pattern.clone();
                self.patterns += 1;
                step.id = self.patterns;
                Statement::Quantified(Quantifier::Each, step, Condition::Selected(selected))
            }
            (condition, _) => Statement::Expression(condition),
        }
    }

    /// `not STATEMENT`, `A iff B`, `B only after A`, or an expression.
    fn other(&mut self) -> Statement {
        let start = self.at;
        if self.is_word(0, "not") && self.tokens.get(self.at + 1) != Some(&Token::Sign("(")) {
            self.at += 1;
            return Statement::Not(Box::new(self.statement()));
        }
        let names_a_step = self.line_has("iff") || self.line_has("only");
        if names_a_step {
            let first = self.pattern();
            if self.words("iff") {
                return Statement::Iff(first, self.pattern());
            }
            assert!(self.words("only after"));
            let a = self.pattern();
            let within = self.within();
            return Statement::Before { adjacency: Adjacency::Plain, a, targets: vec![first], within, reversed: true };
        }
        self.at = start;
        Statement::Expression(self.condition())
    }

    fn line_has(&self, word: &str) -> bool {
        let line =
            self.tokens[self.at..].iter().take_while(|token| !matches!(token, Token::Newline | Token::Sign("}")));
        line.into_iter().any(|token| *token == Token::Word(word.to_owned()))
    }

    fn require(&mut self) -> Statement {
        let a = self.pattern();
        if !matches!(self.peek(), Some(Token::Number(_) | Token::Sign(".."))) {
            return Statement::Require(a);
        }
        let (from, to) = self.range();
        assert!(self.words("times"));
        Statement::RequireTimes(a, from, to)
    }

    fn never_repeat(&mut self) -> Statement {
        let a = self.pattern();
        assert!(self.words("more than"));
        let limit = self.integer() as usize;
        assert!(self.words("times"));
        Statement::NeverRepeat(a, limit)
    }

    fn never(&mut self) -> Statement {
        let all = self.patterns(",");
        if self.words("after") {
            let (b, a) = (all, self.pattern());
            let until = if self.words("until") { Some(self.pattern()) } else { None };
            return Statement::NeverAfter { b, a, until, within: self.within() };
        }
        if self.words("before") {
            let (b, a) = (all, self.pattern());
            return Statement::NeverBefore { b, a, within: self.within() };
        }
        if self.words("between") {
            let (b, a) = (all, self.pattern());
            assert!(self.words("and"));
            return Statement::NeverBetween { b, a, c: self.pattern() };
        }
        Statement::Never(all)
    }

    fn ordered(&mut self, before: bool, adjacency: Adjacency) -> Statement {
        let a = self.pattern();
        if before && self.peek() == Some(&Token::Sign("{")) {
            return Statement::Block(Header::Before(a), self.block());
        }
        if !before && (self.peek() == Some(&Token::Sign("{")) || self.is_word(0, "until")) {
            let until = if self.words("until") { Some(self.pattern()) } else { None };
            return Statement::Block(Header::After(a, until), self.block());
        }
        self.expect("->");
        let targets = self.patterns(",");
        let within = self.within();
        match before {
            true => Statement::Before { adjacency, a, targets, within, reversed: false },
            false => Statement::After { adjacency, a, targets, within },
        }
    }

    fn sequence(&mut self, mode: SequenceMode) -> Statement {
        let patterns = self.patterns("->");
        Statement::Sequence { mode, patterns, within: self.within() }
    }

    fn pair(&mut self, between: &'static str, build: fn(Pattern, Pattern) -> Statement) -> Statement {
        let a = self.pattern();
        assert!(self.separator(between));
        build(a, self.pattern())
    }

    fn separator(&mut self, between: &'static str) -> bool {
        if between.starts_with(char::is_alphabetic) { self.words(between) } else { self.sign(between) }
    }

    fn patterns(&mut self, between: &'static str) -> Vec<Pattern> {
        let mut all = vec![self.pattern()];
        while self.separator(between) {
            all.push(self.pattern());
        }
        all
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Statement {
        let a = self.pattern();
        if self.peek() == Some(&Token::Sign("{")) {
            return Statement::Block(Header::Each(a), self.block());
        }
        self.expect(":");
        Statement::Quantified(quantifier, a, self.condition())
    }

    fn within(&mut self) -> Option<Within> {
        if !self.words("within") {
            return None;
        }
        let Token::Number(text) = self.next() else { panic!("a bound is a number") };
        if let Some(n) = text.strip_suffix("ms") {
            return Some(Within::Milliseconds(n.parse().expect("milliseconds")));
        }
        if let Some(n) = text.strip_suffix('s') {
            return Some(Within::Milliseconds(n.parse::<i64>().expect("seconds") * 1000));
        }
        let n = text.parse().expect("a number");
        match () {
            () if self.words("calls") || self.words("call") => Some(Within::Calls(n)),
            () if self.words("turns") || self.words("turn") => Some(Within::Turns(n)),
            () => panic!("calls, turns or a duration"),
        }
    }

    pub fn integer(&mut self) -> i64 {
        match self.next() {
            Token::Number(text) => text.parse().expect("an integer"),
            other => panic!("{other:?} is no integer"),
        }
    }

    /// `3`, `1..3`, `..3`, `1..`.
    pub fn range(&mut self) -> (Option<i64>, Option<i64>) {
        let from = matches!(self.peek(), Some(Token::Number(_))).then(|| self.integer());
        if !self.sign("..") {
            return (from, from);
        }
        let to = matches!(self.peek(), Some(Token::Number(_))).then(|| self.integer());
        (from, to)
    }

    fn count_test(&mut self) -> CountTest {
        if let Some(comparison) = self.comparison() {
            return CountTest::Compare(comparison, self.integer());
        }
        assert!(self.words("in"));
        if self.peek() == Some(&Token::Sign("[")) {
            return CountTest::List(self.list().iter().filter_map(Value::as_i64).collect());
        }
        let (from, to) = self.range();
        CountTest::Range(from, to)
    }

    pub fn comparison(&mut self) -> Option<Comparison> {
        COMPARISONS.into_iter().find(|(sign, _)| self.sign(sign)).map(|(_, comparison)| comparison)
    }
}
