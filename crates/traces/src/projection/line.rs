//! The projection of one line, from its bytes.

use super::call::{self, CallOrder};
use super::computed_entries::{ComputedSpans, is_composed_entry, is_computed_entry};
use super::keys::{self, KeyReader};
use super::line_keys::{LineKeys, note_entry};
use super::messages::MessageReader;
use super::responses::{self, ResponsesReader};
use super::run_keys::{self, EntrySpans, RunForm, SpecialKey, UnreadValue};
use super::session::SessionReader;
use super::side_messages::MessageChecker;
use super::spans::TraceReader;
use super::{RawValue, ReadSet, RunProjection, ScannedChunk};
use crate::adapt::fields::ByteSpan;
use crate::adapt::format::MessageLayout;
use crate::adapt::generic::in_milliseconds;
use crate::adapt::written_actions::may_hold_action;
use crate::names::{NameList, NamedPart, PartNames};
use crate::scan::ScanCursor;
use averment_base::value::{Node, Value};
use averment_runs::normal::of_run;

/// Reads lines. It remembers which keys came in which order, and makes use of it on the next line.
#[derive(Debug)]
pub struct LineReader {
    read_set: ReadSet,
    looked_at: Vec<String>,
    runs: KeyReader<run_keys::RunKey>,
    generic: KeyReader<call::CallKey>,
    native: KeyReader<call::CallKey>,
    messages: MessageReader,
    beside: MessageChecker,
    responses: ResponsesReader,
    /// Whether the line before was a response, and a line that is one can be nothing else.
    after_response: bool,
    responses_alone: bool,
    sessions: SessionReader,
    /// For custom names, decides what such a text is.
    traces: Option<TraceReader>,
    /// Durations from this name rank on are in seconds.
    seconds: u8,
    /// By form: whether `null` is a value.
    nulls: Vec<(bool, bool)>,
    /// Per entry: home-grown position with name rank, and normal-form position.
    found: Vec<EntrySpans>,
    /// Where somebody asks for cost or tokens, which only lines with a list of calls tell in part.
    cost_names: Option<NameList>,
}

impl LineReader {
    /// A reader for what is asked for; `None` where only the full reader can give that.
    #[must_use]
    pub fn new(read_set: &ReadSet, names: &PartNames) -> Option<Self> {
        if read_set.roots.iter().any(|root| is_composed_entry(root)) || names.need_full_reader() {
            return None;
        }
        // Whether a recorded duration is to be believed, and whether a run without calls died, is looked at in every run, whoever asks for it.
        let mut looked_at = read_set.roots.clone();
        let computed = looked_at.iter().any(|root| is_computed_entry(root));
        let both = [of_run::COST, of_run::USAGE].into_iter().filter(|_| computed);
        for name in [of_run::DURATION, of_run::ERROR].into_iter().chain(both) {
            if !looked_at.iter().any(|root| root == name) {
                looked_at.push(name.to_owned());
            }
        }
        let runs = run_keys::keys_of_runs(&looked_at, names)?;
        Some(Self {
            after_response: false,
            responses_alone: !responses::known_keys().any(|key| runs.role_of(key).special.holds_run()),
            runs,
            generic: call::call_keys(Some(names))?,
            native: call::call_keys(None)?,
            messages: MessageReader::new(),
            beside: MessageChecker::new(),
            responses: ResponsesReader::new(),
            sessions: SessionReader::new(),
            traces: std::ptr::eq(names, PartNames::known_names()).then(TraceReader::new),
            seconds: run_keys::seconds_rank(names),
            nulls: looked_at.iter().map(|root| run_keys::null_counts(root, names)).collect(),
            looked_at,
            found: Vec::new(),
            cost_names: computed.then(|| names.names_of(NamedPart::Cost).to_vec()),
            read_set: read_set.clone(),
        })
    }

