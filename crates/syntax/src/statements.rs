//! The table of statements: the words that begin each statement, what may follow them, a snippet, a sentence about the meaning, and an example.
//!
//! The table provides the reserved words, recovery, completion, hover, colors, editor snippets and the reference. [`crate::ast::StatementKind`]
//! defines the parts of a statement; the engine defines its meaning.

/// The kind of operand after the first word of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadOperand {
    /// A step pattern.
    Step,
    /// An expression, or the second word of a block: `any of {`.
    Expression,
    /// Another statement.
    Statement,
    /// Anything else: a number, a path, a name.
    Other,
}

/// A word that begins a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementHead {
    /// The word.
    pub word: &'static str,
    /// The operand that follows it.
    pub follows: HeadOperand,
    /// Words and signs of the statement that may follow one of its steps.
    pub behind: &'static [&'static str],
    /// True if a line that begins with it always starts a new statement, because it is hardly ever a name.
    pub sure: bool,
    /// The shortest complete statement, suggested if the word is alone. Empty for a word that is also a field, a root or an operator.
    pub alone: &'static str,
}

/// One form of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementForm {
    /// Its words as written: `immediately before`. A `…` replaces an operand between them.
    pub words: &'static str,
    /// True if a body in braces may follow.
    pub block: bool,
    /// The snippet to insert, with placeholders `${1:…}`.
    pub snippet: &'static str,
    /// The meaning, as one sentence without a full stop.
    pub doc: &'static str,
    /// A line of a rule file that uses it.
    pub example: &'static str,
}

macro_rules! heads {
    ($($word:literal $follows:ident [$($behind:literal)*] $sure:ident $alone:literal;)*) => {
        /// The words that begin statements.
        pub const HEADS: &[StatementHead] = &[$(StatementHead {
            word: $word,
            follows: HeadOperand::$follows,
            behind: &[$($behind),*],
            sure: heads!(@ $sure),
            alone: $alone,
        }),*];

        /// All first words.
        pub const WORDS: &[&str] = &[$($word),*];
    };
    (@ sure) => { true };
    (@ unsure) => { false };
}

macro_rules! forms {
    ($($words:literal $shape:ident $snippet:literal $doc:literal $example:literal;)*) => {
        /// The forms of statements, in the order of the reference.
        pub const FORMS: &[StatementForm] = &[$(StatementForm {
            words: $words,
            block: forms!(@ $shape),
            snippet: $snippet,
            doc: $doc,
            example: $example,
        }),*];
    };
    (@ block) => { true };
    (@ line) => { false };
}

// First word, its operand, words that may follow its steps, whether it always begins a statement, the shortest complete statement.
heads! {
    "require" Step ["times"] sure "require search";
    "never" Step ["after" "before" "between" "until" "within" "more than"] sure "never deploy";
    "only" Step [] sure "only search, fetch*";
    "count" Step [] unsure "count search <= 10";
    "first" Step [] unsure "first plan";
    "last" Step [] unsure "last answer";
    "before" Step ["->" "within"] sure "before approve -> refund";
    "after" Step ["->" "within" "until"] sure "after open -> close";
    "starts" Other ["->" "within"] unsure "starts before warm_up -> query";
    "immediately" Step ["->" "within"] sure "immediately before check -> save";
    "sequence" Step ["->" "within"] sure "sequence plan -> search -> answer";
    "nested" Step ["->"] unsure "nested lock -> unlock";
    "together" Step [] sure "together fetch_a, fetch_b";
    "apart" Step [] sure "apart write_row, migrate";
    "if" Step ["then"] unsure "";
    "either" Step [] sure "either answer or escalate";
    "not" Statement [] unsure "";
    "flow" Step ["->"] sure "flow plan -> (search)* -> answer";
    "each" Step [] sure "each refund: args.amount <= 100";
    "some" Step [] sure "some fetch: result.code == 200";
    "no" Step ["in"] unsure "no delete_*: args.force == true";
    "args" Other [] unsure "";
    "score" Expression [] unsure "";
    "between" Step [] sure "between freeze and thaw { never deploy }";
    "when" Expression [] sure "when inputs.vip == true { require concierge }";
    "any" Expression [] unsure "";
    "all" Expression [] unsure "all of { require plan; never deploy }";
    "none" Expression [] unsure "none of { require drop_table }";
    "at" Other [] unsure "";
    "file" Other [] unsure "";
    "env" Expression [] unsure "";
    "tool" Other [] unsure "";
    "http" Expression [] unsure "";
    "run" Expression [] unsure "";
    "in" Other [] unsure "";
}

