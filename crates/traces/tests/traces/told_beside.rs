//! What a run tells in places that are easily skipped: beside a call, behind it, or summed up.

use super::formats::{field, root, steps, with};
use averment_runs::run::StepStatus;
use serde_json::{Value as Json, json};

fn lines(values: &[Json]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[test]
fn the_tokens_of_a_run_of_assistants_hold_those_of_its_steps() {
    let usage = |input: u32| json!({"prompt_tokens": input, "completion_tokens": 1});
    let step = |id: &str, run: &str, input: u32| {
        json!({"id": id, "object": "thread.run.step", "run_id": run, "type": "tool_calls", "status": "completed", "usage": usage(input),
            "step_details": {"type": "tool_calls", "tool_calls": [{"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}}]}})
    };
    let run = |usage: Json| json!({"id": "r", "object": "thread.run", "status": "completed", "usage": usage});
    let told = |records: &[Json]| with(&lines(records), |run| root(run, "usage"));
    let of_steps = r#"{"input_tokens":30,"output_tokens":2,"total_tokens":32}"#;
    assert_eq!(told(&[step("a", "r", 10), step("b", "r", 20)]), of_steps);
    assert_eq!(told(&[run(Json::Null), step("a", "r", 10), step("b", "r", 20), run(Json::Null)]), of_steps);
    let whole = [run(Json::Null), step("a", "r", 10), run(usage(50))];
    assert_eq!(told(&whole), r#"{"input_tokens":50,"output_tokens":1,"total_tokens":51}"#);
    // Of another run only the steps tell.
    let both = [whole.as_slice(), &[step("b", "other", 7)]].concat();
    assert_eq!(told(&both), r#"{"input_tokens":57,"output_tokens":2,"total_tokens":59}"#);
}

#[test]
fn what_a_look_showed_is_its_result() {
    let shown = |tool: Json, partial: bool| {
        let messages = json!([{"ts": 1, "type": "say", "say": "text", "text": "go"},
            {"ts": 2, "type": "ask", "ask": "tool", "text": tool.to_string(), "partial": partial}]);
        messages.to_string()
    };
    let told = |tool: Json, partial| {
        with(&shown(tool, partial), |run| {
            assert_eq!(field(run, 1, "duration"), "absent");
            (run.steps[1].name.to_owned(), field(run, 1, "args"), field(run, 1, "result"))
        })
    };
    let of = |name: &str, args: &str, result: &str| (name.to_owned(), args.to_owned(), result.to_owned());
    let list = json!({"tool": "listFilesTopLevel", "path": "lib", "isOutsideWorkspace": false, "content": "x.rs"});
    assert_eq!(told(list.clone(), false), of("list_files", r#"{"path":"lib"}"#, "\"x.rs\""));
    assert_eq!(told(list, true), of("list_files", r#"{"path":"lib"}"#, "absent"));
    let search = json!({"tool": "searchFiles", "path": "lib", "regex": "f.", "content": ""});
    assert_eq!(told(search, false), of("search_files", r#"{"path":"lib","regex":"f."}"#, "absent"));
    // Where a file is the editor tells, not what it holds.
    let read = json!({"tool": "readFile", "path": "lib/x.rs", "content": "/w/lib/x.rs"});
    assert_eq!(told(read, false), of("read_file", r#"{"path":"lib/x.rs"}"#, "absent"));
    let write = json!({"tool": "newFileCreated", "path": "y", "content": "fn y() {}"});
    assert_eq!(told(write, false), of("write_to_file", r#"{"content":"fn y() {}","path":"y"}"#, "absent"));
}

#[test]
fn what_a_user_says_to_a_call_is_the_users() {
    let record = |kind: &str, payload: Json| json!({"timestamp": 5.0, "message": {"type": kind, "payload": payload}});
    let told = |answer: &str, feedback: &str| {
        let records = [
            record("TurnBegin", json!({"user_input": "go"})),
            record("StepBegin", json!({"n": 1})),
            record(
                "ToolCall",
                json!({"type": "function", "id": "c", "function": {"name": "Shell", "arguments": "{\"command\":\"make\"}"}}),
            ),
            record("ApprovalRequest", json!({"id": "q", "tool_call_id": "c"})),
            record(answer, json!({"request_id": "q", "response": "reject", "feedback": feedback})),
            record(
                "ToolResult",
                json!({"tool_call_id": "c", "return_value": {"is_error": true, "output": "", "message": "It was rejected by the user."}}),
            ),
        ];
        with(&lines(&records), |run| {
            let texts = (0..run.steps.len()).filter(|at| steps(run)[*at] == "message user");
            assert!(run.steps.iter().any(|step| step.status == StepStatus::Denied));
            texts.map(|at| field(run, at, "text")).collect::<Vec<_>>()
        })
    };
    assert_eq!(told("ApprovalResponse", "use ninja"), ["\"go\"", "\"use ninja\""]);
    assert_eq!(told("ApprovalRequestResolved", ""), ["\"go\""]);
}

#[test]
fn a_command_that_printed_nothing_may_say_why_it_failed() {
    let told = |end: &str, given: Json| {
        let call = |subtype: &str, held: Json| json!({"type": "tool_call", "subtype": subtype, "call_id": "c", "tool_call": {"shellToolCall": held}, "session_id": "s"});
        let events = [
            call("started", json!({"args": {"command": "make"}})),
            call("completed", json!({"args": {"command": "make"}, "result": {end: given}})),
        ];
        with(&lines(&events), |run| (field(run, 0, "result"), field(run, 0, "error")))
    };
    let of = |result: &str, error: &str| (result.to_owned(), error.to_owned());
    let silent = json!({"exitCode": 2, "stdout": "", "stderr": "no rule"});
    assert_eq!(told("failure", silent.clone()), of("\"no rule\"", "\"no rule\""));
    assert_eq!(told("success", silent), of("\"no rule\"", "\"no rule\""));
    let loud = json!({"exitCode": 2, "stdout": "1 failed", "stderr": "warning"});
    assert_eq!(told("failure", loud), of("\"1 failed\"", "\"1 failed\""));
    let quiet = json!({"exitCode": 0, "stdout": "", "stderr": ""});
    assert_eq!(told("success", quiet), of("\"\"", "missing"));
}

#[test]
fn a_hook_tells_what_users_say_and_not_what_the_assistant_says() {
    let event = |name: &str, more: Json| {
        let mut event = json!({"session_id": "h", "hook_event_name": name});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let call =
        |name: &str| event(name, json!({"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_response": "x"}));
    let prompt = |words: &str| event("UserPromptSubmit", json!({"prompt": words}));
    let told = [prompt("look"), call("PreToolUse"), call("PostToolUse"), event("Stop", json!({})), prompt("more")];
    with(&lines(&told), |run| {
        assert_eq!(steps(run), ["message user", "call Read", "read /a", "message user"]);
        assert_eq!((root(run, "prompt"), field(run, 3, "text")), ("\"look\"".into(), "\"more\"".into()));
        assert_eq!(root(run, "unrecorded_roles"), r#"["assistant","thinking","system"]"#);
    });
    with(&lines(&told[1..4]), |run| assert_eq!(root(run, "messages"), "absent"));
}

#[test]
fn a_terminal_shows_what_it_was_asked_to_run() {
    let told = |data: Json| {
        let part = json!({"kind": "toolInvocationSerialized", "toolCallId": "a", "toolId": "run_in_terminal", "isComplete": true, "toolSpecificData": data});
        let chat = json!({"requesterUsername": "u", "responderUsername": "r", "requests": [
            {"message": {"text": "go"}, "response": [part], "result": {"metadata": {}}}]});
        with(&chat.to_string(), |run| (steps(run), field(run, 1, "args")))
    };
    let of =
        |names: &[&str], args: &str| (names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), args.to_owned());
    let ran = of(&["message user", "call run_in_terminal", "command make"], r#"{"command":"make"}"#);
    assert_eq!(told(json!({"kind": "terminal", "language": "sh", "command": "make"})), ran);
    assert_eq!(told(json!({"kind": "terminal", "commandLine": {"original": "make", "toolEdited": "make -s"}})), ran);
    assert_eq!(
        told(json!({"kind": "todoList", "todoList": []})),
        of(&["message user", "call run_in_terminal"], "absent")
    );
}

#[test]
fn a_client_names_no_session() {
    let line = |session: &str, role: &str, text: &str| json!({"type": role, "session_id": session, "parent_tool_use_id": null, "message": {"role": role, "content": text}});
    let told = |lines_of: &[Json]| {
        with(&lines(lines_of), |run| {
            (run.id.map(str::to_owned), run.warnings.iter().any(|one| one.message.contains("several")))
        })
    };
    let answer = line("real", "assistant", "Done.");
    assert_eq!(told(&[line("default", "user", "go"), answer.clone()]), (Some("real".to_owned()), false));
    assert_eq!(told(&[line("", "user", "go"), answer.clone()]), (Some("real".to_owned()), false));
    assert_eq!(told(&[line("default", "user", "go")]), (Some("default".to_owned()), false));
    assert_eq!(told(&[line("first", "user", "go"), answer]), (Some("first".to_owned()), true));
}

#[test]
fn actions_that_python_printed_are_calls() {
    let told = |action: &str| {
        let result = json!({"input": "go", "output": "Done.", "intermediate_steps": [[action, "found"]]});
        with(&result.to_string(), |run| {
            let call = steps(run).iter().position(|step| step == "call look");
            (run.complete, call.map(|at| (field(run, at, "args"), field(run, at, "result"))))
        })
    };
    let call = Some((r#"{"n":[1,null]}"#.to_owned(), "\"found\"".to_owned()));
    let fields = "tool='look' tool_input={'n': [1, None]} log=\"It's\" message_log=[AIMessageChunk(content='')] tool_call_id='c'";
    assert_eq!(told(fields), (true, call.clone()));
    assert_eq!(
        told("ToolAgentAction(tool='look', tool_input={'n': [1, None]}, log='', tool_call_id='c')"),
        (true, call)
    );
    assert_eq!(told("tool='look' tool_input={'n': <object at 0x1>} log=''"), (false, None));
}

#[test]
fn a_plan_is_what_a_task_answers() {
    let call = |id: &str, tool: &str, args: Json| json!({"role": "assistant", "modelInfo": {"modelId": "m"}, "content": [{"type": "tool_use", "id": id, "name": tool, "input": args}]});
    let user = |content: Json| json!({"role": "user", "content": [content]});
    let plan = [
        user(json!({"type": "text", "text": "<task>\ngo\n</task>"})),
        call("a", "plan_mode_respond", json!({"response": "First this."})),
    ];
    let told = |messages: &[Json]| with(&Json::from(messages).to_string(), |run| root(run, "output"));
    assert_eq!(told(&plan), "\"First this.\"");
    let later = [
        user(json!({"type": "tool_result", "tool_use_id": "a", "content": "yes"})),
        call("b", "read_file", json!({"path": "x"})),
    ];
    assert_ne!(told(&[plan.as_slice(), &later].concat()), "\"First this.\"");
}
