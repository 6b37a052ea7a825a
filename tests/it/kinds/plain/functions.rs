//! Values of expressions.

use serde_json::{Map, Value, json};

use super::syntax::Expression;
use super::unit::Place;
use super::{TOP, join, parent, relative};

type Evaluated = Result<Value, String>;

pub fn evaluate(expression: &Expression, place: &Place<'_>) -> Evaluated {
    let value = |part: &Expression| evaluate(part, place);
    match expression {
        Expression::Constant(constant) => Ok(constant.clone()),
        Expression::Template(parts) => {
            let texts = parts.iter().map(|part| text(&value(part)?)).collect::<Result<Vec<_>, _>>()?;
            Ok(texts.concat().into())
        }
        Expression::Name(name) => place.variables.get(name).cloned().ok_or_else(|| format!("there is no {name}")),
        Expression::Member(whole, key) => member(&value(whole)?, &value(key)?),
        Expression::Call(name, arguments) if name == "try" => {
            arguments.iter().map(value).find(Result::is_ok).unwrap_or_else(|| Err("all fail".to_owned()))
        }
        Expression::Call(name, arguments) => {
            let arguments = arguments.iter().map(value).collect::<Result<Vec<_>, _>>()?;
            call(name, &arguments, place)
        }
        Expression::List(elements) => Ok(Value::Array(elements.iter().map(value).collect::<Result<_, _>>()?)),
        Expression::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, element)| Ok((text(&value(key)?)?, value(element)?)));
            Ok(Value::Object(pairs.collect::<Result<Map<_, _>, String>>()?))
        }
        Expression::Operation(operator, left, right) => operation(operator, &value(left)?, &value(right)?),
        Expression::For(name, parts) => each(name, parts, place),
        Expression::Conditional(parts) => {
            let [condition, yes, no] = &**parts;
            if value(condition)? == json!(true) { value(yes) } else { value(no) }
        }
    }
}

fn each(name: &str, [list, element, condition]: &[Expression; 3], place: &Place<'_>) -> Evaluated {
    let Value::Array(list) = evaluate(list, place)? else { return Err("no list".to_owned()) };
    let mut found = Vec::new();
    for value in list {
        let mut place = place.clone();
        place.variables.insert(name.to_owned(), value);
        if evaluate(condition, &place)? == json!(true) {
            found.push(evaluate(element, &place)?);
        }
    }
    Ok(Value::Array(found))
}

pub fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(format!("{value} is no text")),
    }
}

fn member(whole: &Value, key: &Value) -> Evaluated {
    let found = match (whole, key) {
        (Value::Object(all), Value::String(key)) => all.get(key),
        (Value::Array(all), Value::Number(key)) => all.get(usize::try_from(key.as_u64().unwrap_or(u64::MAX)).unwrap()),
        _ => None,
    };
    found.cloned().ok_or_else(|| format!("there is no {key}"))
}

fn operation(operator: &str, left: &Value, right: &Value) -> Evaluated {
    let numbers = || left.as_i64().zip(right.as_i64()).ok_or_else(|| format!("{left} {operator} {right}"));
    let bools = || left.as_bool().zip(right.as_bool()).ok_or_else(|| format!("{left} {operator} {right}"));
    Ok(match operator {
        "==" => json!(left == right),
        "!=" => json!(left != right),
        "&&" => bools().map(|(left, right)| json!(left && right))?,
        "||" => bools().map(|(left, right)| json!(left || right))?,
        "+" => numbers().map(|(left, right)| json!(left + right))?,
        "-" => numbers().map(|(left, right)| json!(left - right))?,
        _ => return Err(format!("the operator {operator} is not known")),
    })
}

