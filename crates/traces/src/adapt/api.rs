//! Requests to the APIs of models and their responses, of whichever provider: a list of exchanges is one conversation. Each request
//! repeats what was said so far, in the words of its provider; what is new in it is added.

pub(super) mod anthropic;
pub(crate) mod responses;

use super::blocks::{self, Block};
use super::calls::{OfUsage, Usage, tools};
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::messages::{BlockType, OfBlock, OfCall, OfMessage, Role};
use super::nodes::{first_of, list, list_of, object, object_of, objects, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use super::{content, printed};
use averment_base::value::compare::equal;
use averment_base::value::{Node, Object, Origin, Value};
use averment_runs::normal::{of_meta, of_run};
use responses::OfItem;

key_table! {
    /// An exchange, a request, or a response.
    OfApi {
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
    }
}

/// A part of a conversation, in the words of its provider.
#[derive(Clone, Copy)]
pub(super) enum Piece<'run> {
    /// An answer of the model begins.
    Turn,
    /// Somebody says something.
    Said(Speaker, Node<'run>),
    /// A block of a message of Anthropic's.
    Block(Node<'run>, Object<'run>),
    /// A call in OpenAI's chat form.
    Call(Node<'run>, Object<'run>),
    /// The result of one.
    Result(Node<'run>, Object<'run>),
    /// An item of OpenAI's Responses.
    Item(Node<'run>, Object<'run>),
    /// In a response: what a tool gave back that the provider runs itself.
    Hosted(Node<'run>, Object<'run>),
}

/// What tells a part of a conversation from others, whoever repeats it.
#[derive(Clone, Copy)]
enum Sign<'run> {
    Said(bool, &'run str),
    Call(Option<&'run str>, Option<&'run str>, Value<'run>),
    Result(Option<&'run str>, Value<'run>),
}

impl Sign<'_> {
    /// Whether a request repeats with one what the other says. Some give calls new ids, others new names.
    fn repeats(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Said(a, words), Self::Said(b, others)) => a == b && words == others,
            (Self::Call(a, tool, args), Self::Call(b, other, others)) => {
                a.is_some() && a == b || tool.is_some() && tool == other && equal(args, others)
            }
            (Self::Result(a, result), Self::Result(b, other)) => a.is_some() && a == b || equal(result, other),
            _ => false,
        }
    }

    /// The id of a call.
    fn id(&self) -> Option<&str> {
        match self {
            Self::Said(..) => None,
            Self::Call(id, ..) | Self::Result(id, _) => *id,
        }
    }
}

fn value<'run, F: super::fields::TableRow>(object: Object<'run>, fields: &[F]) -> Value<'run> {
    first_of(object, fields).map_or(Value::Null, |node| node.value)
}

impl<'run> Piece<'run> {
    /// Its sign. What has none is repeated in ways that differ: it is passed over in comparing.
    fn sign(&self) -> Option<Sign<'run>> {
        match *self {
            Self::Said(Speaker::User, words) => Some(Sign::Said(false, super::nodes::text(words)?)),
            Self::Said(Speaker::Assistant, words) => Some(Sign::Said(true, super::nodes::text(words)?)),
            Self::Said(..) | Self::Turn => None,
            Self::Block(_, block) => match text_of(block, OfBlock::Type).and_then(BlockType::of_block)? {
                BlockType::Call => {
                    let tool = text_of(block, OfBlock::Name);
                    Some(Sign::Call(text_of(block, OfBlock::Id), tool, value(block, &[OfBlock::Input])))
                }
                BlockType::Result => {
                    Some(Sign::Result(text_of(block, OfBlock::Answers), value(block, &[OfBlock::Content])))
                }
                _ => None,
            },
            Self::Call(_, call) => {
                let function = super::messages::function(&call, &Parsed).and_then(object).unwrap_or(call);
                let args = value(function, &[OfCall::Arguments, OfCall::Input]);
                Some(Sign::Call(text_of(call, OfCall::Id), text_of(function, OfCall::Name), args))
            }
            Self::Result(_, message) => {
                Some(Sign::Result(text_of(message, OfMessage::Answers), value(message, &[OfMessage::Content])))
            }
            Self::Item(_, item) | Self::Hosted(_, item) => {
                let id = first_of(item, &[OfItem::CallId, OfItem::Id]).and_then(super::nodes::text);
                match responses::is_result(item)? {
                    true => Some(Sign::Result(id, value(item, &[OfItem::Output]))),
                    false => {
                        let args = value(item, &[OfItem::Arguments, OfItem::Input]);
                        Some(Sign::Call(id, text_of(item, OfItem::Name), args))
                    }
                }
            }
        }
    }
}

