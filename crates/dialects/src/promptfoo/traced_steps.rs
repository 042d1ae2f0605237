//! The steps of a trace with promptfoo's step types. From the attributes and the name of each span, promptfoo decides if it is a tool call, a
//! command, a search, reasoning or a message. If the run has promptfoo spans, a trajectory is judged by these steps, otherwise by its calls.

use super::text_kinds::escaped;
use crate::regex_flavour::slash_literal;

/// Defines the steps of a trace in span order. The names of a step are joined into one text, one name per line.
pub(super) const TRACED_STEPS: &str = r#"def facts(s) = coalesce(s.attributes, {})
def is_filled(v) = v is string and v matches /\S/
def first_filled(a, names) = first((trim(a[it]) of (names where is_filled(a[it]))))
def names_tool(k, v) = (k matches /tool.?name|function.?name/i or (k matches /(^|[._])tool($|[._])/i and k not matches /result|output|definition/i)) and is_filled(v) and json(v) is not object and json(v) is not list
def tool_of(s) = coalesce(first_filled(facts(s), split("tool.name tool_name tool function.name function_name ai.toolCall.name gen_ai.tool.name agent.tool_name agent.tool agent.toolName codex.mcp.tool", " ")), coalesce(first((trim(facts(s)[it]) of (keys(facts(s)) where names_tool(it, facts(s)[it])))), trim(capture(s.name, /^mcp .*\/([^\/]*\S[^\/]*)$/))))
def is_given(v) = v exists and v != null and (v is not string or v matches /\S/)
def parsed(v) = if v is string then coalesce(json(v), trim(v)) else v
def args_of(s) = parsed(coalesce(first((facts(s)[it] of (split("tool.args tool.arguments tool.input tool_args tool_arguments tool_input function.args function.arguments function.input function_args function_arguments ai.toolCall.args ai.toolCall.arguments ai.toolCall.input gen_ai.tool.args gen_ai.tool.arguments gen_ai.tool.input gen_ai.tool.call.args gen_ai.tool.call.arguments agent.tool.args agent.tool.arguments agent.tool.input codex.mcp.args codex.mcp.arguments codex.mcp.input args arguments input", " ") where is_given(facts(s)[it])))), first((facts(s)[it] of (keys(facts(s)) where it matches /(^|[._])(arguments|args|input)($|[._])/i and it not matches /result|output|error|status/i and is_given(facts(s)[it]))))))
def is_shell(t) = lower(t) in ["exec_command", "local_shell", "shell"]
def one_line(v, between) = if v is list then join((trim(text(it)) of (v where text(it) matches /\S/)), between) else trim(v)
def shell_line(a) = if a.cmd exists then one_line(a.cmd, " ") else if a.command exists then one_line(a.command, " ") else one_line(a.commands, "; ")
def command_of(s) = coalesce(first_filled(facts(s), ["codex.command", "command", "command.name", "command_name"]), coalesce(first((trim(facts(s)[it]) of (keys(facts(s)) where it matches /command/i and it not matches /output|result/i and is_filled(facts(s)[it])))), coalesce(first(([shell_line(args_of(s))] where is_shell(tool_of(s)) and is_filled(it))), capture(s.name, /^exec \s*(\S(?:.*\S)?)\s*$/))))
def is_search(s) = s.name matches /(^|[\s._:\/-])(search|find|lookup|retriev(?:e|al))($|[\s._:\/-])/i or (any k in keys(facts(s)): k != "query" and k matches /(^|[._])(search|lookup|retriev(?:e|al))($|[._])/i)
def query_of(s) = coalesce(first_filled(facts(s), ["codex.search.query", "search.query", "search_query"]), coalesce(first((trim(it) of ([facts(s).query] where is_filled(it) and is_search(s)))), trim(capture(s.name, /^search "?(.*?[^\s"].*?)"?$/))))
def kind_of(s) = if facts(s)["codex.item.type"] == "reasoning" or s.name matches /^reasoning([_\s]|$)/i then "reasoning" else if facts(s)["codex.item.type"] == "agent_message" or s.name in ["agent response", "send input"] then "message" else "span"
def step(kind, names, args) = { kind: kind, names: join((replace(it, "\n", "\r") of names), "\n"), args: args }
def step_of(s, tool, command, query) = if command exists and is_shell(tool) then step("command", [s.name, command, tool, capture(command, /^(\S+)/)], null) else if tool exists then step("tool", [s.name, tool], args_of(s)) else if command exists then step("command", [s.name, command, capture(command, /^(\S+)/)], null) else if query exists then step("search", [s.name, query], null) else step(kind_of(s), if kind_of(s) == "span" then [s.name] else [s.name, kind_of(s)], null)
let traced_steps = (step_of(it, tool_of(it), command_of(it), query_of(it)) of meta.spans)"#;

/// Binds `tools_used` to the tool calls. Without tool spans, these are the calls of the run except shell calls, which promptfoo counts as commands.
pub(super) const TOOLS_OF_STEPS: &str = "let tools_used = if any s in traced_steps: s.kind == \"tool\" then (traced_steps where kind == \"tool\") else ({ names: tool, args: args } of (calls where lower(tool) not in [\"exec_command\", \"local_shell\", \"shell\"]))";

/// Binds `tools_used` as promptfoo does: a trace without a tool span means that no tool was called.
pub(super) const TOOLS_OF_TRACE: &str = "let tools_used = if meta.spans exists then (traced_steps where kind == \"tool\") else ({ names: tool, args: args } of (calls where lower(tool) not in [\"exec_command\", \"local_shell\", \"shell\"]))";

/// The step types of promptfoo.
pub(super) const STEP_KINDS: [&str; 6] = ["command", "message", "reasoning", "search", "span", "tool"];

/// Returns a regular expression that matches if one line of a step's names matches the glob.
pub(super) fn names_regex(glob: &str) -> String {
    // Characters that JavaScript's `.` matches.
    const INSIDE: &str = "[^\\n\\r\\u2028\\u2029]";
    let mut pattern = String::from("(?:^|\\n)");
    for letter in glob.chars() {
        match letter {
            '*' => pattern.push_str(&format!("{INSIDE}*")),
            '?' => pattern.push_str(INSIDE),
            other => pattern.push_str(&escaped(&other.to_string())),
        }
    }
    pattern.push_str("(?:$|\\n)");
    slash_literal(&pattern, "i")
}
