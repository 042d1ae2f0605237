//! Rules as `.assert` text.

use crate::model::{
    Adjacency, ArgForm, ArgTest, By, Comparison, Condition, CountTest, Denied, Flow, Header, OfProgram, Operand, Over,
    Path, Pattern, Quantifier, Right, Segment, Selection, SequenceMode, Simple, SoFar, Statement, Test, Text, What,
    Within,
};

/// One statement, on as many lines as its blocks need.
pub fn statement(statement: &Statement) -> String {
    use Statement as S;
    match statement {
        S::Require(a) => format!("require {}", pattern(a)),
        S::RequireTimes(a, from, to) if from == to => format!("require {} {} times", pattern(a), from.unwrap_or(0)),
        S::RequireTimes(a, from, to) => format!("require {} {} times", pattern(a), range(*from, *to)),
        S::Count(a, test) => format!("count {} {}", pattern(a), count_test(test)),
        S::Never(all) => format!("never {}", list(all, ", ")),
        S::Only(all) => format!("only {}", list(all, ", ")),
        S::First(a) => format!("first {}", pattern(a)),
        S::Last(a) => format!("last {}", pattern(a)),
        S::Before { a, targets, within: bound, reversed: true, .. } => {
            format!("{} only after {}{}", pattern(&targets[0]), pattern(a), within(*bound))
        }
        S::Before { adjacency, a, targets, within: bound, .. } => ordered("before", *adjacency, a, targets, *bound),
        S::After { adjacency, a, targets, within: bound } => ordered("after", *adjacency, a, targets, *bound),
        S::Sequence { mode, patterns, within: bound } => {
            let word = match mode {
                SequenceMode::Gaps => "sequence",
                SequenceMode::Only => "sequence only",
                SequenceMode::Exactly => "sequence exactly",
            };
            format!("{word} {}{}", list(patterns, " -> "), within(*bound))
        }
        S::NeverAfter { b, a, until, within: bound } => {
            let until = until.as_ref().map(|c| format!(" until {}", pattern(c))).unwrap_or_default();
            format!("never {} after {}{until}{}", list(b, ", "), pattern(a), within(*bound))
        }
        S::NeverBefore { b, a, within: bound } => {
            format!("never {} before {}{}", list(b, ", "), pattern(a), within(*bound))
        }
        S::NeverBetween { b, a, c } => format!("never {} between {} and {}", list(b, ", "), pattern(a), pattern(c)),
        S::Nested(a, b) => format!("nested {} -> {}", pattern(a), pattern(b)),
        S::Together(a, b) => format!("together {}", pair(a, b)),
        S::Apart(a, b) => format!("apart {}", pair(a, b)),
        S::If(a, b) => format!("if {} then {}", pattern(a), pattern(b)),
        S::Iff(a, b) => format!("{} iff {}", pattern(a), pattern(b)),
        S::Either(all) => format!("either {}", list(all, " or ")),
        S::NotBoth(a, b) => format!("not both {}", pair(a, b)),
        S::NeverRepeat(a, limit) => format!("never repeat {} more than {limit} times", pattern(a)),
        S::Flow(inner) => format!("flow {}", flow(inner, true)),
        S::Quantified(_, _, Condition::Selected(selected)) if selected.left.over.is_some() => {
            let condition = condition(&Condition::Selected(selected.clone()));
            match selected.left.over {
                Some(Over::Within(bound)) => format!("{condition}{}", within(Some(bound))),
                _ => format!("{condition} in a row"),
            }
        }
        S::Quantified(quantifier, a, inner) => {
            let word = match quantifier {
                Quantifier::Each => "each",
                Quantifier::Some => "some",
                Quantifier::No => "no",
            };
            format!("{word} {}: {}", pattern(a), condition(inner))
        }
        S::CallsMatch(it) => crate::calls_match::print(it),
        S::NoBad(a) => format!("no bad in {}", pattern(a)),
        S::Expression(inner) => condition(inner),
        S::Not(inner) => format!("not {}", self::statement(inner)),
        S::AnyOf(body) => group("any of", body),
        S::AllOf(body) => group("all of", body),
        S::NoneOf(body) => group("none of", body),
        S::AtLeast(n, body) => group(&format!("at least {n} of"), body),
        S::Block(header, body) => group(&self::header(header), body),
        S::Gated(inner, denied) => format!("{}{}", self::statement(inner), modifiers(*denied)),
        S::When(inner, inner_condition) => format!("{} when {}", self::statement(inner), condition(inner_condition)),
    }
}

