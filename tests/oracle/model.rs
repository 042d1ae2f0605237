//! Rules as the reference evaluator sees them: sections 4 to 6 of the language reference, nothing of the program.

use crate::calls_match::CallsMatch;
use serde_json::Value;

/// `args.a["k y"][0]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path(pub Vec<Segment>);

#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    Key(String),
    Index(i64),
}

impl Path {
    pub fn first(&self) -> &str {
        match self.0.first() {
            Some(Segment::Key(key)) => key,
            _ => "",
        }
    }

    /// The same path below another name.
    pub fn below(&self, name: &str) -> Path {
        let mut segments = vec![Segment::Key(name.to_owned())];
        segments.extend(self.0.iter().cloned());
        Path(segments)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// The right side of a test.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Literal(Value),
    /// Both ends included.
    Range(Option<i64>, Option<i64>),
    /// `$x`.
    Variable(String),
    /// A path that starts at the step.
    Path(Path),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Compare(Comparison, Operand),
    In { list: Operand, negated: bool },
    Contains { needle: Operand, negated: bool },
    Mentions { needle: Operand, negated: bool },
    StartsWith { text: String, negated: bool },
    Matches { regex: String, negated: bool },
    Exists { negated: bool },
    Missing { negated: bool },
}

/// A condition on a step or on the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `path TEST`.
    Test(Path, Test),
    /// A path to a boolean, said bare: `ok`.
    Bare(Path),
    /// `sum(args.n of a) <= count b`.
    Selected(Box<Selected>),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Implies(Box<Condition>, Box<Condition>),
}

/// A function over the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Sum,
    Average,
    Least,
    Greatest,
    Length,
    First,
    Last,
}

impl Fold {
    pub const ALL: [(&'static str, Fold); 7] = [
        ("sum", Fold::Sum),
        ("avg", Fold::Average),
        ("min", Fold::Least),
        ("max", Fold::Greatest),
        ("length", Fold::Length),
        ("first", Fold::First),
        ("last", Fold::Last),
    ];

    pub fn word(self) -> &'static str {
        Fold::ALL.iter().find(|(_, fold)| *fold == self).map_or("", |(word, _)| word)
    }
}

/// `count A`, `sum(E of A so far)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    pub pattern: Pattern,
    /// `None`: their number.
    pub value: Option<(Fold, Path)>,
    pub so_far: Option<SoFar>,
    /// `within W`, `in a row`: around the step in scope.
    pub over: Option<Over>,
}

/// Which of the earlier steps a list keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoFar {
    /// `so far`: those that were known.
    Known,
    /// `started so far`: all.
    Started,
}

impl SoFar {
    pub const ALL: [(&'static str, SoFar); 2] = [("started so far", SoFar::Started), ("so far", SoFar::Known)];
}

/// What stands around every match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Within(Within),
    Row,
}

/// A comparison with such a value on its left side.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    pub left: Selection,
    pub comparison: Comparison,
    pub right: Right,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Right {
    Number(i64),
    Selection(Selection),
}

impl Selected {
    pub fn selections(&self) -> Vec<&Selection> {
        match &self.right {
            Right::Number(_) => vec![&self.left],
            Right::Selection(right) => vec![&self.left, right],
        }
    }
}

/// One test in a pattern's parentheses.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgTest {
    pub path: Path,
    pub test: ArgForm,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ArgForm {
    /// `path: literal`.
    Is(Value),
    /// `path: [a, b]`.
    OneOf(Vec<Value>),
    /// `path: 1..3`.
    Range(Option<i64>, Option<i64>),
    /// `path: /…/`.
    Regex(String),
    /// `path: $x`; `spelled_equals` writes `path == $x`.
    Bind { variable: String, spelled_equals: bool },
    /// `path TEST`.
    Test(Test),
}

/// The text behind a kind word.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    Any,
    Substring(String),
    Regex(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A bare name, with globs.
    Tool(String),
    /// A quoted name, literal.
    Quoted(String),
    /// `"${tool_a}"`: the tool that a parameter names, which is `a`.
    Param(String),
    AnyTool,
    Command(Text),
    /// `command git(args: […], flags: […])`.
    Program(String, Vec<OfProgram>),
    User(Text),
    Assistant(Text),
    Thinking(Text),
    Message,
    /// A name, with globs; `None`: any.
    Skill(Option<String>),
    Span(Option<String>),
    Handover(Option<String>),
    Http(Text),
    /// A path glob; `None`: any.
    Read(Option<String>),
    Write(Option<String>),
}

/// A test on the program of a parsed command.
#[derive(Clone, Debug, PartialEq)]
pub enum OfProgram {
    /// `args: […]`: all of them, in order.
    Args(Vec<String>),
    /// `args == […]`.
    ArgsExactly(Vec<String>),
    /// `flags: […]`: all of them.
    Flags(Vec<String>),
    /// `flags not contains "…"`.
    NoFlag(String),
}

/// The agent of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum By {
    Name(String),
    Variable(String),
}

