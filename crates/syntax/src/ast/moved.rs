//! Moving a tree to other places: what stands behind an edit stands somewhere else, and means the same.

use super::*;

/// Changes every place of items.
pub fn move_items(items: &mut [Item], to: &mut dyn FnMut(&mut Span)) {
    items.iter_mut().for_each(|item| item.moved(to));
}

/// What has places.
trait Moved {
    fn moved(&mut self, to: &mut dyn FnMut(&mut Span));
}

impl Moved for Span {
    fn moved(&mut self, to: &mut dyn FnMut(&mut Span)) {
        to(self);
    }
}

impl<T: Moved> Moved for Vec<T> {
    fn moved(&mut self, to: &mut dyn FnMut(&mut Span)) {
        self.iter_mut().for_each(|one| one.moved(to));
    }
}

impl<T: Moved> Moved for Option<T> {
    fn moved(&mut self, to: &mut dyn FnMut(&mut Span)) {
        self.iter_mut().for_each(|one| one.moved(to));
    }
}

impl<T: Moved> Moved for Box<T> {
    fn moved(&mut self, to: &mut dyn FnMut(&mut Span)) {
        // Only boxes nest.
        stacker::maybe_grow(32 << 10, 1 << 20, || (**self).moved(to));
    }
}

impl<A: Moved, B: Moved> Moved for (A, B) {
    fn moved(&mut self, to: &mut dyn FnMut(&mut Span)) {
        self.0.moved(to);
        self.1.moved(to);
    }
}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => {
        $(impl Moved for $ty {
            fn moved(&mut self, _: &mut dyn FnMut(&mut Span)) {}
        })*
    };
}

macro_rules! fields {
    ($($ty:ident { $($field:ident),* })*) => {
        $(impl Moved for $ty {
            fn moved(&mut self, to: &mut dyn FnMut(&mut Span)) {
                let Self { $($field),* } = self;
                $($field.moved(to);)*
            }
        })*
    };
}

macro_rules! variants {
    ($($(#[$about:meta])* $ty:ident {
        $($(#[$doc:meta])* $variant:ident $(($($part:ident $(: $of:ty)?),*))? $({ $($field:ident $(: $holds:ty)?),* })?;)*
    })*) => {
        $(impl Moved for $ty {
            fn moved(&mut self, to: &mut dyn FnMut(&mut Span)) {
                match self {
                    $(Self::$variant $(($($part),*))? $({ $($field),* })? => {
                        $($($part.moved(to);)*)?
                        $($($field.moved(to);)*)?
                        let _ = &to;
                    })*
                }
            }
        })*
    };
}

super::parts::parts!(plain, fields, variants);
