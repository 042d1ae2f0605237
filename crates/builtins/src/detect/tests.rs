use super::*;
use averment_base::limits::Limits;

fn kinds(detector: Detector, text: &str) -> Vec<&'static str> {
    let found = detector.find(text, &mut FuelMeter::new(&Limits::default())).unwrap();
    found.iter().map(|finding| finding.kind).collect()
}

/// Generates a key of this length, so that no key is in the source.
fn key(alphabet: &str, length: usize, seed: u64) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        letters[usize::try_from(state % letters.len() as u64).unwrap()]
    };
    (0..length).map(|_| next()).collect()
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

#[test]
fn a_finding_stands_where_its_text_stands_through_every_encoding() {
    let token = format!("{}_{}", "ghp", key(ALNUM, 36, 5));
    let find = |text: &str| Detector::Secrets.find(text, &mut FuelMeter::new(&Limits::default())).unwrap();
    let plain = format!("before \"{token}\" after");
    assert_eq!(find(&plain), [DetectorFinding { kind: "github-token", range: 8..8 + token.len() }]);
    let escaped = format!("é {{\\\"t\\\":\\\"\\u0067hp{}\\\"}} x", &token[3..]);
    let found = find(&escaped);
    assert_eq!(found.len(), 1);
    assert_eq!(&escaped[found[0].range.clone()], format!("\\u0067hp{}", &token[3..]));
    let twice = serde_json::to_string(&serde_json::to_string(&format!("\"\n{token}\n\"")).unwrap()).unwrap();
    assert_eq!(&twice[find(&twice)[0].range.clone()], token);
    let hidden: String = token.chars().flat_map(|c| [c, '\u{200b}']).collect();
    let found = find(&hidden);
    assert_eq!((found.len(), found[0].range.start), (1, 0));
    let url: String = token.bytes().map(|byte| format!("%{byte:02x}")).collect();
    assert_eq!(find(&format!("?t={url}&x"))[0].range, 3..3 + url.len());
    use base64::Engine as _;
    let encoded = base64::engine::general_purpose::STANDARD.encode(format!("token is {token}"));
    let text = format!("data: {encoded}");
    assert_eq!(find(&text)[0].range.start, 6);
    let again = base64::engine::general_purpose::STANDARD.encode(&text);
    assert_eq!(kinds(Detector::Secrets, &again), ["github-token"]);
}

#[test]
fn a_private_key_is_found_with_all_of_its_material() {
    let find = |text: &str| Detector::Secrets.find(text, &mut FuelMeter::new(&Limits::default())).unwrap();
    let lines: Vec<String> = (0..40).map(|seed| key(ALNUM, 64, seed)).collect();
    let whole = |label: &str, head: &str| {
        let body = lines.join("\n");
        format!("-----BEGIN {label}-----\n{head}{body}\nQx==\n-----END {label}-----")
    };
    for (label, head) in [
        ("RSA PRIVATE KEY", ""),
        ("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF\n\n"),
        ("PGP PRIVATE KEY BLOCK", "Version: GnuPG v2\n\n"),
    ] {
        let armour = whole(label, head);
        let text = format!("here: {armour} and no more");
        assert_eq!(find(&text), [DetectorFinding { kind: "private-key", range: 6..6 + armour.len() }], "{text}");
        let json = serde_json::to_string(&text).unwrap();
        let found = find(&json);
        assert_eq!(&json[found[0].range.end..], " and no more\"");
        // The last line may be missing.
        let cut = armour.split("Qx==").next().unwrap().trim_end();
        assert_eq!(find(&format!("{cut} and no more"))[0].range, 0..cut.len());
    }
    let two = format!("{}\n{}", whole("PRIVATE KEY", ""), whole("EC PRIVATE KEY", ""));
    assert_eq!(find(&two).len(), 2);
}

#[test]
fn large_texts_take_bounded_time() {
    let mut meter = FuelMeter::new(&Limits { fuel: u64::MAX, ..Limits::default() });
    // Quadratic time would take minutes at this size.
    let size = 1 << 18;
    for piece in [
        "a",
        "%41",
        "\\u0041",
        "eyJ",
        "://",
        "token=",
        "@",
        "1",
        "A1",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----AAAAAAAAAAAAAAAA",
        "aaaa=",
        "\u{200b}",
        "4 ",
    ] {
        let text = piece.repeat(size / piece.len());
        let start = crate::clock::now();
        for detector in [Detector::Secrets, Detector::Pii] {
            detector.find(&text, &mut meter).unwrap();
        }
        let worked = crate::clock::now() - start;
        assert!(worked.as_secs() < 5, "`{piece}` took {worked:?}");
    }
}

#[test]
fn names_of_credentials_are_told_by_how_they_end() {
    assert!(super::assignments::STEMS.iter().all(|stem| super::assignments::may_end(stem.as_bytes())));
    for name in [
        "api_key",
        "OPENAI_KEY",
        "clientSecret",
        "access-token",
        "credential",
        "password",
        "passwd",
        "passphrase",
        "Authorization",
        "x_auth_",
    ] {
        assert!(names_credential(name.as_bytes(), false), "{name}");
        assert!(names_credential(format!("{name}s").as_bytes(), false) || name.ends_with(['n', '_']), "{name}s");
    }
    assert!(names_credential(b"accessTokens", true) && !names_credential(b"input_tokens", false));
    for name in ["result", "path", "primary_key", "next_token", "y", "", "name", "content"] {
        assert!(!names_credential(name.as_bytes(), true), "{name}");
    }
}
