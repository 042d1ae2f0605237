//! Lowers tests: `== 3`, `not matches /x/`, `is json Refund`.

use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{Expr, Name, TestKind, ValueTest};
use crate::grammar::Rule;
use averment_base::source::Span;

/// The words of a test, without `not`, and its positive form. The first row whose words all occur counts.
const WORDS: &[(&[Rule], TestKind)] = &[
    (&[Rule::k_is, Rule::k_json], TestKind::IsJson),
    (&[Rule::k_contains, Rule::k_json], TestKind::ContainsJson),
    (&[Rule::k_contains, Rule::k_all], TestKind::ContainsAll),
    (&[Rule::k_contains, Rule::k_any], TestKind::ContainsAny),
    (&[Rule::k_contains, Rule::k_none], TestKind::ContainsNone),
    (&[Rule::k_is, Rule::k_empty], TestKind::IsEmpty),
    (&[Rule::k_is, Rule::k_missing], TestKind::IsMissing),
    (&[Rule::k_is], TestKind::Is),
    (&[Rule::k_in], TestKind::In),
    (&[Rule::k_contains], TestKind::Contains),
    (&[Rule::k_contain], TestKind::Contains),
    (&[Rule::k_icontains], TestKind::ContainsIgnoringCase),
    (&[Rule::k_mentions], TestKind::Mentions),
    (&[Rule::k_mention], TestKind::Mentions),
    (&[Rule::k_matches], TestKind::Matches),
    (&[Rule::k_match], TestKind::Matches),
    (&[Rule::k_starts], TestKind::StartsWith),
    (&[Rule::k_start], TestKind::StartsWith),
    (&[Rule::k_ends], TestKind::EndsWith),
    (&[Rule::k_end], TestKind::EndsWith),
    (&[Rule::k_exists], TestKind::Exists),
];

/// Returns the positive form of a comparison sign, and whether the sign negates it.
fn sign_kind(text: &str) -> (TestKind, bool) {
    match text {
        "==" => (TestKind::Equal, false),
        "!=" => (TestKind::Equal, true),
        "===" => (TestKind::Identical, false),
        "!==" => (TestKind::Identical, true),
        "<" => (TestKind::Less, false),
        "<=" => (TestKind::LessOrEqual, false),
        ">" => (TestKind::Greater, false),
        _ => (TestKind::GreaterOrEqual, false),
    }
}

/// The parts of a test found so far.
#[derive(Default)]
struct TestParts {
    words: Vec<Rule>,
    sign: Option<(TestKind, bool)>,
    negated: bool,
    operand: Option<Expr>,
    name: Option<Name>,
    operator: Option<Span>,
}

impl SyntaxLowering<'_> {
    /// Lowers a test without its subject, also the test of `count`.
    pub(super) fn lower_test(&mut self, node: GrammarPair<'_>) -> Option<ValueTest> {
        let span = self.node_span(&node);
        let mut found = TestParts::default();
        for child in NodeChildren::of_node(node) {
            self.test_part(child, &mut found)?;
        }
        let by_words = || {
            let row = WORDS.iter().find(|(words, _)| words.iter().all(|word| found.words.contains(word)));
            row.map(|(_, kind)| (*kind, found.negated))
        };
        let (kind, negated) = found.sign.or_else(by_words)?;
        let operator = found.operator.unwrap_or(span);
        Some(ValueTest { kind, negated, operand: found.operand.map(Box::new), name: found.name, operator, span })
    }

    fn test_part(&mut self, node: GrammarPair<'_>, found: &mut TestParts) -> Option<()> {
        let span = self.node_span(&node);
        match node.as_rule() {
            Rule::value => {
                found.operand = Some(self.lower_value(node)?);
                return Some(());
            }
            Rule::schema_name | Rule::type_name => {
                found.name = Some(self.node_name(&node));
                return Some(());
            }
            Rule::test_sign => found.sign = Some(sign_kind(node.as_str())),
            Rule::k_not => found.negated = !found.negated,
            word => found.words.push(word),
        }
        found.operator = Some(found.operator.map_or(span, |before| before.cover_with(span)));
        Some(())
    }
}
