//! Temporal statements in words: `every refund has an earlier approve with the same id`.

use averment_base::source::{SourceMap, Span};
use averment_syntax::ast::{
    Agent, Argument, Atom, Expr, ExprKind, KindText, Name, Over, Quantifier, Rated, RunShare, Scope, SequenceMode,
    Statement, StatementKind, StatusWord, Step, StepKind, StepWord, Subject, Text, Times, Window, Within, WithinUnit,
};

/// What a temporal statement says; `None` for any other.
#[must_use]
pub fn reading(statement: &Statement, sources: &SourceMap) -> Option<String> {
    StatementReader { sources }.statement(statement).map(|reading| reading.words)
}

/// The same for a statement whose own words are easily read the wrong way round.
#[must_use]
pub fn hint(statement: &Statement, sources: &SourceMap) -> Option<String> {
    StatementReader { sources }.statement(statement).filter(|reading| reading.is_misread).map(|reading| reading.words)
}

/// A step pattern in words: `refund with amount > 100`.
#[must_use]
pub fn step_reading(step: &Step, sources: &SourceMap) -> String {
    StatementReader { sources }.step(step, &[])
}

/// A statement in words.
struct Reading {
    words: String,
    /// Whether its own words are easily read the wrong way round, so that editors show these beside them.
    is_misread: bool,
}

fn plain(words: String) -> Reading {
    Reading { words, is_misread: false }
}

fn misread(words: String) -> Reading {
    Reading { words, is_misread: true }
}

struct StatementReader<'s> {
    sources: &'s SourceMap,
}

/// What a form of `before` asks of the earlier step.
#[derive(Debug, Clone, Copy)]
enum How {
    /// The call just before.
    Immediately,
    /// Any earlier one; or one for each.
    Before {
        each: bool,
        /// The order of starts alone counts.
        starts: bool,
    },
}

