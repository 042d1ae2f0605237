//! What the calls of the tools of known agents did: commands, files read and written, skills, requests. One table for all of them: a tool
//! is known by its name, what it works on by the names of its arguments. A call that was refused or still waits did nothing.

mod server_tools;

use super::fields::{FieldRecord, NodeShapes, ShapeReader, is_true, key_table};
use super::nodes::{first_of, node_list, node_object, node_text};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Number, Object, ObjectEntry, Value, ValueText};
use averment_runs::normal::of_step;
use averment_runs::run::{StepKind, StepStatus};
use bumpalo::Bump;
use std::cell::RefCell;

key_table! {
    ArgsKey {
        Command = "command" | "CommandLine",
        Cmd = "cmd",
        Keystrokes = "keystrokes",
        InBackground = "run_in_background",
        File = "file_path",
        FileToo = "filePath" | "filepath",
        Path = "path",
        Absolute = "absolute_path" | "AbsolutePath",
        Target = "target_file" | "TargetFile",
        Destination = "destination_path",
        FileName = "filename",
        Paths = "paths",
        Notebook = "notebook_path",
        Skill = "skill",
        Name = "name",
        Url = "url" | "Url",
        Urls = "urls",
        Patch = "patch",
        PatchText = "patchText",
        Input = "input",
    }
}

key_table! {
    DetailsKey {
        Code = "code",
        Explained = "returnCodeInterpretation",
        Background = "backgroundTaskId",
        Interrupted = "interrupted",
    }
}

key_table! {
    KnownTool {
        /// Claude Code; others; Codex; Gemini CLI; OpenHands; VS Code; Cursor; Terminus; Cline; Factory Droid; Goose; Antigravity;
        /// Continue; Zed; OpenClaw.
        Shell = "Bash" | "bash" | "shell" | "powershell" | "shell_command" | "exec_command" | "local_shell" | "container.exec"
            | "run_shell_command" | "execute_bash" | "terminal" | "run_in_terminal" | "run_terminal_cmd" | "bash_command"
            | "execute_command" | "command_execution" | "Shell" | "Execute" | "developer__shell" | "run_command"
            | "run_terminal_command" | "exec" | "Monitor",
        Read = "Read" | "NotebookRead" | "read" | "read_file" | "read_many_files" | "view" | "view_image" | "open"
            | "ReadFile" | "view_file" | "read_file_range",
        Write = "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "write" | "edit" | "multiedit" | "write_file" | "replace"
            | "create" | "create_file" | "edit_file" | "search_replace" | "replace_string_in_file" | "insert_edit_into_file"
            | "write_to_file" | "replace_in_file" | "delete" | "apply_diff" | "insert_content" | "search_and_replace" | "delete_file"
            | "StrReplace" | "Delete" | "EditNotebook" | "Create" | "WriteFile" | "StrReplaceFile" | "developer__write"
            | "developer__edit" | "replace_file_content" | "multi_replace_file_content" | "edit_notebook_file"
            | "create_new_file" | "edit_existing_file" | "single_find_and_replace" | "multi_edit" | "copy_path" | "move_path"
            | "delete_path" | "save_file",
        /// Views and edits files: the command argument tells which.
        Editor = "str_replace_editor" | "str_replace_based_edit_tool" | "file_editor" | "text_editor"
            | "developer__text_editor",
        /// A patch names the files that it changes.
        Patch = "apply_patch" | "ApplyPatch",
        Skill = "Skill" | "skill" | "activate_skill",
        Fetch = "WebFetch" | "web_fetch" | "webfetch" | "fetch_webpage"
            | "FetchURL" | "FetchUrl" | "read_url_content" | "fetch" | "Fetch" | "fetch_url_content",
    }
}

impl KnownTool {
    /// What follows from its calls.
    fn kinds(self) -> &'static [StepKind] {
        use StepKind::{Command, Http, Read, Skill, Write};
        match self {
            Self::Shell => &[Command],
            Self::Read => &[Read],
            Self::Write | Self::Patch => &[Write],
            Self::Editor => &[Read, Write],
            Self::Skill => &[Skill],
            Self::Fetch => &[Http],
        }
    }
}

key_table! {
    /// Words in the name of a tool that runs command lines.
    ShellWord {
        Shell = "bash" | "sh" | "zsh" | "shell" | "powershell" | "pwsh" | "terminal" | "cmd" | "ssh",
        /// With another of the two: `run_command`, `execute_cmd_line`.
        Run = "run" | "exec" | "execute",
        Line = "command" | "commands",
        /// Of a shell that is there already: what it printed, that it ends.
        Beside = "output" | "kill" | "close" | "list" | "get" | "status" | "history" | "wait" | "stop" | "read",
    }
}

