//! The fast way through a trace against the plain one: the projection of the bytes of a line against that of the run that was read in full, and
//! what the prefilter says of an assertion against what the evaluation of the run says.

use averment_base::limits::Limits;
use averment_base::truth::Verdict;
use averment_base::value::Value;
use averment_bulk::prefilter::{EvaluationRules, Prefilter, PrefilterAnswer, PrefilterScratch, ProjectionSource};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::prepare::PreparedProgram;
use averment_runs::run::RunSource;
use averment_traces::names::PartNames;
use averment_traces::projection::{LineReader, RawValue, ReadSet, RunProjection, ScannedChunk};
use averment_traces::read::{self, RawRun};
use averment_traces::scan::{ByteIndex, ScanCursor};
use bumpalo::Bump;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

mod conversations;
mod responses;
mod sessions;
mod spans;

/// Rules of every form that the prefilter knows, and of some that it does not.
const RULES: &str = r#"
def risky(s) = s matches /\bAKIA[0-9A-Z]{4}\b/ or s contains "xoxb-" or s matches /(?:password|secret)\s*[:=]\s*\w{3,}/i
def long(s) = s matches /[a-z]+ refund [0-9]+/
let fast = duration <= 30s
never admin_*, drop_table
only search*, refund, "get order", authenticate, delete_record
count refund <= 2
count search_docs in [0, 1, 3]
require authenticate
require refund 1..2 times
first authenticate
last refund
before authenticate -> delete_record
before authenticate -> delete_record, refund
before each authenticate -> refund
after refund -> authenticate
after authenticate -> refund, delete_record
never refund after delete_record
never refund before authenticate
sequence authenticate -> refund -> delete_record
sequence refund -> refund
if refund then authenticate
refund iff delete_record
either refund or delete_record
not both refund, delete_record
each refund: args.amount is number and args.amount <= 30
each refund: args.amount > 5 or not args.note exists
some refund: args.amount == 15
no delete_record: args.force != true
each refund: result.code == 0
each search*: tool != "search_web" and args.q contains "a"
before authenticate(user: $u) -> refund(user: $u)
never refund(amount > 100)
no risky in calls[*].result
no risky in calls[*].args
no long in calls[*].result
output.url matches /^https:\/\/[a-z.]+$/
output contains "done"
output.text icontains "Summary" and output.n in [1, 2.0, "x"]
output.text starts with "a" or output.text ends with "z"
output.list is empty
output.tags[*].p is empty
output.deep.er == null
not output.text contains "no" implies fast
duration < 1e3
duration === 12
error is missing
error is missing or duration > 100
output.n > 2 and output.n <= 15
output.n is not number or output.n < 12.5
output.text exists and output.text not contains "refund"
output.text contains "done" or output.text matches /^a/ or output.text contains "x"
output.text contains none ["done", "no"]
output.text == output.url
inputs exists when output.n > 5
length(output.list) <= 2
any x in output.list: x contains "done"
output.deep[*].er exists
(if output.n > 3 then output.text else output.url) contains "a"
lower(output.text) contains "zürich" and length(output.text) < 12
output.n + 1 > duration / 100
each refund: length(args.list) <= 1 and args.amount * 2 < 40
output.tag is string when duration < 2000 when output.text exists
count refund < length(output.text)
some refund: result exists
no delete_record: args is missing
inputs contains "hello"
meta.tag == "x" when meta.kind == "y"
fast
"#;

/// Statements that names decide, or that they decide where the calls of some names do not occur.
const BY_NAME: &str = r#"
before each authenticate -> refund within 2 calls
before authenticate -> refund within 1 call
before authenticate -> delete_record, refund(amount > 100)
after each refund -> authenticate
after refund -> authenticate within 3 calls
after authenticate -> refund, search_web(q: $q)
after refund(amount > 100) -> authenticate
never refund after delete_record until authenticate
never refund, search_docs after authenticate within 2 calls
never refund, delete_record(force == true) after authenticate
never refund before authenticate within 1 call
never refund, search* before delete_record when duration > 0s
never refund between authenticate and delete_record
never refund, search* between authenticate and authenticate
immediately before authenticate -> refund
immediately after refund -> authenticate
apart refund, search_web
together authenticate, refund
never repeat refund more than 1 times
sequence authenticate -> refund within 2 calls
sequence only authenticate -> refund
either refund(amount > 10) or delete_record
never admin_*, refund(amount > 1000)
if refund then authenticate(user: "u")
if refund(amount > 10) then authenticate
refund(amount > 10) iff authenticate
not both refund(amount > 10), authenticate
only refund(amount > 10), authenticate
first refund(amount > 10)
count refund(amount > 3) <= 1
require refund(amount > 3) 1..2 times
each refund(amount > 3): args.amount < 20
some refund(amount > 3): args.note exists
"#;

