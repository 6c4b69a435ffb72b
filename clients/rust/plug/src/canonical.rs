//! Canonical JSON to messages and back, exactly, by reflection. It is how the conformance suite is led through the
//! generated types; programs send JSON text as `request_json` and need none of this.
//!
//! A field takes a value only when it can give the same value back. Everything else (members of a later version, null, a
//! value of the wrong type, an integer beyond the bits of its field) goes into `rest_json`, for the server to judge.

use std::collections::HashMap;
use std::error::Error;

use prost::Message;
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, OneofDescriptor,
    ReflectMessage, Value as Held,
};
use serde_json::{Map, Value};

/// JSON that is no value of its type, with the JSON Pointer to the place.
#[derive(Debug)]
pub struct Invalid {
    pub message: String,
    pub path: String,
}

pub fn invalid<T>(message: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid { message: message.into(), path: String::new() })
}

/// What the descriptors say of the types, and what only the schema says: which members are required, and the constant of
/// the member `type`.
pub struct Types {
    pool: DescriptorPool,
    about: HashMap<String, (Vec<String>, Option<String>)>,
}

impl Types {
    /// Reads a set of file descriptors and spec/schema/interlingua.schema.json.
    pub fn load(descriptors: &str, schema: &str) -> Result<Types, Box<dyn Error>> {
        let pool = DescriptorPool::decode(std::fs::read(descriptors)?.as_slice())?;
        let schema: Value = serde_json::from_slice(&std::fs::read(schema)?)?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let kinds = schema["$defs"].as_object().ok_or("a schema without $defs")?;
        let about = kinds.iter().map(|(name, kind)| {
            let required = kind["required"].as_array().into_iter().flatten().filter_map(text).collect();
            (name.clone(), (required, text(&kind["properties"]["type"]["const"])))
        });
        Ok(Types { about: about.collect(), pool })
    }

    /// The descriptor of a type of the contract.
    pub fn named(&self, name: &str) -> Result<MessageDescriptor, Invalid> {
        match self.pool.get_message_by_name(&format!("interlingua.v1.{name}")) {
            Some(found) => Ok(found),
            None => Err(Invalid { message: "there is no message of this name".into(), path: "/type".into() }),
        }
    }

    /// The generated message for canonical JSON.
    pub fn write<M: Message + Default>(&self, name: &str, value: &Value) -> Result<M, Invalid> {
        let data = self.encode(&self.named(name)?, value)?.encode_to_vec();
        M::decode(data.as_slice()).or_else(|problem| invalid(problem.to_string()))
    }

    /// The canonical JSON of a generated message.
    pub fn read(&self, name: &str, message: &impl Message) -> Result<Value, Invalid> {
        match DynamicMessage::decode(self.named(name)?, message.encode_to_vec().as_slice()) {
            Ok(message) => self.decode(&message),
            Err(problem) => invalid(problem.to_string()),
        }
    }

    fn encode(&self, kind: &MessageDescriptor, value: &Value) -> Result<DynamicMessage, Invalid> {
        let Value::Object(members) = value else { return invalid("must be an object") };
        let mut message = DynamicMessage::new(kind.clone());
        if let Some(union) = union_of(kind) {
            self.encode_union(&mut message, &union, value)?;
            return Ok(message);
        }
        let (required, tag) = self.about(kind);
        if let Some(missing) = required.iter().find(|name| !members.contains_key(*name)) {
            return invalid(format!("the member {missing} is missing"));
        }
        let mut rest = Map::new();
        for (name, item) in members.iter().filter(|(name, _)| !(*name == "type" && tag.is_some())) {
            let held = match field_of(kind, name) {
                Some(field) => {
                    self.hold(&field, item).map_err(|problem| under(name, problem))?.map(|held| (field, held))
                }
                None => None,
            };
            match held {
                Some((field, held)) => message.set_field(&field, held),
                None => _ = rest.insert(name.clone(), item.clone()),
            }
        }
        if !rest.is_empty() {
            message.set_field_by_name("rest_json", Held::String(Value::Object(rest).to_string()));
        }
        Ok(message)
    }

    fn encode_union(
        &self,
        message: &mut DynamicMessage,
        union: &OneofDescriptor,
        value: &Value,
    ) -> Result<(), Invalid> {
        let Some(word) = value["type"].as_str() else {
            return Err(Invalid {
                message: "the member type is missing, or is not a text".into(),
                path: "/type".into(),
            });
        };
        let arm = |name: &str| union.fields().find(|field| field.name() == name);
        let known = arm(word).filter(|_| word != "unknown");
        let (field, held) = match known.as_ref().and_then(|field| field.kind().as_message().cloned()) {
            Some(kind) => (known.expect("an arm"), self.encode(&kind, value)?),
            None => {
                let field = arm("unknown").expect("the arm of a union");
                let mut unknown = DynamicMessage::new(field.kind().as_message().expect("a message").clone());
                unknown.set_field_by_name("type", Held::String(word.to_owned()));
                unknown.set_field_by_name("json", Held::String(value.to_string()));
                (field, unknown)
            }
        };
        message.set_field(&field, Held::Message(held));
        Ok(())
    }

