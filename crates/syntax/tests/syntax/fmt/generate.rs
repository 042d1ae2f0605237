//! Generates random rule files: every form of the grammar, with white space, line ends and comments wherever the grammar allows them.

/// A random number generator with the same sequence on every platform (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// A generated file and the comments in it, in order.
pub struct Generated {
    pub text: String,
    pub comments: Vec<String>,
}

/// Generates a file. `loudness` is the percentage of gaps that contain a comment.
pub fn file(seed: u64) -> Generated {
    let mut random = Random::new(seed);
    let loudness = [0, 2, 10, 40][random.below(4)];
    let mut writer = Writer {
        random,
        text: String::new(),
        comments: Vec::new(),
        loudness,
        brackets: Vec::new(),
        budget: 0,
        begins: false,
        behind_kind: false,
        has_kind: false,
        has_tool_behind_kind: false,
    };
    writer.budget = [5, 20, 60, 200][writer.random.below(4)];
    if writer.random.chance(5) {
        writer.comment("#!/usr/bin/env aver");
    }
    let items = writer.random.below(8);
    writer.body(items, 3, Place::File);
    Generated { text: writer.text, comments: writer.comments }
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    File,
    Rule,
    Suite,
    Invariant,
    Block,
}

struct Writer {
    random: Random,
    text: String,
    comments: Vec<String>,
    loudness: usize,
    /// For each open bracket, true if line ends are allowed in it as white space.
    brackets: Vec<bool>,
    /// Number of parts that may still be written.
    budget: usize,
    /// True at the start of a statement, which cannot begin with a regular expression.
    begins: bool,
    /// True if the preceding pattern has a kind word, so that a regular expression may take it over.
    behind_kind: bool,
    /// True if the statement has a kind word so far; the next field says the same of a tool after a kind word.
    has_kind: bool,
    has_tool_behind_kind: bool,
}

const NAMES: &[&str] = &["output", "inputs", "alpha", "b", "total_amount", "is_large", "x9"];
const FIELDS: &[&str] =
    &["status", "count", "never", "if", "id", "args", "weight", "very_long_field_name_for_wide_lines"];
const TOOLS: &[&str] =
    &["refund", "approve", "admin_*", "mcp__github__*", "get-weather", "functions.search", "fetch*", "any", "*"];
const LABELS: &[&str] = &["smoke", "slow.net", "find-skills", "r1", "payments"];
const NUMBERS: &[&str] = &["1", "1_000", "1.5", "1e3", "30s", "1h30m", "$0.05", "10KB", "4MiB", "95%", "0"];
const STRINGS: &[&str] = &[
    r#""x""#,
    r#""with \"quotes\" and # sign""#,
    r"'raw \n ${no}'",
    r#""${1 + 2} and ${alpha | upper()}""#,
    r#""""#,
    "'#'",
    r#""a long text that makes its line too long for the page and has to go somewhere else, does it not""#,
];
const BLOCKS: &[&str] = &[
    "\"\"\"\n    hello\n      ${ alpha }\n\n    x\n    \"\"\"",
    "\"\"\"one line\"\"\"",
    "\"\"\"\ntext at the border\n  more\n\"\"\"",
    "\"\"\"first\n      second # no comment\n   third\"\"\"",
    "\"\"\"\n\t\ttabs\n\t\t  ${ [1,\n 2] } end\n   \n\t\t\"\"\"",
];
const REGEXES: &[&str] = &[r"/^a+$/", r"/[/#]x/i", r"/\//", r"/(?:foo|bar) # baz/", r"/a{2,3}/ms"];

