//! Step patterns and conditions for generated rules.

use crate::generate_rule::{joined, path};
use crate::model::{
    ArgForm, ArgTest, By, Comparison, Condition, OfProgram, Operand, Pattern, Simple, TOOLS, Test, Text, What,
};
use crate::source::Source;
use serde_json::{Value, json};

/// Makes the patterns of one statement, with the bindings that they share.
pub struct Steps {
    /// Variables that a block around the statement binds.
    known: Vec<&'static str>,
    /// Variables that patterns of this statement may bind.
    own: Vec<&'static str>,
    /// Variables that a pattern of this statement has bound.
    bound: Vec<&'static str>,
    /// Alternatives may leave a variable open, and none is used in a test.
    open: bool,
}

/// What a pattern may do with variables.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Bind every variable that is left to bind.
    Bind,
    /// Bind or use what another one binds.
    Share,
}

impl Steps {
    pub fn new(known: &[&'static str], shared: bool, variables: usize) -> Steps {
        let own = if shared { ["x", "y"][..variables].to_vec() } else { Vec::new() };
        let own = own.into_iter().filter(|name| !known.contains(name)).collect();
        Steps { known: known.to_vec(), own, bound: Vec::new(), open: false }
    }

    /// The same with alternatives that leave a variable open.
    pub fn with_open(self) -> Steps {
        Steps { open: !self.own.is_empty(), ..self }
    }

    /// Whether its patterns bind.
    pub fn binds(&self) -> bool {
        !self.own.is_empty()
    }

    /// A pattern that stands alone.
    pub fn alone(&mut self, source: &mut Source) -> Pattern {
        self.pattern(source, Role::Share, false)
    }

    pub fn call(&mut self, source: &mut Source) -> Pattern {
        self.pattern(source, Role::Share, true)
    }

    /// A pattern that binds what is to be bound.
    pub fn binding(&mut self, source: &mut Source) -> Pattern {
        let calls = !self.own.is_empty();
        self.pattern(source, Role::Bind, calls)
    }

    pub fn binding_call(&mut self, source: &mut Source) -> Pattern {
        self.pattern(source, Role::Bind, true)
    }

    /// One alternative without `where`: behind `in`, parentheses would make it an expression.
    pub fn plain_call(&mut self, source: &mut Source) -> Pattern {
        let mut pattern = self.call(source);
        pattern.alternatives.truncate(1);
        pattern.alternatives[0].condition = None;
        pattern
    }

    /// Two patterns; either may be the one that binds.
    pub fn two(&mut self, source: &mut Source) -> (Pattern, Pattern) {
        self.two_of(source, false)
    }

    pub fn two_calls(&mut self, source: &mut Source) -> (Pattern, Pattern) {
        self.two_of(source, true)
    }

    fn two_of(&mut self, source: &mut Source, calls: bool) -> (Pattern, Pattern) {
        let binds_calls = calls || !self.own.is_empty();
        let first = self.pattern(source, Role::Bind, binds_calls);
        let second = self.pattern(source, Role::Share, calls);
        if source.chance(50) { (first, second) } else { (second, first) }
    }

    /// One more pattern that may use what the others bind.
    pub fn target(&mut self, source: &mut Source, calls: bool) -> Pattern {
        self.pattern(source, Role::Share, calls)
    }

    /// The step that closes a window: it binds nothing of its own.
    pub fn closing(&mut self, source: &mut Source) -> Pattern {
        self.pattern(source, Role::Share, false)
    }

    pub fn in_flow(&mut self, source: &mut Source) -> Pattern {
        let variables = self.variables();
        let mut simple = match source.chance(70) {
            true => Simple::new(What::Tool(source.pick(&["a", "b", "c"]).to_owned())),
            false => self.simple(source, true, &[]),
        };
        if let Some(name) = variables.first()
            && source.chance(60)
        {
            // A test on a value that nothing binds would not compile.
            if self.usable().contains(name) && source.chance(25) {
                simple.tests.push(use_of(source, name));
            } else {
                simple.tests.push(bind(source, name));
                self.bound.push(*name);
            }
        }
        Pattern { id: 0, alternatives: vec![simple] }
    }

    fn variables(&self) -> Vec<&'static str> {
        self.known.iter().chain(&self.own).copied().collect()
    }

