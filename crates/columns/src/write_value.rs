//! Values of columns as JSON: exactly, or not at all.

use crate::column_error::ColumnError;
use crate::write_time;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, Field, TimeUnit};
use std::fmt::Display;
use std::io::Write as _;

/// Bytes of a line: a text of a dictionary may stand in it any number of times.
const LINE: usize = 1 << 30;
/// Lists, structs and maps in each other.
const DEPTH: usize = 64;

/// Refuses a column of a type that JSON has no exact form for.
pub(crate) fn check_type(field: &Field) -> Result<(), ColumnError> {
    check_nested(field.data_type(), 0).map_err(|kind| {
        let message = format!("the column `{}` is of type {kind}, which is not read", field.name());
        ColumnError::new(message, "write it as text or as a number, or leave it out")
    })
}

fn check_nested(kind: &DataType, depth: usize) -> Result<(), String> {
    if depth > DEPTH {
        return Err(format!("more than {DEPTH} lists and structs in each other"));
    }
    let below = |field: &Field| check_nested(field.data_type(), depth + 1);
    match kind {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => below(field),
        DataType::Struct(fields) => fields.iter().try_for_each(|field| below(field)),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if is_text(fields.first().map_or(&DataType::Null, |key| key.data_type())) => {
                fields.iter().try_for_each(|field| below(field))
            }
            _ => Err("a map whose keys are no text".to_owned()),
        },
        DataType::Dictionary(_, values) => check_nested(values, depth + 1),
        DataType::Duration(_)
        | DataType::Interval(_)
        | DataType::FixedSizeBinary(_)
        | DataType::Union(_, _)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::RunEndEncoded(_, _) => Err(kind.to_string()),
        _ => Ok(()),
    }
}

/// True for texts, and for bytes, which may be text.
pub(crate) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => true,
        _ => false,
    }
}

/// A text of a column of texts; `None` for a null.
pub(crate) fn text_at(array: &dyn Array, row: usize) -> Result<Option<&str>, ColumnError> {
    if array.is_null(row) {
        return Ok(None);
    }
    let utf8 = |bytes| {
        let wrong = |_| ColumnError::new("bytes that are not UTF-8", "write the column as text");
        std::str::from_utf8(bytes).map(Some).map_err(wrong)
    };
    match array.data_type() {
        DataType::Utf8 => Ok(Some(array.as_string::<i32>().value(row))),
        DataType::LargeUtf8 => Ok(Some(array.as_string::<i64>().value(row))),
        DataType::Utf8View => Ok(Some(array.as_string_view().value(row))),
        DataType::Binary => utf8(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => utf8(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => utf8(array.as_binary_view().value(row)),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let key = dictionary_key(array, row)?;
            text_at(dictionary.values().as_ref(), key)
        }
        other => Err(ColumnError::new(format!("{other} is no text"), "")),
    }
}

/// Appends a text as JSON.
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) -> Result<(), ColumnError> {
    if out.len().saturating_add(text.len()) > LINE {
        return Err(ColumnError::new(format!("a line of more than {LINE} bytes"), "write a run to each row"));
    }
    serde_json::to_writer(out, text).map_err(|error| ColumnError::new(error.to_string(), ""))
}

