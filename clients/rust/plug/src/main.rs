//! The plug leads the conformance suite through the messages of Rust: every canonical value becomes a message, goes through
//! a server, and what comes back becomes JSON again.
//!
//!     python3 conformance/runner run -- plug DESCRIPTORS HOST:PORT spec/schema/interlingua.schema.json
//!
//! DESCRIPTORS are those of proto/, by `buf build`. encode and decode are the operations of the cross test
//! (clients/run.py): a value as bytes, and back.

mod canonical;

use std::io::{BufRead, Write};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use canonical::{Invalid, Types, invalid};
use interlingua::v1::adapt_request::{Answered, Input};
use interlingua::v1::adapt_response::Output;
use interlingua::v1::{
    AdaptRequest, Chunks, ErrorAnswer, EstimateRequest, Events, Kind, ListModelsRequest, Message, Request, Response,
    Side, StreamEvent, Usage, estimate_request, stream_event,
};
use interlingua::{Client, Options};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

enum Problem {
    Invalid(Invalid),
    Call(Box<interlingua::Error>),
}

impl From<Invalid> for Problem {
    fn from(problem: Invalid) -> Problem {
        Problem::Invalid(problem)
    }
}

impl From<interlingua::Error> for Problem {
    fn from(problem: interlingua::Error) -> Problem {
        Problem::Call(Box::new(problem))
    }
}

type Outcome = Result<Value, Problem>;

struct Plug {
    client: Client,
    types: Types,
}

const BY_ADAPTER: [&str; 8] = [
    "to_wire",
    "to_wire_response",
    "from_wire_request",
    "from_wire_response",
    "stream",
    "stream_encode",
    "error",
    "to_wire_error",
];

/// Those that take the request that is answered beside the answer.
const OF_ANSWERS: [&str; 4] = ["to_wire_response", "from_wire_response", "stream", "stream_encode"];

impl Plug {
    /// The output of an operation; none when there is no such operation.
    async fn output(&self, operation: &str, adapter: &str, input: &Value) -> Result<Option<Value>, Problem> {
        let types = &self.types;
        let side = side(adapter, input);
        let to = |input: Input| AdaptRequest { input: Some(input), target: side.clone(), ..AdaptRequest::default() };
        let from = |input: Input| AdaptRequest { input: Some(input), source: side.clone(), ..AdaptRequest::default() };
        let (member, mut request) = match operation {
            "hello" => return self.hello().await.map(Some),
            "bye" => return Ok(Some(json!({}))),
            "cost" => return self.cost(input).await.map(Some),
            "encode" => return Ok(Some(json!({"bytes": BASE64.encode(self.encode(input)?)}))),
            "decode" => return self.decode(input).map(Some),
            "to_wire" => ("wire", to(Input::Request(types.write::<Request>("Request", &input["request"])?))),
            "to_wire_response" => ("body", to(Input::Response(types.write("Response", &input["response"])?))),
            "to_wire_error" => ("answer", to(Input::Error(types.write("Error", &input["error"])?))),
            "from_wire_request" => {
                let wire = from(Input::WireJson(input["wire"].to_string()));
                ("request", AdaptRequest { kind: Kind::Request.into(), ..wire })
            }
            "from_wire_response" => {
                let body = from(Input::WireJson(input["body"].to_string()));
                ("response", AdaptRequest { kind: Kind::Response.into(), ..body })
            }
            "stream" => {
                let chunks = list(input, "chunks")?.iter().map(bytes).collect::<Result<_, _>>()?;
                ("events", from(Input::Chunks(Chunks { chunks })))
            }
            "stream_encode" => {
                let events =
                    list(input, "events")?.iter().map(|event| types.write::<StreamEvent>("StreamEvent", event));
                let events = events.collect::<Result<_, _>>()?;
                ("chunks", to(Input::Events(Events { events, ..Events::default() })))
            }
            "error" => {
                let Some(status) = input["status"].as_i64() else { return invalid("no status").map_err(Problem::from) };
                let body = input["body"].as_str().map_or_else(|| input["body"].to_string(), str::to_owned);
                let headers = input["headers"].as_object().into_iter().flatten();
                let headers = headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
                let answer = ErrorAnswer { status: status as i32, headers: headers.collect(), body };
                let include_raw = input["raw"] == true;
                ("error", AdaptRequest { include_raw, ..from(Input::ErrorAnswer(answer)) })
            }
            _ => return Ok(None),
        };
        if OF_ANSWERS.contains(&operation) && !input["request"].is_null() {
            request.answered = Some(Answered::AnsweredRequest(types.write("Request", &input["request"])?));
        }
        self.adapt(member, request).await.map(Some)
    }

