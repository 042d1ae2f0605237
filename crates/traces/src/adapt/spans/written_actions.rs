//! Actions that stand in the words of a model, as in loops of thoughts and actions (ReAct, DSPy). Where no span tells of such an action, the
//! calls of the run are not all there.

use super::exchange::ExchangeRef;
use super::text_of_node;
use super::timed::TimedStep;
use crate::adapt::fields::key_table;
use averment_base::value::TextOrigin;
use averment_runs::normal::of_step;
use averment_runs::run::StepKind;
use rustc_hash::FxHashSet;

key_table! {
    /// How lines begin that hold an action, and the line behind it.
    WrittenLine {
        Action = "Action:",
        Given = "Action Input:",
        /// DSPy has the tool in the line behind its mark.
        Mark = "[[ ## next_tool_name ## ]]",
        /// What Python prints of a call of the Responses API.
        Printed = "ResponseFunctionToolCall(",
        PrintedName = "name='",
    }
}

/// By such a tool an agent hands over, which spans tell by themselves.
const HANDS_OVER: &str = "transferto";

/// True for a text that is no words: a call that was printed.
pub(super) fn is_printed_call(words: &str) -> bool {
    words.starts_with(WrittenLine::Printed.key())
}

key_table! {
    /// Actions that end the loop, and call nothing.
    NoAction {
        Any = "finish" | "finalanswer" | "none",
    }
}

/// Letters and digits in lower case: prompts spell names of tools otherwise than code does.
fn spelling(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The tools of the actions in a text.
fn written_tools(text: &str) -> Vec<String> {
    if is_printed_call(text) {
        let named = text.split_once(WrittenLine::PrintedName.key()).and_then(|(_, behind)| behind.split_once('\''));
        let tool = named.map(|(name, _)| spelling(name)).unwrap_or_default();
        return if tool.starts_with(HANDS_OVER) { Vec::new() } else { vec![tool] };
    }
    let trim = |line: &str| line.trim().trim_start_matches('*').trim_start().to_owned();
    let lines: Vec<String> = text.lines().map(trim).filter(|line| !line.is_empty()).collect();
    let named = |(line, rest): (&String, &[String])| match line.strip_prefix(WrittenLine::Action.key()) {
        Some(tool) => {
            let has_input = rest.iter().any(|line| line.starts_with(WrittenLine::Given.key()));
            has_input.then(|| spelling(tool))
        }
        None => {
            let is_mark = line.starts_with(WrittenLine::Mark.key());
            rest.first().filter(|_| is_mark).map(|tool| spelling(tool)).filter(|tool| !tool.is_empty())
        }
    };
    let behind = (1..=lines.len()).filter_map(|at| lines.get(at..));
    let found = lines.iter().zip(behind).filter_map(named);
    found.filter(|tool| NoAction::from_key(tool).is_none()).collect()
}

/// Where a model wrote an action of which no call is known.
pub(super) fn action_without_call(exchanges: &[ExchangeRef<'_, '_>], calls: &[TimedStep<'_>]) -> Option<TextOrigin> {
    let texts =
        exchanges.iter().flat_map(|exchange| exchange.output).flat_map(|said| said.texts.iter().chain(&said.thoughts));
    let mut known: Option<FxHashSet<String>> = None;
    for text in texts {
        let Some(words) = text_of_node(*text) else { continue };
        let has = |line: WrittenLine| memchr::memmem::find(words.as_bytes(), line.key().as_bytes()).is_some();
        if !has(WrittenLine::Given) && !has(WrittenLine::Mark) && !is_printed_call(words) {
            continue;
        }
        let known = known.get_or_insert_with(|| known_tools(calls));
        if written_tools(words).iter().any(|tool| !known.contains(tool)) {
            return Some(text.origin);
        }
    }
    None
}

fn known_tools(calls: &[TimedStep<'_>]) -> FxHashSet<String> {
    let calls = calls.iter().filter(|step| step.kind == StepKind::Call);
    let tool = |step: &TimedStep<'_>| {
        let field = step.fields.iter().find(|field| field.key == of_step::TOOL)?;
        text_of_node(field.node).map(spelling)
    };
    calls.filter_map(tool).collect()
}
