//! HCL, the language of the files that are read: what its texts mean, whatever they are about.

mod heredoc;

pub(crate) use heredoc::ends_heredoc;
