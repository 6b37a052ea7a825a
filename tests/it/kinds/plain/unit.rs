//! What the files of a unit say: includes, local values, and how they are merged.

use serde_json::{Map, Value, json};

use super::functions::{evaluate, text, within};
use super::syntax::{Body, Expression};
use super::{Files, join, parent};

/// Where an expression is.
#[derive(Clone)]
pub struct Place<'f> {
    pub files: &'f Files,
    /// The file itself.
    path: String,
    /// The configuration that functions mean.
    pub of: String,
    /// The configuration of the unit.
    pub unit: String,
    /// The files that it includes, by label; of an included file, that file alone.
    includes: Vec<(String, String)>,
    pub variables: Map<String, Value>,
}

impl Place<'_> {
    pub fn file_next_to(&self, path: &str) -> Result<String, String> {
        let path = within(&join(&parent(&self.path), path));
        self.files.get(&path).cloned().ok_or_else(|| format!("there is no {path}"))
    }

    /// The directory of the file that includes or is included.
    pub fn include_directory(&self, labels: &[&str]) -> Result<String, String> {
        match &self.includes[..] {
            [] => Ok(parent(&self.of)),
            [(_, only)] => Ok(parent(only)),
            all => {
                let label = labels.first().ok_or("a label is missing")?;
                let found = all.iter().find(|(name, _)| name == label);
                found.map(|(_, path)| parent(path)).ok_or_else(|| format!("there is no include {label}"))
            }
        }
    }
}

/// A file that is generated.
#[derive(Debug, Clone)]
pub struct Generated {
    label: String,
    pub path: String,
    pub if_exists: String,
    /// What to do instead of writing.
    pub disabled: Option<String>,
    pub contents: String,
}

/// What a file says with its includes.
#[derive(Debug, Clone, Default)]
pub struct Config {
    pub source: Option<String>,
    pub generated: Vec<Generated>,
    inputs: Option<Value>,
    locals: Map<String, Value>,
    has_terraform: bool,
}

pub fn read(files: &Files, path: &str) -> Result<Config, String> {
    read_from(files, path, path, path)
}

/// As others see it.
pub fn read_as_value(files: &Files, path: &str, unit: &str) -> Result<Value, String> {
    Ok(read_from(files, path, path, unit)?.as_value())
}

impl Config {
    fn as_value(&self) -> Value {
        let mut value = json!({ "locals": self.locals, "inputs": self.inputs });
        if self.locals.is_empty() {
            value["locals"] = Value::Null;
        }
        if self.has_terraform {
            value["terraform"] = json!({ "source": self.source });
        }
        value
    }
}

/// Reads a file: `of` is the configuration that includes it, or the file itself.
fn read_from(files: &Files, path: &str, of: &str, unit: &str) -> Result<Config, String> {
    let text = files.get(&within(path)).ok_or_else(|| format!("there is no {path}"))?;
    let body = Body::of(text).map_err(|error| format!("{path}: {error}"))?;
    let is_included = path != of;
    let mut place = Place {
        files,
        path: path.to_owned(),
        of: of.to_owned(),
        unit: unit.to_owned(),
        includes: Vec::new(),
        variables: Map::new(),
    };
    if let Some(values) = files.get(&within(&join(&parent(path), "terragrunt.values.hcl"))) {
        let values = Body::of(values)?.arguments;
        let values = values.iter().map(|(name, value)| Ok((name.clone(), evaluate(value, &place)?)));
        place.variables.insert("values".to_owned(), Value::Object(values.collect::<Result<_, String>>()?));
    }
    let includes = includes(&body, &place)?;
    if is_included && !includes.is_empty() {
        return Err(format!("{path} is included and includes"));
    }
    place.includes = includes.iter().map(|include| (include.label.clone(), include.path.clone())).collect();
    if is_included {
        place.includes = vec![(String::new(), path.to_owned())];
    }
    let mut exposed = Map::new();
    let mut merged = Vec::new();
    for include in includes {
        let config = read_from(files, &include.path, of, unit)?;
        if include.is_exposed {
            exposed.insert(include.label.clone(), config.as_value());
        }
        merged.push((config, include.strategy));
    }
    place.variables.insert("include".to_owned(), Value::Object(exposed));
    let locals = locals(&body, &mut place)?;
    let mut config = own(&body, &place)?;
    for (parent, strategy) in merged.into_iter().rev().filter(|(_, strategy)| strategy != "no_merge") {
        config = merge(parent, config, strategy == "deep")?;
    }
    config.locals = locals;
    Ok(config)
}

struct Include {
    label: String,
    path: String,
    is_exposed: bool,
    strategy: String,
}