/// Parts of which the texts of many rules are made, and the texts of the runs that they are tried on.
const PARTS: [&str; 12] =
    ["refund", "AKIA", "done", "key-", "KEY-", "summary of", " ", "x", "zürich", "1234", "order_", "https://"];

/// So many rules that what they have in common is looked for at once: texts and expressions, long and short, in results, arguments and the
/// output, numbers of calls, and comparisons of one value.
fn many() -> String {
    let mut rules = String::new();
    let part = |number: usize| PARTS[number % PARTS.len()];
    for number in 0..150 {
        let (a, b, c) = (part(number), part(number / 3 + number), part(number / 7 + 5));
        let rule = match number % 10 {
            0 => format!("def t{number}(s) = s contains \"{a}{b}{c}\"\nno t{number} in calls[*].result"),
            1 => {
                format!("def t{number}(s) = s contains \"{a}\" or s contains \"{b}{a}\"\nno t{number} in calls[*].args")
            }
            2 => format!(
                "def t{number}(s) = s matches /(?i){}[a-c0-9]+{}/\nno t{number} in calls[*].result",
                esc(a),
                esc(b)
            ),
            3 => format!("def t{number}(s) = s matches /\\b{}[0-9]{{2,}}/\nno t{number} in calls[*].result", esc(b)),
            4 => format!("output.text not matches /[a-z]+{}[0-9]+{}/", esc(a), esc(c)),
            5 => format!("output.text contains \"{b}{c}\""),
            6 => format!("count {} <= {}", ["refund", "search*", "admin_*"][number % 3], number % 5),
            7 => format!("duration {} {}", ["<", "<=", ">", ">="][number % 4], number * 40),
            8 => format!("not output.n {} {}", ["<", ">="][number % 2], number % 31),
            _ => format!(
                "before {} -> {}",
                ["authenticate", "refund"][number % 2],
                ["delete_record", "search_*"][number / 10 % 2]
            ),
        };
        rules.push_str(&rule);
        rules.push('\n');
    }
    rules.push_str("output.n == 12\noutput.text starts with \"a\"\n");
    rules
}

/// A text as part of a regular expression between slashes.
fn esc(text: &str) -> String {
    text.replace('/', "\\/")
}

type Rules = (Program, PreparedProgram);

fn compiled(text: &str) -> Rules {
    let rules = averment_fixtures::Rules::from_text("rules.assert", text).expect("good rules");
    let program = rules.program().clone();
    let prepared = PreparedProgram::new(&program);
    (program, prepared)
}

fn program() -> &'static Rules {
    static PROGRAM: std::sync::OnceLock<Rules> = std::sync::OnceLock::new();
    PROGRAM.get_or_init(|| compiled(RULES))
}

/// The same but for what asks for `meta`: in some formats the full reader makes that of several keys.
fn program_of_runs() -> &'static Rules {
    static PROGRAM: std::sync::OnceLock<Rules> = std::sync::OnceLock::new();
    PROGRAM.get_or_init(|| compiled(&RULES.replace("meta.tag == \"x\" when meta.kind == \"y\"\n", "")))
}