impl Writer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn comment(&mut self, text: &str) {
        self.put(text);
        self.comments.push(text.trim_end().to_owned());
        let spaces = self.random.below(2);
        self.put(&" ".repeat(spaces));
        self.put("\n");
    }

    fn some_comment(&mut self) {
        let number = self.comments.len();
        let text = match self.random.below(12) {
            0 => format!("## doc {number}"),
            1 => "# allow: unused-let".to_owned(),
            2 => format!("#no space {number}"),
            3 => "#".to_owned(),
            4 => format!("### {number} ünïcödé ✓ \" ' / ( [ {{"),
            5 => format!("#\t{number}\ttabs"),
            _ => format!("# comment {number}"),
        };
        self.comment(&text);
    }

    fn in_brackets(&self) -> bool {
        self.brackets.last().copied().unwrap_or(false)
    }

    fn spaces(&mut self, least: usize) {
        let count = least + if self.random.chance(20) { self.random.below(3) } else { 0 };
        for _ in 0..count {
            let space = if self.random.chance(95) { " " } else { "\t" };
            self.put(space);
        }
    }

    /// Writes white space, and line ends where the grammar allows them.
    fn lines(&mut self, least: usize) {
        self.spaces(least);
        let mut more = true;
        while more && self.random.chance(8 + self.loudness) {
            if self.random.chance(self.loudness * 2) {
                self.some_comment();
            } else {
                self.put("\n");
            }
            self.spaces(0);
            more = self.random.chance(40);
        }
    }

    /// Writes white space between two words.
    fn gap(&mut self) {
        if self.in_brackets() { self.lines(1) } else { self.spaces(1) }
    }

    /// Writes optional white space.
    fn slack(&mut self) {
        if self.in_brackets() { self.lines(0) } else { self.spaces(0) }
    }

    /// Writes white space where a line end is always allowed.
    fn nl(&mut self) {
        self.lines(0);
    }

    /// Writes white space between two words where a line end is always allowed.
    fn nl_gap(&mut self) {
        self.lines(1);
    }

    fn words(&mut self, text: &str) {
        for (index, word) in text.split(' ').enumerate() {
            if index > 0 {
                self.gap();
            }
            self.put(word);
        }
    }

    fn open(&mut self, bracket: &str, free: bool) {
        self.put(bracket);
        self.brackets.push(free);
        self.slack();
    }

    fn close(&mut self, bracket: &str) {
        self.slack();
        self.brackets.pop();
        self.put(bracket);
    }

    /// Writes comma-separated elements in brackets.
    fn list(
        &mut self,
        open: &str,
        close: &str,
        count: usize,
        trailing: bool,
        mut element: impl FnMut(&mut Self, usize),
    ) {
        self.open(open, true);
        for index in 0..count {
            element(self, index);
            if index + 1 < count || (trailing && self.random.chance(30)) {
                self.slack();
                self.put(",");
                self.slack();
            }
        }
        self.close(close);
    }

    fn name(&mut self) {
        let name = self.random.pick(NAMES);
        self.put(name);
    }

    fn label(&mut self) {
        let label = self.random.pick(LABELS);
        self.put(label);
    }

    fn string(&mut self) {
        let string = self.random.pick(STRINGS);
        self.put(string);
    }

    fn number(&mut self) {
        let number = self.random.pick(NUMBERS);
        self.put(number);
    }

    fn spend(&mut self) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }
}

/// Generates expressions.
impl Writer {
    fn expression(&mut self, depth: usize) {
        let operands = 1 + if depth > 0 { [0, 0, 0, 1, 2, 4][self.random.below(6)] } else { 0 };
        for index in 0..operands {
            if index > 0 {
                match self.random.below(5) {
                    0 => {
                        self.gap();
                        self.put("implies");
                        self.nl_gap();
                    }
                    1 | 2 => {
                        self.nl_gap();
                        self.put("or");
                        self.nl_gap();
                    }
                    _ => {
                        self.nl_gap();
                        self.put("and");
                        self.nl_gap();
                    }
                }
            }
            while self.random.chance(8) {
                self.put("not");
                self.gap();
            }
            self.comparison(depth);
        }
    }

    fn comparison(&mut self, depth: usize) {
        self.value(depth);
        if self.random.chance(30) {
            return;
        }
        self.gap();
        match self.random.below(16) {
            0 => self.words("is empty"),
            1 => self.words("is not missing"),
            2 => self.words("exists"),
            3 => self.words("is string"),
            4 => self.words("is not json Refund"),
            5 => self.operand_test("matches", depth),
            6 => self.operand_test("not in", depth),
            7 => self.operand_test("contains any", depth),
            8 => self.operand_test("does not contain", depth),
            9 => self.operand_test("starts with", depth),
            10 => self.operand_test("icontains", depth),
            11 => self.operand_test("mentions", depth),
            12 => self.operand_test("does not mention", depth),
            _ => {
                let sign = self.random.pick(&["==", "!=", "===", "<", "<=", ">", ">="]);
                self.put(sign);
                self.nl_gap();
                self.value(depth);
            }
        }
    }

