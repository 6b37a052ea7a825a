//! The rows of the table, by name.

use super::Kind::{Any, Bool, Bools, List, ListsByKey, Number, Set, String, Strings};
use super::{
    Action, Body, Function, Kind, Parameter, Tools, cidr, collections, csv, dates, encodings, format, general, hashes,
    json, lists, maps, numbers, paths, regexes, sets, strings, titles, yaml,
};

/// A function without parameters yet.
const fn row(name: &'static str, returns: Kind, body: Body) -> Function {
    Function { name, parameters: &[], rest: None, returns, tools: Tools::ALL, action: Action::Compute(body) }
}

/// A function that only the tool computes.
const fn outside(name: &'static str, returns: Kind) -> Function {
    Function { name, parameters: &[], rest: Some(any("args")), returns, tools: Tools::ALL, action: Action::Outside }
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

const fn list(name: &'static str) -> Parameter {
    Parameter::new(name, List)
}

const fn strings_(name: &'static str) -> Parameter {
    Parameter::new(name, Strings)
}

const fn set(name: &'static str) -> Parameter {
    Parameter::new(name, Set)
}

const NUM: &[Parameter] = &[number("num")];
const STR: &[Parameter] = &[string("str")];
const VALUE: &[Parameter] = &[any("value").or_null().or_unknown()];
const CONVERTED: &[Parameter] = &[any("v").or_null().or_unknown()];

/// All functions, sorted by name.
pub const TABLE: &[Function] = &[
    row("abs", Number, numbers::abs).takes(NUM),
    outside("abspath", String),
    row("alltrue", Bool, lists::all_true).takes(&[Parameter::new("list", Bools)]),
    row("anytrue", Bool, lists::any_true).takes(&[Parameter::new("list", Bools)]),
    row("base64decode", String, encodings::decode_base64).takes(STR),
    row("base64encode", String, encodings::encode_base64).takes(STR),
    row("base64gunzip", String, encodings::decompress).takes(STR).only(Tools::OPENTOFU),
    outside("base64gzip", String),
    row("base64sha256", String, hashes::base64_sha256).takes(STR),
    row("base64sha512", String, hashes::base64_sha512).takes(STR),
    row("basename", String, paths::basename).takes(&[string("path")]),
    outside("bcrypt", String),
    Function { action: Action::Can, ..row("can", Bool, general::same).takes(VALUE) },
    row("ceil", Number, numbers::ceil).takes(NUM),
    row("chomp", String, strings::chomp).takes(STR),
    row("chunklist", Any, lists::chunk).takes(&[list("list"), number("size")]),
    row("cidrcontains", Bool, cidr::contains)
        .takes(&[string("containing_prefix"), string("contained_ip_or_prefix")])
        .only(Tools::OPENTOFU),
    row("cidrhost", String, cidr::host).takes(&[string("prefix"), number("hostnum")]),
    row("cidrnetmask", String, cidr::netmask).takes(&[string("prefix")]),
    row("cidrsubnet", String, cidr::subnet).takes(&[string("prefix"), number("newbits"), number("netnum")]),
    row("cidrsubnets", Strings, cidr::subnets).takes(&[string("prefix")]).and(number("newbits")),
    row("coalesce", Any, general::coalesce).and(any("vals").or_null().or_unknown()),
    row("coalescelist", Any, lists::coalesce).and(any("vals").or_null().or_unknown()),
    row("compact", Strings, lists::compact).takes(&[strings_("list")]),
    row("concat", Any, lists::concat).and(any("seqs")),
    row("constraint_check", Bool, strings::satisfies)
        .takes(&[string("version"), string("constraint")])
        .only(Tools::TERRAGRUNT),
    row("contains", Bool, lists::contains).takes(&[any("list"), any("value")]),
    row("csvdecode", Any, csv::decode).takes(STR),
    row("deep_merge", Any, maps::merge_all_deeply).and(any("maps").or_null()).only(Tools::TERRAGRUNT),
    row("dirname", String, paths::dirname).takes(&[string("path")]),
    row("distinct", Any, lists::distinct).takes(&[list("list")]),
    row("element", Any, lists::element).takes(&[any("list"), number("index")]),
    row("endswith", Bool, strings::ends_with).takes(&[string("str"), string("suffix")]),
    row("ephemeralasnull", Any, general::same).takes(VALUE).only(Tools::MODULES),
    outside("file", String),
    outside("filebase64", String),
    outside("filebase64sha256", String),
    outside("filebase64sha512", String),
    outside("fileexists", Bool),
    outside("filemd5", String),
    outside("fileset", Any),
    outside("filesha1", String),
    outside("filesha256", String),
    outside("filesha512", String),
    row("flatten", Any, lists::flatten).takes(&[any("list")]),
    row("floor", Number, numbers::floor).takes(NUM),
    row("format", String, format::format).takes(&[string("format")]).and(any("args").or_typed_null()),
    row("formatdate", String, dates::format).takes(&[string("format"), string("time")]),
    row("formatlist", Strings, format::format_list)
        .takes(&[string("format")])
        .and(any("args").or_typed_null().or_unknown()),
    row("indent", String, strings::indent).takes(&[number("spaces"), string("str")]),
    row("index", Number, lists::index).takes(&[any("list"), any("value")]),
    row("issensitive", Bool, general::is_sensitive).takes(VALUE).only(Tools::MODULES),
    row("join", String, strings::join).takes(&[string("separator")]).and(strings_("lists")),
    row("jsondecode", Any, json::decode).takes(STR),
    row("jsonencode", String, json::encode).takes(&[any("val").or_null()]),
    row("keys", Any, maps::keys).takes(&[any("inputMap").or_unknown()]),
    row("length", Number, collections::length).takes(&[any("value").or_unknown()]),
    row("log", Number, numbers::log).takes(&[number("num"), number("base")]),
    row("lookup", Any, maps::lookup)
        .takes(&[any("inputMap").or_unknown(), string("key")])
        .and(any("default").or_null().or_unknown()),
    row("lower", String, titles::lower).takes(STR),
    row("matchkeys", Any, lists::match_keys).takes(&[list("values"), list("keys"), list("searchset")]),
    row("max", Number, numbers::max).and(number("numbers")),
    row("md5", String, hashes::md5).takes(STR),
    row("merge", Any, maps::merge).and(any("maps").or_null()),
    row("min", Number, numbers::min).and(number("numbers")),
    row("nonsensitive", Any, general::same).takes(VALUE),
    row("one", Any, lists::one).takes(&[any("list")]),
    row("parseint", Number, numbers::parse_int).takes(&[any("number"), number("base")]),
    outside("pathexpand", String),
    outside("plantimestamp", String).only(Tools::MODULES),
    row("pow", Number, numbers::pow).takes(&[number("num"), number("power")]),
    row("range", Any, numbers::range).and(number("params")),
    row("regex", Any, regexes::regex).takes(&[string("pattern"), string("string")]),
    row("regexall", Any, regexes::regex_all).takes(&[string("pattern"), string("string")]),
    row("replace", String, regexes::replace).takes(&[string("str"), string("substr"), string("replace")]),
    row("reverse", Any, lists::reverse).takes(&[any("list")]),
    outside("rsadecrypt", String),
    outside("sensitive", Any),
    row("setintersection", Any, sets::intersect).takes(&[set("first_set")]).and(set("other_sets")),
    row("setproduct", Any, sets::product).and(any("sets")),
    row("setsubtract", Any, sets::subtract).takes(&[set("a"), set("b")]),
    row("setunion", Any, sets::unite).takes(&[set("first_set")]).and(set("other_sets")),
    row("sha1", String, hashes::sha1).takes(STR),
    row("sha256", String, hashes::sha256).takes(STR),
    row("sha512", String, hashes::sha512).takes(STR),
    row("signum", Number, numbers::signum).takes(NUM),
    row("slice", Any, lists::slice).takes(&[any("list"), number("start_index"), number("end_index")]),
    row("sort", Strings, lists::sort).takes(&[strings_("list")]),
    row("split", Strings, strings::split).takes(&[string("separator"), string("str")]),
    row("startswith", Bool, strings::starts_with).takes(&[string("str"), string("prefix")]),
    row("strcontains", Bool, strings::contains).takes(&[string("str"), string("substr")]),
    row("strrev", String, strings::reverse).takes(STR),
    row("substr", String, strings::substr).takes(&[string("str"), number("offset"), number("length")]),
    row("sum", Number, numbers::sum).takes(&[any("list")]),
    outside("templatefile", Any),
    Function { action: Action::Render, ..row("templatestring", Any, general::same).only(Tools::MODULES) },
    row("textdecodebase64", String, encodings::decode_text).takes(&[string("source"), string("encoding")]),
    row("textencodebase64", String, encodings::encode_text).takes(&[string("string"), string("encoding")]),
    row("timeadd", String, dates::add).takes(&[string("timestamp"), string("duration")]),
    row("timecmp", Number, dates::compare).takes(&[string("timestamp_a"), string("timestamp_b")]),
    outside("timestamp", String),
    row("title", String, titles::title).takes(STR),
    row("tobool", Bool, general::to_bool).takes(CONVERTED),
    row("tolist", Any, general::to_list).takes(CONVERTED),
    row("tomap", Any, general::to_map).takes(CONVERTED),
    row("tonumber", Number, general::to_number).takes(CONVERTED),
    row("toset", Any, general::to_set).takes(CONVERTED),
    row("tostring", String, general::to_string).takes(CONVERTED),
    row("transpose", ListsByKey, maps::transpose).takes(&[Parameter::new("values", ListsByKey)]),
    row("trim", String, strings::trim).takes(&[string("str"), string("cutset")]),
    row("trimprefix", String, strings::trim_prefix).takes(&[string("str"), string("prefix")]),
    row("trimspace", String, strings::trim_space).takes(STR),
    row("trimsuffix", String, strings::trim_suffix).takes(&[string("str"), string("suffix")]),
    Function { action: Action::Try, ..row("try", Any, general::same).and(any("expressions").or_null().or_unknown()) },
    row("upper", String, titles::upper).takes(STR),
    row("urldecode", String, encodings::decode_url).takes(STR).only(Tools::OPENTOFU),
    row("urlencode", String, encodings::encode_url).takes(STR),
    outside("uuid", String),
    row("uuidv5", String, hashes::uuid_v5).takes(&[string("namespace"), string("name")]),
    row("values", Any, maps::values).takes(&[any("values")]),
    row("yamldecode", Any, yaml::decode).takes(&[string("src")]),
    row("yamlencode", String, yaml::encode).takes(&[any("value").or_null()]),
    row("zipmap", Any, maps::zip).takes(&[strings_("keys"), any("values")]),
];