/// The tool of a name, also that of a shell under a name of its own (`mcp__sandbox__run_bash`).
pub(crate) fn known_tool(name: &str) -> Option<KnownTool> {
    KnownTool::from_key(name).or_else(|| names_shell(name).then_some(KnownTool::Shell))
}

/// Whether other steps follow from the calls of a tool that anybody may have named. A word alone in small letters (`read`, `delete`,
/// `open`) is a name for many things, unless it is a shell's.
#[must_use]
pub fn derives_steps(tool: &str) -> bool {
    known_tool(tool).is_some_and(|known| known == KnownTool::Shell || !tool.chars().all(char::is_lowercase))
}

/// A first look that copies nothing: every name of a shell has one of these pairs of letters.
fn may_name_shell(name: &str) -> bool {
    let begins = |pair: &[u8]| {
        let [first, second] = pair else { return false };
        matches!((first | 0x20, second | 0x20), (b's', b'h') | (b'c', b'm' | b'o') | (b't', b'e'))
    };
    name.as_bytes().windows(2).any(begins)
}

fn names_shell(name: &str) -> bool {
    if !may_name_shell(name) {
        return false;
    }
    let mut seen = [false; 4];
    for word in name_words(name) {
        if let Some(slot) = ShellWord::from_key(&word).and_then(|word| seen.get_mut(word as usize)) {
            *slot = true;
        }
    }
    let has = |word: ShellWord| seen.get(word as usize) == Some(&true);
    (has(ShellWord::Shell) || has(ShellWord::Run) && has(ShellWord::Line)) && !has(ShellWord::Beside)
}

/// `runShell-command` as `run`, `shell`, `command`.
fn name_words(name: &str) -> Vec<String> {
    let (mut words, mut word, mut lower) = (Vec::new(), String::new(), false);
    for letter in name.chars() {
        if (letter.is_uppercase() && lower || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        lower = letter.is_lowercase();
        word.extend(letter.to_lowercase().filter(|letter| letter.is_alphanumeric()));
    }
    words.push(word);
    words
}

/// Of which kinds a call may be a step that its known tool does not derive: it works on a command line, a file or an address, and
/// what it does with that nobody knows.
pub(crate) fn kinds_left_open(tool: &str, args: Option<Node<'_>>) -> &'static [StepKind] {
    use StepKind::{Command, Http, Read, Write};
    let of_tool = || known_tool(tool).map_or(&[][..], KnownTool::kinds);
    let Some(args) = args.and_then(node_object) else { return of_tool() };
    if known_tool(tool) == Some(KnownTool::Shell) {
        return &[Command];
    }
    let has = |keys: &[ArgsKey]| first_of(args, keys).is_some();
    match (has(&LINE), has(&FILE), has(&[ArgsKey::Url, ArgsKey::Urls])) {
        (true, _, _) => &[Command],
        (_, true, _) => &[Read, Write],
        (_, _, true) => &[Http],
        // It works on what it is made for, under a key that nobody knows.
        _ if derives_steps(tool) => of_tool(),
        _ => &[],
    }
}

/// Where a call names a command line.
const LINE: [ArgsKey; 3] = [ArgsKey::Command, ArgsKey::Cmd, ArgsKey::Keystrokes];
/// Where a call names a file.
const FILE: [ArgsKey; 9] = [
    ArgsKey::File,
    ArgsKey::FileToo,
    ArgsKey::Path,
    ArgsKey::Absolute,
    ArgsKey::Target,
    ArgsKey::FileName,
    ArgsKey::Notebook,
    ArgsKey::Paths,
    ArgsKey::Destination,
];

/// For Claude Code, result text and details tell how a command ended.
pub(super) fn derive_from_claude<'run>(
    arena: &'run Bump,
    call: &[ObjectEntry<'run>],
) -> Vec<(StepKind, Vec<ObjectEntry<'run>>)> {
    let mut steps = derive_from_call(arena, call);
    for (_, fields) in steps.iter_mut().filter(|(kind, _)| *kind == StepKind::Command) {
        if let Some(Value::Object(args)) = field_value(call, of_step::ARGS).map(|node| node.value) {
            fields.extend(claude_exit_code(args, call).map(|code| field_entry(of_step::EXIT_CODE, code)));
        }
    }
    steps
}

/// Adds the steps that follow from the calls of known tools. A kind of which some call may have been one, and nobody can tell, counts as not
/// recorded: a command whose arguments are missing may have been any.
pub(crate) fn add_following_steps<'run>(
    builder: &mut RunBuilder<'run, '_>,
    derive: impl Fn(&'run Bump, &[ObjectEntry<'run>]) -> DerivedSteps<'run>,
) {
    // Of each kind: calls that may be such a step, and steps that follow from calls.
    let counts = RefCell::new([(0_usize, 0_usize); StepKind::ALL.len()]);
    builder.insert_derived(|builder, call| {
        let (steps, mut counts) = (derive(builder.arena, call), counts.borrow_mut());
        for (kind, _) in &steps {
            if let Some((_, derived)) = counts.get_mut(*kind as usize) {
                *derived += 1;
            }
        }
        for kind in if steps.is_empty() { kinds_of_unclear_call(call) } else { &[] } {
            if let Some((unclear, _)) = counts.get_mut(*kind as usize) {
                *unclear += 1;
            }
        }
        steps
    });
    for (kind, (unclear, derived)) in StepKind::ALL.into_iter().zip(counts.into_inner()) {
        // What a call did may be told beside it.
        if unclear > 0 && builder.steps_of_kind(kind).len() < unclear + derived {
            builder.mark_unrecorded(kind);
        }
    }
}

