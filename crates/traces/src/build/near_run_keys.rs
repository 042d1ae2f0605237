//! Keys at the top of a run that are nearly one of the normal form: a rule about `error` does not see `eror`.

use crate::names::PartNames;
use averment_base::near::{NearMiss, near_miss};
use averment_base::value::{Object, ObjectEntry, Value};
use averment_runs::normal::{EntryType, entry_type, of_run};
use averment_runs::run::StepKind;

/// The key of the normal form that a key nearly is; `None` for the keys themselves.
pub(crate) fn near_run_key(key: &str) -> Option<&'static str> {
    let lists = || StepKind::ALL.into_iter().map(StepKind::list_key);
    // `duration_ms` is a name of its own, which other traces have for `duration`.
    if of_run::ALL.into_iter().chain(lists()).any(|known| known == key) || PartNames::known_names().has_name(key) {
        return None;
    }
    // `completed` says something else than `complete`.
    let is_form = |known: &str| key.strip_prefix(known).is_some_and(|rest| matches!(rest, "d" | "ed"));
    let how = |known: &str| near_miss(key, known).filter(|how| *how != NearMiss::Namespace && !is_form(known));
    of_run::ALL
        .into_iter()
        .chain(lists())
        .filter_map(|known| how(known).map(|how| (how, known)))
        .min_by_key(|(how, _)| *how)
        .map(|(_, known)| known)
}

/// What is said of an entry whose key is misspelt: the key that it nearly has is not there, and its value is what stands under such a key.
pub(super) fn misspelt_key(object: Object<'_>, entry: &ObjectEntry<'_>) -> Option<String> {
    let known = near_run_key(entry.key)?;
    let is_list = StepKind::ALL.iter().any(|kind| kind.list_key() == known) || known == of_run::STEPS;
    let fits = match (entry.node.value, entry_type(known)) {
        (Value::Null | Value::Absent | Value::Missing, _) => false,
        (value, _) if is_list => matches!(value, Value::List(_)),
        (value, EntryType::Number) => matches!(value, Value::Number(_)),
        (value, EntryType::Object) => matches!(value, Value::Object(_)),
        (value, EntryType::Boolean) => matches!(value, Value::Boolean(_)),
        (value, EntryType::TextOrNumber) => matches!(value, Value::Text(_) | Value::Number(_)),
        (_, EntryType::Any) => true,
    };
    let is_there = object.get(known).is_some();
    (fits && !is_there).then(|| {
        format!(
            "the run has the key `{}` and no `{known}`: rules about `{known}` do not see it; rename the key",
            entry.key
        )
    })
}