    fn operand_test(&mut self, words: &str, depth: usize) {
        self.words(words);
        self.nl_gap();
        self.value(depth);
    }

    fn value(&mut self, depth: usize) {
        if self.random.chance(4) {
            self.begins = false;
            self.number();
            self.put("..");
            self.number();
            return;
        }
        let operands = 1 + if depth > 0 { [0, 0, 0, 1, 3][self.random.below(5)] } else { 0 };
        for index in 0..operands {
            if index > 0 {
                let sign = self.random.pick(&["+", "-", "*", "/", "%"]);
                self.gap();
                self.put(sign);
                self.nl_gap();
            }
            if self.random.chance(4) {
                self.put("-");
            }
            self.operand(depth, index == 0);
        }
        while self.random.chance(5) {
            self.gap();
            self.put("|");
            self.nl_gap();
            self.put("trim");
            self.arguments(depth);
        }
    }

    fn arguments(&mut self, depth: usize) {
        let count = self.random.below(4);
        self.list("(", ")", count, true, |writer, _| writer.expression(depth.saturating_sub(1)));
    }

    fn operand(&mut self, depth: usize, regex_can_stand: bool) {
        let deep = depth > 0 && self.spend();
        let begins = std::mem::take(&mut self.begins);
        match self.random.below(if deep { 15 } else { 8 }) {
            0 | 1 => self.number(),
            2 => self.string(),
            3 => {
                let word = self.random.pick(&["true", "false", "null", "$id", "$x"]);
                self.put(word);
            }
            4 if regex_can_stand && !begins => {
                let regex = self.random.pick(REGEXES);
                self.put(regex);
            }
            5 if self.random.chance(30) => {
                let block = self.random.pick(BLOCKS);
                self.put(block);
            }
            4..=7 => self.path(depth),
            8 => {
                let count = self.random.below(5);
                self.list("[", "]", count, true, |writer, _| writer.expression(depth - 1));
            }
            9 => {
                let count = self.random.below(4);
                self.list("{", "}", count, true, |writer, index| writer.pair(depth - 1, index));
            }
            10 => {
                self.open("(", true);
                self.expression(depth - 1);
                self.close(")");
            }
            11 => {
                self.name();
                self.arguments(depth);
            }
            12 => self.conditional(depth),
            13 => self.quantified(depth),
            _ => self.path(depth),
        }
    }

    fn path(&mut self, depth: usize) {
        self.name();
        for _ in 0..self.random.below(3) {
            match self.random.below(6) {
                0 => self.put("[*]"),
                1 => self.put("[0]"),
                2 => self.put("[\"k y\"]"),
                3 if depth > 0 => {
                    self.open("[", true);
                    self.value(0);
                    self.close("]");
                }
                _ => {
                    self.put(".");
                    let field = self.random.pick(FIELDS);
                    self.put(field);
                }
            }
        }
    }

    fn pair(&mut self, depth: usize, index: usize) {
        if self.random.chance(20) {
            self.put(&format!("\"key {index}\""));
        } else {
            self.put(&format!("key_{index}"));
        }
        self.slack();
        self.put(":");
        self.nl();
        self.expression(depth);
    }

    fn conditional(&mut self, depth: usize) {
        self.open("(", true);
        self.put("if");
        self.gap();
        self.expression(depth - 1);
        self.nl_gap();
        self.put("then");
        self.nl_gap();
        self.expression(depth - 1);
        self.nl_gap();
        self.put("else");
        self.nl_gap();
        self.expression(depth - 1);
        self.close(")");
    }

    fn quantified(&mut self, depth: usize) {
        self.open("(", true);
        let word = self.random.pick(&["any", "all", "count", "no"]);
        self.put(word);
        self.gap();
        self.put("item");
        self.gap();
        self.put("in");
        self.gap();
        self.path(0);
        self.slack();
        self.put(":");
        self.nl();
        self.expression(depth - 1);
        self.close(")");
    }
}

