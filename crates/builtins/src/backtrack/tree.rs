//! The syntax tree of a pattern: the tree from the library, with the extensions inserted.

use super::mistake::{PatternError, PatternProblem};
use super::skeleton::{GroupReference, PatternExtension, PatternSkeleton, build_skeleton};
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, HirKind, Look};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternNode {
    Empty,
    Character(char),
    Set(u32),
    Look(Look),
    Sequence(Vec<PatternNode>),
    Choice(Vec<PatternNode>),
    Repeat(Box<RepeatNode>),
    Capture(u32, Box<PatternNode>),
    Around { ahead: bool, negated: bool, inside: Box<PatternNode> },
    Atomic(Box<PatternNode>),
    Reference { group: u32, any_case: bool },
    If { group: u32, yes: Box<PatternNode>, no: Box<PatternNode> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RepeatNode {
    pub(super) inside: PatternNode,
    pub(super) least: u32,
    pub(super) most: Option<u32>,
    pub(super) greedy: bool,
}

impl PatternNode {
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

#[derive(Debug)]
pub(super) struct PatternTree {
    pub(super) root: PatternNode,
    /// Deduplicated character ranges.
    pub(super) sets: Vec<Vec<(char, char)>>,
    pub(super) groups: u32,
    pub(super) names: FxHashMap<String, u32>,
    /// True if linear matching does not support the pattern or interprets it differently.
    pub(super) is_beyond: bool,
}

pub(super) fn read_pattern(pattern: &str, spaced: bool) -> Result<PatternTree, PatternError> {
    let PatternSkeleton { text, extensions } = build_skeleton(pattern, spaced);
    let tree = ast::parse::ParserBuilder::new().ignore_whitespace(spaced).build().parse(&text);
    let tree =
        tree.map_err(|error| PatternError::new(error.span(), PatternProblem::Syntax(Box::new(error.clone()))))?;
    let mut groups = PatternGroups::default();
    groups.collect_groups(&tree);
    let is_beyond = !extensions.is_empty();
    let mut reader = PatternReader {
        text: &text,
        extensions,
        groups,
        open: Vec::new(),
        sets: Vec::new(),
        known: FxHashMap::default(),
        is_beyond,
    };
    let root = reader.read_node(&tree, &mut PatternFlags::default())?;
    if let Some((&at, _)) = reader.extensions.first_key_value() {
        return Err(PatternError { range: at..pattern.len(), problem: PatternProblem::Unreadable });
    }
    Ok(PatternTree {
        root,
        sets: reader.sets,
        groups: reader.groups.count,
        names: reader.groups.names,
        is_beyond: reader.is_beyond,
    })
}

#[derive(Default)]
struct PatternGroups {
    count: u32,
    names: FxHashMap<String, u32>,
}

impl PatternGroups {
    fn collect_groups(&mut self, tree: &Ast) {
        match tree {
            Ast::Group(group) => {
                self.count = self.count.max(group.capture_index().unwrap_or(0));
                if let ast::GroupKind::CaptureName { name, .. } = &group.kind {
                    self.names.insert(name.name.clone(), name.index);
                }
                self.collect_groups(&group.ast);
            }
            Ast::Repetition(repetition) => self.collect_groups(&repetition.ast),
            Ast::Alternation(parts) => parts.asts.iter().for_each(|part| self.collect_groups(part)),
            Ast::Concat(parts) => parts.asts.iter().for_each(|part| self.collect_groups(part)),
            _ => {}
        }
    }

    fn group_number(&self, group: &GroupReference, place: &ast::Span) -> Result<u32, PatternError> {
        let found = match group {
            GroupReference::Number(number) => Some(*number).filter(|number| (1..=self.count).contains(number)),
            GroupReference::Name(name) => self.names.get(name).copied(),
        };
        found.ok_or_else(|| PatternError::new(place, PatternProblem::NoGroup(group.clone())))
    }
}

#[derive(Debug, Clone, Copy)]
struct PatternFlags {
    any_case: bool,
    lines: bool,
    dot_takes_lines: bool,
    unicode: bool,
    swapped: bool,
    crlf: bool,
}

impl Default for PatternFlags {
    fn default() -> Self {
        Self { any_case: false, lines: false, dot_takes_lines: false, unicode: true, swapped: false, crlf: false }
    }
}

impl PatternFlags {
    fn apply_flags(&mut self, flags: &ast::Flags) {
        let set = |flag, to: &mut bool| *to = flags.flag_state(flag).unwrap_or(*to);
        set(ast::Flag::CaseInsensitive, &mut self.any_case);
        set(ast::Flag::MultiLine, &mut self.lines);
        set(ast::Flag::DotMatchesNewLine, &mut self.dot_takes_lines);
        set(ast::Flag::Unicode, &mut self.unicode);
        set(ast::Flag::SwapGreed, &mut self.swapped);
        set(ast::Flag::CRLF, &mut self.crlf);
    }
}

struct PatternReader<'p> {
    text: &'p str,
    /// Extensions not reached yet.
    extensions: BTreeMap<usize, PatternExtension>,
    groups: PatternGroups,
    open: Vec<u32>,
    sets: Vec<Vec<(char, char)>>,
    known: FxHashMap<Vec<(char, char)>, u32>,
    is_beyond: bool,
}

impl PatternReader<'_> {
    fn read_node(&mut self, tree: &Ast, flags: &mut PatternFlags) -> Result<PatternNode, PatternError> {
        match tree {
            Ast::Empty(_) => Ok(PatternNode::Empty),
            Ast::Flags(set) => {
                flags.apply_flags(&set.flags);
                Ok(PatternNode::Empty)
            }
            Ast::Repetition(repetition) => self.read_repetition(repetition, flags),
            Ast::Group(group) => self.read_group(group, *flags),
            Ast::Alternation(parts) => Ok(PatternNode::Choice(self.read_nodes(&parts.asts, flags)?)),
            Ast::Concat(parts) => Ok(PatternNode::Sequence(self.read_nodes(&parts.asts, flags)?)),
            leaf => self.read_leaf(leaf, *flags),
        }
    }

    fn read_nodes(&mut self, parts: &[Ast], flags: &mut PatternFlags) -> Result<Vec<PatternNode>, PatternError> {
        parts.iter().map(|part| self.read_node(part, flags)).collect()
    }

    fn read_group(&mut self, group: &ast::Group, mut flags: PatternFlags) -> Result<PatternNode, PatternError> {
        let extension = self.extensions.remove(&group.span.start.offset);
        if let (None, Some(set)) = (&extension, group.flags()) {
            flags.apply_flags(set);
        }
        let open = self.open.len();
        self.open.extend(group.capture_index());
        let inside = self.read_node(&group.ast, &mut flags)?;
        self.open.truncate(open);
        Ok(match extension {
            None => match group.capture_index() {
                Some(index) => PatternNode::Capture(index, Box::new(inside)),
                None => inside,
            },
            Some(PatternExtension::Ahead { negated }) => {
                PatternNode::Around { ahead: true, negated, inside: Box::new(inside) }
            }
            Some(PatternExtension::Behind { negated }) => {
                PatternNode::Around { ahead: false, negated, inside: Box::new(inside) }
            }
            Some(PatternExtension::Atomic) => PatternNode::Atomic(Box::new(inside)),
            Some(PatternExtension::If(of)) => self.read_condition(&of, inside, &group.span)?,
            Some(PatternExtension::Condition | PatternExtension::Reference(_)) => {
                return Err(PatternError::new(&group.span, PatternProblem::Unreadable));
            }
        })
    }

    fn read_condition(
        &self,
        of: &GroupReference,
        inside: PatternNode,
        place: &ast::Span,
    ) -> Result<PatternNode, PatternError> {
        let group = self.groups.group_number(of, place)?;
        let (yes, no) = match inside {
            PatternNode::Choice(parts) => match <[PatternNode; 2]>::try_from(parts) {
                Ok([yes, no]) => (yes, no),
                Err(_) => return Err(PatternError::new(place, PatternProblem::ManyBranches)),
            },
            yes => (yes, PatternNode::Empty),
        };
        Ok(PatternNode::If { group, yes: Box::new(yes), no: Box::new(no) })
    }

    fn read_repetition(
        &mut self,
        repetition: &ast::Repetition,
        flags: &mut PatternFlags,
    ) -> Result<PatternNode, PatternError> {
        let op = &repetition.op;
        if let Ast::Repetition(inner) = &*repetition.ast {
            // `a++` is possessive: it never gives characters back.
            let keeps = matches!(op.kind, ast::RepetitionKind::OneOrMore) && repetition.greedy && inner.greedy;
            let plain = !matches!(*inner.ast, Ast::Repetition(_));
            if !keeps || !plain {
                return Err(PatternError::new(&op.span, PatternProblem::RepeatedTwice));
            }
            self.is_beyond = true;
            return Ok(PatternNode::Atomic(Box::new(self.read_repetition(inner, flags)?)));
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
        let inside = self.read_node(&repetition.ast, flags)?;
        Ok(PatternNode::Repeat(Box::new(RepeatNode { inside, least, most, greedy })))
    }

    fn read_leaf(&mut self, leaf: &Ast, flags: PatternFlags) -> Result<PatternNode, PatternError> {
        let place = leaf.span();
        match self.extensions.remove(&place.start.offset) {
            Some(PatternExtension::Condition) => return Ok(PatternNode::Empty),
            Some(PatternExtension::Reference(group)) => {
                let group = self.groups.group_number(&group, place)?;
                if self.open.contains(&group) {
                    return Err(PatternError::new(place, PatternProblem::OpenGroup));
                }
                return Ok(PatternNode::Reference { group, any_case: flags.any_case });
            }
            Some(_) => return Err(PatternError::new(place, PatternProblem::Unreadable)),
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
        let hir =
            hir.map_err(|error| PatternError::new(error.span(), PatternProblem::Meaning(Box::new(error.clone()))))?;
        Ok(match hir.into_kind() {
            HirKind::Look(look) => PatternNode::Look(look),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).unwrap_or("");
                PatternNode::Sequence(text.chars().map(PatternNode::Character).collect())
            }
            HirKind::Class(Class::Unicode(class)) => {
                self.intern_set(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
            }
            HirKind::Class(Class::Bytes(class)) => {
                let ranges = class.ranges().iter();
                self.intern_set(ranges.map(|range| (char::from(range.start()), char::from(range.end()))).collect())
            }
            _ => PatternNode::Empty,
        })
    }

    fn intern_set(&mut self, ranges: Vec<(char, char)>) -> PatternNode {
        let next = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        let number = *self.known.entry(ranges.clone()).or_insert(next);
        if number == next {
            self.sets.push(ranges);
        }
        PatternNode::Set(number)
    }
}