    /// Reads the line from `start` to `end`. `None` where it is for the full reader; the projection is not to be used then.
    pub fn read_line<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        start: usize,
        end: usize,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        // Responses stand behind each other: what would only find that no run is on the line is left out.
        let is_tried = std::mem::take(&mut self.after_response);
        if is_tried && self.read_response(chunk, (start, end), projection).is_some() {
            return Some(());
        }
        let known = self.read_run(chunk, start, end, projection);
        known.or_else(|| if is_tried { None } else { self.read_response(chunk, (start, end), projection) })
    }

    fn read_response<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        line: ByteSpan,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        self.asks_no_computed()?;
        self.responses.read_line(chunk, line, &self.read_set, projection)?;
        has_calls(projection)?;
        self.after_response = self.responses_alone;
        Some(())
    }

    fn read_run<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        start: usize,
        end: usize,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        projection.clear_run();
        self.found.clear();
        self.found.resize(self.looked_at.len(), EntrySpans::default());
        let cursor = chunk.cursor;
        let mut order = CallOrder::new();
        let (keys_seen, behind) = self.read_keys(chunk, start, projection, &mut order)?;
        if cursor.skip_blank(behind) < end {
            return None;
        }
        match (keys_seen.form, keys_seen.messages) {
            (Some(form), _) => self.finish_line(chunk, form, &keys_seen, &order, projection)?,
            (None, Some((start, form))) if !keys_seen.no_chat => {
                if keys_seen.unread.iter().any(|value| value.may_hold_call(chunk, form)) {
                    return None;
                }
                self.read_conversation(chunk, start, form, keys_seen.tells_of_calls, projection)?;
            }
            _ => return None,
        }
        if projection.calls.is_empty() && self.has_error() {
            return None;
        }
        projection.settle_error(&self.read_set.roots);
        Some(())
    }

    /// Reads a whole session, whose line ends are given. `None` where it is for the full reader; the projection is not to be used then.
    pub fn read_session<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        ends: impl Iterator<Item = usize>,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        self.asks_no_computed()?;
        projection.clear_run();
        let mut start = 0;
        let lines = ends.chain([chunk.text.len()]).map(|end| (std::mem::replace(&mut start, end.wrapping_add(1)), end));
        self.sessions.read_session(&mut self.messages, chunk, lines, &self.read_set, projection)?;
        has_calls(projection)
    }

    /// Whether a text that is no session may be read by [`Self::read_trace`].
    #[must_use]
    pub fn is_trace(text: &str) -> bool {
        TraceReader::may_begin(text)
    }

    /// Reads the spans of a whole trace. `None` where it is for the full reader; the projection is not to be used then.
    pub fn read_trace<'a>(&mut self, chunk: ScannedChunk<'a>, projection: &mut RunProjection<'a>) -> Option<()> {
        self.asks_no_computed()?;
        projection.clear_run();
        self.traces.as_mut()?.read_trace(chunk, &self.read_set, projection)?;
        has_calls(projection)
    }

    /// Also reads calls in a list of their own. Returns the end.
    #[inline]
    fn read_keys<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        start: usize,
        projection: &mut RunProjection<'a>,
        order: &mut CallOrder,
    ) -> Option<(LineKeys, usize)> {
        let cursor = chunk.cursor;
        let Self { read_set, runs, generic, native, found, .. } = self;
        let mut keys_seen = LineKeys::default();
        let behind = runs.read_object(cursor, start, |role, at| {
            if keys_seen.marks & role.mark != 0 {
                return None;
            }
            keys_seen.marks |= role.mark;
            let end = match role.special {
                SpecialKey::Generic(_) | SpecialKey::Native => {
                    let (this, keys) = match role.special {
                        SpecialKey::Native => (RunForm::Native, &mut *native),
                        _ => (RunForm::Generic, &mut *generic),
                    };
                    if let SpecialKey::Generic(rank) = role.special {
                        keys_seen.rank = rank;
                    }
                    if keys_seen.form.replace(this).is_some() {
                        return None;
                    }
                    read_calls(keys, chunk, at, read_set, projection, order)?
                }
                special => {
                    keys_seen.note_special(special, cursor.byte_at(at), at)?;
                    let end = cursor.value_end(at)?;
                    if matches!(special, SpecialKey::NearError) && !says_nothing(cursor.slice(at, end)) {
                        return None;
                    }
                    if matches!(cursor.byte_at(at), b'{' | b'[') && special.may_be_beside() {
                        keys_seen.unread.push(UnreadValue { span: (at, end), harmless_beside: role.harmless_beside });
                    }
                    end
                }
            };
            if role.messages && cursor.byte_at(at) != b'n' && keys_seen.beside.replace(at).is_some() {
                return None;
            }
            if role.mark != 0 {
                note_entry(role, cursor, (at, end), found, &mut keys_seen)?;
            }
            Some(end)
        })?;
        Some((keys_seen, behind))
    }

    /// Decides what depends on the whole line, given a list of calls.
    fn finish_line<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        form: RunForm,
        keys_seen: &LineKeys,
        order: &CallOrder,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        let wrong = if form == RunForm::Generic { keys_seen.wrong_generic } else { keys_seen.wrong_native };
        let hidden = keys_seen.first_needed && form == RunForm::Generic && keys_seen.rank > 0;
        if wrong || hidden || keys_seen.beside_calls || !order.is_plain() {
            return None;
        }
        if let Some(at) = keys_seen.beside
            && self.beside.check_list(chunk, at)?
            && self.has_duration(form)
        {
            // What the messages span counts, too.
            return None;
        }
        if self.needs_full_reader(chunk.cursor, form, order) {
            return None;
        }
        projection.settle_fields(|field| order.records_field(field));
        let asked = self.found.iter().zip(&self.nulls).take(self.read_set.roots.len());
        projection.roots.extend(asked.map(|(found, nulls)| {
            let (place, null) = match form {
                RunForm::Generic => (found.generic.best_value(), found.generic_null && nulls.0),
                RunForm::Native => (found.native, found.native_null && nulls.1),
            };
            match place {
                Some((start, end)) => RawValue::Bytes(start, end),
                None if null => RawValue::Value(Value::Null),
                None => RawValue::Value(Value::Absent),
            }
        }));
        for ((found, root), name) in self.found.iter().zip(&mut projection.roots).zip(&self.read_set.roots) {
            let in_seconds = found.generic.best_value().is_some() && found.generic.best_rank() >= self.seconds;
            if form == RunForm::Generic && name == of_run::DURATION && in_seconds {
                let value = Node::computed(chunk.read_value(*root)?);
                *root = RawValue::Value(in_milliseconds(value).map_or(Value::Absent, |node| node.value));
            }
        }
        self.compute_entries(chunk, form, projection)
    }

    /// `None` where somebody asks what a run cost, in a form that only the full reader puts that together of.
    fn asks_no_computed(&self) -> Option<()> {
        self.cost_names.is_none().then_some(())
    }

    fn compute_entries<'a>(
        &self,
        chunk: ScannedChunk<'a>,
        form: RunForm,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        let Some(cost_names) = &self.cost_names else { return Some(()) };
        let span = |entry: &str| {
            let at = self.looked_at.iter().position(|name| name == entry)?;
            self.found.get(at).and_then(|found| found.place(form))
        };
        let spans = ComputedSpans { cost: span(of_run::COST), usage: span(of_run::USAGE) };
        let entries = spans.read(chunk, (form == RunForm::Generic).then_some(cost_names.as_slice()))?;
        for (root, name) in projection.roots.iter_mut().zip(&self.read_set.roots) {
            match name.as_str() {
                of_run::COST => *root = RawValue::Value(entries.cost),
                of_run::USAGE => *root = RawValue::Value(entries.usage),
                _ => {}
            }
        }
        Some(())
    }

    fn has_error(&self) -> bool {
        let mut entries = self.looked_at.iter().zip(&self.found);
        entries.any(|(name, found)| {
            name == of_run::ERROR && (found.generic.best_value().is_some() || found.native.is_some())
        })
    }

    fn has_duration(&self, form: RunForm) -> bool {
        let mut entries = self.looked_at.iter().zip(&self.found);
        entries.any(|(name, found)| name == of_run::DURATION && found.place(form).is_some())
    }

    /// True for an implausible duration, or an output of content blocks.
    fn needs_full_reader(&self, cursor: ScanCursor<'_>, form: RunForm, order: &CallOrder) -> bool {
        let mut entries = self.looked_at.iter().zip(&self.found);
        entries.any(|(name, found)| {
            let Some((start, end)) = found.place(form) else { return false };
            match name.as_str() {
                of_run::OUTPUT => cursor.byte_at(start) == b'[',
                of_run::DURATION => {
                    let in_seconds = form == RunForm::Generic && found.generic.best_rank() >= self.seconds;
                    let unit = if in_seconds { 1000.0 } else { 1.0 };
                    call::parse_number(cursor, start, end).is_none_or(|duration| !order.fits_into(duration * unit))
                }
                _ => false,
            }
        })
    }

    fn read_conversation<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        start: usize,
        form: &MessageLayout,
        told: bool,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        self.asks_no_computed()?;
        let read = self.messages.read_list(chunk, start, &self.read_set, projection)?;
        let plain = match form.every {
            // That there are none makes an empty run, of which the full reader tells.
            true => read.has_message && read.all_messages && !read.in_blocks,
            // That it records no calls would be a warning.
            false => read.has_message && (read.in_blocks || told || read.about_calls),
        };
        // Of an empty run the full reader tells that it is one, and of one without calls whether the model wrote actions in its words.
        let written = || chunk.text.get(start..chunk.cursor.value_end(start)?).map(may_hold_action);
        if !plain || projection.calls.is_empty() && (!read.has_words || written()?) {
            return None;
        }
        (projection.records_calls, projection.conversation) = (true, true);
        projection.settle_fields(|field| read.records.get(field as usize) == Some(&true));
        for (found, name) in self.found.iter().zip(&self.read_set.roots) {
            projection.roots.push(match (name.as_str(), found.native) {
                (of_run::OUTPUT, found) if !form.composes_entry(of_run::OUTPUT, found.is_some()) => {
                    read.output.unwrap_or(RawValue::Value(Value::Absent))
                }
                (name, Some((start, end))) if form.texts.contains(&name) && chunk.cursor.byte_at(start) == b'"' => {
                    RawValue::Bytes(start, end)
                }
                (name, found) if form.composes_entry(name, found.is_some()) => return None,
                _ => RawValue::Value(Value::Absent),
            });
        }
        Some(())
    }
}

