//! Open Job Description templates, which render farms read.

use super::{Variant, arguments};
use meniscus_scene::text::Override;
use serde_json::{Value, json};
use std::path::Path;

/// A job template: every run of a sweep is a task of the step `Simulate`, and those of `Mesh` and `Preview` follow.
///
/// Paths are relative to the working folder of the job unless they are absolute.
pub fn job_template(name: &str, scene: &Path, common: &[Override], variants: &[Variant]) -> Value {
    // One task parameter per argument that differs between runs; the others are written out.
    let all: Vec<Vec<String>> = variants
        .iter()
        .map(|variant| arguments(scene, common, variant))
        .collect();
    let length = all.first().map_or(0, Vec::len);
    let mut definitions = Vec::new();
    let mut words = Vec::new();
    for position in 0..length {
        let column: Vec<&String> = all.iter().map(|words| &words[position]).collect();
        if column.iter().all(|word| *word == column[0]) {
            words.push(escaped(column[0]));
            continue;
        }
        let parameter = match position + 1 == length {
            true => "Folder".to_owned(),
            false => format!("Set{}", definitions.len() + 1),
        };
        words.push(format!("{{{{Task.Param.{parameter}}}}}"));
        definitions.push((parameter, column));
    }
    let folders: Vec<String> = variants
        .iter()
        .map(|variant| variant.folder.to_string_lossy().into_owned())
        .collect();
    let folder_space = json!({
        "taskParameterDefinitions": [{"name": "Folder", "type": "STRING", "range": folders}],
    });
    let folder = match variants {
        // A parameter with one value is not written above.
        [only] => escaped(&only.folder.to_string_lossy()),
        _ => "{{Task.Param.Folder}}".to_owned(),
    };
    let space = |own: &Value| match variants.len() {
        0 | 1 => Value::Null,
        _ => own.clone(),
    };
    let names: Vec<&str> = definitions.iter().map(|(name, _)| name.as_str()).collect();
    let mut run_space = json!({
        "taskParameterDefinitions": definitions.iter().map(|(name, range)| {
            json!({"name": name, "type": "STRING", "range": range})
        }).collect::<Vec<_>>(),
    });
    if names.len() > 1 {
        // Values belong together row by row.
        run_space["combination"] = format!("({})", names.join(",")).into();
    }
    let step = |name: &str, words: Value, space: Value, after: Option<&str>| {
        let mut step = json!({
            "name": name,
            "script": {"actions": {"onRun": {"command": "{{Param.Program}}", "args": words}}},
        });
        if !space.is_null() {
            step["parameterSpace"] = space;
        }
        if let Some(after) = after {
            step["dependencies"] = json!([{"dependsOn": after}]);
        }
        step
    };
    json!({
        "specificationVersion": "jobtemplate-2023-09",
        "name": escaped(name),
        "parameterDefinitions": [{
            "name": "Program",
            "type": "STRING",
            "default": "meniscus",
            "description": "Path of the program meniscus on the workers",
        }],
        "steps": [
            step("Simulate", json!(words), space(&run_space), None),
            step("Mesh", json!(["mesh", folder]), space(&folder_space), Some("Simulate")),
            step("Preview", json!(["preview", folder]), space(&folder_space), Some("Simulate")),
        ],
    })
}

/// Text without format expressions of the template language.
fn escaped(text: &str) -> String {
    text.replace("{{", "{ {")
}

#[cfg(test)]
mod tests {
    use super::super::{Variation, variants};
    use super::*;

    fn template(values: &str) -> Value {
        let vary = Variation::parse(values).unwrap();
        let all = variants(&[vary], Path::new("out/s")).unwrap();
        let common = [Override::parse("domain.resolution=16").unwrap()];
        job_template("boat sweep", Path::new("boat"), &common, &all)
    }

    #[test]
    fn a_step_has_a_task_per_run_and_later_steps_depend_on_it() {
        let made = template("body[1].density=200,400");
        let simulate = &made["steps"][0];
        let args = &simulate["script"]["actions"]["onRun"]["args"];
        let expected = [
            "run",
            "boat",
            "--set",
            "domain.resolution=16",
            "--set",
            "{{Task.Param.Set1}}",
            "--out",
            "{{Task.Param.Folder}}",
        ];
        assert_eq!(*args, json!(expected));
        let space = &simulate["parameterSpace"];
        assert_eq!(space["combination"], "(Set1,Folder)");
        let range = &space["taskParameterDefinitions"][0]["range"];
        assert_eq!(
            *range,
            json!(["body[1].density=200", "body[1].density=400"])
        );
        for later in [1, 2] {
            assert_eq!(
                made["steps"][later]["dependencies"][0]["dependsOn"],
                "Simulate"
            );
        }
    }

    #[test]
    fn a_single_run_needs_no_parameters() {
        let made = template("body[1].density=200");
        assert!(made["steps"][0].get("parameterSpace").is_none());
        let args = &made["steps"][1]["script"]["actions"]["onRun"]["args"];
        assert_eq!(*args, json!(["mesh", "out/s/density-200"]));
    }
}
