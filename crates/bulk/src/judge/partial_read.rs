//! Reasons that need little of a run: the parts of its line that are asked for are read, and nothing else.
//!
//! The prefilter knows what the evaluation of each assertion looks at ([`AssertionReads`]): entries of the run, names of its calls, fields of
//! some of them. A run of these alone says the same of them. What reports hide wherever a run repeats it has to be known, though: where a
//! key of the line may name a credential, the line is read in full.

use super::ThreadJudge;
use crate::prefilter::AssertionReads;
use crate::prefilter::projected_run::{self, ProjectedRun};
use averment_base::value::{Node, TextOrigin, Value, json};
use averment_builtins::detect::{self, NameEnds};
use averment_report::profile::ProfilePhase;
use averment_runs::normal::of_run;
use averment_runs::run::{CallTimes, Run, RunSource, Step};
use averment_traces::projection::{CallField, ProjectedCall, RawValue, RunProjection, ScannedChunk, is_computed_entry};
use averment_traces::{FOLLOWING_KINDS, FollowingStep, following_steps};
use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

/// What is seen of a run in its bytes.
#[derive(Clone, Copy)]
pub(super) struct SeenRun<'s, 'a> {
    pub(super) projection: &'s RunProjection<'a>,
    pub(super) chunk: ScannedChunk<'a>,
    /// Where its line begins in the chunk; `None` for a run of several lines.
    pub(super) start: Option<usize>,
    pub(super) text: &'s str,
    pub(super) source: &'s dyn Fn() -> RunSource,
}

#[derive(Debug, Default)]
pub(super) struct RequiredParts {
    calls: bool,
    times: bool,
    fields: Vec<(usize, u32, [bool; 2])>,
    all: [bool; 2],
}

#[derive(Clone, Copy)]
struct ChunkLine<'s, 'a> {
    chunk: ScannedChunk<'s>,
    start: usize,
    text: &'a str,
    arena: &'a Bump,
}

impl RequiredParts {
    /// Forgets all, keeps the memory.
    pub(super) fn clear_parts(&mut self) {
        (self.calls, self.times, self.all) = (false, false, [false; 2]);
        self.fields.clear();
    }

    /// Adds what the evaluation of an assertion looks at, of the program at a place.
    pub(super) fn add_reads(&mut self, place: usize, reads: &AssertionReads) {
        self.calls |= *reads != AssertionReads::Entries;
        match reads {
            AssertionReads::Run | AssertionReads::Entries | AssertionReads::Names => {}
            AssertionReads::Times => self.times = true,
            AssertionReads::Parts { fields, times } => {
                self.times |= times;
                self.fields.extend(fields.iter().map(|(unique, fields)| (place, *unique, *fields)));
            }
            AssertionReads::Fields { unique, fields } => self.fields.push((place, *unique, *fields)),
            AssertionReads::All { field } => *self.all.get_mut(*field as usize).unwrap_or(&mut false) = true,
        }
    }
}

impl<'p> ThreadJudge<'p> {
    /// Judges a run by the parts of its line in `self.wanted`; false if they are not enough.
    pub(super) fn judge_by_parts(&mut self, seen: &SeenRun<'_, '_>) -> bool {
        let SeenRun { projection, chunk, text, source, .. } = *seen;
        let Some(start) = seen.start else { return false };
        let wanted = std::mem::take(&mut self.wanted);
        let mut settled = false;
        let fine = self.catch_faults(text.len(), &|| source().run_name(), |this, arena| {
            let line = ChunkLine { chunk, start, text, arena };
            this.observer.enter(ProfilePhase::Reading);
            if let Some(run) = this.partial_run(projection, line, source, &wanted) {
                settled = true;
                this.settle_run(&run, arena);
            }
            Ok(())
        });
        self.wanted = wanted;
        // What broke down is told once, and not tried again.
        settled || !fine
    }

