//! Lowers the qualifiers after a step, or after parentheses around steps: `ok`, `by NAME`, `tagged NAME`.

use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{ByAgent, Name, PatternForm, StatusWord, StepPattern};
use crate::grammar::Rule;

/// The qualifiers after a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Qualifiers {
    pub(super) status: Option<StatusWord>,
    pub(super) by: Option<ByAgent>,
    pub(super) tagged: Option<Name>,
}

impl Qualifiers {
    /// Adds the qualifiers to a step: `(a | b) ok` is `(a ok | b ok)`. Returns false if a step already has one of them.
    fn add_to(&self, step: &mut StepPattern) -> bool {
        match &mut step.kind {
            PatternForm::Atom(atom) => {
                let twice = self.status.is_some() && atom.status.is_some()
                    || self.by.is_some() && atom.by.is_some()
                    || self.tagged.is_some() && atom.tagged.is_some();
                atom.status = self.status.or(atom.status);
                atom.by = self.by.clone().or(atom.by.take());
                atom.tagged = self.tagged.clone().or(atom.tagged.take());
                !twice
            }
            PatternForm::Choice(steps) => {
                let misfits = steps.iter_mut().filter_map(|step| (!self.add_to(step)).then_some(()));
                misfits.count() == 0
            }
            PatternForm::Where { step, .. } | PatternForm::Proposed(step) => self.add_to(step),
        }
    }
}

/// True if a grammar rule is a qualifier.
pub(super) fn is_qualifier(rule: Rule) -> bool {
    matches!(rule, Rule::status | Rule::by | Rule::tagged)
}

impl SyntaxLowering<'_> {
    /// Lowers qualifiers: the status, the agent, a tag.
    pub(super) fn lower_qualifiers<'p>(
        &mut self,
        children: impl Iterator<Item = GrammarPair<'p>>,
    ) -> Option<Qualifiers> {
        let Qualifiers { mut status, mut by, mut tagged } = Qualifiers::default();
        for child in children {
            let span = self.node_span(&child);
            let again = match child.as_rule() {
                Rule::status => status.is_some(),
                Rule::tagged => tagged.is_some(),
                _ => by.is_some(),
            };
            if again {
                let help = "say it once; other steps are `a | b`, and a condition of one's own is `where …`";
                self.report_error(span, "this stands behind the step twice", help);
            }
            match child.as_rule() {
                Rule::tagged => {
                    let label = NodeChildren::of_node(child).find(|part| part.as_rule() == Rule::label)?;
                    tagged = Some(self.node_name(&label));
                }
                Rule::status => {
                    status = Some(match NodeChildren::of_node(child).peek_rule() {
                        Some(Rule::k_failed) => StatusWord::Failed,
                        _ => StatusWord::Ok,
                    });
                }
                _ => by = Some(self.lower_by(child)?),
            }
        }
        Some(Qualifiers { status, by, tagged })
    }

    /// Lowers `(a | b) ok`: the qualifiers after parentheses apply to each step in them.
    pub(super) fn qualify_group(&mut self, step: &mut StepPattern, node: GrammarPair<'_>) -> Option<()> {
        let span = self.node_span(&node);
        let qualifiers = self.lower_qualifiers(std::iter::once(node))?;
        step.span = step.span.cover_with(span);
        if !qualifiers.add_to(step) {
            let help = "say it once, behind the parentheses or in them";
            self.report_error(span, "this stands behind a step in the parentheses, too", help);
        }
        Some(())
    }
}
