//! A proxy for a server over streamable HTTP. Each client message is a POST that is judged before it is forwarded; answers, streams and the end of a
//! session are forwarded unchanged.
//!
//! The protocol: modelcontextprotocol.io/specification, transports (streamable HTTP), revisions 2025-03-26 to 2026-07-28.

use super::call_ends::OpenCalls;
use super::message::{
    CallRequest, ClientMessage, HEADER_MISMATCH, INTERNAL_ERROR, denial_line, error_line, proposed_call,
    read_client_message, step_text,
};
use super::passing::{
    AnswerParts, PassedRequest, body_length, pass_headers, plain_text, server_agent, upstream_request,
};
use super::run_key::{RunKey, RunKeying, protocol_session};
use super::tool_check::ToolCheck;
use crate::answer::Decision;
use crate::event::{CallEnd, SessionEvent};
use crate::hook::SessionGuard;
use crate::session::{SessionKey, SessionLog, now};
use averment::guard::decide::record_event;
use averment_http::client::ServerUrl;
use averment_http::connection::{HttpReply, HttpRequest, PlainAnswer};
use averment_http::http::{Method, Response, StatusCode, Uri};
use averment_http::server::AnswerRequests;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Settings of a proxy.
#[derive(Debug, Clone)]
pub struct ProxySettings {
    /// The server.
    pub target: ServerUrl,
    /// The way to distinguish runs.
    pub keying: RunKeying,
    /// Timeout for the start of an answer.
    pub answer_time: Duration,
}

/// A guard in front of a server.
pub struct McpProxy<'a> {
    guard: SessionGuard<'a>,
    settings: ProxySettings,
    address: Uri,
    /// Prefix for ids of calls and connections of this process.
    name: String,
    numbers: AtomicU64,
    open: Mutex<BTreeMap<RunKey, OpenCalls>>,
    tools: Mutex<ToolCheck>,
    tell: &'a (dyn Fn(&str) + Sync),
}

/// One connection of a client.
pub struct ProxyConnection<'a> {
    proxy: &'a McpProxy<'a>,
    agent: ureq::Agent,
    name: String,
    /// True if the connection is a run of its own.
    is_run: bool,
}

impl<'a> McpProxy<'a> {
    /// Creates a proxy; messages for the user go to `tell`.
    ///
    /// # Errors
    /// If the address of the server is invalid.
    pub fn new(
        guard: SessionGuard<'a>,
        settings: ProxySettings,
        tools: ToolCheck,
        tell: &'a (dyn Fn(&str) + Sync),
    ) -> Result<Self, String> {
        let address: Uri = settings.target.url.parse().map_err(|error| format!("it is no address: {error}"))?;
        let name = format!("{}-{}", now(), std::process::id());
        let (numbers, open, tools) = (AtomicU64::new(1), Mutex::default(), Mutex::new(tools));
        Ok(Self { guard, settings, address, name, numbers, open, tools, tell })
    }

    /// Returns the path that clients request.
    #[must_use]
    pub fn path(&self) -> &str {
        self.address.path()
    }