    fn pattern(&mut self, source: &mut Source, role: Role, calls: bool) -> Pattern {
        let binds: Vec<&'static str> = match role {
            Role::Bind => self.own.clone(),
            Role::Share => {
                let available: Vec<_> = self.known.iter().chain(&self.bound).copied().collect();
                available.into_iter().filter(|_| source.chance(65)).collect()
            }
        };
        let calls = calls || !binds.is_empty();
        let count = 1 + usize::from(source.chance(if self.open { 45 } else { 12 }));
        let alternatives = (0..count)
            .map(|_| {
                let uses: Vec<_> = if binds.is_empty() { self.usable() } else { Vec::new() };
                let mut simple = self.simple(source, calls, &uses);
                for name in &binds {
                    if self.open && count > 1 && source.chance(40) {
                        continue;
                    }
                    match source.chance(4) && !matches!(simple.by, Some(By::Variable(_))) {
                        true => simple.by = Some(By::Variable((*name).to_owned())),
                        false => simple.tests.insert(0, bind(source, name)),
                    }
                }
                simple
            })
            .collect();
        if role == Role::Bind {
            self.bound = self.own.clone();
        }
        Pattern { id: 0, alternatives }
    }

    /// Variables that a test may use without binding them.
    fn usable(&self) -> Vec<&'static str> {
        if self.open {
            return Vec::new();
        }
        self.known.iter().chain(&self.bound).copied().collect()
    }

    fn simple(&mut self, source: &mut Source, calls: bool, uses: &[&'static str]) -> Simple {
        if !calls && uses.is_empty() && source.chance(10) {
            return other_kind(source);
        }
        let what = match source.weighted(&[10, 8, 8, 2, 3, 2]) {
            0 => What::Tool("a".to_owned()),
            1 => What::Tool("b".to_owned()),
            2 => What::Tool("c".to_owned()),
            3 => What::Tool(source.pick(&["b*", "?", "d"]).to_owned()),
            4 => source.pick(&TOOLS.map(|tool| What::Param(tool.to_owned()))),
            _ => What::AnyTool,
        };
        let mut simple = Simple::new(what);
        simple.proposed = source.chance(7);
        if source.chance(20) {
            simple.tests.push(argument(source));
        }
        if let Some(name) = uses.first()
            && source.chance(60)
        {
            simple.tests.push(use_of(source, name));
        }
        if !simple.proposed && source.chance(6) {
            simple.status = Some(source.chance(50));
        }
        if source.chance(10) {
            simple.condition = Some(condition_on_call(source, 1));
        }
        by(source, &mut simple);
        simple
    }
}

