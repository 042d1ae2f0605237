//! Reads step patterns, conditions and flows; the rest of `parse.rs`.

use crate::model::{
    ArgForm, ArgTest, By, Comparison, Condition, Flow, Fold, OfProgram, Operand, Path, Pattern, Right, Segment,
    Selected, Selection, Simple, SoFar, Test, Text, What,
};
use crate::parse::Parser;
use crate::tokens::Token;
use serde_json::Value;

/// Words that go on behind a step.
const BEHIND: &[&str] =
    &["after", "and", "before", "between", "iff", "in", "only", "or", "then", "until", "when", "where"];

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| value.as_str().expect("a text").to_owned()).collect()
}

/// A test on the program of a parsed command.
fn of_program(field: &str, test: &ArgForm) -> OfProgram {
    match (field, test) {
        ("args", ArgForm::OneOf(values)) => OfProgram::Args(texts(values)),
        ("flags", ArgForm::OneOf(values)) => OfProgram::Flags(texts(values)),
        ("args", ArgForm::Test(Test::Compare(Comparison::Eq, Operand::Literal(Value::Array(values))))) => {
            OfProgram::ArgsExactly(texts(values))
        }
        ("flags", ArgForm::Test(Test::Contains { needle: Operand::Literal(Value::String(flag)), negated: true })) => {
            OfProgram::NoFlag(flag.clone())
        }
        _ => panic!("no test on {field} that is known here: {test:?}"),
    }
}

impl Parser {
    pub fn pattern(&mut self) -> Pattern {
        // A list goes on behind `,` and the `or` of `either`.
        let goes_on = match self.at.checked_sub(1).and_then(|before| self.tokens.get(before)) {
            Some(Token::Sign(",")) => true,
            Some(Token::Word(word)) => word == "or",
            _ => false,
        };
        if !goes_on {
            self.kind = None;
        }
        let mut alternatives = self.alternative();
        while self.sign("|") {
            alternatives.extend(self.alternative());
        }
        self.patterns += 1;
        Pattern { id: self.patterns, alternatives }
    }

    fn alternative(&mut self) -> Vec<Simple> {
        if !self.sign("(") {
            return vec![self.simple()];
        }
        let mut inner = self.alternative();
        while self.sign("|") {
            inner.extend(self.alternative());
        }
        if self.words("where") {
            assert_eq!(inner.len(), 1, "`where` behind a choice");
            inner[0].condition = Some(self.condition());
        }
        self.expect(")");
        inner
    }

    fn simple(&mut self) -> Simple {
        let proposed = self.words("proposed");
        let what = self.what(proposed);
        let mut simple = Simple { proposed, ..Simple::new(what) };
        if self.sign("(") {
            while !self.sign(")") {
                let path = self.path();
                let test = self.argument();
                match &mut simple.what {
                    What::Program(_, tests) if matches!(path.first(), "args" | "flags") => {
                        tests.push(of_program(path.first(), &test));
                    }
                    _ => simple.tests.push(ArgTest { path, test }),
                }
                self.sign(",");
            }
        }
        simple.status = match () {
            () if self.words("ok") => Some(true),
            () if self.words("failed") => Some(false),
            () => None,
        };
        if self.words("by") {
            simple.by = Some(match self.next() {
                Token::Variable(name) => By::Variable(name),
                Token::Word(name) | Token::Text(name) => By::Name(name),
                other => panic!("{other:?} is no agent"),
            });
        }
        simple
    }

    fn what(&mut self, proposed: bool) -> What {
        match self.next() {
            Token::Text(_) | Token::Regex(_) if self.kind.is_some() && !proposed => {
                self.at -= 1;
                let kind = self.kind.clone().unwrap_or_default();
                self.of_kind(&kind)
            }
            Token::Text(name) => match name.strip_prefix("${tool_").and_then(|name| name.strip_suffix('}')) {
                Some(name) => What::Param(name.to_owned()),
                None => What::Quoted(name),
            },
            Token::Word(word) if word == "any" => What::AnyTool,
            Token::Word(word) => match self.of_kind(&word) {
                What::Tool(name) => What::Tool(name),
                what => {
                    self.kind = Some(word);
                    what
                }
            },
            other => panic!("{other:?} is no step"),
        }
    }

    /// What stands behind the word of a kind; a tool of that name where it is none.
    fn of_kind(&mut self, word: &str) -> What {
        match word {
            "message" => What::Message,
            "command" if self.names_a_program() => {
                let Token::Word(name) = self.next() else { panic!("a program") };
                What::Program(name, Vec::new())
            }
            "command" => What::Command(self.text()),
            "thinking" => What::Thinking(self.text()),
            "http" => What::Http(self.text()),
            "skill" => What::Skill(self.optional_text()),
            "span" => What::Span(self.optional_text()),
            "handover" => What::Handover(self.optional_text()),
            "user" => What::User(self.text()),
            "assistant" => What::Assistant(self.text()),
            "read" => What::Read(self.optional_text()),
            "write" => What::Write(self.optional_text()),
            _ => What::Tool(word.to_owned()),
        }
    }