/// ` deny vacuous allow undecided`.
pub fn modifiers(denied: Denied) -> String {
    let word = |(word, denies): (&str, bool)| format!(" {} {word}", if denies { "deny" } else { "allow" });
    denied.words().map(word).collect()
}

fn header(header: &Header) -> String {
    match header {
        Header::After(a, None) => format!("after {}", pattern(a)),
        Header::After(a, Some(c)) => format!("after {} until {}", pattern(a), pattern(c)),
        Header::Between(a, c) => format!("between {} and {}", pattern(a), pattern(c)),
        Header::Before(a) => format!("before {}", pattern(a)),
        Header::Each(a) => format!("each {}", pattern(a)),
        Header::When(inner) => format!("when {}", condition(inner)),
    }
}

fn group(head: &str, body: &[Statement]) -> String {
    let lines =
        body.iter().flat_map(|inner| statement(inner).lines().map(|line| format!("  {line}\n")).collect::<Vec<_>>());
    format!("{head} {{\n{}}}", lines.collect::<String>())
}

fn ordered(word: &str, adjacency: Adjacency, a: &Pattern, targets: &[Pattern], bound: Option<Within>) -> String {
    let (front, behind) = match adjacency {
        Adjacency::Plain => ("", ""),
        Adjacency::Each => ("", "each "),
        Adjacency::Immediately => ("immediately ", ""),
        Adjacency::Starts => ("starts ", ""),
        Adjacency::StartsEach => ("starts ", "each "),
    };
    format!("{front}{word} {behind}{} -> {}{}", pattern(a), list(targets, ", "), within(bound))
}

/// Patterns that are one list, unless arrows stand between them.
fn list(patterns: &[Pattern], between: &str) -> String {
    let mut listed = Listed::default();
    let mut print = |pattern: &Pattern| match between {
        " -> " => self::pattern(pattern),
        _ => pattern_of(pattern, &mut listed),
    };
    patterns.iter().map(&mut print).collect::<Vec<_>>().join(between)
}

fn pair(a: &Pattern, b: &Pattern) -> String {
    let mut listed = Listed::default();
    format!("{}, {}", pattern_of(a, &mut listed), pattern_of(b, &mut listed))
}

/// What stands before in a list: texts go on with the kind word before them, and are written without a word of their own.
#[derive(Default)]
struct Listed {
    kind: Option<String>,
    has_tool: bool,
}

impl Listed {
    fn what(&mut self, simple: &Simple) -> String {
        let text = what(&simple.what);
        match &simple.what {
            // Behind a kind word a tool has no quotes.
            What::Quoted(name) | What::Param(name) if self.kind.is_some() && !simple.proposed => {
                self.has_tool = true;
                name.clone()
            }
            What::Tool(_) | What::Quoted(_) | What::Param(_) | What::AnyTool => {
                self.has_tool = true;
                text
            }
            _ => {
                let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
                let goes_on = self.kind.as_deref() == Some(word) && !self.has_tool && rest.starts_with(['"', '/']);
                (self.kind, self.has_tool) = (Some(word.to_owned()), false);
                if goes_on { rest.to_owned() } else { text }
            }
        }
    }
}

fn within(within: Option<Within>) -> String {
    match within {
        None => String::new(),
        Some(Within::Calls(n)) => format!(" within {n} calls"),
        Some(Within::Turns(n)) => format!(" within {n} turns"),
        Some(Within::Milliseconds(n)) => format!(" within {n}ms"),
    }
}

fn range(from: Option<i64>, to: Option<i64>) -> String {
    let end = |end: Option<i64>| end.map(|end| end.to_string()).unwrap_or_default();
    format!("{}..{}", end(from), end(to))
}

fn comparison(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "==",
        Comparison::Ne => "!=",
        Comparison::Lt => "<",
        Comparison::Le => "<=",
        Comparison::Gt => ">",
        Comparison::Ge => ">=",
    }
}

