//! Lint for texts that are written as patterns but compared literally: `contains "Ref.*"`, `user "*refund*"`.

use super::context::LintContext;
use super::pattern_signs::{PatternSign, TextPlace, sign_of, slashed_regex};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{
    Atom, AtomSubject, Expr, ExprKind, ExprQuantifier, GroupKind, ItemKind, KindText, Name, PatternArgument,
    PatternForm, Quantifier, Statement, StatementKind, StepPattern, StepWord, SyntaxItem, TestKind, TextLiteral,
    ValueTest,
};
use std::collections::HashMap;

/// Reports regular expressions and globs where text is searched.
pub fn patterns_as_text(context: &mut LintContext<'_>) {
    let mut uses = TextUses::default();
    walk::walk_file(context.ast(), &mut uses);
    let mut visitor = PatternVisitor { context, uses };
    walk::walk_file(visitor.context.ast(), &mut visitor);
}

/// The texts of a file that reach tests by a name, and the places in which a rule holds because a text is never found.
#[derive(Default)]
struct TextUses<'a> {
    /// Values of `let` and `param`.
    named: HashMap<&'a str, &'a Expr>,
    /// Each `def` with its parameters.
    definitions: Vec<(Span, &'a str, &'a [Name])>,
    /// Arguments of the calls by the name of the function.
    calls: HashMap<&'a str, Vec<&'a [Expr]>>,
    /// Negations: `never …`, `not …`.
    denied: Vec<Span>,
}

impl<'a> SyntaxVisitor<'a> for TextUses<'a> {
    fn visit_item(&mut self, item: &'a SyntaxItem) {
        match &item.kind {
            ItemKind::Let { name, value } => _ = self.named.insert(&name.text, value),
            ItemKind::Param(param) => {
                if let Some(value) = &param.default {
                    self.named.insert(&param.name.text, value);
                }
            }
            ItemKind::Def { name, parameters, .. } => self.definitions.push((item.span, &name.text, parameters)),
            _ => {}
        }
    }

    fn visit_statement(&mut self, statement: &'a Statement) {
        let is_denial = match &statement.kind {
            StatementKind::Never { .. } | StatementKind::Not(_) | StatementKind::Repeat { .. } => true,
            StatementKind::Each { quantifier, .. } => *quantifier == Quantifier::No,
            StatementKind::Group { kind, .. } => matches!(kind, GroupKind::None),
            StatementKind::Count { test, .. } => is_upper_bound(test),
            _ => false,
        };
        if is_denial {
            self.denied.push(statement.span);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Not(_) | ExprKind::Quantifier { quantifier: ExprQuantifier::No, .. } => {
                self.denied.push(expr.span);
            }
            ExprKind::Call { name, arguments, .. } => self.calls.entry(&name.text).or_default().push(arguments),
            _ => {}
        }
    }

    fn visit_test(&mut self, subject: Option<&'a Expr>, test: &'a ValueTest) {
        if test.negated || test.kind == TestKind::ContainsNone {
            let start = subject.map_or(test.span.start, |subject| subject.span.start);
            self.denied.push(Span { start, ..test.span });
        }
    }
}

