//! Lints for unused names and names that shadow others.

use super::context::LintContext;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_builtins::stdlib;
use averment_checker::DeclarationKind;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{Expr, ExprKind, ItemKind, Name, Statement, StatementKind, SyntaxItem};

/// Reports unused parameters, definitions, schemas and imports. A file with only declarations is meant to be imported, so it is skipped.
pub fn unused_names(context: &mut LintContext<'_>) {
    if !context.ast().items.iter().any(|item| item.kind.has_assertions()) {
        return;
    }
    unused_declarations(context);
    unused_imports(context);
}

fn unused_kind(kind: DeclarationKind) -> Option<(&'static str, Slug)> {
    Some(match kind {
        DeclarationKind::Param => ("parameter", Slug::UnusedParam),
        DeclarationKind::Def => ("definition", Slug::UnusedDef),
        DeclarationKind::DefStep => ("step", Slug::UnusedStep),
        DeclarationKind::Schema => ("schema", Slug::UnusedSchema),
        // The checker reports unused `let`s. Tools and rules take effect by being declared.
        DeclarationKind::Let
        | DeclarationKind::Tool
        | DeclarationKind::Rule
        | DeclarationKind::Case
        | DeclarationKind::Invariant => return None,
    })
}

fn unused_declarations(context: &mut LintContext<'_>) {
    let symbols = &context.checked.symbols;
    let mut used = vec![false; symbols.declarations.len()];
    for (_, number) in &symbols.references {
        used.get_mut(*number).into_iter().for_each(|used| *used = true);
    }
    for (declaration, _) in symbols.declarations.iter().zip(used).filter(|(_, used)| !used) {
        let Some((what, slug)) = unused_kind(declaration.kind) else { continue };
        let name = &declaration.name;
        let diagnostic = Diagnostic::new(slug, declaration.span, format!("the {what} `{name}` is never used"))
            .with_help(format!(
                "use it or remove it; in a file for others to import, silence this with `# allow: {}`",
                slug.as_str()
            ));
        context.report(diagnostic);
    }
}

fn unused_imports(context: &mut LintContext<'_>) {
    let (checked, root) = (context.checked, context.root);
    let uses = checked.ast.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Use(one) => Some((item.span, one)),
        _ => None,
    });
    for ((whole, one), target) in uses.zip(&checked.imports) {
        let Some(target) = *target else { continue };
        // References to the imported declarations, not counting the `use` itself.
        let is_used = |name: Option<&Name>| {
            checked.symbols.references.iter().any(|(place, number)| {
                let outside = place.file == root && !(whole.start <= place.start && place.end <= whole.end);
                let declared = checked.symbols.declarations.get(*number);
                outside
                    && declared.is_some_and(|declared| {
                        declared.span.file == target && name.is_none_or(|name| name.text == declared.name)
                    })
            })
        };
        let brings_tools = checked.tool_files.contains(&target);
        let brings_rules = !one.is_path && one.target.text.strip_prefix("std.").is_some_and(stdlib::is_pack);
        match &one.names {
            _ if brings_rules => {}
            None if !is_used(None) && !brings_tools => {
                let message = format!("nothing of `{}` is used", one.target.text);
                let diagnostic = Diagnostic::new(Slug::UnusedUse, whole, message).with_help("remove the line");
                context.report(diagnostic.with_fix("remove the import", item_line(context, whole), ""));
            }
            Some(names) => {
                for name in names.iter().filter(|name| !is_used(Some(name))) {
                    let message = format!("`{}` is imported and never used", name.text);
                    let mut diagnostic =
                        Diagnostic::new(Slug::UnusedUse, name.span, message).with_help("remove the name");
                    if let ([_], false) = (names.as_slice(), brings_tools) {
                        diagnostic = diagnostic.with_fix("remove the import", item_line(context, whole), "");
                    }
                    context.report(diagnostic);
                }
            }
            None => {}
        }
    }
}

