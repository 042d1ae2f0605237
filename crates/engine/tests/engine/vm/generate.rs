//! Random expressions, and random code that no compiler would emit.

use averment_base::source::Span;
use averment_checker::ir::{
    self, AssertionCheck, AssertionSettings, CheckedAssertion, CheckedModule, Constant, ExprKind, FunctionDef, LetDef,
    LocalId, ProgramSchema, RegexSource, Type, TypedExpr, TypedTest, ValueTest,
};
use averment_engine::bytecode::ops::*;
use averment_syntax::ast::{BinaryOperator, ExprQuantifier, TestKind};
use proptest::prelude::*;

fn wrapper_of(kind: ExprKind) -> TypedExpr {
    TypedExpr { kind, span: Span::default(), ty: Type::Any }
}

/// The smallest expression.
pub fn leaf() -> TypedExpr {
    wrapper_of(ExprKind::Constant(Constant::Null))
}

/// A module that asserts an expression, with a `let`, a `def` and everything else that expressions name by number.
pub fn module(expr: &TypedExpr) -> CheckedModule {
    let settings = AssertionSettings::default();
    let root = wrapper_of(ExprKind::Root("output"));
    let twice = wrapper_of(ExprKind::Binary(BinaryOperator::Add, Box::new(local()), Box::new(local())));
    CheckedModule {
        params: vec![ir::DeclaredParam {
            name: "limit".into(),
            ty: Type::Number,
            default: Some(Constant::Number("100".into())),
            span: Span::default(),
        }],
        lets: vec![LetDef {
            name: "tags".into(),
            value: wrapper_of(ExprKind::Field(Box::new(root), "tags".into())),
            is_written: true,
        }],
        defs: vec![FunctionDef { name: "twice".into(), parameters: 1, body: twice, is_written: true }],
        regexes: vec![RegexSource {
            pattern: "(?-u:\\d)+".to_owned().into(),
            text: "/\\d+/".into(),
            backtracks: false,
        }],
        schemas: vec![ProgramSchema {
            name: "Small".into(),
            json: r#"{"type": "object", "required": ["a"]}"#.into(),
            place: None,
        }],
        assertions: vec![CheckedAssertion {
            id: "a".into(),
            rule: None,
            text: "a".into(),
            span: Span::default(),
            settings,
            bindings: vec![],
            check: AssertionCheck::Expression(expr.clone()),
        }],
        ..CheckedModule::default()
    }
}

fn local() -> TypedExpr {
    wrapper_of(ExprKind::Local(LocalId(0)))
}

fn constant() -> impl Strategy<Value = Constant> {
    prop_oneof![
        Just(Constant::Null),
        any::<bool>().prop_map(Constant::Boolean),
        prop_oneof![Just("0"), Just("1"), Just("-2.5"), Just("1e400"), Just("9007199254740993")]
            .prop_map(|text| Constant::Number(text.into())),
        prop_oneof![Just(""), Just("a"), Just("open"), Just("tags"), Just("{\"a\": 1}")]
            .prop_map(|text| Constant::Text(text.into())),
    ]
}

