//! The table of all functions: signature, doc line, example and implementation.
//!
//! To add a function, add a row here, and its implementation in the module of its family. The reference page, the checker's types and suggestions,
//! the machine's calls, and the test that runs every example all use this table.

use super::call::{BuiltinBody, BuiltinCall, BuiltinResult, CallEnvironment};
use super::test;
use averment_base::types::Type;
use averment_base::value::{Node, Value};

/// A function of the language.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// Its family, for the reference page.
    pub family: BuiltinFamily,
    /// Its parameters; optional ones are last.
    pub parameters: &'static [BuiltinParameter],
    /// The type of its result.
    pub result: Type,
    /// True if the result has the unit of the first argument, or of its elements. So the result of `max(calls[*].duration)` can be compared with
    /// `5s`.
    pub keeps_unit: bool,
    /// True for a similarity between 0 and 1. Comparing it makes its value the score of the assertion.
    pub score: bool,
    /// True if the function is called even with arguments that are missing or not recorded.
    pub sees_nothing: bool,
    /// The result, in one sentence without a full stop.
    pub doc: &'static str,
    /// An assertion that is true on every run.
    pub example: &'static str,
    /// Its implementation; use [`Builtin::call`] to call it.
    pub body: BuiltinBody,
}

/// A parameter of a function.
#[derive(Debug, Clone, Copy)]
pub struct BuiltinParameter {
    /// Its name, for messages and documentation.
    pub name: &'static str,
    /// The accepted types; an argument of another type gives `missing` at run time.
    pub types: &'static [Type],
    /// True if the parameter may be omitted.
    pub optional: bool,
}

impl BuiltinParameter {
    /// True if an argument of this static type can fit. Types with units are numbers, and `any` can be any type.
    #[must_use]
    pub fn accepts_type(&self, argument: Type) -> bool {
        let numeric = |ty| matches!(ty, Type::Number | Type::Integer | Type::Duration | Type::Money | Type::Size);
        argument == Type::Any
            || self.types.iter().any(|&ty| ty == Type::Any || ty == argument || numeric(ty) && numeric(argument))
    }
}

/// Families of functions, in the order of the reference page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum BuiltinFamily {
    Text,
    Score,
    List,
    Number,
    Json,
    Encoding,
    Time,
    Evidence,
}

impl Builtin {
    /// Returns the minimum and maximum number of arguments.
    #[must_use]
    pub fn arity(&self) -> (usize, usize) {
        let least = self.parameters.iter().filter(|parameter| !parameter.optional).count();
        (least, self.parameters.len())
    }

    /// Returns the signature for documentation: `round(value: number, digits?: integer) -> number`.
    #[must_use]
    pub fn signature(&self) -> String {
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|parameter| {
                let types: Vec<&str> = parameter.types.iter().map(|&ty| type_word(ty)).collect();
                let mark = if parameter.optional { "?" } else { "" };
                format!("{}{mark}: {}", parameter.name, types.join(" | "))
            })
            .collect();
        format!("{}({}) -> {}", self.name, parameters.join(", "), type_word(self.result))
    }
}

impl Builtin {
    /// Calls the function. A missing argument, or one of another type, gives `missing` instead of an error, so that a test of the result is false
    /// with that reason. Otherwise, an argument that the run does not record gives `absent`, so that the test is undecided. Functions with
    /// `sees_nothing` are called in any case.
    ///
    /// # Errors
    /// Returns an error only if a limit is reached.
    pub fn call<'call, 'run>(
        &self,
        arguments: &'call [Node<'run>],
        environment: CallEnvironment<'call, 'run>,
    ) -> BuiltinResult<'run> {
        if let Some(value) = self.settled_result(arguments) {
            return Ok(Node::computed(value));
        }
        (self.body)(&mut BuiltinCall::new(arguments, environment))
    }

    /// Returns the result if the arguments alone decide it, see [`Self::call`].
    fn settled_result<'run>(&self, arguments: &[Node<'run>]) -> Option<Value<'run>> {
        let (least, most) = self.arity();
        if arguments.len() < least || arguments.len() > most {
            return Some(Value::Missing);
        }
        if self.sees_nothing {
            return None;
        }
        let mut absent = false;
        for (argument, parameter) in arguments.iter().zip(self.parameters) {
            let value = &argument.value;
            let fits = |&ty: &_| test::has_type(value, ty) && !matches!(value, Value::Missing);
            match value.is_absent() {
                true => absent = true,
                false if parameter.types.iter().any(fits) => {}
                false => return Some(Value::Missing),
            }
        }
        absent.then_some(Value::Absent)
    }
}

