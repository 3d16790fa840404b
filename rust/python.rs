//! The only file that knows Python: owned values out, the GIL let go, nothing decided.

use std::path::PathBuf;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::chunk::Chunking;
use crate::embed;
use crate::error::{Error, Result};
use crate::index::{self, Engine, Filter, SearchOptions, SyncOptions, TemporalDecay};
use crate::rank::hybrid::Shares;
use crate::rank::{self, Fusion, PathMatch};
use crate::scan::{ExtraPath, ScanSpec, Skipped};
use crate::store::source_name;
use crate::syntax::{self, Node, Value};

create_exception!(
    memgrep._core,
    CoreError,
    PyException,
    "Something failed below the binding; `kind` says what."
);

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Argument(_) | Error::Syntax { .. } => return PyValueError::new_err(error.to_string()),
            Error::Io { .. } => "io",
            Error::Store { damaged: true, .. } => "damaged",
            Error::Store { .. } => "store",
            Error::Foreign { .. } => "foreign",
            Error::ReadOnly { .. } => "read-only",
            Error::Locked { .. } => "locked",
            Error::Derived { .. } => "derived",
            Error::Model { .. } => "model",
            Error::Interrupted => "interrupted",
        };
        Python::attach(|py| {
            let raised = CoreError::new_err(error.to_string());
            // A plain attribute of a fresh exception can be set; if not, that failure is the one to report.
            match raised.value(py).setattr("kind", kind) {
                Ok(()) => raised,
                Err(failure) => failure,
            }
        })
    }
}

/// Core work with the GIL let go; its error becomes a Python one.
fn without_gil<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(PyErr::from)
}

/// The same with a Python callback that is told how far the work is. The callback's exception, if any, is raised.
fn with_progress<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(Option<&index::Progress<'_>>) -> Result<T> + Send,
) -> PyResult<T> {
    let raised = std::sync::Mutex::new(None);
    let tell = |stage: &str, done: usize, total: usize| {
        Python::attach(|py| {
            let answer = py.check_signals().and_then(|()| match &callback {
                Some(callback) => callback
                    .call1(py, (stage, done, total))
                    .map(|answer| answer.is_none(py) || answer.is_truthy(py).unwrap_or(true)),
                None => Ok(true),
            });
            answer.unwrap_or_else(|error| {
                if let Ok(mut raised) = raised.lock() {
                    *raised = Some(error);
                }
                false
            })
        })
    };
    let outcome = without_gil(py, || work(Some(&tell)));
    match raised.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => outcome,
    }
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
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
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
    fn embed<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let packed = without_gil(py, || {
            let mut vector = Vec::new();
            Ok(self.0.embed(text, &mut vector).then(|| crate::vector::pack(&vector)))
        })?;
        Ok(packed.map(|bytes| PyBytes::new(py, &bytes)))
    }
}

fn unpack(bytes: &[u8]) -> PyResult<Vec<f32>> {
    crate::vector::unpack(bytes)
        .ok_or_else(|| PyValueError::new_err(format!("packed f32 bytes come in fours, got {}", bytes.len())))
}

fn pairs(list: Vec<Skipped>) -> Vec<(String, String)> {
    list.into_iter().map(|skipped| (skipped.path, skipped.reason)).collect()
}

/// What a sync (or, with `dry_run`, a look) found.
#[pyclass(frozen, get_all)]
struct SyncReport {
    files: usize,
    added: Vec<String>,
    changed: Vec<String>,
    removed: Vec<String>,
    changed_bytes: u64,
    chunks: usize,
    skipped: Vec<(String, String)>,
    ignored: usize,
    unreachable: Vec<(String, String)>,
    unknown: Vec<String>,
    warnings: Vec<(String, String)>,
    generation: u64,
    recovered: bool,
}

impl From<index::SyncReport> for SyncReport {
    fn from(report: index::SyncReport) -> Self {
        Self {
            files: report.files,
            added: report.added,
            changed: report.changed,
            removed: report.removed,
            changed_bytes: report.changed_bytes,
            chunks: report.chunks,
            skipped: pairs(report.skipped),
            ignored: report.ignored,
            unreachable: pairs(report.unreachable),
            unknown: report.unknown,
            warnings: report.warnings,
            generation: report.generation,
            recovered: report.recovered,
        }
    }
}