    /// `git(…)` behind `command`.
    fn names_a_program(&self) -> bool {
        let name = matches!(self.peek(), Some(Token::Word(word)) if !BEHIND.contains(&word.as_str()));
        name && self.tokens.get(self.at + 1) == Some(&Token::Sign("("))
    }

    fn text(&mut self) -> Text {
        match self.peek().cloned() {
            Some(Token::Text(text)) => {
                self.at += 1;
                Text::Substring(text)
            }
            Some(Token::Regex(regex)) => {
                self.at += 1;
                Text::Regex(regex)
            }
            _ => Text::Any,
        }
    }

    fn optional_text(&mut self) -> Option<String> {
        match self.text() {
            Text::Substring(text) => Some(text),
            _ => None,
        }
    }

    fn argument(&mut self) -> ArgForm {
        if self.peek() == Some(&Token::Sign("==")) && matches!(self.tokens.get(self.at + 1), Some(Token::Variable(_))) {
            self.at += 1;
            return self.binding(true);
        }
        if !self.sign(":") {
            return ArgForm::Test(self.test());
        }
        match self.peek() {
            Some(Token::Variable(_)) => self.binding(false),
            Some(Token::Regex(regex)) => {
                let regex = regex.clone();
                self.at += 1;
                ArgForm::Regex(regex)
            }
            Some(Token::Sign("[")) => ArgForm::OneOf(self.list()),
            _ if self.range_follows() => {
                let (from, to) = self.range();
                ArgForm::Range(from, to)
            }
            _ => ArgForm::Is(self.literal()),
        }
    }

    fn binding(&mut self, spelled_equals: bool) -> ArgForm {
        match self.next() {
            Token::Variable(variable) => ArgForm::Bind { variable, spelled_equals },
            other => panic!("{other:?} is no variable"),
        }
    }

    fn range_follows(&self) -> bool {
        let range = |token: Option<&Token>| token == Some(&Token::Sign(".."));
        range(self.peek()) || range(self.tokens.get(self.at + 1))
    }

    fn path(&mut self) -> Path {
        let Token::Word(first) = self.next() else { panic!("a path starts with a name") };
        let mut segments = vec![Segment::Key(first)];
        loop {
            if self.sign(".") {
                let Token::Word(key) = self.next() else { panic!("a name behind `.`") };
                segments.push(Segment::Key(key));
            } else if self.sign("[") {
                segments.push(match self.literal() {
                    Value::String(key) => Segment::Key(key),
                    index => Segment::Index(index.as_i64().expect("an index")),
                });
                self.expect("]");
            } else {
                return Path(segments);
            }
        }
    }

    // ---- Tests and conditions

    fn test(&mut self) -> Test {
        if let Some(comparison) = self.comparison() {
            return Test::Compare(comparison, self.operand());
        }
        if self.words("is not missing") {
            return Test::Missing { negated: true };
        }
        if self.words("is missing") {
            return Test::Missing { negated: false };
        }
        let negated = self.words("not");
        match () {
            () if self.words("in") => Test::In { list: self.operand(), negated },
            () if self.words("mentions") => Test::Mentions { needle: self.operand(), negated },
            () if self.words("contains") => Test::Contains { needle: self.operand(), negated },
            () if self.words("exists") => Test::Exists { negated },
            () if self.words("starts with") => match self.next() {
                Token::Text(text) => Test::StartsWith { text, negated },
                other => panic!("{other:?} is no text"),
            },
            () if self.words("matches") => match self.next() {
                Token::Regex(regex) => Test::Matches { regex, negated },
                other => panic!("{other:?} is no regex"),
            },
            () => panic!("no test at {:?}", &self.tokens[self.at..]),
        }
    }

    fn operand(&mut self) -> Operand {
        match self.peek().cloned() {
            Some(Token::Variable(name)) => {
                self.at += 1;
                Operand::Variable(name)
            }
            Some(Token::Word(word)) if !matches!(word.as_str(), "true" | "false" | "null") => {
                Operand::Path(self.path())
            }
            _ if self.range_follows() => {
                let (from, to) = self.range();
                Operand::Range(from, to)
            }
            _ => Operand::Literal(self.literal()),
        }
    }

    pub fn literal(&mut self) -> Value {
        match self.next() {
            Token::Text(text) => Value::String(text),
            Token::Number(text) => serde_json::from_str(&text).expect("a JSON number"),
            Token::Word(word) => serde_json::from_str(&word).expect("true, false or null"),
            Token::Sign("[") => {
                self.at -= 1;
                Value::Array(self.list())
            }
            other => panic!("{other:?} is no literal"),
        }
    }

    pub fn list(&mut self) -> Vec<Value> {
        self.expect("[");
        let mut items = Vec::new();
        while !self.sign("]") {
            items.push(self.literal());
            self.sign(",");
        }
        items
    }

