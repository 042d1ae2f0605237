//! A resident guard over HTTP. Requests are POSTs; hook events of agents are answered in the agent's protocol.

use crate::agent::Agent;
use crate::answer::Decision;
use crate::hook::SessionGuard;
use averment_http::connection::{HttpReply, HttpRequest, PlainAnswer};
use averment_http::http::{Method, StatusCode};
use averment_http::server::AnswerRequests;
use std::io;

/// Path prefix for hook events; the name of the agent follows.
const HOOKS: &str = "/hook/";

/// A connection of a program or an agent.
#[derive(Debug)]
pub struct ServeConnection<'a> {
    guard: &'a SessionGuard<'a>,
}

impl<'a> ServeConnection<'a> {
    /// Opens a connection.
    #[must_use]
    pub fn new(guard: &'a SessionGuard<'a>) -> Self {
        Self { guard }
    }

    fn answer(&self, request: &HttpRequest) -> PlainAnswer {
        let path = request.head.uri().path();
        if *request.head.method() != Method::POST {
            return PlainAnswer::refusal(StatusCode::METHOD_NOT_ALLOWED, "a request is a POST with an object");
        }
        // Browsers send forms and plain text to any address without a preflight request.
        let kind = request.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if request.head.headers().contains_key("origin") && !kind.eq_ignore_ascii_case("application/json") {
            return PlainAnswer::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "write `Content-Type: application/json`");
        }
        if path == "/" {
            return PlainAnswer::json(StatusCode::OK, self.guard.answer_request(&request.body));
        }
        let word = path.strip_prefix(HOOKS).unwrap_or_default();
        match Agent::ALL.iter().find(|(known, _)| *known == word) {
            Some((_, agent)) => hook_answer(*agent, self.guard.decide_hook(*agent, &request.body)),
            None => {
                let text = "requests are posted to `/`, and events of hooks to `/hook/AGENT`";
                PlainAnswer::refusal(StatusCode::NOT_FOUND, text)
            }
        }
    }
}

/// Over HTTP there is no exit code, so a denial is an object; an empty object means no decision.
fn hook_answer(agent: Agent, decision: Decision) -> PlainAnswer {
    let decision = if let Decision::Refuse(text) = decision { Decision::Deny(text) } else { decision };
    let answer = agent.answer(&decision);
    match answer.code {
        0 if answer.stdout.is_empty() => PlainAnswer::json(StatusCode::OK, "{}\n".to_owned()),
        0 => PlainAnswer::json(StatusCode::OK, answer.stdout),
        _ => PlainAnswer::refusal(StatusCode::INTERNAL_SERVER_ERROR, answer.stderr.trim_end()),
    }
}

impl AnswerRequests for ServeConnection<'_> {
    fn answer_request(&mut self, request: HttpRequest, reply: HttpReply<'_>) -> io::Result<()> {
        reply.send_plain(&self.answer(&request))
    }

    fn when_gone(&self) -> Box<dyn FnOnce() + Send> {
        Box::new(|| ())
    }
}