    /// Opens a connection.
    #[must_use]
    pub fn begin_connection(&'a self) -> ProxyConnection<'a> {
        let agent = server_agent(&self.address);
        ProxyConnection { proxy: self, agent, name: self.next_name(), is_run: false }
    }

    /// Reports tools named in rules that are not among the tools listed by the server.
    pub fn compare_tools(&self, listed: Option<Vec<String>>) {
        let missing = listed.map(|listed| lock(&self.tools).compare_all(listed)).unwrap_or_default();
        missing.iter().for_each(|text| (self.tell)(text));
    }

    fn next_name(&self) -> String {
        format!("{}-{}", self.name, self.numbers.fetch_add(1, Ordering::Relaxed))
    }

    fn open_log(&self, run: &RunKey) -> Result<SessionLog, String> {
        let id = run.session_id();
        let key = SessionKey { agent: "mcp", id: &id, rules: self.guard.rule_names };
        self.guard.open_log(key, false).map_err(|error| format!("the log of the session: {error}"))
    }

    fn with_open<T>(&self, run: &RunKey, change: impl FnOnce(&mut OpenCalls) -> T) -> T {
        let mut open = lock(&self.open);
        let calls = open.entry(run.clone()).or_default();
        let changed = change(calls);
        if calls.is_empty() {
            open.remove(run);
        }
        changed
    }

    fn record_end(&self, run: &RunKey, event: &SessionEvent) {
        let recorded = self.open_log(run).and_then(|mut log| record_event(self.guard.rules, &mut log, event, now()));
        if let Err(problem) = recorded {
            (self.tell)(&format!("aver guard: a result is not recorded: {problem}"));
        }
    }

    /// Ends a run.
    fn finish_run(&self, run: &RunKey) {
        let decided = self
            .open_log(run)
            .and_then(|mut log| self.guard.judge().decide(&mut log, &SessionEvent::Stop(true), now()));
        match decided {
            Ok(Decision::Warn(text)) | Err(text) => (self.tell)(&text),
            Ok(_) => {}
        }
    }

    /// Handles a server message: results of calls are logged before the client gets them.
    fn take_message(&self, message: &[u8], passed: &PassedRequest) {
        let Ok(Value::Object(mut answer)) = serde_json::from_slice::<Value>(message) else { return };
        for text in lock(&self.tools).take_answer(&answer) {
            (self.tell)(&text);
        }
        let Some(run) = &passed.run else { return };
        // Within a protocol session, request ids are unique to one client, and an answer may arrive on another stream.
        let own = passed.call.as_deref().filter(|_| !matches!(run, RunKey::Session(_)));
        if own.is_none() && !matches!(run, RunKey::Session(_)) {
            return;
        }
        if let Some(event) = self.with_open(run, |open| open.take_answer(&mut answer, own)) {
            self.record_end(run, &event);
        }
    }

    /// Ends a call that the server rejected or did not answer properly.
    fn end_unanswered(&self, passed: &PassedRequest, problem: Option<&str>) {
        let (Some(run), Some(call)) = (&passed.run, &passed.call) else { return };
        // The answer may still arrive on another stream of the session.
        if problem.is_none() && matches!(run, RunKey::Session(_)) {
            return;
        }
        let Some(call) = self.with_open(run, |open| open.take_unanswered(call)) else { return };
        if let Some(problem) = problem {
            let error = Some(Value::from(problem));
            self.record_end(run, &SessionEvent::End(CallEnd { call, result: None, error }));
        }
    }
}

impl AnswerRequests for ProxyConnection<'_> {
    fn answer_request(&mut self, request: HttpRequest, reply: HttpReply<'_>) -> io::Result<()> {
        let refuse = |status, text: &str| PlainAnswer::refusal(status, text);
        if request.head.uri().path() != self.proxy.path() {
            let text = format!("the guarded server is at the path `{}`", self.proxy.path());
            return reply.send_plain(&refuse(StatusCode::NOT_FOUND, &text));
        }
        match *request.head.method() {
            Method::POST => match self.judge_message(&request) {
                Ok(passed) => self.pass_on(&request, reply, &passed),
                Err(answer) => reply.send_plain(&answer),
            },
            Method::GET | Method::DELETE => {
                let passed = PassedRequest { run: protocol_session(&request), ..PassedRequest::default() };
                self.pass_on(&request, reply, &passed)
            }
            _ => reply.send_plain(&refuse(StatusCode::METHOD_NOT_ALLOWED, "write POST, GET or DELETE")),
        }
    }

    fn when_gone(&self) -> Box<dyn FnOnce() + Send> {
        let agent = self.agent.clone();
        Box::new(move || agent.shutdown())
    }
}

impl Drop for ProxyConnection<'_> {
    fn drop(&mut self) {
        if self.is_run {
            self.proxy.finish_run(&RunKey::Connection(self.name.clone()));
        }
    }
}

