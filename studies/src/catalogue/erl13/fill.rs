//! Fill patterns. [Erl13 fig. 1]

use super::{contact, fluid};
use crate::options::Seed;
use crate::prelude::*;
use meniscus_render::plot::fill_pattern;

/// The study.
pub struct Fig1;

impl Study for Fig1 {
    const NAME: &'static str = "erl13-fig1";
    const SUMMARY: &'static str = "fill patterns of a fluid and of a contact matrix";
    type Options = Seed;

    fn run(options: &Seed) -> Result<Findings, Error> {
        let fluid = fluid(100, options.seed).matrix;
        let contact = contact(180, options.seed).matrix;
        let mut table = Table::columns("matrix | rows | entries | entries a row | symmetric");
        for (name, matrix) in [("fluid", &fluid), ("contact", &contact)] {
            table.push([
                name.into(),
                Cell::Whole(matrix.rows() as u64),
                Cell::Whole(matrix.nonzeros() as u64),
                Cell::Number(matrix.nonzeros() as f64 / matrix.rows() as f64, 1),
                Cell::from(matrix.is_symmetric(1e-12)),
            ]);
        }
        let picture = |name, caption: &str, matrix| Picture {
            name,
            caption: caption.into(),
            content: fill_pattern(matrix, caption).into(),
        };
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![
                "The notes show both matrices to be very sparse, the fluid matrix symmetric and the contact matrix not. \
                 Ours are so, too. A row of six is a contact: its normal, four tangents, and the speed of sliding; blocks off \
                 the diagonal belong to contacts that share a body."
                    .into(),
            ],
            pictures: vec![
                picture("fluid", "a fluid matrix", &fluid),
                picture("contact", "a contact matrix", &contact),
            ],
            sections: Vec::new(),
            data: table,
        })
    }
}
