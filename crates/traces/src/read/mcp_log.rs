//! Logs that Claude Desktop writes for each MCP server: lines of text, of which some hold a message.

use super::split;

/// What stands in front of a message, whichever way it went.
const SENT: [&str; 2] = ["Message from client: ", "Message from server: "];
/// A line begins with a time of this length, and names in brackets.
const TIME: &str = "0000-00-00T00:00:00.000Z [";

/// Whether the first line has the form of such a log.
pub(super) fn is_mcp_log(head: &str) -> bool {
    let first = split::nonblank_lines(head).next().map_or("", |(_, line)| line);
    let is_like = |(byte, form): (u8, u8)| if form == b'0' { byte.is_ascii_digit() } else { byte == form };
    let rest = first.get(TIME.len()..).unwrap_or_default();
    first.len() > TIME.len()
        && first.bytes().zip(TIME.bytes()).all(is_like)
        && rest.contains("] [")
        && !rest.contains("] {")
}

/// The messages, with their offsets. One that is cut off is given as far as it goes: it is no value.
pub(super) fn logged_messages(text: &str) -> impl Iterator<Item = (usize, &str)> {
    split::nonblank_lines(text).filter_map(|(offset, line)| {
        let start = SENT.iter().filter_map(|mark| Some(line.find(mark)? + mark.len())).min()?;
        let value = line.get(start..)?;
        let end = split::end_of_value(value, 0).unwrap_or(value.len());
        Some((offset + start, value.get(..end)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stand_behind_their_direction() {
        let text = "2026-04-11T10:00:00.101Z [a] [info] Initializing server... { metadata: undefined }\n\
            2026-04-11T10:00:00.140Z [a] [info] Message from client: {\"method\": \"x\"} { metadata: undefined }\n\
            2026-04-11T10:00:00.150Z [a] [info] Message from server: {\"id\": ...[9 chars truncated]\n";
        assert!(is_mcp_log(text));
        let found: Vec<_> = logged_messages(text).collect();
        assert!(found.iter().all(|(at, value)| text[*at..].starts_with(value)));
        assert_eq!(found.iter().map(|(_, value)| *value).next(), Some("{\"method\": \"x\"}"));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn other_texts_are_no_such_logs() {
        for text in [
            "",
            "{}",
            "2026-04-11 [a] [b]",
            "2026-04-11T10:00:00.101Z [a] {\"x\": 1}",
            "2026-04-11T10:00:00.101Z [a] text",
        ] {
            assert!(!is_mcp_log(text), "{text}");
        }
    }
}
