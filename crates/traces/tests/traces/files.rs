//! Files: one run, lists, lines, sessions, broken ones.

use averment_base::limits::Limits;
use averment_traces::read::RawRun;
use averment_traces::scan::ByteIndex;
use averment_traces::{ReadError, TraceRuns, parse_run};
use bumpalo::Bump;
use std::io::{Cursor, Write};

/// The name of each run with the names of its steps, or the error.
fn read_with(bytes: impl Into<Vec<u8>>, limits: &Limits) -> Vec<String> {
    let input = Cursor::new(bytes.into());
    let shown = |error: ReadError| format!("{error}; {}", error.help);
    TraceRuns::new("t", input, limits)
        .map(|raw| {
            let raw = match raw {
                Ok(raw) => raw,
                Err(error) => return shown(error),
            };
            let arena = Bump::new();
            match parse_run(&raw, &arena, limits) {
                Ok(run) => {
                    let names: Vec<_> = run.steps.iter().map(|step| step.name).collect();
                    format!("{} {}", run.source.run_name(), names.join(","))
                }
                Err(error) => shown(error),
            }
        })
        .collect()
}

fn read(bytes: impl Into<Vec<u8>>) -> Vec<String> {
    read_with(bytes, &Limits::default())
}

const A: &str = r#"{"calls": [{"tool": "a"}]}"#;
const B: &str = r#"{"calls": [{"tool": "b"}]}"#;

#[test]
fn one_run_has_the_name_of_its_file() {
    assert_eq!(read(A), ["t a"]);
    assert_eq!(read(format!("{A}\n\n")), ["t a"]);
    assert_eq!(read(format!("\u{FEFF}\n  {A}")), ["t a"]);
    assert_eq!(read("{\n  \"calls\": [\n    {\"tool\": \"a\"}\n  ]\n}\n"), ["t a"]);
}

#[test]
fn lines_are_runs_with_the_number_of_their_line() {
    assert_eq!(read(format!("{A}\n\n{B}\r\n{A}")), ["t:1 a", "t:3 b", "t:4 a"]);
}

#[test]
fn a_line_that_cannot_be_read_does_not_stop_the_others() {
    assert_eq!(
        read(format!("{A}\n{{\"calls\": [}}\n{B}\n[1]\n17\n{A}\n")),
        [
            "t:1 a",
            "t:2:12: expected a value of the list, found `}`; write an object, a list, text in double quotes, a number, `true`, `false` or `null`",
            "t:3 b",
            "t:4:1: a run is an object, found list; write `{ \"calls\": […], \"output\": … }`",
            "t:5:1: a run is an object, found number; write `{ \"calls\": […], \"output\": … }`",
            "t:6 a",
        ]
    );
    assert_eq!(
        read(format!("{{\"calls\": [\n{A}\n{B}")),
        ["t:1:12: the text ends inside a list; close it with `]}`; was the file cut off?", "t:2 a", "t:3 b"]
    );
}

#[test]
fn bytes_that_are_not_utf8_spoil_their_line_alone() {
    let mut bytes = format!("{A}\n").into_bytes();
    bytes.extend(b"{\"output\": \"\xC3\xA9\xFF\"}\n");
    bytes.extend(B.as_bytes());
    assert_eq!(read(bytes), ["t:1 a", "t:2:14: a byte that is not UTF-8; save the file as UTF-8", "t:3 b"]);
    assert_eq!(
        read(b"{\n\"output\": \"\xFF\"}".to_vec()),
        ["t:2:12: a byte that is not UTF-8; save the file as UTF-8"]
    );
}

#[test]
fn lists_hold_runs_told_apart_by_position() {
    assert_eq!(read(format!("[{A}, {B}]")), ["t#1 a", "t#2 b"]);
    assert_eq!(read(format!("[{A}]")), ["t a"]);
    assert_eq!(
        read(format!("[{A},\n 5, {B}]")),
        ["t#1 a", "t:2:2: a run is an object, found number; write `{ \"calls\": […], \"output\": … }`", "t#3 b"]
    );
    assert_eq!(read("[]"), ["t: no run: the list is empty; write a run into it"]);
    assert_eq!(read(format!("[{A},]")), ["t:1:29: `]` behind a comma; remove the comma"]);
    assert_eq!(
        read(format!("[{A}, {B}")),
        ["t:1:56: the text ends inside a list; close it with `]`; was the file cut off?"]
    );
}

