//! The rows of the table, by name.

use super::Kind::{Any, Bools, List, Number, Set, String, Strings};
use super::{
    Action, Body, Function, Parameter, Tools, encodings, format, general, json, lists, maps, numbers, paths, regexes,
    sets, strings, yaml,
};

const fn of(name: &'static str, action: Action) -> Function {
    Function { name, parameters: &[], rest: None, tools: Tools::ALL, action }
}

/// A function that takes nothing yet.
const fn row(name: &'static str, body: Body) -> Function {
    of(name, Action::Compute(body))
}

/// The same, which does not look into the elements of its arguments.
const fn selection(name: &'static str, body: Body) -> Function {
    of(name, Action::Select(body))
}

impl Function {
    const fn takes(self, parameters: &'static [Parameter]) -> Self {
        Self { parameters, ..self }
    }

    const fn and(self, rest: Parameter) -> Self {
        Self { rest: Some(rest), ..self }
    }

    const fn only(self, tools: Tools) -> Self {
        Self { tools, ..self }
    }
}

const fn any(name: &'static str) -> Parameter {
    Parameter::new(name, Any)
}

const fn string(name: &'static str) -> Parameter {
    Parameter::new(name, String)
}

const fn number(name: &'static str) -> Parameter {
    Parameter::new(name, Number)
}

const fn strings_(name: &'static str) -> Parameter {
    Parameter::new(name, Strings)
}

const fn set(name: &'static str) -> Parameter {
    Parameter::new(name, Set)
}

const STR: &[Parameter] = &[string("str")];
const CONVERTED: &[Parameter] = &[any("v").or_null()];

/// All functions, sorted by name.
pub const TABLE: &[Function] = &[
    row("alltrue", lists::all_true).takes(&[Parameter::new("list", Bools)]),
    row("anytrue", lists::any_true).takes(&[Parameter::new("list", Bools)]),
    row("base64decode", encodings::decode_base64).takes(STR),
    row("base64encode", encodings::encode_base64).takes(STR),
    row("basename", paths::basename).takes(&[string("path")]),
    of("can", Action::Can),
    row("chomp", strings::chomp).takes(STR),
    selection("coalesce", general::coalesce).and(any("vals").or_null()),
    row("compact", lists::compact).takes(&[strings_("list")]),
    selection("concat", lists::concat).and(any("seqs")),
    row("constraint_check", strings::satisfies)
        .takes(&[string("version"), string("constraint")])
        .only(Tools::TERRAGRUNT),
    row("contains", lists::contains).takes(&[any("list"), any("value")]),
    of("convert", Action::Convert).only(Tools::MODULES),
    row("dirname", paths::dirname).takes(&[string("path")]),
    row("distinct", lists::distinct).takes(&[Parameter::new("list", List)]),
    selection("element", lists::element).takes(&[any("list"), number("index")]),
    row("endswith", strings::ends_with).takes(&[string("str"), string("suffix")]),
    row("flatten", lists::flatten).takes(&[any("list")]),
    row("format", format::format).takes(&[string("format")]).and(any("args").or_null()),
    row("formatlist", format::format_list).takes(&[string("format")]).and(any("args").or_null()),
    row("indent", strings::indent).takes(&[number("spaces"), string("str")]),
    row("join", strings::join).takes(&[string("separator")]).and(strings_("lists")),
    row("jsondecode", json::decode).takes(STR),
    row("jsonencode", json::encode).takes(&[any("val").or_null()]),
    selection("keys", maps::keys).takes(&[any("inputMap")]),
    selection("length", lists::length).takes(&[any("value")]),
    selection("lookup", maps::lookup).takes(&[any("inputMap"), string("key")]).and(any("default").or_null()),
    row("lower", strings::lower).takes(STR),
    row("max", numbers::max).and(number("numbers")),
    selection("merge", maps::merge).and(any("maps").or_null()),
    row("min", numbers::min).and(number("numbers")),
    selection("one", lists::one).takes(&[any("list")]),
    row("range", numbers::range).and(number("params")),
    row("regex", regexes::regex).takes(&[string("pattern"), string("string")]),
    row("replace", regexes::replace).takes(&[string("str"), string("substr"), string("replace")]),
    selection("reverse", lists::reverse).takes(&[any("list")]),
    row("setintersection", sets::intersect).takes(&[set("first_set")]).and(set("other_sets")),
    row("setsubtract", sets::subtract).takes(&[set("a"), set("b")]),
    row("setunion", sets::unite).takes(&[set("first_set")]).and(set("other_sets")),
    selection("slice", lists::slice).takes(&[any("list"), number("start_index"), number("end_index")]),
    row("sort", lists::sort).takes(&[strings_("list")]),
    row("split", strings::split).takes(&[string("separator"), string("str")]),
    row("startswith", strings::starts_with).takes(&[string("str"), string("prefix")]),
    row("strcontains", strings::contains).takes(&[string("str"), string("substr")]),
    row("substr", strings::substr).takes(&[string("str"), number("offset"), number("length")]),
    row("title", strings::title).takes(STR),
    row("tobool", general::to_bool).takes(CONVERTED),
    row("tolist", general::to_list).takes(CONVERTED),
    row("tomap", general::to_map).takes(CONVERTED),
    row("tonumber", general::to_number).takes(CONVERTED),
    row("toset", general::to_set).takes(CONVERTED),
    row("tostring", general::to_string).takes(CONVERTED),
    row("trim", strings::trim).takes(&[string("str"), string("cutset")]),
    row("trimprefix", strings::trim_prefix).takes(&[string("str"), string("prefix")]),
    row("trimspace", strings::trim_space).takes(STR),
    row("trimsuffix", strings::trim_suffix).takes(&[string("str"), string("suffix")]),
    of("try", Action::Try),
    row("upper", strings::upper).takes(STR),
    row("urldecode", encodings::decode_url).takes(STR).only(Tools::OPENTOFU),
    selection("values", maps::values).takes(&[any("values")]),
    row("yamldecode", yaml::decode).takes(&[string("src")]),
    row("yamlencode", yaml::encode).takes(&[any("value").or_null()]),
    row("zipmap", maps::zip).takes(&[strings_("keys"), any("values")]),
];