fn count_test(test: &CountTest) -> String {
    match test {
        CountTest::Compare(operator, n) => format!("{} {n}", comparison(*operator)),
        CountTest::Range(from, to) => format!("in {}", range(*from, *to)),
        CountTest::List(list) => format!("in {}", serde_json::to_string(list).expect("numbers")),
    }
}

/// Parentheses around a choice and around `where`: they are needed where the statement goes on.
pub fn pattern(pattern: &Pattern) -> String {
    pattern_of(pattern, &mut Listed::default())
}

fn pattern_of(pattern: &Pattern, listed: &mut Listed) -> String {
    let parts: Vec<String> = pattern.alternatives.iter().map(|one| simple(one, listed)).collect();
    if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(" | ")) }
}

fn simple(simple: &Simple, listed: &mut Listed) -> String {
    let mut text = String::new();
    if simple.proposed {
        text.push_str("proposed ");
    }
    text.push_str(&listed.what(simple));
    let mut tests: Vec<String> = match &simple.what {
        What::Program(_, tests) => tests.iter().map(of_program).collect(),
        _ => Vec::new(),
    };
    tests.extend(simple.tests.iter().map(argument));
    if !tests.is_empty() {
        text.push_str(&format!("({})", tests.join(", ")));
    }
    match simple.status {
        Some(true) => text.push_str(" ok"),
        Some(false) => text.push_str(" failed"),
        None => {}
    }
    match &simple.by {
        Some(By::Name(name)) => text.push_str(&format!(" by {name}")),
        Some(By::Variable(name)) => text.push_str(&format!(" by ${name}")),
        None => {}
    }
    match &simple.condition {
        Some(inner) => format!("({text} where {})", condition(inner)),
        None => text,
    }
}

fn what(what: &What) -> String {
    let with = |word: &str, text: &Text| match text {
        Text::Any => word.to_owned(),
        Text::Substring(part) => format!("{word} {part:?}"),
        Text::Regex(regex) => format!("{word} /{regex}/"),
    };
    let glob = |word: &str, glob: &Option<String>| match glob {
        None => word.to_owned(),
        Some(glob) => format!("{word} {glob:?}"),
    };
    match what {
        What::Tool(name) => name.clone(),
        What::Quoted(name) => format!("{name:?}"),
        What::Param(name) => format!("\"${{tool_{name}}}\""),
        What::AnyTool => "any".to_owned(),
        What::Command(text) => with("command", text),
        What::Program(name, _) => format!("command {name}"),
        What::User(text) => with("user", text),
        What::Assistant(text) => with("assistant", text),
        What::Thinking(text) => with("thinking", text),
        What::Http(text) => with("http", text),
        What::Skill(name) => glob("skill", name),
        What::Span(name) => glob("span", name),
        What::Handover(name) => glob("handover", name),
        What::Message => "message".to_owned(),
        What::Read(pattern) => glob("read", pattern),
        What::Write(pattern) => glob("write", pattern),
    }
}

fn of_program(test: &OfProgram) -> String {
    match test {
        OfProgram::Args(args) => format!("args: {args:?}"),
        OfProgram::ArgsExactly(args) => format!("args == {args:?}"),
        OfProgram::Flags(flags) => format!("flags: {flags:?}"),
        OfProgram::NoFlag(flag) => format!("flags not contains {flag:?}"),
    }
}

fn argument(test: &ArgTest) -> String {
    let path = path(&test.path);
    match &test.test {
        ArgForm::Is(value) => format!("{path}: {value}"),
        ArgForm::OneOf(values) => format!("{path}: {}", serde_json::Value::Array(values.clone())),
        ArgForm::Range(from, to) => format!("{path}: {}", range(*from, *to)),
        ArgForm::Regex(regex) => format!("{path}: /{regex}/"),
        ArgForm::Bind { variable, spelled_equals: false } => format!("{path}: ${variable}"),
        ArgForm::Bind { variable, spelled_equals: true } => format!("{path} == ${variable}"),
        ArgForm::Test(inner) => format!("{path} {}", self::test(inner)),
    }
}