#[test]
fn values_one_behind_the_other_are_runs() {
    assert_eq!(read(format!("{A}{B}")), ["t#1 a", "t#2 b"]);
    assert_eq!(read("{\n\"calls\": [{\"tool\": \"a\"}]\n}\n{\n\"calls\": []\n}"), ["t#1 a", "t#2 "]);
}

#[test]
fn places_count_in_the_file() {
    assert_eq!(
        read(format!("[{A},\n  {{\"calls\": 5}}]")),
        ["t#1 a", "t:2:13: the `calls` of a run must be a list, found number; write a list, or leave `calls` out"]
    );
    let bytes = format!("{A}\n{{\"é\": 1, \"calls\": 5}}\n");
    let limits = Limits::default();
    let raws: Vec<_> =
        TraceRuns::new("t", Cursor::new(bytes.clone().into_bytes()), &limits).map(Result::unwrap).collect();
    assert_eq!(raws[1].source.offset as usize, A.len() + 1);
    assert_eq!(raws[1].run_text(), bytes.lines().nth(1).unwrap());
    assert!(read(bytes)[1].starts_with("t:2:19: "), "columns count characters");
}

#[test]
fn files_without_a_run_are_errors() {
    let empty = "t: no run: the file is empty; write a run into it, or name another file";
    assert_eq!(read(""), [empty]);
    assert_eq!(read(" \n\n\t"), [empty]);
    assert_eq!(read(b"\x1F\x8B\x08rest".to_vec()), ["t: the file cannot be read: unexpected end of file; "]);
    assert_eq!(read(b"\x7FELF\0\0".to_vec()), ["t: a binary file, not JSON; name a JSON or JSONL file"]);
    assert_eq!(read(b"\xFF\xFE{\0}\0".to_vec()), ["t: text in UTF-16; save it as UTF-8"]);
    assert_eq!(
        read("hello world\nno json here\n"),
        [
            "t:1:1: expected a value, found `hello`; name JSON: one run, a list of runs, or a run on each line; `aver docs traces` lists the formats"
        ]
    );
    assert_eq!(
        read(r#"{"name": "averment", "version": "1"}"#)[0].split("; say with").next().unwrap(),
        "t:1:1: no run of a known format: its keys are `name`, `version`"
    );
    let limits = Limits::default();
    assert_eq!(
        TraceRuns::open_file("/no/such/file", &limits).err().unwrap().to_string(),
        "/no/such/file: there is no such file"
    );
    assert_eq!(TraceRuns::open_file("/tmp", &limits).err().unwrap().to_string(), "/tmp: this is a folder");
}

#[test]
fn long_lines_are_read_up_to_the_limit() {
    let long = |size: usize| format!("{{\"output\": \"{}\", \"calls\": [{{\"tool\": \"a\"}}]}}", "x".repeat(size));
    assert_eq!(read(format!("{A}\n{}\n{B}", long(11 << 20))), ["t:1 a", "t:2 a", "t:3 b"]);
    let limits = Limits { run_bytes: 1 << 20, ..Limits::default() };
    let too_long =
        "t:2:1: a run of more than 1048576 bytes; write one run per line, or raise the limit with `--max-run-size`";
    assert_eq!(read_with(format!("{A}\n{}\n{B}", long(3 << 20)), &limits), ["t:1 a", too_long, "t:3 b"]);
    assert_eq!(read_with(format!("{A}\n{}", long(3 << 20)), &limits), ["t:1 a", too_long]);
    assert_eq!(read_with(format!("{A}\n{}\n{B}", long((1 << 20) + 5)), &limits), ["t:1 a", too_long, "t:3 b"]);
    assert_eq!(read_with(long(3 << 20), &limits), [too_long.replace(":2:", ":1:")]);
}

/// A reader that gives few bytes at a time, as a pipe does.
struct Trickle(Cursor<Vec<u8>>, usize);

impl std::io::Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(self.1);
        self.0.read(&mut buffer[..length])
    }
}