impl StatementReader<'_> {
    fn written(&self, span: Span) -> String {
        self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn statement(&self, statement: &Statement) -> Option<Reading> {
        use StatementKind as K;
        Some(match &statement.kind {
            K::Not(inner) => plain(format!("it is not so that {}", self.statement(inner)?.words)),
            K::Require { step, times } => {
                plain(format!("{} occurs{}", self.step(step, &[]), times.as_ref().map_or(String::new(), how_often)))
            }
            K::Never { steps, window: None, within } => plain(self.never(steps, None, within.as_ref())),
            K::Never { steps, window, within } => misread(self.never(steps, window.as_ref(), within.as_ref())),
            K::Only { steps } => plain(format!("every call is {}", self.any_of(steps))),
            K::Count { step, test } => {
                plain(format!("the number of {} is {}", self.step(step, &[]), self.written(test.span)))
            }
            K::Sliding { condition, over } => plain(match over {
                Over::Within(within) => {
                    let (condition, bound) = (self.written(condition.span), self.written(within.span));
                    format!("from every such step on, {bound}: {condition}")
                }
                Over::Row(_) => format!("in every row of such calls: {}", self.written(condition.span)),
            }),
            K::First { step } => plain(format!("the first call is {}", self.step(step, &[]))),
            K::Last { step } => plain(format!("the last call is {}", self.step(step, &[]))),
            K::Before { each, immediately, starts, step, targets, within, .. } => {
                let how = if *immediately { How::Immediately } else { How::Before { each: *each, starts: *starts } };
                misread(self.before(how, step, targets, within.as_ref()))
            }
            K::After { each, immediately, step, targets, within } => {
                misread(self.after(*each, *immediately, step, targets, within.as_ref()))
            }
            K::Sequence { mode, steps, within } => misread(self.sequence(*mode, steps, within.as_ref())),
            K::Nested { open, close } => {
                let (open, close) = self.both(open, close);
                misread(format!("every {close} closes the latest open {open}, and none stays open"))
            }
            K::Together { left, right } => {
                let (left, right) = self.both(left, right);
                misread(format!("some {left} and some {right} are in one turn or overlap"))
            }
            K::Apart { left, right } => {
                let (left, right) = self.both(left, right);
                misread(format!("no {left} and {right} are in one turn or overlap"))
            }
            K::IfThen { condition, consequence } => {
                let (condition, consequence) = self.both(condition, consequence);
                misread(format!("every {condition} has {} somewhere", article(&consequence)))
            }
            K::Iff { left, right } => {
                let (left, right) = self.both(left, right);
                misread(format!("{left} occurs where {right} does, and the other way round"))
            }
            K::Either { steps } => plain(format!("{} occurs", self.any_of(steps))),
            K::NotBoth { left, right } => {
                let (left, right) = self.both(left, right);
                misread(format!("{left} and {right} do not both occur"))
            }
            K::Repeat { step, limit } => misread(self.repeat(step, &limit.text)),
            K::Flow { flow } => plain(format!("the calls of the run are exactly {}", self.written(flow.span))),
            K::Each { quantifier, step, condition } => plain(self.each(*quantifier, step, condition)),
            K::NoPredicate { predicate, target } => {
                plain(format!("{} finds nothing in {}", predicate.text, self.written(target.span)))
            }
            K::ArgsValid { step, strict } => plain(args_valid(step.as_ref().map(|step| self.step(step, &[])), *strict)),
            K::Block { scope, .. } => match scope {
                Scope::Each { .. } | Scope::When { .. } => plain(self.scope(scope)),
                Scope::After { .. } | Scope::Before { .. } | Scope::Between { .. } => misread(self.scope(scope)),
            },
            K::Rate { share, by, rated, .. } => plain(self.rate(share, by.as_ref(), rated)),
            K::Expression(_) | K::Group { .. } | K::World(_) => return None,
        })
    }

    /// How many of all runs something holds in.
    fn rate(&self, share: &RunShare, by: Option<&Expr>, rated: &Rated) -> String {
        let what = match rated {
            Rated::Rule(name) => format!("the rule `{}` passes", name.text),
            Rated::Statement(inner) => format!("`{}` holds", self.written(inner.span)),
        };
        let groups = by.map_or_else(String::new, |by| format!(" of each `{}`", self.written(by.span)));
        match share {
            RunShare::Least(share) => {
                format!("of all runs that are checked{groups}, {what} in at least {}", share.text)
            }
            RunShare::Most(share) => format!("of all runs that are checked{groups}, {what} in at most {}", share.text),
            RunShare::LeastOf { passes, of } => {
                format!("of {} runs{groups}, {what} in at least {}", of.text, passes.text)
            }
            RunShare::Power { power, share } => {
                format!(
                    "{what} in all of {} runs{groups} that are drawn at random, with a chance of at least {}",
                    power.text, share.text
                )
            }
        }
    }

    /// Two patterns; the second knows what the first binds.
    fn both(&self, first: &Step, second: &Step) -> (String, String) {
        (self.step(first, &[]), self.step(second, &bound(first)))
    }

    fn scope(&self, scope: &Scope) -> String {
        match scope {
            Scope::After { open, until: None } => {
                format!("from the first {} to the end of the run:", self.step(open, &[]))
            }
            Scope::After { open, until: Some(until) } => {
                format!("from {} to the next {}:", article(&self.step(open, &[])), self.step(until, &bound(open)))
            }
            Scope::Before { close } => format!("from the start of the run to the first {}:", self.step(close, &[])),
            Scope::Between { open, close } => {
                format!("from {} to the next {}:", article(&self.step(open, &[])), self.step(close, &bound(open)))
            }
            Scope::Each { step } => format!("for every {}:", self.step(step, &[])),
            Scope::When { condition } => format!("where {}:", self.written(condition.span)),
        }
    }

    fn never(&self, steps: &[Step], window: Option<&Window>, within: Option<&Within>) -> String {
        let none = format!("no {}", self.listed(steps, "or"));
        let bounds: Vec<String> = steps.iter().flat_map(bound).collect();
        let near = within.map_or(String::new(), |within| format!(" {}", far(within)));
        match window {
            None => format!("{none} occurs"),
            Some(Window::After { open, until: None }) => {
                format!("{none} follows {}{near}", article(&self.step(open, &bounds)))
            }
            Some(Window::After { open, until: Some(until) }) => {
                format!(
                    "{none} follows {} until {}{near}",
                    article(&self.step(open, &bounds)),
                    article(&self.step(until, &bounds))
                )
            }
            Some(Window::Before { close }) => {
                format!("{none} comes before the first {}{near}", self.step(close, &bounds))
            }
            Some(Window::Between { open, close }) => {
                format!(
                    "{none} stands between {} and the next {}",
                    article(&self.step(open, &bounds)),
                    self.step(close, &bounds)
                )
            }
        }
    }

    fn before(&self, how: How, step: &Step, targets: &[Step], within: Option<&Within>) -> String {
        let bounds: Vec<String> = targets.iter().flat_map(bound).collect();
        let target = self.listed(targets, "and every");
        let first = self.step(step, &bounds);
        let near = within.map_or(String::new(), |within| format!(" {}", far(within)));
        let own = "of its own, since the one before it";
        match how {
            How::Immediately => format!("the call just before every {target} is {}{near}", article(&first)),
            How::Before { each: true, starts: false } => format!("every {target} has an earlier {first} {own}{near}"),
            How::Before { each: false, starts: false } => format!("every {target} has an earlier {first}{near}"),
            How::Before { each: true, starts: true } => {
                format!("every {target} has {} that started earlier, {own}{near}", article(&first))
            }
            How::Before { each: false, starts: true } => {
                format!("every {target} has {} that started earlier{near}", article(&first))
            }
        }
    }

    fn after(&self, each: bool, immediately: bool, step: &Step, targets: &[Step], within: Option<&Within>) -> String {
        let first = self.step(step, &[]);
        let shared = bound(step);
        let targets: Vec<String> = targets.iter().map(|target| self.step(target, &shared)).collect();
        let target = joined(&targets, "and a later");
        let near = within.map_or(String::new(), |within| format!(" {}", far(within)));
        match (each, immediately) {
            (_, true) => format!("the call just after every {first} is {}{near}", article(&target)),
            (true, false) => format!("every {first} has a later {target} before the next {first}{near}"),
            (false, false) => format!("every {first} has a later {target}{near}"),
        }
    }

    fn sequence(&self, mode: SequenceMode, steps: &[Step], within: Option<&Within>) -> String {
        let mut bounds = Vec::new();
        let mut named = Vec::new();
        for step in steps {
            named.push(self.step(step, &bounds));
            bounds.extend(bound(step));
        }
        let order = joined(&named, "then");
        let near = within.map_or(String::new(), |within| format!(", each {}", far(within)));
        match mode {
            SequenceMode::Gaps => format!("{order} occur in this order{near}"),
            SequenceMode::Only => format!("the calls of these tools are exactly {order}{near}"),
            SequenceMode::Exactly => format!("all calls are exactly {order}{near}"),
        }
    }

    fn repeat(&self, step: &Step, limit: &str) -> String {
        let step = self.step(step, &[]);
        let calls = if step == "call" { "calls".to_owned() } else { format!("{step} calls") };
        format!("no more than {limit} {calls} in a row are the same")
    }

    fn each(&self, quantifier: Quantifier, step: &Step, condition: &Expr) -> String {
        let (step, condition) = (self.step(step, &[]), self.written(condition.span));
        match quantifier {
            Quantifier::Each => format!("every {step} has {condition}"),
            Quantifier::Some => format!("some {step} has {condition}"),
            Quantifier::No => format!("no {step} has {condition}"),
        }
    }

    fn any_of(&self, steps: &[Step]) -> String {
        self.listed(steps, "or")
    }

    fn listed(&self, steps: &[Step], word: &str) -> String {
        let all: Vec<String> = steps.iter().map(|step| self.step(step, &[])).collect();
        joined(&all, word)
    }

    /// A pattern; `known` are the bindings that have their value from what was said before.
    fn step(&self, step: &Step, known: &[String]) -> String {
        stacker::maybe_grow(64 << 10, 1 << 20, || match &step.kind {
            StepKind::Atom(atom) => self.atom(atom, known),
            StepKind::Choice(all) => joined(&all.iter().map(|one| self.step(one, known)).collect::<Vec<_>>(), "or"),
            StepKind::Where { step, condition } => {
                format!("{} where {}", self.step(step, known), self.written(condition.span))
            }
            StepKind::Proposed(inner) => format!("proposed {}", self.step(inner, known)),
        })
    }

    fn atom(&self, atom: &Atom, known: &[String]) -> String {
        let mut front = String::new();
        if atom.proposed {
            front.push_str("proposed ");
        }
        match atom.status {
            Some(StatusWord::Ok) => front.push_str("successful "),
            Some(StatusWord::Failed) => front.push_str("failed "),
            None => {}
        }
        let subject = match &atom.subject {
            Subject::Tool(name) if name.text == "any" => "call".to_owned(),
            Subject::Tool(name) | Subject::QuotedTool(name) => name.text.clone(),
            Subject::Kind { kind, text, .. } => self.kind(*kind, text.as_ref()),
        };
        let entries = atom.arguments.as_deref().unwrap_or(&[]);
        let is_known = |entry: &Argument| binding_of(entry).is_some_and(|(_, binding)| known.contains(&binding));
        let (same, other) = entries.iter().partition::<Vec<_>, _>(|entry| is_known(entry));
        let mut conditions: Vec<String> = Vec::new();
        if !same.is_empty() {
            let paths: Vec<String> =
                same.iter().filter_map(|entry| Some(self.written(binding_of(entry)?.0.span))).collect();
            conditions.push(format!("the same {}", joined(&paths, "and")));
        }
        let tests = other.iter().filter(|entry| binding_of(entry).is_none());
        conditions.extend(tests.map(|entry| self.entry(entry)));
        let with = if conditions.is_empty() { String::new() } else { format!(" with {}", joined(&conditions, "and")) };
        let by = atom.by.as_ref().map_or(String::new(), |by| match &by.agent {
            Agent::Binding(Expr { kind: ExprKind::Binding(name), .. }) if known.contains(name) => {
                " by the same agent".to_owned()
            }
            _ => format!(" {}", self.written(by.span)),
        });
        let tagged = atom.tagged.as_ref().map_or(String::new(), |tag| format!(" tagged {}", tag.text));
        format!("{front}{subject}{tagged}{with}{by}")
    }

    fn entry(&self, entry: &Argument) -> String {
        match entry {
            Argument::Matches { path, value, .. } => {
                format!("{} {}", self.written(path.span), self.written(value.span))
            }
            Argument::Test(test) => self.written(test.span),
        }
    }

    fn kind(&self, kind: StepWord, text: Option<&KindText>) -> String {
        let noun = match kind {
            StepWord::Command => "command",
            StepWord::Read => "read of",
            StepWord::Write => "write of",
            StepWord::Skill => "use of skill",
            StepWord::Http => "request to",
            StepWord::User => "user message",
            StepWord::Assistant => "assistant message",
            StepWord::Thinking => "thought",
            StepWord::Message => "message",
            StepWord::Span => "span",
            StepWord::Handover => "handover to",
        };
        let written = match text {
            Some(KindText::Text(Text { span, .. })) => self.written(*span),
            Some(KindText::Regex(regex)) => self.written(regex.span),
            Some(KindText::Command(Name { text, .. })) => text.clone(),
            None => {
                return match kind {
                    StepWord::Read => "read".to_owned(),
                    StepWord::Write => "write".to_owned(),
                    StepWord::Skill => "use of a skill".to_owned(),
                    StepWord::Http => "request".to_owned(),
                    StepWord::Handover => "handover".to_owned(),
                    _ => noun.to_owned(),
                };
            }
        };
        format!("{noun} {written}")
    }
}

