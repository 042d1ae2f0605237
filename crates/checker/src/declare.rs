//! Declares the names of every file before anything is looked up, so that the order of declarations is free.

use super::Checker;
use super::definitions::{DefEntry, LetEntry, StepEntry};
use super::scope::{FileSymbol, ScopedName, kind_word};
use super::symbols::{Declaration, DeclarationKind};
use super::ty::Ty;
use crate::ir::{self, Type};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_builtins::table as builtins;
use averment_syntax::ast::{self, ItemKind};
use averment_syntax::words;

const PARAM_TYPES: [(&str, Type); 10] = [
    ("string", Type::String),
    ("number", Type::Number),
    ("integer", Type::Integer),
    ("boolean", Type::Boolean),
    ("duration", Type::Duration),
    ("money", Type::Money),
    ("size", Type::Size),
    ("list", Type::List),
    ("object", Type::Object),
    ("any", Type::Any),
];

impl<'a> Checker<'a> {
    pub(super) fn declare_all(&mut self) {
        let loaded = self.loaded;
        for (file, entry) in loaded.iter().enumerate() {
            for item in &entry.ast.items {
                self.declare_item(file, item);
            }
            if entry.broken {
                self.declare_unread(file);
            }
        }
        for file in 0..loaded.len() {
            self.declare_imports(file);
        }
    }

    fn declare_item(&mut self, file: usize, item: &'a ast::SyntaxItem) {
        let kind = match &item.kind {
            ItemKind::Param(param) => {
                let symbol = self.declare_param(file, param);
                self.declare_name(file, &param.name, symbol);
                (&param.name, DeclarationKind::Param)
            }
            ItemKind::Let { name, value } => {
                let number = self.definitions.add_let(LetEntry::new(file, name, value));
                self.declare_name(file, name, FileSymbol::Let(number));
                (name, DeclarationKind::Let)
            }
            ItemKind::Def { name, parameters, body } => {
                let number = self.definitions.add_def(DefEntry::new(file, name, parameters, body));
                self.declare_name(file, name, FileSymbol::Def(number));
                (name, DeclarationKind::Def)
            }
            ItemKind::DefStep { name, parameters, body } => {
                let number = self.definitions.add_step(StepEntry { file, name, parameters, body });
                self.declare_name(file, name, FileSymbol::Step(number));
                (name, DeclarationKind::DefStep)
            }
            ItemKind::Schema { name, .. } => {
                self.declare_schema(file, name);
                (name, DeclarationKind::Schema)
            }
            ItemKind::Tool { name, .. } => (name, DeclarationKind::Tool),
            ItemKind::Rule(rule) => (&rule.name, DeclarationKind::Rule),
            ItemKind::Invariant(rule) => (&rule.name, DeclarationKind::Invariant),
            ItemKind::Case { name, .. } => (name, DeclarationKind::Case),
            _ => return,
        };
        let (name, kind) = kind;
        self.symbols.add_declaration(Declaration {
            name: name.text.clone(),
            kind,
            span: name.span,
            doc: item.doc.clone(),
        });
    }

    fn declare_param(&mut self, _file: usize, param: &ast::ParamItem) -> FileSymbol {
        let known = PARAM_TYPES.iter().find(|(word, _)| *word == param.ty.text);
        if known.is_none() {
            self.report_unknown_type(&param.ty);
        }
        let ty = known.map_or(Type::Any, |(_, ty)| *ty);
        let number = super::to_number(self.module.params.len());
        // The default is put in when everything is declared: it may name a `let`.
        let name = param.name.text.clone();
        self.module.params.push(ir::DeclaredParam { name, ty, default: None, span: param.name.span });
        if known.is_some() { FileSymbol::Param(number) } else { FileSymbol::Broken }
    }

