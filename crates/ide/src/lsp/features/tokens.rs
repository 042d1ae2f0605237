//! Semantic tokens: the class of every word, for editors that color by meaning.

use super::super::analysis::Analysis;
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use super::super::text::Encoding;
use crate::assist::{HighlightClass, HighlightToken, highlight_tokens};
use lsp_types::{
    SemanticToken, SemanticTokens, SemanticTokensParams, SemanticTokensRangeParams, SemanticTokensRangeResult,
    SemanticTokensResult,
};
use std::ops::Range;

/// The types of the legend, by [`HighlightClass`].
pub const TYPES: [&str; 15] = [
    "keyword",
    "operator",
    "enum",
    "event",
    "function",
    "property",
    "variable",
    "parameter",
    "class",
    "type",
    "namespace",
    "enumMember",
    "string",
    "number",
    "regexp",
];
/// The modifiers of the legend; comments have the type after the last one.
pub const MODIFIERS: [&str; 3] = ["declaration", "defaultLibrary", "documentation"];
const DECLARATION: u32 = 1;
const DEFAULT_LIBRARY: u32 = 2;

/// Returns the index in the legend, with modifiers; `None` for comments, which every grammar colors.
fn legend_entry(one: &HighlightToken) -> Option<(u32, u32)> {
    let declares = if one.declares { DECLARATION } else { 0 };
    let (ty, modifiers) = match one.class {
        HighlightClass::Keyword => (0, 0),
        HighlightClass::Operator => (1, 0),
        HighlightClass::StepKind => (2, DEFAULT_LIBRARY),
        HighlightClass::Tool => (3, 0),
        HighlightClass::Function => (4, 0),
        HighlightClass::Field => (5, 0),
        HighlightClass::Root => (6, DEFAULT_LIBRARY),
        HighlightClass::Name => (6, 0),
        HighlightClass::Binding => (7, 0),
        HighlightClass::Rule => (8, 0),
        HighlightClass::Type => (9, 0),
        HighlightClass::Module => (10, 0),
        HighlightClass::Constant => (11, 0),
        HighlightClass::Text => (12, 0),
        HighlightClass::Number => (13, 0),
        HighlightClass::Regex => (14, 0),
        HighlightClass::Comment | HighlightClass::Doc => return None,
    };
    Some((ty, modifiers | declares))
}

/// `textDocument/semanticTokens/full`.
pub fn full_tokens(
    server: &mut LspServer,
    parameters: SemanticTokensParams,
) -> LspResult<Option<SemanticTokensResult>> {
    let encoding = server.encoding;
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    Ok(Some(SemanticTokensResult::Tokens(semantic_tokens(analysis, None, encoding))))
}

/// `textDocument/semanticTokens/range`.
pub fn range_tokens(
    server: &mut LspServer,
    parameters: SemanticTokensRangeParams,
) -> LspResult<Option<SemanticTokensRangeResult>> {
    let encoding = server.encoding;
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    let bytes = analysis.source_file().map(|file| encoding.to_bytes(file, parameters.range));
    Ok(Some(SemanticTokensRangeResult::Tokens(semantic_tokens(analysis, bytes, encoding))))
}

fn semantic_tokens(analysis: &Analysis, within: Option<Range<usize>>, encoding: Encoding) -> SemanticTokens {
    let Some(file) = analysis.source_file() else { return SemanticTokens::default() };
    let mut writer = TokenWriter { text: &file.text, encoding, at: 0, here: (0, 0), last: (0, 0), data: Vec::new() };
    let wanted = |range: &Range<usize>| {
        within.as_ref().is_none_or(|within| range.start < within.end && within.start < range.end)
    };
    for one in highlight_tokens(&file.text).iter().filter(|one| wanted(&one.range)) {
        if let Some((ty, modifiers)) = legend_entry(one) {
            writer.write_token(one.range.clone(), ty, modifiers);
        }
    }
    SemanticTokens { result_id: None, data: writer.data }
}

/// Writes delta-encoded tokens, split at lines. Scans the text once, since a line may be long.
struct TokenWriter<'t> {
    text: &'t str,
    encoding: Encoding,
    /// The offset up to which lines and columns are counted.
    at: usize,
    here: (u32, u32),
    last: (u32, u32),
    data: Vec<SemanticToken>,
}

impl TokenWriter<'_> {
    fn advance_to(&mut self, at: usize) {
        for part in self.text.get(self.at..at).unwrap_or("").split_inclusive('\n') {
            self.here = match part.strip_suffix('\n') {
                Some(_) => (self.here.0.saturating_add(1), 0),
                None => (self.here.0, self.here.1.saturating_add(self.encoding.unit_length(part))),
            };
        }
        self.at = at.max(self.at);
    }

    fn write_token(&mut self, bytes: Range<usize>, token_type: u32, token_modifiers_bitset: u32) {
        let mut at = bytes.start;
        for part in self.text.get(bytes).unwrap_or("").split_inclusive('\n') {
            let length = self.encoding.unit_length(part.trim_end_matches(['\n', '\r']));
            if length > 0 {
                self.advance_to(at);
                let delta_line = self.here.0.saturating_sub(self.last.0);
                let delta_start = if delta_line == 0 { self.here.1.saturating_sub(self.last.1) } else { self.here.1 };
                self.data.push(SemanticToken { delta_line, delta_start, length, token_type, token_modifiers_bitset });
                self.last = self.here;
            }
            at = at.saturating_add(part.len());
        }
    }
}
