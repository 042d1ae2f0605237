//! Named classes that hint patterns can use: lists of words, kinds of text, conditions on a position.

use super::view::{GuardFn, StatementView, TakeFn, strip_quotes};
use super::{bounds, filters, functions, prose, table};
use crate::grammar::is_keyword;
use crate::recover::can_be_read;
use crate::statements::{HeadOperand, find_head};
use crate::token::TokenKind;
use crate::{near_keywords, number, words};

const LISTS: &[(&str, &[&str])] = &[
    ("STATEMENT", words::STATEMENTS),
    ("DECLARATION", words::DECLARATIONS),
    ("MODIFIER", words::MODIFIERS),
    ("SETTING", words::SETTINGS),
    ("KIND", words::KINDS),
    ("ROOT", words::ROOTS),
    ("TEST", words::TESTS),
];

const TAKES: &[(&str, TakeFn)] = &[
    // A whole step pattern, with its choices and its condition.
    ("P", |view, at| Some(view.behind_pattern(at))),
    // One step.
    ("S", |view, at| Some(view.behind_step(at))),
    // A word.
    ("W", |view, at| Some(at + usize::from(view.is_word(at)))),
    // A regular expression.
    ("R", |view, at| (view.token_kind(at) == TokenKind::Regex).then_some(at + 1)),
    // A text in quotes.
    ("T", |view, at| Some(at + usize::from(view.is_text(at)))),
    // A number with its unit.
    ("N", |view, at| Some(at + usize::from(view.is_number(at)))),
    // A number in digits or as a word.
    ("M", |view, at| Some(at + usize::from(bounds::number_digits(view.token_text(at)).is_some()))),
    // A bare name with dots, dashes and globs.
    ("L", |view, at| view.is_word(at).then(|| view.behind_name(at))),
    // Any token.
    ("X", |view, at| Some((at + 1).min(view.len()))),
    // Brackets and their contents.
    ("G", |view, at| view.is_any(at, &["(", "[", "{"]).then(|| view.behind_bracket(at))),
    // A value, up to its end.
    ("E", |view, at| Some(view.operand_end(at))),
    // A value with its tests, up to the end of an argument.
    ("A", |view, at| Some(view.balanced_end(at, &[",", ")"]))),
    // The contents of brackets, up to the closing bracket.
    ("IN", |view, at| Some(view.balanced_end(at, &[")", "]", "}"]))),
    // The rest of a statement, up to its modifiers.
    ("B", |view, at| Some(view.modifiers_start(at))),
    // A bound in words; how often a step must not occur.
    ("BOUND", bounds::behind_bound),
    ("LIMIT", bounds::behind_limit),
    // A number word; a number of digits only; a unit.
    ("WORDED", |view, at| bounds::number_word(view.token_text(at)).map(|_| at + 1)),
    ("PLAIN", |view, at| (view.is_number(at) && is_plain(view.token_text(at))).then_some(at + 1)),
    ("UNIT", |view, at| (view.is_word(at) && number::meant_unit(view.token_text(at)).is_some()).then_some(at + 1)),
    ("VERDICT", |view, at| words::meant_verdict(view.token_text(at)).map(|_| at + 1)),
    // A text that could be a name.
    ("QUOTED", |view, at| (view.is_text(at) && is_name(strip_quotes(view.token_text(at)))).then_some(at + 1)),
    // A text with a blank.
    ("SENTENCE", |view, at| (view.is_text(at) && view.token_text(at).contains(' ')).then_some(at + 1)),
    // Any name; the rest of a name; another name after a comma.
    ("LABEL", |view, at| Some(view.behind_name(at).min(view.len()))),
    ("TAIL", |view, at| at.checked_sub(1).map(|before| view.behind_name(before))),
    ("ALSO", |view, at| view.token_is(at, ",").then(|| view.behind_name(at + 1).min(view.len()))),
    // The head of a declaration, up to its body; the head, or only a name if there is no body.
    ("HEADING", |view, at| Some(view.find_any(at, &["{", ":"]).unwrap_or(view.len()))),
    ("HEAD", |view, at| Some(view.find_any(at, &["{", "expect"]).unwrap_or_else(|| view.behind_name(at)))),
    // Everything up to the run of a test.
    ("RUN", |view, at| view.find_any(at, &["{", "from"])),
    // Steps separated by arrows, and by commas.
    ("CHAIN", |view, at| joined_steps(view, at, "->")),
    ("STEPS", |view, at| joined_steps(view, at, ",")),
    // A condition, up to the word that joins it with another.
    ("CLAUSE", |view, at| Some(view.first_of(at, &["and", "or", ")", ",", "]", "}", "{", "implies"]))),
    // A condition including all brackets, up to another condition.
    ("PLACE", |view, at| Some(view.first_of(at, &["and", "or"]))),
    // A path; the rest of a path.
    ("PATH", |view, at| {
        let begins = at < view.len() && !view.is_any(at, &[",", ":", ")", "]", "}"]);
        let first = if view.is_any(at, &["(", "["]) { view.behind_bracket(at) } else { at + 1 };
        begins.then(|| touching_end(view, first)).flatten()
    }),
    ("TOUCHING", touching_end),
    ("ELEMENT", |view, at| (view.token_is(at, ",") && is_value(view, at + 1)).then_some(at + 2)),
    // Values separated by commas or words.
    ("VALUES", value_list_end),
    // The arguments of a call that parses as a step.
    ("CALLSTEP", |view, at| {
        let end = view.behind_bracket(at);
        can_be_read(&format!("require {}", view.source_text(at.checked_sub(1)?, end))).then_some(end)
    }),
    // An amount of money, in words.
    ("MONEYBOUND", |view, at| bounds::behind_bound(view, at).filter(|end| view.token_text(end - 1).starts_with('$'))),
    // A step followed by `then`.
    ("STEPTHEN", |view, at| Some(view.behind_pattern(at)).filter(|&end| view.token_is(end, "then"))),
    // A comparison in words.
    ("COMPARED", |view, at| {
        let found = bounds::worded_comparison(|index| view.token_text(at + index));
        found.map(|(words, _)| at + words).filter(|_| view.is_word(at))
    }),
    // The source of generated inputs.
    ("INPUTS", |view, at| {
        let schema = view.tokens_are(at, &["from", "schema"]).then_some(at + 2);
        schema.or_else(|| view.token_is(at, "{").then(|| view.behind_bracket(at)))
    }),
    // A path of a run or a call in quotes; the first word of a statement in quotes.
    ("QUOTEDPATH", |view, at| {
        let text = strip_quotes(view.token_text(at));
        let (root, rest) = text.split_once('.').unwrap_or((text, ""));
        let letter = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | '[' | ']');
        let path = !rest.is_empty() && rest.chars().all(letter) && (root == "args" || words::ROOTS.contains(&root));
        (view.is_text(at) && path).then_some(at + 1)
    }),
    ("QUOTEDHEAD", |view, at| {
        (view.is_text(at) && words::STATEMENTS.contains(&strip_quotes(view.token_text(at)))).then_some(at + 1)
    }),
    // An operator of another language, of one token or of two adjacent tokens.
    ("FOREIGNSIGN", |view, at| {
        let is_sign = |end: usize| table::meant("SIGNWORD", view.written_text(at, end)).is_some();
        let pair = at + 1 < view.len() && view.touches_previous(at + 1) && is_sign(at + 2) && !view.token_is(at, "<=");
        if is_sign(at + 1) { Some(at + 1) } else { pair.then_some(at + 2) }
    }),
    // A rule file without quotes; a module of the standard set with other separators between its parts.
    ("RULEFILE", |view, at| {
        let end = view.find_word(at, "(").unwrap_or(view.len());
        let text: String = view.source_text(at, end).split_whitespace().collect();
        (!view.is_text(at) && (text.ends_with(".assert") || text.starts_with('.'))).then_some(end)
    }),
    ("MODULEPATH", |view, at| {
        let end = view.find_word(at, "(").unwrap_or(view.len());
        let text = view.source_text(at, end);
        let parted = text.contains('/') || text.contains("::");
        (text.starts_with("std") && parted && !text.contains(' ')).then_some(end)
    }),
    // A text that is a glob for paths and not a regular expression.
    ("GLOBTEXT", |view, at| {
        let text = view.token_text(at);
        (view.is_text(at) && filters::test_of_glob(text).is_some()).then_some(at + 1)
    }),
    // A text that names a folder without wildcards, or everything below a folder.
    ("FOLDER", |view, at| plain_folder(view, at).map(|_| at + 1)),
    // A text that ends in `/`, or whose last part has no file extension: a folder, not a file.
    ("FOLDERTEXT", |view, at| {
        let last = plain_folder(view, at)?.rsplit('/').next()?;
        (!last.contains('.')).then_some(at + 1)
    }),
    // Thousands or millions without another unit: `50k`.
    ("KILO", |view, at| {
        let apart = at + 1 < view.len() && view.touches_previous(at + 1) && view.is_any(at + 1, &["k", "K", "M"]);
        let end = at + 1 + usize::from(apart);
        (view.is_number(at) && filters::expand_thousands(view.written_text(at, end)).is_some()).then_some(end)
    }),
    // A root or `args` in capital letters.
    ("CAPITALROOT", |view, at| {
        let (word, small) = (view.token_text(at), view.token_text(at).to_ascii_lowercase());
        (small != word && (small == "args" || words::ROOTS.contains(&small.as_str()))).then_some(at + 1)
    }),
    // The step after `call` or `tool`, by its name or a text. The rest of a step after its first word.
    ("CALLED", |view, at| {
        let word = view.token_text(at);
        let named = view.is_word(at) && word != "to" && (!is_keyword(word) || words::KINDS.contains(&word));
        ((named || view.is_text(at)) && !view.touches_previous(at)).then(|| view.behind_step(at))
    }),
    ("STEPREST", |view, at| Some(view.behind_step(at.checked_sub(1)?))),
    // A step alone, or one with a condition.
    ("LONESTEP", |view, at| {
        let text = matches!(view.token_kind(at + 1), TokenKind::Text | TokenKind::Regex);
        let end = view.behind_pattern(at);
        let condition = view.find_word(at + 1, "where").is_some_and(|found| found < end);
        let kind = words::KINDS.contains(&view.token_text(at)) && text;
        let is_step = kind || condition && !words::STATEMENTS.contains(&view.token_text(at));
        (is_step && end == view.modifiers_start(at)).then_some(end)
    }),
    // The start of a step with a condition, if nothing joins it with another step before `where`. The end of that condition.
    ("CONDITIONED", |view, at| {
        let seps = ["where", "or", "->", ",", "after", "before", "between", "and", "each"];
        view.find_any(at, &seps).filter(|&end| view.token_is(end, "where"))
    }),
    ("BEHINDCONDITION", |view, at| {
        let is_count = |here: &usize| view.is_number(*here) || view.token_is(*here, "..");
        let end = if view.token_is(0, "require") { (at..view.len()).find(|here| !is_count(here))? } else { at };
        (end < view.len() && view.token_is(end, joint_of(view))).then_some(end + 1)
    }),
    // A word that is similar to a kind of step; the text after a kind word, without quotes.
    ("NEARKIND", |view, at| near_kind(view.token_text(at)).map(|_| at + 1)),
    ("KINDTEXT", kind_text_end),
    ("BINDING", |view, at| (view.token_kind(at) == TokenKind::Binding).then_some(at + 1)),
    // A function of other languages; one of a test library. The start of a value; the adjacent part that continues it.
    ("FUNCTIONNAME", |view, at| functions::behind_function(view, at, "FUNCTION")),
    ("ASSERTIONNAME", |view, at| functions::behind_function(view, at, "ASSERTION")),
    ("VALUEHEAD", |view, at| value_part_end(view, at).filter(|_| !view.token_is(at, "."))),
    ("VALUETAIL", |view, at| value_part_end(view, at).filter(|_| view.touches_previous(at))),
    // A chain of words with dots between a value and its test, `.not.to`; such a chain with one `not`.
    ("CHAINED", chained_end),
    ("NEGATED", |view, at| chained_end(view, at).filter(|&end| (at..end).any(|here| view.token_is(here, "not")))),
    // A word that is similar to a modifier.
    ("NEARMODIFIER", |view, at| super::words::meant_modifier(view.token_text(at)).map(|_| at + 1)),
    // The end of the statement.
    ("END", |view, at| (at >= view.len()).then_some(at + 1)),
];

