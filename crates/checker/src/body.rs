//! Bodies: what stands in a file, a rule, a case, a suite; and the assertions in them, blocks taken apart.

use super::Checker;
use super::blocks::{BlockWrap, BodyKind};
use super::scope::NameScope;
use super::settings::{self, InheritedSettings, OwnModifiers};
use super::suite_settings;
use super::walk;
use crate::ir::{self, Severity};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, BodySetting, CallInput, ItemKind, Quantifier, StatementKind};
use averment_syntax::words;

/// Where an assertion stands.
#[derive(Debug, Clone)]
pub struct AssertionPlace<'a> {
    /// Scope of its expressions.
    pub scope: NameScope<'a>,
    /// The rule it belongs to.
    pub rule: Option<u32>,
    /// Settings inherited from enclosing bodies.
    pub inherited: InheritedSettings,
    /// The blocks around it, outermost first.
    pub wraps: Vec<BlockWrap>,
    /// The texts of their headers.
    pub headers: Vec<String>,
}

impl AssertionPlace<'_> {
    /// The top of a file.
    pub fn of_file(file: usize) -> Self {
        Self {
            scope: NameScope::of_file(file),
            rule: None,
            inherited: InheritedSettings::new(Severity::Error),
            wraps: Vec::new(),
            headers: Vec::new(),
        }
    }
}

impl<'a> Checker<'a> {
    /// The root file is judged, and the packs that it uses; other imported files contribute names only.
    pub(super) fn root_body(&mut self) {
        let loaded = self.loaded;
        let Some(root) = loaded.first() else { return };
        let mut place = AssertionPlace::of_file(0);
        let own = OwnModifiers { classifiers: self.body_classifiers(&root.ast.items), ..OwnModifiers::default() };
        place.inherited = place.inherited.inherit_through(&own);
        let mut imports = root.imports.iter();
        for item in &root.ast.items {
            if let ItemKind::Use(used) = &item.kind {
                self.rules_of_pack(used, imports.next().copied().flatten());
            }
            self.file_item(&place, item);
        }
        self.resolve_rated_rules();
        self.check_tests();
    }

    fn file_item(&mut self, place: &AssertionPlace<'a>, item: &'a ast::SyntaxItem) {
        match &item.kind {
            // Declarations are lowered already, tests come when all rules are known.
            ItemKind::Test(_) => {}
            declaration if declaration.is_declaration() => {}
            ItemKind::Suite { name, modifiers, body } => self.check_suite(place, name, modifiers, body),
            _ => self.common_item(place, item, BodyKind::File),
        }
    }

    pub(super) fn common_item(&mut self, place: &AssertionPlace<'a>, item: &'a ast::SyntaxItem, body: BodyKind) {
        match &item.kind {
            ItemKind::Rule(rule) => self.check_rule(place, rule),
            ItemKind::Invariant(rule) => self.check_invariant(place, rule),
            ItemKind::Case { name, modifiers, body } => {
                self.check_case(place, name, modifiers, body);
            }
            ItemKind::Pre { body } => self.world_body(place, item.span, body, BodyKind::Pre),
            ItemKind::Post { body } => self.world_body(place, item.span, body, BodyKind::Post),
            ItemKind::Assertion(assertion) => self.check_assertion(place, assertion),
            ItemKind::Setting(BodySetting::Classify { .. }) => {}
            _ => self.report_misplaced(item, body),
        }
    }

    pub(super) fn check_assertion(&mut self, place: &AssertionPlace<'a>, assertion: &'a ast::Assertion) {
        stacker::maybe_grow(128 << 10, 1 << 20, || match &assertion.statement.kind {
            StatementKind::Block { scope, body } => self.block_assertions(place, assertion, scope, body),
            _ if self.over_runs(place, assertion) => {}
            _ => self.single_assertion(place, assertion),
        });
    }

