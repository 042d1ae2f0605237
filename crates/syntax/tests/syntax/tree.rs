//! Tests of the tree: operator precedence, the values of strings and numbers, and the positions of comments.
//!
//! Trees are compared in a short form: `(and (== output.a 1) b)`.

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_syntax::ast::{
    AgentPattern, ArgumentMatch, AtomSubject, BodySetting, Expr, ExprKind, FlowExpr, FlowKind, ItemKind, KindText,
    MatchExtent, MatchOrder, ModifierKind, PatternArgument, PatternForm, RuleFile, StatementKind, StepPattern,
    SyntaxItem, TextLiteral, TextPart, ValueTest,
};
use averment_syntax::{self as syntax, Trivia};

fn read(text: &str) -> (RuleFile, Trivia) {
    let mut map = SourceMap::default();
    let file = map.add_file(SourceFile::new("rules.assert", None, text));
    let (tree, trivia, diagnostics) = syntax::parse(&map, file, &Limits::default());
    assert!(diagnostics.0.is_empty(), "{text}: {diagnostics:?}");
    (tree, trivia)
}

fn statement(text: &str) -> StatementKind {
    match read(text).0.items.into_iter().next().unwrap().kind {
        ItemKind::Assertion(assertion) => assertion.statement.kind,
        other => panic!("{text} is no assertion: {other:?}"),
    }
}

fn expression(text: &str) -> String {
    match statement(text) {
        StatementKind::Expression(expr) => short(&expr),
        other => panic!("{text} is no expression: {other:?}"),
    }
}

fn short(expr: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(short).collect::<Vec<_>>().join(" ");
    let end = |end: &Option<Box<Expr>>| end.as_ref().map_or("_".to_owned(), |end| short(end));
    match &expr.kind {
        ExprKind::Null => "null".into(),
        ExprKind::Boolean(value) => value.to_string(),
        ExprKind::Number(number) => number.value.clone(),
        ExprKind::Text(text) => written(text),
        ExprKind::Regex(regex) => format!("/{}/{}", regex.pattern, regex.flags),
        ExprKind::List(items) => format!("[{}]", list(items)),
        ExprKind::Object(pairs) => {
            format!(
                "{{{}}}",
                pairs.iter().map(|(key, value)| format!("{}:{}", key.text, short(value))).collect::<Vec<_>>().join(" ")
            )
        }
        ExprKind::Name(name) => name.clone(),
        ExprKind::Binding(name) => format!("${name}"),
        ExprKind::Field { base, name } => format!("{}.{}", short(base), name.text),
        ExprKind::Index { base, index } => format!("{}[{}]", short(base), short(index)),
        ExprKind::Every { base } => format!("{}[*]", short(base)),
        ExprKind::Deep { base } => format!("{}[**]", short(base)),
        ExprKind::Call { name, arguments, piped } => {
            format!("{}{}({})", if *piped { "|" } else { "" }, name.text, list(arguments))
        }
        ExprKind::Negate(inner) => format!("(- {})", short(inner)),
        ExprKind::Not(inner) => format!("(not {})", short(inner)),
        ExprKind::Binary { operator, left, right, .. } => format!("({operator:?} {} {})", short(left), short(right)),
        ExprKind::Range { start, end: stop } => format!("{}..{}", end(start), end(stop)),
        ExprKind::Test { subject, test } => format!("({} {})", short(subject), tested(test)),
        ExprKind::If { condition, then, otherwise } => {
            format!("(if {} {} {})", short(condition), short(then), short(otherwise))
        }
        ExprKind::Quantifier { quantifier, variable, source, body } => {
            format!("({quantifier:?} {} in {}: {})", variable.text, short(source), short(body))
        }
        ExprKind::Counted { step: one, so_far } => {
            format!("(count {}{})", step(one), far(*so_far))
        }
        ExprKind::Of { value, target, so_far } => {
            let of = match (&target.expr, &target.step) {
                (Some(list), _) => short(list),
                (None, Some(one)) => step(one),
                (None, None) => String::new(),
            };
            format!("({} of {of}{})", short(value), far(*so_far))
        }
        ExprKind::OverRuns { value, by } => {
            let by = by.as_ref().map_or_else(String::new, |by| format!(" by {}", short(by)));
            format!("({} of runs{by})", short(value))
        }
        ExprKind::Filtered { list, condition } => format!("({} where {})", short(list), short(condition)),
        ExprKind::Group(inner) => format!("<{}>", short(inner)),
    }
}

