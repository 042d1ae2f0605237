//! Requests to the APIs of models and their responses, of whichever provider: a list of exchanges is one conversation. Each request
//! repeats what was said so far, in the words of its provider; what is new in it is added.

mod add_part;
mod answer_ends;
pub(super) mod anthropic;
pub(super) mod conversation_items;
pub(super) mod converse;
pub(super) mod converse_stream;
pub(super) mod cut_calls;
pub(crate) mod exit_codes;
mod part_identity;
pub(super) mod response_stream;
pub(crate) mod responses;

pub(super) use answer_ends::KnownAnswers;

use super::blocks::{self, ContentBlock};
use super::calls::{OfUsage, TokenUsage, tool_list};
use super::conversation::{ConversationBuilder, Speaker};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, key_table};
use super::messages::{ChatMessageKey, MessageRole};
use super::nested_conversations::{CallPlaces, NestedConversations, RepeatedPart};
use super::nodes::{
    first_of, list_of, node_list, node_object, node_text, object_items, object_of, objects_of, text_of,
};
use super::run_builder::RunBuilder;
use super::{content, executed_tools, streamed_answers};
use add_part::add_part;
use answer_ends::AnswerEnds;
use averment_base::value::{Node, Object, TextOrigin, Value};
use averment_runs::normal::{of_meta, of_run};
use responses::ItemKey;

key_table! {
    ApiKey {
        Request = "request",
        Response = "response",
        Messages = "messages",
        Input = "input",
        Output = "output",
        Content = "content",
        Choices = "choices",
        Message = "message",
        System = "system",
        Instructions = "instructions",
        Tools = "tools",
        Usage = "usage",
        Model = "model",
        Error = "error",
        Previous = "previous_response_id",
        Conversation = "conversation",
        Id = "id",
        Object = "object",
        Role = "role",
        Stop = "stop_reason",
        Status = "status",
    }
}

#[derive(Clone, Copy)]
pub(super) enum MessagePart<'run> {
    Turn,
    Speech(Speaker, Node<'run>),
    Block(Node<'run>, Object<'run>),
    Call(Node<'run>, Object<'run>),
    Result(Node<'run>, Object<'run>),
    Item(Node<'run>, Object<'run>),
    /// A tool that the provider ran, with its result.
    Executed(Node<'run>, Object<'run>),
    /// In a response: the result of a tool that the provider runs itself.
    Hosted(Node<'run>, Object<'run>),
}

#[derive(Default)]
pub(super) struct ExchangeMerger<'run> {
    pieces: Vec<MessagePart<'run>>,
    /// Usage and model of each answer.
    usage: Vec<(Object<'run>, Option<Node<'run>>)>,
    model: Option<Node<'run>>,
    tools: Option<&'run [Node<'run>]>,
    error: Option<Node<'run>>,
    answers: KnownAnswers<'run>,
    ends: AnswerEnds<'run>,
    conversations: NestedConversations,
    places: CallPlaces<'run>,
    /// Of the last request nobody knows what was answered.
    lacks_answer: bool,
}