/// Returns the span of an item, extended to whole lines if nothing else is on them.
pub fn item_line(context: &LintContext<'_>, item: Span) -> Span {
    let Some(file) = context.sources.get(item.file) else { return item };
    let before = file.text.get(..item.start as usize).unwrap_or("").trim_end_matches([' ', '\t']);
    let after = file.text.get(item.end as usize..).unwrap_or("");
    let rest = after.trim_start_matches([' ', '\t', '\r']);
    if !(before.is_empty() || before.ends_with('\n')) || !(rest.is_empty() || rest.starts_with('\n')) {
        return item;
    }
    let skipped = after.len().saturating_sub(rest.len()).saturating_add(usize::from(rest.starts_with('\n')));
    Span::new(item.file, before.len(), (item.end as usize).saturating_add(skipped))
}

/// Reports unused variables, parameters of definitions and bindings, and names that shadow others.
pub fn local_names(context: &mut LintContext<'_>) {
    let declared: Vec<(String, Span)> = context
        .ast()
        .items
        .iter()
        .filter_map(|item| match &item.kind {
            ItemKind::Param(param) => Some((param.name.text.clone(), param.name.span)),
            ItemKind::Let { name, .. } | ItemKind::Def { name, .. } => Some((name.text.clone(), name.span)),
            _ => None,
        })
        .collect();
    walk::walk_file(context.ast(), &mut LocalVisitor { context, declared });
}

struct LocalVisitor<'c, 'a> {
    context: &'c mut LintContext<'a>,
    declared: Vec<(String, Span)>,
}

impl<'a> SyntaxVisitor<'a> for LocalVisitor<'_, 'a> {
    fn visit_item(&mut self, item: &'a SyntaxItem) {
        if let ItemKind::Def { parameters, body, .. } = &item.kind {
            for parameter in parameters {
                self.report_shadowing(parameter);
                if !mentions_name(body, &parameter.text) {
                    let message = format!("the parameter `{}` is never used", parameter.text);
                    self.context.report(
                        Diagnostic::new(Slug::UnusedArgument, parameter.span, message)
                            .with_help("use it in the definition, or remove it here and where the definition is used"),
                    );
                }
            }
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let ExprKind::Quantifier { variable, body, .. } = &expr.kind {
            self.report_shadowing(variable);
            if !mentions_name(body, &variable.text) {
                let message = format!("the condition does not look at `{}`", variable.text);
                self.context.report(
                    Diagnostic::new(Slug::UnusedVariable, variable.span, message)
                        .with_help(format!("test `{}` after the colon, or remove the quantifier", variable.text)),
                );
            }
        }
    }
}

impl LocalVisitor<'_, '_> {
    fn report_shadowing(&mut self, name: &Name) {
        let earlier = self.declared.iter().find(|(known, _)| *known == name.text).map(|(_, span)| *span);
        let Some(earlier) = earlier else { return };
        let message = format!("`{}` hides what is declared under that name", name.text);
        self.context.report(
            Diagnostic::new(Slug::Shadowing, name.span, message)
                .with_other(earlier, "declared here")
                .with_help("choose another name"),
        );
    }
}

/// True if an expression mentions a name, even if a variable shadows it.
fn mentions_name(expr: &Expr, name: &str) -> bool {
    struct MentionVisitor<'n>(&'n str, bool);
    impl SyntaxVisitor<'_> for MentionVisitor<'_> {
        fn visit_expr(&mut self, expr: &Expr) {
            self.1 |= matches!(&expr.kind, ExprKind::Name(found) if found == self.0);
        }
    }
    let mut visitor = MentionVisitor(name, false);
    walk::walk_expr(expr, &mut visitor);
    visitor.1
}

/// Reports bindings that occur only once where they have an effect only if they occur twice.
pub fn single_use_bindings(context: &mut LintContext<'_>) {
    let items = &context.ast().items;
    bindings_of(context, items, &[]);
}

fn bindings_of<'a>(context: &mut LintContext<'a>, items: &'a [SyntaxItem], around: &[String]) {
    for item in items {
        stacker::maybe_grow(64 << 10, 1 << 20, || match &item.kind {
            ItemKind::Rule(rule) => bindings_of(context, &rule.body, around),
            ItemKind::Case { body, .. }
            | ItemKind::Suite { body, .. }
            | ItemKind::Pre { body }
            | ItemKind::Post { body } => {
                bindings_of(context, body, around);
            }
            ItemKind::Assertion(assertion) => statement_bindings(context, &assertion.statement, item, around),
            _ => {}
        });
    }
}

