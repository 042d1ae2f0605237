//! What the checker says of rule files (`tests/golden/check/NAME.assert` with its snapshot), and what it makes of good ones.

use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, CheckResult, check_rules};
use averment_fixtures as fixtures;
use std::fmt::Write;
use std::path::Path;

/// Files beside the rules of every test here.
const FILES: &[(&str, &str)] = &[
    (
        "lib/common.assert",
        "param most: number = 100\n## Above the limit.\ndef is_large(a) = a > most\ndef step signed(who) = sign(by: who)\nschema Order = { type: \"object\" }\n",
    ),
    ("lib/broken.assert", "def fine(a) = a == 1\ndef wrong(a) = = 1\n"),
    ("lib/text.txt", "not JSON"),
    (
        "mcp.json",
        r##"{"tools": [{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}, "filter": {"$ref": "#/$defs/F"}, "tags": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}}, "$defs": {"F": {"type": "object", "properties": {"limit": {"type": "integer"}}, "additionalProperties": false}}}, "annotations": {"readOnlyHint": true}}, {"name": "ping"}]}"##,
    ),
    (
        "openai.json",
        r#"[{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]"#,
    ),
    ("schemas/order.json", r##"{"type": "object", "properties": {"item": {"$ref": "item.json#/$defs/Item"}}}"##),
    (
        "schemas/item.json",
        r##"{"$defs": {"Item": {"type": "object", "properties": {"sku": {"$ref": "#/$defs/Sku"}}}, "Sku": {"type": "string"}}}"##,
    ),
    ("schemas/outside.json", r#"{"$ref": "../../secret.json"}"#),
    ("schemas/network.json", r#"{"$ref": "https://example.org/schema.json"}"#),
    ("schemas/home.json", r#"{"$ref": "file:///etc/passwd"}"#),
    ("run.json", r#"{"calls": []}"#),
];

fn checked(text: &str) -> (SourceMap, CheckResult) {
    let mut map = SourceMap::default();
    let root = map.add_file(SourceFile::new("rules.assert", Some(Path::new("")), text));
    let files = Memory::new(FILES.iter().copied());
    let checked = check_rules(&mut map, root, &CheckOptions { limits: Limits::default(), files: &files });
    (map, checked)
}

/// `FILE:LINE:COLUMN: severity[slug]: message`, with label, help and fix below.
fn said(text: &str) -> String {
    let (map, checked) = checked(text);
    let mut out = String::new();
    for one in &checked.diagnostics.0 {
        let at = map.line_column(one.span);
        let file = if map.file_name(one.span) == "rules.assert" {
            String::new()
        } else {
            format!("{}:", map.file_name(one.span))
        };
        let severity = format!("{:?}", one.severity).to_lowercase();
        writeln!(out, "{file}{}:{}: {severity}[{}]: {}", at.line, at.column, one.slug.as_str(), one.message).unwrap();
        if let Some(help) = &one.help {
            writeln!(out, "    {help}").unwrap();
        }
    }
    out
}

#[test]
fn what_is_wrong_is_said_at_its_place() {
    let folder = fixtures::project("tests/golden/check");
    for path in fixtures::rule_files(&folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let numbered: String = text.lines().zip(1..).map(|(line, number)| format!("{number:>3} {line}\n")).collect();
        let _scope = fixtures::snapshot_beside(&path);
        insta::assert_snapshot!(fixtures::stem(&path), format!("{numbered}\n{}", said(&text)));
    }
}

/// The one assertion of a text, shown without places.
fn lowered(text: &str) -> String {
    let (map, checked) = checked(text);
    assert!(!checked.diagnostics.has_errors(), "{text}\n{:#?}", checked.diagnostics);
    let program = averment_engine::compile::compile(&checked.module, &map);
    drop(program);
    let all: Vec<String> = checked.module.assertions.iter().map(|assertion| show::check(&assertion.check)).collect();
    all.join("\n")
}

/// Checked statements in a short form.
mod show {
    use averment_checker::ir::{
        AssertionCheck, CheckedPattern, Constant, ExprKind, NameTest, PatternAlternative, SelectionReach, Temporal,
        TypedExpr, ValueTest, WindowScope,
    };

    pub fn check(check: &AssertionCheck<CheckedPattern, TypedExpr>) -> String {
        match check {
            AssertionCheck::Expression(one) => expr(one),
            AssertionCheck::Not(inner) => format!("not {}", self::check(inner)),
            AssertionCheck::Group { kind, members } => {
                let members: Vec<String> = members
                    .iter()
                    .map(|member| {
                        let when: String = member.when.iter().map(|when| format!(" when {}", expr(when))).collect();
                        format!("{}*{}{when}", member.weight, self::check(&member.check))
                    })
                    .collect();
                format!("{kind:?}[{}]", members.join("; "))
            }
            AssertionCheck::Scoped { scope, body } => {
                let scope = match scope {
                    WindowScope::After { open, until } => {
                        format!(
                            "after {}{}",
                            pattern(open),
                            until.as_ref().map_or(String::new(), |until| format!(" until {}", pattern(until)))
                        )
                    }
                    WindowScope::Before { close } => format!("before {}", pattern(close)),
                    WindowScope::Between { open, close } => format!("between {} and {}", pattern(open), pattern(close)),
                    WindowScope::Each { step } => format!("each {}", pattern(step)),
                    WindowScope::Values { steps } => format!("values {}", patterns(steps)),
                };
                format!("{scope} {{ {} }}", self::check(body))
            }
            AssertionCheck::Temporal(one) => temporal(one),
            AssertionCheck::World(world) => format!("{world:?}"),
            AssertionCheck::OverRuns(over) => {
                let all: Vec<String> = over.all_expressions().into_iter().map(expr).collect();
                format!("over runs {}", all.join("; "))
            }
        }
    }

    fn temporal(temporal: &Temporal<CheckedPattern, TypedExpr>) -> String {
        match temporal {
            Temporal::Require { step, times } => format!("require {} {times:?}", pattern(step)),
            Temporal::Never { steps } => format!("never {}", patterns(steps)),
            Temporal::NeverAfter { steps, open, .. } => format!("never {} after {}", patterns(steps), pattern(open)),
            Temporal::Before { step, targets, .. } => format!("before {} -> {}", pattern(step), patterns(targets)),
            Temporal::Count { step, test } => format!("count {} {}", pattern(step), expr(test)),
            Temporal::Each { quantifier, step, condition } => {
                format!("{quantifier:?} {}: {}", pattern(step), expr(condition))
            }
            Temporal::NoneIn { values, predicate } => format!("no {} in {}", expr(predicate), expr(values)),
            Temporal::NoneInSteps { step, predicate } => format!("no {} in steps {}", expr(predicate), pattern(step)),
            other => format!("{other:?}"),
        }
    }

    fn patterns(all: &[CheckedPattern]) -> String {
        all.iter().map(pattern).collect::<Vec<_>>().join(", ")
    }

    pub fn pattern(pattern: &CheckedPattern) -> String {
        pattern.alternatives.iter().map(alternative).collect::<Vec<_>>().join(" | ")
    }

    fn alternative(one: &PatternAlternative<TypedExpr>) -> String {
        let name = match &one.name {
            NameTest::Any => "any".to_owned(),
            NameTest::Exactly(name) => name.clone(),
            NameTest::OneOf(names) => names.join("/"),
            NameTest::Glob(glob) => format!("glob {glob}"),
            NameTest::PathGlob(glob) => format!("path {glob}"),
            NameTest::Contains(text) => format!("contains {text}"),
            NameTest::Matches(number) => format!("regex {number}"),
        };
        let mut out = format!("{}:{name}", one.kind.as_str());
        if one.proposed {
            out = format!("proposed {out}");
        }
        if let Some(succeeded) = one.succeeded {
            out += if succeeded { " ok" } else { " failed" };
        }
        let mut parts: Vec<String> =
            one.binds.iter().map(|(number, path)| format!("${number}={}", expr(path))).collect();
        parts.extend(one.condition.iter().map(|condition| format!("if {}", expr(condition))));
        parts.extend(one.joins.iter().map(|join| format!("join {}", expr(join))));
        if parts.is_empty() { out } else { format!("{out}({})", parts.join(", ")) }
    }

    pub fn expr(one: &TypedExpr) -> String {
        let list = |all: &[TypedExpr]| all.iter().map(expr).collect::<Vec<_>>().join(", ");
        match &one.kind {
            ExprKind::Constant(constant) => self::constant(constant),
            ExprKind::Regex(number) => format!("/{number}/"),
            ExprKind::Root(name) => (*name).to_owned(),
            ExprKind::Run => "run".to_owned(),
            ExprKind::Step => "step".to_owned(),
            ExprKind::StepField(name) => format!("@{name}"),
            ExprKind::StepOrRoot(name) => format!("@?{name}"),
            ExprKind::Response => "response".to_owned(),
            ExprKind::Param(number) => format!("param{number}"),
            ExprKind::Let(number) => format!("let{number}"),
            ExprKind::Local(local) => format!("#{}", local.0),
            ExprKind::Binding(binding) => format!("${}", binding.0),
            ExprKind::Field(base, name) => format!("{}.{name}", expr(base)),
            ExprKind::Index(base, index) => format!("{}[{}]", expr(base), expr(index)),
            ExprKind::Every(base) => format!("{}[*]", expr(base)),
            ExprKind::Deep(base) => format!("{}[**]", expr(base)),
            ExprKind::Negate(inner) => format!("-{}", expr(inner)),
            ExprKind::Not(inner) => format!("not({})", expr(inner)),
            ExprKind::Binary(operator, left, right) => format!("({} {operator:?} {})", expr(left), expr(right)),
            ExprKind::Exercised(left, right) => format!("({} Exercised {})", expr(left), expr(right)),
            ExprKind::Range(start, end) => {
                let side = |side: &Option<Box<TypedExpr>>| side.as_ref().map_or(String::new(), |side| expr(side));
                format!("{}..{}", side(start), side(end))
            }
            ExprKind::Test(tested) => {
                let kind = match tested.kind {
                    ValueTest::Plain(kind) => format!("{kind:?}"),
                    other => format!("{other:?}"),
                };
                let sign = if tested.negated { "!" } else { "" };
                let operand = tested.operand.as_ref().map_or(String::new(), |operand| format!(" {}", expr(operand)));
                format!("{} {sign}{kind}{operand}", expr(&tested.subject))
            }
            ExprKind::If(condition, then, otherwise) => {
                format!("if {} then {} else {}", expr(condition), expr(then), expr(otherwise))
            }
            ExprKind::Quantifier(quantifier, local, source, body) => {
                format!("{quantifier:?} #{} in {}: {}", local.0, expr(source), expr(body))
            }
            ExprKind::Builtin(name, all) => format!("{name}({})", list(all)),
            ExprKind::Def(number, all) => format!("def{number}({})", list(all)),
            ExprKind::List(all) => format!("[{}]", list(all)),
            ExprKind::Object(entries) => format!(
                "{{{}}}",
                entries.iter().map(|(name, value)| format!("{name}: {}", expr(value))).collect::<Vec<_>>().join(", ")
            ),
            ExprKind::Join(all) => format!("join({})", list(all)),
            ExprKind::StepOwn(name) => format!("own {name}"),
            ExprKind::Collect(how, local, source, body) => {
                format!("{how:?} #{} in {}: {}", local.0, expr(source), expr(body))
            }
            ExprKind::Select(selection) => {
                let value = selection.value.as_ref().map_or("count".to_owned(), expr);
                let far = match selection.reach {
                    SelectionReach::Run => String::new(),
                    reach => format!(" {reach:?}"),
                };
                let given: Vec<String> =
                    selection.given.iter().map(|(number, value)| format!("{}={}", number.0, expr(value))).collect();
                format!("({value} of {}{far} [{}])", pattern(&selection.pattern), given.join(", "))
            }
        }
    }

    fn constant(constant: &Constant) -> String {
        match constant {
            Constant::Null => "null".to_owned(),
            Constant::Boolean(value) => value.to_string(),
            Constant::Number(text) => text.clone(),
            Constant::Text(text) => format!("{text:?}"),
            Constant::List(all) => format!("[{}]", all.iter().map(self::constant).collect::<Vec<_>>().join(", ")),
            Constant::Object(all) => format!(
                "{{{}}}",
                all.iter()
                    .map(|(name, value)| format!("{name}: {}", self::constant(value)))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        }
    }
}

#[test]
fn left_hand_paths_start_at_the_arguments_and_right_hand_names_resolve_as_anywhere() {
    let text = "param amount: number = 3\nrequire refund(amount > amount, args.x == 1, result.code: 0, \"user-id\": 3, lines[0].sku: 'A', length(items) > turns, tags contains \"vip\")";
    assert_eq!(
        lowered(text),
        "require call:refund(if ((((((@args.amount Greater param0 And @args.x Equal 1) And @result.code Equal 0) And @args.user-id Equal 3) And @args.lines[0].sku Equal \"A\") And length(@args.items) Greater turns) And @args.tags Contains \"vip\")) None"
    );
    assert_eq!(
        lowered("require http \"x.cn\"(status: 200, method: /get/i, \"url\": \"x\")"),
        "require http:contains x.cn(if ((@status Equal 200 And @method Matches /0/) And step.url Equal \"x\")) None"
    );
}

#[test]
fn literals_behind_a_colon_choose_the_test() {
    assert_eq!(
        lowered(
            "let url = /^x/\nparam kinds: list = [1]\nrequire a(b: [1, 2], c: 1..3, d: url, e: kinds, f: ..5, g: null)"
        ),
        "require call:a(if (((((@args.b In [1, 2] And @args.c In 1..3) And @args.d Matches /0/) And @args.e In param0) And @args.f In ..5) And @args.g Equal null)) None"
    );
}

#[test]
fn equal_paths_bind_everywhere_and_other_tests_join() {
    assert_eq!(
        lowered("before list(result contains $id, q == $q) -> delete(id: $id, note contains $id, by != $q)"),
        "before call:list($1=@args.q, join @result Contains $0) -> call:delete($0=@args.id, if @args.note Contains @args.id, join @args.by !Equal $1)"
    );
    assert_eq!(
        lowered("never (refund where args.id == $id and duration < 2s) after cancel(id: $id)"),
        "never call:refund($0=@args.id, if @duration Less 2000) after call:cancel($0=@args.id)"
    );
    assert_eq!(
        lowered("each refund(id: $id): args.order == $id"),
        "Each call:refund($0=@args.id): @args.order Equal @args.id"
    );
}

#[test]
fn a_named_step_is_expanded_with_its_values_and_its_own_bindings() {
    assert_eq!(
        lowered(
            "param cap: number = 3\ndef step paid(limit, $id) = refund(amount > limit, id: $id, tag: $x)\nbefore ask(tag: $x) -> paid(cap, $order) ok"
        ),
        "before call:ask($0=@args.tag) -> call:refund ok($1=@args.id, $2=@args.tag, if @args.amount Greater param0)"
    );
    // A variable inside the given expression takes a slot of its own where it is used.
    assert_eq!(
        lowered(
            "def step some_of(given) = pick(any y in list: y == given)\nrequire some_of(if (any x in inputs.xs: x == 1) then 1 else 2)"
        ),
        "require call:pick(if Any #0 in @args.list: #0 Equal if Any #1 in inputs.xs: #1 Equal 1 then 1 else 2) None"
    );
}

#[test]
fn kind_words_become_kinds_with_tests_of_the_name() {
    assert_eq!(
        lowered(
            "before read \"./src/**\" -> write \"**/x\", command \"npm test\", command /a/, skill \"s\", span \"db.*\", user \"yes\", assistant, message(role: \"system\"), thinking"
        ),
        "before read:path src/** -> write:path **/x, command:any(if runs_command(@parts, \"npm test\", @command)), command:regex 0, skill:s, span:glob db.*, message:user/human(if @text Contains \"yes\"), message:assistant/ai/model, message:any(if @role Equal \"system\"), message:thinking/reasoning"
    );
    assert_eq!(
        lowered(
            "require command npm(args: [\"run\", \"test\"], flags: [\"--watch\"])\nrequire command npm(args == [\"test\"])"
        ),
        "require command:any(if Any #0 in @parts: ((#0.program Equal \"npm\" And contains_in_order(#0.args, [\"run\", \"test\"])) And All #1 in [\"--watch\"]: #1 In #0.flags)) None\nrequire command:any(if Any #0 in @parts: (#0.program Equal \"npm\" And #0.args Equal [\"test\"])) None"
    );
    assert_eq!(lowered("never proposed (a | b failed)"), "never proposed call:a | proposed call:b failed");
}

#[test]
fn no_predicate_in_a_name_of_the_run_is_a_value_and_anything_else_a_step() {
    let uses = "use std.secrets\n";
    assert_eq!(lowered(&format!("{uses}no secrets in calls[*].args")), "no def0(#0) in calls[*].args");
    assert_eq!(lowered(&format!("{uses}let a = output\nno secrets in a.b")), "no def0(#0) in let0.b");
    assert_eq!(
        lowered(&format!("{uses}no secrets in refund(amount > 3)")),
        "no def0(#0) in steps call:refund(if @args.amount Greater 3)"
    );
    assert_eq!(lowered(&format!("{uses}no secrets in read \"x\"")), "no def0(#0) in steps read:path x");
    assert_eq!(lowered("no contains_pii in http"), "no contains_pii(#0) in http");
}

#[test]
fn blocks_give_one_assertion_for_each_statement() {
    let text = "after login(user: $u) until logout { never login; each query: args.user == $u }\neach refund { args.amount > 0 when args.x exists; when args.y == 1 { require b } }\nnot after a { require b; require c }\nwhen inputs.vip == true { require d }";
    assert_eq!(
        lowered(text).lines().collect::<Vec<_>>(),
        [
            "after call:login($0=@args.user) until call:logout { never call:login }",
            "after call:login($0=@args.user) until call:logout { Each call:query: @args.user Equal $0 }",
            "each call:refund { All[1*@args.amount Greater 0 when @args.x Exists] }",
            "each call:refund { All[1*require call:b None when @args.y Equal 1] }",
            "not after call:a { All[1*require call:b None; 1*require call:c None] }",
            "require call:d None",
        ]
    );
    let (_, checked) = checked(text);
    assert_eq!(checked.module.assertions[5].settings.when.len(), 1);
    assert_eq!(checked.module.assertions[1].bindings, ["u"]);
}

#[test]
fn invariants_judge_every_call_of_their_tool() {
    let text = "invariant pair {\n  call create { name: \"x\" } as made expect ok\n  call read { id: made.response.id }\n  response.name == \"x\" and made.response.ok == true\n}\n";
    assert_eq!(
        lowered(text).lines().collect::<Vec<_>>(),
        [
            "each call:create($0=@result, if @args.name Equal \"x\") { @ok Equal true }",
            "each call:create($0=@result, if @args.name Equal \"x\") { each call:read(join @args.id Equal $0.id) { (@result.name Equal \"x\" And $0.ok Equal true) } }",
        ]
    );
    let (_, checked) = checked(
        "invariant div {\n  call divide { a: 1, b: 0 }\n  response.error exists\n  test \"t\" expect fail { response: { value: 0 } }\n}",
    );
    assert_eq!(
        checked.module.tests[0].run,
        r#"{"calls":[{"tool":"divide","args":{"a":1,"b":0},"status":"ok","result":{"value":0}}]}"#
    );
    assert_eq!(checked.module.tests[0].rules, [0]);
}

/// The tool of a call and of a pattern may be a parameter, which never stands there without saying so.
#[test]
fn tools_can_be_parameters() {
    let text = "param witness: string = \"divide\"\nparam n: number = 1\ntool divide also mcp__*__divide\nnever \"${witness}\"(a: 1)\nnever n\ninvariant i {\n  call \"p_${witness}\" { a: n, b: \"${witness}\" }\n  expect error\n  test \"t\" expect pass { error: \"no\" }\n}\n";
    let (_, checked_rules) = checked(text);
    assert_eq!(said(text), "");
    assert_eq!(
        checked_rules.module.tests[0].run,
        r#"{"calls":[{"tool":"p_divide","args":{"a":1,"b":"divide"},"status":"failed","error":"no"}]}"#
    );
    let shown = lowered(text);
    assert!(shown.contains("@tool Equal"), "{shown}");
    assert!(shown.contains("@tool Matches"), "other names of the tool count: {shown}");
    for (rules, word) in [
        ("param witness: string = \"d\"\nnever witness\n", "write `\"${witness}\"`"),
        ("param witness: string = \"d\"\ninvariant i {\n  call witness {}\n  expect ok\n}\n", "write `\"${witness}\"`"),
        ("invariant i {\n  call \"${inputs.tool}\" {}\n  expect ok\n}\n", "can only contain a parameter"),
    ] {
        assert!(said(rules).contains(word), "{rules}: {}", said(rules));
    }
    for quoted in ["never \"witness\"", "never \"${witness}\""] {
        assert!(!said(&format!("param witness: string = \"d\"\n{quoted}\n")).contains("error"));
    }
}

#[test]
fn settings_are_handed_down() {
    let (_, checked) = checked(
        "rule r \"s\" {\n  severity warn\n  tags a, b\n  weight 3\n  threshold 80%\n  when inputs.x == 1\n  require one\n  require two severity error tags c weight 2 must as m\n}\npre { file \"x\" exists }\npost { file \"y\" exists; env A is set severity info }\nat least 1 of { weight 4; require a }",
    );
    let module = checked.module;
    let settings = |index: usize| module.assertions[index].settings.clone();
    assert_eq!((module.rules[0].weight, module.rules[0].threshold), (3.0, Some(0.8)));
    assert_eq!((settings(0).severity.as_str(), settings(0).weight, settings(0).when.len()), ("warn", 1.0, 1));
    assert_eq!(settings(0).tags, ["a", "b"]);
    assert_eq!((settings(1).severity.as_str(), settings(1).weight, settings(1).must), ("error", 2.0, true));
    assert_eq!(settings(1).tags, ["a", "b", "c"]);
    assert_eq!([2, 3, 4].map(|index| settings(index).severity.as_str()), ["error", "warn", "info"]);
    assert_eq!(settings(5).weight, 4.0);
    let ids: Vec<&str> = module.assertions.iter().map(|assertion| assertion.id.as_str()).collect();
    let unnamed = "rules:at-least-1-of-weight-4-require-a";
    assert_eq!(ids, ["r.1", "r.2", "pre.1", "post.1", "post.2", unnamed]);
}

#[test]
fn ids_of_bare_assertions_do_not_change_with_edits_elsewhere() {
    let ids =
        |text: &str| -> Vec<String> { checked(text).1.module.assertions.iter().map(|one| one.id.clone()).collect() };
    let before = ids("require a\nafter x { never b }\nnever b");
    let after = ids("output is not empty  # new\nrequire    a\n\nafter x {\n  never b\n}\nnever b\nnever b");
    assert_eq!(before, [after[1].clone(), after[2].clone(), after[3].clone()]);
    assert_eq!(after[4], format!("{}-2", after[3]));
    assert_ne!(after[2], after[3]);
}

#[test]
fn the_text_of_a_statement_is_one_line_without_comments_and_with_its_literals_as_they_are() {
    let (_, checked) = checked("before approve  # first\n  ->   refund(note: \"a  # b\", x: /  #/)\n  weight 2\n");
    assert_eq!(checked.module.assertions[0].text, "before approve -> refund(note: \"a  # b\", x: /  #/)");
}

#[test]
fn files_of_a_schema_become_part_of_it() {
    let (_, checked) = checked("schema Order from \"schemas/order.json\"\noutput is Order");
    assert!(checked.diagnostics.0.is_empty(), "{:#?}", checked.diagnostics);
    let schema: serde_json::Value = serde_json::from_str(&checked.module.schemas[0].json).unwrap();
    let compiled = jsonschema::validator_for(&schema).unwrap();
    assert!(compiled.is_valid(&serde_json::json!({ "item": { "sku": "a" } })));
    assert!(!compiled.is_valid(&serde_json::json!({ "item": { "sku": 1 } })));
}

#[test]
fn imported_files_bring_names_and_do_not_run() {
    let (map, checked) = checked(
        "use \"./lib/common.assert\"\neach refund: not is_large(args.amount)\nbefore signed(\"ada\") -> refund",
    );
    assert!(checked.diagnostics.0.is_empty(), "{:#?}", checked.diagnostics);
    assert_eq!(checked.module.assertions.len(), 2);
    assert_eq!(
        map.iter().map(|(_, file)| file.name.as_str()).collect::<Vec<_>>(),
        ["rules.assert", "lib/common.assert"]
    );
    let (_, declaration) =
        checked.symbols.references.iter().find(|(place, _)| map.span_text(*place) == "is_large").unwrap();
    assert_eq!(checked.symbols.declarations[*declaration].doc.as_deref(), Some("Above the limit."));
}

#[test]
fn deep_and_long_texts_end_with_a_message_and_not_with_a_crash() {
    assert_eq!(said(&vec!["output.a == 1"; 20_000].join(" or ")), "");
    assert_eq!(said(&format!("{} == 1", vec!["output.a"; 200].join(" + "))), "");
    let longer = format!("{} == 1", vec!["output.a"; 20_000].join(" + "));
    assert!(said(&longer).contains("too-deep"), "{}", said(&longer));
    let steps = vec!["a"; 5_000].join(" | ");
    assert_eq!(said(&format!("require {steps}")), "");
    // Definitions that double with every line.
    let steps: String = (0..60).map(|n| format!("def step s{n} = s{} | s{}\n", n + 1, n + 1)).collect();
    assert!(said(&format!("{steps}def step s60 = a\nrequire s0")).contains("too-large"));
    let values: String = (0..60).map(|n| format!("def step v{n}(x) = v{}(x + x)\n", n + 1)).collect();
    assert!(said(&format!("{values}def step v60(x) = a(b > x)\nrequire v0(1)")).contains("too-large"));
    let lets: String = (0..60).map(|n| format!("let t{n} = \"${{t{}}}${{t{}}}\"\n", n + 1, n + 1)).collect();
    assert_eq!(said(&format!("{lets}let t60 = \"x\"\nrequire command \"${{t0}}\"")), "");
}

/// Rules that were checked say on runs what the language says they do: each file holds rules and tests of every verdict.
#[test]
fn what_is_checked_means_what_it_says() {
    let folder = fixtures::project("tests/golden/verdicts");
    let disk = averment_checker::files::Disk::anywhere(1 << 20);
    let (mut wrong, mut tests) = (Vec::new(), 0);
    for path in fixtures::rule_files(&folder) {
        let name = fixtures::name(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        let rules = averment_fixtures::Rules::with_files(&name, Some(&folder), &text, &disk)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(rules.diagnostics().0.is_empty(), "{:#?}", rules.diagnostics());
        for result in rules.run_tests() {
            tests += 1;
            if !result.passed {
                let test = &rules.program().tests[result.test as usize];
                let reasons: Vec<&str> = result.outcome.results.iter().map(|one| one.reason.as_str()).collect();
                wrong.push(format!("{name}: {}: {} {reasons:?}", test.name, result.reason));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tests}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tests > 50, "{tests} tests");
}

/// Rule files of this repository with the folder that their paths start in.
fn texts() -> Vec<(std::path::PathBuf, String)> {
    let base = averment_fixtures::root().join("tests");
    let mut found = Vec::new();
    for folder in ["conformance/language/good", "conformance/language/bad", "golden/check", "golden/verdicts"] {
        let folder = base.join(folder);
        let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "assert"));
        paths.sort();
        found.extend(paths.iter().map(|path| (folder.clone(), std::fs::read_to_string(path).unwrap())));
    }
    found
}

/// What is said of a text whose paths start in a folder on disk.
fn checked_in(folder: &Path, text: &str) -> (SourceMap, CheckResult) {
    let limits = Limits::default();
    let files = averment_checker::files::Disk::anywhere(limits.rule_file_bytes);
    let mut map = SourceMap::default();
    let root = map.add_file(SourceFile::new("rules.assert", Some(folder), text));
    let checked = check_rules(&mut map, root, &CheckOptions { limits, files: &files });
    (map, checked)
}

#[test]
fn every_fix_removes_what_it_is_for() {
    let mut fixes = 0;
    for (folder, text) in texts() {
        let (map, checked) = checked_in(&folder, &text);
        for one in checked.diagnostics.0.iter().filter(|one| map.file_name(one.span) == "rules.assert") {
            let Some(fix) = &one.fix else { continue };
            fixes += 1;
            let mut edits = fix.edits.clone();
            edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
            let mut mended = text.clone();
            for edit in edits {
                mended.replace_range(edit.span.as_range(), &edit.text);
            }
            let same = |map: &SourceMap, checked: &CheckResult| {
                let all = checked.diagnostics.0.iter();
                all.filter(|other| {
                    other.slug == one.slug
                        && other.message == one.message
                        && map.file_name(other.span) == "rules.assert"
                })
                .count()
            };
            let (after_map, after) = checked_in(&folder, &mended);
            assert!(same(&after_map, &after) < same(&map, &checked), "{}: `{}` does not help", one.message, fix.title);
        }
    }
    assert!(fixes > 70, "{fixes} fixes");
}

#[test]
fn texts_with_mistakes_of_any_kind_are_checked_to_their_end() {
    let texts = texts();
    let words: Vec<&str> =
        texts.iter().flat_map(|(_, text)| text.split_inclusive(|c: char| !c.is_alphanumeric())).collect();
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..400 {
        let (folder, text) = &texts[next(texts.len())];
        let mut parts: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for _ in 0..=next(3) {
            let at = next(parts.len());
            match next(3) {
                0 => parts.insert(at, words[next(words.len())]),
                1 => parts[at] = words[next(words.len())],
                _ => parts.swap(at, 0),
            }
        }
        let mangled = parts.concat();
        let (map, checked) = checked_in(folder, &mangled);
        for one in &checked.diagnostics.0 {
            let file = map.get(one.span.file).unwrap();
            assert!(file.text.get(one.span.as_range()).is_some(), "{one:?} lies outside of\n{mangled}");
            assert!(!one.message.is_empty() && !one.message.ends_with('.'), "{one:?}");
        }
    }
}
