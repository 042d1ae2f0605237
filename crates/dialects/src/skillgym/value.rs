//! The value of an expression in a suite: known without a run, an expression about the run, or unknown.

use crate::typescript::tree::{TsExpr, TsFunction};
use crate::writer::BindingStrength;
use averment_base::source::Span;
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Debug, Clone)]
pub(super) struct LocatedValue {
    pub(super) value: JsValue,
    pub(super) span: Span,
}

impl LocatedValue {
    pub(super) fn new(value: JsValue, span: Span) -> Self {
        Self { value, span }
    }

    pub(super) fn get(&self, key: &str) -> Option<&LocatedValue> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, item)| item)
    }

    pub(super) fn entries(&self) -> &[(String, LocatedValue)] {
        match &self.value {
            JsValue::Object(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.value {
            JsValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_number(&self) -> Option<f64> {
        match self.value {
            JsValue::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn is_nullish(&self) -> bool {
        matches!(self.value, JsValue::Undefined | JsValue::Null)
    }

    /// True if the value and all its parts are known without a run.
    pub(super) fn is_plain(&self) -> bool {
        match &self.value {
            JsValue::List(items) => items.iter().all(Self::is_plain),
            JsValue::Object(entries) => entries.iter().all(|(_, item)| item.is_plain()),
            value => matches!(
                value,
                JsValue::Undefined
                    | JsValue::Null
                    | JsValue::Bool(_)
                    | JsValue::Number(_)
                    | JsValue::Text(_)
                    | JsValue::Regex { .. }
            ),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum JsValue {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Regex {
        pattern: String,
        flags: String,
    },
    List(Vec<LocatedValue>),
    Object(Vec<(String, LocatedValue)>),
    Function(Rc<TsFunction>, ScopeId),
    /// A command matcher under construction, as the object it builds.
    Builder(Vec<(String, LocatedValue)>),
    /// A function of SkillGym or of the runtime, by its path: `assert.commands.includes`.
    Api(String),
    RunExpr(RunExpr),
    /// Known only to a running program; the text says why.
    RuntimeOnly(String),
}

/// Returns a value that only a running program knows, with the reason.
pub(super) fn open_value(why: &str) -> JsValue {
    JsValue::RuntimeOnly(why.to_owned())
}

#[derive(Debug, Clone)]
pub(super) struct RunExpr {
    pub(super) text: String,
    pub(super) binds: BindingStrength,
    pub(super) kind: RunExprKind,
    /// The negated condition, if it has a form of its own.
    pub(super) opposite: Option<String>,
    /// The way in which the value may be `undefined` in the program.
    pub(super) lack: Lack,
    /// Condition under which an earlier `?.` has ended the chain.
    pub(super) chain_end: Option<String>,
    /// Condition under which the program does not throw.
    pub(super) needs: Option<String>,
    /// The condition and its negation, written so that they are also decided if a value is `undefined`; `None` if they already are.
    pub(super) total: Option<Box<[String; 2]>>,
    /// For `a || b` and `a && b`, which are values: their truth as a condition.
    pub(super) truth: Option<Box<RunExpr>>,
    /// For a filtered list: the number of elements. For a search: whether an element was found.
    pub(super) found: Option<String>,
}

/// The ways in which a value of a run may be `undefined` in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    Never,
    /// A key of arguments or JSON: methods on it throw.
    Key,
    /// An element of a list: methods and fields of it throw.
    Element,
    /// After `?.`: methods and fields of it are `undefined` too.
    Chain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunExprKind {
    Report,
    Context,
    Usage,
    Files,
    Runner,
    Agent,
    Text,
    Number,
    /// In milliseconds.
    Time,
    Truth,
    Any,
    Commands,
    Calls,
    Reads,
    Skills,
    Texts,
    Call,
    Skill,
    /// The failure that `classifyFailure` receives.
    Result,
    Failure,
    Message,
    /// True if an element was found; the element itself cannot be expressed.
    Found,
    /// The result of a text search: `null` if nothing matches.
    Search,
}

impl RunExpr {
    pub(super) fn new(text: impl Into<String>, kind: RunExprKind) -> Self {
        Self::with_binding(text, BindingStrength::Closely, kind)
    }

    pub(super) fn with_binding(text: impl Into<String>, binds: BindingStrength, kind: RunExprKind) -> Self {
        let lack = if kind == RunExprKind::Any { Lack::Key } else { Lack::Never };
        Self {
            text: text.into(),
            binds,
            kind,
            opposite: None,
            lack,
            chain_end: None,
            needs: None,
            total: None,
            truth: None,
            found: None,
        }
    }

    /// Returns a test; `words` are the operators of the test and of its negation.
    pub(super) fn test_against(&self, words: (&str, &str), other: &str) -> Self {
        let subject = self.nested_text(BindingStrength::Sum);
        let said = |words: &str| format!("{subject} {words} {other}").trim_end().to_owned();
        // The negated test must not hold where the program throws.
        let opposite = match &self.needs {
            Some(needs) => format!("({needs} and {})", said(words.1)),
            None => said(words.1),
        };
        let total = (self.lack != Lack::Never).then(|| {
            let needed = self.needs.as_ref().map(|needs| format!("{needs} and ")).unwrap_or_default();
            let holds = format!("({subject} exists and {})", said(words.0));
            Box::new([holds, format!("({needed}({subject} is missing or {}))", said(words.1))])
        });
        Self {
            opposite: Some(opposite),
            needs: self.needs.clone(),
            total,
            ..Self::with_binding(said(words.0), BindingStrength::Test, RunExprKind::Truth)
        }
    }

    /// Returns a test for equality with another value of the run. If either value throws, neither the test nor its negation holds.
    pub(super) fn test_against_value(&self, other: &Self) -> Self {
        let test = self.test_against(("==", "!="), &other.nested_text(BindingStrength::Sum));
        let needs = join_needs(test.needs.as_deref(), other.needs.as_deref());
        let guarded = |needs: Option<&String>, text: String| match needs {
            Some(needs) => format!("({needs} and {text})"),
            None => text,
        };
        let opposite = test.opposite.map(|opposite| guarded(other.needs.as_ref(), opposite));
        // As a condition, a missing value is false, and would wrongly equal `false`.
        let text = guarded(needs.as_ref().filter(|_| self.kind == RunExprKind::Truth), test.text);
        Self { text, opposite, needs, ..test }
    }

    /// Returns the condition for accessing a method or a field of the value.
    pub(super) fn needed_parts(&self) -> Option<String> {
        match self.lack {
            Lack::Never | Lack::Chain => self.needs.clone(),
            Lack::Key | Lack::Element => {
                let own = self.nested_text(BindingStrength::Sum);
                // `null` has no members either.
                let of_json = if self.kind == RunExprKind::Any { format!(" and {own} != null") } else { String::new() };
                Some(format!("{own} exists{of_json}"))
            }
        }
    }

    /// Returns the condition for calling a method of the value. A JSON value must have a type with that method.
    pub(super) fn needed_type(&self, types: &[&str]) -> Option<String> {
        if self.kind != RunExprKind::Any {
            return self.needed_parts();
        }
        let own = self.nested_text(BindingStrength::Sum);
        let is = types.iter().map(|name| format!("{own} is {name}")).collect::<Vec<_>>().join(" or ");
        match self.lack {
            // After `?.`, the value may also be missing.
            Lack::Chain => {
                join_needs(self.needs.as_deref(), Some(&format!("({own} is missing or {own} == null or {is})")))
            }
            Lack::Never => join_needs(self.needs.as_deref(), Some(&format!("({is})"))),
            Lack::Key | Lack::Element => Some(format!("({is})")),
        }
    }

    /// Returns a condition that is undecided unless `guard` holds, because the program converts the value otherwise.
    pub(super) fn decided_where(self, guard: &str, why: &str) -> Self {
        let within = |text: &str| format!("(if {guard} then {text} else undecided(\"{why}\"))");
        let opposite = negate_condition(&self);
        Self {
            text: within(&self.text),
            binds: BindingStrength::Closely,
            opposite: Some(within(&opposite.text)),
            total: self.total.map(|total| Box::new(total.map(|text| within(&text)))),
            ..self
        }
    }

    /// Prepares the value as the object of `?.`.
    pub(super) fn begin_chain(&mut self) {
        let own = self.nested_text(BindingStrength::Sum);
        self.chain_end = Some(match self.kind {
            RunExprKind::Any => format!("{own} is missing or {own} == null"),
            _ => format!("{own} is missing"),
        });
        self.lack = Lack::Chain;
    }

    /// Moves on to a member or method of an optional chain. If an earlier `?.` has ended the chain, nothing more is needed.
    pub(super) fn follow_chain(&mut self) -> Option<String> {
        let end = self.chain_end.take()?;
        if matches!(self.lack, Lack::Key | Lack::Element) {
            let needed = format!("({end} or {} exists)", self.nested_text(BindingStrength::Sum));
            self.needs = join_needs(self.needs.as_deref(), Some(&needed));
            self.lack = Lack::Chain;
        }
        Some(end)
    }

    /// Returns the condition and its negation, both also decided if a value is `undefined`.
    pub(super) fn total_texts(&self) -> [String; 2] {
        match &self.total {
            Some(total) => (**total).clone(),
            None => [self, &negate_condition(self)].map(|condition| condition.nested_text(BindingStrength::Closely)),
        }
    }

    /// Returns a condition that is also decided if a value is `undefined`.
    pub(super) fn as_total(&self) -> Self {
        match &self.total {
            Some(total) => {
                let [holds, fails] = (**total).clone();
                Self {
                    text: holds,
                    binds: BindingStrength::Closely,
                    opposite: Some(fails),
                    total: None,
                    ..self.clone()
                }
            }
            None => self.clone(),
        }
    }

    /// Returns the text, parenthesized if the precedence requires it.
    pub(super) fn nested_text(&self, binds: BindingStrength) -> String {
        if self.binds < binds { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// Returns the negation. Where the program throws, the negation does not hold either.
pub(super) fn negate_condition(truth: &RunExpr) -> RunExpr {
    let needs = truth.needs.clone();
    if let Some(opposite) = &truth.opposite {
        let opposite = RunExpr::with_binding(opposite.as_str(), BindingStrength::Test, RunExprKind::Truth);
        let back = Some(truth.nested_text(BindingStrength::Test));
        return RunExpr { opposite: back, needs, total: turn_around(truth), ..opposite };
    }
    let inside = truth.nested_text(BindingStrength::Test);
    let negated = match &needs {
        Some(needs) => RunExpr::new(format!("({needs} and not {inside})"), RunExprKind::Truth),
        None => RunExpr::with_binding(format!("not {inside}"), BindingStrength::Not, RunExprKind::Truth),
    };
    RunExpr { opposite: Some(inside), needs, total: turn_around(truth), ..negated }
}

fn turn_around(truth: &RunExpr) -> Option<Box<[String; 2]>> {
    truth.total.as_ref().map(|total| {
        let [holds, fails] = (**total).clone();
        Box::new([fails, holds])
    })
}

/// Joins two needs.
pub(super) fn join_needs(one: Option<&str>, other: Option<&str>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => Some(format!("{one} and {other}")),
        (one, other) => one.or(other).map(ToOwned::to_owned),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScopeId(usize);

#[derive(Debug, Default)]
pub(super) struct ScopeTree(Vec<ScopeNames>);

#[derive(Debug, Default)]
struct ScopeNames {
    of: BTreeMap<String, BoundName>,
    around: Option<ScopeId>,
}

#[derive(Debug, Clone)]
pub(super) enum BoundName {
    Item(LocatedValue),
    /// Evaluated on demand, in the scope of the name.
    Deferred(Rc<TsExpr>),
    /// A name in another module: the number of the module, and the name there.
    Imported(usize, String),
    /// Currently being evaluated.
    Busy,
}

impl ScopeTree {
    pub(super) fn open_outermost(&mut self) -> ScopeId {
        self.0.push(ScopeNames::default());
        ScopeId(self.0.len().saturating_sub(1))
    }

    pub(super) fn open_scope(&mut self, around: ScopeId) -> ScopeId {
        self.0.push(ScopeNames { around: Some(around), ..ScopeNames::default() });
        ScopeId(self.0.len().saturating_sub(1))
    }

    pub(super) fn bind_name(&mut self, scope: ScopeId, name: &str, bound: BoundName) {
        if let Some(names) = self.0.get_mut(scope.0) {
            names.of.insert(name.to_owned(), bound);
        }
    }

    pub(super) fn find_name(&self, scope: ScopeId, name: &str) -> Option<(BoundName, ScopeId)> {
        let mut next = Some(scope);
        while let Some(scope) = next {
            let names = self.0.get(scope.0)?;
            if let Some(bound) = names.of.get(name) {
                return Some((bound.clone(), scope));
            }
            next = names.around;
        }
        None
    }
}

/// Returns the type of a list's elements; `None` if the type is not a list.
pub(super) fn element_of(kind: RunExprKind) -> Option<RunExprKind> {
    match kind {
        RunExprKind::Calls => Some(RunExprKind::Call),
        RunExprKind::Skills => Some(RunExprKind::Skill),
        RunExprKind::Commands | RunExprKind::Reads | RunExprKind::Texts => Some(RunExprKind::Text),
        RunExprKind::Any => Some(RunExprKind::Any),
        _ => None,
    }
}