/// True for provider exchanges other than the chat form; the response may be a list of the events that were streamed.
pub(super) fn is_exchange(
    object: Object<'_>,
    is_response: impl Fn(Object<'_>) -> bool,
    is_event: impl Fn(Object<'_>) -> bool,
) -> bool {
    let is_of_events = || list_of(object, ApiKey::Response).is_some_and(|events| objects_of(events).any(is_event));
    object_of(object, ApiKey::Request).is_some()
        && (object_of(object, ApiKey::Response).is_some_and(is_response) || is_of_events())
}

pub(super) fn read_exchanges<'run>(items: &'run [Node<'run>], builder: &mut RunBuilder<'run, '_>) {
    let mut exchanges = ExchangeMerger::default();
    for node in items {
        builder.count_record();
        let Some(object) = node_object(*node) else {
            builder.skip_value(node, "an element that is neither a request nor a response is skipped");
            continue;
        };
        exchanges.add_exchange(*node, object, builder);
    }
    exchanges.finish_run(builder);
    // The id of the one answer that there is is that of the run; what is asked for with it has one of its own, or none.
    if let [only] = items {
        builder.set_some(
            of_run::ID,
            node_object(*only).and_then(|answer| answer.field(ApiKey::Id)).filter(|id| NodeShapes.is_text(*id)),
        );
    }
}

impl<'run> ExchangeMerger<'run> {
    pub(super) fn add_exchange(&mut self, node: Node<'run>, object: Object<'run>, builder: &mut RunBuilder<'run, '_>) {
        match (object_of(object, ApiKey::Request), object_of(object, ApiKey::Response)) {
            (None, None) => {
                let (asks, answers) = (self.add_request(object, builder), self.add_response(node, object, builder));
                self.lacks_answer &= !answers;
                if !asks && !answers {
                    builder.skip_value(node, "an element that is neither a request nor a response is skipped");
                }
            }
            (request, _) => {
                if let Some(request) = request {
                    self.add_request(request, builder);
                }
                self.lacks_answer = match first_of(object, &[ApiKey::Response]) {
                    Some(response) => !self.add_told_response(response, builder),
                    None => {
                        streamed_answers::note_lost_answer(node, object, builder);
                        true
                    }
                };
            }
        }
    }

    fn add_request(&mut self, request: Object<'run>, builder: &mut RunBuilder<'run, '_>) -> bool {
        let is_response = request.field(ApiKey::Output).is_some() || is_message(request);
        if is_response || first_of(request, &[ApiKey::Messages, ApiKey::Input]).is_none() {
            return false;
        }
        let mut pieces = Vec::new();
        if let Some(words) = first_of(request, &[ApiKey::Instructions, ApiKey::System]) {
            push_text(Speaker::System, words, &mut pieces, builder);
        }
        for (node, message) in builder.record_objects(list_of(request, ApiKey::Messages).unwrap_or_default()) {
            push_message(node, message, &mut pieces, builder);
        }
        match request.field(ApiKey::Input).map(|input| (input, input.value)) {
            Some((_, Value::List(items))) => push_items(items, &mut pieces, builder),
            Some((input, Value::Text(_))) => pieces.push(MessagePart::Speech(Speaker::User, input)),
            Some((_, Value::Object(_))) => return false,
            _ => {}
        }
        self.tools = self.tools.or(list_of(request, ApiKey::Tools));
        self.model = self.model.or(request.field(ApiKey::Model));
        let goes_on = first_of(request, &[ApiKey::Previous]).is_some();
        self.add_new(pieces, goes_on, builder);
        true
    }

    fn add_new(&mut self, pieces: Vec<MessagePart<'run>>, goes_on: bool, builder: &mut RunBuilder<'run, '_>) {
        let first = self.pieces.is_empty();
        let signs: Vec<_> =
            pieces.iter().enumerate().filter_map(|(at, one)| Some((at, one.part_identity()?))).collect();
        self.conversations.take_said(self.pieces.len());
        let known = |place: &usize| self.pieces.get(*place).and_then(MessagePart::part_identity);
        let count = |conversation: &[usize]| {
            let said = conversation.iter().enumerate().filter_map(|(at, place)| Some((at, known(place)?)));
            let is_same = |nth: usize, part| signs.get(nth).is_some_and(|(_, sign): &(_, _)| sign.repeats_part(&part));
            let said = said.enumerate().map(|(nth, (at, part))| (at, is_same(nth, part)));
            RepeatedPart::count_repeated(conversation.len(), said)
        };
        let repeated =
            if goes_on { self.conversations.go_further(count) } else { self.conversations.go_on(pieces.len(), count) };
        let said: Vec<_> = repeated.places.iter().filter_map(|place| Some((*place, known(place)?.call_id()))).collect();
        let mut new = 0;
        for ((place, id), (at, sign)) in said.into_iter().zip(&signs) {
            // Results that come later name the call by the id that it has now.
            if id != sign.call_id()
                && let (Some(known), Some(piece)) = (self.pieces.get_mut(place), pieces.get(*at))
            {
                *known = *piece;
                self.places.add_place(sign.call_id(), place);
            }
            new = at + 1;
        }
        let known_left = !repeated.is_whole;
        if known_left && !goes_on && !first {
            let message = "a request does not repeat the conversation so far: its other messages are added behind it";
            builder.add_warning(origin_of(pieces.first()), message);
        }
        let is_said_already =
            |piece: &MessagePart<'_>| matches!(piece, MessagePart::Speech(Speaker::System, _)) && !first;
        let may_be_done = (known_left || repeated.has_others) && !goes_on && !first;
        let part_at = |place: usize| self.pieces.get(place).and_then(MessagePart::part_identity);
        self.places.add_up_to(self.pieces.len(), |place| part_at(place)?.call_id());
        // Calls are the same where their ids are, whatever stands around them.
        let is_done_already = |piece: &MessagePart<'run>| {
            let sign = piece.part_identity().filter(|_| may_be_done);
            sign.is_some_and(|sign| {
                let mut known = self.places.places_of(sign.call_id()).iter().filter_map(|place| part_at(*place));
                known.any(|known| sign.is_same(&known, builder))
            })
        };
        let left = pieces.into_iter().skip(new).filter(|piece| !is_said_already(piece) && !is_done_already(piece));
        let left: Vec<_> = left.collect();
        self.pieces.extend(left);
    }

    fn add_told_response(&mut self, node: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> bool {
        let whole = streamed_answers::whole_answer(node, builder);
        let is_known = whole
            .and_then(|whole| Some((whole, node_object(whole)?)))
            .is_some_and(|(node, response)| self.add_response(node, response, builder));
        if !is_known {
            builder.skip_record(node.origin, streamed_answers::UNKNOWN_ANSWER);
        }
        is_known
    }

    fn add_response(&mut self, node: Node<'run>, response: Object<'run>, builder: &mut RunBuilder<'run, '_>) -> bool {
        // A request that was sent or written down again has the answer that it had.
        if text_of(response, ApiKey::Id).is_some_and(|id| self.answers.is_known(id, response)) {
            return true;
        }
        self.ends.take_up(response, &mut self.pieces);
        self.places.end_at(self.pieces.len());
        let (before, mut is_cut) = (self.pieces.len(), false);
        self.pieces.push(MessagePart::Turn);
        if let Some(items) = list_of(response, ApiKey::Output) {
            push_items(items, &mut self.pieces, builder);
            for piece in self.pieces.iter_mut().skip(before) {
                if let MessagePart::Item(node, item) = *piece
                    && responses::is_hosted_result(item)
                {
                    *piece = MessagePart::Hosted(node, item);
                }
            }
        } else if is_message(response) {
            push_message(node, response, &mut self.pieces, builder);
        } else if let Some(message) =
            object_of(response, ApiKey::Output).and_then(|output| output.field(ApiKey::Message))
            && let Some(said) = node_object(message)
        {
            push_message(message, said, &mut self.pieces, builder);
        } else if let Some((message, said, is_cut_off)) = first_choice(response, builder) {
            is_cut = is_cut_off;
            push_message(message, said, &mut self.pieces, builder);
        } else {
            self.pieces.truncate(before);
        }
        let error = first_of(response, &[ApiKey::Error]);
        if self.pieces.len() == before && error.is_none() {
            return false;
        }
        self.ends.note_end(response, before..self.pieces.len(), is_cut);
        self.error = self.error.or(error);
        self.model = response.field(ApiKey::Model).or(self.model);
        self.usage.extend(object_of(response, ApiKey::Usage).map(|usage| (usage, self.model)));
        true
    }

    pub(super) fn finish_run(mut self, builder: &mut RunBuilder<'run, '_>) {
        builder.set_some(of_run::ERROR, self.error);
        if self.lacks_answer || self.ends.ends_open(self.pieces.len()) {
            builder.leave_output_open();
        }
        if self.ends.has_open() {
            builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
        }
        if let Some(list) = self.tools {
            let list = tool_list(builder, list);
            builder.set_entry(of_run::TOOLS, list);
        }
        cut_calls::drop_cut_calls(&mut self.pieces, &self.ends, builder);
        let mut conversation = ConversationBuilder::from_parts(builder);
        for (usage, model) in self.usage {
            let mut counts = TokenUsage::default();
            counts.add_usage(usage);
            // The input of Anthropic and of Bedrock leaves out what a cache holds; they are told by their names.
            if CACHE_READS.iter().any(|name| usage.get(name).is_some()) {
                counts.count_cache_as_input();
            }
            conversation.add_usage(&counts, model);
        }
        for piece in &self.pieces {
            add_part(&mut conversation, piece);
        }
        conversation.add_meta(of_meta::MODEL, self.model);
        conversation.finish_run();
    }
}

/// Only Anthropic and Bedrock use these names.
const CACHE_READS: [&str; 2] = [OfUsage::CacheRead.key(), OfUsage::CacheRead.last_key()];

fn origin_of(piece: Option<&MessagePart<'_>>) -> TextOrigin {
    match piece {
        None | Some(MessagePart::Turn) => TextOrigin::COMPUTED,
        Some(
            MessagePart::Speech(_, node)
            | MessagePart::Block(node, _)
            | MessagePart::Call(node, _)
            | MessagePart::Result(node, _)
            | MessagePart::Item(node, _)
            | MessagePart::Executed(node, _)
            | MessagePart::Hosted(node, _),
        ) => node.origin,
    }
}

fn is_message(object: Object<'_>) -> bool {
    text_of(object, ApiKey::Role).and_then(MessageRole::from_key) == Some(MessageRole::Assistant)
        && object.field(ApiKey::Content).is_some()
}

/// The other choices are what the model could have said instead. True if a limit cut it off.
fn first_choice<'run>(
    response: Object<'run>,
    builder: &mut RunBuilder<'run, '_>,
) -> Option<(Node<'run>, Object<'run>, bool)> {
    let choices = builder.record_objects(list_of(response, ApiKey::Choices)?);
    let (message, is_cut) = builder.choice_messages(choices, ApiKey::Message).first().copied()?;
    let said = node_object(message)?;
    Some((message, said, is_cut))
}

fn push_text<'run>(
    speaker: Speaker,
    content: Node<'run>,
    pieces: &mut Vec<MessagePart<'run>>,
    builder: &RunBuilder<'run, '_>,
) {
    builder.note_parts(content);
    let words = content::content_text(content, builder.arena);
    if let Some(words) = words.filter(|words| node_text(*words).is_none_or(|text| !text.is_empty())) {
        pieces.push(MessagePart::Speech(speaker, words));
    }
}