    fn partial_run<'a>(
        &self,
        projection: &RunProjection<'_>,
        line: ChunkLine<'_, 'a>,
        source: &dyn Fn() -> RunSource,
        wanted: &RequiredParts,
    ) -> Option<Run<'a>> {
        if wanted.calls && !projection.records_calls {
            return None;
        }
        let following = if wanted.calls { self.following_steps(projection, line)? } else { Vec::new() };
        let asked = LineQuestions {
            calls: calls_of(projection).filter(|_| wanted.calls),
            timed: wanted.times,
            followed: !following.is_empty(),
        };
        if may_withhold(line, asked) {
            return None;
        }
        let mut made = ProjectedRun::new(line.arena, projection.roots.len() + 1);
        // What is computed has no place in the line: an assertion that reads it needs the run.
        let recorded = |(name, _): &(&String, &RawValue<'_>)| !is_computed_entry(name);
        for (name, held) in self.read_set.roots.iter().zip(&projection.roots).filter(recorded) {
            if let Some(node) = line.read_value(*held)? {
                made.add_entry(line.arena.alloc_str(name), node);
            }
        }
        if wanted.calls {
            made.set_calls(self.read_calls(projection, line, wanted, &following)?);
        }
        Some(made.into_run(line.text, source()))
    }

    /// The steps that follow from the calls; `None` if only the full reader can tell.
    fn following_steps(&self, projection: &RunProjection<'_>, line: ChunkLine<'_, '_>) -> Option<Vec<FollowingStep>> {
        // All programs see the same calls.
        let scratch = &self.programs.first()?.scratch;
        let args = |call: usize| match projection.calls.get(call)?.field(CallField::Args)? {
            RawValue::Value(_) => Some(None),
            held => line.read_value(held),
        };
        let tools = projection.calls.iter().map(|call| call.name);
        following_steps(line.arena, tools, |call| scratch.derives_steps(call), args)
    }

    /// Steps in order, with the requested fields only.
    fn read_calls<'a>(
        &self,
        projection: &RunProjection<'_>,
        line: ChunkLine<'_, 'a>,
        wanted: &RequiredParts,
        following: &[FollowingStep],
    ) -> Option<&'a [Step<'a>]> {
        let mut following = following.iter().peekable();
        let mut steps = Items::with_capacity_in(projection.calls.len() + following.len(), line.arena);
        for (number, call) in projection.calls.iter().enumerate() {
            let mut fields = wanted.all;
            for (program, unique, of_unique) in &wanted.fields {
                if self.programs.get(*program)?.scratch.fits_pattern(number, *unique) {
                    fields.iter_mut().zip(of_unique).for_each(|(field, wanted)| *field |= wanted);
                }
            }
            let mut step = line.call_step(u32::try_from(number).ok()?, call, fields)?;
            if wanted.times {
                let CallTimes { start, end, turn } = call.times?;
                step = Step { start, end, turn, ..step };
            }
            steps.push(step);
            // Steps are numbered as in the whole run: what follows from a call stands behind it.
            while let Some(next) = following.next_if(|next| next.call == number) {
                steps.push(projected_run::step_behind(line.arena, &step, next.kind));
            }
        }
        Some(steps.into_bump_slice())
    }
}

