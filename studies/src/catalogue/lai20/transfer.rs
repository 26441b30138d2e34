//! CPU time of multigrid with barycentric and trilinear transfer. [Lai20 fig. 5.11]

use super::OTHER_PROBLEMS;
use super::scenario::SCENARIOS;
use super::singles::VARIANTS;
use super::variant_of;
use crate::options::Sizes;
use crate::prelude::*;
use crate::walls::{Outcome, Rules};

/// The study.
pub struct Fig5x11;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    sizes: Sizes,
    /// Solves of each problem: the quickest counts
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = value_parser!(u32).range(1..=100))]
    repeat: u32,
}

const USUAL: &[u32] = &[32, 64];

impl Study for Fig5x11 {
    const NAME: &'static str = "lai20-fig5.11";
    const SUMMARY: &'static str =
        "CPU time of FAS multigrid with barycentric and with trilinear transfer";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let sizes = options.sizes.or(USUAL);
        let rules = Rules::FROM_ZERO;
        let compared = &VARIANTS[..2];
        let mut data = Table::columns("size | transfer | cycles | CPU s | solved");
        let mut seconds = vec![Vec::new(); compared.len()];
        let mut last = None;
        for &size in &sizes {
            let sample = SCENARIOS[0].sample(size)?;
            for (variant, seconds) in compared.iter().zip(&mut seconds) {
                let mut best: Option<Outcome> = None;
                for _ in 0..options.repeat {
                    let outcome = variant.solve(&sample, &rules)?;
                    if best.as_ref().is_none_or(|best| outcome.cpu < best.cpu) {
                        best = Some(outcome);
                    }
                }
                let Some(best) = best else { continue };
                data.push([
                    Cell::Whole(size.into()),
                    variant.label.replace("FAS-MG", "barycentric").into(),
                    Cell::Whole(best.outer as u64),
                    Cell::Number(best.cpu, 4),
                    Cell::from(best.solved()),
                ]);
                seconds.push(best.cpu);
            }
            last = Some((size, seconds[1].last().copied(), seconds[0].last().copied()));
        }
        let bars = Bars {
            title: "CPU seconds of a solve".into(),
            x_label: "cells along a side".into(),
            y_label: "CPU s".into(),
            groups: sizes.iter().map(u32::to_string).collect(),
            series: ["barycentric", "trilinear"]
                .map(String::from)
                .into_iter()
                .zip(seconds)
                .collect(),
        };
        let targets: Vec<Target> = last
            .into_iter()
            .map(|(size, trilinear, barycentric)| Target::new(format!(
                    "barycentric against trilinear transfer at {size} cells (paper: more than 2)"
                ), Bound::AtLeast(1.0), "times as fast", trilinear.zip(barycentric).map(|(slow, fast)| slow / fast), 2))
            .collect();
        Ok(Findings {
            study: Self::NAME,
            variant: variant_of(&sizes, USUAL, &[]),
            setting: vec![
                format!(
                    "The first step towards frame 10 of `sphere`, from zero, to a natural residual of 1e-6; one thread, the \
                     quickest of {}, set-up included. The paper shows 32 to 256 cells.",
                    options.repeat
                ),
                machine::sentence(load),
            ],
            pictures: vec![Picture::chart("seconds", &bars)],
            sections: paper_sections(
                [
                    "The paper's bars are not printed as numbers; its text says that barycentric transfer is more than two \
                         times faster, with as many cycles.",
                ],
                data.clone(),
                &targets,
                &[OTHER_PROBLEMS],
            ),
            data,
        })
    }
}
