//! Generates suites from a seed: the text of a suite and of the module beside it.
//!
//! They are JavaScript except for the parts between `‹` and `›`, which are only in the TypeScript form.

use crate::choices::Choices;

/// A generated suite.
pub struct GeneratedSuite {
    /// The suite itself.
    pub text: String,
    /// The module beside it, `lib/checks.mjs`.
    pub module: String,
}

const WORDS: [&str; 15] =
    ["git", "rm", "npm test", "git init", "a.md", "src/b.ts", "ls", "", "ready", "x", "read", "one", "Git", " ", "😀"];
const PATTERNS: [&str; 22] = [
    "/git/",
    "/^rm/",
    "/^(git|npm) /",
    "/READY/i",
    "/\\.md$/",
    "/o/g",
    "/^$/",
    "/\\bls\\b/",
    "/[a-c]/",
    "/^\\s/",
    "/e{2}/",
    "/^one$/m",
    "/^.$/",
    "/a.b/",
    "/^.{2}$/",
    "/[^a]$/",
    "/x?.b/",
    "/^\\W+$/",
    "/\\S.+\\D/",
    "/^[\\s\\S]$/",
    "/^(a|.)b/",
    "/^.$/u",
];

fn word(at: &mut Choices) -> String {
    format!("'{}'", at.one_of(&WORDS))
}

fn words(at: &mut Choices) -> String {
    let count = at.below(4);
    format!("[{}]", (0..count).map(|_| word(at)).collect::<Vec<_>>().join(", "))
}

/// The context of an expression: names of texts, and the maximum depth.
#[derive(Clone)]
struct Around {
    texts: Vec<String>,
    deep: usize,
}

impl Around {
    fn deeper(&self) -> Self {
        Self { deep: self.deep.saturating_sub(1), ..self.clone() }
    }

    fn with(&self, text: &str) -> Self {
        let mut inner = self.deeper();
        inner.texts.push(text.to_owned());
        inner
    }
}

/// Returns a name that is not used in the context.
fn fresh(around: &Around) -> String {
    format!("v{}", around.texts.len())
}

/// Generates a predicate on an element.
fn predicate(at: &mut Choices, around: &Around) -> String {
    let name = fresh(around);
    let inner = around.with(&name);
    // Mostly a condition on the element itself.
    let body = match at.below(5) {
        0 => condition(at, &inner),
        _ => text_condition(at, &name, &inner.deeper()),
    };
    match at.below(7) {
        0 => format!("({name}‹: string›) => {body}"),
        1 => format!("function ({name}) {{ return {body}; }}"),
        2 => format!("({name}) => {{ const own = {name}; return own.length > 1 && {body}; }}"),
        3 => format!("({name}) => {{ if ({name}.startsWith('git')) return true; return {body}; }}"),
        _ => format!("({name}) => {body}"),
    }
}

fn list(at: &mut Choices, around: &Around) -> String {
    if around.deep == 0 {
        return at.one_of(&["ctx.getCommands()", "ctx.getFileReads()", "report.files.observedReads"]).to_owned();
    }
    let inner = around.deeper();
    match at.below(22) {
        0 => format!("{}.filter({})", list(at, &inner), predicate(at, &inner)),
        1 => {
            let name = fresh(around);
            format!("{}.map(({name}) => {})", list(at, &inner), text_of(at, &name))
        }
        2 => format!("[...{}]", list(at, &inner)),
        3 => format!("{}.slice()", list(at, &inner)),
        4 => format!("{}.toReversed()", list(at, &inner)),
        5 => words(at),
        6 => format!("report.finalOutput.split({})", at.one_of(&["'\\n'", "' '", "'e'"])),
        7 => "ctx.getToolCalls().map((t) => t.tool)".to_owned(),
        8 => "ctx.detectedSkills().map((s) => s.skill)".to_owned(),
        9 => format!("{}.slice({})", list(at, &inner), at.one_of(&["1", "0, 1", "-1", "1, 3", "0, -1"])),
        10 => format!("{}.concat({})", list(at, &inner), words(at)),
        11 => format!("[{}, ...{}]", word(at), list(at, &inner)),
        12 => format!("[...new Set({})]", list(at, &inner)),
        13 => format!("{}.toSorted()", list(at, &inner)),
        14 => format!("({} ? {} : {})", condition(at, &inner), list(at, &inner), list(at, &inner)),
        15 => "WORDS".to_owned(),
        16 => format!("{}.filter(Boolean)", list(at, &inner)),
        17 => format!("({} ?? [])", list(at, &inner)),
        _ => list(at, &Around { deep: 0, ..inner }),
    }
}