#[test]
fn runs_are_the_same_however_the_bytes_come() {
    let line =
        |number: usize| format!("{{\"id\": \"{number}\", \"output\": \"{}é\"}}\n", "x".repeat(number * 37 % 5000));
    let text: String = (0..400).map(line).collect();
    let limits = Limits::default();
    let texts = |input: Box<dyn std::io::Read + Send>| -> Vec<(String, usize, u64)> {
        TraceRuns::new("t", input, &limits)
            .map(Result::unwrap)
            .map(|raw| (raw.run_text().to_owned(), raw.source.line, raw.source.offset))
            .collect()
    };
    let whole = texts(Box::new(Cursor::new(text.clone().into_bytes())));
    assert_eq!(whole.len(), 400);
    for (text_of_run, line, offset) in &whole {
        assert!(text[usize::try_from(*offset).unwrap()..].starts_with(text_of_run.as_str()));
        assert_eq!(text.lines().nth(line - 1), Some(text_of_run.as_str()));
    }
    for step in [1, 7, 4096, 300_000] {
        assert_eq!(texts(Box::new(Trickle(Cursor::new(text.clone().into_bytes()), step))), whole);
    }
}

#[test]
fn a_long_list_takes_time_by_its_length() {
    let list = |count: usize| format!("[{}]", vec![format!("{A}\n"); count].join(","));
    // Counted from the start for each element this would take minutes.
    let runs = TraceRuns::new("t", Cursor::new(list(100_000).into_bytes()), &Limits::default());
    let last = runs.map(Result::unwrap).last().unwrap();
    assert_eq!((last.source.run_name().as_str(), last.source.line, last.source.column), ("t#100000", 100_000, 2));
    let line = format!("[{}]", vec![A; 20_000].join(","));
    let runs = TraceRuns::new("t", Cursor::new(line.into_bytes()), &Limits::default());
    assert_eq!(runs.map(Result::unwrap).last().unwrap().source.column, 2 + 19_999 * (A.len() + 1));
}

fn gzip(text: &str) -> Vec<u8> {
    let mut file = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    file.write_all(text.as_bytes()).unwrap();
    file.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A zip file with one file, which is compressed with zstd.
fn zip_of_zstd(name: &str, text: &str) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    archive.start_file(name, stored).unwrap();
    archive.write_all(&zstd(text)).unwrap();
    let mut bytes = archive.finish().unwrap().into_inner();
    let listed = bytes.windows(4).rposition(|mark| mark == b"PK\x01\x02").unwrap();
    // In the head of the file, and in the list of files: the method, the checksum and the length.
    for (method, sum, length) in [(8, 14, 22), (listed + 10, listed + 16, listed + 24)] {
        bytes[method..method + 2].copy_from_slice(&93_u16.to_le_bytes());
        bytes[sum..sum + 4].copy_from_slice(&crc32fast::hash(text.as_bytes()).to_le_bytes());
        bytes[length..length + 4].copy_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
    }
    bytes
}

#[test]
fn files_of_a_zip_file_may_be_compressed_with_zstd() {
    let lines = format!("{A}\n{B}\n");
    let bytes = zip_of_zstd("runs.jsonl", &lines);
    assert_eq!(read(bytes.clone()), ["t/runs.jsonl:1 a", "t/runs.jsonl:2 b"]);
    let sum = crc32fast::hash(lines.as_bytes()).to_le_bytes();
    let listed = bytes.windows(4).rposition(|found| found == sum).unwrap();
    let wrong = [&bytes[..listed], &[0; 4], &bytes[listed + 4..]].concat();
    assert!(read(wrong)[0].contains("cannot be read"));
    let limits = Limits { run_bytes: 4_000, ..Limits::default() };
    let long = zip_of_zstd("long.json", &format!("{{\"output\": \"{}\"}}", "x".repeat(5_000)));
    let found: Vec<_> = TraceRuns::new("t", Cursor::new(long), &limits).collect();
    assert!(found[0].as_ref().unwrap_err().to_string().contains("a run of more than 4000 bytes"));
}

