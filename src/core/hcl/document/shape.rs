//! What can be wrong with a document whatever it is about.

/// A part of a document that does not belong where it stands, or is missing, or is of another type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Shape {
    /// Not HCL.
    #[error("{file_name} is not valid HCL: {message}")]
    Syntax {
        /// What the file is called.
        file_name: &'static str,
        /// What is wrong, as the parser says it.
        message: String,
    },
    /// An attribute that there is not.
    #[error("there is no setting {name:?} {place}{hint}", hint = did_you_mean(*.suggestion))]
    UnknownAttribute {
        /// The name as written.
        name: String,
        /// Where it stands, in words.
        place: &'static str,
        /// What was meant, perhaps.
        suggestion: Option<&'static str>,
    },
    /// A block that there is not.
    #[error("there is no block {name:?} {place}{hint}", hint = did_you_mean(*.suggestion))]
    UnknownBlock {
        /// The name as written.
        name: String,
        /// Where it stands, in words.
        place: &'static str,
        /// What was meant, perhaps.
        suggestion: Option<&'static str>,
    },
    /// `policy = …`
    #[error("{0:?} is a block and takes no equals sign")]
    IsABlock(&'static str),
    /// `platforms { … }`
    #[error("{0:?} is an attribute and takes an equals sign")]
    IsAnAttribute(&'static str),
    /// Labels that a block does not have, or lacks.
    #[error("a {block} block has {wanted}")]
    Labels {
        /// The block.
        block: &'static str,
        /// What it has, in words.
        wanted: &'static str,
    },
    /// The second of a block that can stand once.
    #[error("{0} stands twice")]
    Twice(String),
    /// A value of another type, or no literal one.
    #[error("{name} must be {wanted}")]
    Type {
        /// The attribute.
        name: &'static str,
        /// The type, in words.
        wanted: &'static str,
    },
    /// A word that the attribute does not know.
    #[error("{name} cannot be {value:?}{hint}", hint = did_you_mean(*.suggestion))]
    Word {
        /// The attribute.
        name: &'static str,
        /// The value as written.
        value: String,
        /// What was meant, perhaps.
        suggestion: Option<&'static str>,
        /// What it can be.
        words: Vec<&'static str>,
    },
    /// A list without elements where one is needed.
    #[error("{0} must not be empty")]
    EmptyList(&'static str),
    /// An attribute without which a block means nothing.
    #[error("a {block} block needs {name}")]
    Missing {
        /// The block.
        block: &'static str,
        /// The attribute.
        name: &'static str,
    },
}

/// The end of a message about a word that is not known.
pub fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|word| format!("; did you mean {word:?}?")).unwrap_or_default()
}

impl Shape {
    /// The next step, for a file of some name.
    pub fn hint(&self, file_name: &str) -> Option<String> {
        match self {
            Self::UnknownAttribute { suggestion: None, .. } | Self::UnknownBlock { suggestion: None, .. } => {
                Some(format!("see the section on {file_name} in the README for what there is"))
            }
            Self::Word { words, .. } => Some(format!("write one of: {}", words.join(", "))),
            Self::IsABlock(name) => Some(format!("write {name} {{ … }}")),
            Self::IsAnAttribute(name) => Some(format!("write {name} = …")),
            _ => None,
        }
    }
}