/// See [`kinds_left_open`]: those of a call of a known tool that was carried out.
fn kinds_of_unclear_call(call: &[ObjectEntry<'_>]) -> &'static [StepKind] {
    let word = |key: &str| field_value(call, key).and_then(node_text).unwrap_or_default();
    let tool = word(of_step::TOOL);
    let args = field_value(call, of_step::ARGS);
    // A call of a skill without a name called none.
    let works = derives_steps(tool) && known_tool(tool) != Some(KnownTool::Skill);
    match is_executed(word(of_step::STATUS)) {
        true if works => kinds_left_open(tool, args),
        true => server_tools::kinds_left_open(tool, args),
        false => &[],
    }
}

/// As [`derive_from_call`], where anybody may have named the tool.
pub(crate) fn derive_by_name<'run>(arena: &'run Bump, tool: &str, call: &[ObjectEntry<'run>]) -> DerivedSteps<'run> {
    if derives_steps(tool) { derive_from_call(arena, call) } else { Vec::new() }
}

/// False for the word of a status by which a call was never made.
fn is_executed(status: &str) -> bool {
    [StepStatus::Denied, StepStatus::Pending].iter().all(|unmade| unmade.as_str() != Some(status))
}

pub(crate) fn derive_from_call<'run>(
    arena: &'run Bump,
    call: &[ObjectEntry<'run>],
) -> Vec<(StepKind, Vec<ObjectEntry<'run>>)> {
    let word = |key: &str| field_value(call, key).and_then(node_text).unwrap_or_default();
    if !is_executed(word(of_step::STATUS)) {
        return Vec::new();
    }
    let Some(args) = field_value(call, of_step::ARGS) else { return Vec::new() };
    let mut steps =
        known_tool(word(of_step::TOOL)).map(|tool| derive_steps(arena, tool, args, call)).unwrap_or_default();
    for (kind, fields) in &mut steps {
        for key in [of_step::START, of_step::END, of_step::TURN, of_step::AGENT, of_step::ID] {
            fields.extend(field_value(call, key).map(|node| field_entry(key, node)));
        }
        if !matches!(kind, StepKind::Skill | StepKind::Http) {
            fields.extend(field_value(call, of_step::STATUS).map(|node| field_entry(of_step::STATUS, node)));
        }
    }
    steps
}

fn field_value<'run>(call: &[ObjectEntry<'run>], key: &str) -> Option<Node<'run>> {
    call.iter().find(|entry| entry.key == key).map(|entry| entry.node)
}

pub(crate) type DerivedSteps<'run> = Vec<(StepKind, Vec<ObjectEntry<'run>>)>;

fn derive_steps<'run>(
    arena: &'run Bump,
    tool: KnownTool,
    args: Node<'run>,
    call: &[ObjectEntry<'run>],
) -> DerivedSteps<'run> {
    use ArgsKey::{Command, Input, Name, Patch, PatchText, Skill, Url, Urls};
    if tool == KnownTool::Patch {
        let patch = match args.value {
            Value::Object(args) => first_of(args, &[Input, Patch, PatchText]),
            _ => Some(args),
        };
        return patch.map(|patch| patched_files(arena, patch)).unwrap_or_default();
    }
    let Value::Object(args) = args.value else { return Vec::new() };
    let named = |kind, key, names: &[ArgsKey]| {
        let node = first_of(args, names);
        let nodes = match node.and_then(node_list) {
            Some(nodes) => nodes.to_vec(),
            None => node.into_iter().collect(),
        };
        let texts = nodes.into_iter().filter(|node| node_text(*node).is_some_and(|text| !text.trim().is_empty()));
        texts.map(|node| (kind, vec![field_entry(key, node)])).collect::<DerivedSteps<'run>>()
    };
    match tool {
        KnownTool::Shell => command_steps(arena, args, call),
        KnownTool::Read => named(StepKind::Read, of_step::PATH, &FILE),
        KnownTool::Write => named(StepKind::Write, of_step::PATH, &FILE),
        KnownTool::Editor => {
            let looks = args.field(Command).and_then(node_text).is_some_and(|word| word == VIEW);
            named(if looks { StepKind::Read } else { StepKind::Write }, of_step::PATH, &FILE)
        }
        KnownTool::Skill => named(StepKind::Skill, of_step::NAME, &[Skill, Name, Command]),
        KnownTool::Fetch => {
            let mut steps = named(StepKind::Http, of_step::URL, &[Url, Urls]);
            for (_, fields) in &mut steps {
                fields.push(field_entry(of_step::METHOD, Node::computed(Value::plain_text("GET"))));
                let details = field_value(call, of_step::DETAILS).and_then(node_object);
                let code = details.and_then(|details| details.field(DetailsKey::Code));
                fields.extend(
                    code.filter(|code| matches!(code.value, Value::Number(_)))
                        .map(|code| field_entry(of_step::STATUS, code)),
                );
            }
            steps
        }
        KnownTool::Patch => Vec::new(),
    }
}