/// Rules that the names of the calls and fields of some of them decide.
const OF_PARTS: &str = r#"
sum(args.amount of refund) <= 500
max(args.amount of refund(user == "u")) <= output.n * 20
count refund + count authenticate <= length(output.list) + 2
count (refund where args.amount > 20 and result.code == 0) <= 1
length(result.rows of search*) >= count refund and output.n > 1
last(result.code of refund | delete_record) == 0
(args.user of authenticate) == ["u"]
never refund(amount > 100), delete_record(force == true)
require refund(amount <= 30, user: "u") 1.. times
only refund(amount exists), authenticate, search*
after authenticate(user: $u) -> refund(user: $u) within 2 calls
never refund(user: $u) between authenticate(user: $u) and delete_record
if delete_record(id: $i) then refund(id == $i)
starts before authenticate(user: $u) -> refund(user: $u)
sequence authenticate -> refund(amount > 5) -> delete_record
first authenticate(user exists)
each refund(user: $u): args.amount > 1 and args.user == $u
before authenticate(user: $u) -> refund(user: $u)
before each authenticate(user: $u) -> refund(user: $u) within 3 calls
before authenticate(user exists) -> delete_record, refund(amount > 10)
never refund failed
never refund after authenticate(user: $u) failed
before authenticate ok -> refund(amount > 5)
count (search* ok) <= 1
each refund ok: args.amount > 1
"#;

fn of_parts() -> &'static Rules {
    static PROGRAM: std::sync::OnceLock<Rules> = std::sync::OnceLock::new();
    PROGRAM.get_or_init(|| compiled(OF_PARTS))
}

fn by_name() -> &'static Rules {
    static PROGRAM: std::sync::OnceLock<Rules> = std::sync::OnceLock::new();
    PROGRAM.get_or_init(|| compiled(BY_NAME))
}

fn many_rules() -> &'static Rules {
    static PROGRAM: std::sync::OnceLock<Rules> = std::sync::OnceLock::new();
    PROGRAM.get_or_init(|| compiled(&many()))
}

thread_local! {
    /// The prefilter of each program with what it reads of runs, by the program's address: making it takes longer than judging a line.
    static PREFILTERS: RefCell<HashMap<usize, Rc<(Prefilter, ReadSet)>>> = RefCell::default();
    /// The memory of the prefilter of each program, by its address.
    static SCRATCHES: RefCell<HashMap<usize, PrefilterScratch>> = RefCell::default();
}

/// The prefilter of a program, which is made once on each thread.
fn prefilter_of(rules: EvaluationRules<'_>) -> Rc<(Prefilter, ReadSet)> {
    let made = || {
        let mut read_set = ReadSet::default();
        let prefilter = Prefilter::new(rules, &mut read_set);
        Rc::new((prefilter, read_set))
    };
    let address = std::ptr::from_ref(rules.program).addr();
    PREFILTERS.with_borrow_mut(|kept| Rc::clone(kept.entry(address).or_insert_with(made)))
}

struct Both {
    /// What the prefilter says from the bytes; `None` where the line is for the full reader.
    fast: Option<Vec<PrefilterAnswer>>,
    /// What the prefilter says from the run.
    plain: Vec<PrefilterAnswer>,
    /// What the evaluation says.
    verdicts: Vec<averment_base::truth::Verdict>,
}

/// Judges a line both ways; `None` where it cannot be read in full.
fn judge(line: &str, rules: &'static Rules) -> Option<Both> {
    let raw = RawRun::new(line.to_owned(), RunSource::default());
    judge_by((&raw, true), rules, |reader, chunk, _, projection| reader.read_line(chunk, 0, line.len(), projection))
}

