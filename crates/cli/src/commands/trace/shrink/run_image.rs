//! The properties of runs that must stay the same while a trace shrinks.

use averment::{Rules, Trace, Verdict};
use averment_base::limits::Limits;
use averment_base::value::{Value, json};
use averment_bulk::feed::{self, RunReadOptions, TraceInput};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{Run, StepKind};
use averment_runs::write_normal::normal_form;
use bumpalo::Bump;

/// Fields of the normal form whose text determines the kind or result of a step. All other texts may change.
const TELLING_FIELDS: [&str; 3] = [of_step::STATUS, of_step::ROLE, of_step::KIND];

/// A run without its texts and names, for comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunImage {
    format: &'static str,
    /// The normal form without texts and names; empty if steps may be removed.
    outline: String,
    /// Completeness of the run, and counts of records that were not understood.
    completeness: (bool, bool, u64, u64, u64),
    warnings: usize,
    verdicts: Vec<(String, Verdict)>,
}

/// The image of a run, or why it cannot be read.
pub(super) type ReadImage = Result<RunImage, String>;

/// Reads traces and judges their runs, to compare them.
pub(super) struct ImageReader {
    pub name: String,
    pub reading: RunReadOptions,
    pub rules: Option<Rules>,
    /// True if every step must be kept.
    pub keeps_steps: bool,
}

impl ImageReader {
    /// The images of all runs of a trace, in order.
    pub(super) fn read_images(&self, text: &str) -> Vec<ReadImage> {
        let input = TraceInput::Made { name: self.name.clone(), bytes: text.as_bytes().to_vec(), names: Vec::new() };
        let mut arena = Bump::new();
        let mut images = Vec::new();
        for chunk in feed::run_chunks(&input, &self.reading) {
            for raw in chunk.raw_runs() {
                let image = match raw {
                    Ok(raw) => match self.reading.parse_run(raw, &arena) {
                        Ok(run) => Ok(self.image_of(&run)),
                        Err(error) => Err(averment_report::model::UnreadableTrace::from(error).message),
                    },
                    Err(unreadable) => Err(unreadable.message),
                };
                images.push(image);
                arena.reset();
            }
        }
        self.add_verdicts(text, &mut images);
        images
    }

    fn image_of(&self, run: &Run<'_>) -> RunImage {
        let records = run.records;
        RunImage {
            format: run.format,
            outline: if self.keeps_steps { outline_of(run, &self.reading.limits) } else { String::new() },
            completeness: (run.complete, run.concludes_ok, records.not_understood, records.missing_calls, records.lost),
            warnings: run.warnings.len(),
            verdicts: Vec::new(),
        }
    }

    fn add_verdicts(&self, text: &str, images: &mut [ReadImage]) {
        let Some(rules) = &self.rules else { return };
        let outcomes = rules.check(Trace::from(text).named(self.name.as_str()));
        for (image, outcome) in images.iter_mut().zip(outcomes) {
            if let (Ok(image), Ok(outcome)) = (image, outcome) {
                image.verdicts = outcome.results().map(|one| (one.id().to_owned(), one.verdict())).collect();
            }
        }
    }
}

fn outline_of(run: &Run<'_>, limits: &Limits) -> String {
    let text = normal_form(run);
    let arena = Bump::new();
    let mut out = String::new();
    if let Ok(document) = json::parse_recorded(&text, 0, &arena, limits) {
        write_outline(&document.node.value, OutlinePlace::Run, &mut out);
    }
    out
}

/// The location of a value in the normal form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutlinePlace {
    Run,
    Steps,
    Step,
    Telling,
    Inside,
}

impl OutlinePlace {
    fn below(self, key: &str) -> Self {
        let is_list = key == of_run::STEPS || StepKind::ALL.iter().any(|kind| kind.list_key() == key);
        match self {
            Self::Run if is_list => Self::Steps,
            Self::Step if TELLING_FIELDS.contains(&key) => Self::Telling,
            _ => Self::Inside,
        }
    }
}

fn write_outline(value: &Value<'_>, place: OutlinePlace, out: &mut String) {
    match value {
        // The elements of `steps` include words that name kinds of steps.
        Value::Text(text) if matches!(place, OutlinePlace::Telling | OutlinePlace::Step) => {
            json::write_text(text.as_str(), out);
        }
        Value::Text(_) => out.push_str("\"\""),
        Value::List(items) => {
            let inner = if place == OutlinePlace::Steps { OutlinePlace::Step } else { OutlinePlace::Inside };
            out.push('[');
            for item in *items {
                write_outline(&item.value, inner, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            for entry in object.entries() {
                if place != OutlinePlace::Inside {
                    out.push_str(entry.key);
                }
                out.push(':');
                write_outline(&entry.node.value, place.below(entry.key), out);
                out.push(',');
            }
            out.push('}');
        }
        other => json::write_json(other, out),
    }
}