impl<'a> ChunkLine<'_, 'a> {
    fn call_step(self, number: u32, call: &ProjectedCall<'_>, wanted: [bool; 2]) -> Option<Step<'a>> {
        let (start, end) = call.place?;
        let place = TextOrigin::new(start.checked_sub(self.start)?, end.checked_sub(self.start)?);
        let mut fields = [None; 2];
        for ((field, held), into) in CallField::ALL.into_iter().zip(call.fields).zip(&mut fields) {
            let node = match held {
                _ if wanted.get(field as usize) != Some(&true) => None,
                // Of a step that says that its kind of run does not record it.
                RawValue::Value(Value::Absent) => Some(Node::computed(Value::Absent)),
                // What is said of one that is missing looks at the others.
                RawValue::Value(_) => return None,
                held => self.read_value(held)?,
            };
            *into = node.map(|node| (field.as_str(), node));
        }
        Some(projected_run::new_step(
            self.arena,
            number,
            self.arena.alloc_str(call.name),
            fields.into_iter().flatten(),
            place,
        ))
    }

    /// The inner `None` means absent; the outer one that only the full reader can tell.
    fn read_value(self, held: RawValue<'_>) -> Option<Option<Node<'a>>> {
        let (from, to) = match held {
            RawValue::Bytes(from, to) => (from.checked_sub(self.start)?, to.checked_sub(self.start)?),
            RawValue::Value(Value::Absent | Value::Missing) => return Some(None),
            RawValue::Value(_) | RawValue::Written(..) => return None,
        };
        let document = json::parse(self.text.get(from..to)?, from, self.arena, self.chunk.limits).ok()?;
        document.duplicates.is_empty().then_some(Some(document.node))
    }
}

fn calls_of(projection: &RunProjection<'_>) -> Option<(usize, usize)> {
    Some((projection.calls.first()?.place?.0, projection.calls.last()?.place?.1))
}

/// What a line is asked for beside what no report shows.
#[derive(Clone, Copy)]
struct LineQuestions {
    /// Where its calls stand, if they are asked for.
    calls: Option<(usize, usize)>,
    /// Whether the times of its calls are asked for.
    timed: bool,
    /// Whether steps follow from its calls.
    followed: bool,
}

/// Whether a line may hold something that no report shows, whatever it is about: below a name of a credential, in the recorded environment,
/// in JSON that is written into a text. Where calls are asked for, too: whether steps beside them may stand among them; where their times
/// are, whether one may name what started it; and where steps follow from them, whether the run lists such steps itself.
fn may_withhold(line: ChunkLine<'_, '_>, asked: LineQuestions) -> bool {
    let cursor = line.chunk.cursor;
    let next_escape = |from: usize| cursor.next_backslash(from).unwrap_or(usize::MAX);
    let mut escape = next_escape(line.start);
    let any = cursor.any_string(line.start, line.start.saturating_add(line.text.len()), |open, close| {
        let mut behind = close.wrapping_add(1);
        let next = match cursor.byte_at(behind) {
            // As most strings are followed.
            next @ (b':' | b',' | b'}' | b']') => next,
            _ => {
                behind = cursor.skip_blank(behind);
                cursor.byte_at(behind)
            }
        };
        let inside = cursor.slice(open.wrapping_add(1), close);
        if next != b':' {
            return json::may_hold(inside) || may_hold_in_quotes(inside);
        }
        if escape < open {
            escape = next_escape(open);
        }
        // No letter of a key that is written as an escape is seen.
        escape < close || (asked.followed || KEYS.may_fit(inside)) && asked.withholds_key(line, open, inside, behind)
    });
    any != Some(false)
}

/// Keys that [`LineQuestions::withholds_key`] looks at, beside those that list steps.
static KEYS: NameEnds = NameEnds::with_credentials(&["env", "command", "commands", "parent_id", "start", "turn"]);

impl LineQuestions {
    /// Whether what stands below a key may be withheld, or may be a step among those that are asked for. `open` is the place of the key,
    /// `behind` that of its colon.
    fn withholds_key(self, line: ChunkLine<'_, '_>, open: usize, key: &[u8], behind: usize) -> bool {
        let cursor = line.chunk.cursor;
        match key {
            b"env" | b"command" | b"commands" => true,
            b"parent_id" => self.timed,
            b"start" | b"turn" => self.calls.is_some_and(|(from, to)| open < from || to <= open),
            key if self.followed && lists_steps(key) => true,
            key => detect::names_credential(key, cursor.byte_at(cursor.skip_blank(behind.wrapping_add(1))) == b'['),
        }
    }
}

/// False if a text, as it is written in JSON, surely is no text of JSON itself that may hold an object in turn.
fn may_hold_in_quotes(mut raw: &[u8]) -> bool {
    loop {
        raw = match raw {
            [b'\\', b'"', quoted @ ..] => {
                // Escapes of ASCII may stand for the bracket, or for escapes of it.
                let is_ascii = |part: &[u8]| matches!(part, [b'u', b'0', b'0', b'0'..=b'7']);
                return quoted.contains(&b'{') || quoted.windows(4).any(is_ascii);
            }
            [b' ', rest @ ..] | [b'\\', b'n' | b't' | b'r', rest @ ..] => rest,
            _ => return false,
        }
    }
}

fn lists_steps(key: &[u8]) -> bool {
    key == of_run::STEPS.as_bytes() || FOLLOWING_KINDS.iter().any(|kind| kind.list_key().as_bytes() == key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::limits::Limits;
    use averment_traces::scan::{ByteIndex, ScanCursor};

    const NOTHING: LineQuestions = LineQuestions { calls: None, timed: false, followed: false };

    /// With another line in front of it.
    fn withholds(line: &str, asked: LineQuestions) -> bool {
        let text = format!("{{\"api_key\": \"b\\\\\"}}\n{line}");
        let (mut index, arena, limits) = (ByteIndex::default(), Bump::new(), Limits::default());
        index.build_index(text.as_bytes()).unwrap();
        let cursor = ScanCursor::new(text.as_bytes(), &index, limits.json_depth);
        let chunk = ScannedChunk { text: &text, cursor, arena: &arena, limits: &limits };
        let start = text.len() - line.len();
        may_withhold(ChunkLine { chunk, start, text: line, arena: &arena }, asked)
    }

    #[test]
    fn what_may_name_a_credential_or_hold_json_is_seen_wherever_it_stands() {
        for (part, withheld) in [
            (r#""api_key": "b""#, true),
            (r#""pass\u0077ord" : "b""#, true),
            (r#""env":{}"#, true),
            (r#""commands":[]"#, true),
            (r#""accessTokens":["b"]"#, true),
            (r#""accessTokens":5"#, false),
            (r#""secrets" : 5"#, true),
            (r#""AZURE_KEY":"b""#, true),
            (r#""note":"{\"password\":\"b\"}""#, true),
            (r#""note":" \n [1]""#, true),
            (r#""note":" \t\"{\\\"password\\\":1}\"""#, true),
            (r#""note":"she said \"password\": b""#, false),
            (r#""note":"\"password\": he said, caf\u00e9""#, false),
            (r#""note":"\"\\u007b\\\"password\\\":1}\"""#, true),
            (r#""\"":1"#, true),
            (r#""steps":[],"start":1,"parent_id":1,"args":{"key_of":"b","rows":"\\"}"#, false),
        ] {
            for padding in [0, 20, 31, 50, 60, 64, 130] {
                let line = format!(r#"{{"content":"{}",{part},"é":{{"role":"c\n","id":[1]}}}}"#, "-".repeat(padding));
                assert_eq!(withholds(&line, NOTHING), withheld, "{line}");
            }
        }
        assert!(withholds(r#"{"a":"b","c"#, NOTHING), "a text that is not closed");
    }

    #[test]
    fn steps_and_times_are_seen_where_they_are_asked_for() {
        let line = r#"{"calls":[{"start":1}],"args":{}}"#;
        let calls = |from: usize, to: usize| LineQuestions { calls: Some((19 + from, 19 + to)), ..NOTHING };
        assert!(!withholds(line, calls(10, 21)) && withholds(line, calls(10, 11)) && withholds(line, calls(12, 21)));
        let timed = LineQuestions { timed: true, ..NOTHING };
        assert!(withholds(r#"{"parent_id":1}"#, timed) && !withholds(line, timed));
        let followed = LineQuestions { followed: true, ..NOTHING };
        for kind in FOLLOWING_KINDS {
            assert!(withholds(&format!(r#"{{"{}":[]}}"#, kind.list_key()), followed));
        }
        assert!(withholds(r#"{"steps":[]}"#, followed) && !withholds(line, followed));
    }
}
