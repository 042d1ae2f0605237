//! Texts with `{name:length}` in them: keys, cards and accounts are made while the test runs, so that none stands in a file.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

/// Letters drawn the same way on every machine.
pub struct Draw(u64);

impl Draw {
    /// The letters of one line of a file.
    pub fn of_line(number: usize) -> Self {
        Self(0x9E37_79B9_7F4A_7C15 ^ (number as u64 + 1).wrapping_mul(0xD134_2543_DE82_EF95))
    }

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
        "alpha" => draw.letters(&ALNUM[..52], length),
        "b32" => draw.letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", length),
        "lowalnum" => draw.letters(&format!("{LOWER}0123456789"), length),
        "upperhex" => draw.letters("0123456789ABCDEF", length),
        "bech32" => draw.letters("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", length),
        "uuid" => uuid(draw),
        "discord" => discord(draw),
        "card" => card(rest, draw),
        "cardspaced" => grouped(&card(rest, draw), ' '),
        "carddashed" => grouped(&card(rest, draw), '-'),
        "iban" => iban(rest, draw),
        "ibanspaced" => grouped(&iban(rest, draw), ' '),
        "ibanlower" => iban(rest, draw).to_lowercase(),
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

fn uuid(draw: &mut Draw) -> String {
    let hex = draw.letters("0123456789abcdef", 31);
    format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], &hex[19..])
}

/// The token of a bot: the number of its account, a time and a signature.
fn discord(draw: &mut Draw) -> String {
    let account = STANDARD.encode(format!("7{}", draw.letters("0123456789", 17)));
    format!("{account}.G{}.{}", draw.letters(ALNUM, 5), draw.letters(ALNUM, 38))
}

/// A card number of a brand, its last digit the check digit of Luhn.
fn card(brand: &str, draw: &mut Draw) -> String {
    let (prefix, length) = match brand {
        "visa" => ("4532", 16),
        "mc" => ("5412", 16),
        "mc2" => ("2223", 16),
        "amex" => ("3714", 15),
        "discover" => ("6011", 16),
        "jcb" => ("3566", 16),
        "unionpay" => ("6221", 16),
        other => panic!("no brand `{other}`"),
    };
    let digits = prefix.to_owned() + &draw.letters("0123456789", length - prefix.len() - 1);
    let sum: u32 = digits.chars().rev().enumerate().map(|(at, digit)| luhn(at, digit)).sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

/// What a digit adds, counted from the right, before the check digit.
fn luhn(at: usize, digit: char) -> u32 {
    let digit = digit.to_digit(10).unwrap();
    if at % 2 == 1 { digit } else { digit * 2 / 10 + digit * 2 % 10 }
}

fn grouped(number: &str, separator: char) -> String {
    let groups: Vec<&str> = number.as_bytes().chunks(4).map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(&separator.to_string())
}

/// An account number of a country with its check digits: `N` is a digit, `A` a letter.
fn iban(country: &str, draw: &mut Draw) -> String {
    let shape = match country {
        "DE" => "NNNNNNNNNNNNNNNNNN",
        "GB" => "AAAANNNNNNNNNNNNNN",
        "FR" => "NNNNNNNNNNANNNNNNNNNNNN",
        "NL" => "AAAANNNNNNNNNN",
        "ES" => "NNNNNNNNNNNNNNNNNNNN",
        "IT" => "ANNNNNNNNNNNNNNNNNNNNNN",
        "CH" => "NNNNNNNNNNNNNNNNN",
        "PL" => "NNNNNNNNNNNNNNNNNNNNNNNN",
        "NO" => "NNNNNNNNNNN",
        "MT" => "AAAANNNNNNNNNNNNNNNNNNNNNNN",
        other => panic!("no country `{other}`"),
    };
    let letter = |kind| if kind == 'N' { "0123456789" } else { &UPPER[..26] };
    let account: String = shape.chars().map(|kind| draw.letters(letter(kind), 1)).collect();
    let rest = format!("{account}{country}00").chars().fold(0_u32, |rest, letter| {
        let value = letter.to_digit(36).unwrap();
        (rest * if value > 9 { 100 } else { 10 } + value) % 97
    });
    format!("{country}{:02}{account}", 98 - rest)
}

pub fn filled(template: &str, draw: &mut Draw) -> String {
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

pub fn wrapped(text: &str, wrap: &str) -> String {
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