/// The factors of one hit's score.
#[pyclass(frozen, get_all)]
struct Explanation {
    bm25: f32,
    cosine: Option<f32>,
    lexical_rank: Option<usize>,
    vector_rank: Option<usize>,
    text_score: f32,
    vector_score: Option<f32>,
    text_weight: f32,
    vector_weight: f32,
    merged: f32,
    temporal: f32,
    decay: f32,
    importance: f32,
    recency: f32,
    path_match: &'static str,
    mmr_penalty: f32,
}

impl From<rank::Explanation> for Explanation {
    fn from(from: rank::Explanation) -> Self {
        Self {
            bm25: from.bm25,
            cosine: from.cosine,
            lexical_rank: from.lexical_rank,
            vector_rank: from.vector_rank,
            text_score: from.text_score,
            vector_score: from.vector_score,
            text_weight: from.text_weight,
            vector_weight: from.vector_weight,
            merged: from.merged,
            temporal: from.temporal,
            decay: from.decay,
            importance: from.importance,
            recency: from.recency,
            path_match: match from.path_match {
                PathMatch::None => "none",
                PathMatch::Stem => "stem",
                PathMatch::Name => "name",
                PathMatch::Path => "path",
            },
            mmr_penalty: from.mmr_penalty,
        }
    }
}

/// A ranked chunk, ready to be shown.
#[pyclass(frozen, get_all)]
struct Hit {
    path: String,
    absolute_path: String,
    source: &'static str,
    start_line: usize,
    end_line: usize,
    chunk_start_line: usize,
    chunk_end_line: usize,
    score: f32,
    snippet: String,
    matches: Vec<(usize, usize)>,
    context: String,
    importance: Option<u8>,
    explanation: Py<Explanation>,
}

impl Hit {
    fn new(py: Python<'_>, hit: index::Hit) -> PyResult<Self> {
        let character = |byte: usize| hit.snippet[..byte].chars().count();
        Ok(Self {
            matches: hit.matches.iter().map(|&(start, end)| (character(start), character(end))).collect(),
            path: hit.path,
            absolute_path: hit.absolute,
            source: source_name(hit.source),
            start_line: hit.lines.0,
            end_line: hit.lines.1,
            chunk_start_line: hit.chunk_lines.0,
            chunk_end_line: hit.chunk_lines.1,
            score: hit.score,
            snippet: hit.snippet,
            context: hit.context,
            importance: hit.importance,
            explanation: Py::new(py, Explanation::from(hit.explanation))?,
        })
    }
}

/// Hits and how they were found.
#[pyclass(frozen, get_all)]
struct SearchResult {
    hits: Vec<Py<Hit>>,
    chunks: usize,
    vectors: usize,
    pending: usize,
    refused: usize,
    generation: u64,
    vectors_used: bool,
    lagging: bool,
}

/// One store and its derived indexes. May be shared by threads; not across a fork.
#[pyclass(frozen)]
struct Index(index::Index);

#[pymethods]
impl Index {
    #[new]
    #[pyo3(signature = (path, *, read_only = false, engine = "exact"))]
    fn new(py: Python<'_>, path: PathBuf, read_only: bool, engine: &str) -> PyResult<Self> {
        let engine = match engine {
            "exact" => Engine::Exact,
            "vec0" => Engine::Vec0,
            other => return Err(PyValueError::new_err(format!("engine must be exact or vec0, not {other}"))),
        };
        without_gil(py, || index::Index::open(&path, read_only, engine)).map(Self)
    }

    #[getter]
    fn path(&self) -> String {
        self.0.path().to_string_lossy().into_owned()
    }

    #[getter]
    fn read_only(&self) -> bool {
        self.0.is_read_only()
    }

