//! Recordings of httprr, as tests of Go programs keep them: each exchange as it was sent, behind the lengths of its request and response.

use super::cassette::computed_object;
use crate::adapt::http_exchanges::HttpKey;
use averment_base::value::{Node, Number, Value};
use bumpalo::Bump;

const FIRST_LINE: &str = "httprr trace v1";

pub(super) fn is_recording(head: &str) -> bool {
    head.starts_with(FIRST_LINE)
}

/// The exchanges in the form of a cassette. One that is cut off ends them, with no response; so does what begins with no lengths.
pub(super) fn read_recording<'run>(text: &'run str, arena: &'run Bump) -> Node<'run> {
    let mut rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    let mut exchanges = Vec::new();
    while !rest.trim_ascii().is_empty() {
        let Some((sent, received, behind)) = read_lengths(rest) else {
            let body = [(HttpKey::Body.key(), Node::computed(Value::plain_text(rest)))];
            exchanges.push(computed_object(&[(HttpKey::Request.key(), computed_object(&body, arena))], arena));
            break;
        };
        let (request, behind) = behind.split_at_checked(sent).unwrap_or((behind, ""));
        let (response, behind) = behind.split_at_checked(received).unwrap_or((behind, ""));
        exchanges.push(computed_object(
            &[
                (HttpKey::Request.key(), http_message(request, arena)),
                (HttpKey::Response.key(), http_message(response, arena)),
            ],
            arena,
        ));
        rest = behind;
    }
    let list = Node::computed(Value::List(arena.alloc_slice_copy(&exchanges)));
    computed_object(&[(HttpKey::Interactions.key(), list)], arena)
}

/// The lengths of a request and a response, and what is behind their line.
fn read_lengths(text: &str) -> Option<(usize, usize, &str)> {
    let (lengths, behind) = text.split_once('\n')?;
    let mut numbers = lengths.split_whitespace().map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??, behind))
}

fn http_message<'run>(message: &'run str, arena: &'run Bump) -> Node<'run> {
    let end_of_headers = ["\r\n\r\n", "\n\n"].into_iter().find_map(|blank| message.split_once(blank));
    let (headers, body) = end_of_headers.unwrap_or((message, ""));
    let mut entries = vec![(HttpKey::Body.key(), Node::computed(Value::plain_text(body)))];
    let status = headers.split_whitespace().nth(1).and_then(Number::from_spelling);
    entries.extend(status.map(|status| (HttpKey::Status.key(), Node::computed(Value::Number(status)))));
    computed_object(&entries, arena)
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::value::json::to_json;

    #[test]
    fn exchanges_are_cut_by_their_lengths() {
        let request = "POST / HTTP/1.1\r\nHost: a\r\n\r\n{\"x\": \"ä\"}";
        let response = "HTTP/2.0 200 OK\r\n\r\n{}";
        let whole = format!("{FIRST_LINE}\n{} {}\n{request}{response}", request.len(), response.len());
        let text = format!("{whole}{} 900\n{request}", request.len());
        assert!(is_recording(&text));
        let json = to_json(&read_recording(&text, &Bump::new()).value);
        let sent = r#"{"parsed_body":"{\"x\": \"ä\"}"}"#;
        let cut = format!(
            r#"{{"interactions":[{{"request":{sent},"response":{{"parsed_body":"{{}}","status":200}}}},{{"request":{sent},"response":{{"parsed_body":""}}}}]}}"#
        );
        assert_eq!(json, cut);
        let json = to_json(&read_recording(&format!("{whole}x y\n{request}"), &Bump::new()).value);
        assert!(json.contains(r#"{"request":{"parsed_body":"x y\nPOST"#), "{json}");
    }
}