const GUARDS: &[(&str, GuardFn)] = &[
    // The grammar failed here; here or earlier; here or later; not long before.
    ("failed", |view, at| view.failed == at),
    ("unread", |view, at| view.failed <= at),
    ("read", |view, at| view.failed >= at),
    ("near", |view, at| view.failed + 1 >= at),
    // Not far beyond the position where the grammar failed.
    ("unpassed", |view, at| at <= view.failed + 1),
    ("standing", can_stand),
    ("unmodified", |view, at| view.modifiers_start(at) == view.len()),
    ("touching", |view, at| view.touches_previous(at)),
    ("apart", |view, at| !view.touches_previous(at)),
    // An earlier token is a count, which has no unit.
    ("counting", |view, at| (0..at).any(|before| view.is_any(before, table::list("COUNTING")))),
    ("outer", |view, at| view.is_outer(at)),
    ("inner", |view, at| !view.is_outer(at)),
    // After a complete value.
    ("valued", |view, at| view.is_behind_operand(at)),
    ("end", |view, at| at >= view.len()),
    // The grammar failed before the second token from here.
    ("begun", |view, at| view.failed <= at + 1),
    // Inside of an object; before a list in other brackets.
    ("object", |view, at| view.bracket_around(at).is_some_and(|open| view.token_is(open, "{"))),
    ("listed", is_list),
    // The sign here does not belong to a declaration.
    ("comparing", |view, at| at > 0 && !(words::DECLARATIONS.contains(&view.token_text(0)) && view.is_outer(at))),
    // A second value begins here, after a complete one.
    ("second", |view, at| {
        let apart = view.failed == at && view.is_outer(at) && !words::is_joining(view.token_text(at));
        view.begins_operand(at) && view.is_behind_operand(at) && apart
    }),
    // The brackets of a function contain the body of a quantifier; no colon belongs to the quantifier here.
    ("quantifying", |view, at| (at + 1..view.behind_bracket(at)).any(|here| view.is_any(here, &["in", "=>", "->"]))),
    ("uncoloned", |view, at| {
        !(at + 3..view.len()).any(|here| view.token_is(here, ":") && view.is_outer(here) == view.is_outer(at))
    }),
    // A quantifier may follow, because there is a colon somewhere.
    ("colon", |view, _| (3..view.len()).any(|at| view.token_is(at, ":"))),
    ("indexable", |view, _| {
        let statement = words::STATEMENTS.contains(&view.token_text(0)) && view.is_word(1);
        !statement || view.failed <= view.behind_step(1)
    }),
    // The statement has a body; it can be bounded by `within`; it cannot; it is not a `for each tool`.
    ("bodied", |view, _| is_bodied(view)),
    ("measured", |view, _| is_measured(view)),
    ("unmeasured", |view, _| !is_measured(view)),
    ("foreign", |view, _| {
        !view.tokens_are(0, &["for", "each", "tool", "{"]) && !view.tokens_are(0, &["for", "each", "tool", "where"])
    }),
    // There is a modifier here; there is something other than a modifier; `expect` is the modifier because a failure word follows.
    ("modifier", is_modifier),
    ("content", |view, at| view.modifiers_start(at) != at),
    ("known", |view, at| at > 0 || view.is_any(at + 1, table::list("FAILURE"))),
    ("asserting", is_claim),
    // A `not` of a test before its value; a statement's own word does not count.
    ("fronted", |view, at| {
        let not = usize::from(view.token_is(at, "not"));
        let value = at + not + 1;
        let modifier = words::MODIFIERS.contains(&view.token_text(value)) && !view.token_is(value + 1, ".");
        let fresh = at == 0 || view.is_any(at - 1, &["not", "and", "or", "(", ":", "when", "if", "where"]);
        fresh && !modifier && !words::is_joining(view.token_text(value))
    }),
    // The first word begins a statement: no operator follows it.
    ("head", |view, _| super::words::is_head(view)),
    // A step follows, outside of brackets or at the start; a kind of step may occur here; the statement begins with a step or is about steps.
    ("followed", |view, at| {
        let is_head = |word: &str| find_head(word).is_some_and(|head| head.follows == HeadOperand::Step);
        let before = |at: usize| is_head(view.token_text(at)) || view.is_any(at, table::list("BEFORESTEP"));
        at.checked_sub(1).is_some_and(before) && (at == 1 || view.is_outer(at))
    }),
    ("placed", |view, at| {
        let begins = |at: usize| view.is_any(at, words::STATEMENTS) || view.is_any(at, table::list("BEFOREKIND"));
        at.checked_sub(1).is_none_or(begins)
    }),
    // A word where a modifier could be; such a word followed by a value.
    ("stray", super::words::is_stray_modifier),
    ("modifierlike", super::words::is_modifier_like),
    ("stepped", |view, _| {
        let word = view.token_text(0);
        words::STATEMENTS.contains(&word) || words::KINDS.contains(&word) || near_kind(word).is_some()
    }),
    // The word here equals the one before the preceding sign.
    ("same", |view, at| {
        let key = |back: usize| at.checked_sub(back).is_some_and(|key| view.token_is(at, view.token_text(key)));
        view.is_word(at) && (key(2) || key(3))
    }),
    // The last word up to the mistake that is similar to a test after its value.
    ("mistested", |view, at| {
        let is_test = |here: &usize| view.is_word(*here) && table::meant("TESTWORD", view.token_text(*here)).is_some();
        let valued = |here: &usize| view.is_behind_operand(*here) && is_test(here);
        (1..(view.failed + 1).min(view.len())).rev().find(valued) == Some(at)
    }),
    // Only modifiers are left.
    ("modifiers", |view, at| at >= view.len() || view.modifiers_start(at) == at),
    // The statement is about steps.
    ("steps", |view, _| words::STATEMENTS.contains(&view.token_text(0)) || view.find_word(0, "iff").is_some()),
];