#[test]
fn compressed_files_are_read_as_what_is_in_them() {
    let plain = read(format!("{A}\n{B}\n"));
    assert_eq!(plain, ["t:1 a", "t:2 b"]);
    for pack in [gzip, zstd] {
        assert_eq!(read(pack(&format!("{A}\n{B}\n"))), plain);
        // Members and frames stand one behind the other.
        assert_eq!(read([pack(&format!("{A}\n")), pack(&format!("{B}\n"))].concat()), plain);
        assert_eq!(read(pack("")), ["t: no run: the file is empty; write a run into it, or name another file"]);
        // One that breaks off is said to, behind what it holds.
        let whole = pack(&format!("{}\n", [A; 20_000].join("\n")));
        let found = read(whole[..whole.len() / 2].to_vec());
        assert!(found.last().unwrap().contains("cannot be read"), "{:?}", found.last());
        // What was whole before is read, also of a small file and of one value.
        let broken = |text: &str, most: usize| read(pack(text)[..most].to_vec());
        let lines: String =
            (0..20_000).map(|run| format!("{{\"id\": \"r{run}\", \"output\": \"{}\"}}\n", run * 7919)).collect();
        let found = broken(&lines, pack(&lines).len() - 9);
        assert!(found.len() > 100 && found[0].starts_with("t:1"), "{} {:?}", found.len(), found.first());
        let said = found.iter().filter(|one| one.contains("cannot be read")).count();
        assert!(said >= 1 && found.last().unwrap().contains("cannot be read"), "{:?}", found.last());
        assert!(broken(&format!("{A}\n"), 3).last().unwrap().starts_with("t:"), "{:?}", broken(A, 3));
    }
    // What is compressed twice is not read.
    assert!(read(gzip(&String::from_utf8_lossy(b"PK\x03\x04")))[0].contains("a zip file"));
}

#[test]
fn the_files_of_a_zip_file_are_read_one_after_the_other() {
    let bytes =
        zip(&[("b/one.json", A), ("notes.txt", "hello"), ("two.jsonl", &format!("{A}\n{B}\n")), ("empty.json", "")]);
    assert_eq!(
        read(bytes.clone()),
        [
            "t/b/one.json a",
            "t/notes.txt: no trace: it is not named like one; unpack it and name it",
            "t/two.jsonl:1 a",
            "t/two.jsonl:2 b",
            "t/empty.json: no run: the file is empty; write a run into it, or name another file"
        ]
    );
    assert!(read(bytes[..bytes.len() / 2].to_vec())[0].starts_with("t: a zip file that cannot be read"));
    assert_eq!(read(zip(&[("a.txt", "hello")])), ["t: no run: no file of this zip file is JSON; name another file"]);
    let bytes = zip(&[("long.json", &format!("{{\"output\": \"{}\"}}", "x".repeat(5_000))), ("a.json", A)]);
    let limits = Limits { run_bytes: 4_000, ..Limits::default() };
    let found: Vec<_> = TraceRuns::new("t", Cursor::new(bytes), &limits).collect();
    assert_eq!(found.len(), 2);
    assert!(found[0].as_ref().unwrap_err().to_string().contains("t/long.json:1:1: a run of more than 4000 bytes"));
    assert_eq!(found[1].as_ref().unwrap().run_text(), A);
}

#[test]
fn what_stands_beside_samples_is_passed_over_in_a_log_of_inspect_alone() {
    assert_eq!(read(zip(&[("summaries.json", A), ("header.json", B)])), ["t/summaries.json a", "t/header.json b"]);
    let log = [("_journal/start.json", "{}"), ("samples/1.json", A), ("summaries.json", "[]"), ("header.json", "{}")];
    assert_eq!(read(zip(&log)), ["t/samples/1.json a"]);
    // One whose evaluation has not ended has no header.
    assert_eq!(read(zip(&log[..2])), ["t/samples/1.json a"]);
}

