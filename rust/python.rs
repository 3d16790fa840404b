//! The only file that knows Python: owned values out, the GIL let go, nothing decided.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::embed;
use crate::error::{Error, Result};
use crate::syntax::{self, Node, Value};

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match &error {
            Error::Argument(_) | Error::Syntax { .. } => PyValueError::new_err(error.to_string()),
            _ => PyOSError::new_err(error.to_string()),
        }
    }
}

/// Core work with the GIL let go; its error becomes a Python one.
fn without_gil<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(PyErr::from)
}

/// `(line, value)`; a table's value is a dict of key to `(key line, node)`, a list's a list of nodes.
fn node_to_python<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyTuple>> {
    let value = match &node.value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        Value::String(value) => value.into_pyobject(py)?.into_any(),
        Value::List(nodes) => {
            let list = PyList::empty(py);
            for node in nodes {
                list.append(node_to_python(py, node)?)?;
            }
            list.into_any()
        }
        Value::Table(entries) => {
            let dict = PyDict::new(py);
            for (key, line, node) in entries {
                dict.set_item(key, (*line, node_to_python(py, node)?))?;
            }
            dict.into_any()
        }
    };
    (node.line, value).into_pyobject(py)
}

/// Parses a settings text; `form` is `json5` or `toml`.
#[pyfunction]
fn parse_settings<'py>(py: Python<'py>, text: &str, form: &str) -> PyResult<Bound<'py, PyTuple>> {
    let node = match form {
        "json5" => syntax::json5(text)?,
        "toml" => syntax::toml(text)?,
        other => return Err(PyValueError::new_err(format!("form must be json5 or toml, not {other}"))),
    };
    node_to_python(py, &node)
}

/// The built-in static embedding model.
#[pyclass(frozen)]
struct StaticModel(embed::StaticModel);

#[pymethods]
impl StaticModel {
    #[new]
    fn new(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        without_gil(py, || embed::StaticModel::open(&path)).map(Self)
    }
    #[getter]
    fn dims(&self) -> usize {
        self.0.dims()
    }
    #[getter]
    fn id(&self) -> &str {
        self.0.id()
    }
    /// Packed little-endian f32 unit vector, or `None` for a text without a known token.
    fn embed(&self, py: Python<'_>, text: &str) -> PyResult<Option<Vec<u8>>> {
        without_gil(py, || {
            let mut vector = Vec::new();
            let known = self.0.embed(text, &mut vector);
            Ok(known.then(|| vector.iter().flat_map(|value| value.to_le_bytes()).collect()))
        })
    }
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{StaticModel, parse_settings};
}