/// Judges a run both ways: `read` takes the projection from its bytes. They are compared where the run is valid as a whole.
fn judge_by(
    (raw, valid): (&RawRun, bool),
    (program, prepared): &'static Rules,
    read: impl for<'a> Fn(&mut LineReader, ScannedChunk<'a>, &ByteIndex, &mut RunProjection<'a>) -> Option<()>,
) -> Option<Both> {
    let text = raw.run_text();
    let limits = Limits::default();
    let options = EvaluateOptions::default();
    let rules = EvaluationRules { program, prepared, options: &options, profile: None };
    let made = prefilter_of(rules);
    let (prefilter, read_set) = &*made;
    let (arena, full) = (Bump::new(), Bump::new());
    let mut index = ByteIndex::default();
    index.build_index(text.as_bytes()).unwrap();
    let cursor = ScanCursor::new(text.as_bytes(), &index, limits.json_depth);
    let chunk = ScannedChunk { text, cursor, arena: &arena, limits: &limits };
    let mut reader = LineReader::new(read_set, PartNames::known_names())
        .expect("no entry of these rules is put together from others");
    // What is remembered of other runs has to hold for this one.
    let remembered = std::ptr::from_ref(program).addr();
    let mut scratch = SCRATCHES.with_borrow_mut(|kept| kept.remove(&remembered)).unwrap_or_default();
    let mut projection = RunProjection::default();
    // Twice, so that the keys are expected once.
    let read = (0..2).map(|_| read(&mut reader, chunk, &index, &mut projection)).last().flatten();
    let read = read.filter(|()| index.is_clean());
    let fast = read.map(|()| {
        let mut answers = Vec::new();
        prefilter.judge_run(rules, &projection, ProjectionSource::Line(chunk), &mut scratch, &mut answers);
        answers
    });
    let run = read::parse_run(raw, &full, &limits).ok()?;
    let mut of_run = RunProjection::default();
    of_run.project_run(&run, read_set);
    if read.is_some() && valid {
        compare(&projection, &of_run, chunk, text);
    }
    let mut plain = Vec::new();
    prefilter.judge_run(rules, &of_run, ProjectionSource::Run(&run, &full), &mut scratch, &mut plain);
    SCRATCHES.with_borrow_mut(|kept| kept.insert(remembered, scratch));
    let outcome = evaluate(program, prepared, &run, &full, &options);
    Some(Both { fast, plain, verdicts: outcome.results.iter().map(|one| one.verdict).collect() })
}

/// The projections themselves: the same calls, entries and texts, as far as the values are valid.
fn compare<'a>(fast: &RunProjection<'a>, plain: &RunProjection<'a>, chunk: ScannedChunk<'a>, line: &str) {
    let shown = |value: Value<'_>| match value {
        Value::Absent | Value::Missing => format!("{value:?}"),
        value => averment_base::value::json::to_json(&value),
    };
    let same = |fast: RawValue<'a>, plain: RawValue<'a>| match (chunk.read_value(fast), plain) {
        (Some(fast), RawValue::Value(plain)) => assert_eq!(shown(fast), shown(plain), "{line}"),
        (None, _) => {}
        (Some(_), _) => panic!("facts of a run hold values"),
    };
    assert_eq!((fast.records_calls, fast.unusual), (plain.records_calls, plain.unusual), "{line}");
    assert_eq!((fast.roots.len(), fast.calls.len()), (plain.roots.len(), plain.calls.len()), "{line}");
    fast.roots.iter().zip(&plain.roots).for_each(|(fast, plain)| same(*fast, *plain));
    for (fast, plain) in fast.calls.iter().zip(&plain.calls) {
        assert_eq!(fast.name, plain.name, "{line}");
        assert!(fast.times.is_none() || fast.times == plain.times, "{:?} {:?}: {line}", fast.times, plain.times);
        fast.fields.iter().zip(&plain.fields).for_each(|(fast, plain)| same(*fast, *plain));
    }
    for (fast, plain) in fast.texts.iter().zip(&plain.texts) {
        let long = fast.long.iter().map(|(start, end)| &chunk.text[*start..*end]);
        let known: std::collections::BTreeSet<&str> = fast.iter().chain(long).collect();
        assert!(plain.iter().all(|text| known.contains(text)), "{line}");
        assert!(!fast.any || plain.any, "{line}");
    }
}

fn check(line: &str) -> Option<Both> {
    // Many rules take longer, and need not see every line.
    if line.len().is_multiple_of(8) {
        agreed(judge(line, many_rules())?, many_rules(), line)?;
    }
    agreed(judge(line, program())?, program(), line)
}

fn agreed(both: Both, (program, _): &'static Rules, line: &str) -> Option<Both> {
    for (way, answers) in [("from the bytes", both.fast.as_ref()), ("from the run", Some(&both.plain))] {
        for (number, answer) in answers.into_iter().flatten().enumerate() {
            let said = answer.as_verdict().unwrap_or(both.verdicts[number]);
            assert_eq!(said, both.verdicts[number], "`{}` {way}\n{line}", program.assertions[number].text);
        }
    }
    Some(both)
}

