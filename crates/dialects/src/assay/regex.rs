//! Regular expressions as literals of the language.

use super::AssayLowering;
use crate::regex_flavour::{self, UnusableRegex};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

impl AssayLowering<'_, '_> {
    pub(super) fn regex_literal(&mut self, node: &YamlNode, flags: &str) -> Option<String> {
        let pattern = self.low.sink.as_text(node, "the regular expression")?;
        match regex_flavour::translate_rust(pattern) {
            Ok(literal) => {
                let own = literal.text.rsplit_once('/').map_or("", |(_, own)| own);
                let new: String = flags.chars().filter(|flag| !own.contains(*flag)).collect();
                Some(format!("{}{new}", literal.text))
            }
            Err(UnusableRegex { why, .. }) => {
                let message = format!("the regular expression cannot be read: {why}");
                let help = "write one without look-around and back-references, in single quotes";
                self.low.sink.error(Slug::BadRegex, node.span, message, help);
                None
            }
        }
    }
}

pub(super) fn may_be_empty(node: &YamlNode) -> bool {
    let parsed = node.as_text().and_then(|pattern| regex_syntax::Parser::new().parse(pattern).ok());
    parsed.is_none_or(|parsed| parsed.properties().minimum_len().unwrap_or(0) == 0)
}
