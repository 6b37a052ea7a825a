//! TODO(doc).