/// Generates a text derived from a text.
fn text_of(at: &mut Choices, text: &str) -> String {
    match at.below(9) {
        0 => format!("{text}.trim()"),
        1 => format!("{text}.toLowerCase()"),
        2 => format!("{text}.toUpperCase()"),
        3 => format!("{text}.replace(/[aeiou]/g, '')"),
        4 => format!("{text}.replaceAll('g', 'k')"),
        5 => format!("{text}.slice(0, 2)"),
        6 => format!("`${{{text}}}!`"),
        7 => format!("{text}.split(' ')[0]"),
        _ => format!("({text} + 's')"),
    }
}

fn text(at: &mut Choices, around: &Around) -> String {
    if around.deep == 0 {
        return match (around.texts.is_empty(), at.below(3)) {
            (false, 0 | 1) => around.texts[at.below(around.texts.len())].clone(),
            _ => at.one_of(&["report.finalOutput", "ctx.finalOutput()", "report.prompt"]).to_owned(),
        };
    }
    let inner = around.deeper();
    match at.below(20) {
        0 => format!("{}[{}]", list(at, &inner), at.below(3)),
        1 => format!("{}.at({})", list(at, &inner), at.one_of(&["-1", "0", "-2"])),
        2 => {
            let plain = text(at, &inner);
            text_of(at, &plain)
        }
        3 => format!("{}.join({})", list(at, &inner), at.one_of(&["' '", "','", "''", ""])),
        4 => format!("{}.find({})", list(at, &inner), predicate(at, &inner)),
        5 => format!("({} ?? {})", text(at, &inner), word(at)),
        6 => format!("({} || {})", text(at, &inner), word(at)),
        7 => format!("({} ? {} : {})", condition(at, &inner), text(at, &inner), text(at, &inner)),
        8 => format!("{}[0]?.trim()", list(at, &inner)),
        9 => format!("shorten({})", text(at, &inner)),
        10 => format!("{}.findLast({})", list(at, &inner), predicate(at, &inner)),
        11 => "ctx.getToolCalls()[0]?.args?.path".to_owned(),
        12 => "report.detectedSkills[0].skill".to_owned(),
        13 => word(at),
        _ => text(at, &Around { deep: 0, ..inner }),
    }
}

fn number(at: &mut Choices, around: &Around) -> String {
    let inner = around.deeper();
    match at.below(13) {
        0 => format!("{}.length", text(at, &inner)),
        1 => "report.durationMs".to_owned(),
        2 => "report.usage.totalTokens".to_owned(),
        3 => "ctx.getToolCalls().length".to_owned(),
        4 => format!("{}.filter({}).length", list(at, &inner), predicate(at, &inner)),
        5 => format!("{}.indexOf({})", list(at, &inner), word(at)),
        6 => format!("{}.findIndex({})", list(at, &inner), predicate(at, &inner)),
        7 => format!("{}.reduce((n, c) => n + c.length, 0)", list(at, &inner)),
        8 => format!("({}.length + 1)", list(at, &inner)),
        9 => "ctx.getToolCalls('read').length".to_owned(),
        _ => format!("{}.length", list(at, &inner)),
    }
}

fn text_condition(at: &mut Choices, text: &str, around: &Around) -> String {
    match at.below(11) {
        0 => format!("{text}.includes({})", word(at)),
        1 => format!("{text}.startsWith({})", word(at)),
        2 => format!("{text}.endsWith({})", word(at)),
        3 => format!("{}.test({text})", at.one_of(&PATTERNS)),
        4 => format!("{text} === {}", word(at)),
        5 => format!("{text} !== {}", word(at)),
        6 => format!("!{text}.includes({})", word(at)),
        7 => format!("{text}.length {} {}", at.one_of(&["<", ">", "===", ">=", "!=="]), at.below(9)),
        8 => format!("{}.includes({text})", words(at)),
        9 if around.deep > 0 => format!("{}.includes({text})", list(at, &around.deeper())),
        _ => format!("{text}?.trim() === {}", word(at)),
    }
}

