//! Frames: points, bodies and surfaces as numpy arrays.

use std::sync::Arc;

use meniscus_app::surface;
use meniscus_scene::{AnyScene, Scene};
use meniscus_store::cache;
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::failed;
use crate::worker::{Link, supervise};

/// A frame of either dimension.
pub enum AnyFrame {
    /// In 2D.
    Two(cache::Frame<2>),
    /// In 3D.
    Three(cache::Frame<3>),
}

/// Evaluates the same expression for a frame of either dimension.
macro_rules! either {
    ($any:expr, $frame:ident => $body:expr) => {
        match $any {
            AnyFrame::Two($frame) => $body,
            AnyFrame::Three($frame) => $body,
        }
    };
}

/// A frame of a run or of a simulation.
#[pyclass(frozen, module = "meniscus._native")]
pub struct Frame {
    frame: Arc<AnyFrame>,
    scene: Arc<AnyScene>,
}

impl Frame {
    /// A frame of a scene.
    pub fn new(frame: AnyFrame, scene: Arc<AnyScene>) -> Self {
        Frame {
            frame: Arc::new(frame),
            scene,
        }
    }
}

#[pymethods]
impl Frame {
    /// Number.
    #[getter]
    fn number(&self) -> u32 {
        either!(&*self.frame, frame => frame.number)
    }

    /// Seconds since the start.
    #[getter]
    fn time(&self) -> f64 {
        either!(&*self.frame, frame => frame.time)
    }

    /// 2 or 3.
    #[getter]
    fn dimension(&self) -> usize {
        match &*self.frame {
            AnyFrame::Two(_) => 2,
            AnyFrame::Three(_) => 3,
        }
    }

    /// Point layers, by their order.
    #[getter]
    fn layers(&self) -> Vec<PointLayer> {
        let count = either!(&*self.frame, frame => frame.points.len());
        let layer = |index| PointLayer {
            frame: Arc::clone(&self.frame),
            index,
        };
        (0..count).map(layer).collect()
    }

    /// Meshes that move and change their shape, in their order.
    #[getter]
    fn meshes(&self) -> Vec<Mesh> {
        let count = either!(&*self.frame, frame => frame.meshes.len());
        let mesh = |index| Mesh {
            frame: Arc::clone(&self.frame),
            scene: Arc::clone(&self.scene),
            index,
        };
        (0..count).map(mesh).collect()
    }

    /// Bodies and scripted solids with their poses, velocities and forces.
    #[getter]
    fn bodies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        either!(&*self.frame, frame => bodies(py, frame))
    }

    /// Surface of the liquid.
    fn surface(&self, py: Python<'_>) -> PyResult<Surface> {
        let (frame, scene) = (Arc::clone(&self.frame), Arc::clone(&self.scene));
        let work = move |_: &Link<(), ()>| match (&*scene, &*frame) {
            (AnyScene::Two(scene), AnyFrame::Two(frame)) => Some(surface::of_frame(
                scene,
                frame,
                &scene.output.surface_settings,
            )),
            (AnyScene::Three(scene), AnyFrame::Three(frame)) => Some(surface::of_frame(
                scene,
                frame,
                &scene.output.surface_settings,
            )),
            _ => None,
        };
        let made = supervise(py, None, work, |_, ()| Ok(None))?;
        let made = made
            .ok_or_else(|| PyValueError::new_err("the frame and its scene differ in dimension"))?;
        Ok(Surface {
            surface: made.map_err(|e| failed(py, &e))?,
        })
    }
}

/// Bodies of a frame by name.
fn bodies<'py, const D: usize>(
    py: Python<'py>,
    frame: &cache::Frame<D>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let vector = |numbers: &[f64]| PyArray1::from_slice(py, numbers);
    for body in &frame.bodies {
        let one = PyDict::new(py);
        one.set_item("translation", vector(&body.translation))?;
        let rows: Vec<Vec<f64>> = body.rotation.iter().map(|row| row.to_vec()).collect();
        let rotation =
            PyArray2::from_vec2(py, &rows).map_err(|e| PyValueError::new_err(e.to_string()))?;
        one.set_item("rotation", rotation)?;
        one.set_item("velocity", vector(&body.velocity))?;
        // In the plane only rotation about the axis out of it is possible.
        match D {
            2 => one.set_item("angular_velocity", body.angular_velocity[2])?,
            _ => one.set_item("angular_velocity", vector(&body.angular_velocity))?,
        }
        dict.set_item(&body.name, one)?;
    }
    for load in &frame.loads {
        let Some(one) = dict.get_item(&load.name)? else {
            continue;
        };
        one.set_item("center", vector(&load.center))?;
        one.set_item("center_velocity", vector(&load.velocity))?;
        one.set_item("contact_force", vector(&load.contact_force))?;
        one.set_item("contact_torque", vector(&load.contact_torque))?;
        one.set_item("joint_force", vector(&load.joint_force))?;
        one.set_item("joint_torque", vector(&load.joint_torque))?;
        one.set_item("kinetic_energy", load.kinetic_energy)?;
        one.set_item("contacts", load.contacts)?;
        one.set_item("penetration", load.penetration)?;
        if let Some(liquid) = &load.liquid {
            one.set_item("liquid_force", vector(&liquid.force))?;
            one.set_item("liquid_torque", vector(&liquid.torque))?;
            one.set_item("submerged_volume", liquid.submerged_volume)?;
            one.set_item("waterline_area", liquid.waterline_area)?;
        }
    }
    Ok(dict)
}

/// Makes an array of data that `owner` keeps alive; it can't be written to.
fn borrowed_vectors<'py, T: Element, const D: usize>(
    owner: Bound<'py, PyAny>,
    vectors: &[[T; D]],
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let view = ArrayView2::from_shape((vectors.len(), D), vectors.as_flattened())
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    // SAFETY: the owner is frozen, so that its data neither moves nor changes while the array exists.
    let array = unsafe { PyArray2::borrow_from_array(&view, owner) };
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

