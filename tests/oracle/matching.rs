//! When a step matches a pattern, and what an unknown match may turn out to be.

use crate::answers::Answers;
use crate::condition::{Scope, argument_truth, condition_truth, search};
use crate::model::{ArgForm, ArgTest, By, Condition, OfProgram, Operand, Pattern, Simple, Test, Text, What};
use crate::run::{Found, Kind, Program, Run, Step};
use crate::truth::{Truth, UNDECIDED, by_missing, sure};
use crate::value;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What a match binds, the names whose value is not recorded, and whether it may match alone.
type Bindings<'p> = (Vec<(String, Value)>, Vec<&'p str>, bool);

/// A value for each variable, as a place in the list of values that occur (the last one: a value that does not occur).
pub type Env = BTreeMap<String, usize>;

/// The values that variables have in a run.
#[derive(Default)]
pub struct Domain {
    values: Vec<Value>,
    of: BTreeMap<String, Vec<usize>>,
    /// Variables of which some step does not record the value: a value that occurs nowhere may then be any value.
    unrecorded: BTreeSet<String>,
}

/// The place of a value that is not recorded: a binding of a block's header may have it.
const ABSENT: usize = usize::MAX;
/// The place of a value that a step to come may bring.
const TO_COME: usize = usize::MAX - 1;

/// What a statement is judged on: some steps of a run, with the bindings of the blocks around it.
#[derive(Clone)]
pub struct World<'a> {
    pub run: &'a Run,
    /// Indices into `run.steps`, in order.
    pub steps: Vec<usize>,
    /// No step can follow in this window.
    pub complete: bool,
    pub fixed: Env,
    pub domain: &'a Domain,
    /// The step of an `each A { }` around.
    pub subject: Option<usize>,
    /// Headers of blocks around that open windows, and where the outermost of them was looked for.
    pub around: Vec<Pattern>,
    pub outside: Option<Rc<World<'a>>>,
}

/// One match of a step, yes or unknown, tests on the bindings of other patterns aside.
struct Match<'p> {
    bound: Env,
    /// Variables whose value is not recorded.
    free: Vec<&'p str>,
    unknown: bool,
    foreign: Vec<Piece<'p>>,
}