fn tested(test: &ValueTest) -> String {
    let mut text = format!("{}{:?}", if test.negated { "!" } else { "" }, test.kind);
    if let Some(name) = &test.name {
        text += &format!(" {}", name.text);
    }
    if let Some(operand) = &test.operand {
        text += &format!(" {}", short(operand));
    }
    text
}

fn written(text: &TextLiteral) -> String {
    let parts = text.parts.iter().map(|part| match part {
        TextPart::Literal(text) => text.clone(),
        TextPart::Interpolation(value) => format!("${{{}}}", short(value)),
    });
    format!("{:?}", parts.collect::<String>())
}

fn step(step: &StepPattern) -> String {
    match &step.kind {
        PatternForm::Choice(steps) => steps.iter().map(self::step).collect::<Vec<_>>().join(" | "),
        PatternForm::Where { step, condition } => format!("({} where {})", self::step(step), short(condition)),
        PatternForm::Proposed(inner) => format!("proposed({})", self::step(inner)),
        PatternForm::Atom(atom) => {
            let subject = match &atom.subject {
                AtomSubject::Tool(name) => name.text.clone(),
                AtomSubject::QuotedTool(name) => format!("{:?}", name.text),
                AtomSubject::ToolText(text) => written(text),
                AtomSubject::Kind { kind, text, .. } => match text {
                    None => format!("{kind:?}"),
                    Some(KindText::Text(text)) => format!("{kind:?} {}", written(text)),
                    Some(KindText::Regex(regex)) => format!("{kind:?} /{}/", regex.pattern),
                    Some(KindText::Command(name)) => format!("{kind:?} {}", name.text),
                },
            };
            let argument = |argument: &PatternArgument| match argument {
                PatternArgument::Matches { path, value, .. } => format!("{}: {}", short(path), short(value)),
                PatternArgument::Test(test) => short(test),
            };
            let arguments = atom
                .arguments
                .as_ref()
                .map(|list| format!("({})", list.iter().map(argument).collect::<Vec<_>>().join(", ")));
            let status = atom.status.map_or(String::new(), |status| format!(" {status:?}"));
            let by = atom.by.as_ref().map_or(String::new(), |by| match &by.agent {
                AgentPattern::Name(name) => format!(" by {}", name.text),
                AgentPattern::Text(text) => format!(" by {}", written(text)),
                AgentPattern::Regex(regex) => format!(" by /{}/", regex.pattern),
                AgentPattern::Binding(binding) => format!(" by {}", short(binding)),
            });
            let tagged = atom.tagged.as_ref().map_or(String::new(), |tag| format!(" tagged {}", tag.text));
            format!(
                "{}{subject}{}{status}{by}{tagged}",
                if atom.proposed { "proposed " } else { "" },
                arguments.unwrap_or_default()
            )
        }
    }
}

fn flow(flow: &FlowExpr) -> String {
    match &flow.kind {
        FlowKind::Step(inner) => step(inner),
        FlowKind::Sequence(parts) => format!("({})", parts.iter().map(self::flow).collect::<Vec<_>>().join(" -> ")),
        FlowKind::Choice(parts) => format!("({})", parts.iter().map(self::flow).collect::<Vec<_>>().join(" | ")),
        FlowKind::Repeat { body, least, most } => format!("{}{{{least},{most:?}}}", self::flow(body)),
    }
}