const TOOLS: [&str; 9] = [
    "refund",
    "authenticate",
    "delete_record",
    "search_docs",
    "search_web",
    "admin_reset",
    "drop_table",
    "get order",
    "x\\u0041",
];

fn text() -> impl Strategy<Value = String> {
    let put_together = prop::collection::vec(prop::sample::select(PARTS.to_vec()), 1..7)
        .prop_map(|parts| format!("\"{}\"", parts.concat()));
    prop_oneof![2 => known_text(), 1 => put_together]
}

fn known_text() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        r#""""#,
        r#""a refund 12""#,
        r#""done""#,
        r#""x\n\"AKIA1234\" y""#,
        r#""\u0041KIA1234""#,
        r#""AKIA12345""#,
        r#""PASSWORD: abcd""#,
        r#""passwords: abc""#,
        r#""secret = ab""#,
        r#""xoxb-1""#,
        r#""Zürich 😀""#,
        r#""https://a.b""#,
        r#""aSummaryz""#,
        r#""no""#,
        r#""Error: no""#,
        r#""x""#,
    ])
    .prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => text(),
        1 => prop::sample::select(vec!["null", "true", "false", "0", "1", "2", "12", "15", "12.0", "30", "30.5", "-1", "1e2", "999", "31000", "1e999",
            "9007199254740993"]).prop_map(str::to_owned),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "url", "text", "n", "list", "deep", "er", "code", "amount", "user", "note", "q", "force", "tag", "kind",
    ]);
    scalar().prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec((key.clone(), inner.clone()), 0..4).prop_map(|entries| {
                let entries: Vec<String> = entries.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", entries.join(","))
            }),
            prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
        ]
    })
}

fn call() -> impl Strategy<Value = String> {
    let names = ["name", "tool", "tool_name"];
    let fields = [
        "args",
        "arguments",
        "input",
        "result",
        "output",
        "error",
        "start_ms",
        "start",
        "duration_ms",
        "end",
        "status",
        "ok",
        "turn",
        "id",
        "is_error",
        "exit_code",
        "parent_id",
        "x",
    ];
    let field = (prop::sample::select(fields.to_vec()), value());
    (
        prop::sample::select(names.to_vec()),
        prop::sample::select(TOOLS.to_vec()),
        prop::collection::vec(field, 0..6),
        any::<bool>(),
    )
        .prop_map(|(key, tool, fields, spaced)| {
            let mut entries = vec![format!("\"{key}\":\"{tool}\"")];
            entries.extend(fields.iter().map(|(key, value)| {
                // Fields with a type get one that fits most of the time.
                let value = match *key {
                    "start_ms" | "start" | "duration_ms" | "end" if value.len() % 5 != 0 => value.len().to_string(),
                    "status" if value.len() % 5 != 0 => {
                        ["\"ok\"", "\"failed\"", "\"denied\"", "\"odd\""][value.len() % 4].to_owned()
                    }
                    "ok" if value.len() % 5 != 0 => (value.len() % 2 == 0).to_string(),
                    "turn" if value.len() % 5 != 0 => (value.len() / 8).to_string(),
                    "args" | "arguments" if value.len() % 3 == 0 => {
                        format!("{{\"amount\":{},\"user\":\"u{}\"}}", value.len(), value.len() % 2)
                    }
                    _ => value.clone(),
                };
                format!("\"{key}\":{value}")
            }));
            format!("{{{}}}", entries.join(if spaced { " , " } else { "," }))
        })
}

