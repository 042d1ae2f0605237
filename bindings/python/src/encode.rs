//! Converts runs from Python objects to traces.

use averment::Trace;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple};
use std::io::Write;
use std::path::PathBuf;

/// Maximum nesting depth of a run. Readers refuse more than 256 levels unless limits say otherwise.
const DEPTH: usize = 512;

/// Converts an argument to a trace: text and bytes are used as they are, a path is read as a file, anything else is written as JSON.
pub fn read_trace(run: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<Trace> {
    let trace = if let Ok(text) = run.cast::<PyString>() {
        Trace::from(text.to_str()?)
    } else if let Ok(bytes) = run.cast::<PyBytes>() {
        Trace::from(bytes.as_bytes())
    } else if let Ok(bytes) = run.cast::<PyByteArray>() {
        Trace::from(bytes.to_vec())
    } else if run.cast::<PyMemoryView>().is_ok() {
        Trace::from(run.call_method0("tobytes")?.cast::<PyBytes>()?.as_bytes())
    } else if let Some(path) = file_path(run)? {
        let trace = Trace::file(path);
        return Ok(match name {
            Some(name) => trace.named(name),
            None => trace,
        });
    } else {
        let mut text = Vec::new();
        write_run(run, &mut text)?;
        return Ok(Trace::from(text).named(name.unwrap_or_else(|| "<run>".to_owned())));
    };
    Ok(match name {
        Some(name) => trace.named(name),
        None => trace,
    })
}

fn file_path(run: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    match run.is_instance_of::<PyDict>() || run.is_instance_of::<PyList>() || !run.hasattr("__fspath__")? {
        true => Ok(None),
        false => run.extract::<PathBuf>().map(Some),
    }
}

/// Writes a run to `out` as JSON.
pub fn write_run(run: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    if run.is_none() || run.is_instance_of::<PyInt>() || run.is_instance_of::<PyFloat>() {
        let given = run.get_type().name()?;
        let message = format!("a run is a dict, a list of messages, JSON text, bytes or a path, not {given}");
        return Err(PyTypeError::new_err(message));
    }
    write_value(run, out, 0)
}

fn write_value(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    if depth > DEPTH {
        return Err(PyValueError::new_err(format!("values of a run nest deeper than {DEPTH}")));
    }
    if let Ok(text) = value.cast::<PyString>() {
        write_text(text, out)
    } else if let Ok(object) = value.cast::<PyDict>() {
        write_object(object, out, depth)
    } else if let Ok(list) = value.cast::<PyList>() {
        write_list(list.iter(), out, depth)
    } else if value.is_none() {
        out.extend_from_slice(b"null");
        Ok(())
    } else if let Ok(flag) = value.cast::<PyBool>() {
        out.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
        Ok(())
    } else if let Ok(number) = value.cast::<PyInt>() {
        write_integer(number, out)
    } else if let Ok(number) = value.cast::<PyFloat>() {
        write_float(number, out)
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        write_list(tuple.iter(), out, depth)
    } else {
        write_value(&plain_value(value)?, out, depth + 1)
    }
}

fn write_list<'py>(list: impl Iterator<Item = Bound<'py, PyAny>>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    out.push(b'[');
    for (number, item) in list.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        write_value(&item, out, depth + 1)?;
    }
    out.push(b']');
    Ok(())
}

/// Writes a dict as an object. The pairs are copied first, because Python code that runs meanwhile may change the dict.
fn write_object(object: &Bound<'_, PyDict>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    out.push(b'{');
    for (number, pair) in object.items().iter().enumerate() {
        let (key, value) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        if number > 0 {
            out.push(b',');
        }
        match key.cast::<PyString>() {
            Ok(key) => write_text(key, out)?,
            Err(_) => write_text(&key_text(&key)?, out)?,
        }
        out.push(b':');
        write_value(&value, out, depth + 1)?;
    }
    out.push(b'}');
    Ok(())
}

/// Converts a key that is not text, as `json.dumps` does.
fn key_text<'py>(key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let mut text = Vec::new();
    if key.is_none() || key.is_instance_of::<PyInt>() || key.is_instance_of::<PyFloat>() {
        write_value(key, &mut text, 0)?;
        return Ok(PyString::new(key.py(), &String::from_utf8_lossy(&text)));
    }
    let given = key.get_type().name()?;
    Err(PyTypeError::new_err(format!("keys of a run are text, not {given}")))
}

fn write_integer(number: &Bound<'_, PyInt>, out: &mut Vec<u8>) -> PyResult<()> {
    match number.extract::<i64>() {
        Ok(number) => Ok(write!(out, "{number}")?),
        // Too large for `i64`. `int.__repr__` is called because a subclass may have its own text (`IntEnum`).
        Err(_) => {
            let digits = number.py().get_type::<PyInt>().call_method1("__repr__", (number,))?;
            out.extend_from_slice(digits.cast::<PyString>()?.to_str()?.as_bytes());
            Ok(())
        }
    }
}

/// Writes a number as `json.dumps` does, with `NaN` and `Infinity`, so that readers report them as they do for text.
fn write_float(number: &Bound<'_, PyFloat>, out: &mut Vec<u8>) -> PyResult<()> {
    let value = number.value();
    if value.is_finite() {
        let digits = number.py().get_type::<PyFloat>().call_method1("__repr__", (number,))?;
        out.extend_from_slice(digits.cast::<PyString>()?.to_str()?.as_bytes());
    } else {
        let word: &[u8] = match (value.is_nan(), value > 0.0) {
            (true, _) => b"NaN",
            (_, true) => b"Infinity",
            _ => b"-Infinity",
        };
        out.extend_from_slice(word);
    }
    Ok(())
}

fn write_text(text: &Bound<'_, PyString>, out: &mut Vec<u8>) -> PyResult<()> {
    match text.to_str() {
        Ok(text) => Ok(serde_json::to_writer(&mut *out, text).map_err(std::io::Error::from)?),
        Err(_) => write_surrogates(text, out),
    }
}

/// Writes a text with unpaired surrogates as escapes, because JSON allows them and UTF-8 does not.
fn write_surrogates(text: &Bound<'_, PyString>, out: &mut Vec<u8>) -> PyResult<()> {
    let units = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units = units.cast::<PyBytes>()?.as_bytes().chunks_exact(2);
    out.push(b'"');
    for unit in units.filter_map(|pair| Some(u16::from_le_bytes(pair.try_into().ok()?))) {
        match u8::try_from(unit) {
            Ok(plain @ (b' '..=b'!' | b'#'..=b'[' | b']'..=b'~')) => out.push(plain),
            _ => write!(out, "\\u{unit:04x}")?,
        }
    }
    out.push(b'"');
    Ok(())
}

/// Converts values without a JSON form (models, dates, enumerations) to values that have one.
fn plain_value<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static CONVERTER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CONVERTER.import(value.py(), "averment._plain", "to_plain")?.call1((value,))
}
