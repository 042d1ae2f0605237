//! What becomes of columns, and that no file stops the program.

use super::*;
use arrow_array::builder::{MapBuilder, StringBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, Decimal128Array, DictionaryArray, DurationSecondArray, Float64Array, Int64Array, ListArray,
    RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
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

/// Cut off anywhere, and with bytes changed anywhere: lines or an error, and no panic. What a library prints of its own is not shown.
#[test]
fn damaged_files_are_errors() {
    let table = batch(vec![
        ("id", texts(&["a", "b", "c"])),
        ("messages", texts(&["[]", r#"[{"role":"user","content":"hi"}]"#, "[]"])),
        ("number", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]))),
    ]);
    let files = [
        parquet_file(&table, Compression::SNAPPY),
        parquet_file(&table, Compression::ZSTD(ZstdLevel::default())),
        arrow_file(&table),
        arrow_stream(&table),
    ];
    std::panic::set_hook(Box::new(|_| {}));
    let (mut errors, mut state) = (0, 0x2545_F491_4F6C_DD1D_u64);
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for file in &files {
        for _ in 0..500 {
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
    let _ = std::panic::take_hook();
    assert!(errors > 500, "{errors}");
}