fn find_named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
}

pub(super) fn find_list(name: &str) -> Option<&'static [&'static str]> {
    find_named(LISTS, name).or_else(|| table::find_list(name))
}

pub(super) fn find_take(name: &str) -> Option<TakeFn> {
    find_named(TAKES, name).or_else(|| find_named(prose::TAKES, name))
}

pub(super) fn find_guard(name: &str) -> Option<GuardFn> {
    find_named(GUARDS, name)
}

fn is_value(view: &StatementView<'_, '_>, at: usize) -> bool {
    view.is_text(at) || view.is_number(at)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-' | '.'))
}

fn chained_end(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    let is_word = |at: usize| view.token_is(at, ".") && view.is_word(at + 1) && !view.token_is(at + 2, "(");
    (at..view.len()).step_by(2).find(|&at| !is_word(at))
}

fn value_part_end(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    let joins = view.begins_operand(at) && view.token_kind(at) != TokenKind::Binding || view.token_is(at, ".");
    if view.is_any(at, &["(", "["]) { Some(view.behind_bracket(at)) } else { joins.then_some(at + 1) }
}

fn plain_folder<'t>(view: &StatementView<'_, 't>, at: usize) -> Option<&'t str> {
    let folder = filters::folder_of(view.token_text(at));
    let plain = !folder.is_empty() && !folder.contains(['*', '?', '[', '{', '"', '\\', '$']);
    (view.is_text(at) && plain).then_some(folder)
}

