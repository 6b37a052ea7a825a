//! Edits of native syntax.
//!
//! Whatever is put in copies the indentation, the line breaks and the layout of its neighbours.

mod insert;
mod members;
mod remove;
mod replace;

use std::ops::Range;

use super::lines;
use crate::hcl::scan::{self, Argument, Block};

pub(super) use insert::{append, insert_block, insert_entry};
pub(super) use remove::remove_entry;
pub(super) use replace::replace_entry;

#[derive(Debug)]
pub(super) struct Site<'a> {
    text: &'a str,
    terraform: Block<'a>,
    pub(super) has_version: bool,
    pub(super) required: Vec<Required<'a>>,
}

#[derive(Debug)]
pub(super) struct Required<'a> {
    block: Block<'a>,
    pub(super) entries: Vec<Argument<'a>>,
}

pub(super) fn sites(text: &str) -> Vec<Site<'_>> {
    let blocks = |range, kind: &str| {
        let mut blocks = scan::outline(text, range).map(|outline| outline.blocks).unwrap_or_default();
        blocks.retain(|block| block.kind == kind);
        blocks
    };
    blocks(0..text.len(), "terraform")
        .into_iter()
        .map(|terraform| {
            let has_version = scan::outline(text, terraform.body.clone())
                .is_ok_and(|outline| outline.arguments.iter().any(|argument| argument.name == "required_version"));
            let required = blocks(terraform.body.clone(), "required_providers")
                .into_iter()
                .map(|block| Required {
                    entries: scan::outline(text, block.body.clone())
                        .map(|outline| outline.arguments)
                        .unwrap_or_default(),
                    block,
                })
                .collect();
            Site { text, terraform, has_version, required }
        })
        .collect()
}

impl Site<'_> {
    /// The ranges whose alignment is kept up, from outer to inner.
    fn ranges(&self, required: Option<&Required<'_>>) -> Vec<Range<usize>> {
        let range = |block: &Block<'_>| lines::line_start(self.text, block.at)..self.line_end_of(block);
        std::iter::once(&self.terraform).chain(required.map(|required| &required.block)).map(range).collect()
    }

    fn line_end_of(&self, block: &Block<'_>) -> usize {
        let end = lines::line_end(self.text, block.body.end);
        self.text[..end].trim_end_matches(['\n', '\r']).len().max(block.body.end)
    }
}

/// True if the body of a block is on the line of its header.
fn is_on_one_line(text: &str, block: &Block<'_>, first: Option<&Argument<'_>>) -> bool {
    !text[block.body.start..first.map_or(block.body.end, |first| first.at)].contains('\n')
}
