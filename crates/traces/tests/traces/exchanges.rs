//! Recorded HTTP exchanges: the forms in which recorders keep them, and streams of answers in each.

use super::formats::{field, root, steps, with};
use averment_runs::run::{Run, StepKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

fn records_calls(run: &Run<'_>) -> bool {
    run.complete && run.recorded.get(StepKind::Call as usize) == Some(&true)
}

/// Two exchanges of a chat API, as requests and responses.
fn weather_exchanges() -> [(Json, Json); 2] {
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"at\":\"Oslo\"}"}});
    let asked = json!({"role": "user", "content": "Weather?"});
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let told = json!({"role": "tool", "tool_call_id": "c1", "content": "7 degrees"});
    let answer = |message: Json| json!({"choices": [{"message": message}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    [
        (json!({"messages": [asked], "tools": []}), answer(calls.clone())),
        (
            json!({"messages": [asked, calls, told], "tools": []}),
            answer(json!({"role": "assistant", "content": "7 degrees."})),
        ),
    ]
}

const STEPS: [&str; 3] = ["message user", "call weather", "message assistant"];

fn is_the_weather(text: &str) {
    with(text, |run| {
        assert_eq!(steps(run), STEPS, "{text}");
        assert_eq!(field(run, 1, "result"), "\"7 degrees\"");
        assert_eq!(root(run, "output"), "\"7 degrees.\"");
        assert!(root(run, "usage").contains("\"input_tokens\":18"), "{}", root(run, "usage"));
        assert!(records_calls(run) && run.warnings.is_empty(), "{:?}", run.warnings);
    });
}

#[test]
fn a_cassette_of_go_has_its_version_in_front() {
    let mut text = "---\nversion: 2\ninteractions:\n".to_owned();
    for (request, response) in weather_exchanges() {
        let quoted = |body: Json| serde_json::to_string(&body.to_string()).unwrap();
        text += &format!(
            "- id: 0\n  request:\n    body: {}\n  response:\n    code: 200\n    body: {}\n",
            quoted(request),
            quoted(response)
        );
    }
    is_the_weather(&text);
}

#[test]
fn recordings_of_httprr_are_exchanges() {
    let mut text = "httprr trace v1\n".to_owned();
    for (request, response) in weather_exchanges() {
        let request = format!("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n\r\n{request}");
        let response = format!("HTTP/2.0 200 OK\r\n\r\n{response}");
        text += &format!("{} {}\n{request}{response}", request.len(), response.len());
    }
    is_the_weather(&text);
    with(text.strip_suffix('}').unwrap(), |run| assert!(!records_calls(run)));
}

#[test]
fn recordings_of_nock_may_leave_out_what_was_asked() {
    let item = |(body, response): (Json, Json)| json!({"scope": "https://a", "method": "POST", "path": "/chat", "status": 200, "body": body, "response": response});
    let exchanges = weather_exchanges().map(item);
    is_the_weather(&json!(exchanges).to_string());
    let silent = exchanges.map(|mut item| {
        item["body"] = json!("");
        item
    });
    let others = json!([{"scope": "https://b", "method": "GET", "path": "/flags", "status": 200, "response": {"on": true}}, silent[0], silent[1]]);
    with(&others.to_string(), |run| {
        assert_eq!(steps(run), ["call weather", "message assistant"]);
        assert!(records_calls(run), "{:?}", run.warnings);
    });
}

#[test]
fn bodies_may_stand_under_other_keys() {
    let encoded = |value: &Json| json!({"data": STANDARD.encode(value.to_string()), "encoding": "base64", "size": 1});
    let of_httpx = weather_exchanges().map(|(request, response)| json!({"request": {"method": "POST", "content": request}, "response": {"status_code": 200, "content": encoded(&response)}}));
    is_the_weather(&json!({"interactions": of_httpx}).to_string());
    let of_google = weather_exchanges().map(|(request, response)| json!({"request": {"method": "post", "body_segments": [request]}, "response": {"status_code": 200, "body_segments": [response]}}));
    is_the_weather(&json!({"replay_id": "a", "interactions": of_google}).to_string());
}

#[test]
fn a_cassette_may_keep_requests_and_responses_apart() {
    let [first, second] = weather_exchanges().map(|(request, response)| [request, response]);
    let item = |body: &Json| format!("- body: !!binary |\n    {}\n  status: 200\n", STANDARD.encode(body.to_string()));
    let list = |side: usize| item(&first[side]) + &item(&second[side]);
    is_the_weather(&format!("requests:\n{}responses:\n{}", list(0), list(1)));
}

#[test]
fn what_a_server_only_took_is_no_answer() {
    let exchange =
        |(request, response): (Json, Json)| json!({"request": {"body": request}, "response": {"body": response}});
    let [first, second] = weather_exchanges().map(exchange);
    let told = |response: Json| exchange((json!({"run_id": "r", "data": {"has_tools": true}}), response));
    let taken = told(json!({"message": "taken", "status": "success"}));
    is_the_weather(&json!({"interactions": [first, second, taken]}).to_string());
    for other in [json!({"message": "taken"}), json!({"status": "success", "message": {"tool": "look"}})] {
        with(&json!({"interactions": [first, second, told(other)]}).to_string(), |run| assert!(!records_calls(run)));
    }
}

#[test]
fn pieces_of_an_answer_may_stand_in_a_list_with_their_classes() {
    let (request, _) = &weather_exchanges()[0];
    let piece = |value: Json| json!({"__type__": "openai.Chunk", "__data__": value});
    let of_prompt =
        piece(json!({"id": "", "object": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}));
    let said = |delta: Json| {
        piece(json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}))
    };
    let end = piece(
        json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    );
    let pieces = json!([of_prompt, said(json!({"content": "It is "})), said(json!({"content": "warm."})), end]);
    let exchange = |pieces: &Json| json!({"request": {"body": request}, "response": {"body": pieces}}).to_string();
    with(&exchange(&pieces), |run| {
        assert_eq!(steps(run), ["message user", "message assistant"]);
        assert_eq!(root(run, "output"), "\"It is warm.\"");
        assert!(records_calls(run), "{:?}", run.warnings);
    });
    let cut = json!(pieces.as_array().unwrap()[..3]);
    with(&exchange(&cut), |run| assert!(!records_calls(run)));
}

