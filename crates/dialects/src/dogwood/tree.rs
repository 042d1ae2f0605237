//! The syntax tree of policies, after the expansion of macros.

use averment_base::source::Span;

#[derive(Debug, Default)]
pub(super) struct PolicyFile {
    pub(super) policies: Vec<PolicyRule>,
}

/// A `permit` or a `forbid` policy.
#[derive(Debug)]
pub(super) struct PolicyRule {
    pub(super) permits: bool,
    /// Its annotation `@id("…")`.
    pub(super) id: Option<String>,
    pub(super) scope: Vec<ScopeTest>,
    pub(super) conditions: Vec<PolicyCondition>,
    pub(super) span: Span,
}

/// A `when` or an `unless` clause.
#[derive(Debug)]
pub(super) struct PolicyCondition {
    pub(super) negated: bool,
    pub(super) body: CedarExpr,
}

/// A variable of the scope: `principal`, `action` or `resource`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeRoot {
    Principal,
    Action,
    Resource,
}

impl ScopeRoot {
    pub(super) const ALL: [Self; 3] = [Self::Principal, Self::Action, Self::Resource];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Principal => "principal",
            Self::Action => "action",
            Self::Resource => "resource",
        }
    }
}

/// A test in the scope of a policy, on one variable.
#[derive(Debug, Clone)]
pub(super) struct ScopeTest {
    pub(super) root: ScopeRoot,
    pub(super) test: EntityTest,
}

/// A test of an entity.
#[derive(Debug, Clone)]
pub(super) enum EntityTest {
    Equals(EntityName),
    /// The entity is one of these, or is contained in one of them.
    In(Vec<EntityName>),
    Is(String),
}

/// `Namespace::Type::"id"`.
#[derive(Debug, Clone)]
pub(super) struct EntityName {
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) span: Span,
}

/// A Cedar expression.
#[derive(Debug, Clone)]
pub(super) enum CedarExpr {
    /// A literal, in the notation of the rule language.
    Literal(String),
    Entity(EntityName),
    /// `principal.a.b`
    Scope(ScopeRoot, Vec<String>),
    /// `context.a.b`
    Context(Vec<String>),
    /// The answer of an information provider: the name of the provider, and a path into the answer.
    Provider {
        name: String,
        path: Vec<String>,
    },
    Member(Box<CedarExpr>, String),
    /// `a == b`, `a + b`
    Binary(&'static str, Box<CedarExpr>, Box<CedarExpr>),
    Not(Box<CedarExpr>),
    Negate(Box<CedarExpr>),
    If(Box<[CedarExpr; 3]>),
    Has(Box<CedarExpr>, Vec<String>),
    /// `like`, with a regular expression of the rule language.
    Like(Box<CedarExpr>, String),
    Test(Box<CedarExpr>, EntityTest),
    /// `a.contains(b)`
    Method {
        on: Box<CedarExpr>,
        name: &'static str,
        arguments: Vec<CedarExpr>,
    },
    Set(Vec<CedarExpr>),
    Record(Vec<(String, CedarExpr)>),
    Temporal(Box<PastCondition>),
}

impl CedarExpr {
    /// Appends `.name`. A scope or context path is extended, because it is looked up as a whole.
    pub(super) fn member(self, name: String) -> Self {
        match self {
            Self::Scope(root, mut path) => {
                path.push(name);
                Self::Scope(root, path)
            }
            Self::Context(mut path) => {
                path.push(name);
                Self::Context(path)
            }
            Self::Provider { name: provider, mut path } => {
                path.push(name);
                Self::Provider { name: provider, path }
            }
            other => Self::Member(Box::new(other), name),
        }
    }
}

/// A condition on the events up to the current request.
#[derive(Debug, Clone)]
pub(super) enum PastCondition {
    And(Vec<PastCondition>),
    Not(Box<PastCondition>),
    Formerly {
        within: u64,
        body: Box<PastCondition>,
    },
    Previous {
        within: u64,
        body: Box<PastCondition>,
    },
    Since {
        left: Box<PastCondition>,
        within: u64,
        right: Box<PastCondition>,
    },
    Event(EventPattern),
    Compare {
        operator: &'static str,
        left: PastTerm,
        right: PastTerm,
    },
    Exists {
        variable: String,
        body: Box<PastCondition>,
    },
    /// `tp(t)`
    Timepoint(String),
}

/// `Namespace::Action::"Tool"::request{ input.a: value }`
#[derive(Debug, Clone)]
pub(super) struct EventPattern {
    pub(super) action: EntityName,
    pub(super) kind: String,
    pub(super) kind_span: Span,
    pub(super) fields: Vec<(Vec<String>, Span, PastTerm)>,
}

/// A value in a condition on the past.
#[derive(Debug, Clone)]
pub(super) enum PastTerm {
    /// A literal, in the notation of the rule language.
    Literal(String),
    Entity(EntityName),
    Variable(String, Span),
    Scope(ScopeRoot, Vec<String>),
    Context(Vec<String>),
    /// A wildcard: `_` or `*`.
    Anything,
    List(Vec<PastTerm>),
    Arithmetic(&'static str, Box<PastTerm>, Box<PastTerm>),
    Aggregate(Box<PastAggregate>),
}

/// `sum a for (a: Long), (t: Timepoint). where …`, `count for …`
#[derive(Debug, Clone)]
pub(super) struct PastAggregate {
    /// The variable to sum; `None` for a count.
    pub(super) summed: Option<String>,
    pub(super) variables: Vec<String>,
    pub(super) body: PastCondition,
}