/// Exchanges while they are put together.
#[derive(Default)]
pub(super) struct Exchanges<'run> {
    pieces: Vec<Piece<'run>>,
    /// What each answer used, and of which model.
    usage: Vec<(Object<'run>, Option<Node<'run>>)>,
    model: Option<Node<'run>>,
    tools: Option<&'run [Node<'run>]>,
    error: Option<Node<'run>>,
}

/// Whether an object is an exchange with a provider that the chat form is not of.
pub(super) fn is_exchange(object: Object<'_>, is_response: impl Fn(Object<'_>) -> bool) -> bool {
    object_of(object, OfApi::Request).is_some() && object_of(object, OfApi::Response).is_some_and(is_response)
}

/// Reads exchanges, requests and responses in their order as one conversation.
pub(super) fn read<'run>(items: &'run [Node<'run>], draft: &mut Draft<'run, '_>) {
    let mut exchanges = Exchanges::default();
    for node in items {
        draft.record();
        let Some(object) = object(*node) else {
            draft.not_understood(node.origin, "an element that is neither a request nor a response is passed over");
            continue;
        };
        exchanges.add(*node, object, draft);
    }
    exchanges.finish(draft);
    // The id of the one answer that there is is that of the run; what is asked for with it has one of its own, or none.
    if let [only] = items {
        draft.set_some(
            of_run::ID,
            object(*only).and_then(|answer| answer.field(OfApi::Id)).filter(|id| Parsed.is_text(*id)),
        );
    }
}

impl<'run> Exchanges<'run> {
    /// Adds an exchange, a request or a response.
    pub(super) fn add(&mut self, node: Node<'run>, object: Object<'run>, draft: &mut Draft<'run, '_>) {
        match (object_of(object, OfApi::Request), object_of(object, OfApi::Response)) {
            (None, None) => {
                let known = self.request(object, draft) | self.response(node, object, draft);
                if !known {
                    draft.not_understood(
                        node.origin,
                        "an element that is neither a request nor a response is passed over",
                    );
                }
            }
            (request, response) => {
                if let Some(request) = request {
                    self.request(request, draft);
                }
                if let (Some(response), Some(node)) = (response, object.field(OfApi::Response)) {
                    self.response(node, response, draft);
                }
            }
        }
    }

    fn request(&mut self, request: Object<'run>, draft: &mut Draft<'run, '_>) -> bool {
        let is_response = request.field(OfApi::Output).is_some() || is_message(request);
        if is_response || first_of(request, &[OfApi::Messages, OfApi::Input]).is_none() {
            return false;
        }
        let mut pieces = Vec::new();
        if let Some(words) = first_of(request, &[OfApi::Instructions, OfApi::System]) {
            said(Speaker::System, words, &mut pieces, draft);
        }
        for (node, message) in draft.objects(list_of(request, OfApi::Messages).unwrap_or_default()) {
            of_message(node, message, &mut pieces, draft);
        }
        match request.field(OfApi::Input).map(|input| (input, input.value)) {
            Some((_, Value::List(items))) => items_into(items, &mut pieces, draft),
            Some((input, Value::Text(_))) => pieces.push(Piece::Said(Speaker::User, input)),
            _ => {}
        }
        self.tools = self.tools.or(list_of(request, OfApi::Tools));
        self.model = self.model.or(request.field(OfApi::Model));
        let goes_on = first_of(request, &[OfApi::Previous]).is_some();
        self.add_new(pieces, goes_on, draft);
        true
    }