fn condition(at: &mut Choices, around: &Around) -> String {
    if around.deep == 0 {
        let plain = text(at, around);
        return text_condition(at, &plain, around);
    }
    let inner = around.deeper();
    match at.below(26) {
        0 => format!("{}.includes({})", list(at, &inner), word(at)),
        1 => format!("{}.some({})", list(at, &inner), predicate(at, &inner)),
        2 => format!("{}.every({})", list(at, &inner), predicate(at, &inner)),
        3 => format!("!{}", closed(condition(at, &inner))),
        4 => format!("({} && {})", condition(at, &inner), condition(at, &inner)),
        5 => format!("({} || {})", condition(at, &inner), condition(at, &inner)),
        6 => format!("{} {} {}", number(at, &inner), at.one_of(&["<", "<=", ">", ">=", "===", "!=="]), at.below(6)),
        7 => format!("{} {} {}", text(at, &inner), at.one_of(&["===", "!=="]), text(at, &inner)),
        8 => format!("{}.match({}) {} null", text(at, &inner), at.one_of(&PATTERNS), at.one_of(&["===", "!=="])),
        9 => format!("{}.find({}) {} undefined", list(at, &inner), predicate(at, &inner), at.one_of(&["===", "!=="])),
        10 => format!("Boolean({})", text(at, &inner)),
        11 => format!("{}[0]?.includes({})", list(at, &inner), word(at)),
        12 => format!("{}[1] == null", list(at, &inner)),
        13 => format!("ctx.getToolCalls().some((t) => {})", call_condition(at)),
        14 => format!("ctx.getToolCalls().every((t) => {})", call_condition(at)),
        15 => format!("ctx.detectedSkills().some((s) => s.skill === {})", at.one_of(&["'x'", "'y'"])),
        16 => format!("isGit({})", text(at, &inner)),
        17 => format!("typeof {}[0] === 'string'", list(at, &inner)),
        18 => format!("{} in {{ git: 1, ls: 2 }}", word(at)),
        19 => format!("({} ? {} : {})", condition(at, &inner), condition(at, &inner), condition(at, &inner)),
        20 => format!("!!{}", closed(text(at, &inner))),
        _ => {
            let plain = text(at, &inner);
            text_condition(at, &plain, &inner)
        }
    }
}

fn closed(text: String) -> String {
    format!("({text})")
}

/// Generates a condition on a call `t`.
fn call_condition(at: &mut Choices) -> String {
    match at.below(7) {
        0 => format!("t.tool === {}", at.one_of(&["'read'", "'bash'", "'write'"])),
        1 => format!("t.tool.startsWith({})", at.one_of(&["'re'", "'b'"])),
        2 => format!("t.args?.path === {}", word(at)),
        3 => "t.args.n > 0".to_owned(),
        4 => format!("t.args?.path?.endsWith({})", at.one_of(&["'.md'", "'z'"])),
        5 => format!("{}.test(t.tool)", at.one_of(&PATTERNS)),
        _ => format!("t.tool !== 'read' || t.args.path !== {}", word(at)),
    }
}

fn matcher(at: &mut Choices) -> String {
    if at.one_in(2) { word(at) } else { at.one_of(&PATTERNS).to_owned() }
}

/// Generates a call of `assert`.
fn assertion(at: &mut Choices, around: &Around) -> String {
    match at.below(24) {
        0..=5 => format!("assert.ok({})", condition(at, around)),
        6 => format!("assert({}, 'it holds')", condition(at, around)),
        7 => format!("assert.equal({}, {})", text(at, around), word(at)),
        8 => format!("assert.notEqual({}, {})", text(at, around), word(at)),
        9 => format!("assert.equal({}, {})", number(at, around), at.below(4)),
        10 => format!("assert.match({}, {})", text(at, around), at.one_of(&PATTERNS)),
        11 => format!("assert.doesNotMatch({}, {}, 'not that')", text(at, around), at.one_of(&PATTERNS)),
        12 => format!("assert.deepEqual({}, {})", list(at, around), words(at)),
        13 => format!("assert.notDeepEqual({}, {})", list(at, around), words(at)),
        14 => format!(
            "assert.commands.{}(report, {})",
            at.one_of(&["includes", "notIncludes", "first", "last", "exactlyOne"]),
            matcher(at)
        ),
        15 => format!(
            "assert.fileReads.{}(report, {}, {})",
            at.one_of(&["count", "atLeast", "atMost"]),
            matcher(at),
            at.below(3)
        ),
        16 => format!(
            "assert.toolCalls.has(report, {{ tool: {}, where: (args) => {} }})",
            at.one_of(&["'re'", "/^b/", "'write'"]),
            at.one_of(&["args.path === 'a.md'", "args?.n === 1", "!args.path", "args.command?.includes('l')"])
        ),
        17 => format!("assert.commands.before(report, {}, {})", matcher(at), matcher(at)),
        18 => format!(
            "assert.skills.{}(report, {})",
            at.one_of(&["has", "notHas", "exactlyOne"]),
            at.one_of(&["'x'", "'y'"])
        ),
        19 => format!("assert.output.includes(report, {})", matcher(at)),
        20 => format!("assert.commands.only(report, [{}, {}])", matcher(at), matcher(at)),
        21 => format!("assert.commands.size(report, {})", at.below(4)),
        22 => format!("checkAll(report, {})", words(at)),
        _ => format!("checkOne(report, ctx, {})", word(at)),
    }
}

