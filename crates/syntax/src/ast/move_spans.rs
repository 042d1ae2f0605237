//! Moves the spans of a tree: items after an edit change their location, but not their meaning.

use super::*;

/// Applies a change to every span of some items.
pub fn move_items(items: &mut [SyntaxItem], to: &mut dyn FnMut(&mut Span)) {
    items.iter_mut().for_each(|item| item.move_spans(to));
}

trait MoveSpans {
    fn move_spans(&mut self, to: &mut dyn FnMut(&mut Span));
}

impl MoveSpans for Span {
    fn move_spans(&mut self, to: &mut dyn FnMut(&mut Span)) {
        to(self);
    }
}

impl<T: MoveSpans> MoveSpans for Vec<T> {
    fn move_spans(&mut self, to: &mut dyn FnMut(&mut Span)) {
        self.iter_mut().for_each(|one| one.move_spans(to));
    }
}

impl<T: MoveSpans> MoveSpans for Option<T> {
    fn move_spans(&mut self, to: &mut dyn FnMut(&mut Span)) {
        self.iter_mut().for_each(|one| one.move_spans(to));
    }
}

impl<T: MoveSpans> MoveSpans for Box<T> {
    fn move_spans(&mut self, to: &mut dyn FnMut(&mut Span)) {
        // Only boxes nest.
        stacker::maybe_grow(32 << 10, 1 << 20, || (**self).move_spans(to));
    }
}

impl<A: MoveSpans, B: MoveSpans> MoveSpans for (A, B) {
    fn move_spans(&mut self, to: &mut dyn FnMut(&mut Span)) {
        self.0.move_spans(to);
        self.1.move_spans(to);
    }
}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => {
        $(impl MoveSpans for $ty {
            fn move_spans(&mut self, _: &mut dyn FnMut(&mut Span)) {}
        })*
    };
}

macro_rules! fields {
    ($($ty:ident { $($field:ident),* })*) => {
        $(impl MoveSpans for $ty {
            fn move_spans(&mut self, to: &mut dyn FnMut(&mut Span)) {
                let Self { $($field),* } = self;
                $($field.move_spans(to);)*
            }
        })*
    };
}

macro_rules! variants {
    ($($(#[$about:meta])* $ty:ident {
        $($(#[$doc:meta])* $variant:ident $(($($part:ident $(: $of:ty)?),*))? $({ $($field:ident $(: $holds:ty)?),* })?;)*
    })*) => {
        $(impl MoveSpans for $ty {
            fn move_spans(&mut self, to: &mut dyn FnMut(&mut Span)) {
                match self {
                    $(Self::$variant $(($($part),*))? $({ $($field),* })? => {
                        $($($part.move_spans(to);)*)?
                        $($($field.move_spans(to);)*)?
                        let _ = &to;
                    })*
                }
            }
        })*
    };
}

super::parts::parts!(plain, fields, variants);