/// Generates steps.
impl Writer {
    fn step(&mut self, depth: usize) {
        let parts = 1 + if self.random.chance(15) { 1 + self.random.below(2) } else { 0 };
        for index in 0..parts {
            if index > 0 {
                self.gap();
                self.put("|");
                self.nl_gap();
                if self.behind_kind && self.random.chance(30) {
                    self.put("/goes on/");
                    continue;
                }
            }
            self.step_part(depth);
        }
    }

    fn step_part(&mut self, depth: usize) {
        if depth > 0 && self.spend() && self.random.chance(12) {
            let is_proposed = self.random.chance(20);
            if is_proposed {
                self.put("proposed");
                self.gap();
            }
            let inside = self.text.len();
            self.open("(", true);
            let has_condition = self.random.chance(60);
            if has_condition {
                self.atom(depth - 1)
            } else {
                self.step(depth - 1)
            }
            if has_condition {
                self.gap();
                self.put("where");
                self.nl_gap();
                self.expression(depth - 1);
            }
            self.behind_kind &= !has_condition && !is_proposed;
            self.close(")");
            // `by` may be written only once, after the parentheses or inside of them.
            if self.random.chance(15) && !self.text[inside..].contains("by main") {
                self.gap();
                self.put("by main");
            }
            return;
        }
        self.atom(depth);
    }

    fn atom(&mut self, depth: usize) {
        if self.random.chance(6) {
            self.put("proposed ");
        }
        let choice = self.random.below(10);
        self.behind_kind = choice < 2;
        self.has_kind |= choice < 2;
        match choice {
            0 => {
                self.put("command");
                self.spaces(1);
                self.put("npm");
                self.entries(depth);
            }
            1 => {
                let kind = self.random.pick(&["command", "user", "read", "write", "http", "skill", "span"]);
                self.put(kind);
                self.gap();
                if self.random.chance(50) { self.put("\"src/**\"") } else { self.put("/x y/i") }
            }
            // After a kind word and a tool, this text would be ambiguous.
            2 if !self.has_tool_behind_kind => self.put("\"ns:tool\""),
            _ => {
                self.has_tool_behind_kind |= self.has_kind;
                let tool = self.random.pick(TOOLS);
                self.put(tool);
                if self.random.chance(45) {
                    self.entries(depth);
                }
            }
        }
        if self.random.chance(8) {
            self.gap();
            let status = self.random.pick(&["ok", "failed"]);
            self.put(status);
        }
    }

    fn entries(&mut self, depth: usize) {
        let count = self.random.below(4);
        self.list("(", ")", count, true, |writer, index| match writer.random.below(4) {
            0 => {
                writer.put("amount");
                writer.gap();
                writer.put(">");
                writer.nl_gap();
                writer.number();
            }
            1 => {
                writer.put("tags");
                writer.gap();
                writer.put("contains");
                writer.nl_gap();
                writer.string();
            }
            _ => {
                writer.put(["id", "if", "note", "amount"][index]);
                writer.slack();
                writer.put(":");
                writer.nl_gap();
                match writer.random.below(5) {
                    0 => writer.put("$id"),
                    1 => writer.put("1..3"),
                    2 => writer.put("[\"a\", \"b\"]"),
                    3 => writer.put("/x/"),
                    _ => writer.value(depth.min(1)),
                }
            }
        });
    }

    fn steps(&mut self, depth: usize) {
        let count = 1 + if self.random.chance(40) { self.random.below(6) } else { 0 };
        for index in 0..count {
            if index > 0 {
                self.slack();
                self.put(",");
                self.nl_gap();
            }
            self.step(depth);
        }
    }

    fn arrow(&mut self) {
        self.nl_gap();
        self.put("->");
        self.nl_gap();
    }

    fn within(&mut self) {
        if self.random.chance(20) {
            self.gap();
            let within = self.random.pick(&["within 3 calls", "within 1 turn", "within 5s"]);
            self.words(within);
        }
    }

