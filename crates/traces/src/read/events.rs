//! Streams as a server sends them (server-sent events): a field a line, of which `data` holds the values.

use super::split;
use bumpalo::Bump;

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
pub(crate) fn event_values<'t>(text: &'t str, arena: &'t Bump) -> impl Iterator<Item = (usize, &'t str)> {
    // Up to where a value was joined, and up to where none can be.
    let (mut given, mut broken) = (0, 0);
    split::nonblank_lines(text).filter_map(move |(offset, line)| {
        if offset < given {
            return None;
        }
        let begin = line.len() - line.trim_ascii_start().len();
        let field = line.get(begin..)?;
        let Some(data) = field.strip_prefix(FIELDS[0]) else {
            return (!FIELDS.iter().any(|name| field.starts_with(name))).then_some((offset, line));
        };
        let (start, end) = (offset + begin + FIELDS[0].len(), offset + line.len());
        if offset >= broken && goes_on(text, start, end) {
            let (value, behind) = join_lines(text, start, end);
            if is_one_value(&value) {
                given = behind;
                return Some((start, &*arena.alloc_str(&value)));
            }
            broken = behind;
        }
        // A stream that ends may say so with nothing.
        (![DONE, NOTHING].contains(&data.trim_ascii())).then_some((start, data))
    })
}

/// Whether the value of a line is not over, and more data follow: many programs leave out the empty line behind an event.
fn goes_on(text: &str, start: usize, end: usize) -> bool {
    let line = text.get(..end).unwrap_or_default();
    text.get(end..).is_some_and(|rest| rest.starts_with(FIELDS[0]))
        && split::end_of_value(line, split::skip_blank(line, start)).is_none()
}

/// The data of the lines of one event from a place on, and where they end. Between two lines of a value may be white space, so that each
/// stays at its place.
fn join_lines(text: &str, start: usize, first_end: usize) -> (String, usize) {
    let mut value = text.get(start..first_end).unwrap_or_default().to_owned();
    let mut end = first_end;
    while let Some(rest) = text.get(end..).and_then(|rest| rest.strip_prefix(FIELDS[0])) {
        let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        value.extend(std::iter::repeat_n(' ', FIELDS[0].len()));
        value.push_str(rest.get(..length).unwrap_or_default());
        end += FIELDS[0].len() + length;
    }
    (value, end)
}

fn is_one_value(text: &str) -> bool {
    split::end_of_value(text, split::skip_blank(text, 0)).is_some_and(|end| split::skip_blank(text, end) == text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_events_are_values_at_their_places() {
        let text = "event: a\ndata: {\"x\": 1}\n\n: ping\ndata:{}\nid: 7\n\ndata: [DONE]\n";
        assert!(is_event_stream(text));
        let arena = Bump::new();
        let found: Vec<_> = event_values(text, &arena).collect();
        assert_eq!(found, [(14, " {\"x\": 1}\n"), (37, "{}\n")]);
        assert!(found.iter().all(|(at, data)| text[*at..].starts_with(data)));
    }

    #[test]
    fn a_value_may_stand_in_several_lines_of_an_event() {
        let arena = Bump::new();
        let text = "event: a\ndata: {\ndata:  \"x\": [1]\r\ndata: }\n\ndata: {}\ndata: [{\ndata: }]\n";
        assert!(is_event_stream(text));
        let found: Vec<_> = event_values(text, &arena).collect();
        assert_eq!(found, [(14, " {\n       \"x\": [1]\r\n      }\n"), (48, " {}\n"), (57, " [{\n      }]\n")]);
        // One that does not end is none, and neither is what follows it.
        let text = "data: {\ndata: {}\ndata: [\ndata: 1\n";
        let found: Vec<_> = event_values(text, &arena).map(|(_, data)| data.trim_ascii()).collect();
        assert_eq!(found, ["{", "{}", "[", "1"]);
    }

    #[test]
    fn other_texts_are_no_streams() {
        for text in ["{\"data\": 1}", "data: yes\n", "", "id: 3\nname: x\n", "datax: {}"] {
            assert!(!is_event_stream(text), "{text}");
        }
    }
}
