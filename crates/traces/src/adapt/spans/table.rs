//! Tables of names, as the dialects of spans have them.

/// Makes a table of meanings, each with its names; the first present name wins.
macro_rules! names {
    ($(#[$about:meta])* $table:ident { $($(#[$note:meta])* $word:ident = [$($name:literal),+ $(,)?],)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum $table {
            $($(#[$note])* $word,)+
        }

        impl $table {
            #[allow(dead_code, reason = "not every table needs it")]
            pub(crate) const ALL: &'static [(Self, &'static [&'static str])] = &[$((Self::$word, &[$($name),+]),)+];

            /// The first that is present and not `null`.
            #[allow(dead_code, reason = "not every table needs it")]
            pub(crate) fn find<'run>(
                self,
                object: averment_base::value::Object<'run>,
            ) -> Option<averment_base::value::Node<'run>> {
                let known = |node: &averment_base::value::Node<'run>| {
                    !matches!(node.value, averment_base::value::Value::Null)
                };
                self.names().iter().find_map(|name| object.get(name).filter(known))
            }

            #[allow(dead_code, reason = "not every table needs it")]
            pub(crate) const fn names(self) -> &'static [&'static str] {
                match self {
                    $(Self::$word => &[$($name),+],)+
                }
            }

            #[allow(dead_code, reason = "not every table needs it")]
            #[allow(clippy::self_named_constructors, reason = "a table may be called `Of`")]
            /// With its rank among the names of that meaning.
            pub(crate) fn from_name(name: &str) -> Option<(Self, u8)> {
                type NameIndex = rustc_hash::FxHashMap<&'static str, ($table, u8)>;
                static KNOWN: std::sync::LazyLock<NameIndex> = std::sync::LazyLock::new(|| {
                    let names = |(word, names): &($table, &'static [&'static str])| {
                        let word = *word;
                        names.iter().zip(0_u8..).map(move |(name, rank)| (*name, (word, rank))).collect::<Vec<_>>()
                    };
                    $table::ALL.iter().flat_map(names).collect()
                });
                KNOWN.get(name).copied()
            }
        }
    };
}
pub(crate) use names;