#[test]
fn what_unpacks_out_of_proportion_is_an_error_instead_of_a_flood() {
    let limits = Limits { run_bytes: 100_000, ..Limits::default() };
    let read = |bytes: Vec<u8>| -> Vec<String> {
        let runs = TraceRuns::new("t", Cursor::new(bytes), &limits);
        runs.map(|run| run.map_or_else(|error| error.to_string(), |run| run.run_text().to_owned())).collect()
    };
    let flood = format!("{{\"output\": \"{}\"}}", " ".repeat(90_000));
    let files: Vec<(String, &str)> = (0..50).map(|number| (format!("{number}.json"), flood.as_str())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let (bytes, found) = (zip(&files), read(zip(&files)));
    let (last, whole) = found.split_last().unwrap();
    assert!(last.contains("it unpacks to more than 250 times its length"), "{last}");
    assert_eq!(whole.len(), bytes.len() * 250 / flood.len(), "{last}");
    let found = read(gzip(&[flood.as_str(); 200].join("\n")));
    let (last, before) = found.split_last().unwrap();
    // The line in which it breaks off is none: it is handed on to be refused.
    let (cut, whole) = before.split_last().unwrap();
    assert!(
        last.contains("it unpacks to more than 250 times its length") && whole.iter().all(|run| *run == flood),
        "{last}"
    );
    assert!(flood.starts_with(cut) && cut.len() < flood.len() && whole.len() > 1 && whole.len() < 200);
}

#[test]
fn numbers_that_are_none_are_read_as_null_with_a_warning() {
    let limits = Limits::default();
    let text = r#"{"calls": [{"tool": "a", "args": {"x": NaN, "y": -Infinity}}], "cost": Infinity}"#;
    let raw = TraceRuns::new("t", Cursor::new(text.as_bytes().to_vec()), &limits).next().unwrap().unwrap();
    let arena = Bump::new();
    let run = parse_run(&raw, &arena, &limits).unwrap();
    assert_eq!(run.warnings.len(), 3, "{:?}", run.warnings);
    assert!(text[run.warnings[0].offset..].starts_with("NaN"));
    assert!(matches!(run.root_value("cost").value, averment_base::value::Value::Absent));
    assert!(read(r#"{"cost": Infinite}"#)[0].contains("t:1:10"));
}

/// Texts in memory that are told by their keys are read as their bytes would be: each line of all samples, alone.
#[test]
fn a_line_in_memory_is_read_as_a_file_of_it() {
    let folders = ["tests/golden/trace", "tests/golden/trace/formats", "examples/many-runs", "examples/tool-inputs"];
    let mut lines = Vec::new();
    for path in folders.map(averment_fixtures::project).iter().flat_map(|folder| averment_fixtures::files(folder)) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        lines.extend(text.lines().map(str::to_owned));
        lines.extend(serde_json::from_str::<serde_json::Value>(&text).iter().map(ToString::to_string));
    }
    for form in ["{A}", "{A}\n", "{A} \r\n\n", " {A}", "{A}{A}", "{A}\n{A}", "{A", "\u{feff}{A}", "[{A}]", "{A}\0"] {
        lines.push(form.replace("{A}", A));
    }
    lines.extend([r#"{"calls": [}"#.to_owned(), "{}".to_owned(), r#"{"\u0063alls": []}"#.to_owned()]);
    let (limits, mut index, mut told) = (Limits::default(), ByteIndex::default(), 0);
    for line in &lines {
        let mut bytes = line.clone().into_bytes();
        let Some(run) = RawRun::of_plain_line("t", &mut bytes, &mut index, &limits) else {
            assert_eq!(bytes, line.as_bytes(), "what is not told is given back");
            continue;
        };
        told += 1;
        let read: Vec<_> = TraceRuns::of_bytes("t", line.clone().into_bytes(), &limits).collect();
        let [Ok(other)] = &read[..] else { panic!("{line}: {read:?}") };
        let other = other.clone().as_line();
        assert_eq!((run.run_text(), &run.source), (other.run_text(), &other.source), "{line}");
        assert!(run.is_plain_line() && other.is_plain_line(), "{line}");
    }
    assert!(told > 20, "{told} of {}", lines.len());
}