fn is_plain(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'))
}

fn value_list_end(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    let mut end = is_value(view, at).then_some(at + 1)?;
    while view.is_any(end, &[",", "or", "and"]) && is_value(view, end + 1) {
        end += 2;
    }
    Some(end)
}

fn joined_steps(view: &StatementView<'_, '_>, at: usize, sign: &str) -> Option<usize> {
    let mut end = view.behind_step(at);
    while end > at && view.token_is(end, sign) {
        end = view.behind_step(end + 1);
    }
    Some(end)
}

fn touching_end(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    let mut end = at;
    while end < view.len() && view.touches_previous(end) && !view.is_any(end, &[",", ":", ")", "]", "}"]) {
        end = if view.is_any(end, &["(", "["]) { view.behind_bracket(end) } else { end + 1 };
    }
    Some(end)
}

/// Returns the word that follows the condition of a step in this kind of statement.
fn joint_of(view: &StatementView<'_, '_>) -> &'static str {
    match view.token_text(0) {
        "either" => "or",
        "between" => "and",
        "never" if view.find_any(1, &["between", "where"]).is_some_and(|at| view.token_is(at, "between")) => "and",
        "require" => "times",
        "count" | "for" => "",
        _ => "|",
    }
}

pub(super) fn near_kind(word: &str) -> Option<&'static str> {
    let near = near_keywords::near_words(word).into_iter().next().filter(|_| !is_keyword(word))?;
    words::KINDS.iter().find(|kind| **kind == near && near != word).copied()
}

