//! Reads groups, with their names, flags and conditions.

use super::super::pattern::{GroupPurpose, RegexNode};
use super::{PyRegexFlags, PyRegexReader, set_flag};
use crate::regex_flavour::UnusableRegex;

impl PyRegexReader<'_> {
    pub(super) fn read_group(
        &mut self,
        flags: PyRegexFlags,
        depth: usize,
        start: usize,
    ) -> Result<Option<RegexNode>, UnusableRegex> {
        if !self.cursor.take_text("?") {
            return self.read_capture("(".to_owned(), flags, depth, start).map(Some);
        }
        if self.cursor.take_text("P") {
            return self.read_named_group(flags, depth, start).map(Some);
        }
        if self.cursor.take_text("#") {
            self.cursor.take_while(usize::MAX, |letter| letter != ')');
            return if self.cursor.take_text(")") {
                Ok(None)
            } else {
                Err(UnusableRegex::new(start, "this comment is not closed"))
            };
        }
        for (sign, group) in [
            (":", GroupPurpose::Plain),
            ("=", GroupPurpose::Ahead),
            ("!", GroupPurpose::Ahead),
            ("<=", GroupPurpose::Behind),
            ("<!", GroupPurpose::Behind),
            (">", GroupPurpose::Other),
        ] {
            if self.cursor.take_text(sign) {
                let inside = self.close_group(flags, depth, start)?;
                if group == GroupPurpose::Behind {
                    let (least, most) = inside.width_range(&|group| self.width_of(group));
                    if most != Some(least) {
                        return Err(UnusableRegex::new(start, "what is looked back for has to have one length"));
                    }
                }
                return Ok(Some(RegexNode::Group(group, format!("(?{sign}"), Box::new(inside))));
            }
        }
        if self.cursor.take_text("(") {
            return self.read_conditional(flags, depth, start).map(Some);
        }
        self.with_flags(flags, depth, start).map(Some)
    }

    fn width_of(&self, group: u32) -> (u64, Option<u64>) {
        let known = (group as usize).checked_sub(1).and_then(|index| self.groups.get(index).copied().flatten());
        known.unwrap_or((0, None))
    }

    fn close_group(&mut self, flags: PyRegexFlags, depth: usize, start: usize) -> Result<RegexNode, UnusableRegex> {
        let inside = self.read_choice(flags, depth.saturating_add(1))?;
        if self.cursor.take_text(")") { Ok(inside) } else { Err(UnusableRegex::new(start, "this `(` is not closed")) }
    }

    fn read_capture(
        &mut self,
        opening: String,
        flags: PyRegexFlags,
        depth: usize,
        start: usize,
    ) -> Result<RegexNode, UnusableRegex> {
        let number = self.groups.len();
        self.groups.push(None);
        let inside = self.close_group(flags, depth, start)?;
        let width = inside.width_range(&|group| self.width_of(group));
        if let Some(group) = self.groups.get_mut(number) {
            *group = Some(width);
        }
        Ok(RegexNode::Group(GroupPurpose::Plain, opening, Box::new(inside)))
    }

    fn read_group_name(&mut self, end: char) -> Result<String, UnusableRegex> {
        let start = self.cursor.at;
        let name = self.cursor.take_while(usize::MAX, |letter| letter != end).to_owned();
        if self.cursor.next() != Some(end) {
            return Err(UnusableRegex::new(start, format!("the name of the group ends with `{end}`")));
        }
        let mut letters = name.chars();
        let begins = letters.next().is_some_and(|first| first == '_' || first.is_alphabetic());
        if !begins || !letters.all(|letter| letter == '_' || letter.is_alphanumeric()) {
            return Err(UnusableRegex::new(start, format!("`{name}` is no name of a group")));
        }
        Ok(name)
    }

    /// Reads `(?P<name>…)` or `(?P=name)`.
    fn read_named_group(
        &mut self,
        flags: PyRegexFlags,
        depth: usize,
        start: usize,
    ) -> Result<RegexNode, UnusableRegex> {
        if self.cursor.take_text("<") {
            let name = self.read_group_name('>')?;
            if self.names.iter().any(|(known, _)| *known == name) {
                return Err(UnusableRegex::new(start, format!("there are two groups `{name}`")));
            }
            let number = u32::try_from(self.groups.len()).unwrap_or(u32::MAX).saturating_add(1);
            self.names.push((name.clone(), number));
            return self.read_capture(format!("(?P<{name}>"), flags, depth, start);
        }
        if self.cursor.take_text("=") {
            let name = self.read_group_name(')')?;
            let Some((_, group)) = self.names.iter().find(|(known, _)| *known == name) else {
                return Err(UnusableRegex::new(start, format!("there is no group `{name}` before this")));
            };
            return self.group_reference(*group, start);
        }
        Err(UnusableRegex::new(start, "`<name>` or `=name` must follow `(?P`"))
    }

    /// Reads `(?(1)yes|no)`.
    fn read_conditional(
        &mut self,
        flags: PyRegexFlags,
        depth: usize,
        start: usize,
    ) -> Result<RegexNode, UnusableRegex> {
        let digits = self.cursor.rest_text().starts_with(|first: char| first.is_ascii_digit());
        let group = if digits {
            let at = self.cursor.at;
            let number = self.cursor.take_while(usize::MAX, |letter| letter.is_ascii_digit()).parse().unwrap_or(0);
            if number == 0 || !self.cursor.take_text(")") {
                return Err(UnusableRegex::new(at, "a condition is the number or the name of a group"));
            }
            self.asked.push((at, number));
            number
        } else {
            let name = self.read_group_name(')')?;
            let Some((_, group)) = self.names.iter().find(|(known, _)| *known == name) else {
                return Err(UnusableRegex::new(start, format!("there is no group `{name}` before this")));
            };
            *group
        };
        let inside = self.close_group(flags, depth, start)?;
        if matches!(&inside, RegexNode::Choice(parts) if parts.len() > 2) {
            return Err(UnusableRegex::new(start, "a condition has two alternatives at most"));
        }
        let both = match inside {
            RegexNode::Choice(parts) => RegexNode::Choice(parts),
            yes => RegexNode::Choice(vec![yes, RegexNode::Empty]),
        };
        Ok(RegexNode::Group(GroupPurpose::Other, format!("(?({group})"), Box::new(both)))
    }

    /// Reads `(?i-m:…)`.
    fn with_flags(&mut self, mut flags: PyRegexFlags, depth: usize, start: usize) -> Result<RegexNode, UnusableRegex> {
        let before = flags;
        let at = self.cursor.at;
        let on = self.cursor.take_while(usize::MAX, |letter| letter.is_ascii_alphabetic());
        let off = if self.cursor.take_text("-") {
            Some(self.cursor.take_while(usize::MAX, |letter| letter.is_ascii_alphabetic()))
        } else {
            None
        };
        if on.is_empty() && off.is_none() || off == Some("") {
            return Err(UnusableRegex::new(start, "there is no such group"));
        }
        if off.is_none() && self.cursor.rest_text().starts_with(')') {
            return Err(UnusableRegex::new(start, "flags of the whole expression belong at its start"));
        }
        let refused = |why| UnusableRegex::new(at, why);
        on.chars().try_for_each(|letter| set_flag(&mut flags, letter, true)).map_err(refused)?;
        off.unwrap_or("").chars().try_for_each(|letter| set_flag(&mut flags, letter, false)).map_err(refused)?;
        let twice = on.chars().any(|letter| off.is_some_and(|off| off.contains(letter)));
        if twice || on.contains('a') && on.contains('u') {
            return Err(UnusableRegex::new(at, "these flags exclude each other"));
        }
        if !self.cursor.take_text(":") {
            return self.cursor.fail_here("`:` must follow the flags of a group");
        }
        let inside = self.close_group(flags, depth, start)?;
        let letters = |on: bool| -> String {
            let all = [
                ('i', before.ignore_case, flags.ignore_case),
                ('m', before.multi_line, flags.multi_line),
                ('s', before.dot_all, flags.dot_all),
            ];
            all.into_iter().filter(|(_, was, is)| was != is && *is == on).map(|(letter, ..)| letter).collect()
        };
        let (on, off) = (letters(true), letters(false));
        let minus = if off.is_empty() { "" } else { "-" };
        Ok(RegexNode::Group(GroupPurpose::Plain, format!("(?{on}{minus}{off}:"), Box::new(inside)))
    }
}