fn other_kind(source: &mut Source) -> Simple {
    let text = |source: &mut Source| match source.below(3) {
        0 => Text::Substring("yes".to_owned()),
        1 => Text::Any,
        _ => Text::Regex("^no$".to_owned()),
    };
    let glob = |source: &mut Source| source.pick(&[None, Some("src/**"), Some("src/*.rs"), Some("**/*.md")]);
    let mut simple = Simple::new(match source.below(12) {
        10 => What::Handover(source.pick(&[None, Some("helper"), Some("b*")]).map(str::to_owned)),
        0 => What::User(text(source)),
        1 => What::Assistant(text(source)),
        2 => What::Command(match source.below(3) {
            0 => Text::Substring(
                source
                    .pick(&[
                        "npm",
                        "npm test",
                        "rm -rf",
                        "rm -f",
                        "git push",
                        "git push -f main",
                        "&& git",
                        "m -r",
                        "sh",
                    ])
                    .to_owned(),
            ),
            1 => Text::Any,
            _ => Text::Regex("npm (ci|install)".to_owned()),
        }),
        3 => What::Read(glob(source).map(str::to_owned)),
        4 => What::Write(glob(source).map(str::to_owned)),
        5 => What::Thinking(text(source)),
        6 => What::Skill(source.pick(&[None, Some("find-skills"), Some("find*")]).map(str::to_owned)),
        7 => What::Span(source.pick(&[None, Some("db.query"), Some("db.*")]).map(str::to_owned)),
        8 => What::Http(match source.below(3) {
            0 => Text::Any,
            1 => Text::Substring("a.example".to_owned()),
            _ => Text::Regex("^https".to_owned()),
        }),
        9 => program(source),
        _ => {
            let role = source.pick(&["user", "system"]);
            let test = ArgTest { path: path("role"), test: ArgForm::Is(json!(role)) };
            return Simple { tests: vec![test], ..Simple::new(What::Message) };
        }
    });
    let fields: &[(&str, ArgForm)] = match &simple.what {
        What::Http(_) => &[
            ("status", ArgForm::Range(Some(200), Some(299))),
            ("method", ArgForm::Is(json!("GET"))),
            ("method", ArgForm::Test(Test::Compare(Comparison::Ne, literal(json!("GET"))))),
        ],
        What::Span(_) => &[
            ("attributes.n", ArgForm::Is(json!(1))),
            ("attributes.n", ArgForm::Test(Test::Compare(Comparison::Ne, literal(json!(1))))),
        ],
        What::Handover(_) => &[("depth", ArgForm::Range(Some(2), None)), ("to", ArgForm::Is(json!("main")))],
        What::Program(..) | What::Command(_) => &[("exit_code", ArgForm::Is(json!(0)))],
        _ => &[],
    };
    if !fields.is_empty() && source.chance(35) {
        let (place, test) = source.pick(fields);
        simple.tests.push(ArgTest { path: path(place), test });
    }
    let ends = matches!(simple.what, What::Http(_) | What::Span(_) | What::Program(..) | What::Command(_));
    if ends && source.chance(15) {
        simple.status = Some(source.chance(50));
    }
    by(source, &mut simple);
    simple
}

/// Who takes the step, now and then.
fn by(source: &mut Source, simple: &mut Simple) {
    if source.chance(3) {
        simple.by = Some(By::Name(source.pick(&["main", "helper", "h*"]).to_owned()));
    }
}

/// A parsed command.
fn program(source: &mut Source) -> What {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let name = source.pick(&["git", "npm", "rm"]);
    let mut tests = Vec::new();
    if source.chance(45) {
        tests.push(match (name, source.below(3)) {
            ("git", 0) => OfProgram::Args(texts(&["push"])),
            ("git", 1) => OfProgram::Args(texts(&["push", "main"])),
            ("git", _) => OfProgram::Args(texts(&["main", "push"])),
            ("npm", _) => OfProgram::ArgsExactly(texts(&["test"])),
            _ => OfProgram::ArgsExactly(texts(&["build"])),
        });
    }
    // Without parentheses the word behind `command` is no program.
    if tests.is_empty() || source.chance(25) {
        tests.push(match source.below(5) {
            0 => OfProgram::Flags(texts(&["-f"])),
            1 => OfProgram::Flags(texts(&["-f", "-r"])),
            2 => OfProgram::Flags(texts(&["-fr"])),
            3 => OfProgram::Flags(texts(&["--force"])),
            _ => OfProgram::NoFlag("-f".to_owned()),
        });
    }
    What::Program(name.to_owned(), tests)
}

/// `id: $x`, mostly.
fn bind(source: &mut Source, name: &str) -> ArgTest {
    let form = ArgForm::Bind { variable: name.to_owned(), spelled_equals: source.chance(20) };
    let place = match name {
        "y" => source.pick(&["n", "n", "id"]),
        _ => source.pick(&["id", "id", "id", "id", "id", "n", "args.id"]),
    };
    ArgTest { path: path(place), test: form }
}

