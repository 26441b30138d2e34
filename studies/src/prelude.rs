//! Imports that most studies share.

pub(crate) use crate::findings::{Content, Findings, NO_WORDS, Picture, Section, paper_sections};
pub(crate) use crate::machine::{self, Moment};
pub(crate) use crate::study::Study;
pub(crate) use crate::table::{Cell, Table};
pub(crate) use crate::target::{self, Bound, Target};
pub(crate) use clap::{Args, value_parser};
pub(crate) use meniscus_render::plot::{Axis, Bars, Chart, Series};
pub(crate) use meniscus_store::error::{Error, Kind};
