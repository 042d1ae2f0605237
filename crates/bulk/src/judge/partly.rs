//! Reasons that need little of a run: the parts of its line that are asked for are read, and nothing else.
//!
//! The prefilter knows what the evaluation of each assertion looks at ([`AssertionReads`]): entries of the run, names of its calls, fields of
//! some of them. A run of these alone says the same of them. What reports hide wherever a run repeats it has to be known, though: where a
//! key of the line may name a credential, the line is read in full.

use super::Judge;
use crate::prefilter::AssertionReads;
use crate::prefilter::projected_run::{self, ProjectedRun};
use averment_base::value::{Node, Origin, Value, json};
use averment_builtins::detect;
use averment_report::profile::Phase;
use averment_runs::run::{CallTimes, Run, RunSource, Step};
use averment_traces::projection::{Call, Chunk, Field, Held, Projection};
use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

/// What has to be read of a run.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Its calls, by name and place.
    calls: bool,
    /// Their times and turns.
    times: bool,
    /// Fields of the calls whose names fit a unique pattern of a program.
    fields: Vec<(usize, u32, [bool; 2])>,
    /// Fields of all calls.
    all: [bool; 2],
}

/// A line of a chunk.
#[derive(Clone, Copy)]
struct ChunkLine<'s, 'a> {
    chunk: Chunk<'s>,
    start: usize,
    text: &'a str,
    arena: &'a Bump,
}

impl<'p> Judge<'p> {
    /// Settles a run by parts of its line; false where these are not enough.
    pub(super) fn by_parts(
        &mut self,
        projection: &Projection<'_>,
        chunk: Chunk<'_>,
        start: usize,
        text: &str,
        source: &dyn Fn() -> RunSource,
    ) -> bool {
        let mut wanted = std::mem::take(&mut self.wanted);
        let mut settled = false;
        if !projection.conversation && !projection.unusual && self.is_little(&mut wanted) {
            let fine = self.guarded(text.len(), &|| source().name(), |this, arena| {
                let line = ChunkLine { chunk, start, text, arena };
                this.observer.enter(Phase::Reading);
                if let Some(run) = this.partly(projection, line, source, &wanted) {
                    settled = true;
                    this.settle(&run, arena);
                }
                Ok(())
            });
            // What broke down is told once, and not tried again.
            settled |= !fine;
        }
        self.wanted = wanted;
        settled
    }

    /// Whether all that has to be evaluated of a run looks at parts of it, and at which.
    fn is_little(&self, wanted: &mut Wanted) -> bool {
        let findings = self.pipeline.detail.findings;
        if self.pipeline.detail.takes_whole_runs() {
            return false;
        }
        (wanted.calls, wanted.times, wanted.all) = (false, false, [false; 2]);
        wanted.fields.clear();
        let mut answers = self.answers.iter();
        for (place, one) in self.programs.iter().enumerate() {
            for ((number, reads), answer) in one.prefilter.assertions().zip(&one.assertion_reads).zip(answers.by_ref())
            {
                if !one.asks(number, *answer, findings) {
                    continue;
                }
                if self.obstacle(place, number, reads, *answer).is_some() {
                    return false;
                }
                wanted.calls |= *reads != AssertionReads::Entries;
                match reads {
                    AssertionReads::Run => return false,
                    AssertionReads::Entries | AssertionReads::Names => {}
                    AssertionReads::Times => wanted.times = true,
                    AssertionReads::Parts(parts) => {
                        wanted.fields.extend(parts.iter().map(|(unique, fields)| (place, *unique, *fields)));
                    }
                    AssertionReads::Fields { unique, fields } => wanted.fields.push((place, *unique, *fields)),
                    AssertionReads::All { field } => *wanted.all.get_mut(*field as usize).unwrap_or(&mut false) = true,
                }
            }
        }
        true
    }

