//! The facts of one line, from its bytes.

use super::call::{self, Order};
use super::keys::Keys;
use super::roots::{self, Special};
use super::{Demand, Facts, Field, Held, Stretch};
use crate::trace::names::Names;
use crate::value::Value;

/// Reads lines. It remembers which keys came in which order, and makes use of it on the next line.
#[derive(Debug)]
pub struct LineReader {
    demand: Demand,
    runs: Keys<roots::Role>,
    generic: Keys<call::Role>,
    native: Keys<call::Role>,
    /// Whether `null` is a value of each entry, by the form of the run.
    nulls: Vec<(bool, bool)>,
    /// Where the entries of a line stand, in a home-grown format with the rank of their name and in the normal form.
    found: Vec<Found>,
    /// Types that were not as the full reader wants them.
    wrong: Wrong,
}

#[derive(Debug, Clone, Copy, Default)]
struct Found {
    generic: Option<(u8, usize, usize)>,
    native: Option<(usize, usize)>,
    /// It stands there as `null`.
    null: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Wrong {
    generic: bool,
    native: bool,
}

/// The form of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Generic,
    Native,
}

impl LineReader {
    /// A reader for what is asked for; `None` where only the full reader can give that.
    #[must_use]
    pub fn new(demand: &Demand, names: &Names) -> Option<Self> {
        if demand.roots.iter().any(|root| roots::is_composed(root)) || demand.roots.len() > 100 {
            return None;
        }
        Some(Self {
            runs: roots::keys(&demand.roots, names),
            generic: call::keys(Some(names)),
            native: call::keys(None),
            nulls: demand.roots.iter().map(|root| roots::null_counts(root, names)).collect(),
            found: Vec::new(),
            wrong: Wrong::default(),
            demand: demand.clone(),
        })
    }

    /// Reads the line from `start` to `end`. `None` where it is for the full reader; the facts hold anything then.
    pub fn read<'a>(&mut self, stretch: Stretch<'a>, start: usize, end: usize, facts: &mut Facts<'a>) -> Option<()> {
        facts.clear();
        self.found.clear();
        self.found.resize(self.demand.roots.len(), Found::default());
        self.wrong = Wrong::default();
        let cursor = stretch.cursor;
        let Self { demand, runs, generic, native, nulls, found, wrong } = self;
        let (mut form, mut marks, mut first_needed, mut rank) = (None, 0_u64, false, 0);
        let mut order = Order::new();
        let behind = runs.object(cursor, start, |role, at| {
            if marks & role.mark != 0 {
                return None;
            }
            marks |= role.mark;
            let end = match role.special {
                Special::None => cursor.value(at)?,
                Special::Refuse if cursor.byte(at) == b'n' => cursor.value(at)?,
                Special::Refuse => return None,
                Special::RefuseUnlessFirst => {
                    first_needed = true;
                    cursor.value(at)?
                }
                Special::Generic(_) | Special::Native => {
                    let (this, keys) = match role.special {
                        Special::Native => (Form::Native, &mut *native),
                        _ => (Form::Generic, &mut *generic),
                    };
                    if let Special::Generic(this) = role.special {
                        rank = this;
                    }
                    if form.replace(this).is_some() || cursor.byte(at) != b'[' {
                        return None;
                    }
                    calls(keys, stretch, at, demand, facts, &mut order)?
                }
            };
            if role.mark != 0 {
                note(role, cursor.slice(at, end), (at, end), found, wrong);
            }
            Some(end)
        })?;
        let form = form?;
        let good = cursor.blank(behind) >= end
            && order.is_plain()
            && !(first_needed && form == Form::Generic && rank > 0)
            && !(if form == Form::Generic { wrong.generic } else { wrong.native });
        if !good {
            return None;
        }
        finish(facts, &order, found.iter().zip(&*nulls), form);
        for (root, name) in facts.roots.iter_mut().zip(&demand.roots) {
            if name == "error" && matches!(root, Held::Value(Value::Absent)) {
                *root = Held::Value(Value::Missing);
            }
        }
        Some(())
    }
}

/// Reads a list of calls; gives the offset behind it.
#[inline]
fn calls<'a>(
    keys: &mut Keys<call::Role>,
    stretch: Stretch<'a>,
    start: usize,
    demand: &Demand,
    facts: &mut Facts<'a>,
    order: &mut Order,
) -> Option<usize> {
    let cursor = stretch.cursor;
    facts.records_calls = true;
    let mut at = cursor.blank(start.wrapping_add(1));
    if cursor.byte(at) == b']' {
        return Some(at.wrapping_add(1));
    }
    loop {
        let (call, executed, behind) = call::read(keys, stretch.text, cursor, at, demand, &mut facts.texts, order)?;
        facts.unusual |= !executed;
        facts.calls.push(call);
        at = cursor.blank(behind);
        match cursor.byte(at) {
            b',' => at = cursor.blank(at.wrapping_add(1)),
            b']' => return Some(at.wrapping_add(1)),
            _ => return None,
        }
    }
}

/// Notes where an entry stands.
fn note(role: &roots::Role, value: &[u8], (start, end): (usize, usize), found: &mut [Found], wrong: &mut Wrong) {
    wrong.generic |= !role.generic_type.fits(value);
    wrong.native |= !role.native_type.fits(value);
    let null = value.first() == Some(&b'n');
    for (root, rank) in &role.generic {
        if let Some(found) = found.get_mut(usize::from(*root)) {
            match found.generic {
                _ if null => found.null = true,
                Some((known, ..)) if known <= *rank => {}
                _ => found.generic = Some((*rank, start, end)),
            }
        }
    }
    if let Some(found) = role.native.and_then(|root| found.get_mut(usize::from(root))) {
        found.null |= null;
        if !null {
            found.native = Some((start, end));
        }
    }
}

/// Settles what depends on the whole line.
fn finish<'f>(
    facts: &mut Facts<'_>,
    order: &Order,
    found: impl Iterator<Item = (&'f Found, &'f (bool, bool))>,
    form: Form,
) {
    for call in &mut facts.calls {
        for (field, held) in Field::ALL.into_iter().zip(&mut call.fields) {
            if matches!(held, Held::Value(Value::Missing)) && !order.records(field) {
                *held = Held::Value(Value::Absent);
            }
        }
    }
    facts.roots.extend(found.map(|(found, nulls)| {
        let (place, null_counts) = match form {
            Form::Generic => (found.generic.map(|(_, start, end)| (start, end)), nulls.0),
            Form::Native => (found.native, nulls.1),
        };
        match place {
            Some((start, end)) => Held::Bytes(start, end),
            None if found.null && null_counts => Held::Value(Value::Null),
            None => Held::Value(Value::Absent),
        }
    }));
}
