//! Lints for regular expressions that mean something else, or more, than they seem to.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_builtins::backtrack::is_beyond_linear;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{
    Atom, Expr, ExprKind, PatternArgument, PatternForm, RegexLiteral, StepPattern, TestKind, ValueTest,
};
use regex_syntax::ast::{AssertionKind, Ast, RepetitionKind, RepetitionOp, RepetitionRange};

/// Runs all lints on single regular expressions.
pub fn regex_lints(context: &mut LintContext<'_>) {
    walk::walk_file(context.ast(), &mut RegexVisitor(context));
}

/// Fields that usually contain more text than an id.
const TEXTS: [&str; 7] = ["result", "text", "output", "content", "body", "prompt", "message"];

struct RegexVisitor<'c, 'a>(&'c mut LintContext<'a>);

impl<'a> SyntaxVisitor<'a> for RegexVisitor<'_, 'a> {
    fn visit_regex(&mut self, regex: &'a RegexLiteral) {
        self.check_backtracking(regex);
        let Some(tree) = parse_regex(regex) else { return };
        self.check_flags(regex, &tree);
        self.check_wildcards(regex, &tree);
        self.matches_all(regex, &tree);
        self.check_hosts(regex);
        self.check_cost(regex, &tree);
    }

    fn visit_test(&mut self, subject: Option<&'a Expr>, test: &'a ValueTest) {
        if let Some(name) = subject.and_then(last_name) {
            self.check_id_mentions(name, test);
        }
        let (TestKind::Matches, Some(operand)) = (test.kind, test.operand.as_deref()) else { return };
        let ExprKind::Regex(regex) = &operand.kind else { return };
        self.check_literal(regex, test);
        if let Some(name) = subject.and_then(last_name) {
            self.check_anchors(regex, name);
        }
    }

    fn visit_step(&mut self, step: &'a StepPattern) {
        let PatternForm::Atom(Atom { arguments: Some(arguments), .. }) = &step.kind else { return };
        for argument in arguments {
            if let PatternArgument::Matches { path, value, .. } = argument
                && let (ExprKind::Regex(regex), Some(name)) = (&value.kind, last_name(path))
            {
                self.check_anchors(regex, name);
            }
        }
    }
}

/// Returns the syntax tree; `None` if the checker rejects the expression or backtracking changes its meaning.
fn parse_regex(regex: &RegexLiteral) -> Option<Ast> {
    let ignore = regex.flags.contains('x');
    if regex.flags.contains('b') && !is_beyond_linear(&regex.pattern, ignore).is_ok_and(|is_beyond| !is_beyond) {
        return None;
    }
    regex_syntax::ast::parse::ParserBuilder::new().ignore_whitespace(ignore).build().parse(&regex.pattern).ok()
}

fn last_name(path: &Expr) -> Option<&str> {
    match &path.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Field { name, .. } => Some(&name.text),
        _ => None,
    }
}

pub(super) fn any_node(tree: &Ast, asked: &dyn Fn(&Ast) -> bool) -> bool {
    asked(tree)
        || stacker::maybe_grow(64 << 10, 1 << 20, || match tree {
            Ast::Repetition(repetition) => any_node(&repetition.ast, asked),
            Ast::Group(group) => any_node(&group.ast, asked),
            Ast::Alternation(alternation) => alternation.asts.iter().any(|one| any_node(one, asked)),
            Ast::Concat(concat) => concat.asts.iter().any(|one| any_node(one, asked)),
            _ => false,
        })
}

fn top_elements(tree: &Ast) -> Vec<&Ast> {
    match tree {
        Ast::Concat(concat) => concat.asts.iter().collect(),
        Ast::Empty(_) => Vec::new(),
        other => vec![other],
    }
}

struct PlainRegex {
    start: bool,
    text: String,
    end: bool,
}

