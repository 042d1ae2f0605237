//! Fills in Nunjucks templates in the values of a config with the variables of a test.
//!
//! Templates are rendered by minijinja. Values are printed as in JavaScript, and only filters that need no code are available. Template size, steps
//! and output are bounded because the file is untrusted.

use super::values::script_number;
use crate::yaml::{YamlNode, YamlValue};
use minijinja::value::{Enumerator, Object, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior};
use std::sync::Arc;

/// Maximum size in bytes of a template and of its output.
const LONGEST: usize = 256 * 1024;
const FUEL: u64 = 200_000;

/// The variables of a test, and the engine that fills in templates with them.
pub(crate) struct TemplateVars {
    environment: Environment<'static>,
    values: Value,
}

impl TemplateVars {
    /// Reads the variables of a mapping.
    pub(crate) fn new(vars: Option<&YamlNode>) -> Self {
        let entries = vars.map(YamlNode::entries).unwrap_or_default();
        Self { environment: environment(), values: mapping_value(entries) }
    }

    /// Renders a template.
    ///
    /// # Errors
    /// The reason why the template cannot be rendered.
    pub(crate) fn render(&self, text: &str) -> Result<String, String> {
        if !["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
            return Ok(text.to_owned());
        }
        if text.len() > LONGEST {
            return Err(format!("it is longer than {} KiB", LONGEST >> 10));
        }
        let template = self.environment.template_from_str(text).map_err(|error| error_words(&error))?;
        let mut out = LimitedText::default();
        template.render_captured_to(&self.values, &mut out).map_err(|error| error_words(&error))?;
        // minijinja drops one trailing line end, so it is put back.
        out.bytes.extend(text.ends_with('\n').then_some(b'\n'));
        String::from_utf8(out.bytes).map_err(|_| "it gives no text".to_owned())
    }
}

fn error_words(error: &Error) -> String {
    let detail = error.detail().unwrap_or_default();
    let line = error.line().map(|line| format!(", in line {line} of the template")).unwrap_or_default();
    match detail.is_empty() {
        true => format!("{}{line}", error.kind()),
        false => format!("{}: {detail}{line}", error.kind()),
    }
}

#[derive(Default)]
struct LimitedText {
    bytes: Vec<u8>,
}

