//! The language, by recursive descent over characters.

use std::collections::BTreeMap;

use serde_json::Value;

#[derive(Debug, Clone)]
pub enum Expression {
    Constant(Value),
    Template(Vec<Expression>),
    Name(String),
    Member(Box<Expression>, Box<Expression>),
    Call(String, Vec<Expression>),
    List(Vec<Expression>),
    Object(Vec<(Expression, Expression)>),
    Operation(String, Box<Expression>, Box<Expression>),
    Conditional(Box<[Expression; 3]>),
    /// The name, and the list, the element of the result and the condition.
    For(String, Box<[Expression; 3]>),
}

#[derive(Debug, Clone, Default)]
pub struct Body {
    pub arguments: BTreeMap<String, Expression>,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone)]
pub struct Block {
    pub kind: String,
    pub labels: Vec<String>,
    pub body: Body,
}

impl Body {
    pub fn of(text: &str) -> Result<Self, String> {
        let mut parser = Parser { text: text.chars().collect(), at: 0, nested: 0 };
        let body = parser.body()?;
        if parser.at < parser.text.len() { Err(parser.error("a name")) } else { Ok(body) }
    }

    pub fn blocks_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().filter(move |block| block.kind == kind)
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
    /// How many brackets are open, between which line ends mean nothing.
    nested: usize,
}

type Parsed<T> = Result<T, String>;

const OPERATORS: [&[&str]; 5] = [&["||"], &["&&"], &["==", "!="], &["+", "-"], &["*", "/", "%"]];

impl Parser {
    fn error(&self, wanted: &str) -> String {
        let rest: String = self.text[self.at..].iter().take(20).collect();
        format!("{wanted} is missing before {rest:?}")
    }

    fn begins(&self, word: &str) -> bool {
        word.chars().enumerate().all(|(offset, c)| self.text.get(self.at + offset) == Some(&c))
    }

    fn skip(&mut self, over_lines: bool) {
        while let Some(&c) = self.text.get(self.at) {
            if c == '#' || self.begins("//") {
                while self.text.get(self.at).is_some_and(|&c| c != '\n') {
                    self.at += 1;
                }
            } else if c == ' ' || c == '\t' || c == '\n' && (over_lines || self.nested > 0) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    fn take(&mut self, word: &str) -> bool {
        self.skip(false);
        let taken = self.begins(word);
        if taken {
            self.at += word.chars().count();
        }
        taken
    }

    fn need(&mut self, word: &str) -> Parsed<()> {
        if self.take(word) { Ok(()) } else { Err(self.error(word)) }
    }

    fn name(&mut self) -> Option<String> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|&c| c.is_alphanumeric() || c == '_' || c == '-' && self.at > start) {
            self.at += 1;
        }
        (self.at > start).then(|| self.text[start..self.at].iter().collect())
    }

    fn body(&mut self) -> Parsed<Body> {
        let mut body = Body::default();
        loop {
            self.skip(true);
            let Some(name) = self.name() else { return Ok(body) };
            if self.take("=") {
                let value = self.expression()?;
                body.arguments.insert(name, value);
                continue;
            }
            let mut labels = Vec::new();
            while !self.take("{") {
                self.skip(false);
                match (self.name(), self.begins("\"")) {
                    (Some(label), _) => labels.push(label),
                    (None, true) => match self.string()? {
                        Expression::Constant(Value::String(label)) => labels.push(label),
                        _ => return Err(self.error("a label")),
                    },
                    (None, false) => return Err(self.error("a block")),
                }
            }
            let outer = std::mem::take(&mut self.nested);
            let inner = self.body()?;
            self.need("}")?;
            self.nested = outer;
            body.blocks.push(Block { kind: name, labels, body: inner });
        }
    }

