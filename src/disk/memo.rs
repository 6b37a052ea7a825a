//! What was made of the texts of a run, once for equal texts: many root modules of a large repository have equal files.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::hash::Sha256Digest;

#[derive(Debug)]
pub struct TextMemo<V> {
    /// The first text, which most others are compared with; so a run about one root module hashes nothing.
    first: OnceLock<(Box<[u8]>, V)>,
    others: Mutex<HashMap<Sha256Digest, V>>,
}

impl<V> Default for TextMemo<V> {
    fn default() -> Self {
        Self { first: OnceLock::new(), others: Mutex::default() }
    }
}

impl<V: Clone> TextMemo<V> {
    pub fn get(&self, text: &[u8]) -> Option<V> {
        let (first, value) = self.first.get()?;
        if **first == *text {
            return Some(value.clone());
        }
        self.others.lock().unwrap_or_else(PoisonError::into_inner).get(&Sha256Digest::of(text)).cloned()
    }

    pub fn keep(&self, text: &[u8], value: V) -> V {
        let (first, kept) = self.first.get_or_init(|| (text.into(), value.clone()));
        if **first == *text {
            return kept.clone();
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.entry(Sha256Digest::of(text)).or_insert(value).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn equal_texts_share_their_result() {
        let memo = TextMemo::default();
        let [one, two] = [b"one", b"two"].map(|text| memo.keep(text, Arc::new(text.to_vec())));
        assert!(Arc::ptr_eq(&one, &memo.keep(b"one", Arc::default())));
        assert!(memo.get(b"two").is_some_and(|kept| Arc::ptr_eq(&two, &kept)));
        assert_eq!((memo.get(b"three"), *two != *one), (None, true));
    }
}