fn run() -> impl Strategy<Value = String> {
    let roots = [
        "output",
        "answer",
        "duration_ms",
        "duration",
        "id",
        "input",
        "inputs",
        "meta",
        "custom",
        "error",
        "usage",
        "cost",
        "messages",
        "status",
        "complete",
        "turns",
        "prompt",
        "x",
    ];
    let entry = (prop::sample::select(roots.to_vec()), value());
    let calls = prop::sample::select(vec!["tool_calls", "calls", "tool_invocations", "function_calls"]);
    (calls, prop::collection::vec(call(), 0..7), prop::collection::vec(entry, 0..6), 0..4_usize).prop_map(
        |(key, calls, entries, place)| {
            let mut parts: Vec<String> = entries
                .iter()
                .map(|(key, value)| match *key {
                    "duration_ms" | "duration" if value.len() % 5 != 0 => format!("\"{key}\": {}", value.len() * 700),
                    "id" if value.len() % 3 != 0 => "\"id\":\"run-1\"".to_owned(),
                    "complete" if value.len() % 3 != 0 => "\"complete\":true".to_owned(),
                    "messages" if value.len() % 3 != 0 => {
                        r#""messages":[{"role":"user","content":"refund"}]"#.to_owned()
                    }
                    _ => format!("\"{key}\":{value}"),
                })
                .collect();
            parts.insert(place.min(parts.len()), format!("\"{key}\":[{}]", calls.join(",")));
            format!("{{{}}}", parts.join(","))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn what_the_prefilter_says_the_evaluation_says(line in run()) {
        check(&line);
    }

    #[test]
    fn what_names_say_of_a_statement_the_evaluation_says(line in run()) {
        judge(&line, by_name()).and_then(|both| agreed(both, by_name(), &line));
    }

    #[test]
    fn what_parts_of_calls_say_the_evaluation_says(line in run()) {
        judge(&line, of_parts()).and_then(|both| agreed(both, of_parts(), &line));
    }

    #[test]
    fn broken_lines_are_never_judged_otherwise(line in run(), at in any::<prop::sample::Index>(), with in prop::sample::select(vec![
        "", "\"", "\\", "{", "}", "[", "]", ",", ":", " ", "0", "null", "\u{1}", "\\u00e9", "é",
    ])) {
        let mut place = at.index(line.len());
        while !line.is_char_boundary(place) { place -= 1; }
        let next = line[place..].chars().next().map_or(place, |character| place + character.len_utf8());
        let changed = format!("{}{with}{}", &line[..place], &line[next..]);
        check(&changed);
    }
}

/// All orders of a few tools: what comes between two calls of one of them decides.
#[test]
fn what_names_say_of_every_short_run_the_evaluation_says() {
    let tools = ["refund", "authenticate", "delete_record"];
    for number in 0..3_usize.pow(5) {
        let call = |place: u32| format!(r#"{{"tool":"{}","args":{{}}}}"#, tools[number / 3_usize.pow(place) % 3]);
        let calls: Vec<String> = (0..5).map(call).collect();
        let line = format!(r#"{{"calls":[{}]}}"#, calls.join(","));
        judge(&line, by_name()).and_then(|both| agreed(both, by_name(), &line));
    }
}

#[test]
fn plain_runs_are_read_from_their_bytes_and_decided() {
    let line = r#"{"id":"run-1","input":"hello","output":{"text":"a done","url":"https://a.b"},"tool_calls":[{"name":"authenticate","args":{"user":"u"},"result":"ok","error":null,"start_ms":1,"duration_ms":2},{"name":"refund","args":{"amount":15},"result":{"rows":[{"note":"AKIA1234"}]},"error":null,"start_ms":4,"duration_ms":2}],"duration_ms":12}"#;
    let both = check(line).expect("a run");
    let fast = both.fast.expect("read from its bytes");
    let open: Vec<&str> = fast
        .iter()
        .zip(&program().0.assertions)
        .filter(|(answer, _)| **answer == PrefilterAnswer::Open)
        .map(|(_, assertion)| assertion.text.as_str())
        .collect();
    assert!(open.is_empty(), "{open:?}");
    let said = |line: &str| {
        let number = program().0.assertions.iter().position(|one| one.text == "no risky in calls[*].result");
        check(line).and_then(|both| both.fast).expect("read from its bytes")[number.expect("the assertion")]
    };
    assert_eq!(said(line), PrefilterAnswer::Fail);
    // What a later key replaces is not there, and only the full reader knows what is.
    let replaced = line.replace(r#""note":"AKIA1234""#, r#""note":"AKIA1234","note":"fine""#);
    assert_eq!(said(&replaced), PrefilterAnswer::Open);
}

#[test]
fn what_one_call_did_not_record_is_not_taken_for_clean() {
    let call = |id: &str| format!(r#"{{"guard":"call","id":"{id}","tool":"f","args":{{}},"time":1}}"#);
    let result = |id: &str, held: &str| format!(r#"{{"guard":"result","id":"{id}","tool":"f",{held}"time":2}}"#);
    let run = |second: &str| {
        let events = [call("a"), result("a", r#""result":"fine","#), call("b"), result("b", second)];
        format!(
            r#"[{{"guard":"session","id":"s","agent":"claude","time":1}},{},{{"guard":"stop","time":3}}]"#,
            events.join(",")
        )
    };
    let said = |line: &str| {
        let number = program().0.assertions.iter().position(|one| one.text == "no risky in calls[*].result").unwrap();
        check(line).unwrap().verdicts[number]
    };
    assert_eq!(said(&run(r#""result":"good","#)), Verdict::Pass);
    assert_eq!(said(&run("")), Verdict::Undecided);
}

/// No run is read in full for lists over calls, or for calls that have to meet a condition, but where a step cannot be judged.
#[test]
fn parts_of_calls_decide_lists_over_them_and_conditions_of_them() {
    let call =
        |tool: &str, args: &str| format!(r#"{{"name":"{tool}","args":{args},"result":{{"code":0,"rows":[1]}}}}"#);
    let run = |amount: &str| {
        let refund = format!(r#"{{"user":"u","id":"o-1","amount":{amount},"note":"{}"}}"#, "x".repeat(50));
        let calls = [
            call("authenticate", r#"{"user":"u"}"#),
            call("refund", &refund),
            call("refund", r#"{"user":"u","id":"o-2","amount":7}"#),
            call("search_web", "{}"),
            call("delete_record", r#"{"id":"o-1","force":false}"#),
        ];
        format!(r#"{{"tool_calls":[{}],"output":{{"n":12}}}}"#, calls.join(","))
    };
    let open = |line: &str| {
        let both = agreed(judge(line, of_parts()).expect("a run"), of_parts(), line).expect("a run");
        let answers = both.fast.expect("read from its bytes");
        let open = (0..).zip(&answers).filter(|(_, answer)| **answer == PrefilterAnswer::Open);
        let texts = open.map(|(number, _): (usize, _)| of_parts().0.assertions[number].text.as_str());
        texts.collect::<Vec<&str>>().join("\n")
    };
    assert_eq!(open(&run("15")), "");
    assert_eq!(open(&run("900")), "");
    // Which steps could not be judged is told of each run.
    assert!(open(&run("\"15\"")).contains("never refund(amount > 100)"));
    let nothing = r#"{"tool_calls":[],"output":{"n":12}}"#;
    let both = judge(nothing, of_parts()).expect("a run");
    assert_eq!(both.fast.expect("read from its bytes")[0], PrefilterAnswer::Idle);
}

#[test]
fn no_rule_of_the_speed_corpus_makes_every_run_be_read_in_full() {
    let (program, prepared) = compiled(include_str!("../../../../benches/pack.assert"));
    let mut read_set = ReadSet::default();
    let options = EvaluateOptions::default();
    let prefilter = Prefilter::new(
        EvaluationRules { program: &program, prepared: &prepared, options: &options, profile: None },
        &mut read_set,
    );
    assert!(prefilter.always_read().is_empty());
}

#[test]
fn many_rules_are_decided_from_the_bytes_and_by_what_stands_there() {
    let call = |tool: &str, result: &str| format!(r#"{{"name":"{tool}","args":{{"q":"fine"}},"result":"{result}"}}"#);
    let line = |result: &str, calls: usize, text: &str, duration: usize| {
        let calls: Vec<String> =
            (0..calls).map(|_| call("refund", "fine")).chain([call("search_web", result)]).collect();
        format!(
            r#"{{"tool_calls":[{}],"output":{{"text":"{text}","n":12}},"duration_ms":{duration}}}"#,
            calls.join(",")
        )
    };
    let verdicts = |line: &str| {
        let both = agreed(judge(line, many_rules()).expect("a run"), many_rules(), line).expect("a run");
        let fast = both.fast.expect("read from its bytes");
        let open = fast.iter().filter(|answer| **answer == PrefilterAnswer::Open).count();
        let failed = (0..).zip(&fast).filter(|(_, answer)| **answer == PrefilterAnswer::Fail).map(|(number, _)| number);
        (open, failed.collect::<Vec<usize>>())
    };
    let (open, quiet) = verdicts(&line("nothing", 1, "nothing", 1));
    assert_eq!(open, 0, "a run in which nothing is found needs nobody else");
    let (open, found) = verdicts(&line("the key-1234 of order_1234", 1, "nothing", 1));
    assert!(open == 0 && found != quiet, "what stands in a result is found");
    assert!(verdicts(&line("nothing", 1, "xKEY-9summary of", 1)).1 != quiet);
    assert!(verdicts(&line("nothing", 1, "nothing", 5_000)).1 != quiet);
    assert!(verdicts(&line("nothing", 3, "nothing", 1)).1.len() > quiet.len());
    // More calls than are thought of beforehand.
    assert!(verdicts(&line("nothing", 200, "nothing", 1)).1.len() > quiet.len());
}

#[test]
fn unusual_lines_are_for_the_full_reader() {
    let call = r#"{"name":"refund","args":{"amount":1}}"#;
    for line in [
        format!(r#"{{"tool_calls":[{call}],"tool_calls":[]}}"#),
        format!(r#"{{"tool_calls":[{call}],"output":"a","output":"b"}}"#),
        format!(r#"{{"tool_calls":[{call}],"calls":[]}}"#),
        format!(r#"{{"tool_calls":[{call}],"complete":false}}"#),
        format!(r#"{{"tool_calls":[{call}],"duration":"soon"}}"#),
        format!(r#"{{"tool_calls":[{call}],"role":"user"}}"#),
        r#"{"tool_calls":[{"name":"a","start":5},{"name":"b","start":1}]}"#.to_owned(),
        r#"{"tool_calls":[{"name":"a","args":{},"args":{}}]}"#.to_owned(),
        r#"{"tool_calls":[{"name":"a","status":"what"}]}"#.to_owned(),
        r#"{"tool_calls":[{"name":1}]}"#.to_owned(),
        format!(r#"{{"messages":[{{"role":"user","content":"x"}}],"tool_invocations":[{call}]}}"#),
        format!(r#"[{call}]"#),
        format!(r#"{{"tool_calls":[{call}]}} x"#),
    ] {
        let fast = judge(&line, program()).map(|both| both.fast);
        assert!(fast.is_none_or(|fast| fast.is_none()), "{line}");
    }
}

#[test]
fn runs_of_the_field_are_judged_alike() {
    let Some(folder) = averment_fixtures::shared("traces") else { return };
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut open: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    let mut judged = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            // A list of runs, one each line, or one run.
            let elements = serde_json::from_str::<Vec<serde_json::Value>>(&text).unwrap_or_default();
            let elements = elements.iter().map(serde_json::Value::to_string);
            let lines = text.lines().map(|line| line.trim_end_matches('\r').to_owned());
            for run in elements.chain(lines).chain([text.clone()]).take(200).filter(|run| run.len() < 1 << 20) {
                judged += usize::from(check(&run).is_some());
            }
        }
    }
    assert!(judged > 0);
}

#[test]
fn null_under_a_name_of_another_shape_is_no_entry() {
    check(r#"{"prompt":null,"output":[null,"done"],"calls":[],"answer":{"url":null}}"#);
    check(r#"{"input":null,"final_output":null,"tool_calls":[]}"#);
}

#[test]
fn a_path_that_leads_nowhere_in_a_list_is_empty_wherever_it_is_read() {
    for output in [r#"{"tags":[1,1,1]}"#, r#"{"tags":[{"q":1}],"n":3}"#, r#"{"tags":[]}"#, r#"{"tags":[{"p":1}]}"#] {
        assert!(check(&format!(r#"{{"calls":[],"output":{output}}}"#)).is_some());
    }
}
