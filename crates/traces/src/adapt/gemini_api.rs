//! Gemini's API: requests (`contents`) and responses (`candidates`), alone, together, and in streamed pieces. Each request repeats the
//! conversation so far: what is new in it is added.

mod branches;
mod kinds;
mod partial_calls;

use super::adk::server_tools::{self, Grounding};
use super::adk::{self, AdkPartKey};
use super::api::KnownAnswers;
use super::block_session;
use super::content;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use branches::SentRequests;
use kinds::{is_exchange, is_request, is_response, is_same_answer, is_short_request, method_of, speaker_of};

key_table! {
    GeminiApiKey {
        Request = "request",
        Response = "response",
        Contents = "contents",
        Candidates = "candidates",
        Content = "content",
        Role = "role",
        System = "systemInstruction" | "system_instruction",
        Usage = "usageMetadata" | "usage_metadata",
        Model = "modelVersion" | "model_version",
        Id = "responseId" | "response_id",
        Ended = "finishReason" | "finish_reason",
        Feedback = "promptFeedback" | "prompt_feedback",
        /// What the SDK did by itself before it answered: a conversation.
        History = "automaticFunctionCallingHistory" | "automatic_function_calling_history",
        /// What was called, in the recordings of Gemini CLI: they hold answers alone.
        Method = "method",
        Error = "error",
        Why = "message",
    }
}

key_table! {
    GeminiMethod {
        Answer = "generateContent" | "generateContentStream",
        /// Neither says nor calls anything.
        Silent = "countTokens" | "embedContent",
    }
}

key_table! {
    GeminiApiRole {
        Model = "model",
        User = "user",
        /// Holds results.
        Function = "function" | "tool",
        System = "system",
    }
}

const MARKS: &[&str] = &[
    GeminiApiKey::Contents.key(),
    GeminiApiKey::Candidates.key(),
    GeminiApiKey::Request.key(),
    GeminiApiKey::Method.key(),
];

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Gemini API",
    known_by: "`contents` or `candidates` whose content has `parts`",
    description: "requests and responses of Gemini's API (`contents`, `candidates`), streamed pieces included",
    marks: MARKS,
    near: GeminiApiKey::Usage.keys(),
    object: is_exchange,
    item_marks: MARKS,
    element: is_exchange,
    line: is_exchange,
    read: read_run,
    ..IN_FULL
};

/// The pieces of a streamed response are read where they stand.
pub(super) fn compose_answer<'run>(events: &'run [Node<'run>], _: &RunBuilder<'run, '_>) -> Option<(Node<'run>, bool)> {
    let is_own = |node: &Node<'run>| node_object(*node).is_some_and(is_response);
    events.iter().any(is_own).then_some((Node::computed(Value::List(events)), true))
}

/// A part of the conversation.
#[derive(Clone, Copy)]
enum GeminiPart<'run> {
    Begin,
    /// What Google searched and read for an answer.
    Grounded(Grounding<'run>),
    Words(Speaker, Node<'run>),
    Other(Speaker, Node<'run>, Object<'run>),
}

impl<'run> GeminiPart<'run> {
    /// Thoughts and instructions are not repeated.
    fn is_compared(&self) -> bool {
        match self {
            Self::Begin | Self::Grounded(_) => false,
            Self::Words(speaker, words) => {
                matches!(speaker, Speaker::User | Speaker::Assistant) && node_text(*words).map(str::trim) != Some("")
            }
            Self::Other(_, _, part) => {
                value_of(*part, AdkPartKey::Call).or(value_of(*part, AdkPartKey::Response)).is_some()
                    || server_tools::is_server_part(*part)
            }
        }
    }

    fn repeats_part(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Words(a, words), Self::Words(b, others)) => {
                a == b && node_text(*words).map(str::trim) == node_text(*others).map(str::trim)
            }
            (Self::Other(_, _, a), Self::Other(_, _, b)) => {
                let same = |field| {
                    let held = |part| value_of(part, field).and_then(node_object);
                    let named = |part: Option<Object<'run>>, field| {
                        part.and_then(|part| value_of(part, field)).map_or(Value::Null, |node| node.value)
                    };
                    let fields = [AdkPartKey::Name, AdkPartKey::Args, AdkPartKey::Given];
                    fields.into_iter().all(|inner| values_equal(&named(held(*a), inner), &named(held(*b), inner)))
                        && held(*a).is_some() == held(*b).is_some()
                };
                same(AdkPartKey::Call) && same(AdkPartKey::Response) && server_tools::is_same_part(*a, *b)
            }
            _ => false,
        }
    }
}

