//! Results of a study: document, tables, charts and the data behind them.

use crate::table::Table;
use crate::target::{self, Target};
use meniscus_render::plot::{Bars, Chart};
use meniscus_store::error::Error;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Section of a document: a heading, paragraphs and a table.
#[derive(Clone, Debug)]
pub struct Section {
    pub heading: String,
    /// Paragraphs before the table.
    pub words: Vec<String>,
    pub table: Option<Table>,
}

impl Section {
    /// A section with paragraphs and a table.
    pub fn new<W: Into<String>>(
        heading: impl Into<String>,
        words: impl IntoIterator<Item = W>,
        table: Table,
    ) -> Self {
        Section {
            table: Some(table),
            ..Self::text(heading, words)
        }
    }

    /// A section without paragraphs.
    pub fn table(heading: impl Into<String>, table: Table) -> Self {
        Self::new(heading, NO_WORDS, table)
    }

    /// A section without a table.
    pub fn text<W: Into<String>>(
        heading: impl Into<String>,
        words: impl IntoIterator<Item = W>,
    ) -> Self {
        Section {
            heading: heading.into(),
            words: words.into_iter().map(Into::into).collect(),
            table: None,
        }
    }
}

/// No paragraphs.
pub const NO_WORDS: [&str; 0] = [];

/// Sections of a study that reproduces a table or figure of a paper: results beside the paper's, the claims of the paper
/// as targets, and known differences.
pub fn paper_sections<W: Into<String>>(
    words: impl IntoIterator<Item = W>,
    comparison: Table,
    claims: &[Target],
    differences: &[&str],
) -> Vec<Section> {
    vec![
        Section::new("Beside the paper", words, comparison),
        Section::table("What the paper finds, here", target::table(claims)),
        Section::text("Where we differ", differences.iter().copied()),
    ]
}

/// A chart or image.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Name among the charts of the study, part of the file name.
    pub name: &'static str,
    /// Caption.
    pub caption: String,
    /// Content of the file.
    pub content: Content,
}

/// Content of a picture file.
#[derive(Clone, Debug)]
pub enum Content {
    /// Lines.
    Svg(String),
    /// Pixels.
    Png(Vec<u8>),
}

impl Picture {
    /// A chart, with its title as the caption.
    pub fn chart(name: &'static str, chart: &impl Svg) -> Self {
        Picture {
            name,
            caption: chart.title().into(),
            content: Content::Svg(chart.svg()),
        }
    }
}

/// Chart that can be drawn as SVG.
pub trait Svg {
    fn title(&self) -> &str;
    fn svg(&self) -> String;
}

impl Svg for Chart {
    fn title(&self) -> &str {
        &self.title
    }

    fn svg(&self) -> String {
        Chart::svg(self)
    }
}

impl Svg for Bars {
    fn title(&self) -> &str {
        &self.title
    }

    fn svg(&self) -> String {
        Bars::svg(self)
    }
}

impl Content {
    fn ending(&self) -> &'static str {
        match self {
            Content::Svg(_) => "svg",
            Content::Png(_) => "png",
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Content::Svg(text) => text.as_bytes(),
            Content::Png(bytes) => bytes,
        }
    }
}

impl From<String> for Content {
    fn from(svg: String) -> Self {
        Content::Svg(svg)
    }
}

/// Results of a run of a study.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Name of the study.
    pub study: &'static str,
    /// Suffix of the file names of a run with other than the default options.
    pub variant: Option<String>,
    /// Paragraphs that describe the setup and the machine.
    pub setting: Vec<String>,
    /// Plots, shown first in the document.
    pub pictures: Vec<Picture>,
    /// Sections, most important first.
    pub sections: Vec<Section>,
    /// Raw data, one row per measurement.
    pub data: Table,
}

