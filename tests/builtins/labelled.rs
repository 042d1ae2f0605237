//! Labelled texts: what the detectors find and what they leave alone. Keys are made while the test runs; none stands in a file.

use averment::builtins::detect::Detector;
use averment::limits::{Limits, Meter};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value as Json;

/// Letters drawn the same way on every machine.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 16) % bound as u64).unwrap()
    }

    fn letters(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// What stands for `{name:length}` in a labelled text.
fn part(spec: &str, draw: &mut Draw) -> Option<String> {
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    let length = rest.parse().unwrap_or(0);
    Some(match name {
        "alnum" => draw.letters(ALNUM, length),
        "upper" => draw.letters(UPPER, length),
        "lower" => draw.letters(LOWER, length),
        "digits" => format!("7{}", draw.letters("0123456789", length - 1)),
        "hex" => draw.letters("0123456789abcdef", length),
        "url" => draw.letters(&format!("{ALNUM}-_"), length - 1) + "x",
        "b64" => draw.letters(&format!("{ALNUM}+/"), length),
        "dashes" => "-----".to_owned(),
        "basic" => STANDARD.encode(rest),
        "jwt" => format!(
            "{}.{}.{}",
            URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#),
            URL_SAFE_NO_PAD.encode(r#"{"sub":"42","name":"Ann"}"#),
            draw.letters(ALNUM, 43),
        ),
        _ => return None,
    })
}

fn filled(template: &str, draw: &mut Draw) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        match behind.split_once('}').and_then(|(spec, behind)| Some((part(spec, draw)?, behind))) {
            Some((part, behind)) => {
                text.push_str(&part);
                rest = behind;
            }
            None => {
                text.push('{');
                rest = behind;
            }
        }
    }
    text + rest
}

fn wrapped(text: &str, wrap: &str) -> String {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    match wrap {
        "base64" => format!("x {} y", STANDARD.encode(text)),
        "base64url" => URL_SAFE_NO_PAD.encode(text),
        "base64-json" => json(&STANDARD.encode(format!("{{\"log\": {}}}", json(text)))),
        "url" => {
            text.replace('%', "%25").replace(' ', "%20").replace(':', "%3A").replace('/', "%2F").replace('@', "%40")
        }
        "url-all" => text.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        "json" => json(&json(&format!("\n{text}\n"))),
        "json2" => json(&json(&json(text))),
        "json-unicode" => text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect(),
        "zero-width" => text.chars().flat_map(|c| [c, '\u{200b}']).collect(),
        "soft-hyphen" => text.chars().flat_map(|c| ['\u{ad}', c]).collect(),
        other => panic!("no wrap `{other}`"),
    }
}

/// Counts of a detector over labelled texts.
#[derive(Default)]
struct Counts {
    right: usize,
    found: usize,
    labelled: usize,
    missed: Vec<String>,
    wrong: Vec<String>,
}

fn judge(detector: Detector, file: &str) -> Counts {
    let mut counts = Counts::default();
    for (number, line) in file.lines().enumerate() {
        let item: Json = serde_json::from_str(line).unwrap();
        let mut draw = Draw(0x9E37_79B9_7F4A_7C15 ^ (number as u64 + 1).wrapping_mul(0xD134_2543_DE82_EF95));
        let mut text = filled(item["text"].as_str().unwrap(), &mut draw);
        for wrap in item["wrap"].as_array().into_iter().flatten() {
            text = wrapped(&text, wrap.as_str().unwrap());
        }
        let found = detector.find(&text, &mut Meter::new(&Limits::default())).unwrap();
        for finding in &found {
            assert!(text.get(finding.range.clone()).is_some_and(|part| !part.is_empty()), "{finding:?} in {text:?}");
        }
        let kinds: Vec<&str> = found.iter().map(|finding| finding.kind).collect();
        let expected = item["kind"].as_str();
        counts.labelled += usize::from(expected.is_some());
        counts.found += usize::from(!kinds.is_empty());
        match expected {
            Some(kind) if kinds.contains(&kind) => counts.right += 1,
            Some(kind) => counts.missed.push(format!("line {}: {kind}, found {kinds:?} in {text:?}", number + 1)),
            None if kinds.is_empty() => {}
            None => counts.wrong.push(format!("line {}: {kinds:?} in {}", number + 1, item["text"])),
        }
    }
    counts
}

/// Prints precision and recall and demands them.
fn demand(name: &str, counts: &Counts, most_missed: usize) {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred texts")]
    let share = |part: usize, whole: usize| part as f64 / whole as f64;
    println!(
        "{name}: precision {:.3}, recall {:.3} ({} labelled, {} found)",
        share(counts.right, counts.found),
        share(counts.right, counts.labelled),
        counts.labelled,
        counts.found,
    );
    counts.missed.iter().for_each(|missed| println!("  missed {missed}"));
    assert!(counts.wrong.is_empty(), "found where nothing is:\n{}", counts.wrong.join("\n"));
    assert!(counts.missed.len() <= most_missed, "missed:\n{}", counts.missed.join("\n"));
}

#[test]
fn credentials_are_found_and_their_likes_are_not() {
    let counts = judge(Detector::Secrets, include_str!("../data/secrets.jsonl"));
    // Three that no check can tell from words and ids: they stay in the set so that the number is honest.
    demand("secrets", &counts, 3);
}

#[test]
fn personal_data_is_found_and_its_likes_are_not() {
    let counts = judge(Detector::Pii, include_str!("../data/pii.jsonl"));
    demand("personal data", &counts, 0);
}