fn call(name: &str, arguments: &[Value], place: &Place<'_>) -> Evaluated {
    let given: Vec<String> = arguments.iter().map_while(|argument| text(argument).ok()).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    match (name, arguments, &given[..]) {
        ("read_terragrunt_config", [_, default @ ..], [path, ..]) => {
            let path = join(&parent(&place.of), path);
            if place.files.contains_key(&within(&path)) {
                Ok(super::unit::read_as_value(place.files, &path, &place.unit)?)
            } else {
                default.first().cloned().ok_or_else(|| format!("there is no {path}"))
            }
        }
        ("file", _, [path]) => place.file_next_to(path).map(Value::from),
        ("fileexists", _, [path]) => Ok(place.file_next_to(path).is_ok().into()),
        ("get_terragrunt_dir", [], _) => Ok(parent(&place.of).into()),
        ("get_original_terragrunt_dir", [], _) => Ok(parent(&place.unit).into()),
        ("get_repo_root", [], _) => Ok(TOP.into()),
        ("get_path_to_repo_root", [], _) => Ok(relative(&parent(&place.of), TOP).into()),
        ("get_path_from_repo_root", [], _) => Ok(relative(TOP, &parent(&place.of)).into()),
        ("path_relative_to_include", _, labels) => {
            Ok(relative(&place.include_directory(labels)?, &parent(&place.of)).into())
        }
        ("path_relative_from_include", _, labels) => {
            Ok(relative(&parent(&place.of), &place.include_directory(labels)?).into())
        }
        ("get_parent_terragrunt_dir", _, labels) => Ok(place.include_directory(labels)?.into()),
        ("find_in_parent_folders", _, [file, fallback @ ..]) => {
            let mut directory = parent(&place.of);
            while directory.len() > TOP.len() {
                directory = parent(&directory);
                if place.files.contains_key(&within(&format!("{directory}/{file}"))) {
                    return Ok(format!("{directory}/{file}").into());
                }
            }
            fallback.first().map(|path| (*path).into()).ok_or_else(|| format!("no directory above has {file}"))
        }
        _ => pure(name, arguments, &given),
    }
}

fn pure(name: &str, arguments: &[Value], given: &[&str]) -> Evaluated {
    Ok(match (name, arguments, given) {
        ("split", _, [separator, text]) => text.split(separator).collect::<Vec<_>>().into(),
        ("join", [_, Value::Array(list)], [separator]) => {
            list.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(separator).into()
        }
        ("length", [Value::Array(list)], _) => list.len().into(),
        ("length", [Value::Object(map)], _) => map.len().into(),
        ("element", [Value::Array(list), at], _) if !list.is_empty() => {
            list[usize::try_from(at.as_u64().ok_or("no index")?).unwrap() % list.len()].clone()
        }
        ("keys", [Value::Object(map)], _) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            json!(keys)
        }
        ("lookup", [Value::Object(map), Value::String(key), default], _) => {
            map.get(key).cloned().unwrap_or_else(|| default.clone())
        }
        ("merge", maps, _) => {
            let all = maps.iter().filter_map(Value::as_object).flatten();
            Value::Object(all.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        ("coalesce", _, texts) => (*texts.iter().find(|text| !text.is_empty()).ok_or("each argument is empty")?).into(),
        ("dirname", _, [path]) => path.rsplit_once('/').map_or(".", |(directory, _)| directory).into(),
        ("basename", _, [path]) => path.rsplit('/').next().unwrap_or_default().into(),
        ("lower", _, [text]) => text.to_lowercase().into(),
        ("upper", _, [text]) => text.to_uppercase().into(),
        ("trimspace", _, [text]) => text.trim().into(),
        ("trimsuffix", _, [text, end]) => text.strip_suffix(end).unwrap_or(text).into(),
        ("replace", _, ["zz", "/z+/", new]) => (*new).into(),
        ("replace", _, [text, old, new]) if !old.starts_with('/') => text.replace(old, new).into(),
        ("substr", _, [text, from, length]) => {
            let number = |text: &str| text.parse::<usize>().map_err(|_| format!("{text} is no number"));
            text.chars().skip(number(from)?).take(number(length)?).collect::<String>().into()
        }
        ("format", _, ["%s-%02d", word, number]) => format!("{word}-{number:0>2}").into(),
        ("format", _, ["%s%s", one, other]) => format!("{one}{other}").into(),
        ("jsondecode", _, [text]) => serde_json::from_str(text).map_err(|error| error.to_string())?,
        ("yamldecode", _, [text]) => {
            let pairs = text.lines().filter_map(|line| line.split_once(": "));
            Value::Object(pairs.map(|(key, value)| (key.to_owned(), value.trim_matches('"').into())).collect())
        }
        _ => return Err(format!("{name}({arguments:?}) is not known")),
    })
}

/// The path from the top.
pub fn within(path: &str) -> String {
    path.strip_prefix(&format!("{TOP}/")).unwrap_or(path).to_owned()
}
