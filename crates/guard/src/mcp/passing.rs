//! What of HTTP is passed on, and what of an answer is read on its way.

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

/// The longest message of a server that is read: what a longer one says is not recorded.
const MAX_READ: usize = 8 << 20;

/// A request that was passed on.
#[derive(Debug, Default)]
pub(super) struct PassedRequest {
    /// Its id, as the client gave it.
    pub id: Value,
    /// The run that its answers belong to.
    pub run: Option<RunKey>,
    /// The call that it makes.
    pub call: Option<String>,
}

/// An agent for one connection: what it holds open ends with the client.
pub(super) fn server_agent(address: &Uri) -> ureq::Agent {
    let mut settings = agent_settings().user_agent("").accept("").accept_encoding("");
    let host = address.host().unwrap_or_default().trim_matches(['[', ']']);
    if host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()) {
        settings = settings.proxy(None);
    }
    settings.build().into()
}

/// Headers of a client that are not for the server: where it listens, and from which page it is asked, was looked at here.
const OF_CLIENT: [&str; 5] = ["host", "origin", "referer", "expect", "accept-encoding"];
/// Headers of a server that would lead a client past the guard.
const OF_SERVER: [&str; 3] = ["alt-svc", "strict-transport-security", "clear-site-data"];

/// A request of a client as the server gets it, without its body.
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

/// The headers of an answer that the client gets.
pub(super) fn pass_headers(from: &HeaderMap, to: &mut HeaderMap) {
    for (name, value) in from {
        if !is_framing(from, name.as_str()) && !OF_SERVER.contains(&name.as_str()) {
            to.append(name, value.clone());
        }
    }
}

/// How long a body is, where the server says so.
pub(super) fn body_length(headers: &HeaderMap) -> Option<u64> {
    let length = headers.get(header::CONTENT_LENGTH).filter(|_| !headers.contains_key(header::TRANSFER_ENCODING));
    length?.to_str().ok()?.parse().ok()
}

/// What belongs to one connection, and what `Connection` says does.
fn is_framing(headers: &HeaderMap, name: &str) -> bool {
    let mut named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    FRAMING.contains(&name) || named.any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(name)))
}

/// The text of a header that may be wrapped, as names are that are no plain letters: `=?base64?…?=`.
pub(super) fn plain_text(value: &str) -> Option<Cow<'_, str>> {
    let Some(wrapped) = value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = BASE64_STANDARD.decode(wrapped).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// The messages of an answer, as its bytes come by.
pub(super) enum AnswerParts {
    Events(EventStream),
    /// One message; `None` where it is too long.
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

    /// True if nothing of it went by unread, and nothing more can come.
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
