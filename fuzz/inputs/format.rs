//! The formatter: what it writes is formatted, and the same program.

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_syntax::ast;
use averment_syntax::fmt::{FormatOptions, format_text};

/// Formats an input.
pub fn run(bytes: &[u8]) {
    let (width, rest) = bytes.split_first().map_or((100, bytes), |(first, rest)| (20 + usize::from(first % 100), rest));
    let text = String::from_utf8_lossy(rest);
    let options = FormatOptions { width, ..FormatOptions::default() };
    let Ok(formatted) = format_text(&text, &options) else { return };
    assert_eq!(format_text(&formatted, &options).as_deref(), Ok(formatted.as_str()), "what is formatted changes again");
    assert!(ast::same_meaning(&tree(&text), &tree(&formatted)), "another program:\n{formatted}");
}

fn tree(text: &str) -> ast::RuleFile {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    averment_syntax::parse(&map, file, &Limits::default()).0
}