    /// What a field holds of a value; none when it cannot hold it.
    fn hold(&self, field: &FieldDescriptor, value: &Value) -> Result<Option<Held>, Invalid> {
        if field.name().ends_with("_json") {
            return Ok((!value.is_null()).then(|| Held::String(value.to_string())));
        }
        if field.is_map() {
            let Value::Object(members) = value else { return Ok(None) };
            let texts = members.iter().map(|(name, item)| {
                item.as_str().map(|text| (MapKey::String(name.clone()), Held::String(text.to_owned())))
            });
            return Ok(texts.collect::<Option<HashMap<_, _>>>().map(Held::Map));
        }
        if field.cardinality() != Cardinality::Repeated {
            return self.hold_one(field, value);
        }
        let Value::Array(items) = value else { return Ok(None) };
        let mut list = Vec::new();
        for (position, item) in items.iter().enumerate() {
            let place = position.to_string();
            match self.hold_one(field, item).map_err(|problem| under(&place, problem))? {
                Some(held) => list.push(held),
                None if field.kind().as_message().is_some() => {
                    return Err(Invalid { message: "must be an object".into(), path: format!("/{place}") });
                }
                None => return Ok(None),
            }
        }
        Ok((!list.is_empty()).then_some(Held::List(list)))
    }

    fn hold_one(&self, field: &FieldDescriptor, value: &Value) -> Result<Option<Held>, Invalid> {
        Ok(match field.kind() {
            Kind::Message(kind) if kind.full_name() == "google.protobuf.Timestamp" => {
                let parsed = value.as_str().and_then(|text| text.parse::<prost_types::Timestamp>().ok());
                let moment = parsed.filter(|moment| time_text(moment) == *value);
                moment.map(|moment| {
                    let mut held = DynamicMessage::new(kind);
                    held.transcode_from(&moment).expect("a moment");
                    Held::Message(held)
                })
            }
            Kind::Message(kind) if value.is_object() => Some(Held::Message(self.encode(&kind, value)?)),
            Kind::Enum(_) if value.is_null() => None,
            Kind::Enum(kind) => {
                let prefix = kind.default_value().name().trim_end_matches("UNSPECIFIED").to_owned();
                let named = |word: &str| kind.get_value_by_name(&format!("{prefix}{}", word.to_uppercase()));
                let word = value.as_str().filter(|word| *word != "unspecified" && *word == word.to_lowercase());
                let found = word.and_then(named).or_else(|| value.as_str().and_then(|_| named("other")));
                match found {
                    Some(found) => Some(Held::EnumNumber(found.number())),
                    None => return invalid(format!("not one of the words of {}", kind.name())),
                }
            }
            Kind::String => value.as_str().map(|text| Held::String(text.to_owned())),
            Kind::Bool => value.as_bool().map(Held::Bool),
            Kind::Int32 => value.as_number().and_then(|number| number.as_str().parse().ok()).map(Held::I32),
            Kind::Int64 => value.as_number().and_then(|number| number.as_str().parse().ok()).map(Held::I64),
            Kind::Double => value.as_number().and_then(|number| exact(number.as_str())).map(Held::F64),
            _ => None,
        })
    }

    fn decode(&self, message: &DynamicMessage) -> Result<Value, Invalid> {
        let kind = message.descriptor();
        if let Some(union) = union_of(&kind) {
            let Some(arm) = union.fields().find(|field| message.has_field(field)) else {
                return invalid("nothing is set that this version knows");
            };
            let inner = message.get_field(&arm);
            let inner = inner.as_message().expect("an arm is a message");
            return if arm.name() == "unknown" { parse(&text_in(inner, "json")) } else { self.decode(inner) };
        }
        let (required, tag) = self.about(&kind);
        let mut found = Map::new();
        if let Some(tag) = tag {
            found.insert("type".into(), tag.as_str().into());
        }
        for field in kind.fields().filter(|field| field.name() != "rest_json") {
            let name = field.name().strip_suffix("_json").unwrap_or(field.name());
            if message.has_field(&field) || (is_bare(&field) && required.iter().any(|required| required == name)) {
                let value = self.give(&field, &message.get_field(&field)).map_err(|problem| under(name, problem))?;
                found.insert(name.to_owned(), value);
            }
        }
        let rest = text_in(message, "rest_json");
        if let Value::Object(rest) = if rest.is_empty() { Value::Null } else { parse(&rest)? } {
            for (name, item) in rest {
                let unset = field_of(&kind, &name).is_some_and(|field| is_bare(&field) && !message.has_field(&field));
                if unset || !found.contains_key(&name) {
                    found.insert(name, item);
                }
            }
        }
        Ok(Value::Object(found))
    }