    /// The run of a line with what is wanted of it, where that is enough.
    fn partly<'a>(
        &self,
        projection: &Projection<'_>,
        line: ChunkLine<'_, 'a>,
        source: &dyn Fn() -> RunSource,
        wanted: &Wanted,
    ) -> Option<Run<'a>> {
        if wanted.calls && !projection.records_calls {
            return None;
        }
        if may_withhold(line, calls_of(projection).filter(|_| wanted.calls), wanted.times) {
            return None;
        }
        let mut made = ProjectedRun::new(line.arena, projection.roots.len() + 1);
        for (name, held) in self.read_set.roots.iter().zip(&projection.roots) {
            if let Some(node) = line.value(*held)? {
                made.entry(line.arena.alloc_str(name), node);
            }
        }
        if wanted.calls {
            made.calls(self.calls(projection, line, wanted)?);
        }
        Some(made.run(line.text, source()))
    }

    /// The calls as steps, in their order: with the fields that are wanted, and none of the others.
    fn calls<'a>(
        &self,
        projection: &Projection<'_>,
        line: ChunkLine<'_, 'a>,
        wanted: &Wanted,
    ) -> Option<&'a [Step<'a>]> {
        let mut steps = Items::with_capacity_in(projection.calls.len(), line.arena);
        for (number, call) in projection.calls.iter().enumerate() {
            let mut fields = wanted.all;
            for (program, unique, of_unique) in &wanted.fields {
                if self.programs.get(*program)?.scratch.fits(number, *unique) {
                    fields.iter_mut().zip(of_unique).for_each(|(field, wanted)| *field |= wanted);
                }
            }
            let mut step = line.step(u32::try_from(number).ok()?, call, fields)?;
            if wanted.times {
                let CallTimes { start, end, turn } = call.times?;
                step = Step { start, end, turn, ..step };
            }
            steps.push(step);
        }
        Some(steps.into_bump_slice())
    }
}

impl<'a> ChunkLine<'_, 'a> {
    /// An executed call of which nothing but its name, its place and some fields is known.
    fn step(self, number: u32, call: &Call<'_>, wanted: [bool; 2]) -> Option<Step<'a>> {
        let (start, end) = call.place?;
        let place = Origin::new(start.checked_sub(self.start)?, end.checked_sub(self.start)?);
        let mut fields = [None; 2];
        for ((field, held), into) in Field::ALL.into_iter().zip(call.fields).zip(&mut fields) {
            let node = match held {
                _ if wanted.get(field as usize) != Some(&true) => None,
                // Of a step that says that its kind of run does not record it.
                Held::Value(Value::Absent) => Some(Node::computed(Value::Absent)),
                // What is said of one that is missing looks at the others.
                Held::Value(_) => return None,
                held => self.value(held)?,
            };
            *into = node.map(|node| (field.as_str(), node));
        }
        Some(projected_run::step(self.arena, number, call.name, fields.into_iter().flatten(), place))
    }

    /// The value of an entry or field, `None` in it where there is none. The outer `None` is for one that only the full reader gives.
    fn value(self, held: Held<'_>) -> Option<Option<Node<'a>>> {
        let (from, to) = match held {
            Held::Bytes(from, to) => (from.checked_sub(self.start)?, to.checked_sub(self.start)?),
            Held::Value(Value::Absent | Value::Missing) => return Some(None),
            Held::Value(_) | Held::Written(..) => return None,
        };
        let document = json::parse(self.text.get(from..to)?, from, self.arena, self.chunk.limits).ok()?;
        document.duplicates.is_empty().then_some(Some(document.node))
    }
}

/// Where the calls of a line stand.
fn calls_of(projection: &Projection<'_>) -> Option<(usize, usize)> {
    Some((projection.calls.first()?.place?.0, projection.calls.last()?.place?.1))
}

/// Whether a line may hold something that no report shows, whatever it is about: below a name of a credential, in the recorded environment,
/// in JSON that is written into a text. Where calls are asked for, too: whether steps beside them may stand among them; and where their times
/// are, whether one may name what started it.
fn may_withhold(line: ChunkLine<'_, '_>, calls: Option<(usize, usize)>, timed: bool) -> bool {
    let cursor = line.chunk.cursor;
    let end = line.start.saturating_add(line.text.len());
    let mut quotes = cursor.quotes(line.start).take_while(|quote| *quote < end);
    while let Some(open) = quotes.next() {
        let Some(close) = quotes.next() else { return true };
        let inside = cursor.slice(open.wrapping_add(1), close);
        let behind = cursor.blank(close.wrapping_add(1));
        if cursor.byte(behind) == b':' {
            let withheld = match inside {
                b"env" | b"command" | b"commands" => true,
                b"parent_id" => timed,
                b"start" | b"turn" => calls.is_some_and(|(from, to)| open < from || to <= open),
                key => detect::names_credential(key, cursor.byte(cursor.blank(behind.wrapping_add(1))) == b'['),
            };
            if withheld || cursor.has_escape(open, close) {
                return true;
            }
        } else if json::may_hold(inside) {
            return true;
        }
    }
    false
}
