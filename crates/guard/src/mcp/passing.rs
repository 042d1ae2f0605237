//! Selects the parts of HTTP messages to forward, and reads messages from answers as they pass through.

use super::proxy::ProxySettings;
use super::run_key::RunKey;
use averment_http::client::agent_settings;
use averment_http::connection::{FRAMING, HttpRequest};
use averment_http::events::{EventStream, StreamedEvent};
use averment_http::http::{HeaderMap, StatusCode, Uri, header, request};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use std::borrow::Cow;

/// Maximum size in bytes of a server message that is read; a longer one is forwarded but not recorded.
const MAX_READ: usize = 8 << 20;

/// A request that was forwarded.
#[derive(Debug, Default)]
pub(super) struct PassedRequest {
    /// Its id from the client.
    pub id: Value,
    /// The run that its answers belong to.
    pub run: Option<RunKey>,
    /// The id of the call that it makes.
    pub call: Option<String>,
}

/// Returns an HTTP agent for one connection; its open requests end with the client.
pub(super) fn server_agent(address: &Uri) -> ureq::Agent {
    let mut settings = agent_settings().user_agent("").accept("").accept_encoding("");
    let host = address.host().unwrap_or_default().trim_matches(['[', ']']);
    if host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()) {
        settings = settings.proxy(None);
    }
    settings.build().into()
}

/// Client headers that are not forwarded, because they concern the guard's own address and the origin check made here.
const OF_CLIENT: [&str; 5] = ["host", "origin", "referer", "expect", "accept-encoding"];
/// Server headers that would lead a client past the guard.
const OF_SERVER: [&str; 3] = ["alt-svc", "strict-transport-security", "clear-site-data"];

/// Returns the client's request for the server, without its body.
pub(super) fn upstream_request(
    request: &HttpRequest,
    settings: &ProxySettings,
    address: &Uri,
) -> Result<request::Builder, (StatusCode, String)> {
    let url = match request.head.uri().query() {
        None => Cow::Borrowed(settings.target.url.as_str()),
        Some(query) => {
            let joint = if address.query().is_some() { '&' } else { '?' };
            Cow::Owned(format!("{}{joint}{query}", settings.target.url))
        }
    };
    let mut sent = request::Request::builder().method(request.head.method()).uri(&*url);
    let own = |name: &str| settings.target.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    for (name, value) in request.head.headers() {
        if !is_framing(request.head.headers(), name.as_str())
            && !OF_CLIENT.contains(&name.as_str())
            && !own(name.as_str())
        {
            sent = sent.header(name, value);
        }
    }
    for (name, value) in &settings.target.headers {
        sent = sent.header(name, value);
    }
    Ok(sent.header(header::ACCEPT_ENCODING, "identity"))
}

/// Copies the headers of an answer that the client gets.
pub(super) fn pass_headers(from: &HeaderMap, to: &mut HeaderMap) {
    for (name, value) in from {
        if !is_framing(from, name.as_str()) && !OF_SERVER.contains(&name.as_str()) {
            to.append(name, value.clone());
        }
    }
}

/// Returns the length of a body if the server states it.
pub(super) fn body_length(headers: &HeaderMap) -> Option<u64> {
    let length = headers.get(header::CONTENT_LENGTH).filter(|_| !headers.contains_key(header::TRANSFER_ENCODING));
    length?.to_str().ok()?.parse().ok()
}

/// True for headers that belong to a single connection, including those named in `Connection`.
fn is_framing(headers: &HeaderMap, name: &str) -> bool {
    let mut named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    FRAMING.contains(&name) || named.any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(name)))
}

/// Decodes a header text, which is wrapped as `=?base64?…?=` if it has non-ASCII characters.
pub(super) fn plain_text(value: &str) -> Option<Cow<'_, str>> {
    let Some(wrapped) = value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = BASE64_STANDARD.decode(wrapped).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Collects the messages of an answer as its bytes pass through.
pub(super) enum AnswerParts {
    Events(EventStream),
    /// A single message; `None` if it is too long.
    Whole(Option<Vec<u8>>),
}

impl AnswerParts {
    pub fn of_kind(headers: &HeaderMap) -> Self {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("text/event-stream") {
            Self::Events(EventStream::new(MAX_READ as u64))
        } else {
            Self::Whole(Some(Vec::new()))
        }
    }

    pub fn is_stream(&self) -> bool {
        matches!(self, Self::Events(_))
    }

    /// True if the message was read completely and no other can follow.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(Some(_)))
    }

    pub fn push_bytes(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        match self {
            Self::Events(stream) => stream.push_bytes(bytes, |event| take_data(event, &mut take)),
            Self::Whole(whole) => {
                if let Some(known) = whole {
                    known.extend_from_slice(bytes);
                }
                if whole.as_ref().is_some_and(|known| known.len() > MAX_READ) {
                    *whole = None;
                }
            }
        }
    }

    pub fn finish(&mut self, mut take: impl FnMut(&[u8])) {
        match self {
            Self::Events(stream) => stream.finish(|event| take_data(event, &mut take)),
            Self::Whole(whole) => whole.iter().for_each(|whole| take(whole)),
        }
    }
}

fn take_data(event: StreamedEvent<'_>, take: &mut impl FnMut(&[u8])) {
    if let StreamedEvent::Data(data) = event {
        take(data);
    }
}
