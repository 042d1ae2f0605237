//! The words of the language, with a description, a snippet and an example of each.
//!
//! Statements have their own table ([`averment_syntax::statements`]); all other words are here. Completion uses the snippet, hover the sentence and
//! the example. A test compares the list with [`averment_syntax::words_with_role`] and compiles every example.

use super::word_role::Role;
use averment_syntax::statements;
use std::sync::LazyLock;

/// A word of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word or words as written.
    pub word: &'static str,
    /// The role.
    pub role: Role,
    /// The inserted snippet, with `${1:…}` for placeholders.
    pub snippet: &'static str,
    /// One sentence without a full stop; for a root or field, prefixed by its type: `money: …`.
    pub doc: &'static str,
    /// A line of a rule file that uses it; empty if the snippet is clear enough.
    pub example: &'static str,
}

/// Returns the words with a role, in the order of the reference.
pub fn words_with_role(role: Role) -> impl Iterator<Item = &'static Word> {
    all_words().filter(move |word| word.role == role)
}

/// Returns the words with this spelling, or else the phrases that contain it: `until` is part of `after … until`.
pub fn explained_words(text: &str) -> Vec<&'static Word> {
    let of = |is: &dyn Fn(&Word) -> bool| -> Vec<&'static Word> {
        Role::ALL.into_iter().flat_map(words_with_role).filter(|word| is(word)).collect()
    };
    let whole = of(&|word| word.word == text);
    if whole.is_empty() { of(&|word| word.word.split([' ', '…']).any(|part| part == text)) } else { whole }
}

fn all_words() -> impl Iterator<Item = &'static Word> {
    STATEMENTS.iter().chain(OTHERS)
}

/// Statements from the table in `syntax`, except those with an operand between their words.
static STATEMENTS: LazyLock<Vec<Word>> = LazyLock::new(|| {
    let plain = statements::FORMS.iter().filter(|form| !form.words.contains('…'));
    let forms = plain.map(|form| (Role::Statement, form));
    forms
        .chain(statements::LISTS.iter().map(|form| (Role::List, form)))
        .map(|(role, form)| Word {
            word: form.words,
            role,
            snippet: form.snippet,
            doc: form.doc,
            example: form.example,
        })
        .collect()
});

/// Returns the word with one of these roles; earlier roles take precedence.
pub(super) fn find_word(text: &str, roles: &[Role]) -> Option<&'static Word> {
    roles.iter().find_map(|&role| words_with_role(role).find(|word| word.word == text))
}

macro_rules! vocabulary {
    ($($role:ident { $($word:literal $snippet:literal $doc:literal $example:literal;)* })*) => {
        static OTHERS: &[Word] = &[$($(
            Word { word: $word, role: Role::$role, snippet: $snippet, doc: $doc, example: $example },
        )*)*];
    };
}

