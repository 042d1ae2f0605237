//! Runs over a small alphabet, so that rules and runs meet.

use crate::source::Source;
use serde_json::{Map, Value, json};

/// What a run records.
struct Profile {
    /// 0: no starts, 1: all, 2: some.
    starts: usize,
    turns: usize,
    results: usize,
    statuses: usize,
    /// 0: mostly recorded, 1: some calls lack them, 2: no call has any.
    args: usize,
    proposed: bool,
    /// Most ids are the same.
    same_id: bool,
    /// Tools mostly come one after the other.
    orderly: bool,
}

/// One run in normal form.
pub fn run(source: &mut Source) -> Value {
    let profile = Profile {
        starts: source.weighted(&[5, 4, 1]),
        turns: source.weighted(&[5, 4, 1]),
        results: source.weighted(&[6, 3, 1]),
        statuses: source.weighted(&[6, 3, 1]),
        args: source.weighted(&[88, 5, 7]),
        proposed: source.chance(15),
        same_id: source.chance(45),
        orderly: source.chance(40),
    };
    let mut run = Map::new();
    let kinds = source.weighted(&[70, 14, 6, 6, 4]);
    match kinds {
        0 => one_kind(source, &profile, &mut run),
        1 => in_steps(source, &profile, &mut run),
        2 => {
            let profile = Profile { turns: 1, starts: 0, ..profile };
            several_kinds(source, &profile, &mut run);
        }
        3 => {
            let profile = Profile { starts: 1, turns: 0, ..profile };
            several_kinds(source, &profile, &mut run);
        }
        _ => {
            let profile = Profile { turns: 0, starts: 0, ..profile };
            several_kinds(source, &profile, &mut run);
        }
    }
    match source.below(6) {
        0..=2 => {}
        3 => drop(run.insert("inputs".to_owned(), json!({}))),
        4 => drop(run.insert("inputs".to_owned(), json!({"vip": false}))),
        _ => drop(run.insert("inputs".to_owned(), json!({"vip": true}))),
    }
    if source.chance(30) {
        run.insert("cost".to_owned(), source.pick(&[json!(0.5), json!(2)]));
    }
    if source.chance(5) {
        run.insert("error".to_owned(), json!("API down"));
        if source.chance(50) {
            run.values_mut().filter_map(Value::as_array_mut).for_each(Vec::clear);
        }
    }
    if source.chance(14) {
        run.insert("complete".to_owned(), json!(false));
    }
    Value::Object(run)
}

fn length(source: &mut Source) -> usize {
    source.weighted(&[2, 4, 8, 12, 14, 12, 8, 5, 3])
}

fn one_kind(source: &mut Source, profile: &Profile, run: &mut Map<String, Value>) {
    if source.chance(1) {
        return;
    }
    let mut clock = Clock::default();
    let calls: Vec<Value> = (0..length(source)).map(|_| call(source, profile, &mut clock)).collect();
    run.insert("calls".to_owned(), Value::Array(calls));
}

/// All kinds in one list.
fn in_steps(source: &mut Source, profile: &Profile, run: &mut Map<String, Value>) {
    let mut clock = Clock::default();
    let steps: Vec<Value> = (0..length(source))
        .map(|_| {
            let (kind, mut step) = match source.weighted(&[6, 2, 2, 1, 1, 1, 1, 1, 1]) {
                0 => ("call", call(source, profile, &mut clock)),
                1 => ("message", message(source, profile, &mut clock)),
                2 => ("command", command(source, profile, &mut clock)),
                3 => ("read", file(source, profile, &mut clock)),
                4 => ("write", file(source, profile, &mut clock)),
                5 => ("skill", skill(source, profile, &mut clock)),
                6 => ("http", request(source, profile, &mut clock)),
                7 => ("span", span(source, profile, &mut clock)),
                _ => ("handover", handover(source, profile, &mut clock)),
            };
            step["kind"] = json!(kind);
            step
        })
        .collect();
    run.insert("steps".to_owned(), Value::Array(steps));
}

