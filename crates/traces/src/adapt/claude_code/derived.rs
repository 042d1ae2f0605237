//! What the calls of Claude Code's own tools did: commands, files read and written, skills, requests. A call that was refused did nothing.

use crate::adapt::draft::{Draft, field};
use crate::adapt::fields::{Parsed, Record, Shapes, fields, is_true, words};
use crate::adapt::first_of;
use averment_base::value::{Entry, Node, Number, Object, Value};
use averment_runs::normal::of_step;
use averment_runs::run::{Kind, Status};

fields! {
    /// The arguments of tools.
    OfArgs {
        Command = "command" => Step(Kind::Command),
        InBackground = "run_in_background" => Step(Kind::Command),
        File = "file_path" => Step(Kind::Read),
        Notebook = "notebook_path" => Step(Kind::Read),
        Skill = "skill" => Step(Kind::Skill),
        Name = "name" => Step(Kind::Skill),
        Url = "url" => Step(Kind::Http),
    }
}

fields! {
    /// What the program knows of a result.
    OfDetails {
        Code = "code" => Step(Kind::Http),
        Explained = "returnCodeInterpretation" => Step(Kind::Command),
        Background = "backgroundTaskId" => Step(Kind::Command),
        Interrupted = "interrupted" => Step(Kind::Command),
    }
}

words! {
    /// The tools that do more than they say.
    Tool {
        Shell = "Bash",
        Read = "Read" | "NotebookRead",
        Write = "Write" | "Edit" | "MultiEdit" | "NotebookEdit",
        Skill = "Skill",
        Fetch = "WebFetch",
    }
}

/// The steps that follow from one call.
pub(super) fn of_call<'run>(_: &Draft<'run, '_>, call: &[Entry<'run>]) -> Vec<(Kind, Vec<Entry<'run>>)> {
    let get = |key: &str| call.iter().find(|entry| entry.key == key).map(|entry| entry.node);
    let word = |key: &str| get(key).and_then(super::text).unwrap_or_default();
    let Some(Value::Object(args)) = get(of_step::ARGS).map(|node| node.value) else { return Vec::new() };
    if Some(word(of_step::STATUS)) == Status::Denied.as_str() {
        return Vec::new();
    }
    let Some((kind, mut fields)) = derive(word(of_step::TOOL), args, call) else { return Vec::new() };
    for key in [of_step::START, of_step::END, of_step::TURN, of_step::AGENT, of_step::ID] {
        fields.extend(get(key).map(|node| field(key, node)));
    }
    if kind != Kind::Skill && kind != Kind::Http {
        fields.extend(get(of_step::STATUS).map(|node| field(of_step::STATUS, node)));
    }
    vec![(kind, fields)]
}

fn derive<'run>(tool: &str, args: Object<'run>, call: &[Entry<'run>]) -> Option<(Kind, Vec<Entry<'run>>)> {
    use OfArgs::{Command, File, Name, Notebook, Skill, Url};
    let get = |key: &str| call.iter().find(|entry| entry.key == key).map(|entry| entry.node);
    let named = |kind, key, names: &[OfArgs]| {
        let node = first_of(args, names).filter(|node| Parsed.is_text(*node))?;
        Some((kind, vec![field(key, node)]))
    };
    match Tool::of(tool)? {
        Tool::Shell => {
            let (kind, mut fields) = named(Kind::Command, of_step::COMMAND, &[Command])?;
            fields.extend(get(of_step::RESULT).map(|result| field(of_step::OUTPUT, result)));
            fields.extend(exit_code(args, call).map(|code| field(of_step::EXIT_CODE, code)));
            Some((kind, fields))
        }
        Tool::Read => named(Kind::Read, of_step::PATH, &[File, Notebook]),
        Tool::Write => named(Kind::Write, of_step::PATH, &[File, Notebook]),
        Tool::Skill => named(Kind::Skill, of_step::NAME, &[Skill, Name, Command]),
        Tool::Fetch => {
            let (kind, mut fields) = named(Kind::Http, of_step::URL, &[Url])?;
            fields.push(field(of_step::METHOD, Node::computed(Value::plain("GET"))));
            if let Some(details) = get(of_step::DETAILS).and_then(super::object)
                && let Some(code) = details.field(OfDetails::Code).filter(|code| matches!(code.value, Value::Number(_)))
            {
                fields.push(field(of_step::STATUS, code));
            }
            Some((kind, fields))
        }
    }
}

/// The exit code, where it is known: 0 of a command that is over and went well, and the one that the words of a failure name.
fn exit_code<'run>(args: Object<'run>, call: &[Entry<'run>]) -> Option<Node<'run>> {
    let get = |key: &str| call.iter().find(|entry| entry.key == key).map(|entry| entry.node);
    let status = super::text(get(of_step::STATUS)?)?;
    if Some(status) == Status::Failed.as_str() {
        let result = get(of_step::RESULT)?;
        let words = super::text(result)?;
        let code = words.trim_start_matches("Error: ").strip_prefix("Exit code ")?;
        let digits = code.split(|c: char| !c.is_ascii_digit()).next()?;
        return Some(Node::new(Value::Number(Number::Integer(digits.parse().ok()?)), result.origin));
    }
    // The program passes over the code of commands such as `grep`, whose 1 is no failure, and says so.
    let explained = get(of_step::DETAILS).and_then(super::object).is_some_and(|details| {
        details.field(OfDetails::Explained).is_some_and(|words| Parsed.is_text(words))
            || first_of(details, &[OfDetails::Background]).is_some()
            || is_true(&details, &Parsed, OfDetails::Interrupted)
    });
    let is_over = Some(status) == Status::Ok.as_str() && !is_true(&args, &Parsed, OfArgs::InBackground) && !explained;
    is_over.then(|| Node::computed(Value::Number(Number::Integer(0))))
}