fn push_message<'run>(
    node: Node<'run>,
    message: Object<'run>,
    pieces: &mut Vec<MessagePart<'run>>,
    builder: &mut RunBuilder<'run, '_>,
) {
    let role = builder.role_of(node, text_of(message, ChatMessageKey::Role));
    let speaker = Speaker::from_role(role);
    if role == Some(MessageRole::Result) {
        return pieces.push(MessagePart::Result(node, message));
    }
    if role == Some(MessageRole::Assistant) && !matches!(pieces.last(), Some(MessagePart::Turn)) {
        pieces.push(MessagePart::Turn);
    }
    pieces.extend(
        object_items(executed_tools::executed_in(message)).map(|(node, tool)| MessagePart::Executed(node, tool)),
    );
    if role.is_none() && message.field(ChatMessageKey::Content).is_none() {
        builder.skip_value(node, "a message without `role` is skipped");
    }
    if let Some(content) = message.field(ChatMessageKey::Content) {
        let content = blocks::with_cited_texts(content, builder);
        let blocks = node_list(content).unwrap_or_default();
        let is_plain =
            |block: Object<'_>| matches!(blocks::classify_block(block), ContentBlock::Says(_) | ContentBlock::Silent);
        if object_items(blocks).all(|(_, block)| is_plain(block)) {
            push_text(speaker, content, pieces, builder);
        } else {
            push_blocks(speaker, blocks, pieces, builder);
        }
    }
    let refusal = super::messages::refusal_of(message).filter(|_| role == Some(MessageRole::Assistant));
    pieces.extend(refusal.map(|words| MessagePart::Speech(speaker, words)));
    for (node, call) in builder.record_objects(list_of(message, ChatMessageKey::Calls).unwrap_or_default()) {
        pieces.push(MessagePart::Call(node, call));
    }
}

