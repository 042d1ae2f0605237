//! What rules say of tools: when a call of one failed, under which other names it is called, and its tags.

use super::Checker;
use super::scope::{LookupSide, NameScope};
use super::ty::StepShape;
use crate::ir::{self, NameTest, ToolClaim, ToolFact};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_runs::run::StepKind;
use averment_syntax::ast::{self, ItemKind, ToolName};

fn name_test(tool: &ToolName) -> NameTest {
    match tool.name.text.as_str() {
        "any" if !tool.quoted => NameTest::Any,
        name if !tool.quoted && name.contains(['*', '?']) => NameTest::Glob(name.to_owned()),
        name => NameTest::Exactly(name.to_owned()),
    }
}

impl<'a> Checker<'a> {
    /// `tool delete_repo also mcp__*__delete_repo`: read first, because patterns depend on it.
    pub(super) fn read_other_names(&mut self, tools: &[ToolName], facts: &[ast::ToolFact]) {
        for fact in facts {
            let ast::ToolFact::Also(others) = fact else { continue };
            for tool in tools {
                let NameTest::Exactly(name) = name_test(tool) else {
                    self.report_diagnostic(
                        Diagnostic::new(
                            Slug::TypeMismatch,
                            tool.name.span,
                            "other names are those of one tool".to_owned(),
                        )
                        .with_help("write the tool's own name before `also`; after it `*` and `?` are globs"),
                    );
                    continue;
                };
                for other in others {
                    self.catalogue.add_other_name(&name, name_test(other));
                    self.module
                        .tool_facts
                        .push(ToolFact { tools: vec![name_test(other)], says: ToolClaim::Named(name.clone()) });
                }
            }
        }
    }

    pub(super) fn read_facts(&mut self) {
        let loaded = self.loaded;
        for (file, entry) in loaded.iter().enumerate() {
            for item in &entry.ast.items {
                let ItemKind::ToolFacts { tools, facts } = &item.kind else { continue };
                let tools: Vec<NameTest> = tools.iter().map(name_test).collect();
                for fact in facts {
                    let says = match fact {
                        ast::ToolFact::Fails(condition) => ToolClaim::Fails(self.fact_condition(file, condition)),
                        ast::ToolFact::Tagged(tags) => {
                            ToolClaim::Tagged(tags.iter().map(|tag| tag.text.clone()).collect())
                        }
                        ast::ToolFact::Also(_) => continue,
                    };
                    self.module.tool_facts.push(ToolFact { tools: tools.clone(), says });
                }
            }
        }
    }

    /// A condition on a call; the call's fields shadow other names.
    fn fact_condition(&mut self, file: usize, condition: &'a ast::Expr) -> ir::TypedExpr {
        let scope = NameScope::of_file(file).with_step(StepShape::of_kind(StepKind::Call)).on_side(LookupSide::Plain);
        let saved = std::mem::take(&mut self.bindings);
        let condition = self.condition_expr(&scope, condition);
        self.report_unbound();
        self.bindings = saved;
        condition
    }
}