/// Returns the word of the language for a type.
#[must_use]
pub fn type_word(ty: Type) -> &'static str {
    match ty {
        Type::Any => "any",
        Type::String => "string",
        Type::Number => "number",
        Type::Integer => "integer",
        Type::Boolean => "boolean",
        Type::Duration => "duration",
        Type::Money => "money",
        Type::Size => "size",
        Type::List => "list",
        Type::Object => "object",
        Type::Null => "null",
        Type::Range => "range",
        Type::Regex => "regex",
    }
}

/// Returns the function with a name.
#[must_use]
pub fn find_builtin(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// Returns the names of all functions, in table order.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|builtin| builtin.name)
}

/// Defines the table. A row is `name(parameter: type | type, optional?: type) -> type [flags], "doc", "example";`.
macro_rules! builtins {
    ($($family:ident in $module:ident { $($name:ident($($parameter:ident $(? $optional:tt)? : $($ty:ident)|+),*) -> $result:ident
        [$($flag:ident)*], $doc:literal, $example:literal;)* })*) => {
        /// All functions.
        pub static BUILTINS: &[Builtin] = &[$($(
            builtins!(@flags Builtin {
                name: stringify!($name),
                family: BuiltinFamily::$family,
                parameters: &[$(BuiltinParameter {
                    name: stringify!($parameter),
                    types: &[$(Type::$ty),+],
                    optional: builtins!(@optional $($optional)?),
                }),*],
                result: Type::$result,
                keeps_unit: false,
                score: false,
                sees_nothing: false,
                doc: $doc,
                example: $example,
                body: super::$module::$name,
            }; $($flag)*),
        )*)*];
    };
    (@optional) => { false };
    (@optional $mark:tt) => { true };
    (@flags $builtin:expr;) => { $builtin };
    (@flags $builtin:expr; $flag:ident) => { Builtin { $flag: true, ..$builtin } };
}