impl Findings {
    /// Text for a terminal.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n\n", self.name());
        for paragraph in &self.setting {
            let _ = writeln!(out, "{paragraph}");
        }
        for section in &self.sections {
            let _ = writeln!(out, "\n{}\n", section.heading.to_uppercase());
            for paragraph in &section.words {
                let _ = writeln!(out, "{paragraph}");
            }
            if let Some(table) = &section.table {
                if !section.words.is_empty() {
                    out.push('\n');
                }
                out += &table.text();
            }
        }
        out
    }

    /// Markdown document.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n", self.name());
        for paragraph in &self.setting {
            let _ = write!(out, "\n{paragraph}\n");
        }
        for picture in &self.pictures {
            let _ = write!(out, "\n![{}]({})\n", picture.caption, self.file_of(picture));
        }
        for section in &self.sections {
            let _ = write!(out, "\n## {}\n", section.heading);
            for paragraph in &section.words {
                let _ = write!(out, "\n{paragraph}\n");
            }
            if let Some(table) = &section.table {
                let _ = write!(out, "\n{}", table.markdown());
            }
        }
        out
    }

    /// All results as JSON.
    pub fn json(&self) -> Value {
        let sections = self.sections.iter().map(|section| {
            json!({
                "heading": section.heading,
                "words": section.words,
                "table": section.table.as_ref().map(Table::json),
            })
        });
        json!({
            "study": self.study,
            "variant": self.variant,
            "setting": self.setting,
            "sections": sections.collect::<Vec<_>>(),
            "data": self.data.json(),
        })
    }

    /// Writes the document, its data and its plots into a folder and returns their paths.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let mut written = Vec::new();
        let mut files = vec![
            (format!("{}.md", self.name()), self.markdown().into_bytes()),
            (format!("{}.csv", self.name()), self.data.csv().into_bytes()),
        ];
        for picture in &self.pictures {
            files.push((self.file_of(picture), picture.content.bytes().to_vec()));
        }
        for (name, content) in files {
            let path = folder.join(name);
            std::fs::write(&path, content).map_err(|cause| Error::io("write", &path, &cause))?;
            written.push(path);
        }
        Ok(written)
    }

    fn file_of(&self, picture: &Picture) -> String {
        let ending = picture.content.ending();
        format!("{}-{}.{ending}", self.name(), picture.name)
    }

    fn name(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}-{variant}", self.study),
            None => self.study.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Cell;

    fn findings(variant: Option<&str>) -> Findings {
        let mut data = Table::new(["frame", "CPU s"]);
        data.push([Cell::Whole(1), Cell::Number(0.25, 1)]);
        Findings {
            study: "sample",
            variant: variant.map(Into::into),
            setting: vec!["Measured once.".into()],
            pictures: vec![Picture {
                name: "frames",
                caption: "CPU time".into(),
                content: String::from("<svg/>").into(),
            }],
            sections: vec![Section::new("Frames", ["All of them."], data.clone())],
            data,
        }
    }

    #[test]
    fn the_document_and_the_data_are_written_under_the_name_of_the_study() {
        let folder = tempfile::tempdir().unwrap();
        let written = findings(None).write(folder.path()).unwrap();
        assert_eq!(
            written,
            ["sample.md", "sample.csv", "sample-frames.svg"].map(|name| folder.path().join(name))
        );
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let expected = "\
# sample

Measured once.

![CPU time](sample-frames.svg)

## Frames

All of them.

| frame | CPU s |
| ----: | ----: |
|     1 |   0.2 |
";
        assert_eq!(read("sample.md"), expected);
        assert_eq!(read("sample.csv"), "frame,CPU s\n1,0.25\n");
    }

    #[test]
    fn a_variant_does_not_overwrite_the_usual_run() {
        let folder = tempfile::tempdir().unwrap();
        let usual = findings(None).write(folder.path()).unwrap();
        let other = findings(Some("64")).write(folder.path()).unwrap();
        assert!(other.iter().all(|path| !usual.contains(path)), "{other:?}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let error = findings(None).write(&gone).unwrap_err();
        assert_eq!(error.kind().exit_code(), 6);
        assert!(error.to_string().contains("gone"), "{error}");
    }

    #[test]
    fn json_holds_the_data_and_the_sections() {
        let json = findings(None).json();
        assert_eq!(json["data"][0]["CPU s"], 0.25);
        assert_eq!(json["sections"][0]["table"][0]["frame"], 1);
    }

    #[test]
    fn text_has_every_table() {
        let text = findings(None).text();
        assert!(
            text.contains("FRAMES") && text.contains("frame  CPU s"),
            "{text}"
        );
    }
}
