//! State as bytes: little-endian numbers, bit for bit.

use meniscus_shapes::{Pose, Rotation};

use crate::bodies::{State, StateError, WarmContact};
use crate::body::Twist;
use crate::joint::{JointState, MOST_ROWS};
use crate::state::BodyState;

/// Name and version of the format.
const MAGIC: &[u8; 8] = b"MENRIG01";

pub(crate) fn save<const D: usize>(state: &State<D>) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let number = |out: &mut Vec<u8>, value: u64| out.extend(value.to_le_bytes());
    let reals =
        |out: &mut Vec<u8>, values: &[f64]| values.iter().for_each(|v| out.extend(v.to_le_bytes()));
    for count in [D, state.bodies.len(), state.joints.len(), state.warm.len()] {
        number(&mut out, count as u64);
    }
    reals(&mut out, &[state.time, state.last_dt]);
    for body in &state.bodies {
        body.pose
            .rotation
            .matrix()
            .iter()
            .for_each(|row| reals(&mut out, row));
        reals(&mut out, &body.pose.translation);
        reals(&mut out, &body.twist.linear);
        reals(&mut out, &body.twist.angular);
        reals(&mut out, &[body.rest_time]);
        out.extend([u8::from(body.asleep), u8::from(body.removed)]);
    }
    for joint in &state.joints {
        reals(&mut out, &[joint.coordinate]);
        out.push(u8::from(joint.broken));
        reals(&mut out, &joint.impulses);
    }
    for warm in &state.warm {
        for value in [warm.a as u64, warm.b as u64, warm.id] {
            number(&mut out, value);
        }
        reals(&mut out, &warm.point);
        reals(&mut out, &warm.impulse);
    }
    out
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], StateError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(StateError {
            why: "it ends early",
        })?;
        self.0 = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<usize, StateError> {
        usize::try_from(u64::from_le_bytes(self.bytes()?)).map_err(|_| StateError {
            why: "a count is too large",
        })
    }

    fn real(&mut self) -> Result<f64, StateError> {
        let value = f64::from_le_bytes(self.bytes()?);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(StateError {
                why: "a number is not finite",
            })
        }
    }

    fn reals<const N: usize>(&mut self) -> Result<[f64; N], StateError> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = self.real()?;
        }
        Ok(values)
    }

    fn flag(&mut self) -> Result<bool, StateError> {
        match self.bytes::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(StateError {
                why: "a flag is neither 0 nor 1",
            }),
        }
    }
}

pub(crate) fn restore<const D: usize>(
    bytes: &[u8],
    bodies: usize,
    joints: usize,
) -> Result<State<D>, StateError> {
    let fault = |why| Err(StateError { why });
    let mut reader = Reader(bytes);
    if reader.bytes::<8>()? != *MAGIC {
        return fault("it is of another kind or version");
    }
    let [dimensions, own_bodies, own_joints, warm] = [
        reader.number()?,
        reader.number()?,
        reader.number()?,
        reader.number()?,
    ];
    if dimensions != D {
        return fault("it has another number of dimensions");
    }
    if own_bodies != bodies || own_joints != joints {
        return fault("it has other numbers of bodies and joints");
    }
    let mut state = State {
        time: reader.real()?,
        last_dt: reader.real()?,
        bodies: Vec::with_capacity(bodies),
        joints: Vec::with_capacity(joints),
        warm: Vec::new(),
    };
    for _ in 0..bodies {
        let mut matrix = [[0.0; D]; D];
        for row in &mut matrix {
            *row = reader.reals()?;
        }
        let Some(rotation) = Rotation::from_matrix(matrix) else {
            return fault("a rotation is none");
        };
        state.bodies.push(BodyState {
            pose: Pose {
                rotation,
                translation: reader.reals()?,
            },
            twist: Twist {
                linear: reader.reals()?,
                angular: reader.reals()?,
            },
            rest_time: reader.real()?,
            asleep: reader.flag()?,
            removed: reader.flag()?,
        });
    }
    for _ in 0..joints {
        state.joints.push(JointState {
            coordinate: reader.real()?,
            broken: reader.flag()?,
            impulses: reader.reals::<MOST_ROWS>()?,
        });
    }
    for _ in 0..warm {
        let contact = WarmContact {
            a: reader.number()?,
            b: reader.number()?,
            id: u64::from_le_bytes(reader.bytes()?),
            point: reader.reals()?,
            impulse: reader.reals()?,
        };
        if contact.a >= bodies || contact.b >= bodies {
            return fault("a contact names a body that is not there");
        }
        state.warm.push(contact);
    }
    if reader.0.is_empty() {
        Ok(state)
    } else {
        fault("it has more bytes than it should")
    }
}