    fn flow(&mut self, depth: usize) {
        for index in 0..1 + self.random.below(3) {
            if index > 0 {
                if self.random.chance(70) {
                    self.arrow();
                } else {
                    self.gap();
                    self.put("|");
                    self.nl_gap();
                }
            }
            if depth > 0 && self.random.chance(40) {
                self.open("(", true);
                self.flow(depth - 1);
                self.close(")");
                let repeat = self.random.pick(&["", "*", "+", "?", "{2,3}", "{ 2 , 3 }", "{2}"]);
                self.put(repeat);
            } else {
                let tool = self.random.pick(&["plan", "search", "fetch_*", "answer"]);
                self.put(tool);
            }
        }
    }
}

/// Generates statements and declarations.
impl Writer {
    fn body(&mut self, items: usize, depth: usize, place: Place) {
        self.between(false);
        for index in 0..items {
            if index > 0 {
                self.between(true);
            }
            self.item(depth, place);
        }
        self.between(false);
    }

    /// Writes a separator between two statements: line ends, `;`, comments.
    fn between(&mut self, needed: bool) {
        let mut ended = !needed;
        if needed && self.random.chance(10) {
            self.put(";");
            ended = true;
        }
        self.spaces(0);
        if self.random.chance(self.loudness) {
            self.some_comment();
            ended = true;
        }
        if !ended {
            self.put("\n");
        }
        while self.random.chance(30) {
            self.spaces(0);
            match self.random.below(4) {
                0 if self.random.chance(self.loudness * 3) => self.some_comment(),
                1 if self.random.chance(10) => self.put(";"),
                _ => self.put("\n"),
            }
        }
        self.spaces(0);
    }

    fn block(&mut self, depth: usize, place: Place) {
        self.put("{");
        self.brackets.push(false);
        let one_line = self.random.chance(30);
        if one_line {
            for index in 0..self.random.below(3) {
                if index > 0 {
                    self.put(";");
                }
                self.spaces(0);
                self.item(depth.saturating_sub(1), place);
                self.spaces(0);
            }
        } else {
            let items = self.random.below(4);
            self.body(items, depth.saturating_sub(1), place);
        }
        self.brackets.pop();
        self.put("}");
    }

    fn item(&mut self, depth: usize, place: Place) {
        let deep = depth > 0 && self.spend();
        match self.random.below(10) {
            0 | 1 if deep && place == Place::File => self.declaration(depth),
            2 if deep && place == Place::Suite => self.case(depth),
            3 if deep && place == Place::Invariant => self.call(depth),
            4 if place != Place::File && self.random.chance(50) => self.modifier(depth),
            _ => self.assertion(depth),
        }
    }

    fn assertion(&mut self, depth: usize) {
        (self.behind_kind, self.has_kind, self.has_tool_behind_kind) = (false, false, false);
        self.statement(depth);
        while self.random.chance(25) {
            self.nl_gap();
            self.modifier(depth);
        }
    }

    fn modifier(&mut self, depth: usize) {
        match self.random.below(13) {
            0 => self.words("weight 2"),
            1 => self.words("severity warn"),
            2 => self.words("must"),
            3 => self.words("threshold 0.8"),
            4 => {
                self.words("message ");
                self.string();
            }
            5 => self.words("as metric_name"),
            6 => self.words("class \"id\" \"Label\""),
            7 => {
                self.words("tags ");
                self.label();
                for _ in 0..self.random.below(3) {
                    self.slack();
                    self.put(",");
                    self.nl_gap();
                    self.label();
                }
            }
            8 => {
                self.words("when ");
                self.expression(depth.min(1));
            }
            9 => self.words("id name-1.a"),
            10 => self.words("deny vacuous, unjudged"),
            11 => self.words("allow undecided"),
            _ => self.words("expect fail \"why\""),
        }
    }

