//! sqlite-vec: the scan inside SQLite.
