//! A derivation as one HTML page. It loads nothing, and all text from the run and the rules is escaped.

use super::view::DerivationView;
use averment_base::diagnostic::render::printable;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, context};

/// Renders the page.
///
/// # Errors
/// Returns a message if the template cannot be rendered, which never happens for a view from [`super::view()`].
pub fn render_html(view: &DerivationView) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("derivation.html", include_str!("derivation.html")).map_err(|error| error.to_string())?;
    let template = environment.get_template("derivation.html").map_err(|error| error.to_string())?;
    let page = template.render(context! { view => Value::from(Serde(view)) }).map_err(|error| error.to_string())?;
    Ok(printable(&page).into_owned())
}
