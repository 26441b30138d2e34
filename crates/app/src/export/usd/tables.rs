//! Tables at the end of a `.usdc` file, in the compression of the format.

/// Value of a field, or of one time sample.
#[derive(Clone, Copy, Debug)]
pub struct Rep(pub u64);

/// Kind of a spec.
#[derive(Clone, Copy)]
pub enum SpecType {
    /// Property.
    Attribute = 1,
    /// Prim.
    Prim = 6,
    /// The file as a whole.
    Root = 7,
    /// Property that points to a prim.
    Relationship = 8,
}

impl SpecType {
    /// Whether it is a property of a prim.
    pub fn is_property(self) -> bool {
        matches!(self, SpecType::Attribute | SpecType::Relationship)
    }
}

/// Prim or property with its descendants.
pub struct Spec {
    /// Name.
    pub token: u32,
    /// Kind.
    pub kind: SpecType,
    /// Child properties and prims.
    pub children: Vec<Spec>,
    /// Tokens of field names, and their values.
    pub fields: Vec<(u32, Rep)>,
    /// Path of the target of a relationship.
    pub target: Option<String>,
}

/// Tables at the end of a file.
#[derive(Default)]
pub struct Tables {
    fields: Vec<(u32, Rep)>,
    /// Field indices; each set ends with -1.
    sets: Vec<i32>,
    /// Token of a path's last element, negated for properties; and the jump to the next path.
    path_tokens: Vec<i32>,
    jumps: Vec<i32>,
    /// Start of the fields of every spec, and its kind. Specs and paths have the same indices.
    spec_sets: Vec<i32>,
    spec_types: Vec<i32>,
}

impl Tables {
    /// Adds a spec and its descendants, depth first; `followed` if another child of the same parent comes next.
    pub fn add(&mut self, spec: &Spec, followed: bool) {
        let at = self.jumps.len();
        let token = spec.token as i32;
        let property = spec.kind.is_property();
        self.path_tokens.push(if property { -token } else { token });
        self.spec_sets.push(self.sets.len() as i32);
        self.spec_types.push(spec.kind as i32);
        for &field in &spec.fields {
            self.sets.push(self.fields.len() as i32);
            self.fields.push(field);
        }
        self.sets.push(-1);
        self.jumps.push(0);
        let count = spec.children.len();
        for (i, child) in spec.children.iter().enumerate() {
            self.add(child, i + 1 < count);
        }
        // Jump to the next sibling: -1 with a child and no sibling, 0 if it is next, -2 with neither.
        self.jumps[at] = match (spec.children.is_empty(), followed) {
            (true, false) => -2,
            (true, true) => 0,
            (false, false) => -1,
            (false, true) => (self.jumps.len() - at) as i32,
        };
    }

    /// Names and values of fields.
    pub fn field_section(&self) -> Vec<u8> {
        let names: Vec<i32> = self.fields.iter().map(|f| f.0 as i32).collect();
        let values: Vec<u8> = self
            .fields
            .iter()
            .flat_map(|f| f.1.0.to_le_bytes())
            .collect();
        let mut section = integers(&names, true);
        let packed = packed_bytes(&values);
        section.extend((packed.len() as u64).to_le_bytes());
        section.extend(packed);
        section
    }

    /// Sets of fields.
    pub fn set_section(&self) -> Vec<u8> {
        integers(&self.sets, true)
    }

    /// Tree of names.
    pub fn path_section(&self) -> Vec<u8> {
        let numbers = self.numbers();
        let mut section = (numbers.len() as u64).to_le_bytes().to_vec();
        section.extend(integers(&numbers, true));
        section.extend(integers(&self.path_tokens, false));
        section.extend(integers(&self.jumps, false));
        section
    }

    /// Kind and fields of every path.
    pub fn spec_section(&self) -> Vec<u8> {
        let mut section = integers(&self.numbers(), true);
        section.extend(integers(&self.spec_sets, false));
        section.extend(integers(&self.spec_types, false));
        section
    }

    fn numbers(&self) -> Vec<i32> {
        (0..self.jumps.len() as i32).collect()
    }
}

/// Integer compression of the format: a common difference, two bits for the width of every other difference, then those.
fn integers(values: &[i32], counted: bool) -> Vec<u8> {
    let mut section = Vec::new();
    if counted {
        section.extend((values.len() as u64).to_le_bytes());
    }
    // The common difference is one; any value is valid.
    let mut bytes = 1i32.to_le_bytes().to_vec();
    let mut codes = vec![0u8; values.len().div_ceil(4)];
    let mut differences = Vec::new();
    let mut before = 0i32;
    for (i, &value) in values.iter().enumerate() {
        let difference = value.wrapping_sub(before);
        before = value;
        if difference != 1 {
            codes[i / 4] |= 3 << (2 * (i % 4));
            differences.extend(difference.to_le_bytes());
        }
    }
    bytes.extend(codes);
    bytes.extend(differences);
    let packed = packed_bytes(&bytes);
    section.extend((packed.len() as u64).to_le_bytes());
    section.extend(packed);
    section
}

/// Bytes as one LZ4 block of literals, after the number of additional chunks, zero.
pub fn packed_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0];
    if bytes.len() < 15 {
        packed.push((bytes.len() as u8) << 4);
    } else {
        packed.push(0xf0);
        let mut left = bytes.len() - 15;
        while left >= 255 {
            packed.push(255);
            left -= 255;
        }
        packed.push(left as u8);
    }
    packed.extend(bytes);
    packed
}
