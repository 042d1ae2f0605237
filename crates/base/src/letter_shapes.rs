//! What texts look like: letters of other scripts are those that they are taken for (Unicode Technical Standard 39).

use unicode_normalization::UnicodeNormalization;

include!(concat!(env!("OUT_DIR"), "/letter_shapes.rs"));

/// The skeleton of a text: two that look alike have the same. To be compared, not to be shown.
///
/// ```
/// use averment_base::letter_shapes::text_skeleton;
/// assert!(text_skeleton("rеfund").eq(text_skeleton("refund")), "the first has a Cyrillic letter");
/// ```
pub fn text_skeleton(text: &str) -> impl Iterator<Item = char> {
    // Nothing is composed in ASCII, and the shape of each of its signs is written as it is.
    let (plain, other) = if text.is_ascii() { (text, "") } else { ("", text) };
    plain.chars().flat_map(letter_shape).chain(other.nfd().flat_map(letter_shape).nfd())
}

fn letter_shape(letter: char) -> impl Iterator<Item = char> {
    let found = LETTERS.binary_search(&u32::from(letter)).ok().map(|place| {
        let end = |place: usize| ENDS.get(place).map_or(0, |end| usize::from(*end));
        let start = place.checked_sub(1).map_or(0, end);
        SHAPES.get(start..end(place)).unwrap_or_default()
    });
    let itself = if found.is_none() { Some(letter) } else { None };
    found.unwrap_or_default().chars().chain(itself)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_security::skeleton;

    #[test]
    fn every_letter_has_the_shape_of_the_standard() {
        for letter in '\0'..=char::MAX {
            let text = letter.to_string();
            assert!(text_skeleton(&text).eq(skeleton(&text)), "{letter:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn texts_have_the_skeletons_of_the_standard(text in "\\PC{0,12}", ascii in "[\\x00-\\x7f]{0,12}") {
            proptest::prop_assert!(text_skeleton(&text).eq(skeleton(&text)));
            proptest::prop_assert!(text_skeleton(&ascii).eq(skeleton(&ascii)));
        }
    }
}
