//! Temporal statements in words: `every refund has an earlier approve with the same id`.

mod phrases;

use phrases::{
    MatchWords, args_valid, bound_names, calls_match, entry_binding, join_words, times_words, with_article,
    within_words,
};

use averment_base::source::{SourceMap, Span};
use averment_syntax::ast::{
    AgentPattern, ArgumentMatch, Atom, AtomSubject, BlockScope, Expr, ExprKind, KindText, MatchExtent, MatchOrder,
    Name, NeverWindow, PatternArgument, PatternForm, Quantifier, RatedSubject, RunShare, SequenceMode, SlidingExtent,
    Statement, StatementKind, StatusWord, StepCount, StepPattern, StepWord, TextLiteral, WithinBound, WithinUnit,
};

/// Returns a temporal statement in plain words; `None` for any other statement.
#[must_use]
pub fn statement_reading(statement: &Statement, sources: &SourceMap) -> Option<String> {
    StatementReader { sources }.read_statement(statement).map(|reading| reading.words)
}

/// Returns the plain words of a statement that is easily misread.
#[must_use]
pub fn misreading_hint(statement: &Statement, sources: &SourceMap) -> Option<String> {
    StatementReader { sources }
        .read_statement(statement)
        .filter(|reading| reading.is_misread)
        .map(|reading| reading.words)
}

/// Returns a step pattern in words: `refund with amount > 100`.
#[must_use]
pub fn step_reading(step: &StepPattern, sources: &SourceMap) -> String {
    StatementReader { sources }.step_words(step, &[])
}

struct StatementReading {
    words: String,
    /// True if the statement is easily misread, so editors show the plain words beside it.
    is_misread: bool,
}

fn plain_reading(words: String) -> StatementReading {
    StatementReading { words, is_misread: false }
}

fn misread_reading(words: String) -> StatementReading {
    StatementReading { words, is_misread: true }
}

struct StatementReader<'s> {
    sources: &'s SourceMap,
}

#[derive(Debug, Clone, Copy)]
enum BeforeForm {
    Immediately,
    /// Any earlier call, or one for each.
    Before {
        each: bool,
        starts: bool,
    },
}