fn push_blocks<'run>(
    speaker: Speaker,
    blocks: &'run [Node<'run>],
    pieces: &mut Vec<MessagePart<'run>>,
    builder: &RunBuilder<'run, '_>,
) {
    for run in blocks.chunk_by(content::goes_on) {
        if let [first, _, ..] = run {
            push_text(speaker, Node::new(Value::List(run), first.origin), pieces, builder);
            continue;
        }
        for (node, block) in object_items(run) {
            match blocks::classify_block(block) {
                ContentBlock::Says(_) => push_text(speaker, node, pieces, builder),
                // Told here, where it stands: a request that repeats it is not read again.
                ContentBlock::Unknown => builder.note_unknown(node.origin, blocks::UNKNOWN),
                _ => pieces.push(MessagePart::Block(node, block)),
            }
        }
    }
}

/// A message among them needs no type.
pub(super) fn push_items<'run>(
    items: &'run [Node<'run>],
    pieces: &mut Vec<MessagePart<'run>>,
    builder: &mut RunBuilder<'run, '_>,
) {
    for (node, item) in builder.record_objects(items) {
        match (text_of(item, ItemKey::Role), item.field(ItemKey::Content)) {
            (Some(role), Some(content)) => {
                push_text(Speaker::from_role(builder.role_of(node, Some(role))), content, pieces, builder);
            }
            // Told here, where it stands: a request that repeats it is not read again.
            _ if responses::is_unknown(item) => builder.note_unknown(node.origin, responses::unknown_item(item)),
            _ => pieces.push(MessagePart::Item(node, item)),
        }
    }
}
