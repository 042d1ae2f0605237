//! A pattern as a tree: what the library reads of it, with what it does not know in its places.

use super::mistake::{Mistake, Problem};
use super::skeleton::{Extension, Group, Skeleton, skeleton};
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, HirKind, Look};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Empty,
    Character(char),
    /// One of a set, by its number.
    Set(u32),
    Look(Look),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat(Box<Repeat>),
    Capture(u32, Box<Node>),
    Around {
        ahead: bool,
        negated: bool,
        inside: Box<Node>,
    },
    Atomic(Box<Node>),
    Reference {
        group: u32,
        any_case: bool,
    },
    If {
        group: u32,
        yes: Box<Node>,
        no: Box<Node>,
    },
}

/// How often something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repeat {
    pub(super) inside: Node,
    pub(super) least: u32,
    pub(super) most: Option<u32>,
    pub(super) greedy: bool,
}

impl Node {
    /// Whether it can match without taking a character.
    pub(super) fn can_be_empty(&self) -> bool {
        match self {
            Self::Character(_) | Self::Set(_) => false,
            Self::Empty | Self::Look(_) | Self::Around { .. } | Self::Reference { .. } => true,
            Self::Sequence(parts) => parts.iter().all(Self::can_be_empty),
            Self::Choice(parts) => parts.iter().any(Self::can_be_empty),
            Self::Repeat(repeat) => repeat.least == 0 || repeat.inside.can_be_empty(),
            Self::Capture(_, inside) | Self::Atomic(inside) => inside.can_be_empty(),
            Self::If { yes, no, .. } => yes.can_be_empty() || no.can_be_empty(),
        }
    }
}

/// A pattern that was read.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) root: Node,
    /// Ranges of characters, each set once.
    pub(super) sets: Vec<Vec<(char, char)>>,
    pub(super) groups: u32,
    pub(super) names: FxHashMap<String, u32>,
    /// Whether something in it is beyond linear matching, or means something else there.
    pub(super) is_beyond: bool,
}

/// Reads a pattern.
pub(super) fn read(pattern: &str, spaced: bool) -> Result<Tree, Mistake> {
    let Skeleton { text, extensions } = skeleton(pattern, spaced);
    let tree = ast::parse::ParserBuilder::new().ignore_whitespace(spaced).build().parse(&text);
    let tree = tree.map_err(|error| Mistake::new(error.span(), Problem::Syntax(Box::new(error.clone()))))?;
    let mut groups = Groups::default();
    groups.collect(&tree);
    let is_beyond = !extensions.is_empty();
    let mut reader = Reader {
        text: &text,
        extensions,
        groups,
        open: Vec::new(),
        sets: Vec::new(),
        known: FxHashMap::default(),
        is_beyond,
    };
    let root = reader.node(&tree, &mut Flags::default())?;
    if let Some((&at, _)) = reader.extensions.first_key_value() {
        return Err(Mistake { range: at..pattern.len(), problem: Problem::Unreadable });
    }
    Ok(Tree {
        root,
        sets: reader.sets,
        groups: reader.groups.count,
        names: reader.groups.names,
        is_beyond: reader.is_beyond,
    })
}

/// The groups of a pattern.
#[derive(Default)]
struct Groups {
    count: u32,
    names: FxHashMap<String, u32>,
}

impl Groups {
    fn collect(&mut self, tree: &Ast) {
        match tree {
            Ast::Group(group) => {
                self.count = self.count.max(group.capture_index().unwrap_or(0));
                if let ast::GroupKind::CaptureName { name, .. } = &group.kind {
                    self.names.insert(name.name.clone(), name.index);
                }
                self.collect(&group.ast);
            }
            Ast::Repetition(repetition) => self.collect(&repetition.ast),
            Ast::Alternation(parts) => parts.asts.iter().for_each(|part| self.collect(part)),
            Ast::Concat(parts) => parts.asts.iter().for_each(|part| self.collect(part)),
            _ => {}
        }
    }

