//! Streams as a server sends them (server-sent events): a field a line, of which `data` holds the values.

use super::split;

/// The fields of an event, and its comments.
const FIELDS: [&str; 5] = ["data:", "event:", "id:", "retry:", ":"];
/// Says that a stream of OpenAI is over.
pub(crate) const DONE: &str = "[DONE]";
const NOTHING: &str = "null";

/// Whether a text begins as a stream of events whose data are JSON.
pub(crate) fn is_event_stream(head: &str) -> bool {
    let lines = || split::nonblank_lines(head).map(|(_, line)| line.trim_ascii_start());
    let is_field = |line: &&str| FIELDS.iter().any(|field| line.starts_with(field));
    let data = lines().take_while(is_field).find_map(|line| line.strip_prefix(FIELDS[0]));
    data.map(str::trim_ascii).is_some_and(|data| data == DONE || data.starts_with(['{', '[']))
}

/// The data of each line, with its offset. A line that is no field may be the rest of a value: it is given as it stands.
pub(crate) fn event_values(text: &str) -> impl Iterator<Item = (usize, &str)> {
    split::nonblank_lines(text).filter_map(|(offset, line)| {
        let begin = line.len() - line.trim_ascii_start().len();
        let field = line.get(begin..)?;
        let Some(data) = field.strip_prefix(FIELDS[0]) else {
            return (!FIELDS.iter().any(|name| field.starts_with(name))).then_some((offset, line));
        };
        // A stream that ends may say so with nothing.
        (![DONE, NOTHING].contains(&data.trim_ascii())).then_some((offset + begin + FIELDS[0].len(), data))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_events_are_values_at_their_places() {
        let text = "event: a\ndata: {\"x\": 1}\n\n: ping\ndata:{}\nid: 7\n\ndata: [DONE]\n";
        assert!(is_event_stream(text));
        let found: Vec<_> = event_values(text).collect();
        assert_eq!(found, [(14, " {\"x\": 1}\n"), (37, "{}\n")]);
        assert!(found.iter().all(|(at, data)| text[*at..].starts_with(data)));
    }

    #[test]
    fn other_texts_are_no_streams() {
        for text in ["{\"data\": 1}", "data: yes\n", "", "id: 3\nname: x\n", "datax: {}"] {
            assert!(!is_event_stream(text), "{text}");
        }
    }
}