#[derive(Default)]
struct GeminiConversation<'run> {
    parts: Vec<GeminiPart<'run>>,
    answers: KnownAnswers<'run>,
    usage: Vec<Object<'run>>,
    model: Option<Node<'run>>,
    error: Option<Node<'run>>,
    is_cut: bool,
    grounding: Grounding<'run>,
    /// Of the last request nobody knows what was answered.
    lacks_answer: bool,
    /// A response whose pieces arrive: the place where it begins.
    open: Option<usize>,
    /// The last piece of that response, which said that it ends here.
    ended: Option<Object<'run>>,
    sent: SentRequests<'run>,
}

/// Attempts to find where a request goes on.
const TRIES: usize = 64;

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut told = GeminiConversation::default();
    let mut without_requests = false;
    for node in items_of::<GeminiApiKey>(root, &[]) {
        builder.count_record();
        let Some(object) = node_object(*node) else {
            builder.skip_value(node, "what is neither a request nor a response is skipped");
            continue;
        };
        if let Some(method) = method_of(object) {
            without_requests = true;
            if method == GeminiMethod::Silent {
                continue;
            }
        }
        let request = object_of(object, GeminiApiKey::Request).filter(|one| is_request(*one) || is_short_request(*one));
        let request = request.or_else(|| Some(object).filter(|one| is_request(*one)));
        if let Some(request) = request {
            told.close_response(builder);
            told.add_request(request, builder);
        }
        let response = value_of(object, GeminiApiKey::Response).filter(|_| !is_response(object));
        let known = match response {
            Some(response) => {
                told.close_response(builder);
                let pieces = node_list(response).unwrap_or(std::slice::from_ref(builder.arena.alloc(response)));
                let known = pieces.iter().filter(|piece| told.add_response(**piece, builder)).count();
                told.close_response(builder);
                told.lacks_answer = known < pieces.len();
                !told.lacks_answer
            }
            None => {
                let answers = told.add_response(*node, builder);
                told.lacks_answer &= !answers;
                answers || request.is_some()
            }
        };
        if !known {
            builder.skip_value(node, "what is neither a request nor a response is skipped");
        }
    }
    told.close_response(builder);
    told.finish_run(builder);
    if without_requests {
        block_session::leave_results_open(builder);
    }
    Ok(())
}

fn push_content<'run>(
    node: Node<'run>,
    content: Object<'run>,
    given: Speaker,
    parts: &mut Vec<GeminiPart<'run>>,
    builder: &mut RunBuilder<'run, '_>,
) {
    let Some(speaker) = speaker_of(text_of(content, GeminiApiKey::Role), given) else {
        return builder.note_unknown(node.origin, super::unknown::UNKNOWN_ROLE);
    };
    let given = value_of(content, AdkPartKey::Parts);
    // The SDKs take a part alone, too.
    let alone = given
        .filter(|given| node_object(*given).is_some())
        .map(|given| std::slice::from_ref(builder.arena.alloc(given)));
    let Some(list) = given.and_then(node_list).or(alone) else {
        // An answer that was cut off at once has no parts.
        let is_cut_off = given.is_none() && text_of(content, GeminiApiKey::Role).is_some();
        if !content.entries().is_empty() && !is_cut_off {
            builder.note_unknown(node.origin, "a content without `parts` is skipped");
        }
        return;
    };
    // What stands beside a result comes from the program that ran the tool.
    let with_result = object_items(list).any(|(_, part)| value_of(part, AdkPartKey::Response).is_some());
    let speaker = if with_result && speaker == Speaker::User { Speaker::System } else { speaker };
    parts.push(GeminiPart::Begin);
    // Texts that follow one another are pieces of one text.
    let (mut pieces, arena) = (Vec::new(), builder.arena);
    let join = |pieces: &mut Vec<_>, parts: &mut Vec<_>| {
        let words = content::concat_pieces(&std::mem::take(pieces), arena);
        parts.extend(words.map(|words| GeminiPart::Words(speaker, words)));
    };
    for (at, part) in builder.record_objects(list) {
        let is_thought = is_true(&part, &NodeShapes, AdkPartKey::Thought);
        let words = value_of(part, AdkPartKey::Words).filter(|_| !is_thought && adk::is_plain_text(part));
        // Told here, where it stands: a request that repeats it is not read again.
        if !adk::is_known_part(part) {
            builder.note_unknown(at.origin, super::blocks::UNKNOWN);
        }
        match words {
            Some(words) if node_text(words).is_some() => pieces.push(words),
            other => {
                join(&mut pieces, parts);
                parts.push(other.map_or(GeminiPart::Other(speaker, at, part), |it| GeminiPart::Words(speaker, it)));
            }
        }
    }
    join(&mut pieces, parts);
}