    fn statement(&mut self, depth: usize) {
        let depth = depth.min(2);
        let deep = depth > 0 && self.spend();
        match self.random.below(if deep { 30 } else { 20 }) {
            0 => self.keyword_steps("require"),
            1 => {
                self.keyword_step("require", depth);
                self.gap();
                let times = self.random.pick(&["2 times", "1..3 times", "2.. times", "..4 times"]);
                self.words(times);
            }
            2 => {
                self.words("never ");
                self.steps(depth);
                if self.random.chance(40) {
                    self.gap();
                    let word = self.random.pick(&["after", "before"]);
                    self.keyword_step(word, depth);
                    self.within();
                }
            }
            3 => {
                self.words("only ");
                self.steps(depth);
            }
            4 => {
                self.keyword_step("count", depth);
                self.gap();
                self.put("<=");
                self.nl_gap();
                self.number();
            }
            5 => {
                let word = self.random.pick(&["first", "last"]);
                self.keyword_step(word, depth);
            }
            6 | 7 => {
                let words = self.random.pick(&[
                    "before",
                    "after",
                    "before each",
                    "after each",
                    "immediately before",
                    "immediately after",
                ]);
                self.keyword_step(words, depth);
                self.arrow();
                self.steps(depth);
                self.within();
            }
            8 => {
                let words = self.random.pick(&["sequence", "sequence only", "sequence exactly"]);
                self.keyword_step(words, depth);
                for _ in 0..1 + self.random.below(3) {
                    self.arrow();
                    self.step(depth);
                }
                self.within();
            }
            9 if self.random.chance(25) => {
                self.keyword_step("nested", depth);
                self.arrow();
                self.step(depth);
            }
            9 => {
                let words = self.random.pick(&["together", "apart", "not both"]);
                self.keyword_step(words, depth);
                self.slack();
                self.put(",");
                self.nl_gap();
                self.step(depth);
            }
            10 => {
                self.keyword_step("either", depth);
                for _ in 0..1 + self.random.below(2) {
                    self.nl_gap();
                    self.put("or");
                    self.nl_gap();
                    self.step(depth);
                }
            }
            11 => {
                self.keyword_step("if", 0);
                self.nl_gap();
                self.put("then");
                self.nl_gap();
                self.step(0);
            }
            12 => {
                self.words("flow ");
                self.flow(depth);
            }
            13 => {
                let word = self.random.pick(&["each", "some", "no"]);
                self.keyword_step(word, depth);
                self.slack();
                self.put(":");
                self.nl_gap();
                self.expression(depth);
            }
            14 => self.words("no secrets in calls[*].args"),
            15 => {
                let words = self.random.pick(&[
                    "args valid",
                    "args valid strict",
                    "args valid for refund",
                    "calls match inputs.expected in any order",
                    "calls match subset of inputs.expected repeats ignored arguments optional folded",
                    "calls match superset of inputs.expected arguments named ignoring [id, \"a.b\"] score >= 0.8",
                ]);
                self.words(words);
            }
            16 => {
                self.words("never repeat search more than 3 times");
            }
            17 => {
                let words = self.random.pick(&[
                    "file \"a.txt\" exists",
                    "file \"a.txt\" is not empty",
                    "env API_KEY is not set",
                    "tool exec is available",
                    "http \"juejin.cn\" status == 200",
                    "run \"make ${output.path}\" exits 0",
                ]);
                self.words(words);
            }
            18 | 19 | 26..=29 => {
                self.begins = true;
                self.expression(depth);
            }
            20 | 21 => {
                self.keyword_step("after", depth);
                if self.random.chance(40) {
                    self.gap();
                    self.keyword_step("until", depth);
                }
                self.gap();
                self.block(depth, Place::Block);
            }
            22 => {
                self.words("when ");
                self.expression(0);
                self.gap();
                self.block(depth, Place::Block);
            }
            23 => {
                let words = self.random.pick(&["any of ", "all of ", "none of ", "at least 2 of "]);
                self.words(words);
                self.block(depth, Place::Block);
            }
            24 => {
                self.keyword_step("between", depth);
                self.gap();
                self.keyword_step("and", depth);
                self.gap();
                self.block(depth, Place::Block);
            }
            _ => {
                self.keyword_step("each", depth);
                self.gap();
                self.block(depth, Place::Block);
            }
        }
    }

    fn keyword_step(&mut self, words: &str, depth: usize) {
        self.words(words);
        self.gap();
        self.step(depth);
    }

    fn keyword_steps(&mut self, word: &str) {
        self.keyword_step(word, 1);
    }