    fn report_unknown_type(&mut self, ty: &ast::Name) {
        let words = PARAM_TYPES.map(|(word, _)| word);
        let all = format!("The types are {}", words.join(", "));
        let near = meant_type(&ty.text).or_else(|| suggest::suggest_name(&ty.text, words));
        let mut diagnostic = Diagnostic::new(Slug::UnknownType, ty.span, format!("unknown type `{}`", ty.text))
            .with_help(near.map_or(all.clone(), |near| format!("did you mean `{near}`? {all}")));
        if let Some(near) = near {
            diagnostic = diagnostic.with_fix(format!("replace with `{near}`"), ty.span, near);
        }
        self.report_diagnostic(diagnostic);
    }

    fn declare_name(&mut self, file: usize, name: &ast::Name, symbol: FileSymbol) {
        // A word of the language was reported where it was read.
        let symbol = if words::is_reserved(&name.text) { FileSymbol::Broken } else { symbol };
        if matches!(symbol, FileSymbol::Step(_)) && kind_word(&name.text) {
            let message = format!("`{}` is a kind of step and cannot be declared", name.text);
            self.report_diagnostic(
                Diagnostic::new(Slug::ReservedName, name.span, message).with_help("choose another name"),
            );
            return;
        }
        if matches!(symbol, FileSymbol::Def(_)) && builtins::find_builtin(&name.text).is_some() {
            let message = format!("`{}` is a function of the language", name.text);
            self.report_diagnostic(
                Diagnostic::new(Slug::Duplicate, name.span, message).with_help("choose another name"),
            );
            return;
        }
        let earlier = self.scopes.get(file).and_then(|scope| scope.names.get(&name.text)).map(|earlier| earlier.span);
        match earlier {
            Some(earlier) => self.report_declared_twice(&format!("`{}`", name.text), name.span, earlier),
            None => {
                if let Some(scope) = self.scopes.get_mut(file) {
                    scope.names.insert(name.text.clone(), ScopedName { symbol, span: name.span, origin: name.span });
                }
            }
        }
    }

    fn declare_schema(&mut self, file: usize, name: &ast::Name) {
        let earlier =
            self.scopes.get(file).and_then(|scope| scope.schemas.get(&name.text)).map(|(_, earlier)| *earlier);
        match earlier {
            Some(earlier) => self.report_declared_twice(&format!("schema `{}`", name.text), name.span, earlier),
            None => {
                if let Some(scope) = self.scopes.get_mut(file) {
                    scope.schemas.insert(name.text.clone(), (None, name.span));
                }
            }
        }
    }

    fn report_declared_twice(&mut self, what: &str, place: Span, earlier: Span) {
        let at = self.place_of(earlier, place);
        self.report_diagnostic(
            Diagnostic::new(Slug::Duplicate, place, format!("{what} is already declared in {at}"))
                .with_other(earlier, "declared here")
                .with_help("choose another name"),
        );
    }

    /// `line 3`, with the file name if it is another file.
    pub(super) fn place_of(&self, place: Span, seen_from: Span) -> String {
        let line = self.map.line_column(place).line;
        if place.file == seen_from.file {
            format!("line {line}")
        } else {
            format!("line {line} of {}", self.map.file_name(place))
        }
    }

    /// Names whose declaration could not be read, so that their uses are not reported again.
    fn declare_unread(&mut self, file: usize) {
        let Some(entry) = self.loaded.get(file) else { return };
        let Some(source) = self.map.get(entry.id) else { return };
        let names: Vec<String> = source.text.lines().filter_map(declared_in).map(str::to_owned).collect();
        let imports = source.text.lines().filter(|line| line.trim_start().starts_with("use ")).count();
        let Some(scope) = self.scopes.get_mut(file) else { return };
        scope.incomplete |= imports > entry.imports.len();
        for name in names {
            let capital = name.starts_with(|first: char| first.is_ascii_uppercase());
            if capital && !scope.schemas.contains_key(&name) {
                scope.schemas.insert(name, (None, Span::default()));
            } else if !scope.names.contains_key(&name) {
                scope.names.insert(
                    name,
                    ScopedName { symbol: FileSymbol::Broken, span: Span::default(), origin: Span::default() },
                );
            }
        }
    }

