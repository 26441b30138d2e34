//! Names of the values of an enum in scene files.

/// Implements `WORDS`, `FromStr` and `Display` for an enum.
macro_rules! words {
    ($kind:ident, $($word:literal => $value:ident),+) => {
        impl $kind {
            /// Words for all values.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl std::str::FromStr for $kind {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok($kind::$value),)+
                    _ => Err(format!("{word:?} is none of {}", $kind::WORDS.join(", "))),
                }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $($kind::$value => $word),+
                })
            }
        }
    };
}
pub(crate) use words;