    fn declaration(&mut self, depth: usize) {
        match self.random.below(14) {
            0 => self.words("use std.secrets"),
            1 => {
                self.words("use \"./other.assert\" ");
                let count = 1 + self.random.below(3);
                self.list("(", ")", count, true, |writer, index| writer.put(["one", "two", "three"][index]));
            }
            2 => {
                self.words("param limit");
                self.slack();
                self.put(":");
                self.nl();
                self.put("any");
                self.assigned(depth);
            }
            3 => {
                self.words("let spare");
                self.assigned(depth);
            }
            4 => {
                self.words("def is_large");
                let count = self.random.below(3);
                self.list("(", ")", count, true, |writer, index| writer.put(["a", "b", "c"][index]));
                self.assigned(depth);
            }
            5 => {
                self.words("def step paid");
                self.list("(", ")", 2, true, |writer, index| writer.put(["limit", "$id"][index]));
                self.slack();
                self.put("=");
                self.nl();
                self.step(depth);
            }
            6 => {
                self.words("schema Refund");
                self.slack();
                self.put("=");
                self.nl();
                let count = self.random.below(4);
                self.list("{", "}", count, true, |writer, index| writer.pair(depth - 1, index));
            }
            7 => {
                self.words("tool get-weather ");
                let count = self.random.below(4);
                self.list("{", "}", count, true, |writer, index| writer.pair(depth - 1, index));
            }
            8 => self.test(depth),
            9 => {
                self.words("suite \"s\" ");
                self.block(depth, Place::Suite);
            }
            10 => {
                self.words("invariant adds ");
                self.block(depth, Place::Invariant);
            }
            11 => {
                self.words("pre ");
                self.block(depth, Place::Block);
            }
            _ => {
                self.words("rule ");
                self.label();
                if self.random.chance(50) {
                    self.gap();
                    self.put("\"A sentence\"");
                }
                for modifier in ["weight 2", "severity warn", "tags a"].iter().take(self.random.below(4)) {
                    self.nl_gap();
                    self.words(modifier);
                }
                self.gap();
                self.block(depth, Place::Rule);
            }
        }
    }

    fn assigned(&mut self, depth: usize) {
        self.slack();
        self.put("=");
        self.nl();
        self.expression(depth);
    }

    fn case(&mut self, depth: usize) {
        if self.random.chance(30) {
            self.words("runner codex ");
            self.put("{ timeout 5m; env { K: \"v\" }\n model \"m\" }");
            return;
        }
        self.words("case find-skills ");
        self.block(depth, Place::Rule);
    }

    fn call(&mut self, depth: usize) {
        self.words("call adder ");
        if self.random.chance(40) {
            self.words("generate ");
            if self.random.chance(20) {
                self.words("from schema");
            } else {
                let arguments = ["a: integer -9..9", "b: string", "c: list ..3 of list of integer 1.."];
                self.list("{", "}", arguments.len(), true, |writer, index| writer.put(arguments[index]));
            }
            self.gap();
            self.words("cases 5 seed 7");
            if self.random.chance(30) {
                self.gap();
                self.words("for \"add.${tool}\"");
            }
        } else {
            let count = self.random.below(3);
            self.list("{", "}", count, true, |writer, index| writer.pair(depth - 1, index));
        }
        if self.random.chance(30) {
            self.gap();
            self.words("as made");
        }
        if self.random.chance(30) {
            self.gap();
            self.words("expect ok");
        }
    }

    fn test(&mut self, depth: usize) {
        self.words("test \"t\" expect fail");
        for index in 0..self.random.below(3) {
            if index > 0 {
                self.slack();
                self.put(",");
                self.nl();
            }
            self.gap();
            self.label();
        }
        self.gap();
        if self.random.chance(20) {
            self.words("from \"run.json\"");
            return;
        }
        self.put("{");
        self.brackets.push(false);
        let separators: &[&str] =
            if self.random.chance(30) { &[",", ";", ", "] } else { &["\n", ",\n", "\n\n", ";\n"] };
        for index in 0..self.random.below(4) {
            if index > 0 {
                let separator = self.random.pick(separators);
                self.put(separator);
                if separator.ends_with('\n') && self.random.chance(self.loudness) {
                    self.some_comment();
                }
            }
            self.spaces(0);
            self.pair(depth - 1, index);
            if separators.len() == 4 && self.random.chance(self.loudness) {
                self.spaces(1);
                self.some_comment();
            }
        }
        self.spaces(0);
        self.brackets.pop();
        self.put("}");
    }
}