pub(super) const VIEW: &str = "view";

fn command_steps<'run>(arena: &'run Bump, args: Object<'run>, call: &[ObjectEntry<'run>]) -> DerivedSteps<'run> {
    let Some(given) = first_of(args, &LINE) else { return Vec::new() };
    let line = match given.value {
        Value::Text(_) => given,
        Value::List([program, patch])
            if node_text(*program).and_then(KnownTool::from_key) == Some(KnownTool::Patch) =>
        {
            return patched_files(arena, *patch);
        }
        Value::List(words) => match command_line(arena, words, given) {
            Some(line) => line,
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let mut fields = vec![field_entry(of_step::COMMAND, line)];
    fields.extend(field_value(call, of_step::RESULT).map(|result| field_entry(of_step::OUTPUT, result)));
    fields.extend(field_value(call, of_step::EXIT_CODE).map(|code| field_entry(of_step::EXIT_CODE, code)));
    let mut steps = vec![(StepKind::Command, fields)];
    // Codex gives patches to its shell.
    if node_text(line).is_some_and(|words| words.contains("apply_patch") && words.contains("*** Begin Patch")) {
        steps.extend(patched_files(arena, line));
    }
    steps
}

/// A shell's command line, else the words, quoted where needed.
fn command_line<'run>(arena: &'run Bump, words: &[Node<'run>], given: Node<'run>) -> Option<Node<'run>> {
    if let [shell, flag, line] = words
        && node_text(*shell).is_some_and(|shell| shell.ends_with("sh"))
        && node_text(*flag).is_some_and(|flag| flag.starts_with('-') && flag.ends_with('c'))
    {
        return NodeShapes.is_text(*line).then_some(*line);
    }
    let mut line = bumpalo::collections::String::new_in(arena);
    for word in words {
        let word = node_text(*word)?;
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
    Some(Node::new(Value::Text(ValueText::Plain(line.into_bump_str())), given.origin)).filter(|_| !words.is_empty())
}

fn patched_files<'run>(arena: &'run Bump, patch: Node<'run>) -> DerivedSteps<'run> {
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let paths = node_text(patch)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)));
    let step = |path: &'run str| {
        let path = Node::new(Value::Text(ValueText::Plain(arena.alloc_str(path.trim()))), patch.origin);
        (StepKind::Write, vec![field_entry(of_step::PATH, path)])
    };
    paths.map(step).collect()
}

/// 0 if the command finished successfully, else the code that the failure text names.
fn claude_exit_code<'run>(args: Object<'run>, call: &[ObjectEntry<'run>]) -> Option<Node<'run>> {
    let status = node_text(field_value(call, of_step::STATUS)?)?;
    if Some(status) == StepStatus::Failed.as_str() {
        let result = field_value(call, of_step::RESULT)?;
        let words = node_text(result)?;
        let code = words.trim_start_matches("Error: ").strip_prefix("Exit code ")?;
        let digits = code.split(|c: char| !c.is_ascii_digit()).next()?;
        return Some(Node::new(Value::Number(Number::Integer(digits.parse().ok()?)), result.origin));
    }
    // The program passes over the code of commands such as `grep`, whose 1 is no failure, and says so.
    let explained = field_value(call, of_step::DETAILS).and_then(node_object).is_some_and(|details| {
        details.field(DetailsKey::Explained).is_some_and(|words| NodeShapes.is_text(words))
            || first_of(details, &[DetailsKey::Background]).is_some()
            || is_true(&details, &NodeShapes, DetailsKey::Interrupted)
    });
    let is_over =
        Some(status) == StepStatus::Ok.as_str() && !is_true(&args, &NodeShapes, ArgsKey::InBackground) && !explained;
    is_over.then(|| Node::computed(Value::Number(Number::Integer(0))))
}
