//! VTK's XML format for polygons, `.vtp`, with appended raw data, and a `.series` file with the times for
//! ParaView.

use super::Cloud;
use super::bodies::Part;
use crate::surface::Surface;
use std::io::{self, Write};

/// Writes particles, each as a vertex cell.
pub fn write_cloud(out: &mut dyn Write, cloud: &Cloud, time: f64) -> io::Result<()> {
    let each: Vec<u32> = (0..cloud.positions.len() as u32).collect();
    let ends: Vec<u32> = each.iter().map(|v| v + 1).collect();
    let mut file = File::default();
    let points = file.vectors("Points", &cloud.positions);
    let velocity = file.vectors("velocity", &cloud.velocities);
    let attributes = match &cloud.attributes {
        None => String::new(),
        Some(kept) => {
            let ids = kept.ids.iter().map(|id| id.to_le_bytes());
            let ages = kept.ages.iter().map(|age| age.to_le_bytes());
            let sources = kept.sources.iter().map(|source| source.to_le_bytes());
            file.scalars("id", "UInt64", ids)
                + &file.scalars("age", "Float32", ages)
                + &file.scalars("source", "Int32", sources)
        }
    };
    let cells = file.cells(&each, &ends);
    let n = cloud.positions.len();
    let counts = format!("NumberOfPoints=\"{n}\" NumberOfVerts=\"{n}\" NumberOfPolys=\"0\"");
    let body = format!(
        "<PointData Vectors=\"velocity\">\n{velocity}{attributes}</PointData>\n<Points>\n{points}</Points>\n<Verts>\n{cells}</Verts>\n"
    );
    file.write(out, &counts, &body, time)
}

/// Writes a surface, or bodies if there are parts: every triangle then has the number of its `body`, and the file the names
/// of all of them, as `body_id` and `body_name`.
pub fn write_surface(
    out: &mut dyn Write,
    surface: &Surface,
    parts: &[Part],
    time: f64,
) -> io::Result<()> {
    let corners: Vec<u32> = surface.triangles.iter().flatten().copied().collect();
    let ends: Vec<u32> = (1..=surface.triangles.len() as u32)
        .map(|t| 3 * t)
        .collect();
    let mut file = File::default();
    let points = file.vectors("Points", &surface.positions);
    let velocity = file.vectors("velocity", &surface.velocities);
    let normal = file.vectors("normal", &surface.normals);
    let bodies = match parts.is_empty() {
        true => String::new(),
        false => {
            let numbers = (parts.iter())
                .flat_map(|part| part.triangles.clone().map(|_| part.body.to_le_bytes()));
            let array = file.scalars("body", "Int32", numbers);
            format!("<CellData Scalars=\"body\">\n{array}</CellData>\n")
        }
    };
    file.fields = names(parts);
    let cells = file.cells(&corners, &ends);
    let (n, t) = (surface.positions.len(), surface.triangles.len());
    let counts = format!("NumberOfPoints=\"{n}\" NumberOfVerts=\"0\" NumberOfPolys=\"{t}\"");
    let body = format!(
        "<PointData Vectors=\"velocity\" Normals=\"normal\">\n{velocity}{normal}</PointData>\n{bodies}\
         <Points>\n{points}</Points>\n<Polys>\n{cells}</Polys>\n"
    );
    file.write(out, &counts, &body, time)
}

/// Numbers and names of bodies as arrays of the whole file.
fn names(parts: &[Part]) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let tuples = parts.len();
    let numbers: Vec<String> = parts.iter().map(|part| part.body.to_string()).collect();
    // A string is the codes of its characters, ended by zero.
    let codes = |part: &Part| -> String {
        let codes = part.name.bytes().map(|code| format!("{code} "));
        codes.chain(["0".into()]).collect()
    };
    let names: Vec<String> = parts.iter().map(codes).collect();
    format!(
        "<DataArray type=\"Int32\" Name=\"body_id\" NumberOfTuples=\"{tuples}\" format=\"ascii\">{}</DataArray>\n\
         <Array type=\"String\" Name=\"body_name\" NumberOfTuples=\"{tuples}\" format=\"ascii\">{}</Array>\n",
        numbers.join(" "),
        names.join(" ")
    )
}

/// Text of a `.series` file: file names with their times.
pub fn series(files: &[(String, f64)]) -> String {
    let entries: Vec<String> = files
        .iter()
        .map(|(name, time)| format!("    {{ \"name\": \"{name}\", \"time\": {time} }}"))
        .collect();
    format!(
        "{{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n{}\n  ]\n}}\n",
        entries.join(",\n")
    )
}

/// Appended arrays.
#[derive(Default)]
struct File {
    appended: Vec<u8>,
    /// Arrays of the whole file besides its time.
    fields: String,
}

impl File {
    fn vectors(&mut self, name: &str, values: &[[f32; 3]]) -> String {
        let offset = self.append(values.iter().flatten().map(|x| x.to_le_bytes()));
        format!(
            "<DataArray type=\"Float32\" Name=\"{name}\" NumberOfComponents=\"3\" format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }

    fn scalars<const N: usize>(
        &mut self,
        name: &str,
        kind: &str,
        values: impl Iterator<Item = [u8; N]>,
    ) -> String {
        let offset = self.append(values);
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }

    fn cells(&mut self, corners: &[u32], ends: &[u32]) -> String {
        let corners = self.append(corners.iter().map(|v| v.to_le_bytes()));
        let ends = self.append(ends.iter().map(|v| v.to_le_bytes()));
        let array = |name: &str, offset: usize| {
            format!(
                "<DataArray type=\"UInt32\" Name=\"{name}\" format=\"appended\" offset=\"{offset}\"/>\n"
            )
        };
        array("connectivity", corners) + &array("offsets", ends)
    }

    fn append<const N: usize>(&mut self, numbers: impl Iterator<Item = [u8; N]>) -> usize {
        let offset = self.appended.len();
        self.appended.extend([0; 8]);
        self.appended.extend(numbers.flatten());
        let length = (self.appended.len() - offset - 8) as u64;
        self.appended[offset..offset + 8].copy_from_slice(&length.to_le_bytes());
        offset
    }

    fn write(self, out: &mut dyn Write, counts: &str, body: &str, time: f64) -> io::Result<()> {
        write!(
            out,
            "<?xml version=\"1.0\"?>\n\
             <VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
             <PolyData>\n<FieldData>\n\
             <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{time}</DataArray>\n\
             {}</FieldData>\n<Piece {counts} NumberOfLines=\"0\" NumberOfStrips=\"0\">\n{body}</Piece>\n</PolyData>\n\
             <AppendedData encoding=\"raw\">\n_",
            self.fields
        )?;
        out.write_all(&self.appended)?;
        write!(out, "\n</AppendedData>\n</VTKFile>\n")
    }
}