#[test]
fn operators_bind_in_the_order_of_the_reference() {
    for (text, tree) in [
        ("a implies b implies c", "(Implies a (Implies b c))"),
        ("a or b and not c == 3", "(Or a (And b (not (c Equal 3))))"),
        ("a and b or c and d", "(Or (And a b) (And c d))"),
        ("a + 2 * b - 1 == 7", "((Subtract (Add a (Multiply 2 b)) 1) Equal 7)"),
        ("a - b - c == 1", "((Subtract (Subtract a b) c) Equal 1)"),
        ("a / b % c * d == 1", "((Multiply (Remainder (Divide a b) c) d) Equal 1)"),
        ("-a + 3 == --b", "((Add (- a) 3) Equal (- (- b)))"),
        ("n in 1..2 + 3", "(n In 1..(Add 2 3))"),
        ("n in 50..", "(n In 50.._)"),
        ("n in ..10 and m", "(And (n In _..10) m)"),
        ("a | trim() | lower() == \"x\"", "(|lower(|trim(a)) Equal \"x\")"),
        ("a + 1 | f(2)", "|f((Add a 1) 2)"),
        ("calls | first().tool == \"a\"", "(|first(calls).tool Equal \"a\")"),
        ("1..3 | length() == 3", "(|length(1..3) Equal 3)"),
        ("not a == b", "(not (a Equal b))"),
        ("not not (a or b)", "(not (not <(Or a b)>))"),
        ("if a then b else if c then d else e == 1", "(if a b (if c d (e Equal 1)))"),
        ("all x in xs: x.a or x.b and c", "(All x in xs: (Or x.a (And x.b c)))"),
        ("a and any x in xs: x or b", "(And a (Any x in xs: (Or x b)))"),
        ("(count x in xs: x.ok) >= 2", "(<(Count x in xs: x.ok)> GreaterOrEqual 2)"),
        ("a[0].b[\"k y\"][*].c[**] == 1", "(a[0].b[\"k y\"][*].c[**] Equal 1)"),
        ("a[-1] == {b: [1, 2,], \"c-d\": null,}", "(a[(- 1)] Equal {b:[1 2] c-d:null})"),
    ] {
        assert_eq!(expression(text), tree, "{text}");
    }
}

#[test]
fn every_test_has_its_negation() {
    for (text, tree) in [
        ("a != 1", "(a !Equal 1)"),
        ("a !== 1", "(a !Identical 1)"),
        ("a not in [1]", "(a !In [1])"),
        ("a contains all [1]", "(a ContainsAll [1])"),
        ("a not contains none [1]", "(a !ContainsNone [1])"),
        ("a icontains \"x\"", "(a ContainsIgnoringCase \"x\")"),
        ("a not starts with \"x\"", "(a !StartsWith \"x\")"),
        ("a does not end with \"x\"", "(a !EndsWith \"x\")"),
        ("a does not match /x/i", "(a !Matches /x/i)"),
        ("a does not contain \"x\"", "(a !Contains \"x\")"),
        ("a mentions \"x\"", "(a Mentions \"x\")"),
        ("a not mentions \"x\"", "(a !Mentions \"x\")"),
        ("a does not mention \"x\"", "(a !Mentions \"x\")"),
        ("a is not string", "(a !Is string)"),
        ("a is Refund", "(a Is Refund)"),
        ("a is not json", "(a !IsJson)"),
        ("a is json Refund", "(a IsJson Refund)"),
        ("a contains json Refund", "(a ContainsJson Refund)"),
        ("a contains json(b)", "(a Contains json(b))"),
        ("a is not empty and b is missing", "(And (a !IsEmpty) (b IsMissing))"),
        ("a not exists or b exists", "(Or (a !Exists) (b Exists))"),
    ] {
        assert_eq!(expression(text), tree, "{text}");
    }
}

