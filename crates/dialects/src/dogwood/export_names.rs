//! Names that say more than they spell: steps that are defined, and tools of which facts are declared.

use super::export_reasons::Refusal;
use averment_base::limits::Limits;
use averment_base::source::SourceMap;
use averment_syntax::ast::{ItemKind, SyntaxItem, ToolFact, ToolName};

/// What all files of a rule file declare.
#[derive(Debug, Default)]
pub(super) struct DeclaredNames {
    steps: Vec<String>,
    other_names: Vec<ToolName>,
    failures: Vec<ToolName>,
}

impl DeclaredNames {
    pub(super) fn of_sources(sources: &SourceMap) -> Self {
        let mut found = Self::default();
        for (id, _) in sources.iter() {
            let (file, _, _) = averment_syntax::parse(sources, id, &Limits::default());
            found.add_items(&file.items);
        }
        found
    }

    fn add_items(&mut self, items: &[SyntaxItem]) {
        for item in items {
            match &item.kind {
                ItemKind::DefStep { name, .. } => self.steps.push(name.text.clone()),
                ItemKind::ToolFacts { tools, facts } => {
                    for fact in facts {
                        match fact {
                            ToolFact::Also(names) => self.other_names.extend(tools.iter().chain(names).cloned()),
                            ToolFact::Fails(_) => self.failures.extend(tools.iter().cloned()),
                            ToolFact::Tagged(_) => {}
                        }
                    }
                }
                _ => self.add_items(item.kind.body().unwrap_or_default()),
            }
        }
    }

    /// Why the name of a pattern is not that of one tool.
    pub(super) fn refusal_of(&self, name: &str, quoted: bool) -> Option<Refusal> {
        if !quoted && self.steps.iter().any(|step| step == name) {
            return Some("it names a step that is defined elsewhere: write the tool itself");
        }
        is_among(&self.other_names, name).then_some("its tool has other names, which have no counterpart there")
    }

    /// Whether a rule says which calls of a tool failed.
    pub(super) fn decides_failures(&self, name: &str) -> bool {
        is_among(&self.failures, name)
    }
}

/// A glob may mean any tool.
fn is_among(tools: &[ToolName], name: &str) -> bool {
    tools.iter().any(|tool| {
        tool.name.text == name || !tool.quoted && (tool.name.text.contains(['*', '?']) || tool.name.text == "any")
    })
}
