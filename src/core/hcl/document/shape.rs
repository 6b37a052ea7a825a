//! What can be wrong with a document whatever it is about.

/// A part of a document that does not belong where it stands, or is missing, or is of another type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Shape {
    #[error("{file_name} is not valid HCL: {message}")]
    Syntax { file_name: &'static str, message: String },
    #[error("there is no setting {name:?} {place}{hint}", hint = did_you_mean(*.suggestion))]
    UnknownAttribute { name: String, place: &'static str, suggestion: Option<&'static str> },
    #[error("there is no block {name:?} {place}{hint}", hint = did_you_mean(*.suggestion))]
    UnknownBlock { name: String, place: &'static str, suggestion: Option<&'static str> },
    /// `policy = …`
    #[error("{0:?} is a block and takes no equals sign")]
    IsABlock(&'static str),
    /// `platforms { … }`
    #[error("{0:?} is an attribute and takes an equals sign")]
    IsAnAttribute(&'static str),
    #[error("a {block} block has {wanted}")]
    Labels { block: &'static str, wanted: &'static str },
    #[error("{0} stands twice")]
    Twice(String),
    #[error("{name} must be {wanted}")]
    Type { name: &'static str, wanted: &'static str },
    #[error("{name} cannot be {value:?}{hint}", hint = did_you_mean(*.suggestion))]
    Word { name: &'static str, value: String, suggestion: Option<&'static str>, words: Vec<&'static str> },
    #[error("{0} must not be empty")]
    EmptyList(&'static str),
    #[error("a {block} block needs {name}")]
    Missing { block: &'static str, name: &'static str },
}

/// The end of a message about a word that is not known.
pub fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|word| format!("; did you mean {word:?}?")).unwrap_or_default()
}

impl Shape {
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