impl<'a> TextUses<'a> {
    /// The texts that an operand consists of; those of a parameter stand in the calls of its function.
    fn texts_of(&self, operand: &'a Expr) -> Vec<&'a TextLiteral> {
        match &operand.kind {
            ExprKind::Text(text) => vec![text],
            ExprKind::Name(name) => {
                let values =
                    self.arguments_of(name, operand.span).or_else(|| Some(vec![*self.named.get(name.as_str())?]));
                values.into_iter().flatten().flat_map(|value| self.written_texts(value)).collect()
            }
            ExprKind::Group(inner) => self.texts_of(inner),
            ExprKind::List(elements) => elements.iter().flat_map(|element| self.texts_of(element)).collect(),
            _ => Vec::new(),
        }
    }

    /// A text, or the text behind a name of the file. Names are followed once, so that no circle of definitions is.
    fn written_texts(&self, value: &'a Expr) -> Option<&'a TextLiteral> {
        match &value.kind {
            ExprKind::Text(text) => Some(text),
            ExprKind::Name(name) => match &self.named.get(name.as_str())?.kind {
                ExprKind::Text(text) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The arguments that a parameter is given; `None` for a name that is no parameter of the `def` around it.
    fn arguments_of(&self, name: &str, at: Span) -> Option<Vec<&'a Expr>> {
        let around = self.definitions.iter().find(|(span, ..)| encloses(*span, at));
        let (_, function, parameters) = around?;
        let place = parameters.iter().position(|parameter| parameter.text == name)?;
        let calls = self.calls.get(function).into_iter().flatten();
        Some(calls.filter_map(|arguments| arguments.get(place)).collect())
    }

    /// True if a rule holds where a text is not found by a test: negations around the test count, and those around the call that gives the text.
    fn is_denied(&self, test: Span, text: Span) -> bool {
        let negations = |place: Span| self.denied.iter().filter(|around| encloses(**around, place)).count();
        let of_call = if encloses(test, text) { 0 } else { negations(text) };
        (negations(test) + of_call) % 2 == 1
    }
}

fn encloses(around: Span, place: Span) -> bool {
    around.file == place.file && around.start <= place.start && place.end <= around.end
}

struct PatternVisitor<'c, 'a> {
    context: &'c mut LintContext<'a>,
    uses: TextUses<'a>,
}

/// A text in a test, and how to write it as a regular expression.
struct ComparedText<'a> {
    text: &'a TextLiteral,
    /// The anchors before and after the text in the intended regular expression.
    anchors: (&'static str, &'static str),
    /// `i` if case is ignored.
    flags: &'static str,
}

impl<'a> SyntaxVisitor<'a> for PatternVisitor<'_, 'a> {
    fn visit_step(&mut self, step: &'a StepPattern) {
        let PatternForm::Atom(Atom { subject, arguments, .. }) = &step.kind else { return };
        match subject {
            AtomSubject::Kind { kind, text: Some(KindText::Text(text)), .. } => self.check_kind_text(*kind, text),
            AtomSubject::QuotedTool(name) if !name.text.contains('*') => self.check_tool(&name.text, name.span),
            _ => {}
        }
        for argument in arguments.iter().flatten() {
            if let PatternArgument::Matches { path, value, .. } = argument {
                self.check_argument(path, value);
            }
        }
    }

    fn visit_test(&mut self, subject: Option<&'a Expr>, test: &'a ValueTest) {
        let (Some(subject), Some(operand)) = (subject, test.operand.as_deref()) else { return };
        let (anchors, flags) = match test.kind {
            TestKind::Contains
            | TestKind::ContainsAll
            | TestKind::ContainsAny
            | TestKind::ContainsNone
            | TestKind::Mentions => (("", ""), ""),
            TestKind::ContainsIgnoringCase => (("", ""), "i"),
            TestKind::StartsWith => (("^", ""), ""),
            TestKind::EndsWith => (("", "$"), ""),
            TestKind::Equal | TestKind::Identical => (("^", "$"), ""),
            TestKind::In => return self.check_in(subject, test, operand),
            _ => return,
        };
        for text in self.uses.texts_of(operand) {
            self.check_test(subject, test, &ComparedText { text, anchors, flags });
        }
    }
}

/// True for `count A <= 0`, `count A < 1`, `count A == 0`: a count that stays 0 satisfies it.
fn is_upper_bound(test: &ValueTest) -> bool {
    let is_zero = matches!(test.operand.as_deref().map(|operand| &operand.kind),
        Some(ExprKind::Number(number)) if number.value == "0");
    match test.kind {
        TestKind::Less | TestKind::LessOrEqual => !test.negated,
        TestKind::Equal => is_zero && !test.negated,
        _ => false,
    }
}

/// The last name of a path.
fn last_name(path: &Expr) -> &str {
    match &path.kind {
        ExprKind::Name(name) => name,
        ExprKind::Field { name, .. } => &name.text,
        ExprKind::Every { base } | ExprKind::Deep { base } | ExprKind::Group(base) => last_name(base),
        ExprKind::Index { base, .. } => last_name(base),
        ExprKind::Call { arguments, .. } => arguments.first().map_or("", last_name),
        _ => "",
    }
}

/// Returns the context of a text that is compared with a path; `None` if patterns are values there.
fn place_of(path: &Expr) -> Option<TextPlace> {
    match last_name(path).to_ascii_lowercase().as_str() {
        "pattern" | "regex" | "regexp" | "glob" | "globs" | "query" | "sql" | "code" | "script" | "expression"
        | "filter" | "include" | "exclude" | "selector" => None,
        "command" | "cmd" | "argv" | "bash" => Some(TextPlace::Command),
        _ => Some(TextPlace::Text),
    }
}

/// Returns a text as a regular expression literal; `None` if it is not a valid one.
fn as_regex(text: &str, (before, after): (&str, &str), flags: &str) -> Option<String> {
    let (pattern, own_flags) = slashed_regex(text).unwrap_or((text, ""));
    // `matches` searches, so a wildcard at its ends adds nothing.
    let pattern = if before.is_empty() { pattern.trim_start_matches(".*") } else { pattern };
    let pattern = if after.is_empty() { pattern.trim_end_matches(".*") } else { pattern };
    regex::RegexBuilder::new(pattern).size_limit(1 << 20).build().ok()?;
    let choice = pattern.contains('|') && !(before.is_empty() && after.is_empty());
    let body = if choice { format!("({pattern})") } else { pattern.to_owned() };
    let before = if pattern.starts_with('^') { "" } else { before };
    let after = if pattern.ends_with('$') { "" } else { after };
    let mut escaped = String::new();
    let mut last = ' ';
    for letter in body.chars() {
        if letter == '/' && last != '\\' {
            escaped.push('\\');
        }
        escaped.push(letter);
        last = letter;
    }
    let case = if flags.is_empty() && own_flags.contains('i') { "i" } else { flags };
    (!pattern.is_empty()).then(|| format!("/{before}{escaped}{after}/{case}"))
}

/// Returns the text or regular expression that a glob searches for inside of a text.
fn inside_of_glob(glob: &str) -> String {
    let stem = glob.trim_matches(['*', '%']);
    if stem.contains('*') {
        format!(
            "/{}/",
            stem.split('*').map(|part| regex_syntax::escape(part).replace('/', "\\/")).collect::<Vec<_>>().join(".*")
        )
    } else {
        super::regex::quote_text(stem)
    }
}

impl<'a> PatternVisitor<'_, 'a> {
    /// Returns the kind of pattern. A text that may also be plain counts only if the rule passes because it is not found.
    fn sign(&self, text: &TextLiteral, place: TextPlace, test: Span) -> Option<PatternSign> {
        let sign = sign_of(text.literal_text()?, place)?;
        (sign == PatternSign::SureRegex || self.uses.is_denied(test, text.span)).then_some(sign)
    }

    fn check_test(&mut self, subject: &Expr, test: &ValueTest, compared: &ComparedText<'_>) {
        let (Some(written), Some(place)) = (compared.text.literal_text(), place_of(subject)) else { return };
        let is_equal = matches!(test.kind, TestKind::Equal | TestKind::Identical);
        if is_equal && !test.negated && super::shapes::is_glob_of_place(last_name(subject), written) {
            return;
        }
        let Some(sign) = self.sign(compared.text, place, test.span) else { return };
        if is_equal && sign != PatternSign::SureRegex && !test.negated {
            return;
        }
        let not = if test.negated || test.kind == TestKind::ContainsNone { "not " } else { "" };
        let meant = match sign {
            PatternSign::LikelyGlob if test.kind == TestKind::EndsWith && written.starts_with('*') => {
                format!("{not}ends with {}", inside_of_glob(written))
            }
            PatternSign::LikelyGlob if test.kind == TestKind::StartsWith && !written.starts_with('*') => {
                format!("{not}starts with {}", inside_of_glob(written))
            }
            PatternSign::LikelyGlob => match inside_of_glob(written) {
                regex if regex.starts_with('/') => format!("{not}matches {regex}"),
                text => format!("{not}contains {text}"),
            },
            PatternSign::SureRegex | PatternSign::LikelyRegex => {
                let Some(regex) = as_regex(written, compared.anchors, compared.flags) else {
                    return self.report(compared.text.span, sign, "write `matches /…/`", None);
                };
                format!("{not}matches {regex}")
            }
        };
        let is_one = matches!(test.operand.as_deref().map(|operand| &operand.kind), Some(ExprKind::Text(_)));
        let fix = (is_one && sign == PatternSign::SureRegex).then(|| (test.span, meant.clone()));
        self.report(compared.text.span, sign, &format!("write `{meant}`"), fix);
    }

    /// Checks `x in ["ref.*"]` and `"Ref.*" in output`.
    fn check_in(&mut self, subject: &'a Expr, test: &'a ValueTest, operand: &'a Expr) {
        if matches!(subject.kind, ExprKind::Text(_)) {
            for text in self.uses.texts_of(subject) {
                self.check_test(operand, test, &ComparedText { text, anchors: ("", ""), flags: "" });
            }
            return;
        }
        for text in self.uses.texts_of(operand) {
            let Some(written) = text.literal_text() else { continue };
            let sign = place_of(subject).and_then(|place| self.sign(text, place, test.span));
            if sign == Some(PatternSign::SureRegex)
                && let Some(regex) = as_regex(written, ("^", "$"), "")
            {
                self.report(text.span, PatternSign::SureRegex, &format!("write `matches {regex}` for it"), None);
            }
        }
    }

    fn check_kind_text(&mut self, kind: StepWord, text: &TextLiteral) {
        let Some(written) = text.literal_text() else { return };
        let place = match kind {
            StepWord::Command => TextPlace::Command,
            StepWord::User | StepWord::Assistant | StepWord::Thinking | StepWord::Message => TextPlace::Text,
            _ => TextPlace::Glob,
        };
        let Some(sign) = self.sign(text, place, text.span) else { return };
        let word = kind.as_str();
        if sign == PatternSign::LikelyGlob {
            let help = format!("write `{word} {}`", inside_of_glob(written));
            return self.report(text.span, sign, &help, None);
        }
        match as_regex(written, ("", ""), "") {
            Some(regex) => {
                let fix = (sign == PatternSign::SureRegex).then(|| (text.span, regex.clone()));
                self.report(text.span, sign, &format!("write `{word} {regex}`"), fix);
            }
            None => self.report(text.span, sign, &format!("write `{word} /…/`"), None),
        }
    }

    fn check_argument(&mut self, path: &Expr, value: &'a Expr) {
        for text in self.uses.texts_of(value) {
            let (Some(written), Some(place)) = (text.literal_text(), place_of(path)) else { continue };
            if super::shapes::is_glob_of_place(last_name(path), written)
                || sign_of(written, place) != Some(PatternSign::SureRegex)
            {
                continue;
            }
            let Some(regex) = as_regex(written, ("^", "$"), "") else { continue };
            let fix = matches!(value.kind, ExprKind::Text(_)).then(|| (text.span, regex.clone()));
            let help = format!("write `{}: {regex}`", self.context.span_text(path.span));
            self.report(text.span, PatternSign::SureRegex, &help, fix);
        }
    }

    /// Reports `never "^issue_"`, because a quoted name is that of one tool.
    fn check_tool(&mut self, name: &str, place: Span) {
        if sign_of(name, TextPlace::Text) == Some(PatternSign::SureRegex)
            && let Some(regex) = as_regex(name, ("", ""), "")
        {
            let help = format!("write `(any where tool matches {regex})`");
            self.report(place, PatternSign::SureRegex, &help, None);
        }
    }

    fn report(&mut self, place: Span, sign: PatternSign, help: &str, fix: Option<(Span, String)>) {
        let shown = self.context.span_text(place);
        let (slug, what) = match sign {
            PatternSign::SureRegex | PatternSign::LikelyRegex => {
                (Slug::RegexAsText, "a regular expression, and is compared as plain text")
            }
            PatternSign::LikelyGlob => (Slug::GlobAsText, "a glob, and is compared as plain text"),
        };
        let diagnostic = Diagnostic::new(slug, place, format!("{shown} looks like {what}")).with_help(help);
        self.context.report(match fix {
            Some((span, text)) => diagnostic.with_fix(help, span, text),
            None => diagnostic,
        });
    }
}