/// As [`borrowed_vectors`], for numbers.
fn borrowed<'py, T: Element>(
    owner: Bound<'py, PyAny>,
    numbers: &[T],
) -> PyResult<Bound<'py, PyArray1<T>>> {
    // SAFETY: as above.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(numbers), owner) };
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

/// Points of one material.
#[pyclass(frozen, module = "meniscus._native")]
pub struct PointLayer {
    frame: Arc<AnyFrame>,
    index: usize,
}

#[pymethods]
impl PointLayer {
    /// Name of the material.
    #[getter]
    fn name(&self) -> &str {
        either!(&*self.frame, frame => &frame.points[self.index].name)
    }

    /// Distance of particles at rest in metres.
    #[getter]
    fn spacing(&self) -> f64 {
        either!(&*self.frame, frame => frame.points[self.index].spacing)
    }

    fn __len__(&self) -> usize {
        either!(&*self.frame, frame => frame.points[self.index].positions.len())
    }

    /// Positions in metres, one per row.
    #[getter]
    fn positions<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let own = this.get();
        let owner = this.clone().into_any();
        either!(&*own.frame, frame => borrowed_vectors(owner, &frame.points[own.index].positions))
    }

    /// Velocities in m/s, one per row.
    #[getter]
    fn velocities<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let own = this.get();
        let owner = this.clone().into_any();
        either!(&*own.frame, frame => borrowed_vectors(owner, &frame.points[own.index].velocities))
    }

    /// Identifiers, stable from birth; None unless the scene has ``output.attributes``.
    #[getter]
    fn ids<'py>(this: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyArray1<u64>>>> {
        let own = this.get();
        let ids = either!(&*own.frame, frame => frame.points[own.index].ids.as_deref());
        ids.map(|ids| borrowed(this.clone().into_any(), ids))
            .transpose()
    }

    /// Names of the scalars.
    #[getter]
    fn scalars(&self) -> Vec<&str> {
        either!(&*self.frame, frame => {
            frame.points[self.index].scalars.iter().map(|scalar| scalar.name.as_str()).collect()
        })
    }

    /// Values of a scalar.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     One of `scalars`.
    ///
    /// Returns
    /// -------
    /// ndarray or None
    ///     One value per particle; None if there is no scalar of that name.
    fn scalar<'py>(
        this: &Bound<'py, Self>,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyArray1<f32>>>> {
        let own = this.get();
        let values = either!(&*own.frame, frame => frame.points[own.index].scalar(name));
        values
            .map(|values| borrowed(this.clone().into_any(), values))
            .transpose()
    }
}

/// Triangle mesh that moves and changes its shape, such as cloth.
#[pyclass(frozen, module = "meniscus._native")]
pub struct Mesh {
    frame: Arc<AnyFrame>,
    scene: Arc<AnyScene>,
    index: usize,
}

impl Mesh {
    fn vertices(&self) -> &cache::DeformedMesh {
        either!(&*self.frame, frame => &frame.meshes[self.index])
    }
}

/// Triangles of the cloth or soft body of this name; the frames of a run do not repeat them.
fn triangles_of<const D: usize>(scene: &Scene<D>, name: &str) -> Vec<[u32; 3]> {
    let mut meshes = scene.moving_meshes().into_iter();
    let found = meshes.find(|mesh| mesh.name == name);
    found.map_or_else(Vec::new, |mesh| mesh.triangles)
}

#[pymethods]
impl Mesh {
    /// Name of the cloth or soft body.
    #[getter]
    fn name(&self) -> &str {
        &self.vertices().name
    }

    fn __len__(&self) -> usize {
        self.vertices().positions.len()
    }

    /// Positions of the vertices in metres, one per row.
    #[getter]
    fn positions<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        borrowed_vectors(this.clone().into_any(), &this.get().vertices().positions)
    }

    /// Velocities of the vertices in m/s, one per row.
    #[getter]
    fn velocities<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        borrowed_vectors(this.clone().into_any(), &this.get().vertices().velocities)
    }

    /// Vertices of each triangle, three numbers per row.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let triangles = match &*self.scene {
            AnyScene::Two(scene) => triangles_of(scene, self.name()),
            AnyScene::Three(scene) => triangles_of(scene, self.name()),
        };
        PyArray1::from_slice(py, triangles.as_flattened()).reshape([triangles.len(), 3])
    }
}

/// Triangle mesh of the liquid's surface.
#[pyclass(frozen, module = "meniscus._native")]
pub struct Surface {
    surface: surface::Surface,
}

#[pymethods]
impl Surface {
    /// Positions of the vertices in metres, one per row.
    #[getter]
    fn positions<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        borrowed_vectors(this.clone().into_any(), &this.get().surface.positions)
    }

    /// Unit normals out of the liquid at the vertices, one per row.
    #[getter]
    fn normals<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        borrowed_vectors(this.clone().into_any(), &this.get().surface.normals)
    }

    /// Velocities of the liquid at the vertices in m/s.
    #[getter]
    fn velocities<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        borrowed_vectors(this.clone().into_any(), &this.get().surface.velocities)
    }

    /// Vertices of each triangle, three numbers per row.
    #[getter]
    fn triangles<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        borrowed_vectors(this.clone().into_any(), &this.get().surface.triangles)
    }

    /// Enclosed volume in m³.
    #[getter]
    fn volume(&self) -> f64 {
        self.surface.volume()
    }

    /// Area in m².
    #[getter]
    fn area(&self) -> f64 {
        self.surface.area()
    }
}