impl std::io::Write for LimitedText {
    fn write(&mut self, more: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len().saturating_add(more.len()) > LONGEST {
            return Err(std::io::Error::other("it gives more than 256 KiB"));
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn template_value(node: &YamlNode) -> Value {
    match &node.value {
        YamlValue::Null => Value::from(()),
        YamlValue::Bool(value) => Value::from(*value),
        YamlValue::Number(number) => match number.parse::<i64>() {
            Ok(whole) => Value::from(whole),
            Err(_) => Value::from(number.parse::<f64>().unwrap_or_default()),
        },
        YamlValue::Text(text) => Value::from(text.as_str()),
        YamlValue::List(items) => items.iter().map(template_value).collect(),
        YamlValue::Map(entries) => mapping_value(entries),
    }
}

/// A mapping that keeps the order of its file.
#[derive(Debug)]
struct OrderedMapping(Vec<(String, Value)>);

impl Object for OrderedMapping {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let key = key.as_str()?;
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.iter().map(|(name, _)| Value::from(name.as_str())).collect())
    }
}

fn mapping_value(entries: &[(YamlNode, YamlNode)]) -> Value {
    let entries = entries.iter().map(|(key, value)| (key.key_text(), template_value(value)));
    Value::from_object(OrderedMapping(entries.collect()))
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    environment.set_formatter(write_value);
    environment.add_filter("lower", |text: Value| printed(&text).to_lowercase());
    environment.add_filter("upper", |text: Value| printed(&text).to_uppercase());
    environment.add_filter("trim", |text: Value| printed(&text).trim().to_owned());
    environment.add_filter("string", |text: Value| printed(&text));
    environment.add_filter("safe", |text: Value| text);
    environment.add_filter("escape", |text: Value| escape_markup(&printed(&text)));
    environment.add_filter("capitalize", |text: Value| capitalize(&printed(&text)));
    environment
        .add_filter("title", |text: Value| printed(&text).split(' ').map(capitalize).collect::<Vec<_>>().join(" "));
    environment.add_filter("length", |value: Value| value.len().unwrap_or(0));
    environment.add_filter("wordcount", |text: Value| printed(&text).split_whitespace().count());
    environment.add_filter("first", |value: Value| element(&value, false));
    environment.add_filter("last", |value: Value| element(&value, true));
    environment.add_filter("join", |value: Value, glue: Option<String>| {
        let items: Vec<String> = value.try_iter()?.map(|item| printed(&item)).collect();
        Ok::<_, Error>(items.join(glue.as_deref().unwrap_or("")))
    });
    environment
        .add_filter("replace", |text: Value, from: String, to: String| limited(printed(&text).replace(&from, &to)));
    environment.add_filter("default", |value: Value, other: Option<Value>, falsy: Option<bool>| {
        let use_other = value.is_undefined() || falsy == Some(true) && !value.is_true();
        if use_other { other.unwrap_or_else(|| Value::from("")) } else { value }
    });
    environment.add_filter("dump", |value: Value| script_json(&value));
    environment.add_filter("abs", |value: f64| plain(value.abs()));
    environment.add_filter("round", |value: f64| plain(value.round()));
    environment.add_filter("int", |value: Value| plain(printed(&value).trim().parse::<f64>().unwrap_or(0.0).trunc()));
    environment.add_filter("float", |value: Value| plain(printed(&value).trim().parse::<f64>().unwrap_or(0.0)));
    environment.add_filter("reverse", |value: Value| match value.as_str() {
        Some(text) => Ok(Value::from(text.chars().rev().collect::<String>())),
        None => {
            let mut items: Vec<Value> = value.try_iter()?.collect();
            items.reverse();
            Ok::<_, Error>(Value::from(items))
        }
    });
    environment
}

fn limited(text: String) -> Result<String, Error> {
    match text.len() > LONGEST {
        true => Err(Error::new(ErrorKind::InvalidOperation, "a text is longer than 256 KiB")),
        false => Ok(text),
    }
}

fn plain(value: f64) -> Value {
    #[allow(clippy::cast_possible_truncation, reason = "it is whole and small")]
    match value.fract() == 0.0 && value.abs() < 9e15 {
        true => Value::from(value as i64),
        false => Value::from(value),
    }
}

fn element(value: &Value, last: bool) -> Value {
    if let Some(text) = value.as_str() {
        let letter = if last { text.chars().next_back() } else { text.chars().next() };
        return letter.map_or(Value::UNDEFINED, |letter| Value::from(letter.to_string()));
    }
    let Ok(mut items) = value.try_iter() else { return Value::UNDEFINED };
    let found = if last { items.last() } else { items.next() };
    found.unwrap_or(Value::UNDEFINED)
}

fn capitalize(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut letters = lower.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn escape_markup(text: &str) -> String {
    let signs = [("&", "&amp;"), ("\"", "&quot;"), ("'", "&#39;"), ("<", "&lt;"), (">", "&gt;"), ("`", "&#96;")];
    signs.iter().fold(text.to_owned(), |text, (sign, name)| text.replace(sign, name))
}

fn write_value(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    out.write_str(&printed(value)).map_err(Error::from)
}

/// Returns the text that a template prints for a value.
fn printed(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => String::new(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Number => script_number(&value.to_string()),
        ValueKind::Map => "[object Object]".to_owned(),
        ValueKind::Seq | ValueKind::Iterable => value
            .try_iter()
            .map(|items| items.map(|item| printed(&item)).collect::<Vec<_>>().join(","))
            .unwrap_or_default(),
        _ => value.to_string(),
    }
}

/// `JSON.stringify(value)`.
fn script_json(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return crate::yaml::json_text(text);
    }
    match value.kind() {
        ValueKind::Undefined => String::new(),
        ValueKind::None => "null".to_owned(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Number => script_number(&value.to_string()),
        ValueKind::Map => {
            let keys: Vec<Value> = value.try_iter().map(Iterator::collect).unwrap_or_default();
            let entry = |key: &Value| {
                let inner = value.get_item(key).unwrap_or_default();
                format!("{}:{}", crate::yaml::json_text(&printed(key)), script_json(&inner))
            };
            format!("{{{}}}", keys.iter().map(entry).collect::<Vec<_>>().join(","))
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<String> =
                value.try_iter().map(|items| items.map(|item| script_json(&item)).collect()).unwrap_or_default();
            format!("[{}]", items.join(","))
        }
        _ => value.to_string(),
    }
}

/// Fills in templates inside of variables, as promptfoo does before a test. A template that cannot be filled in stays as written.
pub(super) fn fill_vars(vars: &YamlNode) -> YamlNode {
    const TURNS: usize = 3;
    let mut filled = vars.clone();
    for _ in 0..TURNS {
        let templates = TemplateVars::new(Some(&filled));
        let mut changed = false;
        if let YamlValue::Map(entries) = &mut filled.value {
            for (_, value) in entries.iter_mut() {
                let YamlValue::Text(text) = &value.value else { continue };
                let Ok(new) = templates.render(text) else { continue };
                changed |= new != *text;
                value.value = YamlValue::Text(new);
            }
        }
        if !changed {
            break;
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str) -> Result<String, String> {
        let vars = crate::yaml::parse_document(
            "name: Bob\nn: 3\nf: 1.50\nlist: [a, b]\nmap: {k: v}\nyes: true\nnone: null",
            averment_base::source::FileId(0),
            crate::yaml::YamlSchema::Core,
        );
        TemplateVars::new(vars.ok().as_ref()).render(text)
    }

    #[test]
    fn values_print_as_javascript_prints_them() {
        for (text, printed) in [
            ("{{name}} {{n}} {{f}}", "Bob 3 1.5"),
            ("{{list}} {{map}} {{yes}} [{{none}}] [{{gone}}] [{{gone.deep}}]", "a,b [object Object] true [] [] []"),
            ("{{ name | upper }} {{ list | join('-') }} {{ map | dump }}", "BOB a-b {\"k\":\"v\"}"),
            ("{% if n > 2 %}many{% else %}few{% endif %}", "many"),
            ("{% for x in list %}<{{x}}>{% endfor %}", "<a><b>"),
            ("{{ gone | default('x') }} {{ '' | default('y', true) }}", "x y"),
            ("no template } here", "no template } here"),
        ] {
            assert_eq!(render(text).as_deref(), Ok(printed), "{text}");
        }
    }

    #[test]
    fn hostile_templates_end() {
        let nested = "{% for a in list %}".repeat(30) + "x" + &"{% endfor %}".repeat(30);
        for text in ["{{ 'a' * 100000000 }}", "{{ name | nothing }}", "{{ ", nested.as_str(), &"(".repeat(100_000)] {
            let wrapped = if text.starts_with('(') { format!("{{{{ {text} }}}}") } else { text.to_owned() };
            assert!(render(&wrapped).is_err(), "{}", wrapped.chars().take(40).collect::<String>());
        }
    }
}