fn statement_bindings<'a>(
    context: &mut LintContext<'a>,
    statement: &'a Statement,
    item: &'a SyntaxItem,
    around: &[String],
) {
    if let StatementKind::Group { body, .. } = &statement.kind {
        return bindings_of(context, body, around);
    }
    let mut uses = BindingUses::default();
    walk::walk_item(item, &mut uses);
    if let StatementKind::Block { body, .. } = &statement.kind {
        let mut inner = around.to_vec();
        inner.extend(uses.0.iter().map(|(name, _)| name.clone()));
        bindings_of(context, body, &inner);
    }
    // These statements are judged once for every value that occurs, and so are the lists in an expression, so one occurrence has an effect.
    let mut innermost = statement;
    while let StatementKind::Not(inner) = &innermost.kind {
        innermost = inner;
    }
    if matches!(
        innermost.kind,
        StatementKind::Count { .. } | StatementKind::Require { .. } | StatementKind::Expression(_)
    ) {
        return;
    }
    for (name, span) in &uses.0 {
        let elsewhere = uses.0.iter().filter(|(other, _)| other == name).count() > 1;
        if elsewhere || around.contains(name) {
            continue;
        }
        let own_header = match &statement.kind {
            StatementKind::Block { body, .. } => {
                !body.iter().any(|item| item.span.start <= span.start && span.end <= item.span.end)
            }
            _ => true,
        };
        if own_header {
            let message = format!("`${name}` is used nowhere else, so it relates nothing");
            let help = match renamed_statement(context, statement, &uses, name, *span) {
                Some(text) => format!("write `{text}` where both are the same, or leave this entry out"),
                None => format!("write `${name}` on the other side too, or leave this entry out"),
            };
            context.report(Diagnostic::new(Slug::BindingUsedOnce, *span, message).with_help(help));
        }
    }
}

fn renamed_statement(
    context: &LintContext<'_>,
    statement: &Statement,
    uses: &BindingUses,
    name: &str,
    own: Span,
) -> Option<String> {
    let alone = |one: &&(String, Span)| uses.0.iter().filter(|(other, _)| *other == one.0).count() == 1;
    let others: Vec<&(String, Span)> = uses.0.iter().filter(alone).filter(|(_, span)| *span != own).collect();
    let [(_, other)] = others.as_slice() else { return None };
    let text = &context.sources.get(statement.span.file)?.text;
    let whole = text.get(statement.span.as_range())?;
    let start = other.start.checked_sub(statement.span.start)? as usize;
    let end = other.end.checked_sub(statement.span.start)? as usize;
    let changed = format!("{}${name}{}", whole.get(..start)?, whole.get(end..)?);
    Some(changed.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| text.len() <= 160)
}

#[derive(Default)]
struct BindingUses(Vec<(String, Span)>);

impl SyntaxVisitor<'_> for BindingUses {
    fn visit_expr(&mut self, expr: &Expr) {
        if let ExprKind::Binding(name) = &expr.kind {
            self.0.push((name.trim_start_matches('$').to_owned(), expr.span));
        }
    }
}

/// Reports rule ids in another naming style than the rest of the file.
pub fn naming_style(context: &mut LintContext<'_>) {
    let names: Vec<&Name> = context
        .checked
        .ast
        .items
        .iter()
        .filter_map(|item| match &item.kind {
            ItemKind::Rule(rule) => Some(&rule.name),
            ItemKind::Case { name, .. } => Some(name),
            _ => None,
        })
        .collect();
    let style = |name: &Name| match (name.text.contains('-'), name.text.contains('_')) {
        (true, false) => Some("hyphens"),
        (false, true) => Some("underscores"),
        _ if name.text.chars().any(char::is_uppercase) => Some("capitals"),
        _ => None,
    };
    let styles: Vec<&str> = names.iter().filter_map(|name| style(name)).collect();
    let count = |wanted: &str| styles.iter().filter(|style| **style == wanted).count();
    let Some(usual) = ["hyphens", "underscores", "capitals"].into_iter().max_by_key(|style| count(style)) else {
        return;
    };
    for name in names {
        if let Some(own) = style(name).filter(|own| *own != usual && count(own) < count(usual)) {
            let message = format!("`{}` is written with {own}, the other names of this file with {usual}", name.text);
            context.report(Diagnostic::new(Slug::Naming, name.span, message).with_help("write names alike"));
        }
    }
}