impl StatementReader<'_> {
    fn source_words(&self, span: Span) -> String {
        self.sources.span_text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn read_statement(&self, statement: &Statement) -> Option<StatementReading> {
        use StatementKind as K;
        Some(match &statement.kind {
            K::Not(inner) => plain_reading(format!("it is not so that {}", self.read_statement(inner)?.words)),
            K::Require { step, times } => plain_reading(format!(
                "{} occurs{}",
                self.step_words(step, &[]),
                times.as_ref().map_or(String::new(), times_words)
            )),
            K::Never { steps, window: None, within } => plain_reading(self.never_words(steps, None, within.as_ref())),
            K::Never { steps, window, within } => {
                misread_reading(self.never_words(steps, window.as_ref(), within.as_ref()))
            }
            K::Only { steps } => plain_reading(format!("every call is {}", self.alternative_words(steps))),
            K::Count { step, test } => plain_reading(format!(
                "the number of {} is {}",
                self.step_words(step, &[]),
                self.source_words(test.span)
            )),
            K::Sliding { condition, over } => plain_reading(match over {
                SlidingExtent::Within(within) => {
                    let (condition, bound) = (self.source_words(condition.span), self.source_words(within.span));
                    format!("from every such step on, {bound}: {condition}")
                }
                SlidingExtent::Row(_) => format!("in every row of such calls: {}", self.source_words(condition.span)),
            }),
            K::First { step } => plain_reading(format!("the first call is {}", self.step_words(step, &[]))),
            K::Last { step } => plain_reading(format!("the last call is {}", self.step_words(step, &[]))),
            K::Before { each, immediately, starts, step, targets, within, .. } => {
                let how = if *immediately {
                    BeforeForm::Immediately
                } else {
                    BeforeForm::Before { each: *each, starts: *starts }
                };
                misread_reading(self.before_words(how, step, targets, within.as_ref()))
            }
            K::After { each, immediately, step, targets, within } => {
                misread_reading(self.after_words(*each, *immediately, step, targets, within.as_ref()))
            }
            K::Sequence { mode, steps, within } => misread_reading(self.sequence_words(*mode, steps, within.as_ref())),
            K::Nested { open, close } => {
                let (open, close) = self.pair_words(open, close);
                misread_reading(format!("every {close} closes the latest open {open}, and none stays open"))
            }
            K::Together { left, right } => {
                let (left, right) = self.pair_words(left, right);
                misread_reading(format!("some {left} and some {right} are in one turn or overlap"))
            }
            K::Apart { left, right } => {
                let (left, right) = self.pair_words(left, right);
                misread_reading(format!("no {left} and {right} are in one turn or overlap"))
            }
            K::IfThen { condition, consequence } => {
                let (condition, consequence) = self.pair_words(condition, consequence);
                misread_reading(format!("every {condition} has {} somewhere", with_article(&consequence)))
            }
            K::Iff { left, right } => {
                let (left, right) = self.pair_words(left, right);
                misread_reading(format!("{left} occurs where {right} does, and the other way round"))
            }
            K::Either { steps } => plain_reading(format!("{} occurs", self.alternative_words(steps))),
            K::NotBoth { left, right } => {
                let (left, right) = self.pair_words(left, right);
                misread_reading(format!("{left} and {right} do not both occur"))
            }
            K::Repeat { step, limit } => misread_reading(self.repeat_words(step, &limit.text)),
            K::Flow { flow } => {
                plain_reading(format!("the calls of the run are exactly {}", self.source_words(flow.span)))
            }
            K::Each { quantifier, step, condition } => plain_reading(self.each_words(*quantifier, step, condition)),
            K::NoPredicate { predicate, target } => {
                plain_reading(format!("{} finds nothing in {}", predicate.text, self.source_words(target.span)))
            }
            K::ArgsValid { step, strict } => {
                plain_reading(args_valid(step.as_ref().map(|step| self.step_words(step, &[])), *strict))
            }
            K::CallsMatch { expected, extent, order, arguments, folded, ignored, score } => {
                let clauses = MatchWords { extent: *extent, order: *order, arguments: *arguments, folded: *folded };
                let ignored: Vec<&str> = ignored.iter().map(|name| name.text.as_str()).collect();
                let least = score.as_ref().map(|score| score.text.as_str());
                plain_reading(calls_match(&self.source_words(expected.span), clauses, &ignored, least))
            }
            K::Block { scope, .. } => match scope {
                BlockScope::Each { .. } | BlockScope::When { .. } => plain_reading(self.scope_words(scope)),
                BlockScope::After { .. } | BlockScope::Before { .. } | BlockScope::Between { .. } => {
                    misread_reading(self.scope_words(scope))
                }
            },
            K::Rate { share, by, rated, .. } => plain_reading(self.rate_words(share, by.as_ref(), rated)),
            K::Expression(_) | K::Group { .. } | K::World(_) => return None,
        })
    }

    fn rate_words(&self, share: &RunShare, by: Option<&Expr>, rated: &RatedSubject) -> String {
        let what = match rated {
            RatedSubject::Rule(name) => format!("the rule `{}` passes", name.text),
            RatedSubject::Statement(inner) => format!("`{}` holds", self.source_words(inner.span)),
        };
        let groups = by.map_or_else(String::new, |by| format!(" of each `{}`", self.source_words(by.span)));
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

    /// Returns two patterns in words; the second uses bindings of the first.
    fn pair_words(&self, first: &StepPattern, second: &StepPattern) -> (String, String) {
        (self.step_words(first, &[]), self.step_words(second, &bound_names(first)))
    }

    fn scope_words(&self, scope: &BlockScope) -> String {
        match scope {
            BlockScope::After { open, until: None } => {
                format!("from the first {} to the end of the run:", self.step_words(open, &[]))
            }
            BlockScope::After { open, until: Some(until) } => {
                format!(
                    "from {} to the next {}:",
                    with_article(&self.step_words(open, &[])),
                    self.step_words(until, &bound_names(open))
                )
            }
            BlockScope::Before { close } => {
                format!("from the start of the run to the first {}:", self.step_words(close, &[]))
            }
            BlockScope::Between { open, close } => {
                format!(
                    "from {} to the next {}:",
                    with_article(&self.step_words(open, &[])),
                    self.step_words(close, &bound_names(open))
                )
            }
            BlockScope::Each { step } => format!("for every {}:", self.step_words(step, &[])),
            BlockScope::When { condition } => format!("where {}:", self.source_words(condition.span)),
        }
    }

    fn never_words(&self, steps: &[StepPattern], window: Option<&NeverWindow>, within: Option<&WithinBound>) -> String {
        let none = format!("no {}", self.list_words(steps, "or"));
        let bounds: Vec<String> = steps.iter().flat_map(bound_names).collect();
        let near = within.map_or(String::new(), |within| format!(" {}", within_words(within)));
        match window {
            None => format!("{none} occurs"),
            Some(NeverWindow::After { open, until: None }) => {
                format!("{none} follows {}{near}", with_article(&self.step_words(open, &bounds)))
            }
            Some(NeverWindow::After { open, until: Some(until) }) => {
                format!(
                    "{none} follows {} until {}{near}",
                    with_article(&self.step_words(open, &bounds)),
                    with_article(&self.step_words(until, &bounds))
                )
            }
            Some(NeverWindow::Before { close }) => {
                format!("{none} comes before the first {}{near}", self.step_words(close, &bounds))
            }
            Some(NeverWindow::Between { open, close }) => {
                format!(
                    "{none} stands between {} and the next {}",
                    with_article(&self.step_words(open, &bounds)),
                    self.step_words(close, &bounds)
                )
            }
        }
    }

    fn before_words(
        &self,
        how: BeforeForm,
        step: &StepPattern,
        targets: &[StepPattern],
        within: Option<&WithinBound>,
    ) -> String {
        let bounds: Vec<String> = targets.iter().flat_map(bound_names).collect();
        let target = self.list_words(targets, "and every");
        let first = self.step_words(step, &bounds);
        let near = within.map_or(String::new(), |within| format!(" {}", within_words(within)));
        let own = "of its own, since the one before it";
        match how {
            BeforeForm::Immediately => format!("the call just before every {target} is {}{near}", with_article(&first)),
            BeforeForm::Before { each: true, starts: false } => {
                format!("every {target} has an earlier {first} {own}{near}")
            }
            BeforeForm::Before { each: false, starts: false } => format!("every {target} has an earlier {first}{near}"),
            BeforeForm::Before { each: true, starts: true } => {
                format!("every {target} has {} that started earlier, {own}{near}", with_article(&first))
            }
            BeforeForm::Before { each: false, starts: true } => {
                format!("every {target} has {} that started earlier{near}", with_article(&first))
            }
        }
    }

    fn after_words(
        &self,
        each: bool,
        immediately: bool,
        step: &StepPattern,
        targets: &[StepPattern],
        within: Option<&WithinBound>,
    ) -> String {
        let first = self.step_words(step, &[]);
        let shared = bound_names(step);
        let targets: Vec<String> = targets.iter().map(|target| self.step_words(target, &shared)).collect();
        let target = join_words(&targets, "and a later");
        let near = within.map_or(String::new(), |within| format!(" {}", within_words(within)));
        match (each, immediately) {
            (_, true) => format!("the call just after every {first} is {}{near}", with_article(&target)),
            (true, false) => format!("every {first} has a later {target} before the next {first}{near}"),
            (false, false) => format!("every {first} has a later {target}{near}"),
        }
    }

    fn sequence_words(&self, mode: SequenceMode, steps: &[StepPattern], within: Option<&WithinBound>) -> String {
        let mut bounds = Vec::new();
        let mut named = Vec::new();
        for step in steps {
            named.push(self.step_words(step, &bounds));
            bounds.extend(bound_names(step));
        }
        let order = join_words(&named, "then");
        let near = within.map_or(String::new(), |within| format!(", each {}", within_words(within)));
        match mode {
            SequenceMode::Gaps => format!("{order} occur in this order{near}"),
            SequenceMode::Only => format!("the calls of these tools are exactly {order}{near}"),
            SequenceMode::Exactly => format!("all calls are exactly {order}{near}"),
        }
    }

    fn repeat_words(&self, step: &StepPattern, limit: &str) -> String {
        let step = self.step_words(step, &[]);
        let calls = if step == "call" { "calls".to_owned() } else { format!("{step} calls") };
        format!("no more than {limit} {calls} in a row are the same")
    }

    fn each_words(&self, quantifier: Quantifier, step: &StepPattern, condition: &Expr) -> String {
        let (step, condition) = (self.step_words(step, &[]), self.source_words(condition.span));
        match quantifier {
            Quantifier::Each => format!("every {step} has {condition}"),
            Quantifier::Some => format!("some {step} has {condition}"),
            Quantifier::No => format!("no {step} has {condition}"),
        }
    }

    fn alternative_words(&self, steps: &[StepPattern]) -> String {
        self.list_words(steps, "or")
    }

    fn list_words(&self, steps: &[StepPattern], word: &str) -> String {
        let all: Vec<String> = steps.iter().map(|step| self.step_words(step, &[])).collect();
        join_words(&all, word)
    }

    /// Returns a pattern in words; `known` are bindings that already have a value.
    fn step_words(&self, step: &StepPattern, known: &[String]) -> String {
        stacker::maybe_grow(64 << 10, 1 << 20, || match &step.kind {
            PatternForm::Atom(atom) => self.atom_words(atom, known),
            PatternForm::Choice(all) => {
                join_words(&all.iter().map(|one| self.step_words(one, known)).collect::<Vec<_>>(), "or")
            }
            PatternForm::Where { step, condition } => {
                format!("{} where {}", self.step_words(step, known), self.source_words(condition.span))
            }
            PatternForm::Proposed(inner) => format!("proposed {}", self.step_words(inner, known)),
        })
    }

    fn atom_words(&self, atom: &Atom, known: &[String]) -> String {
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
            AtomSubject::Tool(name) if name.text == "any" => "call".to_owned(),
            AtomSubject::Tool(name) | AtomSubject::QuotedTool(name) => name.text.clone(),
            AtomSubject::ToolText(text) => self.source_words(text.span),
            AtomSubject::Kind { kind, text, .. } => self.kind_words(*kind, text.as_ref()),
        };
        let entries = atom.arguments.as_deref().unwrap_or(&[]);
        let is_known =
            |entry: &PatternArgument| entry_binding(entry).is_some_and(|(_, binding)| known.contains(&binding));
        let (same, other) = entries.iter().partition::<Vec<_>, _>(|entry| is_known(entry));
        let mut conditions: Vec<String> = Vec::new();
        if !same.is_empty() {
            let paths: Vec<String> =
                same.iter().filter_map(|entry| Some(self.source_words(entry_binding(entry)?.0.span))).collect();
            conditions.push(format!("the same {}", join_words(&paths, "and")));
        }
        let tests = other.iter().filter(|entry| entry_binding(entry).is_none());
        conditions.extend(tests.map(|entry| self.argument_words(entry)));
        let with =
            if conditions.is_empty() { String::new() } else { format!(" with {}", join_words(&conditions, "and")) };
        let by = atom.by.as_ref().map_or(String::new(), |by| match &by.agent {
            AgentPattern::Binding(Expr { kind: ExprKind::Binding(name), .. }) if known.contains(name) => {
                " by the same agent".to_owned()
            }
            _ => format!(" {}", self.source_words(by.span)),
        });
        let tagged = atom.tagged.as_ref().map_or(String::new(), |tag| format!(" tagged {}", tag.text));
        format!("{front}{subject}{tagged}{with}{by}")
    }

    fn argument_words(&self, entry: &PatternArgument) -> String {
        match entry {
            PatternArgument::Matches { path, value, .. } => {
                format!("{} {}", self.source_words(path.span), self.source_words(value.span))
            }
            PatternArgument::Test(test) => self.source_words(test.span),
        }
    }

    fn kind_words(&self, kind: StepWord, text: Option<&KindText>) -> String {
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
            Some(KindText::Text(TextLiteral { span, .. })) => self.source_words(*span),
            Some(KindText::Regex(regex)) => self.source_words(regex.span),
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