fn block(at: &mut Choices, around: &Around) -> String {
    let count = 1 + at.below(2);
    format!("{{ {} }}", (0..count).map(|_| statement(at, around)).collect::<Vec<_>>().join(" "))
}

fn statement(at: &mut Choices, around: &Around) -> String {
    if around.deep == 0 {
        return format!("{};", assertion(at, around));
    }
    let inner = around.deeper();
    match at.below(30) {
        0 => format!("if ({}) {}", condition(at, &inner), block(at, &inner)),
        1 => format!("if ({}) {} else {}", condition(at, &inner), block(at, &inner), block(at, &inner)),
        2 => format!("if ({}) return;", condition(at, &inner)),
        3 => format!("if ({}) throw new Error('no');", condition(at, &inner)),
        4 => format!("{} && {};", condition(at, &inner), assertion(at, &inner)),
        5 => format!("{} ? {} : {};", condition(at, &inner), assertion(at, &inner), assertion(at, &inner)),
        6 => format!("{} || {};", condition(at, &inner), assertion(at, &inner)),
        7 | 8 => {
            let name = fresh(around);
            format!("for (const {name} of {}) {}", list(at, &inner), block(at, &inner.with(&name)))
        }
        9 | 10 => {
            let name = fresh(around);
            format!("{}.forEach(({name}) => {});", list(at, &inner), block(at, &inner.with(&name)))
        }
        11 => {
            let name = fresh(around);
            format!("{}.forEach(({name}, i) => {{ if (i > 0) {} }});", words(at), block(at, &inner.with(&name)))
        }
        12 | 13 => {
            // The name is visible to the following statement, so both are in a block of their own.
            let name = fresh(around);
            format!("{{ const {name} = {}; {} }}", text(at, &inner), statement(at, &inner.with(&name)))
        }
        14 => {
            let name = fresh(around);
            format!("{{ const [{name}] = {}; {} }}", list(at, &inner), statement(at, &inner.with(&name)))
        }
        15 => {
            let name = fresh(around);
            let rest = statement(at, &inner.with(&name));
            format!("{{ const {name} = ({}) ? {} : {}; {rest} }}", condition(at, &inner), text(at, &inner), word(at))
        }
        16 => format!("assert.classify('kind', () => {});", block(at, &inner)),
        17 => unfollowed(at, &inner),
        18 => format!("{}?.forEach((w) => assert.commands.includes(report, w));", words(at)),
        19 => format!("console.log({}.length);", list(at, &inner)),
        _ => format!("{};", assertion(at, &inner)),
    }
}

/// Generates code that only a running program decides, at least in part.
fn unfollowed(at: &mut Choices, around: &Around) -> String {
    let own = assertion(at, around);
    match at.below(9) {
        0 => format!("{{ let n = 0; while (n < 2) {{ {own}; n += 1; }} }}"),
        1 => format!("try {{ {own}; }} catch {{ assert.fail('caught'); }}"),
        2 => format!("switch (report.finalOutput) {{ case 'x': {own}; break; default: }}"),
        3 => format!("for (let i = 0; i < 2; i++) {{ {own}; }}"),
        4 => format!("{{ let found = {}; found = found + 'x'; assert.match(found, /g/); }}", text(at, around)),
        5 => format!("{{ const all = {}; all.push('more'); assert.ok(all.length > 2); }}", list(at, around)),
        6 => format!("for (const [i, c] of {}.entries()) {{ assert.ok(c.length > i); }}", list(at, around)),
        7 => format!("for (const key in {{ git: 1, rm: 2 }}) {{ assert.commands.includes(report, key); }} {own};"),
        _ => format!(
            "{{ const seen‹: string[]› = []; {}.forEach((c) => seen.push(c)); assert.ok(!seen.includes('ls')); }}",
            list(at, around)
        ),
    }
}