/// Returns the end of a kind's text. If more than one word follows, the word is part of a sentence: `never write outside "src/"`.
fn kind_text_end(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    let ends = |at| view.is_any(at, table::list("KINDEND")) || view.is_any(at, words::MODIFIERS);
    let begins = view.is_word(at) || view.is_any(at, &[".", "/", "*", "**"]);
    if !begins || view.touches_previous(at) || ends(at) {
        return None;
    }
    let kind = at.checked_sub(1).map_or("", |kind| view.token_text(kind));
    let command = kind == "command" || near_kind(kind) == Some("command");
    let goes_on = |at| {
        let joined = view.touches_previous(at) || command && !view.is_text(at);
        joined && !view.is_any(at, table::list("KINDEND")) && !view.is_any(at, table::list("BEHINDKIND"))
    };
    let end = (at + 1..view.len()).find(|&here| !goes_on(here)).unwrap_or(view.len());
    (end >= view.len() || ends(end) || view.is_any(end, &[",", "(", ")", "|", "="])).then_some(end)
}

fn is_bodied(view: &StatementView<'_, '_>) -> bool {
    view.is_any(0, table::list("BODIED"))
        && (!view.token_is(0, "for") || view.token_is(1, "each"))
        && !view.is_any(1, &["x", "=="])
        && !view.token_is(2, "in")
}