    fn single_assertion(&mut self, place: &AssertionPlace<'a>, assertion: &'a ast::Assertion) {
        let outer = self.bindings.clone();
        self.literals.clear();
        self.depth = 0;
        self.message_step = None;
        let check = self.check_statement(&place.scope, &assertion.statement);
        let of_one_step = matches!(
            assertion.statement.kind,
            StatementKind::Each { quantifier: Quantifier::Each | Quantifier::No, .. }
        );
        self.message_step = self.message_step.take().filter(|_| of_one_step);
        self.report_unbound();
        let text = self.statement_text(assertion.statement.span);
        let opening: Vec<&'a ast::Modifier> = match &assertion.statement.kind {
            StatementKind::Group { body, .. } => settings::opening_modifiers(body).collect(),
            _ => Vec::new(),
        };
        let modifiers = opening.into_iter().chain(&assertion.modifiers);
        let own =
            self.with_outer_bindings(&outer.bound_flags(), |checker| checker.read_modifiers(&place.scope, modifiers));
        self.message_step = None;
        self.add_assertion(place, own, check, text, assertion.statement.span);
        self.bindings = outer;
    }

    pub(super) fn statement_text(&self, span: Span) -> String {
        super::text::fold_whitespace(self.map.span_text(span), Some(&super::text::ranges_inside(span, &self.literals)))
    }

    pub(super) fn add_assertion(
        &mut self,
        place: &AssertionPlace<'a>,
        own: OwnModifiers<'a>,
        check: super::temporal::CheckedStatement,
        text: String,
        span: Span,
    ) {
        let id = match (own.id, place.rule) {
            (Some(name), rule) => {
                if let Some(rule) = rule {
                    self.numbered_id(rule);
                }
                self.given_id(name)
            }
            (None, Some(rule)) => self.numbered_id(rule),
            (None, None) => self.defer_id(span, &place.headers),
        };
        let mut settings = place.inherited.resolve_settings(own);
        // A condition that looks at the step of an `each` is judged once for each step.
        let (inside, outside) = settings.when.into_iter().partition::<Vec<_>, _>(walk::looks_at_step);
        settings.when = outside;
        let check = if inside.is_empty() { check } else { BlockWrap::When(inside).wrap_check(check, span) };
        let check = place.wraps.iter().rev().fold(check, |check, wrap| wrap.clone().wrap_check(check, span));
        let bindings = self.bindings.display_names();
        self.module.assertions.push(ir::CheckedAssertion {
            id,
            rule: place.rule,
            text,
            span,
            settings,
            bindings,
            check,
        });
    }

    fn block_assertions(
        &mut self,
        place: &AssertionPlace<'a>,
        assertion: &'a ast::Assertion,
        header: &'a ast::BlockScope,
        body: &'a [ast::SyntaxItem],
    ) {
        let outer = self.bindings.clone();
        self.literals.clear();
        let mut inner = place.clone();
        let mut conditions = Vec::new();
        if let ast::BlockScope::When { condition } = header {
            let condition = self.condition_expr(&place.scope, condition);
            // Inside a window it is asked there: without a window nothing is.
            match place.wraps.iter().any(|wrap| matches!(wrap, BlockWrap::Window(_))) {
                true => inner.wraps.push(BlockWrap::When(vec![condition])),
                false => conditions.push(condition),
            }
            self.report_unbound();
        } else {
            let (window, scope) = self.block_window(&place.scope, header);
            inner.scope = scope;
            inner.wraps.extend(window.map(BlockWrap::Window));
        }
        let all: Vec<&'a ast::Modifier> = settings::opening_modifiers(body).chain(&assertion.modifiers).collect();
        let mut own = self.read_modifiers(&place.scope, all.iter().copied());
        self.report_unbound();
        own.when.extend(conditions);
        own.classifiers = self.body_classifiers(body);
        self.check_block_modifiers(&own, body, &all);
        let weight = own.weight;
        inner.inherited = place.inherited.inherit_through(&own);
        inner.inherited.weight = weight.unwrap_or(place.inherited.weight);
        inner.headers.push(self.block_header(assertion.statement.span, body));
        self.hand_down_step_conditions(place, &mut inner);
        let mut settings_may_come = true;
        for item in body {
            self.body_item(&inner, item, BodyKind::Block, &mut settings_may_come);
        }
        self.bindings = outer;
    }

    /// A condition on the step of an outer `each` keeps its place among the blocks: deeper, another step is in scope.
    fn hand_down_step_conditions(&mut self, place: &AssertionPlace<'a>, inner: &mut AssertionPlace<'a>) {
        let when = std::mem::take(&mut inner.inherited.when);
        let (inside, outside) = when.into_iter().partition::<Vec<_>, _>(walk::looks_at_step);
        inner.inherited.when = outside;
        if !inside.is_empty() {
            inner.wraps.insert(place.wraps.len(), BlockWrap::When(inside));
        }
    }

    /// `id` and `as` name a single assertion, but a block holds several.
    fn check_block_modifiers(&mut self, own: &OwnModifiers<'a>, body: &[ast::SyntaxItem], all: &[&ast::Modifier]) {
        let several = body.iter().filter(|item| matches!(item.kind, ItemKind::Assertion(_))).count();
        for (word, given) in
            [("id", own.id.is_some()), ("as", own.metric.is_some()), ("threshold", own.threshold.is_some())]
        {
            if given && let Some(span) = settings::place_of(all.iter().copied(), word) {
                let message =
                    format!("`{word}` names one assertion, and a block gives one for each of its {several} statements");
                self.report_diagnostic(Diagnostic::new(Slug::Misplaced, span, message).with_help(format!(
                    "put `{word}` after a statement in the block, or put the statements into `all of {{ … }}`"
                )));
            }
        }
    }

    fn block_header(&self, span: Span, body: &[ast::SyntaxItem]) -> String {
        let end = body.first().map_or(span.end, |item| item.span.start);
        self.source_line(Span { end: end.max(span.start), ..span })
    }

    /// Items allowed in a rule, case, block, `pre` or `post`: leading settings and assertions.
    pub(super) fn body_item(
        &mut self,
        place: &AssertionPlace<'a>,
        item: &'a ast::SyntaxItem,
        body: BodyKind,
        opening: &mut bool,
    ) {
        match &item.kind {
            ItemKind::Assertion(assertion) => {
                *opening = false;
                self.check_assertion(place, assertion);
            }
            ItemKind::Setting(BodySetting::Modifier(modifier)) if !*opening => {
                let word = settings::word_of(&modifier.kind);
                self.report_diagnostic(
                    Diagnostic::new(
                        Slug::Misplaced,
                        modifier.span,
                        format!("the setting `{word}` belongs after an assertion"),
                    )
                    .with_help(format!(
                        "settings open a body: put `{word}` first, or on the line of the assertion that it is for"
                    )),
                );
            }
            ItemKind::Setting(BodySetting::Modifier(_) | BodySetting::Classify { .. }) => {}
            ItemKind::Test(_) if matches!(body, BodyKind::Rule | BodyKind::Case | BodyKind::Invariant) => {}
            _ => self.report_misplaced(item, body),
        }
    }

    pub(super) fn report_misplaced(&mut self, item: &ast::SyntaxItem, body: BodyKind) {
        if matches!(item.kind, ItemKind::Setting(BodySetting::Modifier(_))) && self.is_behind_unread(item.span) {
            return;
        }
        let place = Span { end: item.span.end, ..item.span };
        let (message, help) = self.misplaced_item(item, body);
        self.report_diagnostic(Diagnostic::new(Slug::Misplaced, place, message).with_help(help));
    }

    /// True if only modifiers lie between this one and an unreadable statement above: it belongs to that statement.
    fn is_behind_unread(&self, place: Span) -> bool {
        let Some(file) = self.map.get(place.file) else { return false };
        let unread: Vec<usize> = self
            .unread
            .iter()
            .filter(|span| span.file == place.file)
            .map(|span| file.line_column(span.start).line)
            .collect();
        let mut line = file.line_column(place.start).line;
        while line > 1 && !unread.is_empty() {
            if unread.contains(&line) {
                return true;
            }
            let word = file.line_text(line).split_whitespace().next().unwrap_or("");
            line = line.saturating_sub(1);
            if !words::MODIFIERS.contains(&word) && !file.line_text(line).trim_end().ends_with(',') {
                return false;
            }
        }
        false
    }

    fn misplaced_item(&self, item: &ast::SyntaxItem, body: BodyKind) -> (String, String) {
        let declaration = |word: &str| {
            (
                format!("`{word}` is allowed only at the top of a file, not in {}", body.noun()),
                format!("move the `{word}` line to the top of the file"),
            )
        };
        match &item.kind {
            ItemKind::Use(_) => declaration("use"),
            ItemKind::Param(_) => declaration("param"),
            ItemKind::Let { .. } => declaration("let"),
            ItemKind::Def { .. } | ItemKind::DefStep { .. } => declaration("def"),
            ItemKind::Schema { .. } => declaration("schema"),
            ItemKind::ToolsFrom { .. } => declaration("tools"),
            ItemKind::Tool { .. } | ItemKind::ToolFacts { .. } => declaration("tool"),
            ItemKind::Rule(_) => nested_message("rule", body),
            ItemKind::Invariant(_) => nested_message("invariant", body),
            ItemKind::Suite { .. } => nested_message("suite", body),
            ItemKind::Case { .. } => nested_message("case", body),
            ItemKind::Pre { .. } => nested_message("pre", body),
            ItemKind::Post { .. } => nested_message("post", body),
            ItemKind::Test(_) => nested_message("test", body),
            ItemKind::Workspace { .. } => suite_only_message("workspace"),
            ItemKind::Runner { .. } => suite_only_message("runner"),
            ItemKind::Call(call) => (
                "`call` exists only in an invariant".to_owned(),
                format!("write `{}` to say that the tool was called", self.suggest_require(call)),
            ),
            ItemKind::ForEachTool { .. } => (
                "`for each tool` exists only in an invariant".to_owned(),
                "put it into `invariant NAME { … }`".to_owned(),
            ),
            ItemKind::Setting(BodySetting::Modifier(modifier)) => {
                let word = settings::word_of(&modifier.kind);
                (
                    format!("`{word}` here belongs to no assertion and to no body"),
                    "put it after an assertion or at the start of a rule".to_owned(),
                )
            }
            ItemKind::Setting(BodySetting::Key { key, .. }) => misplaced_key(&key.text, body),
            ItemKind::Setting(BodySetting::Classify { .. }) => (
                format!("`classify` has no meaning in {}", body.noun()),
                "put it at the top of the file, or into the rule, case, suite or block whose failures it is for"
                    .to_owned(),
            ),
            ItemKind::Assertion(_) => ("an assertion has no meaning here".to_owned(), "put it into a rule".to_owned()),
        }
    }

    fn suggest_require(&self, call: &ast::InvariantCall) -> String {
        match &call.input {
            CallInput::Object(ast::Expr { kind: ast::ExprKind::Object(entries), .. }) if !entries.is_empty() => {
                let all: Vec<String> = entries
                    .iter()
                    .map(|(name, value)| format!("{}: {}", self.source_line(name.span), self.source_line(value.span)))
                    .collect();
                format!("require {}({})", call.tool.text, all.join(", "))
            }
            _ => format!("require {}", call.tool.text),
        }
    }
}

fn nested_message(word: &str, body: BodyKind) -> (String, String) {
    (
        format!("`{word}` has no meaning in {}", body.noun()),
        match body {
            BodyKind::Rule => format!("close the rule with `}}` before `{word}`"),
            BodyKind::Case => format!("close the case with `}}` before `{word}`"),
            _ => format!("put `{word}` at the top of the file"),
        },
    )
}

fn suite_only_message(word: &str) -> (String, String) {
    (format!("`{word}` is allowed only in a suite"), format!("write `suite \"name\" {{ {word} … }}`"))
}

fn misplaced_key(key: &str, body: BodyKind) -> (String, String) {
    let owner = match key {
        "expect" => "a call of an invariant".to_owned(),
        _ => suite_settings::key_owners(key).unwrap_or_else(|| "nothing here".to_owned()),
    };
    (
        format!("`{key}` is a setting of {owner} and has no meaning in {}", body.noun()),
        match key {
            "prompt" => "write `case NAME { prompt \"…\" … }`".to_owned(),
            _ => format!("remove `{key}`"),
        },
    )
}
