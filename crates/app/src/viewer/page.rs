//! Files of the page, embedded in the program: nothing is loaded from elsewhere.

use super::http::Response;

/// File of the page.
#[derive(Debug)]
pub struct Part {
    /// Name in the page.
    pub name: &'static str,
    kind: &'static str,
    /// Content.
    pub text: &'static str,
}

impl Part {
    /// Response with the file.
    pub fn response(&self) -> Response {
        Response::of(self.kind, self.text)
    }
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! parts {
    ($($name:literal $kind:ident $path:literal,)*) => {
        /// All files of the page.
        pub const PARTS: &[Part] = &[$(Part {
            name: $name,
            kind: $kind,
            text: include_str!(concat!("../../../../web/", $path)),
        }),*];
    };
}

parts! {
    "index.html" HTML "page/index.html",
    "icon.svg" SVG "page/icon.svg",
    "style.css" CSS "page/style.css",
    "main.js" SCRIPT "page/main.js",
    "source.js" SCRIPT "page/source.js",
    "packed.js" SCRIPT "page/packed.js",
    "wire.js" SCRIPT "page/wire.js",
    "frames.js" SCRIPT "page/frames.js",
    "stage.js" SCRIPT "page/stage.js",
    "materials.js" SCRIPT "page/materials.js",
    "timeline.js" SCRIPT "page/timeline.js",
    "plots.js" SCRIPT "page/plots.js",
    "panel.js" SCRIPT "page/panel.js",
    "three.min.mjs" SCRIPT "vendor/three.min.mjs",
}

/// File of the page by name.
pub fn part(name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.name == name)
}

/// Scripts of the page.
pub fn scripts() -> impl Iterator<Item = &'static Part> {
    PARTS.iter().filter(|part| part.kind == SCRIPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_refers_only_to_its_own_files() {
        for part in PARTS
            .iter()
            .filter(|part| part.kind != SVG && part.name != "three.min.mjs")
        {
            for outside in ["http://", "https://", "//cdn", "@import", "eval("] {
                assert!(!part.text.contains(outside), "{} has {outside}", part.name);
            }
            for import in part.text.split("from \"./").skip(1) {
                let name = import.split('"').next().unwrap_or("");
                assert!(super::part(name).is_some(), "{} imports {name}", part.name);
            }
        }
    }
}
