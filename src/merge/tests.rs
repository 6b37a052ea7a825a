//! Merges of values and of texts.
