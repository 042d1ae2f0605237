//! A session of Claude Code: an event on each line, some of which hold a message.
//!
//! This says what `adapt::claude_code::session` says, for as far as facts go.

use super::keys::{Keys, Named};
use super::messages::{Conversation, Messages, is_null, plain};
use super::parts::Span;
use super::roots::Type;
use super::{Demand, Facts, Held, Stretch};
use crate::adapt::SILENT;
use crate::scan::Cursor;
use crate::time;
use averment_base::value::Value;

#[derive(Debug, Clone, Copy)]
enum OfLine {
    Type,
    Message,
    Aside,
    Agent,
    Parent,
    Time,
    Result,
    Cost,
    Duration,
    Error,
    Subtype,
}

const OF_LINE: [(&str, OfLine); 11] = [
    ("type", OfLine::Type),
    ("message", OfLine::Message),
    ("isSidechain", OfLine::Aside),
    ("agentId", OfLine::Agent),
    ("parent_tool_use_id", OfLine::Parent),
    ("timestamp", OfLine::Time),
    ("result", OfLine::Result),
    ("total_cost_usd", OfLine::Cost),
    ("duration_ms", OfLine::Duration),
    ("is_error", OfLine::Error),
    ("subtype", OfLine::Subtype),
];

/// Reads sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    lines: Keys<Named<OfLine>>,
}

/// The places of what counts on a line.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    kind: Option<Span>,
    message: Option<Span>,
    aside: Option<Span>,
    agent: Option<Span>,
    parent: Option<Span>,
    time: Option<Span>,
    result: Option<Span>,
    cost: Option<Span>,
    duration: Option<Span>,
    error: Option<Span>,
    subtype: Option<Span>,
}

/// What the lines say together.
#[derive(Debug, Default)]
struct Said {
    /// The last words of the main agent, and of any.
    main: Option<Span>,
    any: Option<Span>,
    /// The main agent speaks, or somebody to it.
    mixed: bool,
    /// The first and the last time.
    times: Option<(f64, f64)>,
    /// The line that sums the run up.
    summary: Option<Line>,
}

impl Sessions {
    pub(super) fn new() -> Self {
        Self { lines: Keys::of_parts(&OF_LINE) }
    }

    /// Reads the lines of a session. `None` where it is for the full reader; the facts hold anything then.
    pub(super) fn read<'a>(
        &mut self,
        messages: &mut Messages,
        stretch: Stretch<'a>,
        lines: impl Iterator<Item = Span>,
        demand: &Demand,
        facts: &mut Facts<'a>,
    ) -> Option<()> {
        let timed = demand.roots.iter().any(|root| root == "duration");
        let mut said = Said::default();
        let mut conversation = Conversation::new(messages, stretch, demand, &mut *facts);
        for (start, end) in lines {
            let from = stretch.cursor.blank_in_line(start, end);
            if from >= end {
                continue;
            }
            let (line, behind) = self.line(stretch.cursor, from)?;
            if stretch.cursor.blank(behind) < end {
                return None;
            }
            said.line(stretch, line, &mut conversation, timed)?;
        }
        let found = conversation.in_blocks()?;
        facts.records_calls = true;
        facts.settle(|field| found.records.get(field as usize) == Some(&true));
        for name in &demand.roots {
            facts.roots.push(said.root(stretch, name)?);
        }
        Some(())
    }

    fn line(&mut self, cursor: Cursor<'_>, at: usize) -> Option<(Line, usize)> {
        let mut line = Line::default();
        let behind = self.lines.parts(cursor, at, |part, span| {
            let place = match part {
                OfLine::Type => &mut line.kind,
                OfLine::Message => &mut line.message,
                OfLine::Aside => &mut line.aside,
                OfLine::Agent => &mut line.agent,
                OfLine::Parent => &mut line.parent,
                OfLine::Time => &mut line.time,
                OfLine::Result => &mut line.result,
                OfLine::Cost => &mut line.cost,
                OfLine::Duration => &mut line.duration,
                OfLine::Error => &mut line.error,
                OfLine::Subtype => &mut line.subtype,
            };
            *place = Some(span);
        })?;
        Some((line, behind))
    }
}

impl Said {
    fn line<'a>(
        &mut self,
        stretch: Stretch<'a>,
        line: Line,
        conversation: &mut Conversation<'_, 'a>,
        timed: bool,
    ) -> Option<()> {
        let cursor = stretch.cursor;
        match plain(cursor, line.kind?)? {
            b"user" | b"assistant" => {
                let main = is_of_main(cursor, &line);
                self.mixed |= main;
                conversation.message(line.message?.0)?;
                if let Some(spoken) = conversation.take_spoken() {
                    self.any = Some(spoken);
                    self.main = if main { Some(spoken) } else { self.main };
                }
                if let Some((start, end)) = line.time.filter(|_| timed)
                    && let Some(time) = time::milliseconds(&stretch.read(Held::Bytes(start, end))?)
                {
                    self.times = Some(self.times.map_or((time, time), |(first, last)| {
                        (
                            if time.total_cmp(&first).is_lt() { time } else { first },
                            if time.total_cmp(&last).is_gt() { time } else { last },
                        )
                    }));
                }
            }
            b"result" => {
                let fits = |span: &Span| Type::Number.fits(cursor.slice(span.0, span.1));
                let plain = [line.cost, line.duration].iter().flatten().all(fits);
                if !plain || self.summary.replace(line).is_some() {
                    return None;
                }
            }
            b"system" => {}
            kind if SILENT.iter().any(|silent| silent.as_bytes() == kind) => {}
            _ => return None,
        }
        Some(())
    }

    /// An entry of the run.
    fn root<'a>(&self, stretch: Stretch<'a>, name: &str) -> Option<Held<'a>> {
        let held = |span: Option<Span>| {
            span.filter(|span| !is_null(stretch.cursor, *span)).map(|(start, end)| Held::Bytes(start, end))
        };
        let summary = self.summary.unwrap_or_default();
        let found = match name {
            "output" => held(summary.result).or(held(if self.mixed { self.main } else { self.any })),
            "duration" => held(summary.duration)
                .or_else(|| self.times.map(|(first, last)| Held::Value(time::value(last - first)))),
            "error" if summary.error.is_some_and(|(start, end)| stretch.cursor.slice(start, end) == b"true") => {
                held(summary.result).or(held(summary.subtype))
            }
            // The full reader puts them together.
            "id" | "meta" | "tools" => return None,
            _ => None,
        };
        Some(found.unwrap_or(Held::Value(if name == "error" { Value::Missing } else { Value::Absent })))
    }
}

/// Whether a line is none of a sub-agent.
fn is_of_main(cursor: Cursor<'_>, line: &Line) -> bool {
    let aside = line.aside.is_some_and(|(start, end)| cursor.slice(start, end) == b"true");
    let known = |span: &Span| !is_null(cursor, *span);
    let named = line.agent.filter(known).or(line.parent.filter(known));
    !aside && named.is_none_or(|(start, _)| cursor.byte(start) != b'"')
}