    fn give(&self, field: &FieldDescriptor, held: &Held) -> Result<Value, Invalid> {
        Ok(match held {
            Held::String(text) if field.name().ends_with("_json") => parse(text)?,
            Held::String(text) => text.as_str().into(),
            Held::Bool(value) => (*value).into(),
            Held::I32(number) => (*number).into(),
            Held::I64(number) => (*number).into(),
            Held::F64(number) => (*number).into(),
            Held::EnumNumber(number) => {
                let kind = field.kind();
                let kind = kind.as_enum().expect("an enum");
                let Some(value) = kind.get_value(*number).filter(|_| *number != 0) else {
                    return invalid("the enum value is not known to this version");
                };
                value.name()[kind.default_value().name().len() - "UNSPECIFIED".len()..].to_lowercase().into()
            }
            Held::Message(inner) if inner.descriptor().full_name() == "google.protobuf.Timestamp" => {
                time_text(&inner.transcode_to().expect("a moment"))
            }
            Held::Message(inner) => self.decode(inner)?,
            Held::List(items) => {
                let items = items.iter().enumerate();
                let values = items
                    .map(|(place, item)| self.give(field, item).map_err(|problem| under(&place.to_string(), problem)));
                Value::Array(values.collect::<Result<_, _>>()?)
            }
            Held::Map(members) => {
                let texts = members.iter().map(|(name, item)| {
                    let name = name.as_str().unwrap_or_default().to_owned();
                    (name, Value::from(item.as_str().unwrap_or_default()))
                });
                Value::Object(texts.collect())
            }
            other => return invalid(format!("no way to read {other:?}")),
        })
    }

    fn about(&self, kind: &MessageDescriptor) -> (&[String], Option<&String>) {
        self.about.get(kind.name()).map_or((&[], None), |(required, tag)| (required, tag.as_ref()))
    }
}

/// Whether the field of a required member does not know if it is set.
fn is_bare(field: &FieldDescriptor) -> bool {
    let scalar = !field.supports_presence() && field.kind().as_enum().is_none() && !field.name().ends_with("_json");
    field.is_list() || field.is_map() || scalar
}

fn union_of(kind: &MessageDescriptor) -> Option<OneofDescriptor> {
    kind.oneofs().find(|union| union.fields().any(|field| field.name() == "unknown"))
}

fn field_of(kind: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    let free = kind.get_field_by_name(&format!("{name}_json")).filter(|_| name != "rest");
    free.or_else(|| kind.get_field_by_name(name).filter(|_| !name.ends_with("_json")))
}

fn text_in(message: &DynamicMessage, name: &str) -> String {
    message.get_field_by_name(name).and_then(|held| held.as_str().map(str::to_owned)).unwrap_or_default()
}

fn parse(text: &str) -> Result<Value, Invalid> {
    serde_json::from_str(text).or_else(|problem| invalid(problem.to_string()))
}

/// The double that is the very number of a JSON text.
fn exact(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && plain(text)? == plain(&format!("{number:e}"))?).then_some(number)
}

/// A decimal as sign, digits without zeros at either end, and exponent.
fn plain(text: &str) -> Option<(bool, String, i64)> {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) =
        digits.trim_start_matches('-').split_once('.').unwrap_or((digits.trim_start_matches('-'), ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_end_matches('0');
    let exponent = exponent.parse::<i64>().ok()? - fraction.len() as i64 + (all.len() - kept.len()) as i64;
    let kept = kept.trim_start_matches('0');
    Some(if kept.is_empty() { (false, String::new(), 0) } else { (digits.starts_with('-'), kept.to_owned(), exponent) })
}

/// RFC 3339 in UTC with six fractional digits.
fn time_text(moment: &prost_types::Timestamp) -> Value {
    let whole = prost_types::Timestamp { nanos: 0, ..*moment }.to_string();
    format!("{}.{:06}Z", whole.trim_end_matches('Z'), moment.nanos / 1000).into()
}

fn under(step: &str, problem: Invalid) -> Invalid {
    let step = step.replace('~', "~0").replace('/', "~1");
    Invalid { path: format!("/{step}{}", problem.path), ..problem }
}