/// A frame of an event stream of AWS.
fn frame(kind: &str, payload: &Json) -> Vec<u8> {
    let mut headers = vec![11];
    headers.extend(b":event-type\x07");
    headers.extend(u16::try_from(kind.len()).unwrap().to_be_bytes());
    headers.extend(kind.bytes());
    let payload = payload.to_string();
    let mut bytes = Vec::new();
    for number in [16 + headers.len() + payload.len(), headers.len(), 0] {
        bytes.extend(u32::try_from(number).unwrap().to_be_bytes());
    }
    bytes.extend(headers);
    bytes.extend(payload.bytes());
    bytes.extend([0; 4]);
    bytes
}

fn cassette_of(request: &Json, frames: &[Vec<u8>]) -> String {
    let request = serde_json::to_string(&request.to_string()).unwrap();
    let answer = STANDARD.encode(frames.concat());
    format!(
        "interactions:\n- request:\n    body: {request}\n  response:\n    body:\n      string: !!binary |\n        {answer}\n"
    )
}

#[test]
fn streams_of_aws_are_frames_of_bytes() {
    let asked = json!({"messages": [{"role": "user", "content": [{"text": "Weather?"}]}]});
    let events = [
        ("messageStart", json!({"role": "assistant"})),
        (
            "contentBlockStart",
            json!({"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "a", "name": "weather"}}}),
        ),
        ("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{\"at\":\"Oslo\"}"}}})),
        ("contentBlockStop", json!({"contentBlockIndex": 0})),
        ("messageStop", json!({"stopReason": "tool_use"})),
        ("metadata", json!({"usage": {"inputTokens": 9, "outputTokens": 2}})),
    ];
    let frames: Vec<_> = events.iter().map(|(kind, payload)| frame(kind, payload)).collect();
    // The events of a model's own API stand in the chunks of another call.
    let chunks: Vec<_> = events
        .iter()
        .map(|(kind, payload)| frame("chunk", &json!({"bytes": STANDARD.encode(json!({*kind: payload}).to_string())})))
        .collect();
    for frames in [frames, chunks] {
        with(&cassette_of(&asked, &frames), |run| {
            assert_eq!(steps(run), ["message user", "call weather"]);
            assert_eq!(field(run, 1, "args"), r#"{"at":"Oslo"}"#);
            assert!(root(run, "usage").contains("\"output_tokens\":2"));
            assert!(records_calls(run), "{:?}", run.warnings);
        });
        with(&cassette_of(&asked, &frames[..3]), |run| assert!(!records_calls(run)));
    }
}

#[test]
fn agents_of_bedrock_answer_in_traces() {
    let step = |step: Json| json!({"agentId": "A", "sessionId": "s", "trace": {"orchestrationTrace": step}});
    let input = json!({"invocationInput": {"traceId": "t", "actionGroupInvocationInput": {"function": "weather", "parameters": [{"name": "at", "value": "Oslo"}]}}});
    let output = json!({"observation": {"traceId": "t", "actionGroupInvocationOutput": {"text": "7 degrees"}}});
    let last = json!({"observation": {"traceId": "t", "finalResponse": {"text": "7 degrees."}}});
    let mut frames: Vec<_> = [input, output, last].into_iter().map(|it| frame("trace", &step(it))).collect();
    frames.push(frame("chunk", &json!({"bytes": STANDARD.encode("7 degrees.")})));
    with(&cassette_of(&json!({"inputText": "Weather?", "enableTrace": true}), &frames), |run| {
        assert_eq!(steps(run), STEPS);
        assert_eq!((root(run, "prompt"), root(run, "output")), ("\"Weather?\"".into(), "\"7 degrees.\"".into()));
        assert!(records_calls(run), "{:?}", run.warnings);
    });
}

