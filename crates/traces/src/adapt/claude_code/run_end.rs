//! What follows for the run once all lines are read.

use super::*;
use crate::adapt::nodes::node_text;
use crate::adapt::run_builder::absent_node;

pub(super) fn status_node<'run>(status: StepStatus) -> Node<'run> {
    status.as_str().map_or_else(absent_node, |word| Node::computed(Value::plain_text(word)))
}

impl ClaudeReader<'_, '_, '_> {
    pub(super) fn finish_run(mut self) {
        self.close_text();
        let builder = self.builder;
        for call in builder.steps_of_kind(StepKind::Call) {
            let id = builder.step_field(call, of_step::ID).and_then(node_text);
            if id.is_some_and(|id| self.denied.contains(id)) {
                let error = builder.step_field(call, of_step::RESULT).unwrap_or(Node::computed(Value::Boolean(true)));
                builder.set_field(call, of_step::STATUS, status_node(StepStatus::Denied));
                builder.set_field(call, of_step::ERROR, error);
            } else if builder.step_field(call, of_step::STATUS).is_none() {
                builder.add_field(call, of_step::STATUS, absent_node());
            }
        }
        if !builder.has_entry(of_run::ERROR) {
            builder.set_some(of_run::ERROR, self.api_error);
        }
        if !builder.has_entry(of_run::TURNS) {
            builder.set_entry(of_run::TURNS, count_node(self.turn));
        }
        if !builder.has_entry(of_run::PROMPT) {
            builder.set_some(of_run::PROMPT, self.prompt);
        }
        if !builder.has_entry(of_run::OUTPUT) {
            let output = content::join_texts(self.said.output_words(self.with_main), builder.arena);
            builder.set_some(of_run::OUTPUT, output);
        }
        if !builder.has_entry(of_run::USAGE) {
            let mut usage = TokenUsage::default();
            for MessageUsage { counts, model, holds_cache } in self.usage {
                let mut of_message = TokenUsage::default();
                of_message.add_usage(counts);
                if !holds_cache {
                    of_message.count_cache_as_input();
                }
                builder.add_usage(of_message.token_counts(), model);
                usage.merge_usage(&of_message);
            }
            // In a stream the counts of single messages are those of their beginnings: its end sums them up, unless it counts less.
            let whole = self.summed_up.map(|counts| {
                let mut whole = TokenUsage::default();
                whole.add_usage(counts);
                if !self.counts_cache {
                    whole.count_cache_as_input();
                }
                whole
            });
            whole.filter(|whole| !usage.is_more_than(whole)).unwrap_or(usage).set_usage(builder);
        }
    }
}
