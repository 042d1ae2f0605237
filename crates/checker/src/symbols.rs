//! What is declared where and what refers to it: for editors (go to the definition, find all uses, rename).

use averment_base::source::Span;
use std::collections::HashMap;

/// How a name was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum DeclarationKind {
    Param,
    Let,
    Def,
    DefStep,
    Schema,
    Tool,
    Rule,
    Case,
    Invariant,
}

/// A declared name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: DeclarationKind,
    /// The name where it is declared.
    pub span: Span,
    /// The doc comment above it.
    pub doc: Option<String>,
}

/// All declarations with the places that refer to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolTable {
    /// In the order of files and declarations.
    pub declarations: Vec<Declaration>,
    /// Each place with the number of the declaration it means.
    pub references: Vec<(Span, usize)>,
    numbers: HashMap<Span, usize>,
}

impl SymbolTable {
    pub(super) fn add_declaration(&mut self, declaration: Declaration) {
        self.numbers.insert(declaration.span, self.declarations.len());
        self.declarations.push(declaration);
    }

    pub(super) fn add_reference(&mut self, place: Span, declared: Span) {
        if let Some(number) = self.numbers.get(&declared) {
            self.references.push((place, *number));
        }
    }

    /// The declaration under a byte offset: its own name or a place that refers to it.
    #[must_use]
    pub fn declaration_at(&self, place: Span) -> Option<&Declaration> {
        let covers = |span: Span| span.file == place.file && span.start <= place.start && place.end <= span.end;
        self.declarations.iter().find(|declaration| covers(declaration.span)).or_else(|| {
            let (_, number) = self.references.iter().find(|(span, _)| covers(*span))?;
            self.declarations.get(*number)
        })
    }
}
