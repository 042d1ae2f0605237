//! Names that nothing uses, and names that hide others.

use super::context::Context;
use crate::check::DeclarationKind;
use crate::diagnostic::{Diagnostic, Slug};
use crate::source::Span;
use crate::syntax::ast::{Item, ItemKind, Name};

/// Parameters, definitions, schemas and imports that nothing uses. A file of declarations alone is there to be imported.
pub fn unused(context: &mut Context<'_>) {
    if !asserts(&context.ast().items) {
        return;
    }
    unused_declarations(context);
    unused_imports(context);
}

/// Whether a file asserts anything.
fn asserts(items: &[Item]) -> bool {
    items.iter().any(|item| {
        matches!(
            item.kind,
            ItemKind::Assertion(_)
                | ItemKind::Rule(_)
                | ItemKind::Suite { .. }
                | ItemKind::Case { .. }
                | ItemKind::Invariant(_)
                | ItemKind::Pre { .. }
                | ItemKind::Post { .. }
        )
    })
}

/// What a declaration is called and which lint speaks of it.
fn unused_kind(kind: DeclarationKind) -> Option<(&'static str, Slug)> {
    Some(match kind {
        DeclarationKind::Param => ("parameter", Slug::UnusedParam),
        DeclarationKind::Def => ("definition", Slug::UnusedDef),
        DeclarationKind::DefStep => ("step", Slug::UnusedStep),
        DeclarationKind::Schema => ("schema", Slug::UnusedSchema),
        // The checker speaks of `let`s; tools and rules are used by being there.
        DeclarationKind::Let
        | DeclarationKind::Tool
        | DeclarationKind::Rule
        | DeclarationKind::Case
        | DeclarationKind::Invariant => return None,
    })
}

fn unused_declarations(context: &mut Context<'_>) {
    let symbols = &context.checked.symbols;
    let mut used = vec![false; symbols.declarations.len()];
    for (_, number) in &symbols.references {
        used.get_mut(*number).into_iter().for_each(|used| *used = true);
    }
    for (declaration, _) in symbols.declarations.iter().zip(used).filter(|(_, used)| !used) {
        let Some((what, slug)) = unused_kind(declaration.kind) else { continue };
        let name = &declaration.name;
        let diagnostic =
            Diagnostic::new(slug, declaration.span, format!("the {what} `{name}` is never used")).help(format!(
                "use it or remove it; in a file for others to import, silence this with `# allow: {}`",
                slug.as_str()
            ));
        context.report(diagnostic);
    }
}

fn unused_imports(context: &mut Context<'_>) {
    let (checked, root) = (context.checked, context.root);
    let uses = checked.ast.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Use(one) => Some((item.span, one)),
        _ => None,
    });
    for ((whole, one), target) in uses.zip(&checked.imports) {
        let Some(target) = *target else { continue };
        // References outside of the `use` itself to what the file declares.
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
        match &one.names {
            None if !is_used(None) && !brings_tools => {
                let message = format!("nothing of `{}` is used", one.target.text);
                let diagnostic = Diagnostic::new(Slug::UnusedUse, whole, message).help("remove the line");
                context.report(diagnostic.fix("remove the import", line_of(context, whole), ""));
            }
            Some(names) => {
                for name in names.iter().filter(|name| !is_used(Some(name))) {
                    let message = format!("`{}` is imported and never used", name.text);
                    let mut diagnostic = Diagnostic::new(Slug::UnusedUse, name.span, message).help("remove the name");
                    if let ([_], false) = (names.as_slice(), brings_tools) {
                        diagnostic = diagnostic.fix("remove the import", line_of(context, whole), "");
                    }
                    context.report(diagnostic);
                }
            }
            None => {}
        }
    }
}

/// An item with the rest of its lines, where nothing else stands on them.
pub fn line_of(context: &Context<'_>, item: Span) -> Span {
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