vocabulary! {
    Declaration {
        "use" "use ${1:std.secrets}" "imports the names of a module or of another rule file" "use std.secrets";
        "tools from" "tools from \"${1:tools.json}\"" "declares the tool catalogue from a file: MCP `tools/list`, OpenAI tools, or names with JSON Schemas" "tools from \"tools.json\"";
        "tool fails when" "tool ${1:any} fails when ${2:result starts with \"Error\"}" "says what failure is where the trace does not" "tool any fails when result starts with \"Error\"";
        "tool also" "tool ${1:name} also ${2:mcp__*__name}" "declares other names of a tool: patterns match them, too" "tool delete_repo also mcp__*__delete_repo";
        "tool tagged" "tool ${1:delete_*} tagged ${2:destructive}" "gives tools tags: `any tagged destructive`" "tool delete_*, drop_* tagged destructive";
        "tool" "tool ${1:name} { type: \"object\", properties: { $0 } }" "declares a tool with the JSON Schema of its arguments" "tool refund { type: \"object\", properties: { id: { type: \"string\" } } }";
        "param" "param ${1:limit}: ${2:number} = ${3:100}" "declares a parameter, given with `--param NAME=VALUE`" "param limit: number = 100";
        "let" "let ${1:name} = ${2:value}" "gives a value a name" "let limit = 100";
        "def" "def ${1:name}(${2:value}) = ${3:value}" "declares a function or predicate" "def is_large(amount) = amount > 100";
        "def step" "def step ${1:name}(${2:\\$id}) = ${3:tool}" "gives a step pattern a name; a parameter with `$` is a binding" "def step paid(limit, $id) = refund(id: $id, amount > limit)";
        "schema" "schema ${1:Name} = { $0 }" "declares a JSON Schema under a name" "schema Refund = { type: \"object\" }";
        "rule" "rule ${1:name} \"${2:what has to hold}\" {\n  $0\n}" "groups assertions under one id with a sentence" "rule approval \"Refunds need an approval\" { before approve -> refund }";
        "suite" "suite \"${1:name}\" {\n  $0\n}" "holds cases with their workspace and runners" "suite \"nightly\" { case find { prompt \"find it\"; require search } }";
        "case" "case ${1:name} {\n  prompt \"${2:…}\"\n  $0\n}" "a prompt to run, and what has to hold of its run" "case find { prompt \"find it\"; require search }";
        "pre" "pre {\n  $0\n}" "conditions on the world before a run" "pre { env API_KEY is set }";
        "post" "post {\n  $0\n}" "conditions on the world after a run" "post { file \"out.txt\" exists }";
        "test" "test \"${1:what is shown}\" expect ${2|pass,fail,vacuous,undecided,error|} {\n  calls: [{ tool: \"${3:tool}\", args: { $0 } }]\n}" "runs rules on a run that is written here, and says what has to come out" "test \"nothing is called\" expect pass { calls: [] }";
        "invariant" "invariant ${1:name} {\n  call ${2:tool} { $0 }\n}" "states what a tool call has to answer" "invariant adds { call add { a: 1, b: 2 }\n  response == 3 }";
        "workspace" "workspace isolated {\n  $0\n}" "where the cases of a suite run" "";
        "runner" "runner ${1:name} {\n  $0\n}" "an agent that the cases of a suite are given to" "";
        "call" "call ${1:tool} { $0 }" "a call that an invariant makes and judges" "";
        "for each tool" "for each tool where ${1:annotations.readOnlyHint} {\n  call tool { $0 }\n}" "repeats its calls over the tools of a server" "";
    }
    Modifier {
        "weight" "weight ${1:2}" "how much the assertion counts in the score; 1 unless given" "require search weight 2";
        "severity" "severity ${1|error,warn,info|}" "how grave a failure is; only `error` fails the run" "require search severity warn";
        "must" "must" "a threshold of the rule does not excuse a failure of this" "require search must";
        "threshold" "threshold ${1:0.8}" "the score that is enough to pass" "rouge_l(output, prompt) >= 0.1 threshold 0.8";
        "message" "message \"${1:…}\"" "what to say of a failure; `${…}` puts values in" "require search message \"nothing was searched\"";
        "as" "as ${1:metric}" "records the score under a name" "require search as searched";
        "class" "class \"${1:id}\" \"${2:Label}\"" "the class of failure that this belongs to" "require search class \"no-search\" \"Nothing searched\"";
        "tags" "tags ${1:smoke}" "tags to select by with `--tag`" "require search tags smoke, nightly";
        "when" "when ${1:condition}" "counts only where the condition is true; skipped elsewhere" "require search when inputs.query exists";
        "id" "id ${1:name}" "the id of the assertion in reports" "require search id searched";
        "deny" "deny ${1|vacuous,unjudged,undecided,unexercised|}" "fails the run where the assertion comes out so, whatever the command line says" "before approve -> refund deny vacuous";
        "allow" "allow ${1|undecided,vacuous,unjudged|}" "does not fail the run where the assertion comes out so, whatever the command line says" "duration <= 30s allow undecided";
        "expect fail" "expect fail \"${1:why}\"" "a known failure: it passes while it fails" "require search expect fail \"not built yet\"";
    }
    Setting {
        "prompt" "prompt \"${1:…}\"" "what the agent is asked in this case" "";
        "timeout" "timeout ${1:60s}" "how long it may take" "";
        "template" "template \"${1:./fixtures/app}\"" "the folder that a workspace starts from" "";
        "bootstrap" "bootstrap \"${1:sh setup.sh}\" timeout ${2:60s}" "a command that prepares a workspace" "";
        "model" "model \"${1:name}\"" "the model of a runner" "";
        "agent" "agent ${1:codex}" "the agent of a runner" "";
        "command" "command [\"${1:agent}\"]" "the command of a runner" "";
        "env" "env { ${1:KEY}: \"${2:value}\" }" "environment variables of a runner" "";
        "args" "args [\"${1:--flag}\"]" "arguments of a runner, before those that every session has" "";
        "pass_env" "pass_env [\"${1:NAME}\"]" "variables of this process that a runner gets, too" "";
        "trace" "trace \"${1:run.json}\"" "the file that a runner writes its trace to" "";
        "worktree" "worktree \"${1:.}\"" "the git repository that a workspace is a working tree of" "";
        "revision" "revision \"${1:HEAD}\"" "the revision of the working tree" "";
        "cwd" "cwd \"${1:.}\"" "the folder that agents work in" "";
        "max_steps" "max_steps ${1:20}" "how many steps a session may have" "";
        "repeat" "repeat ${1:3}" "how often each case is run" "";
        "retries" "retries ${1:1}" "how often a session that fails is tried again" "";
        "schedule" "schedule ${1|serial,parallel,isolated_by_runner|}" "the order of sessions" "";
        "parallel" "parallel ${1:4}" "how many sessions run at the same time" "";
        "select" "select ${1:smoke}" "the tags of the cases that are run where none is named" "";
        "snapshots" "snapshots { percent: ${1:10} }" "how many more tokens a case may cost than was accepted" "";
        "classify" "classify \"${1:id}\" \"${2:Label}\" when message ${3|contains,matches|} \"${4:…}\"" "the class of the failures around it whose message says so; the first that fits wins" "classify \"alias\" \"Wrong alias\" when message contains \"alias\"";
        "expect ok" "expect ok" "the call has to succeed" "";
        "expect error" "expect error" "the call has to fail" "";
    }
    Root {
        "inputs" "inputs" "any: what the run was given" "inputs.amount <= 100";
        "prompt" "prompt" "string: the user's request as text" "prompt contains \"refund\"";
        "output" "output" "any: the final output, text or JSON" "output.status == \"refunded\"";
        "calls" "calls" "list: the tool calls in the order of their starts" "length(calls) <= 10";
        "steps" "steps" "list: everything in order, each with its `kind`" "length(steps) <= 40";
        "messages" "messages" "list: the messages, each with `role` and `text`" "no m in messages: m.text is empty";
        "commands" "commands" "list: the shell commands, parsed" "no c in commands: c.exit_code != 0";
        "reads" "reads" "list: the files that were read" "length(reads) <= 20";
        "writes" "writes" "list: the files that were written" "all w in writes: w.path starts with \"src/\"";
        "skills" "skills" "list: the skills that were used" "any s in skills: s.name == \"find-skills\"";
        "http" "http" "list: the HTTP requests" "all h in http: h.status < 400";
        "spans" "spans" "list: the raw spans of the trace" "length(spans) >= 1";
        "handovers" "handovers" "list: who handed the work to whom: `agent` and `to`, and how `depth` deep" "all h in handovers: h.depth <= 2";
        "usage" "usage" "object: the tokens that the run used" "usage.total_tokens <= 20_000";
        "cost" "cost" "money: what the run cost, in USD" "cost <= $0.05";
        "duration" "duration" "duration: how long the run took, in milliseconds" "duration <= 30s";
        "turns" "turns" "integer: how many turns the assistant took" "turns <= 8";
        "error" "error" "any: the error that the run ended with; missing where it ended well" "not error exists";
        "meta" "meta" "any: free metadata of the run" "meta.region == \"eu\"";
        "env" "env" "object: the recorded environment" "env.STAGE == \"test\"";
        "tools" "tools" "list: the tools that were available" "length(tools) >= 1";
        "files" "files" "object: the recorded files" "files exists";
        "run" "run" "object: the run itself, where a step's field hides a name" "each refund: args.amount <= run.inputs.amount";
    }
    Kind {
        "any" "any" "any tool call" "never repeat any more than 3 times";
        "command" "command ${1:/npm (ci|install)/}" "a shell command: a text in it, a regular expression, or parsed `command npm(args: [\"test\"])`" "require command /npm (ci|install)/";
        "read" "read \"${1:**/SKILL.md}\"" "a file that was read, by a path glob" "require read \"**/SKILL.md\"";
        "write" "write \"${1:src/**}\"" "a file that was written, by a path glob" "never write \".git/**\"";
        "skill" "skill \"${1:name}\"" "a skill that was used" "require skill \"find-skills\"";
        "http" "http \"${1:example.com}\"" "an HTTP request, by a part of its URL" "require http \"example.com\"(status: 200)";
        "user" "user ${1:/\\byes\\b/i}" "a message of the user" "before user /yes/i -> refund";
        "assistant" "assistant \"${1:done}\"" "a message of the assistant" "require assistant \"done\"";
        "thinking" "thinking" "a message in which the assistant thinks" "require thinking";
        "message" "message(role: \"${1:system}\")" "any message" "require message(role: \"system\")";
        "span" "span \"${1:db.*}\"" "a raw span of the trace, by its name" "require span \"db.*\"";
        "handover" "handover \"${1:billing}\"" "one agent hands the work to another, by the name of that one" "never handover \"billing\"";
        "proposed" "proposed ${1:tool}" "calls that were denied or still wait, which no other pattern matches" "never proposed delete_*";
    }
    Test {
        "==" "== ${1:value}" "is equal by value: `1 == 1.0`" "output.status == \"refunded\"";
        "!=" "!= ${1:value}" "is not equal; true of what is missing" "output.status != \"failed\"";
        "===" "=== ${1:value}" "is equal, and written alike: `1` is not `1.0`" "output.code === 1";
        "<=" "<= ${1:value}" "is at most" "turns <= 8";
        ">=" ">= ${1:value}" "is at least" "turns >= 1";
        "<" "< ${1:value}" "is less than" "turns < 8";
        ">" "> ${1:value}" "is greater than" "turns > 1";
        "in" "in ${1:[a, b]}" "is among the elements of a list, in a range, or a key of an object" "output.currency in [\"EUR\", \"USD\"]";
        "not in" "not in ${1:[a, b]}" "is not among them" "output.currency not in [\"XXX\"]";
        "contains" "contains ${1:value}" "a text contains a text, a list an element, an object a key" "output contains \"refund\"";
        "icontains" "icontains ${1:text}" "contains, upper and lower case alike" "output icontains \"refund\"";
        "mentions" "mentions ${1:value}" "a text holds the value as a whole token: `o-1` is not mentioned in `o-12`; a list or an object where some text or number in it does" "output mentions \"o-1\"";
        "contains all" "contains all [${1:a, b}]" "contains every element of the list" "output contains all [\"a\", \"b\"]";
        "contains any" "contains any [${1:a, b}]" "contains at least one element of the list" "output contains any [\"a\", \"b\"]";
        "contains none" "contains none [${1:a, b}]" "contains no element of the list" "output contains none [\"a\", \"b\"]";
        "not contains" "not contains ${1:value}" "does not contain" "output not contains \"sorry\"";
        "not mentions" "not mentions ${1:value}" "holds it nowhere as a whole token" "output not mentions \"o-1\"";
        "starts with" "starts with ${1:text}" "begins with this text" "output.url starts with \"https://\"";
        "ends with" "ends with ${1:text}" "ends with this text" "output.path ends with \".md\"";
        "matches" "matches /${1:…}/" "the regular expression finds something in the text" "output.url matches /^https:/";
        "not matches" "not matches /${1:…}/" "the regular expression finds nothing" "output not matches /error/i";
        "is" "is ${1:string}" "has a type, or fits a schema" "output is object";
        "is json" "is json" "the text is JSON; with a schema's name behind it also fits that" "output is json";
        "is xml" "is xml" "the text is an XML document, well-formed" "output is xml";
        "is sql" "is sql" "the text is SQL: one statement or several" "output is sql";
        "like" "like ${1:{ status: \"ok\" \\}}" "holds this part: an object with these keys at least, a list element by element; `ignoring [id]`, `in any order`, `folded` behind it" "output like { status: \"ok\" }";
        "contains json" "contains json" "some part of the text is JSON" "output contains json";
        "is empty" "is empty" "is an empty text, list or object, or missing" "output.errors is empty";
        "is missing" "is missing" "the path leads nowhere" "output.error is missing";
        "exists" "exists" "the path leads somewhere" "output.id exists";
        "not exists" "not exists" "the path leads nowhere" "output.error not exists";
    }
    MatchClause {
        "in any order" "in any order" "each expected call by a call of its own, wherever it stands" "calls match inputs.expected in any order";
        "in order" "in order" "the expected calls in their order; of `subset of` and `superset of`, which otherwise take any" "calls match superset of inputs.expected in order";
        "repeats ignored" "repeats ignored" "one call may stand for several equal expected ones, and several calls for one" "calls match superset of inputs.expected repeats ignored";
        "arguments exact" "arguments exact" "arguments are equal, and no other ones are given; so it is without a word" "calls match inputs.expected arguments exact";
        "arguments named" "arguments named" "only the arguments that are expected are compared" "calls match inputs.expected arguments named";
        "arguments optional" "arguments optional" "expected arguments may be absent, and no other ones are given" "calls match inputs.expected arguments optional";
        "arguments accepted" "arguments accepted" "each expected argument is a list of the values that are accepted" "calls match inputs.expected arguments accepted";
        "arguments ignored" "arguments ignored" "only the names of the tools are compared" "calls match inputs.expected arguments ignored";
        "ignoring" "ignoring [${1:request_id}]" "arguments of these names are left aside, at any depth" "calls match inputs.expected ignoring [request_id]";
        "folded" "folded" "texts are compared without letter case, with single spaces and look-alike letters as the same" "calls match inputs.expected folded";
        "score >=" "score >= ${1:0.8}" "this share of the calls is enough; it is the score of the assertion" "calls match inputs.expected score >= 0.8";
    }
    MatchExtent {
        "subset of" "subset of ${1:inputs.expected_calls}" "every call is an expected one" "calls match subset of inputs.expected";
        "superset of" "superset of ${1:inputs.expected_calls}" "every expected call is made; others may be made, too" "calls match superset of inputs.expected";
    }
    LikeClause {
        "in any order" "in any order" "lists are compared without their order" "output like { tags: [\"a\"] } in any order";
        "ignoring" "ignoring [${1:id}]" "keys of these names are left aside, at any depth" "output like inputs.wanted ignoring [id]";
        "folded" "folded" "texts are compared without letter case, with single spaces and look-alike letters as the same" "output like { name: \"Al\" } folded";
    }
    StepClause {
        "->" "-> ${1:step}" "the next step, as in `before A -> B`" "before approve -> refund";
        "where" "where ${1:condition}" "only steps that meet the condition; their fields are in scope" "never refund where args.amount > 100";
        "ok" "ok" "calls that succeeded" "require search ok";
        "failed" "failed" "calls that failed" "never any failed";
        "tagged" "tagged ${1:destructive}" "calls of tools with this tag; `tool … tagged …` gives it" "tool delete_* tagged destructive\nnever any tagged destructive";
        "by" "by ${1:agent}" "steps that this agent took" "never refund by researcher";
        "within" "within ${1:3} calls" "not further apart: calls, turns, or a length of time" "after error_found -> report within 3 calls";
        "then" "then ${1:step}" "what has to occur as well: `if A then B`" "if refund then notify";
        "after" "after ${1:step}" "in the window behind this step" "never write after logout";
        "before" "before ${1:step}" "in the window before this step" "never refund before approve";
        "between" "between ${1:open} and ${2:close}" "in the window between two steps" "never write between lock and unlock";
        "until" "until ${1:step}" "where the window ends" "never write after logout until login";
        "more than" "more than ${1:3} times" "how often in a row is too often" "never repeat any more than 3 times";
        "times" "${1:2} times" "how often" "require search 2 times";
        "in" "in ${1:output}" "where a predicate looks" "use std.secrets\nno secrets in output";
        "iff" "iff ${1:step}" "every step on the left has one on the right, and the other way round" "open iff close";
        "only after" "only after ${1:step}" "every step on the left has an earlier one on the right" "refund only after approve";
    }
    Operator {
        "and" "and ${1:condition}" "both hold" "turns > 1 and turns < 8";
        "or" "or ${1:condition}" "at least one holds" "turns == 1 or turns == 2";
        "implies" "implies ${1:condition}" "where the left side holds, the right side does" "output.ok == true implies output.id exists";
        "not" "not ${1:condition}" "the opposite" "not output contains \"sorry\"";
    }
    Type {
        "string" "string" "text" "output is string";
        "number" "number" "any number" "output is number";
        "integer" "integer" "a whole number" "output is integer";
        "boolean" "boolean" "`true` or `false`" "output is boolean";
        "duration" "duration" "a length of time, written `250ms`, `30s`, `1h30m`; milliseconds in a run" "param limit: duration = 30s";
        "money" "money" "US dollars, written `$0.05`" "param limit: money = $0.05";
        "size" "size" "bytes, written `10KB`, `4MiB`" "param limit: size = 10KB";
        "list" "list" "values in an order" "output is list";
        "object" "object" "values under keys" "output is object";
        "any" "any" "a value of any type" "param limit: any = 1";
    }
    Field {
        "tool" "tool" "string: the name of the tool" "";
        "args" "args" "object: the arguments of the call" "";
        "result" "result" "any: what the call answered" "";
        "response" "response" "any: what came back as it came: the envelope of a protocol around the result" "";
        "to" "to" "string: the agent that takes over" "";
        "depth" "depth" "integer: how many agents stand above the one that takes over" "";
        "tags" "tags" "list: the tags of the tool" "";
        "annotations" "annotations" "object: what a catalogue says of the tool: `readOnlyHint`, `destructiveHint`, …" "";
        "error" "error" "any: the error of the call; missing where it succeeded" "";
        "ok" "ok" "boolean: whether it succeeded" "";
        "status" "status" "string: `ok`, `failed`, `denied` or `pending` (of an HTTP request its number)" "";
        "start" "start" "time: when it started" "";
        "end" "end" "time: when it ended" "";
        "duration" "duration" "duration: how long it took" "";
        "turn" "turn" "integer: the assistant's turn that it belongs to" "";
        "index" "index" "integer: its number among the steps of its kind, from 0" "";
        "id" "id" "string: its id in the trace" "";
        "agent" "agent" "string: the agent that did it" "";
        "kind" "kind" "string: the kind of step" "";
        "role" "role" "string: who wrote the message" "";
        "text" "text" "string: the text of the message" "";
        "command" "command" "string: the command as it was run" "";
        "program" "program" "string: the program, shell wrappers removed" "";
        "flags" "flags" "list: the options as they were written" "";
        "options" "options" "object: the options with the lists of their values" "";
        "parts" "parts" "list: the programs of a line that runs several" "";
        "exit_code" "exit_code" "integer: the exit code" "";
        "output" "output" "string: what the command printed" "";
        "path" "path" "string: the path of the file, in one spelling" "";
        "recorded_path" "recorded_path" "string: the path of the file as it was recorded" "";
        "location" "location" "string: the path of the file, where it does not climb out of an unknown folder" "";
        "name" "name" "string: the name" "";
        "method" "method" "string: the HTTP method" "";
        "url" "url" "string: the URL" "";
        "attributes" "attributes" "object: the attributes of the span" "";
        "parent_id" "parent_id" "string: the id of the span around it" "";
        "input_tokens" "input_tokens" "number: tokens that were read" "";
        "output_tokens" "output_tokens" "number: tokens that were written" "";
        "reasoning_tokens" "reasoning_tokens" "number: tokens of reasoning" "";
        "cache_read_tokens" "cache_read_tokens" "number: tokens that were read from a cache" "";
        "total_tokens" "total_tokens" "number: all tokens" "";
    }
    Verdict {
        "pass" "pass" "it holds" "";
        "fail" "fail" "it does not hold" "";
        "vacuous" "vacuous" "it holds, but nothing exercised it" "";
        "undecided" "undecided" "the evidence is absent" "";
        "error" "error" "a limit was hit or a permission is missing" "";
    }
    Severity {
        "error" "error" "a failure fails the run" "";
        "warn" "warn" "a failure is reported and does not fail the run" "";
        "info" "info" "a failure is recorded only" "";
    }
    Constant {
        "true" "true" "boolean" "";
        "false" "false" "boolean" "";
        "null" "null" "JSON's null; not the same as missing" "";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_syntax::ast::TestKind;
    use averment_syntax::words as syntax;

    #[test]
    fn every_word_of_the_language_is_explained() {
        let first = |word: &str| word.split(' ').next().unwrap_or("").to_owned();
        let known = |roles: &[Role], word: &str| {
            all_words().any(|one| roles.contains(&one.role) && (one.word == word || first(one.word) == word))
        };
        let statements = syntax::STATEMENTS.iter().filter(|word| !matches!(**word, "env" | "tool" | "http" | "in"));
        for word in statements {
            assert!(known(&[Role::Statement], word), "`{word}`");
        }
        for word in statements::HEADS.iter().flat_map(|head| head.behind) {
            assert!(known(&[Role::StepClause, Role::Test], word), "`{word}`");
        }
        for word in syntax::DECLARATIONS {
            assert!(known(&[Role::Declaration], word), "`{word}`");
        }
        for word in syntax::MODIFIERS {
            assert!(known(&[Role::Modifier], word), "`{word}`");
        }
        for test in TestKind::ALL {
            assert!(words_with_role(Role::Test).any(|one| one.word == test.written()), "`{}`", test.written());
        }
        for word in syntax::SETTINGS {
            assert!(known(&[Role::Setting], word), "`{word}`");
        }
        for word in syntax::ROOTS.iter().filter(|word| **word != "response") {
            assert!(known(&[Role::Root], word), "`{word}`");
        }
        for word in syntax::KINDS {
            assert!(known(&[Role::Kind], word), "`{word}`");
        }
        for field in averment_runs::run::StepKind::ALL.iter().flat_map(|kind| kind.field_names()) {
            assert!(known(&[Role::Field], field), "`{field}`");
        }
    }

    #[test]
    fn every_example_compiles() {
        let files = [("tools.json", "{\"search\": {\"type\": \"object\"}}")];
        let files = averment_checker::files::Memory::new(files);
        let reads = |word: &str| word != "is sql" || averment_builtins::text_format::READS_SQL;
        let has_example = |word: &str, example: &str| !example.is_empty() && word != "tools from" && reads(word);
        let others = OTHERS.iter().filter(|word| has_example(word.word, word.example));
        let all = statements::FORMS.iter().chain(statements::LISTS).map(|form| (form.words, form.example));
        for (words, example) in all.chain(others.map(|word| (word.word, word.example))) {
            let folder = Some(std::path::Path::new(""));
            let compiled = averment_fixtures::Rules::with_files("example.assert", folder, example, &files);
            assert!(compiled.is_ok(), "`{words}`:\n{}", compiled.unwrap_err());
        }
    }
}