    fn declare_imports(&mut self, file: usize) {
        let loaded = self.loaded;
        let Some(entry) = loaded.get(file) else { return };
        let uses = entry.ast.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Use(item) => Some(item),
            _ => None,
        });
        for (item, target) in uses.zip(&entry.imports) {
            match (target, &item.names) {
                (Some(target), Some(names)) => names.iter().for_each(|name| self.import_one(file, *target, item, name)),
                (Some(target), None) => self.import_all(file, *target, item.target.span),
                (None, names) => self.import_nothing(file, names.as_deref().unwrap_or(&[]), names.is_none()),
            }
        }
    }

    /// A file that cannot be loaded. Names imported from it are not reported again where they are used.
    fn import_nothing(&mut self, file: usize, names: &[ast::Name], all: bool) {
        let Some(scope) = self.scopes.get_mut(file) else { return };
        scope.incomplete |= all;
        for name in names {
            scope.schemas.entry(name.text.clone()).or_insert((None, name.span));
            scope.names.entry(name.text.clone()).or_insert(ScopedName {
                symbol: FileSymbol::Broken,
                span: name.span,
                origin: name.span,
            });
        }
    }

    /// A pack brings its parameters alone: two packs may have definitions of one name.
    fn import_all(&mut self, file: usize, target: usize, place: Span) {
        let is_pack = self.is_pack(target);
        for (name, declared) in self.own_names(target) {
            if !is_pack || matches!(declared.symbol, FileSymbol::Param(_)) {
                self.import_name(file, &name, declared, place);
            }
        }
        let schemas: Vec<String> = self.own_schemas(target);
        for name in schemas {
            self.import_schema(file, target, &name, place);
        }
        let incomplete = self.loaded.get(target).is_some_and(|target| target.broken);
        if let Some(scope) = self.scopes.get_mut(file) {
            scope.incomplete |= incomplete;
        }
    }

    fn import_one(&mut self, file: usize, target: usize, item: &ast::UseItem, name: &ast::Name) {
        let own = self.own_names(target);
        let schemas = self.own_schemas(target);
        if let Some((_, declared)) = own.iter().find(|(own, _)| *own == name.text) {
            let declared = *declared;
            self.symbols.add_reference(name.span, declared.span);
            self.import_name(file, &name.text, declared, name.span);
        } else if schemas.contains(&name.text) {
            self.import_schema(file, target, &name.text, name.span);
        } else if let Some(rule) = self.pack_rules(target).find(|rule| rule.name.text == name.text) {
            self.symbols.add_reference(name.span, rule.name.span);
        } else {
            if self.loaded.get(target).is_none_or(|target| !target.broken) {
                let rules = self.pack_rules(target).map(|rule| rule.name.text.as_str());
                let all =
                    own.iter().map(|(own, _)| own.as_str()).chain(schemas.iter().map(String::as_str)).chain(rules);
                let diagnostic = unknown_import(item, name, all);
                self.report_diagnostic(diagnostic);
            }
            self.import_nothing(file, std::slice::from_ref(name), false);
        }
    }

    fn is_pack(&self, file: usize) -> bool {
        self.loaded.get(file).is_some_and(|file| file.is_pack)
    }

    /// The rules of a pack; none of any other file.
    pub(super) fn pack_rules(&self, file: usize) -> impl Iterator<Item = &'a ast::RuleBlock> + use<'a> {
        let pack = self.loaded.get(file).filter(|file| file.is_pack);
        pack.into_iter().flat_map(|file| &file.ast.items).filter_map(|item| match &item.kind {
            ItemKind::Rule(rule) => Some(rule),
            _ => None,
        })
    }

    fn own_names(&self, file: usize) -> Vec<(String, ScopedName)> {
        let Some(id) = self.loaded.get(file).map(|file| file.id) else { return Vec::new() };
        let Some(scope) = self.scopes.get(file) else { return Vec::new() };
        let own = |declared: &ScopedName| declared.span.file == id && !self.is_import(file, declared.span);
        scope.names.iter().filter(|(_, declared)| own(declared)).map(|(name, one)| (name.clone(), *one)).collect()
    }

    fn own_schemas(&self, file: usize) -> Vec<String> {
        let Some(id) = self.loaded.get(file).map(|file| file.id) else { return Vec::new() };
        let Some(scope) = self.scopes.get(file) else { return Vec::new() };
        let own = |place: Span| place.file == id && !self.is_import(file, place);
        scope.schemas.iter().filter(|(_, (_, place))| own(*place)).map(|(name, _)| name.clone()).collect()
    }

    fn is_import(&self, file: usize, place: Span) -> bool {
        self.loaded.get(file).is_some_and(|file| {
            file.ast.items.iter().any(|item| {
                matches!(item.kind, ItemKind::Use(_)) && item.span.start <= place.start && place.end <= item.span.end
            })
        })
    }

    fn import_name(&mut self, file: usize, name: &str, declared: ScopedName, place: Span) {
        let earlier = self.scopes.get(file).and_then(|scope| scope.names.get(name)).copied();
        match earlier {
            Some(earlier) if earlier.symbol == declared.symbol || earlier.symbol == FileSymbol::Broken => {}
            Some(earlier) => {
                let at = self.place_of(earlier.span, place);
                self.report_diagnostic(
                    Diagnostic::new(
                        Slug::Duplicate,
                        place,
                        format!("this imports `{name}`, which is already declared in {at}"),
                    )
                    .with_other(earlier.span, "declared here")
                    .with_help("choose the names to import: `use … (name, name)`"),
                );
            }
            None => {
                if let Some(scope) = self.scopes.get_mut(file) {
                    scope.names.insert(name.to_owned(), ScopedName { span: place, ..declared });
                }
            }
        }
    }

    fn import_schema(&mut self, file: usize, target: usize, name: &str, place: Span) {
        self.schemas.add_import(file, name, target);
        // Where it is really declared, so that what refers to it leads there.
        let origin = self.scopes.get(target).and_then(|scope| scope.schemas.get(name)).map(|(_, origin)| *origin);
        let origin = origin.unwrap_or(place);
        self.symbols.add_reference(place, origin);
        if let Some(scope) = self.scopes.get_mut(file) {
            scope.schemas.entry(name.to_owned()).or_insert((None, origin));
        }
    }

    pub(super) fn param_type(&self, number: u32) -> Ty {
        self.module.params.get(number as usize).map_or(Ty::Any, |param| Ty::from_ir(param.ty))
    }
}