fn plain_regex(tree: &Ast) -> Option<PlainRegex> {
    let mut found = PlainRegex { start: false, text: String::new(), end: false };
    let all = top_elements(tree);
    for (index, one) in all.iter().enumerate() {
        match one {
            Ast::Literal(literal) => found.text.push(literal.c),
            Ast::Assertion(assertion) if assertion.kind == AssertionKind::StartLine && index == 0 => found.start = true,
            Ast::Assertion(assertion) if assertion.kind == AssertionKind::EndLine && index + 1 == all.len() => {
                found.end = true;
            }
            _ => return None,
        }
    }
    (!found.text.is_empty()).then_some(found)
}

/// Returns a text in quotes, in the notation of rules.
pub fn quote_text(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '$' => out.push_str("\\$"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other if other.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(other))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

impl<'a> RegexVisitor<'_, 'a> {
    /// Reports `matches /sorry/`, which is equivalent to `contains "sorry"`.
    fn check_literal(&mut self, regex: &RegexLiteral, test: &ValueTest) {
        let flags = regex.flags.as_str();
        let Some(plain) = parse_regex(regex).as_ref().and_then(plain_regex).filter(|_| matches!(flags, "" | "i" | "u"))
        else {
            return;
        };
        let ignores = flags == "i";
        let kind = match (plain.start, plain.end, ignores) {
            (false, false, true) if plain.text.is_ascii() && !test.negated => TestKind::ContainsIgnoringCase,
            (_, _, true) => return,
            (false, false, false) => TestKind::Contains,
            (true, false, false) => TestKind::StartsWith,
            (false, true, false) => TestKind::EndsWith,
            (true, true, false) => TestKind::Equal,
        };
        let word = if test.negated { kind.negated() } else { kind.written().to_owned() };
        let written = format!("{word} {}", quote_text(&plain.text));
        let diagnostic =
            Diagnostic::new(Slug::RegexIsLiteral, test.span, "a regular expression without anything regular in it")
                .with_help(format!("write `{written}`"));
        // `contains` also finds elements of lists and keys of objects, and `!=` passes for values that are not texts. Only the author knows if that
        // is intended, so there is no fix.
        let same = !word.contains("contains") && !word.contains('=');
        self.0.report(if same { diagnostic.with_fix("compare with the text", test.span, written) } else { diagnostic });
    }

    fn check_flags(&mut self, regex: &RegexLiteral, tree: &Ast) {
        let start = (regex.span.end as usize).saturating_sub(regex.flags.len());
        for (at, flag) in regex.flags.char_indices() {
            let (needed, what) = match flag {
                'i' => (any_node(tree, &has_letter_case), "there is no letter in it"),
                'm' => (any_node(tree, &is_line_anchor), "there is no `^` or `$` in it"),
                's' => (any_node(tree, &|one| matches!(one, Ast::Dot(_))), "there is no `.` in it"),
                _ => continue,
            };
            if needed || any_node(tree, &|one| matches!(one, Ast::Flags(_))) {
                continue;
            }
            let place =
                Span::new(regex.span.file, start.saturating_add(at), start.saturating_add(at).saturating_add(1));
            self.0.report(
                Diagnostic::new(Slug::RedundantFlag, place, format!("the flag `{flag}` changes nothing: {what}"))
                    .with_help("remove it")
                    .with_fix("remove the flag", place, ""),
            );
        }
    }

    /// Reports backtracking patterns that do not need it, because backtracking may be aborted, while linear matching never is.
    fn check_backtracking(&mut self, regex: &RegexLiteral) {
        let start = (regex.span.end as usize).saturating_sub(regex.flags.len());
        let Some(at) = regex.flags.find('b') else { return };
        let place = Span::new(regex.span.file, start.saturating_add(at), start.saturating_add(at).saturating_add(1));
        match is_beyond_linear(&regex.pattern, regex.flags.contains('x')) {
            Ok(true) => self.0.report(
                Diagnostic::new(
                    Slug::Backtracking,
                    place,
                    "this tries one way to match after the other: where that takes too long, the verdict is an error",
                )
                .with_help("say it in linear tests where that can be: `\\b` for the edge of a word, `and not matches /…/` for what may not be there"),
            ),
            Ok(false) if regex::Regex::new(&regex.pattern).is_ok() => self.0.report(
                Diagnostic::new(
                    Slug::RedundantFlag,
                    place,
                    "the flag `b` is not needed: there is no look-around and no back-reference in it",
                )
                .with_help("remove it: linear matching never takes too long")
                .with_fix("remove the flag", place, ""),
            ),
            _ => {}
        }
    }

    /// Reports `.*sorry.*`: a search needs no wildcard at its ends.
    fn check_wildcards(&mut self, regex: &RegexLiteral, tree: &Ast) {
        let all = top_elements(tree);
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
        let ends: Vec<&Ast> = if all.len() < 2 { Vec::new() } else { vec![*first, *last] }
            .into_iter()
            .filter(|one| is_any_text(one))
            .collect();
        for end in ends {
            let span = end.span();
            let from = regex.pattern_span.start as usize;
            let place = Span::new(
                regex.span.file,
                from.saturating_add(span.start.offset),
                from.saturating_add(span.end.offset),
            );
            self.0.report(
                Diagnostic::new(
                    Slug::RedundantWildcard,
                    place,
                    "`matches` searches: this adds nothing at the end of a pattern",
                )
                .with_help("remove it; `^` and `$` say where a text begins and ends")
                .with_fix("remove the wildcard", place, ""),
            );
        }
    }

    fn matches_all(&mut self, regex: &RegexLiteral, tree: &Ast) {
        let anchored = any_node(tree, &|one| matches!(one, Ast::Assertion(_)));
        let flags = if regex.flags.contains('x') { "(?x)" } else { "" };
        let compiled = regex::RegexBuilder::new(&format!("{flags}{}", regex.pattern)).size_limit(1 << 20).build();
        if anchored || !compiled.is_ok_and(|compiled| compiled.is_match("")) {
            return;
        }
        self.0.report(
            Diagnostic::new(
                Slug::RegexMatchesEmpty,
                regex.span,
                "this finds the empty text, and that is in every text",
            )
            .with_help("say what has to be there at least, or where the text begins and ends: `/^\\d+$/`"),
        );
    }

    /// Reports an id compared with an unanchored pattern, which longer texts match too.
    fn check_anchors(&mut self, regex: &RegexLiteral, name: &str) {
        let lower = name.to_ascii_lowercase();
        let is_id = ["id", "uuid", "email", "sha", "iban"].iter().any(|word| {
            lower == *word || lower.ends_with(&format!("_{word}")) || (*word == "id" && name.ends_with("Id"))
        });
        let Some(tree) = parse_regex(regex).filter(|_| is_id) else { return };
        let varies =
            any_node(&tree, &|one| matches!(one, Ast::Repetition(_) | Ast::ClassPerl(_) | Ast::ClassBracketed(_)));
        let anchored = any_node(&tree, &|one| matches!(one, Ast::Assertion(_)));
        if !varies || anchored {
            return;
        }
        let written = format!("/^{}$/{}", regex.pattern, regex.flags);
        let alternatives = matches!(tree, Ast::Alternation(_));
        let written = if alternatives { format!("/^({})$/{}", regex.pattern, regex.flags) } else { written };
        self.0.report(
            Diagnostic::new(
                Slug::UnanchoredId,
                regex.span,
                format!("this is found inside longer texts too: `{name}` may have anything around it"),
            )
            .with_help(format!("write `{written}`"))
            .with_fix("match the whole text", regex.span, written),
        );
    }

    /// Reports `result contains $id`, which also matches a longer id.
    fn check_id_mentions(&mut self, name: &str, test: &ValueTest) {
        let (TestKind::Contains, Some(operand)) = (test.kind, test.operand.as_deref()) else { return };
        let ExprKind::Binding(binding) = &operand.kind else { return };
        if !TEXTS.contains(&name) {
            return;
        }
        let word = if test.negated { TestKind::Mentions.negated() } else { TestKind::Mentions.written().to_owned() };
        let written = format!("{word} ${binding}");
        self.0.report(
            Diagnostic::new(
                Slug::UnanchoredId,
                test.span,
                format!("a longer one contains it, too: with `o-1` for `${binding}` this holds of `o-12`"),
            )
            .with_help(format!("write `{written}`"))
            .with_fix("look for the whole token", test.span, written),
        );
    }

    /// Reports `shop.example.com`, in which the dots match any character.
    fn check_hosts(&mut self, regex: &RegexLiteral) {
        let pattern = regex.pattern.as_str();
        let letters: Vec<(usize, char)> = pattern.char_indices().collect();
        let name = |at: Option<&(usize, char)>| at.is_some_and(|(_, letter)| letter.is_ascii_alphanumeric());
        for (index, (at, _)) in letters.iter().enumerate().filter(|(_, (_, letter))| *letter == '.') {
            let before = index.checked_sub(1).and_then(|index| letters.get(index));
            let after: String = pattern
                .get(at.saturating_add(1)..)
                .unwrap_or("")
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect();
            let behind = pattern.get(at.saturating_add(1).saturating_add(after.len())..).unwrap_or("");
            // A letter after a backslash is a class, not part of a name.
            let escaped =
                index.checked_sub(2).and_then(|index| letters.get(index)).is_some_and(|(_, one)| *one == '\\');
            let ends = behind.is_empty() || behind.starts_with(['/', '$', ':', ')', '|']) || behind.starts_with("\\/");
            if !name(before) || escaped || !TOP_LEVEL.contains(&after.as_str()) || !ends {
                continue;
            }
            let from = (regex.pattern_span.start as usize).saturating_add(*at);
            let place = Span::new(regex.span.file, from, from.saturating_add(1));
            self.0.report(
                Diagnostic::new(
                    Slug::UnescapedDot,
                    place,
                    format!("this dot stands for any character, not only before `{after}`"),
                )
                .with_help("write `\\.`")
                .with_fix("escape the dot", place, "\\."),
            );
        }
    }

    /// Reports nested counted repetitions, because their counts multiply.
    fn check_cost(&mut self, regex: &RegexLiteral, tree: &Ast) {
        let states = count_states(tree);
        if states > STATES {
            self.0.report(
                Diagnostic::new(
                    Slug::ExpensiveRegex,
                    regex.span,
                    format!("counted repetitions make about {states} states of this: it is slow to build and to run"),
                )
                .with_help("write `*` or `+` for a large upper end, and test the length with `length(…)`"),
            );
        }
    }
}