    async fn adapt(&self, member: &str, request: AdaptRequest) -> Outcome {
        let chunks = if let Some(Input::Chunks(chunks)) = &request.input { chunks.chunks.len() } else { 0 };
        let answer = self.client.adapt(soon(request)).await?;
        let loss = answer.loss.iter().map(|entry| self.types.read("LossEntry", entry));
        let mut output = Map::new();
        output.insert("loss".into(), Value::Array(loss.collect::<Result<_, _>>()?));
        let value = match answer.output {
            Some(Output::WireJson(text)) => json_or_text(text),
            Some(Output::Request(request)) => self.types.read("Request", &request)?,
            Some(Output::Response(response)) => self.types.read("Response", &response)?,
            Some(Output::Chunks(chunks)) => chunks.chunks.iter().map(|chunk| BASE64.encode(chunk)).collect(),
            Some(Output::Events(events)) => return self.events(&events, chunks),
            Some(Output::Error(error)) => return Ok(self.types.read("Error", &error)?),
            Some(Output::ErrorAnswer(answer)) => {
                let body = json_or_text(answer.body);
                output.insert("wire".into(), json!({"status": answer.status, "headers": answer.headers, "body": body}));
                return Ok(output.into());
            }
            other => return invalid(format!("Adapt answers with {other:?}")).map_err(Problem::from),
        };
        output.insert(member.into(), value);
        Ok(output.into())
    }

    /// Events by the chunk that completed them, and behind the last chunk those that the end of input brought.
    fn events(&self, events: &Events, chunks: usize) -> Outcome {
        let mut parts = vec![Vec::new(); chunks + 1];
        let mut response: Option<&Response> = None;
        for (event, place) in events.events.iter().zip(&events.completed_by) {
            parts[chunks.min(*place as usize)].push(self.types.read("StreamEvent", event)?);
            response = match &event.event {
                Some(stream_event::Event::MessageComplete(complete)) => complete.response.as_ref(),
                Some(stream_event::Event::Error(error)) => error.response.as_ref(),
                _ => None,
            };
        }
        let response = response.map(|response| self.types.read("Response", response)).transpose()?;
        Ok(json!({"events": parts, "response": response}))
    }

    async fn cost(&self, input: &Value) -> Outcome {
        let usage: Usage = self.types.write("Usage", &input["usage"])?;
        // without any price the server would look the model up in its own table
        let price_json = if input["price"].is_null() { "{}".into() } else { input["price"].to_string() };
        let subject = Some(estimate_request::Subject::Usage(usage));
        let answer = self.client.estimate(soon(EstimateRequest { subject, price_json, ..Default::default() })).await?;
        Ok(json!({"cost_usd": answer.cost.map(|cost| cost.likely_usd)}))
    }

    async fn hello(&self) -> Outcome {
        let adapters = self.client.list_models(soon(ListModelsRequest::default())).await?.adapters;
        let claimed: Map<_, _> = adapters.into_iter().map(|name| (name, json!(BY_ADAPTER))).collect();
        let implementation = json!({"name": "interlingua-rust", "version": "0.1.0", "language": "rust"});
        Ok(json!({"protocol": 1, "implementation": implementation, "adapters": claimed, "operations": ["cost"]}))
    }

