//! Lowers declarations, bodies and assertions (language reference, sections 3, 8 and 10).

use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{
    Assertion, BodySetting, CallInput, Expr, ExprKind, GeneratedInputs, GeneratedKind, InputGenerator, InvariantCall,
    ItemKind, Name, ParamItem, RuleBlock as NamedRule, SchemaSource, Statement, StatementKind, SyntaxItem, TestItem,
    TestRun, TextLiteral, ToolFact, ToolName, UseItem,
};
use crate::grammar::Rule;
use crate::words;
use averment_base::diagnostic::{Diagnostic, Slug};

impl SyntaxLowering<'_> {
    /// Lowers items; an item is dropped if an error leaves nothing usable.
    pub(crate) fn lower_items(&mut self, node: GrammarPair<'_>) -> Vec<SyntaxItem> {
        NodeChildren::of_node(node)
            .filter(|child| child.as_rule() == Rule::item)
            .flat_map(|child| self.lower_item(child).unwrap_or_default())
            .collect()
    }

    pub(super) fn lower_block(&mut self, node: GrammarPair<'_>) -> Option<Vec<SyntaxItem>> {
        let span = self.node_span(&node);
        self.in_brackets(span, |lower| Some(lower.lower_items(node)))
    }

    /// Lowers one item; a line of several settings yields several items.
    pub(crate) fn lower_item(&mut self, node: GrammarPair<'_>) -> Option<Vec<SyntaxItem>> {
        let form = NodeChildren::of_node(node).next()?;
        let span = self.node_span(&form);
        let kind = match form.as_rule() {
            Rule::setting_line => return self.setting_line(form),
            Rule::assertion => ItemKind::Assertion(self.lower_assertion(form)?),
            _ => self.lower_declaration(form)?,
        };
        Some(vec![SyntaxItem { kind, span, doc: None }])
    }

    pub(crate) fn lone_setting(&mut self, node: GrammarPair<'_>) -> Vec<SyntaxItem> {
        let lines = NodeChildren::of_node(node).filter(|child| child.as_rule() == Rule::runner_setting);
        let item = |(span, setting)| SyntaxItem { kind: ItemKind::Setting(setting), span, doc: None };
        lines.filter_map(|line| Some((self.node_span(&line), self.key_setting(line)?))).map(item).collect()
    }

    fn lower_assertion(&mut self, node: GrammarPair<'_>) -> Option<Assertion> {
        let span = self.node_span(&node);
        let mut children = NodeChildren::of_node(node);
        let statement = self.lower_statement(children.next()?)?;
        if self.lone_word(&statement) {
            return None;
        }
        let modifiers = match children.next_if_rule(Rule::modifiers) {
            Some(modifiers) => self.lower_modifiers(modifiers)?,
            None => Vec::new(),
        };
        Some(Assertion { statement, modifiers, span })
    }

    /// Reports a single statement word, which parses as an undeclared name.
    fn lone_word(&mut self, statement: &Statement) -> bool {
        let StatementKind::Expression(Expr { kind: ExprKind::Name(word), span }) = &statement.kind else {
            return false;
        };
        let Some(example) = words::example_of(word) else { return false };
        self.report_error(
            span.at_end(),
            format!("something is missing behind `{word}`"),
            format!("write for example `{example}`"),
        );
        true
    }

    fn lower_declaration(&mut self, node: GrammarPair<'_>) -> Option<ItemKind> {
        let rule = node.as_rule();
        let mut children = NodeChildren::of_node(node);
        children.next()?;
        match rule {
            Rule::use_item => self.use_item(children),
            Rule::param_item => self.param_item(children),
            Rule::let_item => {
                let name = self.declared_name(&children.next()?);
                Some(ItemKind::Let { name, value: self.lower_expression(children.next()?)? })
            }
            Rule::def_step_item => {
                children.skip_word(Rule::k_step);
                let name = self.declared_name(&children.next()?);
                let parameters = self.lower_parameters(&mut children);
                Some(ItemKind::DefStep { name, parameters, body: self.lower_step(children.next()?)? })
            }
            Rule::def_item => {
                let name = self.declared_name(&children.next()?);
                let parameters = self.lower_parameters(&mut children);
                Some(ItemKind::Def { name, parameters, body: self.lower_expression(children.next()?)? })
            }
            Rule::schema_item => self.schema_item(children),
            Rule::tools_item => Some(ItemKind::ToolsFrom { path: self.file_name(&mut children)? }),
            Rule::tool_item => {
                let name = self.tool_name(children.next()?)?;
                Some(ItemKind::Tool { name, schema: self.lower_object(children.next()?)? })
            }
            Rule::tool_facts_item => self.tool_facts(children),
            Rule::test_item => self.test_item(children),
            Rule::call_item => self.call_item(children),
            Rule::for_each_item => self.for_each_item(children),
            Rule::workspace_item | Rule::runner_item => self.settings_item(rule, children),
            _ => self.body_item(rule, children),
        }
    }

    fn declared_name(&mut self, node: &GrammarPair<'_>) -> Name {
        let name = self.node_name(node);
        if words::is_reserved(&name.text) {
            self.report_diagnostic(
                Diagnostic::new(
                    Slug::ReservedName,
                    name.span,
                    format!("`{}` is a word of the language and cannot be declared", name.text),
                )
                .with_help(format!("choose another name, such as `the_{}`", name.text)),
            );
        }
        name
    }

    fn lower_parameters(&mut self, children: &mut NodeChildren<'_>) -> Vec<Name> {
        children
            .next_if_rule(Rule::parameters)
            .map(|node| NodeChildren::of_node(node).map(|child| self.node_name(&child)).collect())
            .unwrap_or_default()
    }

    fn file_name(&mut self, children: &mut NodeChildren<'_>) -> Option<Name> {
        let node = children.find(|child| child.as_rule() == Rule::string)?;
        self.lower_quoted(node)
    }

    pub(super) fn tool_name(&mut self, node: GrammarPair<'_>) -> Option<Name> {
        match node.as_rule() {
            Rule::quoted_tool => self.lower_quoted(node.into_inner().next()?),
            _ => Some(self.node_name(&node)),
        }
    }

    fn tool_facts(&mut self, children: NodeChildren<'_>) -> Option<ItemKind> {
        let (mut tools, mut facts) = (Vec::new(), Vec::new());
        for child in children {
            match child.as_rule() {
                Rule::also => {}
                Rule::fails_fact => {
                    let condition = NodeChildren::of_node(child).find(|part| part.as_rule() == Rule::expression)?;
                    facts.push(ToolFact::Fails(self.lower_expression(condition)?));
                }
                Rule::other_names => facts.push(ToolFact::Also(self.tool_names(child)?)),
                Rule::tags_fact => {
                    let labels = NodeChildren::of_node(child).filter(|part| part.as_rule() == Rule::label);
                    facts.push(ToolFact::Tagged(labels.map(|label| self.node_name(&label)).collect()));
                }
                _ => tools.push(self.one_tool(child)?),
            }
        }
        Some(ItemKind::ToolFacts { tools, facts })
    }

    fn tool_names(&mut self, node: GrammarPair<'_>) -> Option<Vec<ToolName>> {
        let names =
            NodeChildren::of_node(node).filter(|part| matches!(part.as_rule(), Rule::quoted_tool | Rule::tool_glob));
        names.map(|name| self.one_tool(name)).collect()
    }

    fn one_tool(&mut self, node: GrammarPair<'_>) -> Option<ToolName> {
        let quoted = node.as_rule() == Rule::quoted_tool;
        Some(ToolName { name: self.tool_name(node)?, quoted })
    }

    pub(super) fn lower_list(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        let span = self.node_span(&node);
        let items = self.in_brackets(span, |lower| {
            NodeChildren::of_node(node).map(|child| lower.lower_expression(child)).collect()
        })?;
        Some(Expr { kind: ExprKind::List(items), span })
    }

    fn use_item(&mut self, mut children: NodeChildren<'_>) -> Option<ItemKind> {
        let target = children.next()?;
        let is_path = target.as_rule() == Rule::string;
        let target = if is_path { self.lower_quoted(target)? } else { self.node_name(&target) };
        let names = children
            .next_if_rule(Rule::import_names)
            .map(|names| NodeChildren::of_node(names).map(|name| self.node_name(&name)).collect());
        Some(ItemKind::Use(UseItem { target, is_path, names }))
    }

    fn param_item(&mut self, mut children: NodeChildren<'_>) -> Option<ItemKind> {
        let name = self.declared_name(&children.next()?);
        let ty = self.node_name(&children.next()?);
        let default = match children.next() {
            Some(default) => Some(self.lower_expression(default)?),
            None => None,
        };
        Some(ItemKind::Param(ParamItem { name, ty, default }))
    }

    fn schema_item(&mut self, mut children: NodeChildren<'_>) -> Option<ItemKind> {
        let name = self.node_name(&children.next()?);
        if !name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
            let mut capital = name.text.clone();
            if let Some(first) = capital.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            self.report_diagnostic(
                Diagnostic::new(
                    Slug::Syntax,
                    name.span,
                    format!("the name of a schema starts with a capital, and `{}` does not", name.text),
                )
                .with_help(format!("write `schema {capital}`"))
                .with_fix(format!("write `{capital}`"), name.span, capital.clone()),
            );
        }
        let source = match children.next_if_rule(Rule::object) {
            Some(object) => SchemaSource::Inline(self.lower_object(object)?),
            None => SchemaSource::File(self.file_name(&mut children)?),
        };
        Some(ItemKind::Schema { name, source })
    }

    fn body_item(&mut self, rule: Rule, children: NodeChildren<'_>) -> Option<ItemKind> {
        let (mut name, mut sentence, mut modifiers, mut body) = (None, None, Vec::new(), None);
        for child in children {
            match child.as_rule() {
                Rule::label => name = Some(self.node_name(&child)),
                Rule::string if rule == Rule::suite_item => name = Some(self.lower_quoted(child)?),
                Rule::string => sentence = Some(self.lower_text(child)?),
                Rule::header => modifiers = self.lower_modifiers(child)?,
                _ => body = Some(self.lower_block(child)?),
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

    fn settings_item(&mut self, rule: Rule, mut children: NodeChildren<'_>) -> Option<ItemKind> {
        let name = self.node_name(&children.next()?);
        let lines = children.next().into_iter().flat_map(NodeChildren::of_node);
        let settings = lines.map(|line| self.key_setting(line)).collect::<Option<Vec<BodySetting>>>()?;
        Some(if rule == Rule::workspace_item {
            ItemKind::Workspace { mode: name, settings }
        } else {
            ItemKind::Runner { name, settings }
        })
    }

    fn test_item(&mut self, mut children: NodeChildren<'_>) -> Option<ItemKind> {
        let name = self.lower_quoted(children.next()?)?;
        children.skip_word(Rule::k_expect);
        let expect = self.verdict_name(&children.next()?);
        let rules = children
            .next_if_rule(Rule::tested_rules)
            .map(|rules| NodeChildren::of_node(rules).map(|rule| self.node_name(&rule)).collect());
        let run = match children.next_if_rule(Rule::run_object) {
            Some(object) => TestRun::Inline(self.lower_object(object)?),
            None => TestRun::File(self.file_name(&mut children)?),
        };
        Some(ItemKind::Test(TestItem { name, expect, rules: rules.unwrap_or_default(), run }))
    }

    fn verdict_name(&mut self, node: &GrammarPair<'_>) -> Name {
        let name = self.node_name(node);
        if !words::VERDICTS.contains(&name.text.as_str()) {
            let meant = words::meant_verdict(&name.text);
            let all = "the verdicts are pass, fail, vacuous, undecided, error";
            let mut diagnostic = Diagnostic::new(Slug::Syntax, name.span, format!("`{}` is no verdict", name.text));
            diagnostic = match meant {
                Some(meant) => diagnostic.with_help(format!("write `expect {meant}`; {all}")).with_fix(
                    format!("write `{meant}`"),
                    name.span,
                    meant,
                ),
                None => diagnostic.with_help(format!("write `expect fail`; {all}")),
            };
            self.report_diagnostic(diagnostic);
        }
        name
    }

    fn call_item(&mut self, mut children: NodeChildren<'_>) -> Option<ItemKind> {
        let (tool, tool_text) = self.called_tool(children.next()?)?;
        let input = children.next()?;
        let input = match input.as_rule() {
            Rule::object => CallInput::Object(self.lower_object(input)?),
            _ => self.lower_generated(input)?,
        };
        let alias = children
            .next_if_rule(Rule::call_alias)
            .and_then(|alias| NodeChildren::of_node(alias).find(|part| part.as_rule() == Rule::identifier));
        let alias = alias.map(|alias| self.node_name(&alias));
        let expect = children
            .next_if_rule(Rule::call_expectation)
            .and_then(|expect| NodeChildren::of_node(expect).last())
            .map(|word| self.node_name(&word));
        Some(ItemKind::Call(InvariantCall { tool, tool_text, input, alias, expect }))
    }

    /// Returns the tool of a `call`, and the text of its name if it contains parameters.
    fn called_tool(&mut self, node: GrammarPair<'_>) -> Option<(Name, Option<TextLiteral>)> {
        if node.as_rule() != Rule::quoted_tool {
            return Some((self.node_name(&node), None));
        }
        let text = self.lower_text(node.into_inner().next()?)?;
        if let Some(literal) = text.literal_text() {
            return Some((Name { text: literal.to_owned(), span: text.span }, None));
        }
        let written = self.source_text(text.span);
        let inside = written.get(1..written.len().saturating_sub(1)).unwrap_or(written);
        Some((Name { text: inside.to_owned(), span: text.span }, Some(text)))
    }

    fn lower_generated(&mut self, node: GrammarPair<'_>) -> Option<CallInput> {
        let (mut arguments, mut numbers) = (Vec::new(), Vec::new());
        let (mut schema, mut seed_name) = (None, None);
        for child in NodeChildren::of_node(node) {
            match child.as_rule() {
                Rule::generator => arguments.push(self.lower_generator(child)?),
                Rule::number => numbers.push(self.lower_number(&child)),
                Rule::by_schema => schema = Some(self.node_span(&child)),
                Rule::seed_name => {
                    let text = NodeChildren::of_node(child).find(|part| part.as_rule() == Rule::string)?;
                    seed_name = Some(self.lower_text(text)?);
                }
                _ => {}
            }
        }
        let inputs = schema.map_or(GeneratedInputs::Arguments(arguments), GeneratedInputs::Schema);
        let mut numbers = numbers.into_iter();
        Some(CallInput::Generate { inputs, cases: numbers.next()?, seed: numbers.next()?, seed_name })
    }

    fn lower_generator(&mut self, node: GrammarPair<'_>) -> Option<InputGenerator> {
        let mut children = NodeChildren::of_node(node);
        let name = self.object_key(children.next()?, "…")?;
        let mut kinds = Vec::new();
        for child in children.filter(|child| child.as_rule() == Rule::generated_kind) {
            kinds.push(self.generated_kind(child)?);
        }
        let mut kinds = kinds.into_iter();
        Some(InputGenerator { name, value: kinds.next()?, elements: kinds.collect() })
    }

    fn generated_kind(&mut self, node: GrammarPair<'_>) -> Option<GeneratedKind> {
        let mut children = NodeChildren::of_node(node);
        let ty = self.node_name(&children.next()?);
        let bounds = match children.next() {
            Some(bounds) => Some(self.lower_expression(bounds)?),
            None => None,
        };
        Some(GeneratedKind { ty, bounds })
    }

    fn for_each_item(&mut self, mut children: NodeChildren<'_>) -> Option<ItemKind> {
        let clause = children.find(|child| matches!(child.as_rule(), Rule::where_clause | Rule::block))?;
        if clause.as_rule() == Rule::block {
            return Some(ItemKind::ForEachTool { condition: None, body: self.lower_block(clause)? });
        }
        let condition = NodeChildren::of_node(clause).find(|child| child.as_rule() == Rule::expression)?;
        let condition = Some(self.lower_expression(condition)?);
        Some(ItemKind::ForEachTool { condition, body: self.lower_block(children.next()?)? })
    }
}
