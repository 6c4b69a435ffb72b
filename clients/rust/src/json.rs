//! Free JSON, members without a field, decimals, and the words of enums.

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use crate::Error;

/// Reads the text of a field whose name ends in `_json`. No number is rounded; an empty text is none.
pub fn read(text: &str) -> Result<Option<Value>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(text).map(Some).map_err(|problem| Error::local(&format!("not JSON: {problem}")))
}

/// Writes a value as the text of a field whose name ends in `_json`.
pub fn write(value: &Value) -> String {
    value.to_string()
}

/// What a message holds beside its fields. Every message of the contract has it.
pub trait Rest {
    /// The text itself.
    fn rest_json(&self) -> &str;

    /// The text itself, to be changed.
    fn rest_json_mut(&mut self) -> &mut String;

    /// Whether the field of a member is set.
    fn is_set(&self, member: &str) -> bool;

    /// The members of a later version, and values that their field cannot hold. A member whose field is set in the
    /// meantime is not among them, for the field stands over it.
    fn rest(&self) -> Result<Map<String, Value>, Error> {
        let mut members = match read(self.rest_json())? {
            None => Map::new(),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(Error::local("rest_json must be a JSON object")),
        };
        members.retain(|name, _| !self.is_set(name));
        Ok(members)
    }

    /// Says what the message holds beside its fields. A member whose field is set is refused: set the field instead.
    /// `m.set_rest(m.rest()?)?` makes a message that was read and edited ready to be sent.
    fn set_rest(&mut self, members: Map<String, Value>) -> Result<(), Error> {
        if let Some(name) = members.keys().find(|name| self.is_set(name)) {
            return Err(Error::local(&format!("the field of {name} is set")));
        }
        *self.rest_json_mut() = if members.is_empty() { String::new() } else { write(&Value::Object(members)) };
        Ok(())
    }
}

/// An enum of the contract.
pub trait Word {
    /// The specification's word, e.g. `rate_limit` for `ErrorCategory::RateLimit`.
    fn word(self) -> String;
}

/// Reads an exact decimal such as `usage.cost_usd`. Fails when it has more digits than a `Decimal` holds (28).
pub fn decimal(text: &str) -> Result<Decimal, Error> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-');
    let found = Decimal::from_str_exact(text).ok().filter(|_| plain);
    found.ok_or_else(|| Error::local("not a decimal, or too long for one"))
}
