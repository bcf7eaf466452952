//! As much of GraphQL as an operation with variables needs: its kind, its root fields with arguments
//! and selections. An unknown field is an error, as on a real server.

use std::collections::BTreeMap;
use std::iter::Peekable;

use serde_json::{Map, Value, json};

#[derive(Debug, PartialEq)]
pub(super) struct Operation {
    /// `query` or `mutation`.
    pub(super) kind: String,
    /// The types of the variables by their names.
    pub(super) variables: BTreeMap<String, String>,
    pub(super) fields: Vec<Field>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    /// Literals as JSON; a variable is `{"$": name}`.
    arguments: BTreeMap<String, Value>,
    pub(super) fields: Vec<Field>,
}

impl Field {
    /// The value of an argument, from the variables where it names one.
    pub(super) fn argument(&self, name: &str, variables: &Value) -> Value {
        match self.arguments.get(name) {
            Some(Value::Object(variable)) => {
                variables[variable["$"].as_str().unwrap_or_default()].clone()
            }
            Some(literal) => literal.clone(),
            None => Value::Null,
        }
    }
}

/// The parts of an object that are selected; the name of a field that the object does not have.
pub(super) fn select(value: &Value, fields: &[Field]) -> Result<Value, String> {
    match value {
        Value::Array(items) => items.iter().map(|item| select(item, fields)).collect(),
        Value::Object(object) if !fields.is_empty() => {
            let mut selected = Map::new();
            for field in fields {
                let value = object.get(&field.name).ok_or_else(|| field.name.clone())?;
                selected.insert(field.name.clone(), select(value, &field.fields)?);
            }
            Ok(Value::Object(selected))
        }
        Value::Null => Ok(Value::Null),
        // A selection of a scalar, or an object without one.
        other if fields.is_empty() == other.is_object() => Err("a selection".to_owned()),
        other => Ok(other.clone()),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum GraphqlToken {
    Name(String),
    Text(String),
    Number(i64),
    Mark(char),
}

fn tokens(text: &str) -> Option<Vec<GraphqlToken>> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(&next) = chars.peek() {
        match next {
            ' ' | '\n' | '\t' | '\r' | ',' => {
                chars.next();
            }
            'a'..='z' | 'A'..='Z' | '_' => tokens
                .push(GraphqlToken::Name(taken(&mut chars, |c| {
                    c.is_ascii_alphanumeric() || c == '_'
                }))),
            '0'..='9' => {
                let digits = taken(&mut chars, |c| c.is_ascii_digit());
                tokens.push(GraphqlToken::Number(digits.parse().ok()?));
            }
            '"' => {
                chars.next();
                tokens.push(GraphqlToken::Text(taken(&mut chars, |c| c != '"')));
                chars.next()?;
            }
            '{' | '}' | '(' | ')' | ':' | '!' | '[' | ']' | '$' => {
                tokens.push(GraphqlToken::Mark(next));
                chars.next();
            }
            _ => return None,
        }
    }
    Some(tokens)
}

fn taken(
    chars: &mut Peekable<impl Iterator<Item = char>>,
    is_part: impl Fn(char) -> bool,
) -> String {
    let mut text = String::new();
    while let Some(next) = chars.next_if(|c| is_part(*c)) {
        text.push(next);
    }
    text
}

/// `None` if the text is not one named operation.
pub(super) fn parse(text: &str) -> Option<Operation> {
    let mut parser = Parser { tokens: tokens(text)?.into_iter().peekable() };
    let kind = parser.name()?;
    parser.name()?;
    let variables = if parser.skip('(') { parser.variables()? } else { BTreeMap::new() };
    let fields = parser.selection()?;
    let is_whole = parser.tokens.next().is_none();
    (is_whole && ["query", "mutation"].contains(&kind.as_str())).then_some(Operation {
        kind,
        variables,
        fields,
    })
}

struct Parser {
    tokens: Peekable<std::vec::IntoIter<GraphqlToken>>,
}

impl Parser {
    fn name(&mut self) -> Option<String> {
        match self.tokens.next()? {
            GraphqlToken::Name(name) => Some(name),
            _ => None,
        }
    }

    fn skip(&mut self, mark: char) -> bool {
        self.tokens.next_if_eq(&GraphqlToken::Mark(mark)).is_some()
    }

    fn expect(&mut self, mark: char) -> Option<()> {
        self.skip(mark).then_some(())
    }

    fn variables(&mut self) -> Option<BTreeMap<String, String>> {
        let mut variables = BTreeMap::new();
        while !self.skip(')') {
            self.expect('$')?;
            let name = self.name()?;
            self.expect(':')?;
            let mut of_type = String::new();
            while let Some(part) =
                self.tokens.next_if(|it| !matches!(it, GraphqlToken::Mark('$' | ')')))
            {
                match part {
                    GraphqlToken::Name(name) => of_type.push_str(&name),
                    GraphqlToken::Mark(mark) => of_type.push(mark),
                    _ => return None,
                }
            }
            variables.insert(name, of_type);
        }
        Some(variables)
    }

    fn selection(&mut self) -> Option<Vec<Field>> {
        self.expect('{')?;
        let mut fields = Vec::new();
        while !self.skip('}') {
            let name = self.name()?;
            let arguments = if self.skip('(') { self.arguments()? } else { BTreeMap::new() };
            let is_object = self.tokens.peek() == Some(&GraphqlToken::Mark('{'));
            let inner = if is_object { self.selection()? } else { Vec::new() };
            fields.push(Field { name, arguments, fields: inner });
        }
        Some(fields)
    }

    fn arguments(&mut self) -> Option<BTreeMap<String, Value>> {
        let mut arguments = BTreeMap::new();
        while !self.skip(')') {
            let name = self.name()?;
            self.expect(':')?;
            let value = match self.tokens.next()? {
                GraphqlToken::Mark('$') => json!({ "$": self.name()? }),
                GraphqlToken::Text(text) => Value::from(text),
                GraphqlToken::Number(number) => Value::from(number),
                _ => return None,
            };
            arguments.insert(name, value);
        }
        Some(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_read_and_only_what_it_selects_is_answered() {
        let text = "query A($q: String!) { shop { name } items(first: 2, query: $q) { id } }";
        let operation = parse(text).unwrap();
        assert_eq!(
            (operation.kind.as_str(), operation.variables["q"].as_str()),
            ("query", "String!")
        );
        let items = &operation.fields[1];
        assert_eq!(items.argument("query", &json!({ "q": "x" })), "x");
        assert_eq!(items.argument("first", &json!({})), 2);
        let value = json!([{ "id": 1, "price": 2 }]);
        assert_eq!(select(&value, &items.fields).unwrap(), json!([{ "id": 1 }]));
        assert_eq!(select(&json!([{ "price": 2 }]), &items.fields).unwrap_err(), "id");
        for wrong in
            ["", "query", "query A { a", "query A { a } }", "drop A { a }", "query A(q) { a }"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