    fn number(&self, group: &Group, place: &ast::Span) -> Result<u32, Mistake> {
        let found = match group {
            Group::Number(number) => Some(*number).filter(|number| (1..=self.count).contains(number)),
            Group::Name(name) => self.names.get(name).copied(),
        };
        found.ok_or_else(|| Mistake::new(place, Problem::NoGroup(group.clone())))
    }
}

/// Flags as they are at a place of a pattern.
#[derive(Debug, Clone, Copy)]
struct Flags {
    any_case: bool,
    lines: bool,
    dot_takes_lines: bool,
    unicode: bool,
    swapped: bool,
    crlf: bool,
}

impl Default for Flags {
    fn default() -> Self {
        Self { any_case: false, lines: false, dot_takes_lines: false, unicode: true, swapped: false, crlf: false }
    }
}

impl Flags {
    fn set(&mut self, flags: &ast::Flags) {
        let set = |flag, to: &mut bool| *to = flags.flag_state(flag).unwrap_or(*to);
        set(ast::Flag::CaseInsensitive, &mut self.any_case);
        set(ast::Flag::MultiLine, &mut self.lines);
        set(ast::Flag::DotMatchesNewLine, &mut self.dot_takes_lines);
        set(ast::Flag::Unicode, &mut self.unicode);
        set(ast::Flag::SwapGreed, &mut self.swapped);
        set(ast::Flag::CRLF, &mut self.crlf);
    }
}

struct Reader<'p> {
    text: &'p str,
    /// What has not been met yet.
    extensions: BTreeMap<usize, Extension>,
    groups: Groups,
    /// Groups around the place that is read.
    open: Vec<u32>,
    sets: Vec<Vec<(char, char)>>,
    known: FxHashMap<Vec<(char, char)>, u32>,
    is_beyond: bool,
}

