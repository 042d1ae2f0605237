//! What the calls of the tools of known agents did: commands, files read and written, skills, requests. One table for all of them: a tool
//! is known by its name, what it works on by the names of its arguments. A call that was refused or still waits did nothing.

use super::draft::{Draft, field};
use super::fields::{Parsed, Record, Shapes, is_true, key_table};
use super::nodes::{first_of, list, object, text};
use averment_base::value::{Entry, Node, Number, Object, Text, Value};
use averment_runs::normal::of_step;
use averment_runs::run::{Kind, Status};

key_table! {
    /// The arguments of tools.
    OfArgs {
        Command = "command",
        Cmd = "cmd",
        Keystrokes = "keystrokes",
        InBackground = "run_in_background",
        File = "file_path",
        FileToo = "filePath",
        Path = "path",
        Absolute = "absolute_path",
        Target = "target_file",
        FileName = "filename",
        Paths = "paths",
        Notebook = "notebook_path",
        Skill = "skill",
        Name = "name",
        Url = "url",
        Urls = "urls",
        Patch = "patch",
        PatchText = "patchText",
        Input = "input",
    }
}

key_table! {
    /// What Claude Code knows of a result.
    OfDetails {
        Code = "code",
        Explained = "returnCodeInterpretation",
        Background = "backgroundTaskId",
        Interrupted = "interrupted",
    }
}

key_table! {
    /// The tools that do more than they say.
    Tool {
        /// Claude Code; others; Codex; Gemini CLI; OpenHands; VS Code; Cursor; Terminus; Cline.
        Shell = "Bash" | "bash" | "shell" | "powershell" | "shell_command" | "exec_command" | "local_shell" | "container.exec"
            | "run_shell_command" | "execute_bash" | "terminal" | "run_in_terminal" | "run_terminal_cmd" | "bash_command"
            | "execute_command" | "command_execution",
        Read = "Read" | "NotebookRead" | "read" | "read_file" | "read_many_files" | "view" | "view_image" | "open",
        Write = "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "write" | "edit" | "multiedit" | "write_file" | "replace"
            | "create" | "create_file" | "edit_file" | "search_replace" | "replace_string_in_file" | "insert_edit_into_file"
            | "write_to_file" | "replace_in_file" | "delete",
        /// One tool that looks at files and changes them: the command among its arguments tells which.
        Editor = "str_replace_editor" | "str_replace_based_edit_tool" | "file_editor" | "text_editor",
        /// A patch names the files that it changes.
        Patch = "apply_patch",
        Skill = "Skill" | "skill" | "activate_skill",
        Fetch = "WebFetch" | "web_fetch" | "webfetch" | "fetch_webpage",
    }
}

/// The steps that follow from one call of Claude Code, whose words and details say how a command ended.
pub(super) fn of_claude_call<'run>(draft: &Draft<'run, '_>, call: &[Entry<'run>]) -> Vec<(Kind, Vec<Entry<'run>>)> {
    let mut steps = of_call(draft, call);
    for (_, fields) in steps.iter_mut().filter(|(kind, _)| *kind == Kind::Command) {
        if let Some(Value::Object(args)) = value(call, of_step::ARGS).map(|node| node.value) {
            fields.extend(claude_exit_code(args, call).map(|code| field(of_step::EXIT_CODE, code)));
        }
    }
    steps
}

/// The steps that follow from one call.
pub(super) fn of_call<'run>(draft: &Draft<'run, '_>, call: &[Entry<'run>]) -> Vec<(Kind, Vec<Entry<'run>>)> {
    let word = |key: &str| value(call, key).and_then(text).unwrap_or_default();
    let unexecuted = [Status::Denied.as_str(), Status::Pending.as_str()];
    if unexecuted.contains(&Some(word(of_step::STATUS))) {
        return Vec::new();
    }
    let Some(args) = value(call, of_step::ARGS) else { return Vec::new() };
    let mut steps = Tool::from_key(word(of_step::TOOL)).map(|tool| derive(draft, tool, args, call)).unwrap_or_default();
    for (kind, fields) in &mut steps {
        for key in [of_step::START, of_step::END, of_step::TURN, of_step::AGENT, of_step::ID] {
            fields.extend(value(call, key).map(|node| field(key, node)));
        }
        if !matches!(kind, Kind::Skill | Kind::Http) {
            fields.extend(value(call, of_step::STATUS).map(|node| field(of_step::STATUS, node)));
        }
    }
    steps
}

fn value<'run>(call: &[Entry<'run>], key: &str) -> Option<Node<'run>> {
    call.iter().find(|entry| entry.key == key).map(|entry| entry.node)
}

type Steps<'run> = Vec<(Kind, Vec<Entry<'run>>)>;