#[test]
fn a_chain_of_a_thousand_alternatives_is_no_deep_tree() {
    let text = (0..1000).map(|n| format!("a == {n}")).collect::<Vec<_>>().join(" or ");
    let StatementKind::Expression(expr) = statement(&text) else { panic!("no expression") };
    fn depth(expr: &Expr) -> usize {
        match &expr.kind {
            ExprKind::Binary { left, right, .. } => 1 + depth(left).max(depth(right)),
            _ => 1,
        }
    }
    assert!(depth(&expr) <= 12, "{}", depth(&expr));
    let flat = short(&expr);
    let order: Vec<usize> =
        flat.split("Equal ").skip(1).map(|rest| rest.split(')').next().unwrap().parse().unwrap()).collect();
    assert_eq!(order, (0..1000).collect::<Vec<_>>());
}

#[test]
fn strings_mean_what_is_written() {
    for (text, value) in [
        (r#""a\"b\\c\n\t\u{1F600}\$""#, "a\"b\\c\n\t\u{1f600}$"),
        (r"'raw \n ${x}'", "raw \\n ${x}"),
        ("\"\"", ""),
        ("\"${a}-${b + 1}\"", "${a}-${(Add b 1)}"),
        ("\"${\"${a}\"}\"", "${\"${a}\"}"),
        ("\"\"\"\n  one\n    two\n\n  ${x} three\n  \"\"\"", "one\n  two\n\n${x} three\n"),
        ("\"\"\"\r\n  one\r\n  two\r\n  \"\"\"", "one\ntwo\n"),
        ("\"\"\"one\n  two\"\"\"", "one\ntwo"),
        ("\"\"\"a \"quoted\" b\"\"\"", "a \"quoted\" b"),
    ] {
        assert_eq!(expression(text), format!("{value:?}").replace("\\\"${a}\\\"", "\\\"${a}\\\""), "{text}");
    }
}

#[test]
fn steps_are_read_with_all_their_parts() {
    for (text, tree) in [
        ("require admin_*", "admin_*"),
        ("require mcp__x__*->not", "mcp__x__*"),
        ("require functions.search | fs/read_file", "functions.search | fs/read_file"),
        ("require \"read\"", "\"read\""),
        ("require read", "Read"),
        ("require read \"src/**\"", "Read \"src/**\""),
        ("require command npm(args: [\"test\"])", "Command npm(args: [\"test\"])"),
        ("require command /npm (ci|install)/", "Command /npm (ci|install)/"),
        ("require http \"x\"(status: 200)", "Http \"x\"(status: 200)"),
        ("require proposed delete_*(force: true)", "proposed delete_*(force: true)"),
        ("require proposed (a | b)", "proposed(a | b)"),
        ("require proposed", "proposed"),
        ("require command \"a\" | \"b\" | /c/", "Command \"a\" | Command \"b\" | Command /c/"),
        ("require \"a\" | command \"b\" | read | \"c\"", "\"a\" | Command \"b\" | Read | Read \"c\""),
        ("require (user \"a\" where ok) | \"b\"(turn: 1) ok", "(User \"a\" where ok) | User \"b\"(turn: 1) Ok"),
        ("require (command \"a\" | (\"b\" | /c/))", "Command \"a\" | Command \"b\" | Command /c/"),
        (
            "require command \"a\" | proposed \"b\" | proposed (\"c\" | d)",
            "Command \"a\" | proposed \"b\" | proposed(\"c\" | d)",
        ),
        (
            "require f(count: 3, if: 1, not: 2, a > 1, \"user-id\": $x, b.c[0]: /x/) failed",
            "f(count: 3, if: 1, not: 2, (a Greater 1), \"user-id\": $x, b.c[0]: /x/) Failed",
        ),
        ("require (a where b == 1 and c) | d", "(a where (And (b Equal 1) c)) | d"),
        ("require (a | b) where c", "(a | b where c)"),
        ("require (a where b | length() > 2)", "(a where (|length(b) Greater 2))"),
        ("require ok ok", "ok Ok"),
    ] {
        let text = text.replace("->not", "");
        match statement(&text) {
            StatementKind::Require { step: found, .. } => assert_eq!(step(&found), tree, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn flows_are_regular_expressions() {
    for (text, tree) in [
        ("flow plan -> (search -> (fetch)*)+ -> answer", "(plan -> (search -> fetch{0,None}){1,None} -> answer)"),
        ("flow a | (b -> c) -> d", "((a | (b -> c)) -> d)"),
        ("flow (a){2,3} -> (b){2} -> (c){2,} -> (d)?", "(a{2,Some(3)} -> b{2,Some(2)} -> c{2,None} -> d{0,Some(1)})"),
        ("flow a* -> b", "(a* -> b)"),
        ("flow (a where x == 1)+", "(a where (x Equal 1)){1,None}"),
        ("flow ((a))", "a"),
    ] {
        match statement(text) {
            StatementKind::Flow { flow: found } => assert_eq!(flow(&found), tree, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_glob_at_the_end_of_a_line_does_not_continue_it() {
    assert_eq!(read("no bad in b*\ncount (x | y) in 1..\n").0.items.len(), 2);
    assert!(matches!(statement("no bad in b * c"), StatementKind::NoPredicate { target, .. } if target.expr.is_some()));
}

#[test]
fn a_line_that_reads_as_a_statement_is_one() {
    assert!(matches!(statement("first(calls)"), StatementKind::First { .. }));
    assert_eq!(expression("first(calls).tool == \"a\""), "(first(calls).tool Equal \"a\")");
    assert!(matches!(statement("count x in 1..3"), StatementKind::Count { .. }));
    assert_eq!(expression("count x in xs: x.ok"), "(Count x in xs: x.ok)");
    assert!(matches!(statement("if a then b"), StatementKind::IfThen { .. }));
    assert_eq!(expression("if a then b else c"), "(if a b c)");
    assert!(matches!(statement("not both a, b"), StatementKind::NotBoth { .. }));
    assert!(matches!(statement("nested a -> b"), StatementKind::Nested { .. }));
    assert!(matches!(statement("require nested"), StatementKind::Require { .. }));
    assert_eq!(expression("nested.x == 1"), "(nested.x Equal 1)");
    assert_eq!(expression("output.nested == 1"), "(output.nested Equal 1)");
    assert!(matches!(statement("not require a"), StatementKind::Not(_)));
    assert_eq!(expression("not a"), "(not a)");
    assert!(matches!(statement("env LANG is set"), StatementKind::World(_)));
    assert_eq!(expression("env.LANG exists"), "(env.LANG Exists)");
    assert!(matches!(statement("args valid"), StatementKind::ArgsValid { strict: false, step: None }));
    let matching =
        statement("calls match superset of inputs.x in order arguments named ignoring [id, \"a.b\"] score >= 80%");
    let StatementKind::CallsMatch { extent, order, arguments, ignored, score, .. } = matching else {
        panic!("no match")
    };
    assert_eq!((extent, order, arguments), (MatchExtent::Superset, Some(MatchOrder::Kept), ArgumentMatch::Named));
    assert_eq!(ignored.iter().map(|key| key.text.as_str()).collect::<Vec<_>>(), ["id", "a.b"]);
    assert_eq!(score.map(|score| score.text).as_deref(), Some("80%"));
    assert!(matches!(
        statement("calls match inputs.x folded arguments optional repeats ignored"),
        StatementKind::CallsMatch {
            arguments: ArgumentMatch::Optional,
            folded: true,
            order: Some(MatchOrder::Repeated),
            ..
        }
    ));
    assert!(matches!(
        statement("calls match exactly [\"a\"]"),
        StatementKind::CallsMatch { extent: MatchExtent::Exactly, order: None, .. }
    ));
    assert!(matches!(statement("length(calls) > 1"), StatementKind::Expression(_)));
    assert_eq!(expression("args.x == 1"), "(args.x Equal 1)");
    assert!(matches!(statement("never repeat a more than 3 times"), StatementKind::Repeat { .. }));
    assert!(matches!(statement("never repeat"), StatementKind::Never { .. }));
    assert!(matches!(statement("a iff b"), StatementKind::Iff { .. }));
    assert!(matches!(
        statement("in at least 95% of runs by meta.model with confidence 95%: rule a"),
        StatementKind::Rate { .. }
    ));
    assert!(matches!(statement("in at most 2% of runs with confidence 0.9 by x: never b"), StatementKind::Rate { .. }));
    assert!(matches!(statement("pass^3 by meta.task >= 60%: never b"), StatementKind::Rate { .. }));
    assert_eq!(expression("avg(turns of runs by meta.m) <= 3"), "(avg((turns of runs by meta.m)) LessOrEqual 3)");
    assert_eq!(expression("sum(args.n of runs) == 1"), "(sum((args.n of runs)) Equal 1)");
    assert_eq!(expression("sum(args.n of \"runs\") == 1"), "(sum((args.n of \"runs\")) Equal 1)");
    match statement("refund only after approve") {
        StatementKind::Before { reversed: true, step: first, targets, .. } => {
            assert_eq!((step(&first), step(&targets[0])), ("approve".to_owned(), "refund".to_owned()));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_readings_of_a_predicates_target_are_kept() {
    let readings = |text: &str| match statement(text) {
        StatementKind::NoPredicate { target, .. } => (target.expr.as_ref().map(short), target.step.as_ref().map(step)),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(readings("no secrets in output"), (Some("output".into()), Some("output".into())));
    assert_eq!(readings("no secrets in calls[*].args"), (Some("calls[*].args".into()), None));
    assert_eq!(readings("no secrets in refund(id: $id)"), (None, Some("refund(id: $id)".into())));
    assert_eq!(readings("no secrets in a | b weight 2"), (None, Some("a | b".into())));
}

#[test]
fn modifiers_follow_on_the_next_lines_and_settings_open_a_body() {
    let (tree, _) = read(
        "rule r \"s\" must {\n  weight 2 severity warn\n  require a\n    weight 3\n\n    tags x,\n      y-z.1\n  id exists\n  when b {\n    never c\n  }\n}\n",
    );
    let ItemKind::Rule(rule) = &tree.items[0].kind else { panic!("{tree:?}") };
    assert!(matches!(rule.modifiers[0].kind, ModifierKind::Must));
    let settings =
        rule.body.iter().filter(|item| matches!(item.kind, ItemKind::Setting(BodySetting::Modifier(_)))).count();
    assert_eq!((settings, rule.body.len()), (2, 5));
    let ItemKind::Assertion(assertion) = &rule.body[2].kind else { panic!("{rule:?}") };
    assert_eq!(assertion.modifiers.len(), 2);
    assert!(matches!(&assertion.modifiers[1].kind, ModifierKind::Tags(tags) if tags[1].text == "y-z.1"));
    assert!(
        matches!(&rule.body[3].kind, ItemKind::Assertion(assertion) if matches!(assertion.statement.kind, StatementKind::Expression(_)))
    );
}

#[test]
fn comments_docs_and_silencing_are_kept_beside_the_tree() {
    let text = "#!/usr/bin/env aver\n# a remark\n## One line.\n## Another.\nlet a = \"# none\" # behind\n# allow: unused-let, x-y\nrule r {\n  ## Inside.\n  require b\n}\n## Too far.\n\nrequire c\n";
    let (tree, trivia) = read(text);
    let comments: Vec<&str> = trivia.comments.iter().map(|comment| comment.text.as_str()).collect();
    assert_eq!(
        comments,
        [
            "#!/usr/bin/env aver",
            "# a remark",
            "## One line.",
            "## Another.",
            "# behind",
            "# allow: unused-let, x-y",
            "## Inside.",
            "## Too far."
        ]
    );
    assert!(trivia.comments.iter().all(|comment| text[comment.span.as_range()] == comment.text));
    assert_eq!(
        trivia
            .comments
            .iter()
            .filter(|comment| !comment.own_line)
            .map(|comment| comment.text.as_str())
            .collect::<Vec<_>>(),
        ["# behind"]
    );
    assert_eq!(tree.items[0].doc.as_deref(), Some("One line.\nAnother."));
    let ItemKind::Rule(rule) = &tree.items[1].kind else { panic!("{tree:?}") };
    assert_eq!(rule.body[0].doc.as_deref(), Some("Inside."));
    assert_eq!(tree.items[2].doc, None);
    let slugs: Vec<&str> = tree.allows[0].slugs.iter().map(|slug| slug.text.as_str()).collect();
    assert_eq!(slugs, ["unused-let", "x-y"]);
    assert!(tree.allows[0].slugs.iter().all(|slug| text[slug.span.as_range()] == slug.text));
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
    let text = "rule r {\n  # remark\n  before a ->\n    b weight 2\n  each c: x == [1,\n    2]\n}\nlet d = \"x\"\n";
    let shape = |items: &[SyntaxItem]| {
        format!("{items:?}")
            .split("Span {")
            .map(|part| part.split_once('}').map_or(part, |(_, rest)| rest).to_owned())
            .collect::<String>()
    };
    let plain = shape(&read(text).0.items);
    assert_eq!(shape(&read(&text.replace('\n', "\r\n")).0.items), plain);
    assert_eq!(shape(&read(&format!("\u{feff}{text}")).0.items), plain);
}

#[test]
fn spans_cover_exactly_what_they_speak_of() {
    let text = "before approve(id: $id)   # why\n  -> refund   # and\n  weight 2\nlet x = (1 + 2)  # end\nany of { require a }   \n";
    let (tree, _) = read(text);
    let source = |item: &SyntaxItem| text[item.span.as_range()].to_owned();
    assert_eq!(source(&tree.items[0]), text.split("\nlet").next().unwrap());
    assert_eq!(source(&tree.items[1]), "let x = (1 + 2)");
    assert_eq!(source(&tree.items[2]), "any of { require a }");
    let ItemKind::Assertion(assertion) = &tree.items[0].kind else { panic!("{tree:?}") };
    assert_eq!(&text[assertion.statement.span.as_range()], "before approve(id: $id)   # why\n  -> refund");
    let StatementKind::Before { step: first, targets, .. } = &assertion.statement.kind else { panic!("{assertion:?}") };
    assert_eq!((&text[first.span.as_range()], &text[targets[0].span.as_range()]), ("approve(id: $id)", "refund"));
}

#[test]
fn a_lone_expression_is_read_or_refused_in_words() {
    let read = |text: &str| {
        let mut map = SourceMap::default();
        let file = map.add_file(SourceFile::new("value", None, text));
        let (value, diagnostics) = syntax::parse_expression(&map, file, &Limits::default());
        assert_eq!(value.is_none(), diagnostics.has_errors(), "{text}: {diagnostics:?}");
        value.map(|value| short(&value)).ok_or_else(|| diagnostics.0[0].message.clone())
    };
    assert_eq!(read(" [1, 30s]\n").unwrap(), "[1 30000]");
    assert_eq!(read("\u{feff}a + 1").unwrap(), "(Add a 1)");
    assert_eq!(read("require a").unwrap_err(), "an expression is expected here, and this is none");
    assert_eq!(read("").unwrap_err(), "an expression is expected here, and this is none");
    assert_eq!(read("a == ").unwrap_err(), "a value is missing behind `==`");
    assert!(read(&"(".repeat(1000)).is_err());
}

fn far(reach: Option<averment_syntax::ast::SoFarReach>) -> &'static str {
    match reach {
        None => "",
        Some(averment_syntax::ast::SoFarReach::Known) => " so far",
        Some(averment_syntax::ast::SoFarReach::Started) => " started so far",
    }
}