fn unknown_import<'n>(item: &ast::UseItem, name: &ast::Name, all: impl Iterator<Item = &'n str>) -> Diagnostic {
    let all: Vec<&str> = all.collect();
    let message = format!("`{}` has no `{}`", item.target.text, name.text);
    let diagnostic = Diagnostic::new(Slug::Import, name.span, message);
    match suggest::suggest_name(&name.text, all.iter().copied()) {
        Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
            format!("replace with `{near}`"),
            name.span,
            near,
        ),
        None if all.is_empty() => diagnostic.with_help("it declares no names"),
        None => diagnostic.with_help(format!("it has {}", all.join(", "))),
    }
}

fn meant_type(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "str" | "text" => "string",
        "float" | "double" | "decimal" | "real" => "number",
        "int" | "long" | "uint" => "integer",
        "bool" => "boolean",
        "time" | "seconds" | "milliseconds" | "timedelta" => "duration",
        "usd" | "currency" | "dollars" | "price" => "money",
        "bytes" | "filesize" => "size",
        "array" | "vector" | "tuple" | "set" => "list",
        "map" | "dict" | "record" | "struct" | "json" => "object",
        "unknown" | "dynamic" | "value" => "any",
        _ => return None,
    })
}

fn declared_in(line: &str) -> Option<&str> {
    let mut words = line.trim_start().splitn(2, char::is_whitespace);
    let first = words.next()?;
    let mut rest = words.next()?.trim_start();
    if !matches!(first, "let" | "param" | "def" | "schema") {
        return None;
    }
    if first == "def" {
        rest = rest.strip_prefix("step ").map_or(rest, str::trim_start);
    }
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty())
}