impl<'a> World<'a> {
    /// All of a run.
    pub fn whole(run: &'a Run, domain: &'a Domain) -> World<'a> {
        World {
            run,
            steps: (0..run.steps.len()).collect(),
            complete: run.complete,
            fixed: Env::new(),
            domain,
            subject: None,
            around: Vec::new(),
            outside: None,
        }
    }

    pub fn step(&self, index: usize) -> &'a Step {
        &self.run.steps[index]
    }

    pub fn scope(&self, index: usize) -> Scope<'a> {
        Scope { run: self.run, step: Some(self.step(index)) }
    }

    /// The value of a variable under an environment; `None` when it has none there or the value is not recorded.
    pub fn value(&self, env: &Env, name: &str) -> Option<Value> {
        let nowhere = self.domain.values.len().checked_sub(1);
        let place =
            env.get(name).copied().filter(|place| Some(*place) != nowhere || !self.domain.unrecorded.contains(name))?;
        self.domain.values.get(place).cloned()
    }

    /// The values that a variable may have.
    pub fn values_of(&self, variable: &str) -> Vec<usize> {
        match self.fixed.get(variable) {
            Some(place) => vec![*place],
            None => self.domain.of.get(variable).cloned().unwrap_or_default(),
        }
    }

    /// Every environment of these patterns.
    pub fn environments(&self, patterns: &[&Pattern]) -> Vec<Env> {
        let simples = patterns.iter().flat_map(|pattern| &pattern.alternatives);
        let names: Vec<&str> = simples.flat_map(Simple::binds).collect();
        self.spread(vec![self.fixed.clone()], &names)
    }

    /// The same, and those in which some names have no value.
    pub fn partial_environments(&self, patterns: &[&Pattern]) -> Vec<Env> {
        let mut names: Vec<&str> =
            patterns.iter().flat_map(|pattern| &pattern.alternatives).flat_map(Simple::binds).collect();
        names.sort_unstable();
        names.dedup();
        let mut envs = vec![self.fixed.clone()];
        for name in names {
            let with = self.spread(envs.clone(), &[name]);
            envs.extend(with.into_iter().filter(|env| !self.fixed.contains_key(name) && env.contains_key(name)));
        }
        envs
    }

    fn spread(&self, mut envs: Vec<Env>, names: &[&str]) -> Vec<Env> {
        for name in names {
            if envs.iter().all(|env| env.contains_key(*name)) {
                continue;
            }
            let values = self.values_of(name);
            let with = |env: &Env, value: usize| {
                let mut env = env.clone();
                env.insert((*name).to_owned(), value);
                env
            };
            envs =
                envs.iter().flat_map(|env| values.iter().map(|value| with(env, *value)).collect::<Vec<_>>()).collect();
        }
        envs
    }

    /// `M(P, s, e)`. Tests on variables that `env` does not have are left aside.
    pub fn matches(&self, pattern: &Pattern, index: usize, env: &Env, answers: &mut Answers) -> bool {
        self.found(pattern, index).into_iter().any(|found| {
            // A value that is not recorded is some value: where a name has none, no step binds it.
            let agrees = found.bound.iter().all(|(name, value)| env.get(name) == Some(value))
                && found.free.iter().all(|name| env.contains_key(*name));
            if !agrees {
                return false;
            }
            let mut own = found.bound.clone();
            own.extend(found.free.iter().map(|name| ((*name).to_owned(), env[*name])));
            (!found.unknown || answers.yes(format!("{} at {index} {own:?}", pattern.id)))
                && self.foreign_holds(pattern, &found, index, env, answers)
        })
    }

    fn foreign_holds(&self, pattern: &Pattern, found: &Match, index: usize, env: &Env, answers: &mut Answers) -> bool {
        let mut truth = sure(true);
        for piece in &found.foreign {
            if piece.variable().is_some_and(|name| env.contains_key(name)) {
                truth = truth.and(self.piece_truth(*piece, index, &|name| self.value(env, name)));
            }
        }
        truth.plain.unwrap_or_else(|| answers.yes(format!("{} at {index} under {env:?}", pattern.id)))
    }

    /// The bindings with which a step matches, tests on the bindings of other patterns left aside.
    pub fn base(&self, pattern: &Pattern, index: usize, answers: &mut Answers) -> Vec<Env> {
        self.base_asked(pattern, index, &format!("at {index}"), answers)
    }

    /// The same for what closes a window: of each window's values it is asked for itself.
    pub fn closings(&self, pattern: &Pattern, index: usize, answers: &mut Answers) -> Vec<Env> {
        self.base_asked(pattern, index, &format!("at {index} for {:?}", self.fixed), answers)
    }

    fn base_asked(&self, pattern: &Pattern, index: usize, place: &str, answers: &mut Answers) -> Vec<Env> {
        let mut hits = Vec::new();
        for found in self.found(pattern, index) {
            for env in self.spread(vec![found.bound.clone()], &found.free) {
                if !found.unknown || answers.yes(format!("{} {place} {env:?}", pattern.id)) {
                    hits.push(env);
                }
            }
        }
        hits
    }

    /// The same for the header of a block: a value that is not recorded is a value of its own.
    pub fn openings(&self, pattern: &Pattern, index: usize, answers: &mut Answers) -> Vec<Env> {
        let mut envs: Vec<Env> = Vec::new();
        for found in self.found(pattern, index) {
            let mut env = found.bound.clone();
            env.extend(found.free.iter().map(|name| ((*name).to_owned(), ABSENT)));
            let yes = !found.unknown || answers.yes(format!("{} at {index} {env:?}", pattern.id));
            if yes && !envs.contains(&env) {
                envs.push(env);
            }
        }
        envs
    }

    /// Whether a step matches for sure or may match.
    pub fn may_match(&self, pattern: &Pattern, index: usize) -> bool {
        !self.found(pattern, index).is_empty()
    }

    /// The matches of a step, with the values that they bind, the names whose value is not recorded, and whether it may match alone.
    pub fn found_in<'p>(&self, pattern: &'p Pattern, index: usize) -> Vec<Bindings<'p>> {
        let value = |place: &usize| self.domain.values.get(*place).cloned().unwrap_or_default();
        let found = self.found(pattern, index).into_iter();
        found
            .map(|found| {
                let bound = found.bound.iter().map(|(name, place)| (name.clone(), value(place))).collect();
                (bound, found.free, found.unknown)
            })
            .collect()
    }

    /// The alternatives in order, up to the first that matches for sure; one with tests on bindings of other patterns does
    /// not end the trying. Where none matches for sure, the first unknown one counts.
    fn found<'p>(&self, pattern: &'p Pattern, index: usize) -> Vec<Match<'p>> {
        let (mut out, mut first_unknown): (Vec<Match>, Option<Match>) = (Vec::new(), None);
        for simple in &pattern.alternatives {
            let Some(found) = self.match_simple(simple, index) else { continue };
            match (found.foreign.is_empty(), found.unknown) {
                (false, _) => out.push(found),
                (true, true) => first_unknown = first_unknown.or(Some(found)),
                (true, false) => {
                    out.push(found);
                    first_unknown = None;
                    break;
                }
            }
        }
        out.extend(first_unknown);
        out.into_iter().filter_map(|found| self.with_header(found)).collect()
    }

    /// A match with the bindings of the blocks around: another value is no match; one that is not recorded leaves it unknown.
    fn with_header<'p>(&self, mut found: Match<'p>) -> Option<Match<'p>> {
        for (name, place) in &self.fixed {
            match found.bound.get(name) {
                Some(_) if *place == ABSENT => found.unknown = true,
                Some(other) if other != place => return None,
                None if !found.free.contains(&name.as_str()) => continue,
                _ => {}
            }
            found.bound.insert(name.clone(), *place);
            found.free.retain(|free| free != name);
        }
        Some(found)
    }

    fn match_simple<'p>(&self, simple: &'p Simple, index: usize) -> Option<Match<'p>> {
        if !is_candidate(simple, self.step(index)) {
            return None;
        }
        let (own, foreign) = self.tests(simple);
        let (bound, free, truth) = self.bindings(simple, index);
        let truth = own.into_iter().fold(truth, |truth, piece| truth.and(self.own_truth(piece, index, &bound)));
        (truth.plain != Some(false)).then(|| Match { bound, free, unknown: truth.plain.is_none(), foreign })
    }

    fn own_truth(&self, piece: Piece, index: usize, bound: &Env) -> Truth {
        let value = |name: &str| self.value(bound, name).or_else(|| self.value(&self.fixed, name));
        self.piece_truth(piece, index, &value)
    }

    /// Known bindings, variables whose value is not recorded, and whether all bindings can be had.
    fn bindings<'p>(&self, simple: &'p Simple, index: usize) -> (Env, Vec<&'p str>, Truth) {
        let (mut bound, mut free, mut truth) = (Env::new(), Vec::new(), sure(true));
        for (variable, found) in self.bound_values(simple, index) {
            let known = bound.get(variable).copied();
            truth = truth.and(match (&found, known) {
                (Found::Missing | Found::Value(serde_json::Value::Null), _) => by_missing(false),
                (Found::Absent, _) => UNDECIDED,
                (Found::Value(_), None) => sure(true),
                (Found::Value(value), Some(place)) => value::equality(value, &self.domain.values[place], value::equal),
            });
            match (&found, known) {
                (_, Some(place)) => drop(bound.insert(variable.to_owned(), place)),
                // Null binds nothing.
                (Found::Value(serde_json::Value::Null), None) => {}
                (Found::Value(value), None) => drop(bound.insert(variable.to_owned(), self.domain.place(value))),
                (_, None) => free.push(variable),
            }
        }
        free.retain(|name| !bound.contains_key(*name));
        free.dedup();
        (bound, free, truth)
    }

    /// What the bindings of an alternative find: those in its parentheses in order, then that of `by`.
    fn bound_values<'p>(&self, simple: &'p Simple, index: usize) -> Vec<(&'p str, Found)> {
        let mut found = Vec::new();
        for test in &simple.tests {
            if let ArgForm::Bind { variable, .. } = &test.test {
                found.push((variable.as_str(), self.scope(index).look_up_argument(&test.path)));
            }
        }
        if let Some(By::Variable(variable)) = &simple.by {
            found.push((variable.as_str(), self.step(index).field("agent")));
        }
        found
    }

    /// The tests of an alternative: those that it can decide, and those on a binding of another pattern.
    fn tests<'p>(&self, simple: &'p Simple) -> (Vec<Piece<'p>>, Vec<Piece<'p>>) {
        let bound = simple.binds();
        let known = |name: &str| bound.contains(&name) || self.fixed.contains_key(name);
        let mut pieces: Vec<Piece> = Vec::new();
        pieces.extend(simple.status.map(Piece::Status));
        if let Some(By::Name(name)) = &simple.by {
            pieces.push(Piece::By(name));
        }
        if let What::Program(name, tests) = &simple.what {
            pieces.push(Piece::Program(name, tests));
        }
        if let What::Command(Text::Substring(text)) = &simple.what {
            pieces.push(Piece::Command(text));
        }
        pieces.extend(simple.condition.as_ref().map(Piece::Condition));
        let tests = simple.tests.iter().filter(|test| !matches!(test.test, ArgForm::Bind { .. }));
        pieces.extend(tests.map(Piece::Argument));
        pieces.into_iter().partition(|piece| piece.variable().is_none_or(known))
    }

    fn piece_truth(&self, piece: Piece, index: usize, variables: &dyn Fn(&str) -> Option<Value>) -> Truth {
        let scope = self.scope(index);
        match piece {
            Piece::Status(ok) => status_truth(self.step(index), ok),
            Piece::By(name) => agent_truth(self.step(index), name),
            Piece::Program(name, tests) => program_truth(self.step(index), &|program| program_is(program, name, tests)),
            Piece::Command(text) => command_truth(self.step(index), text),
            Piece::Condition(condition) => condition_truth(condition, scope, variables),
            Piece::Argument(test) => argument_truth(&test.test, &test.path, scope, variables),
        }
    }

    /// Whether every candidate's condition was decided by something missing (and there is a candidate, and a condition).
    /// `others`: the patterns of the statement in order, for tests on what they bind.
    pub fn decided_by_missing(&self, pattern: &Pattern, others: &[&Pattern]) -> bool {
        let has_condition =
            |simple: &Simple| !simple.tests.is_empty() || simple.by.is_some() || simple.condition.is_some();
        let truths: Vec<Truth> =
            self.steps.iter().filter_map(|index| self.candidate_truth(pattern, *index, others)).collect();
        let conditional = pattern.alternatives.iter().any(has_condition);
        conditional && !truths.is_empty() && truths.iter().all(|truth| truth.is_by_missing())
    }

    /// Whether nothing that it asks can be missing, or what is there decided the condition of some candidate, whatever others bind.
    pub fn decided_by_evidence(&self, pattern: &Pattern) -> bool {
        // A message may come without a text.
        let asks_text = |simple: &Simple| match &simple.what {
            What::User(text) | What::Assistant(text) | What::Thinking(text) => *text != Text::Any,
            What::Command(Text::Substring(text)) => named_program(text).is_some(),
            _ => false,
        };
        let has_condition = |simple: &Simple| {
            !simple.tests.is_empty() || simple.by.is_some() || simple.condition.is_some() || asks_text(simple)
        };
        if !pattern.alternatives.iter().any(has_condition) {
            return true;
        }
        let joined = pattern.alternatives.iter().any(|simple| !self.tests(simple).1.is_empty());
        let candidates = || self.steps.iter().filter_map(|index| self.candidate_truth(pattern, *index, &[]));
        // What is unknown now may turn out to be missing.
        !joined && candidates().any(|truth| truth.sure.is_some())
    }

    fn candidate_truth(&self, pattern: &Pattern, index: usize, others: &[&Pattern]) -> Option<Truth> {
        let others: Vec<&Pattern> = others.iter().copied().filter(|other| other.id != pattern.id).collect();
        let candidates = pattern.alternatives.iter().filter(|simple| is_candidate(simple, self.step(index)));
        candidates.map(|simple| self.simple_truth(simple, index, &others)).reduce(Truth::or)
    }

    fn simple_truth(&self, simple: &Simple, index: usize, others: &[&Pattern]) -> Truth {
        let (own, foreign) = self.tests(simple);
        let (bound, _, truth) = self.bindings(simple, index);
        let mut truth = own.into_iter().fold(truth, |truth, piece| truth.and(self.own_truth(piece, index, &bound)));
        for piece in foreign {
            let value = piece.variable().and_then(|name| self.first_value(name, others));
            if value.is_some() {
                truth = truth.and(self.piece_truth(piece, index, &|_| value.clone()));
            }
        }
        truth
    }

    /// The value of a variable at the first step that surely matches a pattern which binds it.
    fn first_value(&self, name: &str, patterns: &[&Pattern]) -> Option<Value> {
        let surely = |pattern: &Pattern, index: usize| {
            let found = self
                .found(pattern, index)
                .into_iter()
                .find(|found| !found.unknown && found.bound.contains_key(name))?;
            self.value(&found.bound, name)
        };
        patterns.iter().find_map(|pattern| self.steps.iter().find_map(|index| surely(pattern, *index)))
    }
}