// Words, whether it may have a body, snippet, sentence, example.
forms! {
    "require" line "require ${1:tool}" "holds when the step occurs; with `2 times`, `1..3 times` or `2.. times` when it occurs that often" "require search 1..3 times";
    "never" line "never ${1:tool}" "holds when none of the steps occurs; with `after`, `before` or `between` when none occurs in that window" "never admin_*, drop_table";
    "only" line "only ${1:tools}" "holds when every call matches one of the steps; vacuous without calls" "only search, fetch*";
    "count" line "count ${1:tool} <= ${2:10}" "holds when the number of these steps meets the comparison" "count api_call <= 10";
    "first" line "first ${1:tool}" "holds when the first call is this one" "first plan";
    "last" line "last ${1:tool}" "holds when the last call is this one" "last answer";
    "before" block "before ${1:approve} -> ${2:refund}" "holds when every step on the right has an earlier step on the left that had ended; vacuous where the right side never occurs" "before approve(id: $id) -> refund(id: $id)";
    "before each" line "before each ${1:approve} -> ${2:refund}" "holds when every step on the right has a step on the left of its own, since the previous one" "before each approve -> refund";
    "starts before" line "starts before ${1:warm_up} -> ${2:query}" "holds when every step on the right has a step on the left that started earlier, whether it had ended or not" "starts before warm_up -> query";
    "after" block "after ${1:open} -> ${2:close}" "holds when every step on the left has a later step on the right; vacuous where the left side never occurs" "after open -> close";
    "after each" line "after each ${1:open} -> ${2:close}" "holds when every step on the left has a later step on the right before the next one on the left" "after each open -> close";
    "immediately before" line "immediately before ${1:check} -> ${2:save}" "holds when the call just before every step on the right is the one on the left, and had ended" "immediately before check -> save";
    "immediately after" line "immediately after ${1:save} -> ${2:notify}" "holds when the call just after every step on the left is the one on the right" "immediately after save -> notify";
    "sequence" line "sequence ${1:plan} -> ${2:search} -> ${3:answer}" "holds when the steps occur in this order, with anything between them" "sequence plan -> search -> answer";
    "sequence only" line "sequence only ${1:plan} -> ${2:answer}" "holds when the steps that match any of these are exactly this sequence" "sequence only plan -> answer";
    "sequence exactly" line "sequence exactly ${1:plan} -> ${2:answer}" "holds when all calls of the run are exactly this sequence" "sequence exactly plan -> search -> answer";
    "nested" line "nested ${1:lock} -> ${2:unlock}" "holds when every step on the right closes the latest open one on the left, and none stays open; vacuous without any" "nested lock(id: $id) -> unlock(id: $id)";
    "together" line "together ${1:a}, ${2:b}" "holds when some of both stand in one turn or overlap in time" "together fetch_a, fetch_b";
    "apart" line "apart ${1:a}, ${2:b}" "holds when none of both stand in one turn or overlap in time" "apart write_row, migrate";
    "if" line "if ${1:a} then ${2:b}" "holds when the run has the second step wherever it has the first; with `else` it is an expression" "if refund then approve";
    "either" line "either ${1:a} or ${2:b}" "holds when at least one of the steps occurs" "either answer or escalate";
    "not both" line "not both ${1:a}, ${2:b}" "holds when the run does not have both" "not both refund, charge";
    "never repeat" line "never repeat ${1:any} more than ${2:3} times" "holds when no more than that many neighbouring calls are the same: tool and arguments" "never repeat any more than 3 times";
    "flow" line "flow ${1:plan} -> (${2:search})* -> ${3:answer}" "holds when the calls of the run are a word of this regular expression; `*`, `+`, `?` and `{2,3}` stand behind parentheses" "flow plan -> (search -> (fetch)*)+ -> answer";
    "each" block "each ${1:tool}: ${2:args.amount <= 100}" "holds when every one of these steps meets the condition; its fields are in scope" "each refund: args.amount <= 100";
    "some" line "some ${1:tool}: ${2:result.code == 200}" "holds when at least one of these steps meets the condition" "some fetch: result.code == 200";
    "no" line "no ${1:tool}: ${2:args.force == true}" "holds when none of these steps meets the condition; `no secrets in …` when a predicate finds nothing" "no delete_*: args.force == true";
    "args valid" line "args valid" "holds when the arguments of the calls fit the declared schemas; `strict` refuses undeclared tools, `for tool` looks at some calls" "tool search { type: \"object\" }\nargs valid strict";
    "calls match" line "calls match ${1:inputs.expected_calls}" "holds when the calls of the run are the expected ones, each by a call of its own; `in any order`, `subset of`, `superset of`, `arguments named`, `arguments optional`, `folded`, `ignoring [id]`, `repeats ignored`, `score >= 0.8`" "calls match inputs.expected_calls in any order ignoring [request_id]";
    "score" line "score ${1:f1(output.ids, inputs.ids)} >= ${2:0.8}" "makes a computed number the score of the assertion; holds when it is at least that, and without `>=` on every run that has it" "score f1(output.ids, inputs.ids) >= 0.8";
    "between" block "between ${1:freeze} and ${2:thaw} {\n  $0\n}" "its statements hold in every window between the two steps" "between freeze and thaw { never deploy }";
    "when" block "when ${1:inputs.vip == true} {\n  $0\n}" "its statements count only where the condition is true, and are skipped elsewhere" "when inputs.vip == true { require concierge }";
    "any of" block "any of {\n  $0\n}" "holds when at least one of its statements holds" "any of { require plan; require answer }";
    "all of" block "all of {\n  $0\n}" "holds when all of its statements hold" "all of { require plan; never deploy }";
    "none of" block "none of {\n  $0\n}" "holds when none of its statements holds" "none of { require drop_table }";
    "at least" block "at least ${1:2} of {\n  $0\n}" "holds when at least so many of its statements hold" "at least 2 of { require a_tool; require b_tool; require c_tool }";
    "file" line "file \"${1:out.txt}\" ${2:exists}" "holds when the file of the world around the run meets the test" "file \"out.txt\" exists";
    "env … is set" line "env ${1:API_KEY} is set" "holds when the environment variable is set" "env API_KEY is set";
    "tool … is available" line "tool ${1:exec} is available" "holds when the tool is among those of the run" "tool exec is available";
    "http … status" line "http \"${1:example.com}\" status == ${2:200}" "holds when every traced request to it has this status" "http \"example.com\" status == 200";
    "run" line "run \"${1:python3 validate.py}\" exits ${2:0}" "holds when the command exits with this code; it needs `--allow-run`" "run \"python3 validate.py\" exits 0";
    "in at least … of runs" line "in at least ${1:95%} of runs: rule ${2:name}" "holds when so many of all runs that are checked pass; `by` tells groups of them apart, `with confidence 95%` asks for enough runs" "rule polite { output is not empty }\nin at least 95% of runs by meta.model: rule polite";
    "not" line "not ${1:statement}" "turns pass into fail and fail into pass" "not require deploy";
}