pub fn path(path: &Path) -> String {
    let mut text = String::new();
    for segment in &path.0 {
        match segment {
            Segment::Key(key) if text.is_empty() => text.push_str(key),
            Segment::Key(key) if key.contains(' ') => text.push_str(&format!("[{key:?}]")),
            Segment::Key(key) => text.push_str(&format!(".{key}")),
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Literal(value) => value.to_string(),
        Operand::Range(from, to) => range(*from, *to),
        Operand::Variable(name) => format!("${name}"),
        Operand::Path(inner) => path(inner),
    }
}

pub fn test(test: &Test) -> String {
    let not = |negated: bool, word: &str| if negated { format!("not {word}") } else { word.to_owned() };
    match test {
        Test::Compare(operator, right) => format!("{} {}", comparison(*operator), operand(right)),
        Test::In { list, negated } => format!("{} {}", not(*negated, "in"), operand(list)),
        Test::Mentions { needle, negated } => format!("{} {}", not(*negated, "mentions"), operand(needle)),
        Test::Contains { needle, negated } => format!("{} {}", not(*negated, "contains"), operand(needle)),
        Test::StartsWith { text, negated } => format!("{} {text:?}", not(*negated, "starts with")),
        Test::Matches { regex, negated } => format!("{} /{regex}/", not(*negated, "matches")),
        Test::Exists { negated } => not(*negated, "exists"),
        Test::Missing { negated: false } => "is missing".to_owned(),
        Test::Missing { negated: true } => "is not missing".to_owned(),
    }
}

/// Fully parenthesised below the top.
pub fn condition(condition: &Condition) -> String {
    let part = |inner: &Condition| match inner {
        Condition::Test(..) | Condition::Bare(_) | Condition::Selected(_) => self::condition(inner),
        _ => format!("({})", self::condition(inner)),
    };
    match condition {
        Condition::Test(left, right) => format!("{} {}", path(left), test(right)),
        Condition::Selected(selected) => {
            let right = match &selected.right {
                Right::Number(n) => n.to_string(),
                Right::Selection(right) => selection(right),
            };
            format!("{} {} {right}", selection(&selected.left), comparison(selected.comparison))
        }
        Condition::Bare(inner) => path(inner),
        Condition::Not(inner) => format!("not ({})", self::condition(inner)),
        Condition::And(a, b) => format!("{} and {}", part(a), part(b)),
        Condition::Or(a, b) => format!("{} or {}", part(a), part(b)),
        Condition::Implies(a, b) => format!("{} implies {}", part(a), part(b)),
    }
}

fn selection(selection: &Selection) -> String {
    let steps = pattern(&selection.pattern);
    let words = SoFar::ALL.iter().find(|(_, so_far)| selection.so_far == Some(*so_far));
    let far = words.map(|(words, _)| format!(" {words}")).unwrap_or_default();
    match &selection.value {
        None => format!("(count {steps}{far})"),
        Some((fold, value)) => format!("{}({} of {steps}{far})", fold.word(), path(value)),
    }
}

/// Repetition stands behind parentheses only.
fn flow(flow: &Flow, top: bool) -> String {
    let joined = |parts: &[Flow], between: &str| {
        parts.iter().map(|part| self::flow(part, false)).collect::<Vec<_>>().join(between)
    };
    match flow {
        Flow::Pattern(inner) => pattern(inner),
        Flow::Sequence(parts) if top => joined(parts, " -> "),
        Flow::Sequence(parts) => format!("({})", joined(parts, " -> ")),
        Flow::Choice(parts) => format!("({})", joined(parts, " | ")),
        Flow::Repeat(inner, least, most) => {
            let body = self::flow(inner, true);
            let body = body
                .strip_prefix('(')
                .and_then(|body| body.strip_suffix(')'))
                .filter(|_| matches!(**inner, Flow::Choice(_)))
                .unwrap_or(&body)
                .to_owned();
            let times = match (least, most) {
                (0, None) => "*".to_owned(),
                (1, None) => "+".to_owned(),
                (0, Some(1)) => "?".to_owned(),
                (least, Some(most)) if least == most => format!("{{{least}}}"),
                (least, Some(most)) => format!("{{{least},{most}}}"),
                (least, None) => format!("{{{least},}}"),
            };
            format!("({body}){times}")
        }
    }
}
