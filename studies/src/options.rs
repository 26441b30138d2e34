//! Options that several studies share.

use clap::{Args, value_parser};

/// Number of generated problems.
#[derive(Args, Clone, Debug)]
pub struct Problems {
    /// Problems of each kind
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u64).range(1..=10_000))]
    pub problems: u64,
}

impl Problems {
    /// Suffix of the file names unless the number is the default.
    pub fn variant(&self) -> Option<String> {
        (self.problems != 100).then(|| self.problems.to_string())
    }
}

/// Seed of generated problems.
#[derive(Args, Clone, Debug)]
pub struct Seed {
    /// Seed of the generated problems
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub seed: u64,
}

impl Seed {
    /// Suffix of the file names unless the seed is the default.
    pub fn variant(&self) -> Option<String> {
        (self.seed != 1).then(|| self.seed.to_string())
    }
}

/// Resolutions.
#[derive(Args, Clone, Debug)]
pub struct Sizes {
    /// Cells along a side, separated by commas [default: 32,64; 128 too in the plane]
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = value_parser!(u32).range(8..=512))]
    pub sizes: Vec<u32>,
}

impl Sizes {
    /// The given sizes, or the default ones.
    pub fn or(&self, default: &[u32]) -> Vec<u32> {
        if self.sizes.is_empty() {
            default.to_vec()
        } else {
            self.sizes.clone()
        }
    }
}

/// Numbers joined by hyphens, as in file names.
pub fn hyphenated<T: ToString>(numbers: &[T]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join("-")
}