#[test]
fn streams_of_cohere_are_whole_answers() {
    let message = |message: Json| json!({"message": message});
    let events = [
        json!({"type": "message-start", "id": "m", "delta": message(json!({"role": "assistant"}))}),
        json!({"type": "tool-plan-delta", "delta": message(json!({"tool_plan": "I look."}))}),
        json!({"type": "tool-call-start", "index": 0, "delta": message(json!({"tool_calls": {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": ""}}}))}),
        json!({"type": "tool-call-delta", "index": 0, "delta": message(json!({"tool_calls": {"function": {"arguments": "{\n  \"at\": "}}}))}),
        json!({"type": "tool-call-delta", "index": 0, "delta": message(json!({"tool_calls": {"function": {"arguments": "\"Oslo\"}"}}}))}),
        json!({"type": "tool-call-end", "index": 0}),
        json!({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"input_tokens": 9, "output_tokens": 2}}}}),
    ];
    let stream = |events: &[Json]| events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
    let [(first, _), (mut second, answer)] = weather_exchanges();
    // Programs write what they repeat anew.
    second["messages"][0]["content"] = json!([{"type": "text", "text": "Weather?"}]);
    second["messages"][1]["content"] = json!([{"type": "text", "text": ""}]);
    let exchange =
        |request: &Json, response: Json| json!({"request": {"body": request}, "response": {"body": response}});
    let text = |events: &[Json]| {
        json!([exchange(&first, json!(stream(events))), exchange(&second, answer.clone())]).to_string()
    };
    with(&text(&events), |run| {
        assert_eq!(steps(run), STEPS);
        assert_eq!(field(run, 1, "result"), "\"7 degrees\"");
        assert!(root(run, "usage").contains("\"input_tokens\":18"));
        assert!(records_calls(run) && run.warnings.is_empty(), "{:?}", run.warnings);
    });
    with(&text(&events[..5]), |run| assert!(!records_calls(run)));
    let mut unknown = events.to_vec();
    unknown.insert(3, json!({"type": "new-event"}));
    with(&text(&unknown), |run| assert!(!records_calls(run)));
}

#[test]
fn a_conversation_inside_of_another_does_not_repeat_it() {
    let [first, second] = weather_exchanges();
    let title = |answer: &str| {
        let request =
            json!({"messages": [{"role": "system", "content": "Name it."}, {"role": "user", "content": "Title?"}]});
        (request, json!({"choices": [{"message": {"role": "assistant", "content": answer}}]}))
    };
    let exchange = |(request, response): (Json, Json)| json!({"request": request, "response": response});
    let told = json!([title("Sky"), first, title("Heaven"), second].map(exchange));
    with(&told.to_string(), |run| {
        let all: Vec<_> = steps(run).into_iter().filter(|step| step != "message system").collect();
        let talk = ["message user", "message assistant", "message user", "call weather"];
        assert_eq!(all, [&talk[..], &["message assistant"; 2]].concat());
    });
    // The API of Anthropic repeats in blocks.
    let call =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {}}]});
    let told = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "7"}]});
    let asked = json!({"role": "user", "content": "Weather?"});
    let answer = |id: &str, content: Json| json!({"type": "message", "id": id, "role": "assistant", "content": content, "stop_reason": "end_turn"});
    let told = json!([
        {"request": {"messages": [asked]}, "response": answer("a", call["content"].clone())},
        {"request": {"messages": [{"role": "user", "content": "Title?"}]}, "response": answer("b", json!([{"type": "text", "text": "Sky"}]))},
        {"request": {"messages": [asked, call, told]}, "response": answer("c", json!([{"type": "text", "text": "7."}]))},
    ]);
    with(&told.to_string(), |run| {
        assert_eq!(
            steps(run),
            ["message user", "call weather", "message user", "message assistant", "message assistant"]
        );
        assert_eq!(field(run, 1, "result"), "\"7\"");
    });
}

/// A recording of a socket, as VCR cassettes hold those of HTTP.
#[test]
fn a_recorded_connection_of_the_realtime_api_holds_its_events() {
    let text = r#"version: 1
interactions:
- kind: message
  direction: received
  data:
    type: session.created
    event_id: e1
    session: {model: m}
- kind: message
  direction: sent
  data:
    type: response.create
- kind: message
  direction: received
  data:
    type: response.done
    event_id: e2
    response:
      status: completed
      output:
      - {id: i1, type: function_call, status: completed, name: look, call_id: c, arguments: '{"n": 1}'}
      usage: {input_tokens: 5, output_tokens: 6}
- kind: message
  direction: sent
  data:
    type: conversation.item.create
    item: {type: function_call_output, call_id: c, output: found}
"#;
    with(text, |run| {
        assert_eq!(
            (steps(run), field(run, 0, "result"), run.complete),
            (vec!["call look".to_owned()], "\"found\"".into(), true)
        );
    });
    with(&text.replace("type: response.done", "type: response.other"), |run| assert!(!run.complete));
}
