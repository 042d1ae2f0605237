//! Answers of APIs that go on with a text: requests with a `prompt`, responses with `choices` of `text`. What a model was asked is a prompt, and
//! what it does stands in its words: nobody's words are the user's, and calls are not recorded.

use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::ChatMessageKey;
use super::nodes::{items_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::openai_chat::{self, ChatExchangeKey};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::role;
use averment_runs::run::StepKind;

key_table! {
    CompletionKey {
        Object = "object",
        Request = "request",
        Response = "response",
        Prompt = "prompt",
        Choices = "choices",
        Text = "text",
        Ended = "finish_reason",
    }
}

key_table! {
    CompletionObject {
        Any = "text_completion",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "text completions",
    known_by: "an `object` that is `text_completion`, alone or as the `response` to a request with a `prompt`",
    description: "answers of APIs that go on with a text (`choices` of `text`), with their requests or without",
    marks: &[CompletionKey::Request.key(), CompletionKey::Choices.key()],
    object: is_answered,
    item_marks: &[CompletionKey::Request.key(), CompletionKey::Choices.key()],
    element: is_answered,
    line: is_answered,
    alone: is_completion,
    read: read_run,
    ..IN_FULL
};

/// A whole answer: pieces of a stream do not say why they end.
fn is_completion(object: Object<'_>) -> bool {
    let is_whole = |choice: Object<'_>| text_of(choice, CompletionKey::Ended).is_some();
    text_of(object, CompletionKey::Object).and_then(CompletionObject::from_key).is_some()
        && list_of(object, CompletionKey::Choices)
            .is_some_and(|choices| !choices.is_empty() && object_items(choices).all(|(_, choice)| is_whole(choice)))
}

fn is_answered(object: Object<'_>) -> bool {
    is_completion(object) || object_of(object, CompletionKey::Response).is_some_and(is_completion)
}

/// The exchange of a chat in which a program speaks and a model goes on.
fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let items = items_of::<CompletionKey>(root, &[]);
    let exchanges: Vec<_> = items.iter().map(|item| exchange_of(*item, builder).unwrap_or(*item)).collect();
    let exchanges = Node::new(builder.list_node(&exchanges).value, root.origin);
    (openai_chat::FORMAT.read)(exchanges, builder)?;
    builder.mark_unrecorded(StepKind::Call);
    Ok(())
}

/// `None` for what is no completion: it stays what it is.
fn exchange_of<'run>(item: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let object = node_object(item).filter(|object| is_answered(*object))?;
    let response = object_of(object, CompletionKey::Response).unwrap_or(object);
    let message = |speaker: &'static str, words: Node<'run>| {
        let speaker = Node::new(Value::plain_text(speaker), words.origin);
        let fields =
            [field_entry(ChatMessageKey::Role.key(), speaker), field_entry(ChatMessageKey::Content.key(), words)];
        Node::new(builder.object_node(&fields).value, words.origin)
    };
    let prompt = object_of(object, CompletionKey::Request).and_then(|request| value_of(request, CompletionKey::Prompt));
    // Some send several prompts at once.
    let prompts = prompt.into_iter().flat_map(|prompt| match node_list(prompt) {
        Some(prompts) => prompts.to_vec(),
        None => vec![prompt],
    });
    let asked: Vec<_> =
        prompts.filter(|words| node_text(*words).is_some()).map(|words| message(role::SYSTEM, words)).collect();
    let choices = object_items(list_of(response, CompletionKey::Choices)?);
    let said = choices.filter_map(|(_, choice)| value_of(choice, CompletionKey::Text));
    let said: Vec<_> = said
        .map(|words| builder.object_node(&[field_entry(openai_chat::MESSAGE, message(role::ASSISTANT, words))]))
        .collect();
    let given = builder.object_node(&[field_entry(ChatExchangeKey::Messages.key(), builder.list_node(&asked))]);
    let kept = response.entries().iter().filter(|entry| !CompletionKey::Choices.keys().contains(&entry.key)).copied();
    let answer: Vec<_> = kept.chain([field_entry(ChatExchangeKey::Choices.key(), builder.list_node(&said))]).collect();
    let sides = [
        field_entry(ChatExchangeKey::Request.key(), given),
        field_entry(ChatExchangeKey::Response.key(), builder.object_node(&answer)),
    ];
    Some(Node::new(builder.object_node(&sides).value, item.origin))
}