fn simple() -> impl Strategy<Value = TypedExpr> {
    prop_oneof![
        3 => constant().prop_map(|constant| wrapper_of(ExprKind::Constant(constant))),
        3 => prop_oneof![
            Just("output"), Just("calls"), Just("meta"), Just("cost"), Just("duration"), Just("error"), Just("nowhere"),
        ].prop_map(|name| wrapper_of(ExprKind::Root(name))),
        1 => Just(wrapper_of(ExprKind::Run)),
        1 => Just(wrapper_of(ExprKind::Step)),
        1 => prop_oneof![Just("args"), Just("tool"), Just("nothing")].prop_map(|name| wrapper_of(ExprKind::StepField(name.into()))),
        1 => Just(wrapper_of(ExprKind::Response)),
        1 => Just(wrapper_of(ExprKind::Param(0))),
        1 => Just(wrapper_of(ExprKind::Let(0))),
        1 => Just(wrapper_of(ExprKind::Regex(0))),
        1 => (0u32..3).prop_map(|slot| wrapper_of(ExprKind::Local(LocalId(slot)))),
        1 => Just(wrapper_of(ExprKind::Binding(ir::BindingId(0)))),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![Just("tags"), Just("status"), Just("n"), Just("deep"), Just("args"), Just("zip")]
        .prop_map(str::to_owned)
}

fn test_kind() -> impl Strategy<Value = (TestKind, bool)> {
    use TestKind as K;
    prop_oneof![
        proptest::sample::select(vec![
            K::Equal,
            K::Identical,
            K::Less,
            K::LessOrEqual,
            K::Greater,
            K::GreaterOrEqual,
            K::In,
            K::Contains,
            K::ContainsIgnoringCase,
            K::ContainsAll,
            K::ContainsAny,
            K::ContainsNone,
            K::Mentions,
            K::StartsWith,
            K::EndsWith,
            K::Matches,
        ])
        .prop_map(|kind| (kind, true)),
        proptest::sample::select(vec![K::IsJson, K::ContainsJson, K::IsEmpty, K::IsMissing, K::Exists])
            .prop_map(|kind| (kind, false)),
    ]
}

fn tested(inner: impl Strategy<Value = TypedExpr> + Clone) -> impl Strategy<Value = TypedExpr> {
    let plain = (test_kind(), any::<bool>(), inner.clone(), inner.clone()).prop_map(|((kind, two), negated, a, b)| {
        let operand = two.then(|| Box::new(b));
        TypedTest { kind: ValueTest::Plain(kind), negated, subject: Box::new(a), operand }
    });
    let kinds = vec![
        ValueTest::IsType(Type::Integer),
        ValueTest::IsType(Type::List),
        ValueTest::IsSchema(0),
        ValueTest::IsJsonSchema(0),
        ValueTest::ContainsJsonSchema(0),
    ];
    let typed = (proptest::sample::select(kinds), any::<bool>(), inner)
        .prop_map(|(kind, negated, subject)| TypedTest { kind, negated, subject: Box::new(subject), operand: None });
    prop_oneof![4 => plain, 1 => typed].prop_map(|tested| wrapper_of(ExprKind::Test(tested)))
}

fn operator() -> impl Strategy<Value = BinaryOperator> {
    use BinaryOperator as B;
    proptest::sample::select(vec![B::Implies, B::Or, B::And, B::Add, B::Subtract, B::Multiply, B::Divide, B::Remainder])
}

fn quantifier() -> impl Strategy<Value = ExprQuantifier> {
    proptest::sample::select(vec![ExprQuantifier::Any, ExprQuantifier::All, ExprQuantifier::No, ExprQuantifier::Count])
}

/// An expression of any form.
pub fn expr() -> impl Strategy<Value = TypedExpr> {
    simple().prop_recursive(6, 60, 4, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => tested(inner.clone()),
            3 => (operator(), boxed(), boxed()).prop_map(|(op, a, b)| wrapper_of(ExprKind::Binary(op, a, b))),
            1 => boxed().prop_map(|a| wrapper_of(ExprKind::Not(a))),
            1 => boxed().prop_map(|a| wrapper_of(ExprKind::Negate(a))),
            3 => (boxed(), key()).prop_map(|(a, key)| wrapper_of(ExprKind::Field(a, key))),
            1 => (boxed(), boxed()).prop_map(|(a, b)| wrapper_of(ExprKind::Index(a, b))),
            2 => boxed().prop_map(|a| wrapper_of(ExprKind::Every(a))),
            1 => boxed().prop_map(|a| wrapper_of(ExprKind::Deep(a))),
            1 => (boxed(), boxed()).prop_map(|(a, b)| wrapper_of(ExprKind::Range(Some(a), Some(b)))),
            1 => boxed().prop_map(|a| wrapper_of(ExprKind::Range(None, Some(a)))),
            2 => (boxed(), boxed(), boxed()).prop_map(|(a, b, c)| wrapper_of(ExprKind::If(a, b, c))),
            2 => (quantifier(), 0u32..3, boxed(), boxed())
                .prop_map(|(quantifier, slot, a, b)| wrapper_of(ExprKind::Quantifier(quantifier, LocalId(slot), a, b))),
            1 => inner.clone().prop_map(|a| wrapper_of(ExprKind::Builtin("length", vec![a]))),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| wrapper_of(ExprKind::Builtin("bleu", vec![a, b]))),
            1 => inner.clone().prop_map(|a| wrapper_of(ExprKind::Def(0, vec![a]))),
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(|items| wrapper_of(ExprKind::List(items))),
            1 => prop::collection::vec((key(), inner.clone()), 0..3).prop_map(|entries| wrapper_of(ExprKind::Object(entries))),
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(|parts| wrapper_of(ExprKind::Join(parts))),
        ]
    })
}

/// An instruction with any operands.
pub fn op() -> impl Strategy<Value = Op> {
    let small = || 0u32..6;
    prop_oneof![
        4 => small().prop_map(|n| Op::Constant(Literal(n))),
        2 => small().prop_map(|n| Op::Root(Name(n))),
        1 => small().prop_map(|n| Op::StepField(Name(n))),
        1 => small().prop_map(|n| Op::StepOrRoot(Name(n))),
        1 => small().prop_map(|n| Op::Let(LetRef(n))),
        1 => (small(), small()).prop_map(|(n, m)| Op::CallDef(DefRef(n), Amount(m))),
        1 => (small(), small()).prop_map(|(n, m)| Op::Call(Name(n), Amount(m))),
        1 => small().prop_map(|n| Op::Local(Slot(n))),
        1 => (small(), any::<bool>()).prop_map(|(n, spread)| Op::Field(Name(n), spread)),
        1 => any::<bool>().prop_map(Op::Index),
        1 => any::<bool>().prop_map(Op::Every),
        1 => any::<bool>().prop_map(Op::Deep),
        1 => Just(Op::Add()),
        1 => Just(Op::Divide()),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(a, b)| Op::Range(a, b)),
        1 => small().prop_map(|n| Op::List(Amount(n))),
        1 => (small(), small()).prop_map(|(n, m)| Op::Object(Amount(n), Literal(m))),
        1 => small().prop_map(|n| Op::Join(Amount(n))),
        2 => (test_kind(), any::<bool>()).prop_map(|((kind, _), negated)| Op::Test(kind, negated)),
        2 => (test_kind(), any::<bool>()).prop_map(|((kind, _), negated)| Op::Inspect(kind, negated)),
        1 => small().prop_map(|n| Op::IsSchema(SchemaRef(n), false)),
        1 => Just(Op::Condition()),
        1 => Just(Op::Not()),
        1 => Just(Op::And()),
        1 => Just(Op::Or()),
        1 => (0u32..50).prop_map(|n| Op::SkipIfFalse(Target(n))),
        1 => (0u32..50).prop_map(|n| Op::SkipElse(Target(n))),
        1 => Just(Op::Choose()),
        2 => quantifier().prop_map(Op::Begin),
        2 => (small(), 0u32..50).prop_map(|(n, m)| Op::Next(Slot(n), Target(m))),
        2 => (0u32..50).prop_map(|n| Op::Repeat(Target(n))),
        1 => Just(Op::End()),
    ]
}