    /// Brings text and keywords in line with the files.
    #[pyo3(signature = (workspace, extra, *, tokens, overlap, max_file_bytes, ignore, only = None, verify = false, rebuild = false,
                        dry_run = false, wait_ms = 10_000, now_ns = None, progress = None))]
    #[allow(clippy::too_many_arguments, reason = "the boundary takes plain values by name")]
    fn sync(
        &self,
        py: Python<'_>,
        workspace: PathBuf,
        extra: Vec<(PathBuf, Option<String>)>,
        tokens: usize,
        overlap: usize,
        max_file_bytes: u64,
        ignore: Vec<String>,
        only: Option<Vec<String>>,
        verify: bool,
        rebuild: bool,
        dry_run: bool,
        wait_ms: u64,
        now_ns: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<SyncReport> {
        let extra = extra.into_iter().map(|(path, pattern)| ExtraPath { path, pattern }).collect();
        let spec = ScanSpec { workspace, extra, max_file_bytes, ignore };
        with_progress(py, progress, |progress| {
            self.0.sync(&SyncOptions {
                spec,
                chunking: Chunking { tokens, overlap },
                only,
                verify,
                rebuild,
                dry_run,
                wait_ms,
                now_ns,
                progress,
            })
        })
        .map(SyncReport::from)
    }

    /// Which vectors count from now on; `None`: none.
    fn select_fingerprint(&self, fingerprint: Option<&str>) {
        self.0.select_fingerprint(fingerprint);
    }

    /// `(hash, text)` of live chunks without a vector of the selected fingerprint.
    fn pending<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Vec<(Bound<'py, PyBytes>, String)>> {
        let texts = without_gil(py, || self.0.pending(limit))?;
        Ok(texts.into_iter().map(|(hash, text)| (PyBytes::new(py, &hash), text)).collect())
    }

    /// How many texts have no vector of the selected fingerprint yet.
    fn pending_count(&self, py: Python<'_>) -> PyResult<usize> {
        without_gil(py, || self.0.pending_counts()).map(|counts| counts.0)
    }

    /// How many texts were refused under the selected fingerprint.
    fn failed_count(&self, py: Python<'_>) -> PyResult<usize> {
        without_gil(py, || self.0.pending_counts()).map(|counts| counts.1)
    }

    /// Stores packed little-endian f32 vectors, one after the other.
    fn put_vectors(
        &self,
        py: Python<'_>,
        hashes: Vec<[u8; 16]>,
        vectors: &[u8],
        dims: usize,
    ) -> PyResult<()> {
        let vectors = unpack(vectors)?;
        without_gil(py, || self.0.put_vectors(&hashes, &vectors, dims))
    }

    /// Remembers texts that were refused.
    fn put_failures(&self, py: Python<'_>, hashes: Vec<[u8; 16]>, reason: &str) -> PyResult<()> {
        without_gil(py, || self.0.put_refusals(&hashes, reason))
    }

    /// Makes refused texts pending again; how many.
    fn retry_failures(&self, py: Python<'_>) -> PyResult<usize> {
        without_gil(py, || self.0.retry_refusals())
    }

    /// Embeds everything pending with the built-in model; how many vectors that made.
    #[pyo3(signature = (model, *, progress = None))]
    fn embed_pending(
        &self,
        py: Python<'_>,
        model: &StaticModel,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<usize> {
        with_progress(py, progress, |progress| self.0.embed_pending(&model.0, progress))
    }

    /// Brings the derived indexes in line with the store; the generation.
    #[pyo3(signature = (*, wait_ms = 10_000))]
    fn publish(&self, py: Python<'_>, wait_ms: u64) -> PyResult<u64> {
        without_gil(py, || self.0.publish(wait_ms))
    }

    /// Finds the best chunks. `since` and `until` are days since 1970-01-01, both included.
    #[pyo3(signature = (query, vector, *, today, max_results = 6, min_score = 0.35, sources = None, since = None,
                        until = None, path = None, fusion = "absolute", encoder = true,
                        vector_weight = None, text_weight = None, temporal = true, decay = "auto",
                        half_life_days = 30.0, decay_floor = None, extra_fades = false, mmr_lambda = Some(0.7),
                        candidate_multiplier = 4, snippet_chars = 700))]
    #[allow(clippy::too_many_arguments, reason = "the boundary takes plain values by name")]
    fn search(
        &self,
        py: Python<'_>,
        query: &str,
        vector: Option<&[u8]>,
        today: i64,
        max_results: usize,
        min_score: f32,
        sources: Option<Vec<String>>,
        since: Option<i64>,
        until: Option<i64>,
        path: Option<String>,
        fusion: &str,
        encoder: bool,
        vector_weight: Option<f32>,
        text_weight: Option<f32>,
        temporal: bool,
        decay: &str,
        half_life_days: f32,
        decay_floor: Option<f32>,
        extra_fades: bool,
        mmr_lambda: Option<f32>,
        candidate_multiplier: usize,
        snippet_chars: usize,
    ) -> PyResult<SearchResult> {
        let vector = vector.map(unpack).transpose()?;
        let options = SearchOptions {
            max_results: max_results.max(1),
            min_score,
            filter: Filter { sources: source_bits(sources.as_deref())?, since, until, path },
            today,
            fusion: match fusion {
                "absolute" => Fusion::Absolute,
                "weighted-rank" => Fusion::WeightedRank,
                other => return Err(PyValueError::new_err(format!("unknown fusion {other}"))),
            },
            weights: vector_weight.zip(text_weight),
            shares: if encoder { Shares::ENCODER } else { Shares::TABLE },
            temporal,
            decay: match decay {
                "off" => TemporalDecay::Off,
                "on" => TemporalDecay::Exponential { half_life_days },
                "auto" => TemporalDecay::Auto { half_life_days, floor: decay_floor },
                other => {
                    return Err(PyValueError::new_err(format!("decay must be on, off or auto, not {other}")));
                }
            },
            extra_fades,
            mmr_lambda,
            candidate_multiplier,
            snippet_chars,
        };
        let found = without_gil(py, || self.0.search(query, vector.as_deref(), &options))?;
        Ok(SearchResult {
            hits: found
                .hits
                .into_iter()
                .map(|hit| Hit::new(py, hit).and_then(|hit| Py::new(py, hit)))
                .collect::<PyResult<_>>()?,
            chunks: found.chunks,
            vectors: found.vectors,
            pending: found.pending,
            refused: found.refused,
            generation: found.generation,
            vectors_used: found.vectors_used,
            lagging: found.lagging,
        })
    }

    /// Counts, sizes and state, by name.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let status = without_gil(py, || self.0.status())?;
        let dict = PyDict::new(py);
        dict.set_item("files", status.notes)?;
        dict.set_item("chunks", status.chunks)?;
        dict.set_item("vectors", status.vectors)?;
        dict.set_item("pending", status.pending)?;
        dict.set_item("failed", status.failed)?;
        dict.set_item("failures", status.failures)?;
        dict.set_item("generation", status.generation)?;
        dict.set_item("dims", status.dims)?;
        dict.set_item("fingerprints", status.fingerprints)?;
        dict.set_item("engine", status.engine)?;
        dict.set_item("bytes", status.bytes)?;
        dict.set_item("cached", status.cached)?;
        dict.set_item("last_sync_ns", status.last_sync_ns)?;
        dict.set_item("warnings", status.warnings)?;
        Ok(dict)
    }

    /// `(path, source, chunks)` of every indexed note.
    fn files(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str, usize)>> {
        let notes = without_gil(py, || self.0.notes())?;
        Ok(notes.into_iter().map(|(path, source, chunks)| (path, source_name(source), chunks)).collect())
    }

    /// Drops vectors no live chunk needs beyond `max_entries`; how many.
    fn trim_cache(&self, py: Python<'_>, max_entries: usize) -> PyResult<usize> {
        without_gil(py, || self.0.trim_cache(max_entries))
    }

    /// A line for everything that is wrong with the store or a derived index.
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        without_gil(py, || self.0.verify())
    }

    /// Closes every connection.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exc))]
    fn __exit__(&self, py: Python<'_>, _exc: &Bound<'_, PyTuple>) {
        self.close(py);
    }
}

fn source_bits(names: Option<&[String]>) -> PyResult<u8> {
    let Some(names) = names else { return Ok(u8::MAX) };
    names.iter().try_fold(0, |bits, name| {
        let bit = (0..3).find(|&source| source_name(source) == name);
        bit.map(|bit| bits | 1 << bit).ok_or_else(|| {
            PyValueError::new_err(format!("source must be memory, sessions or extra, not {name}"))
        })
    })
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{CoreError, Explanation, Hit, Index, SearchResult, StaticModel, SyncReport, parse_settings};
}