    /// `implies` (to the right), `or`, `and`, `not`.
    pub fn condition(&mut self) -> Condition {
        let left = self.disjunction();
        match self.words("implies") {
            true => Condition::Implies(Box::new(left), Box::new(self.condition())),
            false => left,
        }
    }

    fn disjunction(&mut self) -> Condition {
        let mut left = self.conjunction();
        while self.words("or") {
            left = Condition::Or(Box::new(left), Box::new(self.conjunction()));
        }
        left
    }

    fn conjunction(&mut self) -> Condition {
        let mut left = self.negation();
        while self.words("and") {
            left = Condition::And(Box::new(left), Box::new(self.negation()));
        }
        left
    }

    fn negation(&mut self) -> Condition {
        if self.words("not") {
            return Condition::Not(Box::new(self.negation()));
        }
        if self.selection_follows() {
            return self.selected();
        }
        if self.sign("(") {
            let inner = self.condition();
            self.expect(")");
            return inner;
        }
        let path = self.path();
        let tested = match self.peek() {
            Some(Token::Word(word)) => {
                matches!(word.as_str(), "in" | "is" | "not" | "contains" | "mentions" | "exists" | "starts" | "matches")
            }
            Some(Token::Sign(sign)) => matches!(*sign, "==" | "!=" | "<" | "<=" | ">" | ">="),
            _ => false,
        };
        if tested { Condition::Test(path, self.test()) } else { Condition::Bare(path) }
    }

    /// `(count a)`, `sum(args.n of a)`.
    pub fn selection_follows(&self) -> bool {
        let word = |ahead: usize| match self.tokens.get(self.at + ahead) {
            Some(Token::Word(word)) => word.as_str(),
            _ => "",
        };
        let opens = |ahead: usize| self.tokens.get(self.at + ahead) == Some(&Token::Sign("("));
        if !Fold::ALL.iter().any(|(name, _)| *name == word(0)) || !opens(1) {
            return opens(0) && word(1) == "count";
        }
        // `first (a | b)` is a statement, `first(args.n of a)` is none.
        let rest = self.tokens.get(self.at + 3..).unwrap_or_default();
        let path = rest.chunks(2).take_while(|pair| pair.first() == Some(&Token::Sign("."))).count();
        rest.get(2 * path) == Some(&Token::Word("of".to_owned()))
    }

    fn selected(&mut self) -> Condition {
        let left = self.selection();
        let comparison = self.comparison().expect("a comparison");
        let right = match self.peek() {
            Some(Token::Number(_)) => Right::Number(self.integer()),
            _ => Right::Selection(self.selection()),
        };
        Condition::Selected(Box::new(Selected { left, comparison, right }))
    }

    fn selection(&mut self) -> Selection {
        let value = match self.peek().cloned() {
            Some(Token::Word(word)) => {
                self.at += 1;
                self.expect("(");
                let fold = Fold::ALL.iter().find(|(name, _)| *name == word).map(|(_, fold)| *fold);
                let path = self.path();
                assert!(self.words("of"));
                fold.map(|fold| (fold, path))
            }
            _ => {
                self.expect("(");
                assert!(self.words("count"));
                None
            }
        };
        let pattern = self.pattern();
        let so_far = SoFar::ALL.iter().find(|(words, _)| self.words(words)).map(|(_, so_far)| *so_far);
        self.expect(")");
        Selection { pattern, value, so_far, over: None }
    }

    // ---- Flow

    pub fn flow(&mut self) -> Flow {
        let mut parts = vec![self.flow_choice()];
        while self.sign("->") {
            parts.push(self.flow_choice());
        }
        if parts.len() == 1 { parts.remove(0) } else { Flow::Sequence(parts) }
    }

    fn flow_choice(&mut self) -> Flow {
        let mut parts = vec![self.flow_item()];
        while self.sign("|") {
            parts.push(self.flow_item());
        }
        if parts.len() == 1 { parts.remove(0) } else { Flow::Choice(parts) }
    }

    fn flow_item(&mut self) -> Flow {
        if !self.sign("(") {
            self.patterns += 1;
            self.kind = None;
            let id = self.patterns;
            return Flow::Pattern(Pattern { id, alternatives: vec![self.simple()] });
        }
        let mut inner = self.flow();
        if self.words("where") {
            let condition = self.condition();
            let Flow::Pattern(pattern) = &mut inner else { panic!("`where` behind more than one step") };
            pattern.alternatives[0].condition = Some(condition);
        }
        self.expect(")");
        match () {
            () if self.sign("*") => Flow::Repeat(Box::new(inner), 0, None),
            () if self.sign("+") => Flow::Repeat(Box::new(inner), 1, None),
            () if self.sign("?") => Flow::Repeat(Box::new(inner), 0, Some(1)),
            () if self.sign("{") => {
                let least = self.integer() as usize;
                let most = match self.sign(",") {
                    false => Some(least),
                    true => matches!(self.peek(), Some(Token::Number(_))).then(|| self.integer() as usize),
                };
                self.expect("}");
                Flow::Repeat(Box::new(inner), least, most)
            }
            () => inner,
        }
    }
}