/// Expressions over steps and lists: words, snippet, result, example.
pub const LISTS: &[StatementForm] = &[
    StatementForm {
        words: "count",
        block: false,
        snippet: "count ${1:tool}",
        doc: "how many steps match, as a number on either side",
        example: "count open(id: $i) == count close(id: $i)",
    },
    StatementForm {
        words: "of",
        block: false,
        snippet: "sum(${1:args.amount} of ${2:refund})",
        doc: "the list of a value over the steps that match, or over the elements of a list; inside of parentheses",
        example: "sum(args.amount of refund(order: $o)) <= first(result.total of get_order(id: $o))",
    },
    StatementForm {
        words: "so far",
        block: false,
        snippet: "last(${1:text} of ${2:user} so far)",
        doc: "only what was known when the step in scope was asked for",
        example: "each wire: last(text of user so far) matches /yes/i",
    },
    StatementForm {
        words: "within",
        block: false,
        snippet: "count ${1:tool} <= ${2:5} within ${3:10s}",
        doc: "behind a comparison of a count or of what is made of a list: it holds from every match on, so far as the bound reaches",
        example: "count refund(customer: $c) <= 5 within 10s",
    },
    StatementForm {
        words: "in a row",
        block: false,
        snippet: "count ${1:any failed} <= ${2:2} in a row",
        doc: "behind a comparison of a count or of what is made of a list: it holds for every row of neighbouring matches",
        example: "count any failed <= 2 in a row",
    },
    StatementForm {
        words: "of runs",
        block: false,
        snippet: "avg(${1:turns} of runs) <= ${2:20}",
        doc: "a value of every run that is checked; `avg`, `median`, `percentile`, `min`, `max`, `sum` or `length` stands around it",
        example: "percentile(duration of runs by meta.model, 95%) <= 30s",
    },
    StatementForm {
        words: "where",
        block: false,
        snippet: "length(${1:output.items} where ${2:price > 100})",
        doc: "the elements of a list that meet a condition; their fields come first, `it` is the element; inside of parentheses",
        example: "length(output.items where price > 100) <= 3",
    },
];

/// Returns the table row of a word that begins statements.
#[must_use]
pub fn find_head(word: &str) -> Option<&'static StatementHead> {
    HEADS.iter().find(|head| head.word == word)
}

/// Returns true if a body may follow these words: `between`, `any of`.
#[must_use]
pub fn has_block(first: &str, second: &str) -> bool {
    FORMS.iter().filter(|form| form.block).any(|form| match form.words.split_once(' ') {
        Some(both) => both == (first, second),
        None => form.words == first,
    })
}

/// Returns true for the first word of a statement that may have a body.
#[must_use]
pub fn begins_block(word: &str) -> bool {
    FORMS.iter().any(|form| form.block && form.words.split(' ').next() == Some(word))
}

/// Returns true for a word inside of a statement, before or after its steps: `each`, `until`.
#[must_use]
pub fn is_inner_word(word: &str) -> bool {
    let behind = || HEADS.iter().flat_map(|head| head.behind).any(|words| words.split(' ').any(|one| one == word));
    let second = |form: &StatementForm| {
        let (first, rest) = form.words.split_once(' ')?;
        find_head(first).filter(|head| head.follows == HeadOperand::Step)?;
        Some(rest == word)
    };
    FORMS.iter().any(|form| second(form) == Some(true)) || behind()
}
