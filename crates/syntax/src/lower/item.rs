//! Declarations, bodies, assertions (language reference, sections 3, 8 and 10).

use super::{Children, Lower, Node};
use crate::ast::{
    Assertion, Call, CallInput, Expr, ExprKind, GeneratedInputs, GeneratedKind, Generator, Item, ItemKind, Literal,
    Name, Param, Rule as NamedRule, Setting, Statement, StatementKind, Test, TestRun, ToolFact, ToolName, Use,
};
use crate::grammar::Rule;
use crate::words;
use averment_base::diagnostic::{Diagnostic, Slug};

impl Lower<'_> {
    /// The items of a file or a body. An item with a mistake that leaves nothing to keep is left out.
    pub(crate) fn items(&mut self, node: Node<'_>) -> Vec<Item> {
        Children::of(node)
            .filter(|child| child.as_rule() == Rule::item)
            .flat_map(|child| self.item(child).unwrap_or_default())
            .collect()
    }

    /// The items of a block.
    pub(super) fn block(&mut self, node: Node<'_>) -> Option<Vec<Item>> {
        let span = self.span(&node);
        self.bracketed(span, |lower| Some(lower.items(node)))
    }

    /// One line of the grammar; a line of several settings makes several items.
    pub(crate) fn item(&mut self, node: Node<'_>) -> Option<Vec<Item>> {
        let form = Children::of(node).next()?;
        let span = self.span(&form);
        let kind = match form.as_rule() {
            Rule::setting_line => return self.setting_line(form),
            Rule::assertion => ItemKind::Assertion(self.assertion(form)?),
            _ => self.declaration(form)?,
        };
        Some(vec![Item { kind, span, doc: None }])
    }

    /// A line of a workspace or runner, as an item.
    pub(crate) fn lone_setting(&mut self, node: Node<'_>) -> Vec<Item> {
        let lines = Children::of(node).filter(|child| child.as_rule() == Rule::runner_setting);
        let item = |(span, setting)| Item { kind: ItemKind::Setting(setting), span, doc: None };
        lines.filter_map(|line| Some((self.span(&line), self.key_setting(line)?))).map(item).collect()
    }

    fn assertion(&mut self, node: Node<'_>) -> Option<Assertion> {
        let span = self.span(&node);
        let mut children = Children::of(node);
        let statement = self.statement(children.next()?)?;
        if self.lone_word(&statement) {
            return None;
        }
        let modifiers = match children.opt(Rule::modifiers) {
            Some(modifiers) => self.modifiers(modifiers)?,
            None => Vec::new(),
        };
        Some(Assertion { statement, modifiers, span })
    }

    /// A statement word with nothing behind it reads as a name that nothing declares.
    fn lone_word(&mut self, statement: &Statement) -> bool {
        let StatementKind::Expression(Expr { kind: ExprKind::Name(word), span }) = &statement.kind else {
            return false;
        };
        let Some(example) = words::example_of(word) else { return false };
        self.error(
            span.at_end(),
            format!("something is missing behind `{word}`"),
            format!("write for example `{example}`"),
        );
        true
    }

    fn declaration(&mut self, node: Node<'_>) -> Option<ItemKind> {
        let rule = node.as_rule();
        let mut children = Children::of(node);
        children.next()?;
        match rule {
            Rule::use_item => self.use_item(children),
            Rule::param_item => self.param_item(children),
            Rule::let_item => {
                let name = self.declared(&children.next()?);
                Some(ItemKind::Let { name, value: self.expression(children.next()?)? })
            }
            Rule::def_step_item => {
                children.word(Rule::k_step);
                let name = self.declared(&children.next()?);
                let parameters = self.parameters(&mut children);
                Some(ItemKind::DefStep { name, parameters, body: self.step(children.next()?)? })
            }
            Rule::def_item => {
                let name = self.declared(&children.next()?);
                let parameters = self.parameters(&mut children);
                Some(ItemKind::Def { name, parameters, body: self.expression(children.next()?)? })
            }
            Rule::schema_item => self.schema_item(children),
            Rule::tools_item => Some(ItemKind::ToolsFrom { path: self.file_name(&mut children)? }),
            Rule::tool_item => {
                let name = self.tool_name(children.next()?)?;
                Some(ItemKind::Tool { name, schema: self.object(children.next()?)? })
            }
            Rule::tool_facts_item => self.tool_facts(children),
            Rule::test_item => self.test_item(children),
            Rule::call_item => self.call_item(children),
            Rule::for_each_item => self.for_each_item(children),
            Rule::workspace_item | Rule::runner_item => self.settings_item(rule, children),
            _ => self.body_item(rule, children),
        }
    }

    /// The name that a `let`, `param` or `def` declares.
    fn declared(&mut self, node: &Node<'_>) -> Name {
        let name = self.name(node);
        if words::is_reserved(&name.text) {
            self.report(
                Diagnostic::new(
                    Slug::ReservedName,
                    name.span,
                    format!("`{}` is a word of the language and cannot be declared", name.text),
                )
                .help(format!("choose another name, such as `the_{}`", name.text)),
            );
        }
        name
    }

    fn parameters(&mut self, children: &mut Children<'_>) -> Vec<Name> {
        children
            .opt(Rule::parameters)
            .map(|node| Children::of(node).map(|child| self.name(&child)).collect())
            .unwrap_or_default()
    }

    fn file_name(&mut self, children: &mut Children<'_>) -> Option<Name> {
        let node = children.find(|child| child.as_rule() == Rule::string)?;
        self.quoted(node)
    }

    /// A tool's name, bare or quoted.
    pub(super) fn tool_name(&mut self, node: Node<'_>) -> Option<Name> {
        match node.as_rule() {
            Rule::quoted_tool => self.quoted(node.into_inner().next()?),
            _ => Some(self.name(&node)),
        }
    }

    /// `a, b* fails when … also c tagged d`.
    fn tool_facts(&mut self, children: Children<'_>) -> Option<ItemKind> {
        let (mut tools, mut facts) = (Vec::new(), Vec::new());
        for child in children {
            match child.as_rule() {
                Rule::also => {}
                Rule::fails_fact => {
                    let condition = Children::of(child).find(|part| part.as_rule() == Rule::expression)?;
                    facts.push(ToolFact::Fails(self.expression(condition)?));
                }
                Rule::other_names => facts.push(ToolFact::Also(self.tool_names(child)?)),
                Rule::tags_fact => {
                    let labels = Children::of(child).filter(|part| part.as_rule() == Rule::label);
                    facts.push(ToolFact::Tagged(labels.map(|label| self.name(&label)).collect()));
                }
                _ => tools.push(self.one_tool(child)?),
            }
        }
        Some(ItemKind::ToolFacts { tools, facts })
    }

    fn tool_names(&mut self, node: Node<'_>) -> Option<Vec<ToolName>> {
        let names = Children::of(node).filter(|part| matches!(part.as_rule(), Rule::quoted_tool | Rule::tool_glob));
        names.map(|name| self.one_tool(name)).collect()
    }

    fn one_tool(&mut self, node: Node<'_>) -> Option<ToolName> {
        let quoted = node.as_rule() == Rule::quoted_tool;
        Some(ToolName { name: self.tool_name(node)?, quoted })
    }

    /// A list literal.
    pub(super) fn list(&mut self, node: Node<'_>) -> Option<Expr> {
        let span = self.span(&node);
        let items = self.bracketed(span, |lower| Children::of(node).map(|child| lower.expression(child)).collect())?;
        Some(Expr { kind: ExprKind::List(items), span })
    }

    fn use_item(&mut self, mut children: Children<'_>) -> Option<ItemKind> {
        let target = children.next()?;
        let is_path = target.as_rule() == Rule::string;
        let target = if is_path { self.quoted(target)? } else { self.name(&target) };
        let names =
            children.opt(Rule::import_names).map(|names| Children::of(names).map(|name| self.name(&name)).collect());
        Some(ItemKind::Use(Use { target, is_path, names }))
    }

    fn param_item(&mut self, mut children: Children<'_>) -> Option<ItemKind> {
        let name = self.declared(&children.next()?);
        let ty = self.name(&children.next()?);
        let default = match children.next() {
            Some(default) => Some(self.expression(default)?),
            None => None,
        };
        Some(ItemKind::Param(Param { name, ty, default }))
    }

    fn schema_item(&mut self, mut children: Children<'_>) -> Option<ItemKind> {
        let name = self.name(&children.next()?);
        if !name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
            let mut capital = name.text.clone();
            if let Some(first) = capital.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            self.report(
                Diagnostic::new(
                    Slug::Syntax,
                    name.span,
                    format!("the name of a schema starts with a capital, and `{}` does not", name.text),
                )
                .help(format!("write `schema {capital}`"))
                .fix(format!("write `{capital}`"), name.span, capital.clone()),
            );
        }
        let source = match children.opt(Rule::object) {
            Some(object) => Literal::Inline(self.object(object)?),
            None => Literal::File(self.file_name(&mut children)?),
        };
        Some(ItemKind::Schema { name, source })
    }

    /// `rule`, `invariant`, `suite`, `case`, `pre`, `post`.
    fn body_item(&mut self, rule: Rule, children: Children<'_>) -> Option<ItemKind> {
        let (mut name, mut sentence, mut modifiers, mut body) = (None, None, Vec::new(), None);
        for child in children {
            match child.as_rule() {
                Rule::label => name = Some(self.name(&child)),
                Rule::string if rule == Rule::suite_item => name = Some(self.quoted(child)?),
                Rule::string => sentence = Some(self.text(child)?),
                Rule::header => modifiers = self.modifiers(child)?,
                _ => body = Some(self.block(child)?),
            }
        }
        let body = body?;
        Some(match rule {
            Rule::pre_item => ItemKind::Pre { body },
            Rule::post_item => ItemKind::Post { body },
            Rule::suite_item => ItemKind::Suite { name: name?, modifiers, body },
            Rule::case_item => ItemKind::Case { name: name?, modifiers, body },
            Rule::rule_item => ItemKind::Rule(NamedRule { name: name?, sentence, modifiers, body }),
            _ => ItemKind::Invariant(NamedRule { name: name?, sentence, modifiers, body }),
        })
    }

    fn settings_item(&mut self, rule: Rule, mut children: Children<'_>) -> Option<ItemKind> {
        let name = self.name(&children.next()?);
        let lines = children.next().into_iter().flat_map(Children::of);
        let settings = lines.map(|line| self.key_setting(line)).collect::<Option<Vec<Setting>>>()?;
        Some(if rule == Rule::workspace_item {
            ItemKind::Workspace { mode: name, settings }
        } else {
            ItemKind::Runner { name, settings }
        })
    }

    fn test_item(&mut self, mut children: Children<'_>) -> Option<ItemKind> {
        let name = self.quoted(children.next()?)?;
        children.word(Rule::k_expect);
        let expect = self.verdict(&children.next()?);
        let rules =
            children.opt(Rule::tested_rules).map(|rules| Children::of(rules).map(|rule| self.name(&rule)).collect());
        let run = match children.opt(Rule::run_object) {
            Some(object) => TestRun::Inline(self.object(object)?),
            None => TestRun::File(self.file_name(&mut children)?),
        };
        Some(ItemKind::Test(Test { name, expect, rules: rules.unwrap_or_default(), run }))
    }

    fn verdict(&mut self, node: &Node<'_>) -> Name {
        let name = self.name(node);
        if !words::VERDICTS.contains(&name.text.as_str()) {
            let meant = words::meant_verdict(&name.text);
            let all = "the verdicts are pass, fail, vacuous, undecided, error";
            let mut diagnostic = Diagnostic::new(Slug::Syntax, name.span, format!("`{}` is no verdict", name.text));
            diagnostic = match meant {
                Some(meant) => diagnostic.help(format!("write `expect {meant}`; {all}")).fix(
                    format!("write `{meant}`"),
                    name.span,
                    meant,
                ),
                None => diagnostic.help(format!("write `expect fail`; {all}")),
            };
            self.report(diagnostic);
        }
        name
    }

    fn call_item(&mut self, mut children: Children<'_>) -> Option<ItemKind> {
        let tool = self.tool_name(children.next()?)?;
        let input = children.next()?;
        let input = match input.as_rule() {
            Rule::object => CallInput::Object(self.object(input)?),
            _ => self.generated(input)?,
        };
        let alias = children
            .opt(Rule::call_alias)
            .and_then(|alias| Children::of(alias).find(|part| part.as_rule() == Rule::identifier));
        let alias = alias.map(|alias| self.name(&alias));
        let expect = children
            .opt(Rule::call_expectation)
            .and_then(|expect| Children::of(expect).last())
            .map(|word| self.name(&word));
        Some(ItemKind::Call(Call { tool, input, alias, expect }))
    }

    fn generated(&mut self, node: Node<'_>) -> Option<CallInput> {
        let (mut arguments, mut numbers) = (Vec::new(), Vec::new());
        let (mut schema, mut seed_name) = (None, None);
        for child in Children::of(node) {
            match child.as_rule() {
                Rule::generator => arguments.push(self.generator(child)?),
                Rule::number => numbers.push(self.number(&child)),
                Rule::by_schema => schema = Some(self.span(&child)),
                Rule::seed_name => {
                    let text = Children::of(child).find(|part| part.as_rule() == Rule::string)?;
                    seed_name = Some(self.text(text)?);
                }
                _ => {}
            }
        }
        let inputs = schema.map_or(GeneratedInputs::Arguments(arguments), GeneratedInputs::Schema);
        let mut numbers = numbers.into_iter();
        Some(CallInput::Generate { inputs, cases: numbers.next()?, seed: numbers.next()?, seed_name })
    }

    fn generator(&mut self, node: Node<'_>) -> Option<Generator> {
        let mut children = Children::of(node);
        let name = self.object_key(children.next()?, "…")?;
        let mut kinds = Vec::new();
        for child in children.filter(|child| child.as_rule() == Rule::generated_kind) {
            kinds.push(self.generated_kind(child)?);
        }
        let mut kinds = kinds.into_iter();
        Some(Generator { name, value: kinds.next()?, elements: kinds.collect() })
    }

    fn generated_kind(&mut self, node: Node<'_>) -> Option<GeneratedKind> {
        let mut children = Children::of(node);
        let ty = self.name(&children.next()?);
        let bounds = match children.next() {
            Some(bounds) => Some(self.expression(bounds)?),
            None => None,
        };
        Some(GeneratedKind { ty, bounds })
    }

    fn for_each_item(&mut self, mut children: Children<'_>) -> Option<ItemKind> {
        let clause = children.find(|child| matches!(child.as_rule(), Rule::where_clause | Rule::block))?;
        if clause.as_rule() == Rule::block {
            return Some(ItemKind::ForEachTool { condition: None, body: self.block(clause)? });
        }
        let condition = Children::of(clause).find(|child| child.as_rule() == Rule::expression)?;
        let condition = Some(self.expression(condition)?);
        Some(ItemKind::ForEachTool { condition, body: self.block(children.next()?)? })
    }
}