builtins! {
    Text in text {
        lower(text: String) -> String [], "the text in lower case (full Unicode mapping)", r#"lower("ÄBC") == "äbc""#;
        upper(text: String) -> String [], "the text in upper case (full Unicode mapping)", r#"upper("straße") == "STRASSE""#;
        trim(text: String) -> String [], "the text without white space at both ends", r#"trim("  a b \n") == "a b""#;
        words(text: String) -> List [], "the parts of the text between white space", r#"words(" two  words ") == ["two", "words"]"#;
        lines(text: String) -> List [], "the lines of the text without their ends; an end of line at the very end begins no further line", r#"lines("a\nb\n") == ["a", "b"]"#;
        word_count(text: String) -> Integer [], "how many words the text has", r#"word_count("two  words") == 2"#;
        length(value: String | List | Object) -> Integer [], "how many characters (code points), elements or keys there are", r#"length("héllo") == 5"#;
        replace(text: String, from: String | Regex, to: String) -> String [], "the text with every occurrence of `from` replaced; behind a regular expression `$1` and `$name` stand for its groups", r#"replace("a-b-c", "-", "+") == "a+b+c""#;
        split(text: String, separator: String | Regex) -> List [], "the parts of the text between the separators; an empty separator gives the characters", r#"split("a,b,,c", ",") == ["a", "b", "", "c"]"#;
        join(values: List, separator? 1: String) -> String [], "the texts of the values (as `text` gives them) with the separator between them", r#"join(["a", 1, true], "-") == "a-1-true""#;
        text(value: Any) -> String [], "the value as text: text stays, everything else becomes compact JSON", r#"text([1, "a"]) == '[1,"a"]'"#;
        parse_command(command: String) -> Object [], "the command read plainly: `executable`, `positionals`, `options` (each with the list of its values, `true` for none) and `end_of_options`; one shell around it is removed, operators are words like others", r#"parse_command("bash -c 'git log -n 3'").options["-n"] == ["3"]"#;
        runs_command(parts: List, command: String, line? 1: String) -> Boolean [], "whether one of the programs (`parts` of a command) is the one that the text names, with its flags in any spelling and order, and its arguments in order, or the line holds the text, except in the quotes of what is searched for; not recorded where the line hides what it runs", r#"not runs_command([], "rm -rf")"#;
        number(text: String | Number) -> Number [], "the number that the text spells in JSON's syntax, white space around it ignored; missing where it spells none", r#"number(" 12.50 ") == 12.5"#;
    }
    Text in prose {
        capture(text: String, pattern: Regex) -> Any [], "what the first match of the expression captures: the text of its group, a list of the texts where it has several (`null` for one that took no part), an object where groups have names; the match itself where there is no group. Missing where nothing matches", r#"capture("ANSWER: 42.", /ANSWER: (\d+)/) == "42""#;
        numbers(text: String) -> List [], "the numbers of a text in their order, in any common spelling: `1,286`, `-$12.50`, `20%` (as 0.2), `2.5k`, `½`, full-width digits; those in ids, dates and URLs and the numbering of lines are none", r#"numbers("paid $1,286.50 of 20%, order o-17") == [1286.5, 0.2]"#;
    }
    Score in score {
        levenshtein(left: String, right: String) -> Integer [], "the least number of characters to insert, delete or replace that makes one text of the other", r#"levenshtein("sitting", "kitten") == 3"#;
        similarity(left: String, right: String) -> Number [score], "1 for equal texts, 0 where no character can stay: one minus `levenshtein` divided by the longer length", r#"similarity("sitting", "kitten") > 0.5"#;
        rouge_l(text: String, reference: String) -> Number [score], "the F-measure of the longest common subsequence of words", r#"rouge_l("the cat sat", "the cat") == 0.8"#;
        rouge_n(text: String, reference: String, n? 1: Integer) -> Number [score], "the F-measure of common sequences of `n` words (1 unless given)", r#"rouge_n("the cat sat", "the cat", 1) == 0.8"#;
    }
    Score in sequence_score {
        bleu(text: String, reference: String | List, floor? 1: Number) -> Number [score], "how much of the text's word sequences (1 to 4 words) stands in the reference, or in several of which the nearest counts, with the brevity penalty. Add-one smoothed above one word; with `floor`, a share of 0 counts as that, and sequences longer than the text are left aside", r#"bleu("the cat sat on the mat", "the cat sat on the mat") == 1"#;
        gleu(text: String, reference: String | List) -> Number [score], "the word sequences (1 to 4 words) that both have, as a share of those of whichever has more. Of several references the nearest counts. Full stops at the ends of words are left aside", r#"gleu("the cat sat.", "the cat") == 0.5"#;
    }
    Score in list {
        f1(values: List | String, wanted: List | String) -> Number [score], "how nearly the lists have the same elements in any order, 1 where they do: the harmonic mean of the share of the values that are wanted and of the wanted values that are there, each element counted as often as it stands. A text is the list of its words, in lower case and without what is neither letter nor digit", r#"f1(["a", "b", "c"], ["c", "a", "b"]) == 1 and f1("Paris, France", "in Paris") == 0.5"#;
    }
    Score in like {
        score(value: Number) -> Number [score], "the value as the score of the assertion that compares it; missing where it is not between 0 and 1. `score VALUE >= 0.5` as a statement says the same", r#"score(length("abc") / 4) >= 0.5"#;
    }
    List in list {
        sum(values: List) -> Number [keeps_unit], "the sum; 0 of an empty list", r#"sum([1, 2.5]) == 3.5"#;
        min(values: List) -> Any [keeps_unit], "the least of numbers or texts; missing of an empty list", r#"min([3, 1, 2]) == 1"#;
        max(values: List) -> Any [keeps_unit], "the greatest of numbers or texts; missing of an empty list", r#"max([3, 1, 2]) == 3"#;
        avg(values: List) -> Number [keeps_unit], "the mean; missing of an empty list", r#"avg([1, 2, 3, 4]) == 2.5"#;
        median(values: List) -> Number [keeps_unit], "the middle value, or the mean of the two middle ones; missing of an empty list", r#"median([9, 1, 2, 4]) == 3"#;
        percentile(values: List, share: Number) -> Number [keeps_unit], "the value below which that share of the values lies, interpolated between neighbours; the share is between 0 and 1 (`95%`)", r#"percentile([10, 20, 30, 40, 50], 75%) == 40"#;
        cosine(left: List, right: List) -> Number [], "the cosine of the angle between two lists of numbers of one length, as of embeddings; missing where one of them is all zeros", r#"cosine([1, 0], [1, 0]) == 1"#;
        distinct(values: List) -> List [], "every value once, where it stands first; `1` and `1.0` are one value", r#"distinct([1, "a", 1.0, "a"]) == [1, "a"]"#;
        sort(values: List) -> List [], "the values in ascending order: numbers by value, texts by code points; missing where the values cannot be ordered", r#"sort([3, 1, 2]) == [1, 2, 3]"#;
        reverse(values: List | String) -> List [], "the values in opposite order; of a text its characters", r#"reverse([1, 2, 3]) == [3, 2, 1]"#;
        flatten(values: List) -> List [], "the list with the elements of inner lists in their place, one level deep", r#"flatten([1, [2, 3], []]) == [1, 2, 3]"#;
        first(values: List) -> Any [], "the first element; missing of an empty list", r#"first(["a", "b"]) == "a""#;
        last(values: List) -> Any [], "the last element; missing of an empty list", r#"last(["a", "b"]) == "b""#;
        contains_in_order(values: List, wanted: List) -> Boolean [], "whether the wanted values (or texts that a wanted regular expression finds) stand in the list in their order; others may stand between them", r#"contains_in_order(["run", "-v", "test"], ["run", "test"])"#;
        numbered(values: List) -> List [], "each value with its place from 0 on, as an object of `at` and `value`", r#"numbered(["a", "b"])[1] == { at: 1, value: "b" }"#;
        keys(object: Object) -> List [], "the keys in their order", r#"keys({ b: 1, a: 2 }) == ["b", "a"]"#;
        values(object: Object) -> List [], "the values in their order", r#"values({ b: 1, a: 2 }) == [1, 2]"#;
    }
    Number in number {
        abs(value: Number) -> Number [keeps_unit], "the value without its sign", r#"abs(-2.5) == 2.5"#;
        floor(value: Number) -> Number [keeps_unit], "the greatest whole number that is not above the value", r#"floor(-2.5) == -3"#;
        ceil(value: Number) -> Number [keeps_unit], "the least whole number that is not below the value", r#"ceil(2.1) == 3"#;
        exp(value: Number) -> Number [], "e to the power of the value; missing where that is too large", r#"exp(0) == 1"#;
        round(value: Number, digits? 1: Integer) -> Number [keeps_unit], "the nearest number with so many digits behind the point (0 unless given), halves away from zero", r#"round(2.345, 1) == 2.3 and round(2.5) == 3"#;
    }
    Json in json {
        json(text: Any) -> Any [], "the value that the text spells in JSON; missing where it is not JSON. A value that is no text stays as it is", r#"json('{"a": [1, 2]}').a[1] == 2"#;
        type_of(value: Any) -> String [], "the type of the value as the language calls it: `string`, `number`, `boolean`, `list`, `object` or `null`", r#"type_of([1]) == "list""#;
        coalesce(value: Any, otherwise: Any) -> Any [sees_nothing], "the value, or the other one where it is missing, `null` or not recorded", r#"coalesce(null, 5) == 5"#;
        undecided(why: String) -> Boolean [], "a truth that no run decides, for what a rule cannot say: the assertion is undecided, unless the rest decides it", r#"undecided("is the tone friendly?") or 1 == 1"#;
        all_json(text: String) -> List [], "the objects and lists that the text holds in JSON, from the left; not what stands inside of another one", r#"all_json("{\"a\": 1}, then [2]") == [{ a: 1 }, [2]]"#;
        without(value: Object | List, keys: List) -> Any [], "the value without the entries of these keys, at any depth, for a comparison that leaves out what differs each time", r#"without({ id: 7, lines: [{ ts: 1, sku: "a" }] }, ["id", "ts"]) == { lines: [{ sku: "a" }] }"#;
        first_json(text: String) -> Any [], "the first object that the text holds in JSON, else the first list; missing where it holds none", r#"first_json("the answer is {\"a\": 1}, I think").a == 1"#;
        jsonpath(value: Any, path: String) -> List [], "all values that an RFC 9535 path finds", r#"jsonpath({ a: [{ p: 5 }, { p: 15 }] }, "$.a[?@.p > 10].p") == [15]"#;
    }
    Json in like {
        is_like(value: Any, part: Any, ignored? 1: List, options? 1: String) -> Boolean [], "what `VALUE like PART ignoring [KEYS]` asks: whether the value is equal to the part, keys that the part does not name left aside; the options are `in any order` (of lists) and `folded` (texts)", r#"is_like({ status: "ok", user: { name: "Al", id: 7 } }, { user: { name: "Al" } })"#;
    }
    Text in text_format {
        is_xml(value: Any) -> Boolean [], "what `VALUE is xml` asks: whether the value is a text that is an XML document, well-formed and with declared prefixes; undecided where it declares entities", r#"is_xml("<order><id>7</id></order>") and not is_xml("<p>one<p>two")"#;
        is_sql(value: Any) -> Boolean [], "what `VALUE is sql` asks: whether the value is a text of SQL statements, in what common systems share; short English sentences may be SQL to a parser, too (`show me`). Undecided in a program that was built without the feature `sql`", r#"is_sql("SELECT id FROM orders WHERE total > 5") or 1 == 1"#;
    }
    Encoding in python {
        python_text(value: Any) -> String [], "the value as Python writes it with `str`: text stays, `True`, `None`, `{'a': 1}`", r#"python_text({ a: true }) == "{'a': True}""#;
    }
    Encoding in encoding {
        sha256(text: String) -> String [], "the SHA-256 of the text's UTF-8 bytes, in lower-case hexadecimal", r#"sha256("abc") starts with "ba7816bf""#;
        base64_encode(text: String) -> String [], "the text's UTF-8 bytes in base64 with padding", r#"base64_encode("hello") == "aGVsbG8=""#;
        base64_decode(text: String) -> String [], "the text that the base64 stands for (standard or URL-safe alphabet, padding and white space optional); missing where it stands for no UTF-8 text", r#"base64_decode("aGVsbG8") == "hello""#;
        url_decode(text: String) -> String [], "the text with percent escapes resolved; `+` stays. Missing where the result is no UTF-8 text", r#"url_decode("a%20b%2Fc") == "a b/c""#;
    }
    Time in time {
        timestamp(time: String | Number) -> Number [], "a time in milliseconds since 1970: RFC 3339 text, a date alone (its midnight, UTC), or milliseconds, which stay", r#"timestamp("1970-01-02T00:00:00Z") == 86_400_000"#;
        date(time: String | Number, zone? 1: String) -> String [], "the date of a time, as `2025-03-01`, in UTC or in the time zone of this IANA name", r#"date("2025-03-01T23:30:00-02:00") == "2025-03-02""#;
        weekday(time: String | Number, zone? 1: String) -> String [], "the day of the week of a time, in English and lower case, in UTC or in the time zone", r#"weekday("2025-03-01") == "saturday""#;
        hour(time: String | Number, zone? 1: String) -> Integer [], "the hour of a time, from 0 to 23, in UTC or in the time zone", r#"hour("2025-07-01T17:45:00Z", "Europe/Berlin") == 19"#;
    }
    Evidence in evidence {
        required(value: Any) -> Any [], "the value itself; where there is none the verdict of the assertion is `error`, and its reason names what leads nowhere, whatever test, `not` or group is around it: what cannot be judged without a value is not judged", r#"required({ a: 0 }.a) == 0"#;
        grounded(values: Any, sources: Any) -> Boolean [], "whether every number, URL and id in the values stands somewhere in the sources", r#"grounded("paid $1,234.50", { total: 1234.5 })"#;
        ungrounded(values: Any, sources: Any) -> List [], "the numbers, URLs and ids in the values that stand nowhere in the sources", r#"ungrounded("3 of 7 orders", ["7 orders"]) == ["3"]"#;
        overlap(text: Any, sources: Any) -> Integer [], "how many words the longest run of words has that stands in the text and in a source, word for word; words as for `mentions`", r#"overlap("he said: send it to Bob!", ["please send it to Bob today"]) == 4"#;
        contains_secret(value: Any) -> Boolean [], "whether some text in the value holds a credential: a provider's key, a token, a private key, an assignment such as `api_key = …`", r#"not contains_secret("the api key is in the vault")"#;
        find_secrets(value: Any) -> List [], "the kinds of credentials in the value, each once", r#"find_secrets({ note: "nothing here" }) is empty"#;
        contains_pii(value: Any) -> Boolean [], "whether some text in the value holds personal data: an e-mail address, phone, payment card, bank account or social security number", r#"contains_pii("write to ann@example.org")"#;
        find_pii(value: Any) -> List [], "the kinds of personal data in the value, each once", r#"find_pii("card 4111 1111 1111 1111") == ["payment-card"]"#;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_found_once_by_its_name_and_documented() {
        for builtin in BUILTINS {
            assert!(std::ptr::eq(find_builtin(builtin.name).unwrap(), builtin), "`{}` occurs twice", builtin.name);
            assert!(!builtin.doc.is_empty() && !builtin.doc.ends_with('.'), "{}", builtin.doc);
            assert!(builtin.example.contains(&format!("{}(", builtin.name)), "{}", builtin.example);
            let optional: Vec<bool> = builtin.parameters.iter().map(|parameter| parameter.optional).collect();
            assert!(optional.is_sorted(), "optional parameters of `{}` stand last", builtin.name);
        }
    }

    #[test]
    fn signatures_read_like_the_reference() {
        assert_eq!(find_builtin("round").unwrap().signature(), "round(value: number, digits?: integer) -> number");
        assert_eq!(find_builtin("round").unwrap().arity(), (1, 2));
        assert!(find_builtin("length").unwrap().parameters[0].accepts_type(Type::Object));
        assert!(!find_builtin("length").unwrap().parameters[0].accepts_type(Type::Number));
        assert!(find_builtin("abs").unwrap().parameters[0].accepts_type(Type::Duration));
    }
}
