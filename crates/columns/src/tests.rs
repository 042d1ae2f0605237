//! What becomes of columns, and that no file stops the program.

use super::*;
use arrow_array::builder::{MapBuilder, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, Decimal128Array, DictionaryArray, DurationSecondArray, Float64Array, Int64Array, ListArray,
    RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use std::io::{Cursor, Read};
use std::sync::Arc;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, values)| (name, values, true))).unwrap()
}

fn texts(texts: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(texts.to_vec()))
}

fn parquet_file(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
    let properties =
        WriterProperties::builder().set_compression(compression).set_max_row_group_row_count(Some(2)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn lines_with(bytes: Vec<u8>, options: ColumnOptions) -> Result<String, String> {
    let form = ColumnForm::detect_head(&bytes).ok_or("no columns")?;
    let opened = ColumnLines::open_input(form, Box::new(Cursor::new(bytes)), options);
    let mut text = String::new();
    opened.map_err(|error| error.to_string())?.read_to_string(&mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

fn lines(batch: &RecordBatch) -> String {
    lines_with(parquet_file(batch, Compression::UNCOMPRESSED), ColumnOptions::default()).unwrap()
}

#[test]
fn every_form_and_compression_gives_the_same_lines() {
    let runs = texts(&[r#"{"id":1}"#, "{\n  \"id\": 2\n}", r#"{"id":"a\"b"}"#, "", "no json"]);
    let table = batch(vec![("run", runs), ("number", Arc::new(Int64Array::from(vec![1, 2, 3, 4, 5])))]);
    let wanted = "{\"id\":1}\n{   \"id\": 2 }\n{\"id\":\"a\\\"b\"}\nnull\nno json\n";
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    let parquet = compressions.map(|compression| parquet_file(&table, compression));
    for file in parquet.into_iter().chain([arrow_file(&table), arrow_stream(&table)]) {
        assert_eq!(lines_with(file, ColumnOptions::default()).as_deref(), Ok(wanted));
    }
}

#[test]
fn a_line_end_within_a_text_stays_no_json() {
    let table = batch(vec![("run", texts(&["{\"a\":\"b\nc\"}"]))]);
    assert_eq!(lines(&table), "{\"a\":\"b\tc\"}\n");
}

#[test]
fn values_are_written_exactly() {
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    map.keys().append_value("k");
    map.values().append_null();
    map.append(true).unwrap();
    let inner = StructArray::from(vec![
        (Arc::new(Field::new("a", DataType::Int64, true)), Arc::new(Int64Array::from(vec![None, Some(7)])) as ArrayRef),
        (Arc::new(Field::new("b", DataType::Utf8, true)), texts(&["x", "y\n"])),
    ]);
    let item = Arc::new(Field::new("item", inner.data_type().clone(), true));
    let list = ListArray::new(item, OffsetBuffer::new(vec![0, 2].into()), Arc::new(inner), None);
    let zoned = TimestampMicrosecondArray::from(vec![1_783_486_800_123_456]).with_timezone("+02:00");
    let dictionary: DictionaryArray<Int8Type> = vec!["word"].into_iter().collect();
    let decimal =
        |digits, scale| Arc::new(Decimal128Array::from(vec![digits]).with_precision_and_scale(38, scale).unwrap());
    let table = batch(vec![
        ("money", decimal(-1_234_500, 4)),
        ("small", decimal(7, 3)),
        ("large", decimal(10_000_000_000_000_000_000_001, 0)),
        ("zoned", Arc::new(zoned)),
        ("clock", Arc::new(TimestampNanosecondArray::from(vec![1]))),
        ("word", Arc::new(dictionary)),
        ("most", Arc::new(UInt64Array::from(vec![u64::MAX]))),
        ("real", Arc::new(Float64Array::from(vec![0.1]))),
        ("none", Arc::new(Int64Array::from(vec![None]))),
        ("map", Arc::new(map.finish())),
        ("list", Arc::new(list)),
    ]);
    let wanted = concat!(
        r#"{"money":-123.4500,"small":0.007,"large":10000000000000000000001,"#,
        r#""zoned":"2026-07-08T05:00:00.123456Z","clock":"1970-01-01T00:00:00.000000001","word":"word","#,
        r#""most":18446744073709551615,"real":0.1,"none":null,"map":{"k":null},"list":[{"b":"x"},{"a":7,"b":"y\n"}]}"#,
    );
    assert_eq!(lines_with(arrow_file(&table), ColumnOptions::default()).unwrap().trim_end(), wanted);
}

#[test]
fn a_column_that_is_not_read_is_named() {
    let table = batch(vec![("id", texts(&["1"])), ("took", Arc::new(DurationSecondArray::from(vec![5])))]);
    let error = lines_with(arrow_file(&table), ColumnOptions::default()).unwrap_err();
    assert!(error.contains("the column `took` is of type Duration") && error.contains("leave it out"), "{error}");
    // Where the run stands in another column, it is not asked for.
    let runs = batch(vec![("run", texts(&["{}"])), ("took", Arc::new(DurationSecondArray::from(vec![5])))]);
    assert_eq!(lines_with(arrow_file(&runs), ColumnOptions::default()).as_deref(), Ok("{}\n"));
}

#[test]
fn columns_beside_a_conversation_are_its_meta() {
    let table = batch(vec![
        ("id", texts(&["a", "b"])),
        ("messages", texts(&[r#"[{"role":"user","content":"hi"}]"#, "[]"])),
        ("model", Arc::new(StringArray::from(vec![Some("m"), None]))),
    ]);
    let wanted = concat!(
        r#"{"id":"a","messages":[{"role":"user","content":"hi"}],"meta":{"model":"m"}}"#,
        "\n",
        r#"{"id":"b","messages":[]}"#,
        "\n",
    );
    assert_eq!(lines(&table), wanted);
}

#[test]
fn transcripts_of_a_store_are_samples_and_spans_stay_as_they_are() {
    let scout = batch(vec![("transcript_id", texts(&["t"])), ("messages", texts(&["[]"])), ("events", texts(&["[]"]))]);
    assert_eq!(lines(&scout), "{\"epoch\":1,\"target\":\"\",\"id\":\"t\",\"messages\":[]}\n");
    let spans = batch(vec![("trace_id", texts(&["t"])), ("level", Arc::new(StringArray::from(vec![None::<&str>])))]);
    assert_eq!(lines(&spans), "{\"trace_id\":\"t\",\"level\":null}\n");
    let writer = |table: &RecordBatch| RowWriter::for_schema(&table.schema(), &ColumnOptions::default()).unwrap();
    assert!(writer(&spans).writes_records() && !writer(&scout).writes_records());
}

#[test]
fn folders_of_a_partition_are_meta_where_a_run_has_none() {
    let partitions = hive_partitions("/data/date=2026-01-02/model=a%20b/part-0.parquet");
    assert_eq!(partitions, [("date", "2026-01-02"), ("model", "a b")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    let runs = texts(&[r#"{"calls":[]}"#, r#" {"meta": {"model":"own"},"calls":[]}"#, "{}", "[1]", r#"{"meta":{}}"#]);
    let options = ColumnOptions { partitions, ..ColumnOptions::default() };
    let found = lines_with(arrow_file(&batch(vec![("run", runs)])), options).unwrap();
    let wanted = [
        r#"{"meta":{"date":"2026-01-02","model":"a b"},"calls":[]}"#,
        r#" {"meta": {"date":"2026-01-02","model":"own"},"calls":[]}"#,
        r#"{"meta":{"date":"2026-01-02","model":"a b"}}"#,
        "[1]",
        r#"{"meta":{"date":"2026-01-02","model":"a b"}}"#,
    ];
    assert_eq!(found.lines().collect::<Vec<_>>(), wanted);
}

#[test]
fn columns_that_somebody_names_are_there_or_an_error() {
    let table = batch(vec![("body", texts(&["{}"])), ("model", texts(&["m"])), ("other", texts(&["x"]))]);
    let options =
        ColumnOptions { run: Some("body".to_owned()), meta: vec!["model".to_owned()], ..ColumnOptions::default() };
    let file = || parquet_file(&table, Compression::SNAPPY);
    assert_eq!(lines_with(file(), options).as_deref(), Ok("{\"meta\":{\"model\":\"m\"}}\n"));
    let options = ColumnOptions { run: Some("boby".to_owned()), ..ColumnOptions::default() };
    let wanted = "there is no column `boby` (the columns are `body`, `model`, `other`)";
    assert_eq!(lines_with(file(), options), Err(wanted.to_owned()));
}

/// Cut off anywhere, and with bytes changed anywhere: lines or an error, and no panic. `AVERMENT_DAMAGED_CASES=50000` tries so many.
#[test]
fn damaged_files_are_errors() {
    let table = batch(vec![
        ("id", texts(&["a", "b", "c"])),
        ("messages", texts(&["[]", r#"[{"role":"user","content":"hi"}]"#, "[]"])),
        ("number", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]))),
        ("kind", Arc::new(["x", "y", "x"].into_iter().collect::<DictionaryArray<Int8Type>>())),
    ]);
    let files = [
        parquet_file(&table, Compression::SNAPPY),
        parquet_file(&table, Compression::LZ4),
        parquet_file(&table, Compression::BROTLI(BrotliLevel::default())),
        parquet_file(&table, Compression::GZIP(GzipLevel::default())),
        parquet_file(&table, Compression::ZSTD(ZstdLevel::default())),
        arrow_file(&table),
        arrow_stream(&table),
    ];
    let (mut errors, mut state) = (0, 0x2545_F491_4F6C_DD1D_u64);
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    #[expect(clippy::disallowed_methods, reason = "how many files are damaged is asked for from outside")]
    let cases = std::env::var("AVERMENT_DAMAGED_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2800);
    for file in &files {
        for _ in 0..cases / files.len() {
            let mut damaged = file.clone();
            if random(4) == 0 {
                damaged.truncate(random(file.len()));
            }
            for _ in 0..random(4) {
                let place = random(damaged.len().max(1));
                if let Some(byte) = damaged.get_mut(place) {
                    *byte = u8::try_from(random(256)).unwrap();
                }
            }
            errors += usize::from(lines_with(damaged, ColumnOptions::default()).is_err());
        }
    }
    assert!(errors > 500, "{errors}");
}

fn compressed() -> [Compression; 6] {
    [
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ]
}

fn bounded(bytes: Vec<u8>, batch_bytes: usize) -> Result<String, String> {
    lines_with(bytes, ColumnOptions { batch_bytes: Some(batch_bytes), ..ColumnOptions::default() })
}

/// A few kilobytes that unpack to a megabyte: an error below the limit, with pages of both versions, and no error above it.
#[test]
fn a_page_that_unpacks_to_more_than_the_limit_is_an_error() {
    let table = batch(vec![("run", texts(&[&"[".repeat(1 << 20), "{}"]))]);
    for compression in compressed() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let properties = WriterProperties::builder()
                .set_compression(compression)
                .set_writer_version(version)
                .set_statistics_enabled(EnabledStatistics::None);
            let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties.build())).unwrap();
            writer.write(&table).unwrap();
            let file = writer.into_inner().unwrap();
            assert!(file.len() < 64 << 10, "{compression}: {}", file.len());
            let error = bounded(file.clone(), 100 << 10).unwrap_err();
            assert!(error.contains("unpacks to more than"), "{compression}: {error}");
            assert_eq!(bounded(file, 4 << 20).map(|text| text.len()), Ok((1 << 20) + 4), "{compression}");
        }
    }
}

/// The pages of all columns of a batch count together, as do those of one column, whether they are compressed or not.
#[test]
fn the_pages_of_a_batch_count_together() {
    let text = "x".repeat(40 << 10);
    let names = ["id", "messages", "model", "other"];
    let table = batch(names.map(|name| (name, texts(&[&text]))).to_vec());
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
        let file = parquet_file(&table, compression);
        assert!(bounded(file.clone(), 100 << 10).unwrap_err().contains("unpacks to more than"));
        assert!(bounded(file, 400 << 10).is_ok());
    }
    // What was read before is let go: many batches together may take more.
    let runs: Vec<&str> = vec![&text; 20];
    let file = parquet_file(&batch(vec![("run", texts(&runs))]), Compression::UNCOMPRESSED);
    assert_eq!(bounded(file, 200 << 10).map(|lines| lines.len()), Ok(20 * (text.len() + 1)));
}

/// A long text that stands once in the file, as the dictionary of a thousand rows: it is written for a few rows at a time.
#[test]
fn a_long_text_of_a_dictionary_is_not_copied_for_each_row() {
    let text = "x".repeat(64 << 10);
    let keys = arrow_array::Int8Array::from(vec![0_i8; 1000]);
    let dictionary = DictionaryArray::new(keys, texts(&[&text]));
    let dictionary = batch(vec![("run", Arc::new(dictionary))]);
    // Read as a column of texts: that it was a dictionary stands only in what is left out here.
    let plain = ArrowWriterOptions::new().with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), dictionary.schema(), plain).unwrap();
    writer.write(&dictionary).unwrap();
    let file = writer.into_inner().unwrap();
    assert!(file.len() < 1 << 20, "{}", file.len());
    let mut lines =
        ColumnLines::open_input(ColumnForm::Parquet, Box::new(Cursor::new(file)), ColumnOptions::default()).unwrap();
    let mut head = vec![0; 3 << 20];
    lines.read_exact(&mut head).unwrap();
    assert!(lines.text.capacity() < 4 << 20, "{}", lines.text.capacity());
}

/// The footer of a file says where the body of a message begins: the lengths that are bounded are those which the decoder will read.
#[test]
fn a_body_that_begins_elsewhere_is_bounded_too() {
    let table = batch(vec![("run", texts(&["{}", "[]"]))]);
    let options = IpcWriteOptions::default().try_with_compression(Some(arrow_ipc::CompressionType::LZ4_FRAME)).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &table.schema(), options).unwrap();
    writer.write(&table).unwrap();
    let file = writer.into_inner().unwrap();
    let (rest, length) = file[..file.len() - 6].split_last_chunk::<4>().unwrap();
    let footer = &rest[rest.len() - usize::try_from(i32::from_le_bytes(*length)).unwrap()..];
    let block = *arrow_ipc::root_as_footer(footer).unwrap().recordBatches().unwrap().get(0);
    let written = [&block.offset().to_le_bytes()[..], &block.metaDataLength().to_le_bytes()[..]].concat();
    let place = file.windows(written.len()).rposition(|part| part == written).unwrap() + 8;
    for moved in 1..=block.metaDataLength() {
        let mut file = file.clone();
        file[place..place + 4].copy_from_slice(&(block.metaDataLength() - moved).to_le_bytes());
        assert!(bounded(file, 4 << 20).is_err(), "{moved}");
    }
}

/// Arrow states the length of each compressed buffer, which is believed only within the limit.
#[test]
fn lengths_of_arrow_are_bounded() {
    let table = batch(vec![("run", texts(&[&"[".repeat(1 << 20), "{}"]))]);
    for compression in [arrow_ipc::CompressionType::ZSTD, arrow_ipc::CompressionType::LZ4_FRAME] {
        let options = || IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &table.schema(), options()).unwrap();
        writer.write(&table).unwrap();
        let file = writer.into_inner().unwrap();
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &table.schema(), options()).unwrap();
        writer.write(&table).unwrap();
        let stream = writer.into_inner().unwrap();
        for bytes in [file, stream] {
            assert!(bounded(bytes.clone(), 100 << 10).unwrap_err().contains("a batch of rows takes more than"));
            assert_eq!(bounded(bytes.clone(), 4 << 20).map(|text| text.len()), Ok((1 << 20) + 4));
            // The length of the texts is stated as more than any machine has.
            let stated = (1_i64 << 20) + 2;
            let place = bytes.windows(8).position(|part| part == stated.to_le_bytes()).unwrap();
            for forged in [i64::MAX, 1 << 40, -2] {
                let mut bytes = bytes.clone();
                bytes[place..place + 8].copy_from_slice(&forged.to_le_bytes());
                assert!(bounded(bytes, 4 << 20).is_err());
            }
        }
    }
}

#[test]
fn a_table_is_read_as_it_was_written() {
    let kinds = [CellKind::Text, CellKind::Whole, CellKind::Number, CellKind::Flag, CellKind::Texts];
    let columns: Vec<(&str, CellKind)> = ["a", "b", "c", "d", "e"].into_iter().zip(kinds).collect();
    let mut bytes = Vec::new();
    let mut table = TableWriter::create_table(&mut bytes, &columns).unwrap();
    let tags = ["x".to_owned(), "\u{1b}y".to_owned()];
    let mut wanted = String::new();
    for number in 0..2500_i64 {
        let text = format!("t{number}");
        let cells = [
            TableCell::Text(Some(&text)),
            TableCell::Whole(Some(number - 1)),
            TableCell::Number(Some(0.25)),
            TableCell::Flag(Some(true)),
            TableCell::Texts(&tags),
        ];
        table.add_row(&cells).unwrap();
        let rest = r#""c":0.25,"d":true,"e":["x","\u001by"]"#;
        wanted.push_str(&format!("{{\"a\":\"{text}\",\"b\":{},{rest}}}\n", number - 1));
    }
    let none = [TableCell::Text(None), TableCell::Whole(None), TableCell::Number(None), TableCell::Flag(None)];
    table.add_row(&[none.as_slice(), &[TableCell::Texts(&[])]].concat()).unwrap();
    assert!(table.add_row(&none).is_err(), "a row with too few cells");
    table.finish_table().unwrap();
    let text = lines_with(bytes, ColumnOptions::default()).unwrap();
    let (last, rows) = (text.lines().last().unwrap(), text.rfind("{").unwrap());
    assert_eq!(&text[..rows], wanted);
    assert!(last.contains("\"e\":[]") && !last.contains("\"b\":0"), "{last}");
}

#[test]
fn a_table_hands_on_its_rows_while_they_come_and_may_be_empty() {
    let written = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    struct Kept(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);
    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut table = TableWriter::create_table(Kept(written.clone()), &[("a", CellKind::Text)]).unwrap();
    // Texts that no dictionary and no compression makes small.
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(33 + u8::try_from(state >> 58).unwrap())
    };
    let noise: String = (0..1 << 19).map(|_| letter()).collect();
    for number in 0..40 {
        table.add_row(&[TableCell::Text(Some(&format!("{number}{noise}")))]).unwrap();
    }
    assert!(written.borrow().len() > 10 << 20, "rows are handed on before the end");
    table.finish_table().unwrap();
    let mut empty = Vec::new();
    TableWriter::create_table(&mut empty, &[("a", CellKind::Text)]).unwrap().finish_table().unwrap();
    assert_eq!(lines_with(empty, ColumnOptions::default()).as_deref(), Ok(""));
}