/// Top-level domains that are likely in rules.
const TOP_LEVEL: &[&str] = &[
    "com", "org", "net", "io", "dev", "ai", "app", "edu", "gov", "cn", "de", "uk", "eu", "fr", "jp", "example", "test",
    "cloud", "info", "co", "us",
];
/// Maximum number of states of a pattern that is still cheap.
const STATES: u64 = 2_000;

fn has_letter_case(one: &Ast) -> bool {
    match one {
        Ast::Literal(literal) => literal.c.is_alphabetic(),
        Ast::ClassBracketed(_) | Ast::ClassUnicode(_) => true,
        _ => false,
    }
}

fn is_line_anchor(one: &Ast) -> bool {
    matches!(one, Ast::Assertion(assertion) if matches!(assertion.kind, AssertionKind::StartLine | AssertionKind::EndLine))
}

fn is_any_text(one: &Ast) -> bool {
    let Ast::Repetition(repetition) = one else { return false };
    matches!(repetition.op.kind, RepetitionKind::ZeroOrMore) && matches!(*repetition.ast, Ast::Dot(_))
}

fn count_states(tree: &Ast) -> u64 {
    stacker::maybe_grow(64 << 10, 1 << 20, || match tree {
        Ast::Repetition(repetition) => count_states(&repetition.ast).saturating_mul(repetition_copies(&repetition.op)),
        Ast::Group(group) => count_states(&group.ast),
        Ast::Alternation(alternation) => alternation.asts.iter().map(count_states).fold(0, u64::saturating_add),
        Ast::Concat(concat) => concat.asts.iter().map(count_states).fold(0, u64::saturating_add),
        _ => 1,
    })
}

fn repetition_copies(op: &RepetitionOp) -> u64 {
    match op.kind {
        RepetitionKind::Range(
            RepetitionRange::Exactly(most) | RepetitionRange::AtLeast(most) | RepetitionRange::Bounded(_, most),
        ) => u64::from(most).max(1),
        _ => 1,
    }
}
