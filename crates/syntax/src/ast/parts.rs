//! The table of the tree's types and their parts, from which code that visits every part is generated. Statements have their own table, which also
//! defines their type (`super::statement`).
//!
//! `plain` receives the types without spans, `fields` the structs with their fields, `variants` the enums with their variants.

macro_rules! parts {
    ($plain:ident, $fields:ident, $variants:ident) => {
        super::statement::statements!($variants);
        super::parts::pattern_parts!($variants);
        $plain!(
            bool,
            u32,
            String,
            WithinUnit,
            SequenceMode,
            Quantifier,
            MatchExtent,
            MatchOrder,
            ArgumentMatch,
            StepWord,
            StatusWord,
            ExprQuantifier,
            BinaryOperator,
            SoFarReach,
            TestKind,
            NumberUnit
        );

        $fields! {
            Name { text, span }
            RuleFile { items, allows, unread }
            AllowComment { slugs, span }
            SyntaxItem { kind, span, doc }
            UseItem { target, is_path, names }
            ParamItem { name, ty, default }
            RuleBlock { name, sentence, modifiers, body }
            TestItem { name, expect, rules, run }
            InvariantCall { tool, tool_text, input, alias, expect }
            InputGenerator { name, value, elements }
            GeneratedKind { ty, bounds }
            Assertion { statement, modifiers, span }
            Modifier { kind, span }
            Statement { kind, span }
            StepCount { least, most, span }
            WithinBound { number, unit, span }
            PredicateTarget { expr, step, span }
            StepPattern { kind, span }
            Atom { subject, arguments, status, by, tagged, proposed }
            ByAgent { agent, span }
            ToolName { name, quoted }
            FlowExpr { kind, span }
            Expr { kind, span }
            ValueTest { kind, negated, operand, name, operator, span }
            NumberLiteral { text, value, unit, span }
            TextLiteral { parts, span }
            RegexLiteral { pattern, flags, span, pattern_span }
        }

        $variants! {
            ItemKind {
                Use(one);
                Param(one);
                Let { name, value };
                Def { name, parameters, body };
                DefStep { name, parameters, body };
                Schema { name, source };
                ToolsFrom { path };
                Tool { name, schema };
                ToolFacts { tools, facts };
                Rule(one);
                Suite { name, modifiers, body };
                Case { name, modifiers, body };
                Workspace { mode, settings };
                Runner { name, settings };
                Pre { body };
                Post { body };
                Test(one);
                Invariant(one);
                Call(one);
                ForEachTool { condition, body };
                Setting(one);
                Assertion(one);
            }
            ToolFact {
                Fails(one);
                Also(one);
                Tagged(one);
            }
            SchemaSource {
                Inline(one);
                File(one);
            }
            TestRun {
                Inline(one);
                File(one);
            }
            CallInput {
                Object(one);
                Generate { inputs, cases, seed, seed_name };
            }
            GeneratedInputs {
                Arguments(one);
                Schema(one);
            }
            BodySetting {
                Modifier(one);
                Key { key, value, timeout };
                Classify { id, label, test };
            }
            MessageTest {
                Contains(one);
                Matches(one);
            }
            ModifierKind {
                Weight(one);
                Severity(one);
                Must;
                Threshold(one);
                Message(one);
                As(one);
                Class(one, two);
                Tags(one);
                When(one);
                Id(one);
                ExpectFail(one);
                Deny(one);
                Allow(one);
            }
            ExprKind {
                Null;
                Boolean(one);
                Number(one);
                Text(one);
                Regex(one);
                List(one);
                Object(one);
                Name(one);
                Binding(one);
                Field { base, name };
                Index { base, index };
                Every { base };
                Deep { base };
                Call { name, arguments, piped };
                Negate(one);
                Not(one);
                Binary { operator, operator_span, left, right };
                Range { start, end };
                Test { subject, test };
                If { condition, then, otherwise };
                Quantifier { quantifier, variable, source, body };
                Counted { step, so_far };
                Of { value, target, so_far };
                OverRuns { value, by };
                Filtered { list, condition };
                Group(one);
            }
            TextPart {
                Literal(one);
                Interpolation(one);
            }
        }
    };
}

macro_rules! pattern_parts {
    ($variants:ident) => {
        $variants! {
            NeverWindow {
                After { open, until };
                Before { close };
                Between { open, close };
            }
            BlockScope {
                After { open, until };
                Before { close };
                Between { open, close };
                Each { step };
                When { condition };
            }
            SlidingExtent {
                Within(one);
                Row(one);
            }
            GroupKind {
                Any;
                All;
                None;
                AtLeast(one);
            }
            WorldCheck {
                File { path, test };
                Env { name, empty, negated };
                Tool { name, negated };
                Http { url, test };
                Run { command, code };
            }
            RunShare {
                Least(one);
                Most(one);
                LeastOf { passes, of };
                Power { power, share };
            }
            RatedSubject {
                Rule(one);
                Statement(one);
            }
            TextOrRegex {
                Text(one);
                Regex(one);
            }
            PatternForm {
                Atom(one);
                Choice(one);
                Where { step, condition };
                Proposed(one);
            }
            AtomSubject {
                Tool(one);
                QuotedTool(one);
                ToolText(one);
                Kind { kind, word, text };
            }
            KindText {
                Text(one);
                Regex(one);
                Command(one);
            }
            AgentPattern {
                Name(one);
                Text(one);
                Regex(one);
                Binding(one);
            }
            PatternArgument {
                Matches { path, value, span };
                Test(one);
            }
            FlowKind {
                Step(one);
                Sequence(one);
                Choice(one);
                Repeat { body, least, most };
            }
        }
    };
}

pub(super) use {parts, pattern_parts};