    /// Adds what a request does not repeat.
    fn add_new(&mut self, pieces: Vec<Piece<'run>>, goes_on: bool, draft: &mut Draft<'run, '_>) {
        let first = self.pieces.is_empty();
        let mut known = self.pieces.iter_mut().filter_map(|piece| Some((piece.sign()?, piece))).peekable();
        let mut new = 0;
        for (place, piece) in pieces.iter().enumerate() {
            let Some(sign) = piece.sign() else { continue };
            let Some((other, known)) = known.next_if(|(other, _)| sign.repeats(other)) else { break };
            // Results that come later name the call by the id that it has now.
            if other.id() != sign.id() {
                *known = *piece;
            }
            new = place + 1;
        }
        if known.peek().is_some() && !goes_on && !first {
            let message = "a request does not repeat the conversation so far: its other messages are added behind it";
            draft.warn(origin_of(pieces.first()), message);
        }
        let is_said_already = |piece: &Piece<'_>| matches!(piece, Piece::Said(Speaker::System, _)) && !first;
        self.pieces.extend(pieces.into_iter().skip(new).filter(|piece| !is_said_already(piece)));
    }

    fn response(&mut self, node: Node<'run>, response: Object<'run>, draft: &mut Draft<'run, '_>) -> bool {
        let before = self.pieces.len();
        self.pieces.push(Piece::Turn);
        if let Some(items) = list_of(response, OfApi::Output) {
            items_into(items, &mut self.pieces, draft);
            for piece in self.pieces.iter_mut().skip(before) {
                if let Piece::Item(node, item) = *piece
                    && responses::is_hosted_result(item)
                {
                    *piece = Piece::Hosted(node, item);
                }
            }
        } else if is_message(response) {
            of_message(node, response, &mut self.pieces, draft);
        } else if let Some((choice, message)) = first_choice(response) {
            of_message(choice, message, &mut self.pieces, draft);
        } else {
            self.pieces.truncate(before);
        }
        self.error = self.error.or(first_of(response, &[OfApi::Error]));
        if self.pieces.len() == before && self.error.is_none() {
            return false;
        }
        self.model = response.field(OfApi::Model).or(self.model);
        self.usage.extend(object_of(response, OfApi::Usage).map(|usage| (usage, self.model)));
        true
    }

    /// Adds everything to the run.
    pub(super) fn finish(self, draft: &mut Draft<'run, '_>) {
        draft.set_some(of_run::ERROR, self.error);
        if let Some(list) = self.tools {
            let list = tools(draft, list);
            draft.set(of_run::TOOLS, list);
        }
        let mut talk = Talk::of_parts(draft);
        for (usage, model) in self.usage {
            let mut counts = Usage::default();
            counts.add(usage);
            // Anthropic's input leaves out what a cache holds; it is told by its names.
            if usage.get(CACHE_READ).is_some() {
                counts.count_cache_as_input();
            }
            talk.spends(&counts, model);
        }
        for piece in &self.pieces {
            tell(&mut talk, piece);
        }
        talk.meta(of_meta::MODEL, self.model);
        talk.finish();
    }
}

/// The count that only Anthropic names so.
const CACHE_READ: &str = OfUsage::CacheRead.key();

fn origin_of(piece: Option<&Piece<'_>>) -> Origin {
    match piece {
        None | Some(Piece::Turn) => Origin::COMPUTED,
        Some(
            Piece::Said(_, node)
            | Piece::Block(node, _)
            | Piece::Call(node, _)
            | Piece::Result(node, _)
            | Piece::Item(node, _)
            | Piece::Hosted(node, _),
        ) => node.origin,
    }
}

/// Whether an object is a message as a response.
fn is_message(object: Object<'_>) -> bool {
    text_of(object, OfApi::Role).and_then(Role::from_key) == Some(Role::Assistant)
        && object.field(OfApi::Content).is_some()
}

fn first_choice(response: Object<'_>) -> Option<(Node<'_>, Object<'_>)> {
    let (_, choice) = objects(list_of(response, OfApi::Choices)?).next()?;
    let message = choice.field(OfApi::Message)?;
    Some((message, object(message)?))
}

fn said<'run>(speaker: Speaker, content: Node<'run>, pieces: &mut Vec<Piece<'run>>, draft: &Draft<'run, '_>) {
    if let Some(words) = content::text(content, draft.arena) {
        pieces.push(Piece::Said(speaker, words));
    }
}

fn speaker(role: Option<Role>) -> Speaker {
    match role {
        Some(Role::Assistant) => Speaker::Assistant,
        Some(Role::User) => Speaker::User,
        _ => Speaker::System,
    }
}