impl<'run> GeminiConversation<'run> {
    fn add_request(&mut self, request: Object<'run>, builder: &mut RunBuilder<'run, '_>) {
        let mut parts = Vec::new();
        if let Some(system) = value_of(request, GeminiApiKey::System).filter(|_| self.parts.is_empty()) {
            match node_object(system) {
                Some(content) => {
                    let words = list_of(content, AdkPartKey::Parts).unwrap_or_default();
                    let words = object_items(words).filter_map(|(_, part)| value_of(part, AdkPartKey::Words));
                    parts.extend(words.map(|words| GeminiPart::Words(Speaker::System, words)));
                }
                None => parts.push(GeminiPart::Words(Speaker::System, system)),
            }
        }
        self.add_contents(kinds::contents_of(request, builder), parts, builder);
    }

    fn add_contents(
        &mut self,
        contents: &'run [Node<'run>],
        mut parts: Vec<GeminiPart<'run>>,
        builder: &mut RunBuilder<'run, '_>,
    ) {
        for node in contents {
            match node.value {
                // The SDK takes a text for a message of the user.
                Value::Text(_) => parts.extend([GeminiPart::Begin, GeminiPart::Words(Speaker::User, *node)]),
                _ => {
                    for (node, content) in builder.record_objects(std::slice::from_ref(node)) {
                        push_content(node, content, Speaker::User, &mut parts, builder);
                    }
                }
            }
        }
        let places: Vec<usize> =
            self.parts.iter().enumerate().filter(|(_, part)| part.is_compared()).map(|(place, _)| place).collect();
        let known: Vec<_> = self.parts.iter().filter(|part| part.is_compared()).collect();
        let new: Vec<_> = parts.iter().filter(|part| part.is_compared()).collect();
        // A request may leave out how the conversation began.
        let repeats = |from: &usize| known.iter().skip(*from).zip(&new).all(|(a, b)| a.repeats_part(b));
        let starts = (0..known.len())
            .filter(|from| known.get(*from).zip(new.first()).is_some_and(|(known, first)| known.repeats_part(first)));
        let found = starts.take(TRIES).find(repeats);
        let of_branch = if found.is_none() { self.sent.repeated_parts(&new) } else { None };
        let sent: Vec<GeminiPart<'run>> = new.iter().map(|part| **part).collect();
        if found.is_none() && of_branch.is_none() && !known.is_empty() && !new.is_empty() {
            let origin = contents.first().map_or(averment_base::value::TextOrigin::COMPUTED, |node| node.origin);
            builder.add_warning(
                origin,
                "a request does not repeat the conversation so far: its other messages are added behind it",
            );
        }
        // Of a conversation that goes another way the beginning is not told again.
        let begins = || known.iter().zip(&new).take_while(|(a, b)| a.repeats_part(b)).count();
        let mut left =
            found.map_or_else(|| of_branch.unwrap_or_else(begins), |from| (known.len() - from).min(new.len()));
        // Results that come later name the call by the id that it has now.
        let renamed = if of_branch.is_some() { 0 } else { left };
        let repeated: Vec<_> =
            places.get(found.unwrap_or(0)..).unwrap_or_default().iter().copied().take(renamed).collect();
        let renamed: Vec<(usize, GeminiPart<'run>)> = repeated.into_iter().zip(new.into_iter().copied()).collect();
        for (place, part) in renamed {
            if let (GeminiPart::Other(..), Some(known)) = (part, self.parts.get_mut(place)) {
                *known = part;
            }
        }
        let is_new = |part: &GeminiPart<'run>| {
            let is_old = left > 0 && (part.is_compared() || !matches!(part, GeminiPart::Begin));
            left -= usize::from(left > 0 && part.is_compared());
            !is_old
        };
        let new: Vec<_> = parts.into_iter().filter(is_new).collect();
        self.parts.extend(new);
        self.sent.add_request(sent);
    }

    /// False for what is no response.
    fn add_response(&mut self, node: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> bool {
        let Some(response) = node_object(node) else { return false };
        if self.ended.is_some_and(|before| !is_same_answer(before, response)) {
            self.close_response(builder);
        }
        if let Some(history) = value_of(response, GeminiApiKey::History).and_then(node_list) {
            self.add_contents(history, Vec::new(), builder);
        }
        if let Some(error) = value_of(response, GeminiApiKey::Error) {
            let why = node_object(error).and_then(|error| value_of(error, GeminiApiKey::Why));
            self.error = self.error.or(why).or(Some(error));
            return true;
        }
        let usage = value_of(response, GeminiApiKey::Usage).and_then(node_object);
        if !is_response(response) {
            let is_blocked = value_of(response, GeminiApiKey::Feedback).is_some();
            if usage.is_some() && !is_blocked {
                self.usage.pop();
            }
            self.usage.extend(usage);
            return (is_blocked || usage.is_some()) && value_of(response, GeminiApiKey::Candidates).is_none();
        }
        // A response that was written down again is the same.
        let id = value_of(response, GeminiApiKey::Id).and_then(node_text);
        if id.is_some_and(|id| self.answers.is_known(id, response)) {
            return true;
        }
        let goes_on = self.open.is_some();
        if !goes_on {
            self.open = Some(self.parts.len());
        }
        self.model = value_of(response, GeminiApiKey::Model).or(self.model);
        // Each piece of a stream counts what came so far.
        if let Some(usage) = usage {
            if goes_on {
                self.usage.pop();
            }
            self.usage.push(usage);
        } else if !goes_on {
            self.usage.push(response);
        }
        let candidates = list_of(response, GeminiApiKey::Candidates).unwrap_or_default();
        let mut candidates = builder.record_objects(candidates);
        let first = candidates.next();
        // The other candidates are what the model could have said instead.
        let is_candidate = |one: Object<'run>| {
            object_of(one, GeminiApiKey::Content).is_some() || value_of(one, GeminiApiKey::Ended).is_some()
        };
        for (at, _) in candidates.chain(first).filter(|(_, one)| !is_candidate(*one)) {
            builder.note_unknown(at.origin, "a candidate without `content` is skipped");
        }
        let Some((at, candidate)) = first else { return true };
        if let Some(content) = object_of(candidate, GeminiApiKey::Content) {
            push_content(at, content, Speaker::Assistant, &mut self.parts, builder);
        }
        self.grounding.take_from(candidate);
        self.is_cut = value_of(candidate, GeminiApiKey::Ended).is_none();
        self.ended = Some(response).filter(|_| !self.is_cut);
        true
    }

    /// Puts the words of its pieces together.
    fn close_response(&mut self, builder: &RunBuilder<'run, '_>) {
        self.ended = None;
        let Some(from) = self.open.take() else { return };
        let pieces = self.parts.split_off(from.min(self.parts.len()));
        let begin = self.parts.len();
        self.parts.push(GeminiPart::Begin);
        // Some tell in parts what others tell beside them.
        let is_told = |piece: &GeminiPart<'run>| matches!(piece, GeminiPart::Other(_, _, part) if server_tools::is_server_part(*part));
        let grounding = std::mem::take(&mut self.grounding);
        if !grounding.is_empty() && !pieces.iter().any(is_told) {
            self.parts.push(GeminiPart::Grounded(grounding));
        }
        let mut words: Vec<Node<'run>> = Vec::new();
        for piece in partial_calls::join_calls(pieces, builder) {
            match piece {
                GeminiPart::Begin | GeminiPart::Grounded(_) => {}
                GeminiPart::Words(_, piece) => words.push(piece),
                other @ GeminiPart::Other(..) => {
                    let said = content::concat_pieces(&std::mem::take(&mut words), builder.arena);
                    self.parts.extend(said.map(|said| GeminiPart::Words(Speaker::Assistant, said)));
                    self.parts.push(other);
                }
            }
        }
        let said = content::concat_pieces(&words, builder.arena);
        self.parts.extend(said.map(|said| GeminiPart::Words(Speaker::Assistant, said)));
        self.sent.add_answer(self.parts.get(begin..).unwrap_or_default());
    }

    fn finish_run(self, builder: &mut RunBuilder<'run, '_>) {
        builder.set_some(of_run::ERROR, self.error);
        let mut conversation = ConversationBuilder::from_pieces(builder);
        conversation.add_meta(of_meta::MODEL, self.model);
        let meta = StepMeta::default();
        for part in self.parts {
            match part {
                GeminiPart::Begin => conversation.begin_message(),
                GeminiPart::Grounded(grounding) => grounding.add_calls(&mut conversation, &meta),
                GeminiPart::Words(speaker, words) => conversation.add_message(speaker, words, &meta, words.origin),
                GeminiPart::Other(speaker, at, part) => adk::add_part(&mut conversation, at, part, speaker, &meta),
            }
        }
        self.usage.into_iter().for_each(|usage| adk::count_usage(&mut conversation, usage));
        let builder = conversation.finish_run();
        if self.lacks_answer {
            builder.leave_output_open();
        }
        if self.is_cut {
            builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
        }
    }
}