/// Appends a value; the bytes of a null are `null`.
pub(crate) fn write_value(array: &dyn Array, row: usize, out: &mut Vec<u8>) -> Result<(), ColumnError> {
    if row >= array.len() {
        return Err(ColumnError::damaged_file("a column is too short"));
    }
    if array.is_null(row) {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    match array.data_type() {
        DataType::Null => out.extend_from_slice(b"null"),
        DataType::Boolean => {
            out.extend_from_slice(if array.as_boolean().value(row) { b"true" } else { b"false" });
        }
        kind if is_text(kind) => write_text(text_at(array, row)?.unwrap_or_default(), out)?,
        DataType::Dictionary(_, _) => {
            let key = dictionary_key(array, row)?;
            write_value(array.as_any_dictionary().values().as_ref(), key, out)?;
        }
        DataType::List(_) => write_list(array.as_list::<i32>().value(row).as_ref(), out)?,
        DataType::LargeList(_) => write_list(array.as_list::<i64>().value(row).as_ref(), out)?,
        DataType::FixedSizeList(_, _) => write_list(array.as_fixed_size_list().value(row).as_ref(), out)?,
        DataType::Struct(fields) => {
            let array = array.as_struct();
            write_object(fields.iter().map(|field| field.name().as_str()).zip(array.columns()), row, out)?;
        }
        DataType::Map(_, _) => write_map(&array.as_map().value(row), out)?,
        kind if kind.is_numeric() => write_number(array, row, out)?,
        _ => write_instant(array, row, out)?,
    }
    Ok(())
}

fn write_list(items: &dyn Array, out: &mut Vec<u8>) -> Result<(), ColumnError> {
    out.push(b'[');
    for row in 0..items.len() {
        if row > 0 {
            out.push(b',');
        }
        write_value(items, row, out)?;
    }
    out.push(b']');
    Ok(())
}

/// A field that is null is left out: the fields of a struct are there for every row.
fn write_object<'a>(
    fields: impl Iterator<Item = (&'a str, &'a arrow_array::ArrayRef)>,
    row: usize,
    out: &mut Vec<u8>,
) -> Result<(), ColumnError> {
    out.push(b'{');
    let start = out.len();
    for (name, values) in fields {
        if values.is_null(row) || *values.data_type() == DataType::Null {
            continue;
        }
        if out.len() > start {
            out.push(b',');
        }
        write_text(name, out)?;
        out.push(b':');
        write_value(values.as_ref(), row, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn write_map(entries: &arrow_array::StructArray, out: &mut Vec<u8>) -> Result<(), ColumnError> {
    let (Some(keys), Some(values)) = (entries.columns().first(), entries.columns().get(1)) else {
        return Err(ColumnError::damaged_file("a map without values"));
    };
    out.push(b'{');
    for row in 0..entries.len() {
        if row > 0 {
            out.push(b',');
        }
        write_text(text_at(keys.as_ref(), row)?.unwrap_or_default(), out)?;
        out.push(b':');
        write_value(values.as_ref(), row, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn dictionary_key(array: &dyn Array, row: usize) -> Result<usize, ColumnError> {
    fn key<K: ArrowDictionaryKeyType>(array: &dyn Array, row: usize) -> Option<usize> {
        array.as_dictionary::<K>().key(row)
    }
    let DataType::Dictionary(kind, _) = array.data_type() else {
        return Err(ColumnError::damaged_file("no dictionary"));
    };
    let found = match **kind {
        DataType::Int8 => key::<Int8Type>(array, row),
        DataType::Int16 => key::<Int16Type>(array, row),
        DataType::Int32 => key::<Int32Type>(array, row),
        DataType::Int64 => key::<Int64Type>(array, row),
        DataType::UInt8 => key::<UInt8Type>(array, row),
        DataType::UInt16 => key::<UInt16Type>(array, row),
        DataType::UInt32 => key::<UInt32Type>(array, row),
        DataType::UInt64 => key::<UInt64Type>(array, row),
        _ => None,
    };
    found.ok_or_else(|| ColumnError::damaged_file("a dictionary without this key"))
}

fn native<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    let array: &PrimitiveArray<T> = array.as_primitive::<T>();
    array.value(row)
}

fn write_shown(value: impl Display, out: &mut Vec<u8>) -> Result<(), ColumnError> {
    write!(out, "{value}").map_err(|error| ColumnError::new(error.to_string(), ""))
}

fn write_real(value: f64, shown: impl serde::Serialize, out: &mut Vec<u8>) -> Result<(), ColumnError> {
    if !value.is_finite() {
        // As Python writes it: the reader of JSON warns of it.
        let text: &[u8] = if value.is_nan() {
            b"NaN"
        } else if value > 0.0 {
            b"Infinity"
        } else {
            b"-Infinity"
        };
        out.extend_from_slice(text);
        return Ok(());
    }
    serde_json::to_writer(out, &shown).map_err(|error| ColumnError::new(error.to_string(), ""))
}

fn write_number(array: &dyn Array, row: usize, out: &mut Vec<u8>) -> Result<(), ColumnError> {
    match array.data_type() {
        DataType::Int8 => write_shown(native::<Int8Type>(array, row), out),
        DataType::Int16 => write_shown(native::<Int16Type>(array, row), out),
        DataType::Int32 => write_shown(native::<Int32Type>(array, row), out),
        DataType::Int64 => write_shown(native::<Int64Type>(array, row), out),
        DataType::UInt8 => write_shown(native::<UInt8Type>(array, row), out),
        DataType::UInt16 => write_shown(native::<UInt16Type>(array, row), out),
        DataType::UInt32 => write_shown(native::<UInt32Type>(array, row), out),
        DataType::UInt64 => write_shown(native::<UInt64Type>(array, row), out),
        DataType::Float16 => {
            let value = f32::from(native::<Float16Type>(array, row));
            write_real(f64::from(value), value, out)
        }
        DataType::Float32 => {
            let value = native::<Float32Type>(array, row);
            write_real(f64::from(value), value, out)
        }
        DataType::Float64 => {
            let value = native::<Float64Type>(array, row);
            write_real(value, value, out)
        }
        DataType::Decimal32(_, scale) => write_decimal(&native::<Decimal32Type>(array, row).to_string(), *scale, out),
        DataType::Decimal64(_, scale) => write_decimal(&native::<Decimal64Type>(array, row).to_string(), *scale, out),
        DataType::Decimal128(_, scale) => write_decimal(&native::<Decimal128Type>(array, row).to_string(), *scale, out),
        DataType::Decimal256(_, scale) => write_decimal(&native::<Decimal256Type>(array, row).to_string(), *scale, out),
        other => Err(ColumnError::new(format!("a value of type {other} is not read"), "write it as text")),
    }
}

/// All digits, with the point where the scale says.
fn write_decimal(digits: &str, scale: i8, out: &mut Vec<u8>) -> Result<(), ColumnError> {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        let zeros = if digits == "0" { 0 } else { places };
        return write_shown(format_args!("{sign}{digits}{:0<zeros$}", ""), out);
    }
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, part) = padded.split_at(padded.len() - places);
    write_shown(format_args!("{sign}{whole}.{part}"), out)
}

fn write_instant(array: &dyn Array, row: usize, out: &mut Vec<u8>) -> Result<(), ColumnError> {
    let text = match array.data_type() {
        DataType::Timestamp(unit, zone) => {
            let value = match unit {
                TimeUnit::Second => native::<TimestampSecondType>(array, row),
                TimeUnit::Millisecond => native::<TimestampMillisecondType>(array, row),
                TimeUnit::Microsecond => native::<TimestampMicrosecondType>(array, row),
                TimeUnit::Nanosecond => native::<TimestampNanosecondType>(array, row),
            };
            write_time::instant_text(value, *unit, zone.is_some())
        }
        DataType::Date32 => write_time::date_text(i64::from(native::<Date32Type>(array, row))),
        DataType::Date64 => write_time::instant_text(native::<Date64Type>(array, row), TimeUnit::Millisecond, false),
        DataType::Time32(TimeUnit::Second) => {
            write_time::clock_text(i64::from(native::<Time32SecondType>(array, row)), TimeUnit::Second)
        }
        DataType::Time32(_) => {
            write_time::clock_text(i64::from(native::<Time32MillisecondType>(array, row)), TimeUnit::Millisecond)
        }
        DataType::Time64(TimeUnit::Nanosecond) => {
            write_time::clock_text(native::<Time64NanosecondType>(array, row), TimeUnit::Nanosecond)
        }
        DataType::Time64(_) => {
            write_time::clock_text(native::<Time64MicrosecondType>(array, row), TimeUnit::Microsecond)
        }
        other => return Err(ColumnError::new(format!("a value of type {other} is not read"), "write it as text")),
    };
    let beyond = || ColumnError::new("a point in time beyond the years -9999 to 9999", "leave the value out");
    write_text(&text.ok_or_else(beyond)?, out)
}