/// `id: $id` and `id == $id`: the path and the binding.
fn binding_of(entry: &Argument) -> Option<(&Expr, String)> {
    match entry {
        Argument::Matches { path, value: Expr { kind: ExprKind::Binding(name), .. }, .. } => Some((path, name.clone())),
        Argument::Test(Expr { kind: ExprKind::Test { subject, test }, .. }) => match test.operand.as_deref() {
            Some(Expr { kind: ExprKind::Binding(name), .. })
                if !test.negated && test.kind == averment_syntax::ast::TestKind::Equal =>
            {
                Some((subject, name.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The bindings that a pattern gives their values.
fn bound(step: &Step) -> Vec<String> {
    match &step.kind {
        StepKind::Atom(atom) => {
            atom.arguments.iter().flatten().filter_map(binding_of).map(|(_, binding)| binding).collect()
        }
        StepKind::Choice(all) => all.iter().flat_map(bound).collect(),
        StepKind::Where { step, .. } | StepKind::Proposed(step) => bound(step),
    }
}

fn joined(all: &[String], word: &str) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [front @ .., last] if matches!(word, "or" | "and") => format!("{} {word} {last}", front.join(", ")),
        all => all.join(&format!(" {word} ")),
    }
}

fn article(noun: &str) -> String {
    let vowel = noun.starts_with(|c: char| "aeiouAEIOU".contains(c));
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

fn how_often(times: &Times) -> String {
    match (&times.least, &times.most) {
        (Some(least), Some(most)) if least.value == most.value => format!(" {} times", least.text),
        (Some(least), Some(most)) => format!(" {} to {} times", least.text, most.text),
        (Some(least), None) => format!(" at least {} times", least.text),
        (None, Some(most)) => format!(" at most {} times", most.text),
        (None, None) => String::new(),
    }
}

fn far(within: &Within) -> String {
    let unit = match within.unit {
        Some(WithinUnit::Calls) => " calls",
        Some(WithinUnit::Turns) => " turns",
        None => "",
    };
    format!("within {}{unit}", within.number.text)
}

fn args_valid(step: Option<String>, strict: bool) -> String {
    let whose = step.map_or("every call".to_owned(), |step| format!("every {step}"));
    let strict = if strict { ", and every tool is declared" } else { "" };
    format!("the arguments of {whose} fit the declared schema{strict}")
}