fn includes(body: &Body, place: &Place<'_>) -> Result<Vec<Include>, String> {
    let include = |block: &super::syntax::Block| {
        let argument = |name: &str| block.body.arguments.get(name).map(|value| evaluate(value, place)).transpose();
        let path = argument("path")?.ok_or("an include has no path")?;
        Ok(Include {
            label: block.labels.first().cloned().unwrap_or_default(),
            path: join(&parent(&place.of), &text(&path)?),
            is_exposed: argument("expose")? == Some(json!(true)),
            strategy: argument("merge_strategy")?.as_ref().map_or(Ok("shallow".to_owned()), text)?,
        })
    };
    body.blocks_of("include").map(include).collect()
}

/// The local values: those that can be evaluated, again and again.
fn locals(body: &Body, place: &mut Place<'_>) -> Result<Map<String, Value>, String> {
    let blocks = body.blocks_of("locals").flat_map(|block| &block.body.arguments);
    let mut left: Vec<(&String, &Expression)> = blocks.collect();
    let mut known = Map::new();
    loop {
        place.variables.insert("local".to_owned(), Value::Object(known.clone()));
        let (done, open): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(_, value)| uses(value).iter().all(|name| known.contains_key(name)));
        if done.is_empty() {
            let is_done = open.is_empty();
            return if is_done { Ok(known) } else { Err("a local value depends on itself".to_owned()) };
        }
        for (name, value) in done {
            known.insert(name.clone(), evaluate(value, place)?);
        }
        left = open;
    }
}

/// The local values that an expression names.
fn uses(expression: &Expression) -> Vec<String> {
    match expression {
        Expression::Member(whole, key) => match (&**whole, &**key) {
            (Expression::Name(name), Expression::Constant(Value::String(key))) if name == "local" => vec![key.clone()],
            (whole, key) => [uses(whole), uses(key)].concat(),
        },
        Expression::Template(parts) | Expression::List(parts) | Expression::Call(_, parts) => {
            parts.iter().flat_map(uses).collect()
        }
        Expression::Object(pairs) => pairs.iter().flat_map(|(key, value)| [uses(key), uses(value)].concat()).collect(),
        Expression::Operation(_, left, right) => [uses(left), uses(right)].concat(),
        Expression::Conditional(parts) | Expression::For(_, parts) => parts.iter().flat_map(uses).collect(),
        Expression::Constant(_) | Expression::Name(_) => Vec::new(),
    }
}

fn own(body: &Body, place: &Place<'_>) -> Result<Config, String> {
    let mut config = Config::default();
    if let Some(terraform) = body.blocks_of("terraform").next() {
        config.has_terraform = true;
        let source = terraform.body.arguments.get("source").map(|source| evaluate(source, place)).transpose()?;
        config.source = source.filter(|source| !source.is_null()).as_ref().map(text).transpose()?;
    }
    config.inputs = body.arguments.get("inputs").map(|inputs| evaluate(inputs, place)).transpose()?;
    for block in body.blocks_of("generate") {
        let argument = |name: &str| block.body.arguments.get(name).map(|value| evaluate(value, place)).transpose();
        let word = |name: &str| argument(name)?.as_ref().map(text).transpose();
        let generated = Generated {
            label: block.labels[0].clone(),
            path: word("path")?.ok_or("a path is missing")?,
            if_exists: word("if_exists")?.ok_or("if_exists is missing")?,
            disabled: (argument("disable")? == Some(json!(true)))
                .then(|| word("if_disabled").map(|word| word.unwrap_or_else(|| "skip".to_owned())))
                .transpose()?,
            contents: word("contents")?.ok_or("contents are missing")?,
        };
        add(&mut config.generated, generated)?;
    }
    Ok(config)
}

fn add(all: &mut Vec<Generated>, generated: Generated) -> Result<(), String> {
    if all.iter().any(|other| other.label == generated.label) {
        return Err(format!("two blocks are called {}", generated.label));
    }
    all.push(generated);
    Ok(())
}

/// What an include says, and over it what the file says.
fn merge(parent: Config, child: Config, is_deep: bool) -> Result<Config, String> {
    let mut merged = parent;
    merged.source = child.source.or(merged.source);
    merged.has_terraform |= child.has_terraform;
    for generated in child.generated {
        if is_deep {
            merged.generated.retain(|other| other.label != generated.label);
        }
        add(&mut merged.generated, generated)?;
    }
    merged.inputs = match (merged.inputs, child.inputs) {
        (Some(ours), Some(theirs)) if is_deep => Some(deep(ours, theirs)),
        (Some(Value::Object(mut ours)), Some(Value::Object(theirs))) => {
            ours.extend(theirs);
            Some(Value::Object(ours))
        }
        (ours, theirs) => theirs.or(ours),
    };
    Ok(merged)
}

fn deep(ours: Value, theirs: Value) -> Value {
    match (ours, theirs) {
        (Value::Object(mut ours), Value::Object(theirs)) => {
            for (key, value) in theirs {
                let both = match ours.remove(&key) {
                    Some(other) => deep(other, value),
                    None => value,
                };
                ours.insert(key, both);
            }
            Value::Object(ours)
        }
        (Value::Array(ours), Value::Array(theirs)) => Value::Array([ours, theirs].concat()),
        (_, theirs) => theirs,
    }
}
