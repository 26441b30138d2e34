//! The binary format of USD, `.usdc`, version 0.8: values are written in order of arrival, the tables that index them at the end.
//!
//! A file has a tree of prims with attributes. Every prim and attribute has fields, and the value of a field is eight
//! bytes: a type, and either a small value inline or its offset in the file. Tables use the simplest compression that the
//! format allows: they are small.

use super::tables::{Rep, Spec, SpecType, Tables, packed_bytes};
use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};

const ARRAY: u64 = 1 << 63;
const INLINED: u64 = 1 << 62;

/// Type numbers of the format.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Type {
    Bool = 1,
    Int = 3,
    Int64 = 5,
    Float = 8,
    Double = 9,
    Token = 11,
    Matrix4d = 15,
    Quatf = 17,
    Vec2f = 20,
    Vec3f = 24,
    TokenListOp = 32,
    PathListOp = 34,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
}

/// Edits of lists: one that replaces all entries, and one that puts entries before those of weaker layers.
const EXPLICIT: u8 = 0b11;
const PREPENDED: u8 = 0b10_0000;

fn rep(kind: Type, flags: u64, payload: u64) -> Rep {
    Rep(flags | (kind as u64) << 48 | payload)
}

/// File being written.
pub struct CrateFile<W: Write + Seek> {
    out: W,
    at: u64,
    tokens: Vec<String>,
    known: BTreeMap<String, u32>,
}

/// Prim being built: fields, attributes and children.
pub struct Prim {
    spec: Spec,
}

const BOOTSTRAP: u64 = 88;