impl ProxyConnection<'_> {
    /// Reads and judges a message. Returns the request to forward, or the answer to send instead.
    fn judge_message(&mut self, request: &HttpRequest) -> Result<PassedRequest, PlainAnswer> {
        let bad = |line| PlainAnswer::json(StatusCode::BAD_REQUEST, line);
        match read_client_message(&request.body) {
            ClientMessage::Refused(line) => Err(bad(line)),
            ClientMessage::Other { method, id } => {
                check_headers(request, method.as_deref(), None)
                    .map_err(|problem| bad(error_line(&id, HEADER_MISMATCH, problem)))?;
                lock(&self.proxy.tools).note_request(method.as_deref(), &id);
                Ok(PassedRequest { id, run: protocol_session(request), call: None })
            }
            ClientMessage::Call(call) => {
                check_headers(request, Some("tools/call"), Some(&call.tool))
                    .map_err(|problem| bad(error_line(&call.id, HEADER_MISMATCH, problem)))?;
                self.judge_call(request, &call)
                    .map_err(|text| PlainAnswer::json(StatusCode::OK, denial_line(&call, &text)))
            }
        }
    }

    /// Decides a call; returns the text of the denial as an error.
    fn judge_call(&mut self, request: &HttpRequest, asked: &CallRequest) -> Result<PassedRequest, String> {
        let proxy = self.proxy;
        let run = match proxy.settings.keying.run_of(request, asked, &self.name) {
            Ok(run) => run,
            Err(problem) => {
                step_text(proxy.guard.problem_decision(&problem))?.inspect(|text| (proxy.tell)(text));
                RunKey::Connection(self.name.clone())
            }
        };
        self.is_run |= matches!(run, RunKey::Connection(_));
        let continued = proxy.with_open(&run, |open| open.take_continued(asked));
        let call = match continued {
            Some(call) => call,
            None => {
                let call = proposed_call(asked, proxy.next_name());
                let decision = match proxy.open_log(&run) {
                    Ok(mut log) => proxy.guard.decide_or_refuse(&mut log, &call),
                    Err(problem) => proxy.guard.problem_decision(&problem),
                };
                step_text(decision)?.inspect(|text| (proxy.tell)(text));
                call
            }
        };
        let id = call.id.clone();
        proxy.with_open(&run, |open| open.begin_call(&asked.id, call));
        Ok(PassedRequest { id: asked.id.clone(), run: Some(run), call: id })
    }

    /// Sends a request to the server and its answer to the client.
    fn pass_on(&self, request: &HttpRequest, reply: HttpReply<'_>, passed: &PassedRequest) -> io::Result<()> {
        let proxy = self.proxy;
        let sent = upstream_request(request, &proxy.settings, &proxy.address)
            .and_then(|sent| self.send_upstream(request, sent));
        let response = match sent {
            Ok(response) if response.status().is_redirection() => {
                // A client that follows the redirect would contact the server directly and bypass the guard.
                Err((
                    StatusCode::BAD_GATEWAY,
                    "the server leads to another address: name that one with `--url`".to_owned(),
                ))
            }
            sent => sent,
        };
        let response = match response {
            Ok(response) => response,
            Err((status, problem)) => {
                proxy.end_unanswered(passed, Some(&problem));
                return reply.send_plain(&PlainAnswer::json(status, error_line(&passed.id, INTERNAL_ERROR, &problem)));
            }
        };
        let (parts, body) = response.into_parts();
        let status = parts.status;
        let streamed = self.stream_answer(parts, body, reply, passed);
        if streamed.is_err() {
            proxy.end_unanswered(passed, None);
        }
        if request.head.method() == Method::DELETE
            && status.is_success()
            && proxy.settings.keying == RunKeying::Protocol
        {
            passed.run.iter().for_each(|run| proxy.finish_run(run));
        }
        streamed
    }

    fn send_upstream(
        &self,
        request: &HttpRequest,
        sent: ureq::http::request::Builder,
    ) -> Result<Response<ureq::Body>, (StatusCode, String)> {
        // A stream opened by a client may stay silent forever, so it has no timeout; it ends with the client.
        let time = (request.head.method() != Method::GET).then_some(self.proxy.settings.answer_time);
        let failed = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => (StatusCode::GATEWAY_TIMEOUT, "the server does not answer in time".to_owned()),
            error => (StatusCode::BAD_GATEWAY, format!("the server cannot be reached: {error}")),
        };
        let answered = if request.head.method() == Method::POST {
            let sent = sent.body(&request.body[..]).map_err(|error| failed(error.into()))?;
            self.agent
                .run(self.agent.configure_request(sent).timeout_per_read(time).timeout_recv_response(time).build())
        } else {
            let sent = sent.body(()).map_err(|error| failed(error.into()))?;
            self.agent
                .run(self.agent.configure_request(sent).timeout_per_read(time).timeout_recv_response(time).build())
        };
        answered.map_err(failed)
    }

    fn stream_answer(
        &self,
        parts: averment_http::http::response::Parts,
        body: ureq::Body,
        reply: HttpReply<'_>,
        passed: &PassedRequest,
    ) -> io::Result<()> {
        let mut head = Response::new(());
        *head.status_mut() = parts.status;
        pass_headers(&parts.headers, head.headers_mut());
        let mut answer = AnswerParts::of_kind(&parts.headers);
        let mut out = reply.begin_answer(head, body_length(&parts.headers))?;
        let mut body = body.into_with_config().limit(u64::MAX).reader();
        let (mut part, mut held) = (vec![0_u8; 16 << 10], Vec::new());
        loop {
            let count = body.read(&mut part)?;
            if count == 0 {
                break;
            }
            let bytes = part.get(..count).unwrap_or_default();
            answer.push_bytes(bytes, |message| self.proxy.take_message(message, passed));
            // A client has a message only with its last byte, so its effects are logged before that byte is sent.
            if answer.is_stream() {
                out.write_part(bytes)?;
            } else {
                out.write_part(&held)?;
                held.clear();
                held.extend_from_slice(bytes);
            }
        }
        answer.finish(|message| self.proxy.take_message(message, passed));
        let failed = match parts.status {
            status if !status.is_success() => {
                Some(format!("the server answered with the HTTP status {}", status.as_u16()))
            }
            // A single message, read completely, so no other will follow.
            _ if answer.is_whole() => Some("the server did not answer the call".to_owned()),
            _ => None,
        };
        self.proxy.end_unanswered(passed, failed.as_deref());
        out.write_part(&held)?;
        out.end_answer()
    }
}

/// Checks that headers which mirror the message agree with it, because servers and intermediaries may use either.
fn check_headers(request: &HttpRequest, method: Option<&str>, tool: Option<&str>) -> Result<(), &'static str> {
    let headers = request.head.headers();
    let all_are = |name: &str, wanted: Option<&str>| {
        headers.get_all(name).iter().all(|value| value.to_str().ok().and_then(plain_text).as_deref() == wanted)
    };
    if !all_are("mcp-method", method) {
        return Err("the header `Mcp-Method` is not the method of the message");
    }
    if tool.is_some() && !all_are("mcp-name", tool) {
        return Err("the header `Mcp-Name` is not the tool of the message");
    }
    Ok(())
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