fn is_measured(view: &StatementView<'_, '_>) -> bool {
    view.is_any(0, &["before", "after", "sequence", "immediately"])
        || view.token_is(0, "never") && view.find_word(1, "after").is_some()
}

/// True for brackets of another kind around the values of a list.
fn is_list(view: &StatementView<'_, '_>, open: usize) -> bool {
    let call = view.touches_previous(open) && view.is_word(open - 1) && !view.token_is(open - 1, "in");
    let holds = |signs: &[&str]| {
        let mut inside = (open..view.behind_bracket(open)).filter(|&at| view.bracket_around(at) == Some(open));
        inside.any(|at| view.is_any(at, signs))
    };
    view.is_any(open, &["(", "{"]) && !call && holds(&[","]) && !holds(&[":", "->", "|"])
}

/// True for a word that is a modifier here. If an operator follows, it is a name.
fn is_modifier(view: &StatementView<'_, '_>, at: usize) -> bool {
    let value = at == 0 && view.is_any(0, &["when", "as", "class"]) && view.len() > 3;
    can_stand(view, at) && view.failed <= at + 2 && !view.is_any(at + 1, table::list("BEHINDNAME")) && !value
}

/// True where a modifier or setting is possible: at the start, or after a complete statement.
fn can_stand(view: &StatementView<'_, '_>, at: usize) -> bool {
    at == 0 || view.failed <= at + 2 && view.is_behind_operand(at)
}

/// True where a first word may be a claim about what follows, which is not an operator and was not parsed.
fn is_claim(view: &StatementView<'_, '_>, at: usize) -> bool {
    let name = view.is_any(at, &["==", "!=", ".", "<", ">", "<=", ">=", "in", "is"]);
    let outcome = view.token_is(0, "expect") && view.len() == 2;
    at < view.len() && view.failed <= at && !name && !outcome && !is_infix(view)
}

/// True for `A before B`, in which the first word is a step.
pub(super) fn is_infix(view: &StatementView<'_, '_>) -> bool {
    view.is_any(1, table::list("BETWEEN")) && view.find_word(1, "->").is_none()
}