impl<W: Write + Seek> CrateFile<W> {
    /// Starts a file.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&[0; BOOTSTRAP as usize])?;
        let mut file = CrateFile {
            out,
            at: BOOTSTRAP,
            tokens: Vec::new(),
            known: BTreeMap::new(),
        };
        // Property paths are stored as the negated index of their token, so none may have index zero.
        file.token_number("meniscus");
        Ok(file)
    }

    fn token_number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.known.get(word) {
            return number;
        }
        let number = self.tokens.len() as u32;
        self.tokens.push(word.into());
        self.known.insert(word.into(), number);
        number
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn put_numbers<const N: usize>(
        &mut self,
        numbers: impl Iterator<Item = [u8; N]>,
    ) -> io::Result<()> {
        let bytes: Vec<u8> = numbers.flatten().collect();
        self.put(&bytes)
    }

    /// Token value.
    pub fn token(&mut self, word: &str) -> Rep {
        let number = self.token_number(word);
        rep(Type::Token, INLINED, u64::from(number))
    }

    /// Boolean value.
    pub fn boolean(value: bool) -> Rep {
        rep(Type::Bool, INLINED, u64::from(value))
    }

    /// Float value.
    pub fn float(value: f64) -> Rep {
        rep(Type::Float, INLINED, u64::from((value as f32).to_bits()))
    }

    /// Vector of three floats.
    pub fn vector(&mut self, value: [f64; 3]) -> io::Result<Rep> {
        let at = self.at;
        self.put_numbers(value.iter().map(|&x| (x as f32).to_le_bytes()))?;
        Ok(rep(Type::Vec3f, 0, at))
    }

    /// Quaternion, its real part first.
    pub fn quaternion(&mut self, [w, x, y, z]: [f64; 4]) -> io::Result<Rep> {
        let at = self.at;
        self.put_numbers([x, y, z, w].iter().map(|&x| (x as f32).to_le_bytes()))?;
        Ok(rep(Type::Quatf, 0, at))
    }

    /// Double value.
    pub fn double(&mut self, value: f64) -> io::Result<Rep> {
        let at = self.at;
        self.put(&value.to_le_bytes())?;
        Ok(rep(Type::Double, 0, at))
    }

    /// Array of tokens.
    pub fn tokens(&mut self, words: &[&str]) -> io::Result<Rep> {
        self.token_list(words, Type::Token, ARRAY)
    }

    fn token_list(&mut self, words: &[&str], kind: Type, flags: u64) -> io::Result<Rep> {
        let numbers: Vec<u32> = words.iter().map(|word| self.token_number(word)).collect();
        let at = self.at;
        self.put(&(numbers.len() as u64).to_le_bytes())?;
        self.put_numbers(numbers.iter().map(|n| n.to_le_bytes()))?;
        Ok(rep(kind, flags, at))
    }

    /// Array of vectors.
    pub fn vectors(&mut self, values: &[[f32; 3]]) -> io::Result<Rep> {
        let numbers = values.iter().flatten().map(|x| x.to_le_bytes());
        self.array(Type::Vec3f, values.len(), numbers)
    }

    /// Array of pairs of floats.
    pub fn pairs(&mut self, values: &[[f32; 2]]) -> io::Result<Rep> {
        let numbers = values.iter().flatten().map(|x| x.to_le_bytes());
        self.array(Type::Vec2f, values.len(), numbers)
    }

    /// Array of floats.
    pub fn floats(&mut self, values: &[f32]) -> io::Result<Rep> {
        self.array(
            Type::Float,
            values.len(),
            values.iter().map(|x| x.to_le_bytes()),
        )
    }

    /// Array of integers.
    pub fn ints(&mut self, values: impl ExactSizeIterator<Item = i32>) -> io::Result<Rep> {
        self.array(Type::Int, values.len(), values.map(|n| n.to_le_bytes()))
    }

    /// Array of 64-bit integers.
    pub fn longs(&mut self, values: impl ExactSizeIterator<Item = i64>) -> io::Result<Rep> {
        self.array(Type::Int64, values.len(), values.map(|n| n.to_le_bytes()))
    }

    fn array<const N: usize>(
        &mut self,
        kind: Type,
        length: usize,
        numbers: impl Iterator<Item = [u8; N]>,
    ) -> io::Result<Rep> {
        if length == 0 {
            return Ok(rep(kind, ARRAY, 0));
        }
        // Readers map the file into memory and need aligned arrays.
        let gap = self.at.next_multiple_of(8) - self.at;
        self.put(&[0; 8][..gap as usize])?;
        let at = self.at;
        self.put(&(length as u64).to_le_bytes())?;
        self.put_numbers(numbers)?;
        Ok(rep(kind, ARRAY, at))
    }

    /// 4×4 matrix, row-major; USD multiplies row vectors from the left.
    pub fn matrix(&mut self, rows: &[[f64; 4]; 4]) -> io::Result<Rep> {
        let at = self.at;
        for x in rows.as_flattened() {
            self.put(&x.to_le_bytes())?;
        }
        Ok(rep(Type::Matrix4d, 0, at))
    }

    /// Time samples of values that were written before.
    pub fn samples(&mut self, times: &[f64], values: &[Rep]) -> io::Result<Rep> {
        let list = self.at;
        self.put(&(times.len() as u64).to_le_bytes())?;
        for time in times {
            self.put(&time.to_le_bytes())?;
        }
        let at = self.at;
        // Offset from here to the times, which follow immediately; then the same for the values.
        self.put(&8u64.to_le_bytes())?;
        self.put(&rep(Type::DoubleVector, 0, list).0.to_le_bytes())?;
        self.put(&8u64.to_le_bytes())?;
        self.put(&(values.len() as u64).to_le_bytes())?;
        for value in values {
            self.put(&value.0.to_le_bytes())?;
        }
        Ok(rep(Type::TimeSamples, 0, at))
    }

    /// Creates a prim of a type.
    pub fn prim(&mut self, name: &str, kind: &str) -> Prim {
        let mut prim = Prim {
            spec: Spec {
                token: self.token_number(name),
                kind: SpecType::Prim,
                children: Vec::new(),
                fields: Vec::new(),
                target: None,
            },
        };
        const DEFINED: u64 = 0;
        self.field(
            &mut prim,
            "specifier",
            rep(Type::Specifier, INLINED, DEFINED),
        );
        let kind = self.token(kind);
        self.field(&mut prim, "typeName", kind);
        prim
    }

    /// Adds a field to a prim.
    pub fn field(&mut self, prim: &mut Prim, name: &str, value: Rep) {
        let name = self.token_number(name);
        prim.spec.fields.push((name, value));
    }

    /// Adds the names of API schemas to a prim.
    pub fn schemas(&mut self, prim: &mut Prim, names: &[&str]) -> io::Result<()> {
        let numbers: Vec<u32> = names.iter().map(|name| self.token_number(name)).collect();
        let value = self.list_op(Type::TokenListOp, PREPENDED, &numbers)?;
        self.field(prim, "apiSchemas", value);
        Ok(())
    }

    /// A list of tokens or paths, by their numbers, that edits the one of weaker layers.
    fn list_op(&mut self, kind: Type, edit: u8, numbers: &[u32]) -> io::Result<Rep> {
        let at = self.at;
        self.put(&[edit])?;
        self.put(&(numbers.len() as u64).to_le_bytes())?;
        self.put_numbers(numbers.iter().map(|n| n.to_le_bytes()))?;
        Ok(rep(kind, 0, at))
    }

    /// Adds a relationship to a prim, with the path of its target.
    pub fn relationship(&mut self, prim: &mut Prim, name: &str, target: &str) {
        const UNIFORM: u64 = 1;
        let variability = rep(Type::Variability, INLINED, UNIFORM);
        prim.spec.children.push(Spec {
            token: self.token_number(name),
            kind: SpecType::Relationship,
            children: Vec::new(),
            fields: vec![(self.token_number("variability"), variability)],
            target: Some(target.into()),
        });
    }

    /// Writes the targets of relationships, whose paths are numbered in the order of the tree.
    fn write_targets(&mut self, root: &mut Spec) -> io::Result<()> {
        fn number(file: &[String], spec: &Spec, path: &str, paths: &mut BTreeMap<String, u32>) {
            let own = paths.len() as u32;
            paths.insert(path.into(), own);
            for child in &spec.children {
                let name = &file[child.token as usize];
                let mark = if child.kind.is_property() { '.' } else { '/' };
                number(file, child, &format!("{path}{mark}{name}"), paths);
            }
        }
        let mut paths = BTreeMap::new();
        number(&self.tokens, root, "", &mut paths);
        self.write_targets_below(root, &paths)
    }

    fn write_targets_below(
        &mut self,
        spec: &mut Spec,
        paths: &BTreeMap<String, u32>,
    ) -> io::Result<()> {
        if let Some(target) = &spec.target {
            let missing = || io::Error::other(format!("{target} is not in the file"));
            let number = *paths.get(target).ok_or_else(missing)?;
            let value = self.list_op(Type::PathListOp, EXPLICIT, &[number])?;
            spec.fields.push((self.token_number("targetPaths"), value));
        }
        spec.children
            .iter_mut()
            .try_for_each(|child| self.write_targets_below(child, paths))
    }

    /// Adds an attribute to a prim: its type name, and fields such as `default`, `timeSamples` and `interpolation`.
    pub fn attribute(&mut self, prim: &mut Prim, name: &str, kind: &str, fields: &[(&str, Rep)]) {
        let kind = self.token(kind);
        let mut all = vec![(self.token_number("typeName"), kind)];
        all.extend(
            fields
                .iter()
                .map(|&(name, value)| (self.token_number(name), value)),
        );
        prim.spec.children.push(Spec {
            token: self.token_number(name),
            kind: SpecType::Attribute,
            children: Vec::new(),
            fields: all,
            target: None,
        });
    }

    /// Field that declares an attribute as constant over time.
    pub fn uniform() -> (&'static str, Rep) {
        const UNIFORM: u64 = 1;
        ("variability", rep(Type::Variability, INLINED, UNIFORM))
    }

    /// Writes the tables. `fields` are those of the file as a whole.
    pub fn finish(mut self, fields: &[(&str, Rep)], prims: Vec<Prim>) -> io::Result<W> {
        let mut root = Spec {
            token: 0,
            kind: SpecType::Root,
            children: prims.into_iter().map(|prim| prim.spec).collect(),
            fields: Vec::new(),
            target: None,
        };
        for &(name, value) in fields {
            let name = self.token_number(name);
            root.fields.push((name, value));
        }
        self.name_children(&mut root)?;
        self.write_targets(&mut root)?;
        let mut tables = Tables::default();
        tables.add(&root, false);
        let sections = [
            ("TOKENS", self.token_section()),
            ("STRINGS", 0u64.to_le_bytes().into()),
            ("FIELDS", tables.field_section()),
            ("FIELDSETS", tables.set_section()),
            ("PATHS", tables.path_section()),
            ("SPECS", tables.spec_section()),
        ];
        let mut contents = (sections.len() as u64).to_le_bytes().to_vec();
        for (name, bytes) in &sections {
            let mut padded = [0u8; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(padded);
            contents.extend(self.at.to_le_bytes());
            contents.extend((bytes.len() as u64).to_le_bytes());
            self.put(bytes)?;
        }
        let at = self.at;
        self.put(&contents)?;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(b"PXR-USDC\x00\x08\x00\0\0\0\0\0")?;
        self.out.write_all(&at.to_le_bytes())?;
        Ok(self.out)
    }

    /// Adds the lists of children and properties to every prim.
    fn name_children(&mut self, spec: &mut Spec) -> io::Result<()> {
        for (list, wanted) in [("primChildren", false), ("properties", true)] {
            let names: Vec<String> = spec
                .children
                .iter()
                .filter(|child| child.kind.is_property() == wanted)
                .map(|child| self.tokens[child.token as usize].clone())
                .collect();
            if !names.is_empty() {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let value = self.token_list(&names, Type::TokenVector, 0)?;
                let list = self.token_number(list);
                spec.fields.push((list, value));
            }
        }
        spec.children
            .iter_mut()
            .try_for_each(|child| self.name_children(child))
    }

    fn token_section(&self) -> Vec<u8> {
        let mut words = Vec::new();
        for word in &self.tokens {
            words.extend(word.as_bytes());
            words.push(0);
        }
        let packed = packed_bytes(&words);
        let mut section = Vec::new();
        for number in [self.tokens.len(), words.len(), packed.len()] {
            section.extend((number as u64).to_le_bytes());
        }
        section.extend(packed);
        section
    }
}

impl Prim {
    /// Adds a child prim.
    pub fn add(&mut self, child: Prim) {
        self.spec.children.push(child.spec);
    }
}