    fn expression(&mut self) -> Parsed<Expression> {
        let condition = self.operation(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let yes = self.expression()?;
        self.need(":")?;
        Ok(Expression::Conditional(Box::new([condition, yes, self.expression()?])))
    }

    fn operation(&mut self, level: usize) -> Parsed<Expression> {
        let Some(operators) = OPERATORS.get(level) else { return self.term() };
        let mut left = self.operation(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            let right = self.operation(level + 1)?;
            left = Expression::Operation((*operator).to_owned(), Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn term(&mut self) -> Parsed<Expression> {
        self.skip(false);
        let mut term = if self.begins("\"") {
            self.string()?
        } else if self.begins("<<") {
            self.heredoc()?
        } else if self.take("(") {
            self.within(")", Self::expression)?.pop().ok_or("an expression is missing")?
        } else if self.take("[") {
            if self.take("for ") { self.each()? } else { Expression::List(self.within("]", Self::expression)?) }
        } else if self.take("{") {
            Expression::Object(self.within("}", Self::pair)?)
        } else {
            let word = self.name().ok_or_else(|| self.error("an expression"))?;
            match &*word {
                "true" | "false" | "null" => Expression::Constant(serde_json::from_str(&word).unwrap()),
                _ if word.chars().all(|c| c.is_ascii_digit()) => {
                    Expression::Constant(serde_json::from_str(&word).unwrap())
                }
                _ if self.begins("(") => {
                    self.at += 1;
                    Expression::Call(word, self.within(")", Self::expression)?)
                }
                _ => Expression::Name(word),
            }
        };
        loop {
            let key = if self.begins(".") {
                self.at += 1;
                Expression::Constant(self.name().ok_or_else(|| self.error("a name"))?.into())
            } else if self.begins("[") {
                self.at += 1;
                self.within("]", Self::expression)?.pop().ok_or("an index is missing")?
            } else {
                return Ok(term);
            };
            term = Expression::Member(Box::new(term), Box::new(key));
        }
    }

    /// A list of the elements of another one.
    fn each(&mut self) -> Parsed<Expression> {
        self.skip(false);
        let name = self.name().ok_or_else(|| self.error("a name"))?;
        self.need("in ")?;
        let list = self.expression()?;
        self.need(":")?;
        let element = self.expression()?;
        let condition = if self.take("if ") { self.expression()? } else { Expression::Constant(Value::Bool(true)) };
        self.need("]")?;
        Ok(Expression::For(name, Box::new([list, element, condition])))
    }

    /// What is between brackets, with commas or line ends between.
    fn within<T>(&mut self, end: &str, part: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.nested += 1;
        let mut parts = Vec::new();
        while !self.take(end) {
            parts.push(part(self)?);
            self.take(",");
        }
        self.nested -= 1;
        Ok(parts)
    }

    fn pair(&mut self) -> Parsed<(Expression, Expression)> {
        let key = match self.expression()? {
            Expression::Name(name) => Expression::Constant(name.into()),
            key => key,
        };
        if !self.take("=") {
            self.need(":")?;
        }
        Ok((key, self.expression()?))
    }

    fn string(&mut self) -> Parsed<Expression> {
        self.need("\"")?;
        let parts = self.parts(|parser| parser.begins("\""), true)?;
        self.need("\"")?;
        Ok(parts)
    }

    fn heredoc(&mut self) -> Parsed<Expression> {
        self.need("<<")?;
        let marker = self.name().ok_or("the marker is missing")?;
        self.at += 1;
        let text: String = self.text[self.at..].iter().collect();
        let end = text.find(&format!("\n{marker}\n")).ok_or("the end of a text is missing")? + 1;
        let mut inner = Self { text: text[..end].chars().collect(), at: 0, nested: 0 };
        let parts = inner.parts(|parser| parser.at >= parser.text.len(), false)?;
        self.at += text[..end].chars().count() + marker.chars().count();
        Ok(parts)
    }

    /// Text and what is interpolated in it.
    fn parts(&mut self, is_end: fn(&Self) -> bool, has_escapes: bool) -> Parsed<Expression> {
        let (mut parts, mut text) = (Vec::new(), String::new());
        while !is_end(self) {
            let &c = self.text.get(self.at).ok_or("the end of a string is missing")?;
            self.at += 1;
            if c == '$' && self.begins("{") {
                self.at += 1;
                parts.push(Expression::Constant(std::mem::take(&mut text).into()));
                let outer = std::mem::replace(&mut self.nested, 1);
                parts.push(self.expression()?);
                self.need("}")?;
                self.nested = outer;
            } else if c == '\\' && has_escapes {
                let &escaped = self.text.get(self.at).ok_or("the end of a string is missing")?;
                self.at += 1;
                text.push(if escaped == 'n' { '\n' } else { escaped });
            } else {
                text.push(c);
            }
        }
        if parts.is_empty() {
            return Ok(Expression::Constant(text.into()));
        }
        // A string that is nothing but an interpolation is its value.
        let is_alone = parts.len() == 2 && text.is_empty() && has_escapes;
        if let (true, Expression::Constant(Value::String(before))) = (is_alone, &parts[0])
            && before.is_empty()
        {
            return Ok(parts.remove(1));
        }
        parts.push(Expression::Constant(text.into()));
        Ok(Expression::Template(parts))
    }
}