fn body(at: &mut Choices, texts: &[&str]) -> String {
    let around = Around { texts: texts.iter().map(|text| (*text).to_owned()).collect(), deep: 2 + at.below(2) };
    let count = 1 + at.below(3);
    (0..count).map(|_| statement(at, &around)).collect::<Vec<_>>().join("\n    ")
}

/// Generates a suite of a few cases, written in one of several ways.
pub fn generate_suite(seed: u64) -> GeneratedSuite {
    let at = &mut Choices::new(seed);
    let case = |at: &mut Choices, id: &str| {
        let method = at.one_of(&[
            "assert(report, ctx)",
            "async assert(report, ctx)",
            "assert: (report, ctx) =>",
            "assert: async (report‹: any›, ctx) =>",
        ]);
        format!("{{ id: '{id}', prompt: '{id}', {method} {{\n    {}\n  }} }}", body(at, &[]))
    };
    let factory = format!(
        "const make = (id‹: string›, word = 'git') => ({{\n  id, prompt: id, assert(report, ctx) {{\n    {}\n  }},\n}});\n",
        body(at, &["word"])
    );
    let cases = match at.below(9) {
        0 => format!("[{}, {}]", case(at, "a"), case(at, "b")),
        1 => format!("{{ one: {}, two: {} }}", case(at, "a"), case(at, "b")),
        2 => "['a', 'b', 'c'].map((id) => make(id))".to_owned(),
        3 => format!("[['a', 'git'], ['b', 'rm']].map(([id, word]) => make(id, word)).concat([{}])", case(at, "c")),
        4 => format!("[make('a'), ...['b', 'c'].map((id, i) => make(id, WORDS[i])), {}]", case(at, "d")),
        5 => format!("[...(WORDS.length > 1 ? [make('a')] : []), {}]", case(at, "b")),
        6 => "Object.entries({ a: 'git', b: 'rm' }).map(([id, word]) => make(id, word))".to_owned(),
        7 => format!("[shared('a', ['git']), shared('b', WORDS), {}]", case(at, "c")),
        _ => format!("[{{ ...make('a'), tags: ['t'] }}, {}]", case(at, "b")),
    };
    let (head, tail) = match at.below(3) {
        0 => ("export default ".to_owned(), String::new()),
        1 => ("const suite = ".to_owned(), "export default suite;\n".to_owned()),
        _ => ("const suite‹: Case[]› = ".to_owned(), "export default suite‹ satisfies Case[]›;\n".to_owned()),
    };
    let text = format!(
        "import {{ assert‹, type Case› }} from \"skillgym\";\nimport more, {{ WORDS, isGit, checkAll, shared, shorten as shorten }} from \"./lib/checks.mjs\";\n\nconst checkOne = more.one;\n{factory}\n{head}{cases};\n{tail}"
    );
    let module = format!(
        "import {{ assert }} from \"skillgym\";\n\nexport const WORDS = {};\nexport const isGit = (text) => {};\nexport const shorten = (text) => text.trim().toLowerCase();\nexport function checkAll(report, all‹: string[]› = []) {{\n  for (const one of all) {{ assert.commands.notIncludes(report, one); }}\n}}\nconst one = (report, ctx, word) => {{ {} }};\nexport const shared = (id, all) => ({{ id, prompt: id, assert(report, ctx) {{\n  all.forEach((word) => {{ {} }});\n}} }});\nexport default {{ one }};\n",
        at.one_of(&["['git', 'rm']", "['x']", "[]", "['ls', 'a.md', 'npm test']"]),
        at.one_of(&[
            "text.startsWith('git')",
            "/^git/.test(text)",
            "text === 'git init'",
            "['git', 'ls'].includes(text)"
        ]),
        body(at, &["word"]),
        body(at, &["word"]),
    );
    GeneratedSuite { text, module }
}