/// One part of an alternative's condition.
#[derive(Clone, Copy)]
enum Piece<'p> {
    Status(bool),
    By(&'p str),
    /// The program of a parsed command and what is asked of it: one and the same program of the line has to meet all.
    Program(&'p str, &'p [OfProgram]),
    /// The text behind `command`.
    Command(&'p str),
    Condition(&'p Condition),
    Argument(&'p ArgTest),
}

impl Piece<'_> {
    /// The variable that it uses.
    fn variable(&self) -> Option<&str> {
        let Piece::Argument(ArgTest { test: ArgForm::Test(test), .. }) = self else { return None };
        match test {
            Test::Compare(_, Operand::Variable(name))
            | Test::In { list: Operand::Variable(name), .. }
            | Test::Contains { needle: Operand::Variable(name), .. }
            | Test::Mentions { needle: Operand::Variable(name), .. } => Some(name),
            _ => None,
        }
    }
}

/// Kind, name, executed or proposed.
pub fn is_candidate(simple: &Simple, step: &Step) -> bool {
    let text_is = |text: &Text| match text {
        Text::Any => true,
        Text::Substring(part) => step.text().contains(part.as_str()),
        Text::Regex(regex) => search(regex, step.text()),
    };
    let path_is = |pattern: &Option<String>| pattern.as_ref().is_none_or(|glob| value::path_glob(glob, step.text()));
    let name_is = |name: &Option<String>| name.as_ref().is_none_or(|glob| value::glob(glob, step.text()));
    let call = step.kind == Kind::Call && step.executed != simple.proposed;
    match &simple.what {
        What::AnyTool => call,
        What::Tool(glob) => call && value::glob(glob, step.text()),
        What::Quoted(name) | What::Param(name) => call && name == step.text(),
        What::Command(Text::Substring(text)) => step.kind == Kind::Command && command_truth(step, text) != sure(false),
        What::Command(text) => step.kind == Kind::Command && text_is(text),
        What::Program(..) => step.kind == Kind::Command,
        What::Thinking(text) => {
            step.kind == Kind::Message && matches!(step.role(), "thinking" | "reasoning") && text_is(text)
        }
        What::Skill(name) => step.kind == Kind::Skill && name_is(name),
        What::Span(name) => step.kind == Kind::Span && name_is(name),
        What::Handover(name) => step.kind == Kind::Handover && name_is(name),
        What::Http(text) => step.kind == Kind::Http && text_is(text),
        What::User(text) => step.kind == Kind::Message && step.role() == "user" && text_is(text),
        What::Assistant(text) => step.kind == Kind::Message && step.role() == "assistant" && text_is(text),
        What::Message => step.kind == Kind::Message,
        What::Read(glob) => step.kind == Kind::Read && path_is(glob),
        What::Write(glob) => step.kind == Kind::Write && path_is(glob),
    }
}

/// Whether some program of a command line is meant; a program that the line hides may be it.
fn program_truth(step: &Step, is_meant: &dyn Fn(&Program) -> bool) -> Truth {
    let programs = step.programs();
    match programs.iter().any(is_meant) {
        true => sure(true),
        false if programs.iter().any(Program::is_hidden) => UNDECIDED,
        false => sure(false),
    }
}

/// `command "rm -rf"`: the line holds the text, or runs the program that it names.
fn command_truth(step: &Step, text: &str) -> Truth {
    if step.text().contains(text) {
        return sure(true);
    }
    let Some((name, words)) = named_program(text) else { return sure(false) };
    program_truth(step, &|program| runs(program, name, &words))
}

/// The program that a text names, and its words.
fn named_program(text: &str) -> Option<(&str, Vec<&str>)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-.+".contains(letter);
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && name.chars().all(is_part);
    let is_plain = !text.contains(['\'', '"', '`', '$', '\\', '|', '&', ';', '<', '>', '(', ')', '#', '\n']);
    (is_name && is_plain).then(|| (name, words.collect()))
}

/// The flags stand in any spelling and order. A first word behind the name is the first argument, values of options aside; the others are
/// further ones in order.
fn runs(program: &Program, name: &str, words: &[&str]) -> bool {
    let (flags, arguments): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
    let is_command = words.first().is_some_and(|word| word.starts_with(|letter: char| letter.is_ascii_alphabetic()));
    let mut rest = program.args.iter();
    let command = |argument: &&&str| Some(*argument) == arguments.first() || !program.values.contains(argument);
    let is_first = !is_command || program.args.iter().find(command) == arguments.first();
    program.name == name
        && is_first
        && arguments.iter().all(|wanted| rest.any(|argument| argument == wanted))
        && flags.iter().all(|flag| meant(flag).iter().all(|one| program.flags.contains(&one.as_str())))
}

fn program_is(of: &Program, name: &str, tests: &[OfProgram]) -> bool {
    let meets = |test: &OfProgram| match test {
        OfProgram::Args(wanted) => {
            let mut rest = of.args.iter();
            wanted.iter().all(|wanted| rest.any(|arg| arg == wanted))
        }
        OfProgram::ArgsExactly(wanted) => of.args == wanted.as_slice(),
        OfProgram::Flags(wanted) => {
            wanted.iter().all(|flag| meant(flag).iter().all(|one| of.flags.contains(&one.as_str())))
        }
        OfProgram::NoFlag(flag) => !of.flags.contains(&flag.as_str()),
    };
    of.name == name && tests.iter().all(meets)
}

/// A cluster of different letters means each of them.
fn meant(flag: &str) -> Vec<String> {
    let letters: BTreeSet<char> = flag.chars().skip(1).collect();
    let cluster = !flag.starts_with("--") && letters.len() > 1 && letters.len() + 1 == flag.len();
    match cluster && letters.iter().all(char::is_ascii_alphabetic) {
        true => letters.into_iter().map(|letter| format!("-{letter}")).collect(),
        false => vec![flag.to_owned()],
    }
}

/// `ok` and `failed` by the status.
fn status_truth(step: &Step, ok: bool) -> Truth {
    match step.status() {
        None => UNDECIDED,
        Some(status) => sure(status == if ok { "ok" } else { "failed" }),
    }
}

/// `by NAME`: where the step has no agent, something missing decides.
fn agent_truth(step: &Step, name: &str) -> Truth {
    match step.field("agent") {
        Found::Value(Value::String(agent)) if name.contains(['*', '?']) => sure(value::glob(name, &agent)),
        Found::Value(Value::String(agent)) => sure(agent == name),
        _ => by_missing(false),
    }
}

/// The kind of step that an alternative speaks of.
pub fn kind_of(simple: &Simple) -> Kind {
    match simple.what {
        What::Tool(_) | What::Quoted(_) | What::Param(_) | What::AnyTool => Kind::Call,
        What::User(_) | What::Assistant(_) | What::Thinking(_) | What::Message => Kind::Message,
        What::Command(_) | What::Program(..) => Kind::Command,
        What::Skill(_) => Kind::Skill,
        What::Http(_) => Kind::Http,
        What::Span(_) => Kind::Span,
        What::Handover(_) => Kind::Handover,
        What::Read(_) => Kind::Read,
        What::Write(_) => Kind::Write,
    }
}

impl Domain {
    /// For each variable every value that a binding of it finds in the run, each once, and one value that does not occur.
    pub fn of(run: &Run, patterns: &[&Pattern]) -> Domain {
        let mut domain = Domain::default();
        for simple in patterns.iter().flat_map(|pattern| &pattern.alternatives) {
            for test in &simple.tests {
                if let ArgForm::Bind { variable, .. } = &test.test {
                    domain.add(run, kind_of(simple), variable, |scope| scope.look_up_argument(&test.path));
                }
            }
            if let Some(By::Variable(variable)) = &simple.by {
                let agent = |scope: Scope<'_>| scope.step.map_or(Found::Missing, |step| step.field("agent"));
                domain.add(run, kind_of(simple), variable, agent);
            }
        }
        domain.values.push(serde_json::json!({}));
        let nowhere = domain.values.len() - 1;
        domain.of.values_mut().for_each(|places| places.push(nowhere));
        domain
    }

    fn add(&mut self, run: &Run, kind: Kind, variable: &str, find: impl Fn(Scope<'_>) -> Found) {
        self.of.entry(variable.to_owned()).or_default();
        for step in run.steps.iter().filter(|step| step.kind == kind) {
            let scope = Scope { run, step: Some(step) };
            let found = find(scope);
            if found == Found::Absent {
                self.unrecorded.insert(variable.to_owned());
            }
            let Found::Value(value) = found else { continue };
            if value.is_null() {
                continue;
            }
            if !self.values.iter().any(|known| value::equal(known, &value)) {
                self.values.push(value.clone());
            }
            let place = self.place(&value);
            let places = self.of.entry(variable.to_owned()).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }

    /// The same with those values alone that occur for the bindings of one statement: in steps that match its patterns or may.
    pub fn of_statement(&self, run: &Run, patterns: &[&Pattern]) -> Domain {
        let world = World::whole(run, self);
        let nowhere = self.values.len() - 1;
        let mut domain = Domain { values: self.values.clone(), ..Domain::default() };
        for pattern in patterns {
            let names = pattern.alternatives.iter().flat_map(Simple::binds);
            for name in names {
                domain.of.entry(name.to_owned()).or_default();
            }
            for found in world.steps.iter().flat_map(|index| world.found(pattern, *index)) {
                found.bound.into_iter().for_each(|(name, place)| domain.of.entry(name).or_default().push(place));
                domain.unrecorded.extend(found.free.into_iter().map(str::to_owned));
            }
        }
        for places in domain.of.values_mut() {
            places.push(nowhere);
            places.sort_unstable();
            places.dedup();
        }
        domain
    }

    /// Further steps may bring values that do not occur yet.
    pub fn any_value_may_come(&mut self) {
        self.of.values_mut().for_each(|places| places.push(TO_COME));
    }

    /// The place of a value among the values that occur.
    fn place(&self, found: &Value) -> usize {
        self.values.iter().position(|value| value::equal(value, found)).expect("every bound value is listed")
    }
}