/// A test on a value that another pattern binds.
fn use_of(source: &mut Source, name: &str) -> ArgTest {
    let variable = || Operand::Variable(name.to_owned());
    let (place, test) = match source.below(7) {
        4 => ("result", Test::Mentions { needle: variable(), negated: source.chance(20) }),
        5 => ("note", Test::Mentions { needle: variable(), negated: false }),
        0 => ("ids", Test::Contains { needle: variable(), negated: false }),
        1 => ("result.ids", Test::Contains { needle: variable(), negated: false }),
        2 => ("id", Test::Compare(Comparison::Ne, variable())),
        3 => ("n", Test::Compare(Comparison::Gt, variable())),
        _ => ("ids", Test::Contains { needle: variable(), negated: true }),
    };
    ArgTest { path: path(place), test: ArgForm::Test(test) }
}

fn argument(source: &mut Source) -> ArgTest {
    let (place, test) = match source.below(13) {
        0 => ("n", ArgForm::Is(json!(source.below(3)))),
        1 => ("id", ArgForm::Is(crate::generate_run::id(source))),
        2 => ("n", ArgForm::Range(Some(2), source.chance(50).then_some(3))),
        3 => ("id", ArgForm::OneOf(vec![json!(1), json!("1")])),
        4 => ("note", ArgForm::Regex("^x".to_owned())),
        5 => ("n", ArgForm::Test(Test::Compare(Comparison::Gt, literal(json!(1))))),
        6 => ("n", ArgForm::Test(Test::Compare(Comparison::Ne, literal(json!(2))))),
        7 => ("note", ArgForm::Test(Test::Exists { negated: source.chance(50) })),
        8 => ("id", ArgForm::Test(Test::Missing { negated: source.chance(50) })),
        9 => ("id", ArgForm::Test(Test::In { list: literal(json!([1, 2])), negated: true })),
        10 => ("ids", ArgForm::Test(Test::Contains { needle: literal(json!(1)), negated: source.chance(50) })),
        11 => ("result.code", ArgForm::Test(Test::Compare(Comparison::Eq, literal(json!(0))))),
        _ => ("note", ArgForm::Test(Test::StartsWith { text: "x".to_owned(), negated: source.chance(50) })),
    };
    ArgTest { path: path(place), test }
}

fn literal(value: Value) -> Operand {
    Operand::Literal(value)
}

/// A condition whose names start at a call.
pub fn condition_on_call(source: &mut Source, depth: usize) -> Condition {
    if depth > 0 && source.chance(30) {
        let left = condition_on_call(source, depth - 1);
        let right = condition_on_call(source, depth - 1);
        return joined(source, left, right);
    }
    let test = |place: &str, test: Test| Condition::Test(path(place), test);
    let compare = |comparison, value: Value| Test::Compare(comparison, literal(value));
    match source.below(16) {
        13 => test("cost", compare(Comparison::Gt, json!(1))),
        11 => test("duration", compare(Comparison::Gt, json!(100))),
        12 => test("turn", compare(Comparison::Le, json!(1))),
        0 => test("args.n", compare(Comparison::Lt, json!(3))),
        1 => test("args.n", compare(Comparison::Ge, json!(2))),
        2 => test("args.id", compare(Comparison::Eq, json!(1))),
        3 => test("args.id", compare(Comparison::Ne, json!(1))),
        4 => test("result.code", compare(Comparison::Eq, json!(0))),
        5 => test("result.code", compare(Comparison::Ne, json!(0))),
        6 => Condition::Bare(path("ok")),
        7 => test("error", Test::Missing { negated: source.chance(50) }),
        8 => test("args.note", Test::Matches { regex: "x".to_owned(), negated: source.chance(50) }),
        9 => test("args.note", Test::Exists { negated: source.chance(50) }),
        14 => test("result", Test::Mentions { needle: literal(source.pick(&[json!(1), json!("x")])), negated: false }),
        10 => test("result.ids", Test::Contains { needle: Operand::Path(path("args.id")), negated: source.chance(30) }),
        _ => test("args.id", Test::In { list: literal(json!([1, "1"])), negated: source.chance(30) }),
    }
}

/// A condition on the run that no step changes.
pub fn condition_on_inputs(source: &mut Source) -> Condition {
    let comparison = source.pick(&[Comparison::Eq, Comparison::Ne]);
    Condition::Test(path("inputs.vip"), Test::Compare(comparison, literal(json!(true))))
}
