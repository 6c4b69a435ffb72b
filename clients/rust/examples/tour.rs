//! The tour: a streamed answer with a tool loop, Route, Adapt, a typed error, and a model that is swapped in
//! mid-conversation. `interlingua serve --replay` answers it without a key and without a network.
//!
//!     cargo run --example tour localhost:50051

use std::error::Error;
use std::io::Write;

use interlingua::v1::content_block::Block;
use interlingua::v1::generate_stream_response::Piece;
use interlingua::v1::stream_event::Event;
use interlingua::v1::{
    AdaptRequest, ContentBlock, GenerateStreamRequest, ImageBlock, LossPolicy, LossSeverity, MediaSource,
    MediaSourceKind, Request, Response, Role, RouteRequest, Side, SideEffects, Tool, ToolUseBlock, adapt_request,
    generate_stream_request, route_request,
};
use interlingua::{Client, Options, Word, calls, json, text, text_block, tool_result};
use rust_decimal::Decimal;
use tokio_stream::StreamExt;

type Outcome<T> = Result<T, Box<dyn Error>>;

const FIRST: &str = "replay:claude-opus-4-8";
const SECOND: &str = "replay:gpt-5.4";
const PHOTO: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

fn tool(name: &str, description: &str, schema: &str, side_effects: SideEffects) -> Tool {
    Tool {
        name: name.into(),
        description: Some(description.into()),
        input_schema_json: schema.into(),
        side_effects: side_effects.into(),
        ..Tool::default()
    }
}

/// Carries a call out.
fn run(call: &ToolUseBlock) -> Outcome<Vec<ContentBlock>> {
    let input = json::read(&call.input_json)?.unwrap_or_default();
    if call.name == "file_log_entry" {
        return Ok(vec![text_block("entry 2207 filed")]);
    }
    if input["pump"] == "B" {
        let kind = MediaSourceKind::Base64.into();
        let source = MediaSource { kind, data: Some(PHOTO.into()), ..MediaSource::default() };
        let media_type = Some("image/png".into());
        return Ok(vec![Block::Image(ImageBlock { source: Some(source), media_type, ..Default::default() }).into()]);
    }
    Ok(vec![text_block("4.1 bar")])
}

/// Streams one answer.
async fn ask(client: &Client, conversation: &Request, model: &str) -> Outcome<Response> {
    print!("{model}: ");
    let request = GenerateStreamRequest {
        conversation: Some(generate_stream_request::Conversation::Request(conversation.clone())),
        target: model.into(),
        ..Default::default()
    };
    let mut pieces = client.generate_stream(request).await?;
    let mut response = None;
    while let Some(piece) = pieces.next().await {
        let Some(Piece::Event(event)) = piece?.piece else { continue };
        match event.event {
            Some(Event::TextDelta(delta)) => print!("{}", delta.text),
            Some(Event::MessageComplete(complete)) => response = complete.response,
            _ => {}
        }
        std::io::stdout().flush()?;
    }
    let response = response.ok_or("no response")?;
    let cost = response.usage.as_ref().and_then(|usage| usage.cost_usd.as_deref()).ok_or("no price")?;
    println!("\n  {}, {cost} USD", response.finish_reason().word());
    Ok(response)
}

/// Asks a model, carries its calls out, and asks again until it calls nothing more. Gives what it cost.
async fn turn(client: &Client, conversation: &mut Request, model: &str, words: &str) -> Outcome<Decimal> {
    conversation.messages.push(text(Role::User, words));
    let mut spent = Decimal::ZERO;
    for _ in 0..5 {
        let response = ask(client, conversation, model).await?;
        spent += json::decimal(response.usage.unwrap_or_default().cost_usd())?;
        let message = response.message.ok_or("no message")?;
        conversation.messages.push(message.clone());
        if calls(&message).next().is_none() {
            break;
        }
        for call in calls(&message) {
            println!("  tool {} {}", call.name, call.input_json);
            conversation.messages.push(tool_result(call, run(call)?));
        }
    }
    Ok(spent)
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let address = std::env::args().nth(1).unwrap_or("localhost:50051".into());
    let client = Client::connect(&address, Options { token: std::env::var("INTERLINGUA_TOKEN").ok(), tls: None })?;
    let gauge = r#"{"type": "object", "properties": {"pump": {"type": "string"}}, "required": ["pump"]}"#;
    let entry = r#"{"type": "object", "properties": {"entry": {"type": "string"}}}"#;
    let mut conversation = Request {
        messages: vec![text(Role::System, "You watch the pumps of a water works.")],
        tools: vec![
            tool("read_gauge", "Read the pressure of a pump. Pump B has a camera.", gauge, SideEffects::Read),
            tool("file_log_entry", "File an entry in the log of the shift.", entry, SideEffects::Write),
        ],
        max_output_tokens: Some(1024),
        ..Request::default()
    };
    let mut spent = turn(&client, &mut conversation, FIRST, "Are pumps A and B all right?").await?;

    println!("route {FIRST},{SECOND}");
    let question = RouteRequest {
        conversation: Some(route_request::Conversation::Request(conversation.clone())),
        target: format!("{FIRST},{SECOND}"),
        policy_json: r#"{"version": 1, "chains": true}"#.into(),
        with_candidates: true,
        ..RouteRequest::default()
    };
    for candidate in client.route(question).await?.candidates {
        println!("  {} would lose {}", candidate.model, candidate.loss.len());
    }

    println!("swap to {SECOND}");
    let mut question = AdaptRequest {
        input: Some(adapt_request::Input::Request(conversation.clone())),
        target: Some(Side { adapter: "openai_chat".into(), ..Side::default() }),
        ..AdaptRequest::default()
    };
    for entry in client.adapt(question.clone()).await?.loss {
        println!("  {} {} {}", entry.severity().word(), entry.path, entry.code);
    }

    question.loss_policy = Some(LossPolicy { strict: LossSeverity::Weakened.into(), ..LossPolicy::default() });
    let problem = client.adapt(question).await.err().ok_or("the loss was not refused")?;
    println!("refused: {}, {} entries", problem.category.word(), problem.loss.len());

    spent += turn(&client, &mut conversation, SECOND, "Put that into the log of the shift.").await?;
    println!("spent {} USD", spent.normalize());
    Ok(())
}