/// One alternative of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Simple {
    pub proposed: bool,
    pub what: What,
    pub tests: Vec<ArgTest>,
    /// `ok` or `failed`.
    pub status: Option<bool>,
    /// `by NAME`, with globs, or `by $x`.
    pub by: Option<By>,
    pub condition: Option<Condition>,
}

impl Simple {
    pub fn new(what: What) -> Simple {
        Simple { proposed: false, what, tests: Vec::new(), status: None, by: None, condition: None }
    }
}

/// A step pattern: alternatives in order. `id` tells places in the rule apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    pub id: usize,
    pub alternatives: Vec<Simple>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjacency {
    Plain,
    Each,
    Immediately,
    /// `starts before`: the order of starts alone.
    Starts,
    StartsEach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    Calls(i64),
    Turns(i64),
    Milliseconds(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceMode {
    Gaps,
    Only,
    Exactly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    Each,
    Some,
    No,
}

/// The test of a `count`.
#[derive(Clone, Debug, PartialEq)]
pub enum CountTest {
    Compare(Comparison, i64),
    Range(Option<i64>, Option<i64>),
    List(Vec<i64>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    Pattern(Pattern),
    Sequence(Vec<Flow>),
    Choice(Vec<Flow>),
    /// At least, at most.
    Repeat(Box<Flow>, usize, Option<usize>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Header {
    After(Pattern, Option<Pattern>),
    Between(Pattern, Pattern),
    Before(Pattern),
    Each(Pattern),
    When(Condition),
}

/// The definition behind `no bad in A`: these texts.
pub const BAD: (&str, [&str; 2]) = ("def bad(v) = v == \"x\" or v == \"1\"\n", ["x", "1"]);

/// The names of tools that a rule has as parameters, each with that name.
pub const TOOLS: [&str; 2] = ["a", "b2"];

/// What a generated rule needs to be declared.
pub fn definitions(text: &str) -> String {
    let mut out = if text.contains("no bad in") { BAD.0.to_owned() } else { String::new() };
    for tool in TOOLS.iter().filter(|tool| text.contains(&format!("${{tool_{tool}}}"))) {
        out.push_str(&format!("param tool_{tool}: string = {tool:?}\n"));
    }
    out
}

#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Require(Pattern),
    RequireTimes(Pattern, Option<i64>, Option<i64>),
    Count(Pattern, CountTest),
    Never(Vec<Pattern>),
    Only(Vec<Pattern>),
    First(Pattern),
    Last(Pattern),
    /// `reversed`: said as `B only after A`.
    Before {
        adjacency: Adjacency,
        a: Pattern,
        targets: Vec<Pattern>,
        within: Option<Within>,
        reversed: bool,
    },
    After {
        adjacency: Adjacency,
        a: Pattern,
        targets: Vec<Pattern>,
        within: Option<Within>,
    },
    Sequence {
        mode: SequenceMode,
        patterns: Vec<Pattern>,
        within: Option<Within>,
    },
    NeverAfter {
        b: Vec<Pattern>,
        a: Pattern,
        until: Option<Pattern>,
        within: Option<Within>,
    },
    NeverBefore {
        b: Vec<Pattern>,
        a: Pattern,
        within: Option<Within>,
    },
    NeverBetween {
        b: Vec<Pattern>,
        a: Pattern,
        c: Pattern,
    },
    Nested(Pattern, Pattern),
    Together(Pattern, Pattern),
    Apart(Pattern, Pattern),
    If(Pattern, Pattern),
    Iff(Pattern, Pattern),
    Either(Vec<Pattern>),
    NotBoth(Pattern, Pattern),
    NeverRepeat(Pattern, usize),
    Flow(Flow),
    Quantified(Quantifier, Pattern, Condition),
    /// `no bad in A`; see [`BAD`].
    NoBad(Pattern),
    CallsMatch(CallsMatch),
    /// An expression: sees the step of an `each A { }` around it.
    Expression(Condition),
    Not(Box<Statement>),
    AnyOf(Vec<Statement>),
    AllOf(Vec<Statement>),
    NoneOf(Vec<Statement>),
    AtLeast(usize, Vec<Statement>),
    Block(Header, Vec<Statement>),
    /// `STATEMENT when COND`.
    When(Box<Statement>, Condition),
    /// `STATEMENT deny vacuous allow undecided`.
    Gated(Box<Statement>, Denied),
}

/// What `deny` (`true`) and `allow` say of an assertion; `None` where they say nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Denied {
    pub vacuous: Option<bool>,
    pub undecided: Option<bool>,
}

impl Denied {
    /// The words with what each says, in the order in which they are written.
    pub fn words(self) -> impl Iterator<Item = (&'static str, bool)> {
        let words = [("vacuous", self.vacuous), ("undecided", self.undecided)];
        words.into_iter().filter_map(|(word, denies)| Some((word, denies?)))
    }
}

impl Statement {
    /// The name of its kind, for tables.
    pub fn kind(&self) -> String {
        let text = format!("{self:?}");
        let word = |text: &str| text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned();
        let first = word(&text);
        let detail = match self {
            Statement::Before { adjacency, reversed, .. } => {
                format!(" {adjacency:?}{}", if *reversed { " reversed" } else { "" })
            }
            Statement::After { adjacency, .. } => format!(" {adjacency:?}"),
            Statement::Sequence { mode, .. } => format!(" {mode:?}"),
            Statement::NeverAfter { until: Some(_), .. } => " until".to_owned(),
            Statement::Quantified(quantifier, ..) => format!(" {quantifier:?}"),
            Statement::Block(header, _) => format!(" {}", word(&format!("{header:?}"))),
            _ => String::new(),
        };
        format!("{first}{detail}")
    }
}

impl Flow {
    pub fn patterns(&self) -> Vec<&Pattern> {
        match self {
            Flow::Pattern(pattern) => vec![pattern],
            Flow::Sequence(parts) | Flow::Choice(parts) => parts.iter().flat_map(Flow::patterns).collect(),
            Flow::Repeat(inner, _, _) => inner.patterns(),
        }
    }
}

impl Statement {
    /// Every pattern of a statement that is neither a group nor a block.
    pub fn patterns(&self) -> Vec<&Pattern> {
        use Statement as S;
        match self {
            S::Require(a) | S::RequireTimes(a, ..) | S::Count(a, _) | S::First(a) | S::Last(a) => vec![a],
            S::NoBad(a) | S::NeverRepeat(a, _) | S::Quantified(_, a, _) => vec![a],
            S::Never(all) | S::Only(all) | S::Either(all) => all.iter().collect(),
            S::Before { a, targets, .. } | S::After { a, targets, .. } => {
                std::iter::once(a).chain(targets.iter()).collect()
            }
            S::Sequence { patterns, .. } => patterns.iter().collect(),
            S::NeverAfter { b, a, until, .. } => b.iter().chain([a]).chain(until.iter()).collect(),
            S::NeverBefore { b, a, .. } => b.iter().chain([a]).collect(),
            S::NeverBetween { b, a, c } => b.iter().chain([a, c]).collect(),
            S::Nested(a, b) | S::Together(a, b) | S::Apart(a, b) | S::If(a, b) | S::Iff(a, b) | S::NotBoth(a, b) => {
                vec![a, b]
            }
            S::Flow(flow) => flow.patterns(),
            S::Expression(_) | S::Not(_) | S::Block(..) | S::When(..) | S::Gated(..) => Vec::new(),
            S::AnyOf(_) | S::AllOf(_) | S::NoneOf(_) | S::AtLeast(..) | S::CallsMatch(_) => Vec::new(),
        }
    }
}

impl Simple {
    /// Variables that this alternative binds, in the order of its tests.
    pub fn binds(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for test in &self.tests {
            if let ArgForm::Bind { variable, .. } = &test.test
                && !found.contains(&variable.as_str())
            {
                found.push(variable.as_str());
            }
        }
        if let Some(By::Variable(variable)) = &self.by
            && !found.contains(&variable.as_str())
        {
            found.push(variable.as_str());
        }
        found
    }
}