    fn encode(&self, input: &Value) -> Result<Vec<u8>, Invalid> {
        let value = &input["value"];
        match input["type"].as_str() {
            Some("Request") => self.types.write::<Request>("Request", value).map(|message| encoded(&message)),
            Some("Response") => self.types.write::<Response>("Response", value).map(|message| encoded(&message)),
            Some("Message") => self.types.write::<Message>("Message", value).map(|message| encoded(&message)),
            _ => invalid("there is no message of this name"),
        }
    }

    fn decode(&self, input: &Value) -> Outcome {
        let data = bytes(&input["bytes"])?;
        let name = input["type"].as_str().unwrap_or_default();
        let (value, again) = match name {
            "Request" => self.reread::<Request>(name, &data)?,
            "Response" => self.reread::<Response>(name, &data)?,
            "Message" => self.reread::<Message>(name, &data)?,
            _ => return invalid("there is no message of this name").map_err(Problem::from),
        };
        Ok(json!({"value": value, "bytes": BASE64.encode(again)}))
    }

    fn reread<M: prost::Message + Default>(&self, name: &str, data: &[u8]) -> Result<(Value, Vec<u8>), Invalid> {
        match M::decode(data) {
            Ok(message) => Ok((self.types.read(name, &message)?, encoded(&message))),
            Err(problem) => invalid(problem.to_string()),
        }
    }

    async fn handle(&self, line: &[u8]) -> Value {
        let Ok(message) = serde_json::from_slice::<Map<String, Value>>(line) else {
            // the id alone, of a message whose texts are no texts
            let found = serde_json::from_slice::<std::collections::HashMap<String, Box<RawValue>>>(line).ok();
            let id = found.and_then(|members| serde_json::from_str::<Value>(members.get("id")?.get()).ok());
            return json!({"id": id, "error": {"category": "invalid_request", "message": "not JSON"}});
        };
        let member = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
        let id = message.get("id");
        let input = message.get("input").unwrap_or(&Value::Null);
        match self.output(member("op"), member("adapter"), input).await {
            Ok(Some(output)) => json!({"id": id, "output": output}),
            Ok(None) => json!({"id": id, "unsupported": true}),
            Err(Problem::Invalid(problem)) => {
                let category = "invalid_request";
                json!({"id": id, "error": {"category": category, "message": problem.message, "path": problem.path}})
            }
            Err(Problem::Call(problem)) => {
                let canonical = problem.canonical.as_ref().and_then(|error| self.types.read("Error", error).ok());
                let other = || json!({"category": "internal", "message": problem.to_string()});
                json!({"id": id, "error": canonical.unwrap_or_else(other)})
            }
        }
    }
}

fn encoded(message: &impl prost::Message) -> Vec<u8> {
    message.encode_to_vec()
}

fn soon<M>(message: M) -> tonic::Request<M> {
    let mut request = tonic::Request::new(message);
    request.set_timeout(Duration::from_secs(20));
    request
}

fn side(adapter: &str, input: &Value) -> Option<Side> {
    let member = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
    let (provider, model, origin) = (member("provider"), member("model"), member("origin"));
    Some(Side { adapter: adapter.into(), provider, model, origin, state_in_ids: input["state_in_ids"] == true })
}

fn list<'a>(input: &'a Value, name: &str) -> Result<&'a Vec<Value>, Invalid> {
    input[name].as_array().map_or_else(|| invalid(format!("{name} is no list")), Ok)
}

fn bytes(value: &Value) -> Result<Vec<u8>, Invalid> {
    value.as_str().and_then(|text| BASE64.decode(text).ok()).map_or_else(|| invalid("not base64"), Ok)
}

fn json_or_text(text: String) -> Value {
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [descriptors, address, schema] = arguments.as_slice() else {
        return Err("usage: plug DESCRIPTORS HOST:PORT SCHEMA".into());
    };
    let client = Client::connect(address, Options::default())?;
    let plug = Plug { client, types: Types::load(descriptors, schema)? };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().split(b'\n') {
        let line = line?;
        if !line.trim_ascii().is_empty() {
            writeln!(out, "{}", plug.handle(&line).await)?;
            out.flush()?;
        }
    }
    Ok(())
}