/// The parts of a message of the chat form or of Anthropic's.
fn of_message<'run>(
    node: Node<'run>,
    message: Object<'run>,
    pieces: &mut Vec<Piece<'run>>,
    draft: &mut Draft<'run, '_>,
) {
    let role = text_of(message, OfMessage::Role).and_then(Role::from_key);
    let speaker = speaker(role);
    if role == Some(Role::Result) {
        pieces.push(Piece::Result(node, message));
        return;
    }
    if role == Some(Role::Assistant) && !matches!(pieces.last(), Some(Piece::Turn)) {
        pieces.push(Piece::Turn);
    }
    if role.is_none() && message.field(OfMessage::Content).is_none() {
        draft.not_understood(node.origin, "a message without `role` is passed over");
    }
    if let Some(content) = message.field(OfMessage::Content) {
        let blocks = list(content).unwrap_or_default();
        let is_plain = |block: Object<'_>| matches!(blocks::of(block), Block::Says(_) | Block::Silent);
        if objects(blocks).all(|(_, block)| is_plain(block)) {
            said(speaker, content, pieces, draft);
        } else {
            blocks_into(speaker, blocks, pieces, draft);
        }
    }
    for (node, call) in draft.objects(list_of(message, OfMessage::Calls).unwrap_or_default()) {
        pieces.push(Piece::Call(node, call));
    }
}

fn blocks_into<'run>(
    speaker: Speaker,
    blocks: &'run [Node<'run>],
    pieces: &mut Vec<Piece<'run>>,
    draft: &Draft<'run, '_>,
) {
    for run in blocks.chunk_by(content::goes_on) {
        if let [first, _, ..] = run {
            said(speaker, Node::new(Value::List(run), first.origin), pieces, draft);
            continue;
        }
        for (node, block) in objects(run) {
            match blocks::of(block) {
                Block::Says(_) => said(speaker, node, pieces, draft),
                _ => pieces.push(Piece::Block(node, block)),
            }
        }
    }
}

/// The items of OpenAI's Responses; a message among them needs no type.
pub(super) fn items_into<'run>(items: &'run [Node<'run>], pieces: &mut Vec<Piece<'run>>, draft: &mut Draft<'run, '_>) {
    for (node, item) in draft.objects(items) {
        match (text_of(item, OfItem::Role), item.field(OfItem::Content)) {
            (Some(role), Some(content)) => said(speaker(Role::from_key(role)), content, pieces, draft),
            _ => pieces.push(Piece::Item(node, item)),
        }
    }
}

/// Adds a part to the run.
fn tell<'run>(talk: &mut Talk<'_, 'run, '_>, piece: &Piece<'run>) {
    let about = About::default();
    match *piece {
        Piece::Turn => talk.hears(),
        Piece::Said(speaker, words) => talk.say(speaker, words, &about, words.origin),
        Piece::Block(node, block) => anthropic::block(talk, node, block, &about),
        Piece::Call(node, call) => {
            let function = super::messages::function(&call, &Parsed).and_then(object).unwrap_or(call);
            if let Some(tool) = function.field(OfCall::Name) {
                let args = super::messages::arguments(&function);
                talk.call(Made { tool, args, id: call.field(OfCall::Id), origin: node.origin }, &about);
            }
        }
        Piece::Result(node, message) => {
            let content = message.field(OfMessage::Content).filter(|content| !Parsed.is(*content, Shape::Null));
            let printed = content.and_then(|content| printed::of(content, talk.draft.arena, talk.draft.limits));
            let result = content.map(|content| content::text(content, talk.draft.arena).unwrap_or(content));
            let result = printed.map(|printed| printed.result).or(result);
            let status = printed.and_then(|printed| printed.status);
            let outcome = Outcome { result, status, ..Outcome::default() };
            let tool = super::messages::answered_tool(&message, &Parsed).and_then(super::nodes::text);
            talk.answer(
                text_of(message, OfMessage::Answers).or(printed.and_then(|printed| super::nodes::text(printed.id))),
                tool.or(printed.and_then(|printed| printed.tool)),
                outcome,
                &about,
                node.origin,
            );
        }
        Piece::Item(node, item) => responses::item(talk, node, item, &about),
        Piece::Hosted(node, item) => talk.within(|talk| responses::item(talk, node, item, &about)),
    }
}
