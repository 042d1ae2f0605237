//! Reading runs: the normal form, the formats of the field, files good and bad.

#[path = "trace/commands.rs"]
mod commands;
#[path = "trace/normal_form.rs"]
mod normal_form;