fn derive<'run>(draft: &Draft<'run, '_>, tool: Tool, args: Node<'run>, call: &[Entry<'run>]) -> Steps<'run> {
    use OfArgs::{
        Absolute, Command, File, FileName, FileToo, Input, Name, Notebook, Patch, PatchText, Path, Paths, Skill,
        Target, Url, Urls,
    };
    const FILE: [OfArgs; 8] = [File, FileToo, Path, Absolute, Target, FileName, Notebook, Paths];
    if tool == Tool::Patch {
        let patch = match args.value {
            Value::Object(args) => first_of(args, &[Input, Patch, PatchText]),
            _ => Some(args),
        };
        return patch.map(|patch| patched(draft, patch)).unwrap_or_default();
    }
    let Value::Object(args) = args.value else { return Vec::new() };
    let named = |kind, key, names: &[OfArgs]| {
        let node = first_of(args, names);
        let nodes = match node.and_then(list) {
            Some(nodes) => nodes.to_vec(),
            None => node.into_iter().collect(),
        };
        let texts = nodes.into_iter().filter(|node| text(*node).is_some_and(|text| !text.trim().is_empty()));
        texts.map(|node| (kind, vec![field(key, node)])).collect::<Steps<'run>>()
    };
    match tool {
        Tool::Shell => command(draft, args, call),
        Tool::Read => named(Kind::Read, of_step::PATH, &FILE),
        Tool::Write => named(Kind::Write, of_step::PATH, &FILE),
        Tool::Editor => {
            let looks = args.field(Command).and_then(text).is_some_and(|word| word == VIEW);
            named(if looks { Kind::Read } else { Kind::Write }, of_step::PATH, &FILE)
        }
        Tool::Skill => named(Kind::Skill, of_step::NAME, &[Skill, Name, Command]),
        Tool::Fetch => {
            let mut steps = named(Kind::Http, of_step::URL, &[Url, Urls]);
            for (_, fields) in &mut steps {
                fields.push(field(of_step::METHOD, Node::computed(Value::plain("GET"))));
                let details = value(call, of_step::DETAILS).and_then(object);
                let code = details.and_then(|details| details.field(OfDetails::Code));
                fields.extend(
                    code.filter(|code| matches!(code.value, Value::Number(_))).map(|code| field(of_step::STATUS, code)),
                );
            }
            steps
        }
        Tool::Patch => Vec::new(),
    }
}

/// The command of an editor that changes nothing.
pub(super) const VIEW: &str = "view";

fn command<'run>(draft: &Draft<'run, '_>, args: Object<'run>, call: &[Entry<'run>]) -> Steps<'run> {
    let Some(given) = first_of(args, &[OfArgs::Command, OfArgs::Cmd, OfArgs::Keystrokes]) else { return Vec::new() };
    let line = match given.value {
        Value::Text(_) => given,
        Value::List([program, patch]) if text(*program).and_then(Tool::from_key) == Some(Tool::Patch) => {
            return patched(draft, *patch);
        }
        Value::List(words) => match command_line(draft, words, given) {
            Some(line) => line,
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let mut fields = vec![field(of_step::COMMAND, line)];
    fields.extend(value(call, of_step::RESULT).map(|result| field(of_step::OUTPUT, result)));
    fields.extend(value(call, of_step::EXIT_CODE).map(|code| field(of_step::EXIT_CODE, code)));
    vec![(Kind::Command, fields)]
}

/// The words of a command as one line: of a shell that is given a line, that line; else each word, in quotes where it needs them.
fn command_line<'run>(draft: &Draft<'run, '_>, words: &[Node<'run>], given: Node<'run>) -> Option<Node<'run>> {
    if let [shell, flag, line] = words
        && text(*shell).is_some_and(|shell| shell.ends_with("sh"))
        && text(*flag).is_some_and(|flag| flag.starts_with('-') && flag.ends_with('c'))
    {
        return Parsed.is_text(*line).then_some(*line);
    }
    let mut line = bumpalo::collections::String::new_in(draft.arena);
    for word in words {
        let word = text(*word)?;
        if !line.is_empty() {
            line.push(' ');
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&byte) || !byte.is_ascii();
        if !word.is_empty() && word.bytes().all(plain) {
            line.push_str(word);
        } else {
            line.push('\'');
            line.push_str(&word.replace('\'', "'\\''"));
            line.push('\'');
        }
    }
    Some(Node::new(Value::Text(Text::Plain(line.into_bump_str())), given.origin)).filter(|_| !words.is_empty())
}

/// The files that a patch names.
fn patched<'run>(draft: &Draft<'run, '_>, patch: Node<'run>) -> Steps<'run> {
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let paths = text(patch)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)));
    let step = |path: &'run str| {
        let path = Node::new(Value::Text(Text::Plain(draft.arena.alloc_str(path.trim()))), patch.origin);
        (Kind::Write, vec![field(of_step::PATH, path)])
    };
    paths.map(step).collect()
}

/// The exit code, where it is known: 0 of a command that is over and went well, and the one that the words of a failure name.
fn claude_exit_code<'run>(args: Object<'run>, call: &[Entry<'run>]) -> Option<Node<'run>> {
    let status = text(value(call, of_step::STATUS)?)?;
    if Some(status) == Status::Failed.as_str() {
        let result = value(call, of_step::RESULT)?;
        let words = text(result)?;
        let code = words.trim_start_matches("Error: ").strip_prefix("Exit code ")?;
        let digits = code.split(|c: char| !c.is_ascii_digit()).next()?;
        return Some(Node::new(Value::Number(Number::Integer(digits.parse().ok()?)), result.origin));
    }
    // The program passes over the code of commands such as `grep`, whose 1 is no failure, and says so.
    let explained = value(call, of_step::DETAILS).and_then(object).is_some_and(|details| {
        details.field(OfDetails::Explained).is_some_and(|words| Parsed.is_text(words))
            || first_of(details, &[OfDetails::Background]).is_some()
            || is_true(&details, &Parsed, OfDetails::Interrupted)
    });
    let is_over = Some(status) == Status::Ok.as_str() && !is_true(&args, &Parsed, OfArgs::InBackground) && !explained;
    is_over.then(|| Node::computed(Value::Number(Number::Integer(0))))
}