/// `None` for a run without calls: only the full reader knows whether it died.
/// Of a value as it is mostly written where nothing is: any other form is for the full reader.
fn says_nothing(value: &[u8]) -> bool {
    matches!(value, b"null" | b"false" | b"0" | b"\"\"" | b"[]" | b"{}")
}

fn has_calls(projection: &RunProjection<'_>) -> Option<()> {
    (!projection.calls.is_empty()).then_some(())
}

#[inline]
fn read_calls<'a>(
    keys: &mut KeyReader<call::CallKey>,
    chunk: ScannedChunk<'a>,
    start: usize,
    read_set: &ReadSet,
    projection: &mut RunProjection<'a>,
    order: &mut CallOrder,
) -> Option<usize> {
    projection.records_calls = true;
    keys::read_list(chunk.cursor, start, |at| {
        let (call, executed, behind) = call::read_call(keys, chunk, at, read_set, &mut projection.texts, order)?;
        projection.unusual |= !executed;
        projection.calls.push(call);
        Some(behind)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::*;
    use crate::scan::ByteIndex;
    use averment_base::limits::Limits;
    use bumpalo::Bump;
    use serde_json::json;

    #[test]
    fn lines_say_the_same_whatever_stands_in_front_of_them() {
        let item = json!({"type": "function_call", "call_id": "1", "name": "a", "arguments": "{}"});
        let gave = json!({"type": "function_call_output", "call_id": "1", "output": "b"});
        let response = json!({"object": "response", "status": "completed", "output": [item, gave]});
        let broken = json!({"object": "response", "status": "completed", "output": [gave]});
        let (normal, home_grown) =
            (json!({"calls": [{"tool": "a"}]}), json!({"tool_calls": [{"name": "a"}], "output": "o"}));
        let lines = [response, broken, normal, home_grown].map(|line| line.to_string());
        let read_set =
            ReadSet { roots: vec![of_run::OUTPUT.to_owned()], fields: [true; 2], texts: [true; 2], times: true };
        let new_reader = |names: &PartNames| LineReader::new(&read_set, names).unwrap();
        let read = |reader: &mut LineReader, text: &str| {
            let (arena, limits, mut index) = (Bump::new(), Limits::default(), ByteIndex::default());
            index.build_index(text.as_bytes()).unwrap();
            let cursor = ScanCursor::new(text.as_bytes(), &index, limits.json_depth);
            let chunk = ScannedChunk { text, cursor, arena: &arena, limits: &limits };
            let mut projection = RunProjection::default();
            reader.read_line(chunk, 0, text.len(), &mut projection).and_then(|()| shown(&projection, Some(chunk)))
        };
        let mut reader = new_reader(PartNames::known_names());
        for first in &lines {
            for second in &lines {
                read(&mut reader, first);
                assert_eq!(reader.after_response, *first == lines[0], "{first}");
                let alone = read(&mut new_reader(PartNames::known_names()), second);
                assert_eq!(read(&mut reader, second), alone, "{second} behind {first}");
            }
        }
        // Where a user names a key of responses as one of the runs, a response may be a run of another form.
        let names = PartNames::of_file("calls = \"output\"").unwrap();
        assert!(reader.responses_alone && !new_reader(&names).responses_alone);
    }
}