/// Calls and two other kinds in lists of their own, over one clock.
fn several_kinds(source: &mut Source, profile: &Profile, run: &mut Map<String, Value>) {
    let mut clock = Clock { distinct: source.chance(60), ..Clock::default() };
    let (mut calls, mut messages, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let other = source.weighted(&[3, 2, 2, 1, 1, 1, 1]);
    for _ in 0..length(source) {
        match source.weighted(&[5, 3, 2]) {
            0 => calls.push(call(source, profile, &mut clock)),
            1 => messages.push(message(source, profile, &mut clock)),
            _ if other == 0 => others.push(command(source, profile, &mut clock)),
            _ if other == 3 => others.push(skill(source, profile, &mut clock)),
            _ if other == 4 => others.push(request(source, profile, &mut clock)),
            _ if other == 5 => others.push(span(source, profile, &mut clock)),
            _ if other == 6 => others.push(handover(source, profile, &mut clock)),
            _ => others.push(file(source, profile, &mut clock)),
        }
    }
    run.insert("calls".to_owned(), Value::Array(calls));
    run.insert("messages".to_owned(), Value::Array(messages));
    let list = ["commands", "reads", "writes", "skills", "http", "spans", "handovers"][other];
    run.insert(list.to_owned(), Value::Array(others));
}

/// Starts and turns that mostly go forward.
#[derive(Default)]
struct Clock {
    now: i64,
    turn: i64,
    calls: usize,
    /// No two steps start at once.
    distinct: bool,
}

impl Clock {
    fn stamp(&mut self, source: &mut Source, profile: &Profile, step: &mut Map<String, Value>, ends: bool) {
        let least = usize::from(self.distinct);
        self.now += (source.weighted(&[2, 6, 3, 2]).max(least) * 100) as i64;
        self.turn += source.weighted(&[5, 4, 1]) as i64;
        let recorded = |source: &mut Source, how: usize| how == 1 || (how == 2 && source.chance(70));
        if recorded(source, profile.starts) {
            let back = !self.distinct && source.chance(8);
            step.insert("start".to_owned(), json!(if back { self.now - 150 } else { self.now }));
            if ends && source.chance(75) {
                let took = source.below(4) * 100;
                match source.chance(30) {
                    true => step.insert("duration".to_owned(), json!(took)),
                    false => step.insert("end".to_owned(), json!(self.now + took as i64)),
                };
            }
        }
        if recorded(source, profile.turns) {
            step.insert("turn".to_owned(), json!(self.turn));
        }
    }
}

fn handover(source: &mut Source, profile: &Profile, clock: &mut Clock) -> Value {
    let mut step = Map::from_iter([("to".to_owned(), json!(source.pick(&["helper", "billing", "main"])))]);
    if source.chance(50) {
        step.insert("agent".to_owned(), json!(source.pick(&["main", "helper"])));
    }
    clock.stamp(source, profile, &mut step, false);
    Value::Object(step)
}

fn call(source: &mut Source, profile: &Profile, clock: &mut Clock) -> Value {
    let mut call = Map::new();
    clock.calls += 1;
    let tool = match profile.orderly && source.chance(85) {
        true => ["a", "b", "c"][(clock.calls - 1) % 3],
        false => source.pick(&["a", "b", "c", "a", "b", "c", "d", "b2"]),
    };
    call.insert("tool".to_owned(), json!(tool));
    if profile.args == 0 || (profile.args == 1 && source.chance(60)) {
        call.insert("args".to_owned(), Value::Object(arguments(source, profile)));
    }
    if profile.results == 1 || (profile.results == 2 && source.chance(75)) {
        call.insert("result".to_owned(), result(source));
    }
    status(source, profile, &mut call);
    // They mean nothing to statements, whatever they are.
    if source.chance(8) {
        call.insert("id".to_owned(), json!(source.pick(&["call_1", "call_2"])));
        call.insert("agent".to_owned(), json!(source.pick(&["main", "helper", "call_1"])));
        if source.chance(20) {
            call.insert("parent_id".to_owned(), json!("call_1"));
        }
    }
    if source.chance(6) {
        call.insert("cost".to_owned(), source.pick(&[json!(0.5), json!(2)]));
    }
    clock.stamp(source, profile, &mut call, true);
    Value::Object(call)
}

fn status(source: &mut Source, profile: &Profile, call: &mut Map<String, Value>) {
    if profile.proposed && source.chance(35) {
        call.insert("status".to_owned(), json!(source.pick(&["denied", "pending"])));
    } else if profile.statuses == 1 || (profile.statuses == 2 && source.chance(75)) {
        call.insert("status".to_owned(), json!(source.pick(&["ok", "ok", "failed", "success"])));
    } else if source.chance(3) {
        call.insert("ok".to_owned(), json!(source.chance(50)));
    }
    if source.chance(4) {
        call.insert("error".to_owned(), source.pick(&[json!("went wrong"), Value::Null]));
    }
}

/// Values that are equal, nearly equal and different.
pub fn id(source: &mut Source) -> Value {
    source.pick(&[json!(1), json!(2), json!(1.0), json!("1"), json!(1), json!(2), Value::Null])
}

fn arguments(source: &mut Source, profile: &Profile) -> Map<String, Value> {
    let mut args = Map::new();
    if source.chance(88) {
        let id = if profile.same_id && source.chance(85) { json!(1) } else { id(source) };
        args.insert("id".to_owned(), id);
    }
    if source.chance(75) {
        args.insert("n".to_owned(), source.pick(&[json!(1), json!(2), json!(3), json!(2.5), json!("2")]));
    }
    if source.chance(25) {
        args.insert("note".to_owned(), json!(source.pick(&["x", "xy", "yz"])));
    }
    if source.chance(20) {
        let ids = Value::Array((0..source.below(3)).map(|_| id(source)).collect());
        args.insert("ids".to_owned(), perhaps_in_text(source, 3, ids));
    }
    args
}

fn result(source: &mut Source) -> Value {
    let mut result = Map::new();
    if source.chance(60) {
        result.insert("code".to_owned(), source.pick(&[json!(0), json!(1), json!(500)]));
    }
    if source.chance(50) {
        let ids = Value::Array((0..source.below(3)).map(|_| id(source)).collect());
        result.insert("ids".to_owned(), perhaps_in_text(source, 3, ids));
    }
    perhaps_in_text(source, 5, Value::Object(result))
}

/// Now and then the value as text, with what is no JSON among it.
pub fn perhaps_in_text(source: &mut Source, percent: usize, value: Value) -> Value {
    if !source.chance(percent) {
        return value;
    }
    match source.below(8) {
        0 => json!(format!(" {value:#}\n")),
        1 => json!(format!("{value} ok")),
        2 => json!(value.to_string().trim_end_matches(['}', ']'])),
        _ => json!(value.to_string()),
    }
}

fn message(source: &mut Source, profile: &Profile, clock: &mut Clock) -> Value {
    let mut step = Map::new();
    step.insert("role".to_owned(), json!(source.pick(&["user", "assistant", "user", "system", "thinking"])));
    step.insert("text".to_owned(), json!(source.pick(&["yes", "no", "yes, do it"])));
    clock.stamp(source, profile, &mut step, false);
    Value::Object(step)
}

fn command(source: &mut Source, profile: &Profile, clock: &mut Clock) -> Value {
    let mut step = Map::new();
    let lines = crate::run::command_lines();
    step.insert("command".to_owned(), json!(lines[source.below(lines.len())].0));
    if source.chance(70) {
        step.insert("exit_code".to_owned(), json!(source.below(2)));
    }
    clock.stamp(source, profile, &mut step, false);
    Value::Object(step)
}

fn file(source: &mut Source, profile: &Profile, clock: &mut Clock) -> Value {
    let mut step = Map::new();
    step.insert("path".to_owned(), json!(source.pick(&["src/a.rs", "src/x/b.rs", "README.md", "src/a.md"])));
    clock.stamp(source, profile, &mut step, false);
    Value::Object(step)
}

fn skill(source: &mut Source, profile: &Profile, clock: &mut Clock) -> Value {
    let mut step = Map::new();
    step.insert("name".to_owned(), json!(source.pick(&["find-skills", "find", "deploy"])));
    clock.stamp(source, profile, &mut step, false);
    Value::Object(step)
}

fn request(source: &mut Source, profile: &Profile, clock: &mut Clock) -> Value {
    let mut step = Map::new();
    step.insert(
        "url".to_owned(),
        json!(source.pick(&["https://a.example/x", "http://a.example/y", "https://b.example"])),
    );
    if source.chance(70) {
        step.insert("status".to_owned(), json!(source.pick(&[200, 204, 404, 500])));
    }
    if source.chance(70) {
        step.insert("method".to_owned(), json!(source.pick(&["GET", "POST"])));
    }
    clock.stamp(source, profile, &mut step, false);
    Value::Object(step)
}

fn span(source: &mut Source, profile: &Profile, clock: &mut Clock) -> Value {
    let mut step = Map::new();
    step.insert("name".to_owned(), json!(source.pick(&["db.query", "db.write", "cache"])));
    if source.chance(70) {
        let attributes = if source.chance(70) { json!({"n": source.below(3)}) } else { json!({}) };
        step.insert("attributes".to_owned(), attributes);
    }
    if source.chance(60) {
        step.insert("status".to_owned(), json!(source.pick(&["ok", "failed"])));
    }
    clock.stamp(source, profile, &mut step, true);
    Value::Object(step)
}