impl Reader<'_> {
    fn node(&mut self, tree: &Ast, flags: &mut Flags) -> Result<Node, Mistake> {
        match tree {
            Ast::Empty(_) => Ok(Node::Empty),
            Ast::Flags(set) => {
                flags.set(&set.flags);
                Ok(Node::Empty)
            }
            Ast::Repetition(repetition) => self.repetition(repetition, flags),
            Ast::Group(group) => self.group(group, *flags),
            Ast::Alternation(parts) => Ok(Node::Choice(self.all(&parts.asts, flags)?)),
            Ast::Concat(parts) => Ok(Node::Sequence(self.all(&parts.asts, flags)?)),
            leaf => self.leaf(leaf, *flags),
        }
    }

    fn all(&mut self, parts: &[Ast], flags: &mut Flags) -> Result<Vec<Node>, Mistake> {
        parts.iter().map(|part| self.node(part, flags)).collect()
    }

    fn group(&mut self, group: &ast::Group, mut flags: Flags) -> Result<Node, Mistake> {
        let extension = self.extensions.remove(&group.span.start.offset);
        if let (None, Some(set)) = (&extension, group.flags()) {
            flags.set(set);
        }
        let open = self.open.len();
        self.open.extend(group.capture_index());
        let inside = self.node(&group.ast, &mut flags)?;
        self.open.truncate(open);
        Ok(match extension {
            None => match group.capture_index() {
                Some(index) => Node::Capture(index, Box::new(inside)),
                None => inside,
            },
            Some(Extension::Ahead { negated }) => Node::Around { ahead: true, negated, inside: Box::new(inside) },
            Some(Extension::Behind { negated }) => Node::Around { ahead: false, negated, inside: Box::new(inside) },
            Some(Extension::Atomic) => Node::Atomic(Box::new(inside)),
            Some(Extension::If(of)) => self.condition(&of, inside, &group.span)?,
            Some(Extension::Condition | Extension::Reference(_)) => {
                return Err(Mistake::new(&group.span, Problem::Unreadable));
            }
        })
    }

    fn condition(&self, of: &Group, inside: Node, place: &ast::Span) -> Result<Node, Mistake> {
        let group = self.groups.number(of, place)?;
        let (yes, no) = match inside {
            Node::Choice(parts) => match <[Node; 2]>::try_from(parts) {
                Ok([yes, no]) => (yes, no),
                Err(_) => return Err(Mistake::new(place, Problem::ManyBranches)),
            },
            yes => (yes, Node::Empty),
        };
        Ok(Node::If { group, yes: Box::new(yes), no: Box::new(no) })
    }

    fn repetition(&mut self, repetition: &ast::Repetition, flags: &mut Flags) -> Result<Node, Mistake> {
        let op = &repetition.op;
        if let Ast::Repetition(inner) = &*repetition.ast {
            // `a++` keeps what it has taken.
            let keeps = matches!(op.kind, ast::RepetitionKind::OneOrMore) && repetition.greedy && inner.greedy;
            let plain = !matches!(*inner.ast, Ast::Repetition(_));
            if !keeps || !plain {
                return Err(Mistake::new(&op.span, Problem::RepeatedTwice));
            }
            self.is_beyond = true;
            return Ok(Node::Atomic(Box::new(self.repetition(inner, flags)?)));
        }
        use ast::RepetitionRange as Range;
        let (least, most) = match &op.kind {
            ast::RepetitionKind::ZeroOrOne => (0, Some(1)),
            ast::RepetitionKind::ZeroOrMore => (0, None),
            ast::RepetitionKind::OneOrMore => (1, None),
            ast::RepetitionKind::Range(Range::Exactly(count)) => (*count, Some(*count)),
            ast::RepetitionKind::Range(Range::AtLeast(least)) => (*least, None),
            ast::RepetitionKind::Range(Range::Bounded(least, most)) => (*least, Some(*most)),
        };
        let greedy = repetition.greedy != flags.swapped;
        let inside = self.node(&repetition.ast, flags)?;
        Ok(Node::Repeat(Box::new(Repeat { inside, least, most, greedy })))
    }

    fn leaf(&mut self, leaf: &Ast, flags: Flags) -> Result<Node, Mistake> {
        let place = leaf.span();
        match self.extensions.remove(&place.start.offset) {
            Some(Extension::Condition) => return Ok(Node::Empty),
            Some(Extension::Reference(group)) => {
                let group = self.groups.number(&group, place)?;
                if self.open.contains(&group) {
                    return Err(Mistake::new(place, Problem::OpenGroup));
                }
                return Ok(Node::Reference { group, any_case: flags.any_case });
            }
            Some(_) => return Err(Mistake::new(place, Problem::Unreadable)),
            None => {}
        }
        let mut translator = TranslatorBuilder::new()
            .unicode(flags.unicode)
            .case_insensitive(flags.any_case)
            .multi_line(flags.lines)
            .dot_matches_new_line(flags.dot_takes_lines)
            .crlf(flags.crlf)
            .build();
        let hir = translator.translate(self.text, leaf);
        let hir = hir.map_err(|error| Mistake::new(error.span(), Problem::Meaning(Box::new(error.clone()))))?;
        Ok(match hir.into_kind() {
            HirKind::Look(look) => Node::Look(look),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).unwrap_or("");
                Node::Sequence(text.chars().map(Node::Character).collect())
            }
            HirKind::Class(Class::Unicode(class)) => {
                self.set(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
            }
            HirKind::Class(Class::Bytes(class)) => {
                let ranges = class.ranges().iter();
                self.set(ranges.map(|range| (char::from(range.start()), char::from(range.end()))).collect())
            }
            _ => Node::Empty,
        })
    }

    fn set(&mut self, ranges: Vec<(char, char)>) -> Node {
        let next = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        let number = *self.known.entry(ranges.clone()).or_insert(next);
        if number == next {
            self.sets.push(ranges);
        }
        Node::Set(number)
    }
}
