//! The servers are started by clients/run.py: one that replays, and one with TLS and a token whose provider always asks to
//! wait. Without them these tests are told as passed over.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use std::time::Duration;

use interlingua::v1::generate_in_session_response as in_session;
use interlingua::v1::generate_stream_response::Piece;
use interlingua::v1::stream_event::Event;
use interlingua::v1::{
    AdaptRequest, ErrorCategory, EstimateRequest, Events, GenerateInSessionRequest, GenerateInSessionResponse,
    GenerateRequest, GenerateStreamRequest, GenerateStreamResponse, ListModelsRequest, LossPolicy, LossSeverity, Request, Role, RouteDecision, Side, StreamEvent, TextDeltaEvent, Usage,
    adapt_request, adapt_response, estimate_request, generate_request, generate_stream_request,
};
use interlingua::{Certificate, Client, ClientTlsConfig, Error, Identity, Options, Rest, json, text};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::{Grpc, NamedService, ServerStreamingService};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic_prost::ProstCodec;

macro_rules! or_skip {
    ($setting:expr) => {
        match std::env::var($setting) {
            Ok(value) => value,
            Err(_) => {
                eprintln!("passed over: {} is not set; clients/run.py starts the server", $setting);
                return;
            }
        }
    };
}

fn dial(address: &str) -> Client {
    Client::connect(address, Options::default()).expect("an address")
}

fn dial_guarded(address: &str, token: &str, certificate: bool) -> Client {
    let folder = std::env::var("INTERLINGUA_GUARDED_FILES").expect("the folder of the guarded server");
    let file = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).expect("a file");
    let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(file("authority.pem")));
    if certificate {
        tls = tls.identity(Identity::from_pem(file("client.pem"), file("client.key")));
    }
    Client::connect(address, Options { tls: Some(tls), token: Some(token.into()) }).expect("an address")
}

fn asking(model: &str) -> Request {
    Request { model: Some(model.into()), messages: vec![text(Role::User, "What is a ULID?")], ..Request::default() }
}

fn adapting(request: Request) -> AdaptRequest {
    AdaptRequest { input: Some(adapt_request::Input::Request(request)), ..AdaptRequest::default() }
}

async fn read(client: &Client, request: &Request) -> Result<Request, Error> {
    match client.adapt(adapting(request.clone())).await?.output {
        Some(adapt_response::Output::Request(request)) => Ok(request),
        other => panic!("no request: {other:?}"),
    }
}

fn streaming(model: &str) -> GenerateStreamRequest {
    let conversation = Some(generate_stream_request::Conversation::Request(asking(model)));
    GenerateStreamRequest { conversation, ..GenerateStreamRequest::default() }
}

#[tokio::test]
async fn tls_a_certificate_and_a_token() {
    let client = dial_guarded(&or_skip!("INTERLINGUA_GUARDED"), &or_skip!("INTERLINGUA_TOKEN"), true);
    assert!(!client.list_models(ListModelsRequest::default()).await.unwrap().models.is_empty());
}

#[tokio::test]
async fn a_status_without_details_has_a_category() {
    let client = dial_guarded(&or_skip!("INTERLINGUA_GUARDED"), "another", true);
    let problem = client.list_models(ListModelsRequest::default()).await.unwrap_err();
    assert_eq!((problem.category, problem.canonical), (ErrorCategory::Authentication, None));
}

#[tokio::test]
async fn a_connection_that_is_refused() {
    let client = dial_guarded(&or_skip!("INTERLINGUA_GUARDED"), &or_skip!("INTERLINGUA_TOKEN"), false);
    let problem = client.list_models(ListModelsRequest::default()).await.unwrap_err();
    assert_eq!(problem.category, ErrorCategory::Network, "{problem:?}: {:?}", problem.status);
}

fn dial_by_tls(address: &str) -> Client {
    let tls = Some(ClientTlsConfig::new().with_native_roots());
    Client::connect(address, Options { tls, token: None }).unwrap()
}

#[tokio::test]
async fn tls_to_a_server_without_it() {
    let client = dial_by_tls(&or_skip!("INTERLINGUA_SERVER"));
    let problem = client.list_models(ListModelsRequest::default()).await.unwrap_err();
    assert_eq!((problem.category, problem.retryable), (ErrorCategory::Network, false), "{:?}", problem.status);
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted() {
    let client = dial_by_tls(&or_skip!("INTERLINGUA_GUARDED"));
    let problem = client.list_models(ListModelsRequest::default()).await.unwrap_err();
    assert_eq!((problem.category, problem.retryable), (ErrorCategory::Network, false), "{:?}", problem.status);
}

#[tokio::test]
async fn nobody_listens() {
    let problem = dial("127.0.0.1:1").list_models(ListModelsRequest::default()).await.unwrap_err();
    assert_eq!((problem.category, problem.retryable), (ErrorCategory::Network, true));
}

#[tokio::test]
async fn a_provider_that_asks_to_wait() {
    let client = dial_guarded(&or_skip!("INTERLINGUA_GUARDED"), &or_skip!("INTERLINGUA_TOKEN"), true);
    let conversation = Some(generate_request::Conversation::Request(asking("anthropic:claude-sonnet-4-6")));
    let problem = client.generate(GenerateRequest { conversation, ..Default::default() }).await.unwrap_err();
    assert_eq!((problem.category, problem.retryable), (ErrorCategory::RateLimit, true));
    assert_eq!(problem.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(problem.status.code(), tonic::Code::ResourceExhausted);
    assert!(!format!("{problem} {problem:?}").contains("pumps"));
    assert_eq!(problem.canonical.unwrap().provider_message(), "not so fast with the pumps");
}

#[tokio::test]
async fn an_invalid_request_says_where() {
    let mut request = asking("openai:gpt-4.1");
    request.messages[0].role = 0;
    let problem = read(&dial(&or_skip!("INTERLINGUA_SERVER")), &request).await.unwrap_err();
    assert_eq!((problem.category, problem.path.as_deref()), (ErrorCategory::InvalidRequest, Some("/messages/0/role")));
    assert_eq!(problem.violations[0].path, "/messages/0/role");
    assert!(problem.to_string().ends_with(" (at /messages/0/role)"), "{problem}");
}

#[tokio::test]
async fn a_refused_loss_brings_its_report() {
    let mut question = adapting(Request { top_k: Some(5.0), ..asking("openai:gpt-4.1") });
    question.target = Some(Side { adapter: "openai_chat".into(), ..Side::default() });
    question.loss_policy = Some(LossPolicy { strict: LossSeverity::Weakened.into(), ..LossPolicy::default() });
    let problem = dial(&or_skip!("INTERLINGUA_SERVER")).adapt(question).await.unwrap_err();
    assert_eq!((problem.category, problem.loss_entries), (ErrorCategory::LossRefused, 1));
    assert_eq!(problem.loss[0].path, "/top_k");
}

#[tokio::test]
async fn a_deadline() {
    let mut request = tonic::Request::new(ListModelsRequest::default());
    request.set_timeout(Duration::from_nanos(1));
    let problem = dial(&or_skip!("INTERLINGUA_SERVER")).list_models(request).await.unwrap_err();
    assert_eq!((problem.category, problem.retryable), (ErrorCategory::Timeout, true), "{:?}", problem.status);
}

#[tokio::test]
async fn a_stream() {
    let client = dial(&or_skip!("INTERLINGUA_SERVER"));
    let mut pieces = client.generate_stream(streaming("replay:claude-sonnet-4-6")).await.unwrap();
    let (mut said, mut whole) = (String::new(), None);
    while let Some(piece) = pieces.next().await {
        let Some(Piece::Event(event)) = piece.unwrap().piece else { panic!("no event") };
        match event.event {
            Some(Event::TextDelta(delta)) => said += &delta.text,
            Some(Event::MessageComplete(complete)) => whole = complete.response.and_then(|response| response.message),
            _ => {}
        }
    }
    assert!(!said.is_empty());
    assert_eq!(whole.unwrap().content, text(Role::Assistant, said).content);
}

/// A server that gives the decision and two events, together to who asks for that, and has no end unless the provider is
/// named. It says when the call is gone.
#[derive(Clone)]
struct Playing(mpsc::UnboundedSender<()>);

impl ServerStreamingService<GenerateStreamRequest> for Playing {
    type Response = GenerateStreamResponse;
    type ResponseStream = ReceiverStream<Result<GenerateStreamResponse, Status>>;
    type Future = Ready<Result<tonic::Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: tonic::Request<GenerateStreamRequest>) -> Self::Future {
        let (messages, answer) = mpsc::channel(1);
        let gone = self.0.clone();
        let asked = request.into_inner();
        tokio::spawn(async move {
            assert!(asked.batched, "the client does not ask for events that travel together");
            let together = match asked.json_output {
                true => Events { events_json: vec!["1".into(), "2".into()], ..Events::default() },
                false => Events { events: vec![delta("A"), delta("B")], ..Events::default() },
            };
            for piece in [Piece::Decision(RouteDecision::default()), Piece::Events(together)] {
                let message = GenerateStreamResponse { piece: Some(piece) };
                messages.send(Ok(message)).await.expect("a client that listens");
            }
            if asked.target.is_empty() {
                messages.closed().await;
            }
            gone.send(()).expect("a test that waits");
        });
        ready(Ok(tonic::Response::new(ReceiverStream::new(answer))))
    }
}

fn delta(text: &str) -> StreamEvent {
    StreamEvent { event: Some(Event::TextDelta(TextDeltaEvent { text: text.into(), ..Default::default() })) }
}

impl Service<http::Request<Body>> for Playing {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = self.clone();
        Box::pin(async move { Ok(Grpc::new(ProstCodec::default()).server_streaming(method, request).await) })
    }
}

impl NamedService for Playing {
    const NAME: &'static str = "interlingua.v1.InterlinguaService";
}

fn playing() -> (Client, mpsc::UnboundedReceiver<()>) {
    let listener = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, gone) = mpsc::unbounded_channel();
    tokio::spawn(Server::builder().add_service(Playing(sender)).serve_with_incoming(listener));
    (dial(&address), gone)
}

#[tokio::test]
async fn events_that_travel_together_are_given_one_by_one() {
    let (client, _gone) = playing();
    let asked = GenerateStreamRequest { target: "anthropic".into(), ..Default::default() };
    let (together, texts) = (
        Events { events: vec![delta("A"), delta("B")], ..Events::default() },
        ["1", "2"].map(|text| Piece::EventJson(text.into())),
    );
    for (request, pieces) in [
        (asked.clone(), [delta("A"), delta("B")].map(Piece::Event).to_vec()),
        (GenerateStreamRequest { json_output: true, ..asked.clone() }, texts.to_vec()),
        (GenerateStreamRequest { batched: true, ..asked }, vec![Piece::Events(together)]),
    ] {
        let given: Vec<_> = client.generate_stream(request).await.unwrap().map(|piece| piece.unwrap().piece).collect().await;
        let decision = Piece::Decision(RouteDecision::default());
        assert_eq!(given, [vec![decision], pieces].concat().into_iter().map(Some).collect::<Vec<_>>());
    }
}

/// A server of sessions that gives two events together to who asks for that.
#[derive(Clone)]
struct PlayingSessions;

impl ServerStreamingService<GenerateInSessionRequest> for PlayingSessions {
    type Response = GenerateInSessionResponse;
    type ResponseStream = tokio_stream::Once<Result<GenerateInSessionResponse, Status>>;
    type Future = Ready<Result<tonic::Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: tonic::Request<GenerateInSessionRequest>) -> Self::Future {
        assert!(request.get_ref().batched, "the client does not ask for events that travel together");
        let piece = Some(in_session::Piece::Events(texts_together()));
        ready(Ok(tonic::Response::new(tokio_stream::once(Ok(GenerateInSessionResponse { piece })))))
    }
}

fn texts_together() -> Events {
    Events { events_json: vec!["1".into(), "2".into()], ..Events::default() }
}

impl Service<http::Request<Body>> for PlayingSessions {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = self.clone();
        Box::pin(async move { Ok(Grpc::new(ProstCodec::default()).server_streaming(method, request).await) })
    }
}

impl NamedService for PlayingSessions {
    const NAME: &'static str = "interlingua.v1.SessionService";
}

#[tokio::test]
async fn events_of_a_session_that_travel_together_are_given_one_by_one() {
    use in_session::Piece;
    let listener = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let client = dial(&listener.local_addr().unwrap().to_string());
    tokio::spawn(Server::builder().add_service(PlayingSessions).serve_with_incoming(listener));
    let apart = ["1", "2"].map(|text| Piece::EventJson(text.into())).to_vec();
    for (batched, pieces) in [(false, apart), (true, vec![Piece::Events(texts_together())])] {
        let request = GenerateInSessionRequest { session_id: "s".into(), batched, ..Default::default() };
        let given: Vec<_> = client.generate_in_session(request).await.unwrap().map(|piece| piece.unwrap().piece).collect().await;
        assert_eq!(given, pieces.into_iter().map(Some).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn dropping_a_stream_cancels_the_call_on_the_server() {
    let (client, mut gone) = playing();
    let mut pieces = client.generate_stream(GenerateStreamRequest::default()).await.unwrap();
    assert!(pieces.next().await.unwrap().is_ok());
    assert!(gone.try_recv().is_err(), "the call is gone before it was left");
    drop(pieces);
    let told = tokio::time::timeout(Duration::from_secs(10), gone.recv()).await;
    assert_eq!(told, Ok(Some(())), "the server goes on with a call that was left");
}

#[tokio::test]
async fn a_stream_that_fails() {
    let client = dial_guarded(&or_skip!("INTERLINGUA_GUARDED"), &or_skip!("INTERLINGUA_TOKEN"), true);
    let problem = match client.generate_stream(streaming("anthropic:claude-sonnet-4-6")).await {
        Ok(mut pieces) => pieces.next().await.unwrap().unwrap_err(),
        Err(problem) => problem,
    };
    assert_eq!(problem.category, ErrorCategory::RateLimit);
}

#[tokio::test]
async fn integers_of_64_bits_and_beyond() {
    let beyond: Map<String, Value> = serde_json::from_str(r#"{"beyond": 18446744073709551617}"#).unwrap();
    let mut request = Request { seed: Some(i64::MAX), ..asking("openai:gpt-4.1") };
    request.messages[0].set_rest(beyond.clone()).unwrap();
    let back = read(&dial(&or_skip!("INTERLINGUA_SERVER")), &request).await.unwrap();
    assert_eq!(back.seed, Some(i64::MAX));
    assert_eq!(back.messages[0].rest().unwrap(), beyond);
}

#[tokio::test]
async fn decimals() {
    let usage = Usage { input_tokens: 1, output_tokens: 3, ..Usage::default() };
    let question = EstimateRequest {
        subject: Some(estimate_request::Subject::Usage(usage)),
        price_json: r#"{"input_per_mtok_usd": "0.1", "output_per_mtok_usd": "0.2"}"#.into(),
        ..EstimateRequest::default()
    };
    let cost = dial(&or_skip!("INTERLINGUA_SERVER")).estimate(question).await.unwrap().cost.unwrap();
    assert_eq!(json::decimal(&cost.likely_usd).unwrap().to_string(), "0.0000007");
}

#[test]
fn sums_of_decimals_are_exact() {
    let sum = json::decimal("0.1").unwrap() + json::decimal("0.2").unwrap();
    assert_eq!(sum.to_string(), "0.3");
    for wrong in ["1e-7", "", "0x1", "NaN", "0.12345678901234567890123456789012345"] {
        assert!(json::decimal(wrong).is_err(), "{wrong} is taken for a decimal");
    }
}

#[test]
fn free_json_is_exact() {
    let written = r#"{"id":18446744073709551617,"price":0.1234567890123456789,"tenth":0.1,"minus":-0}"#;
    assert_eq!(json::write(&json::read(written).unwrap().unwrap()), written);
    assert!(json::read("").unwrap().is_none());
    assert!(json::read("{").is_err());
}

#[tokio::test]
async fn an_edited_field_stands_over_the_rest() {
    let client = dial(&or_skip!("INTERLINGUA_SERVER"));
    let rest_json = r#"{"seed": 99999999999999999999999, "holograms": true}"#.into();
    let mut edited = read(&client, &Request { rest_json, ..asking("openai:gpt-4.1") }).await.unwrap();
    edited.seed = Some(5);
    assert_eq!(read(&client, &edited).await.unwrap_err().path.as_deref(), Some("/rest_json/seed"));
    let rest = edited.rest().unwrap();
    assert_eq!(json::write(&rest.clone().into()), r#"{"holograms":true}"#);
    let stale: Map<String, Value> = serde_json::from_str(r#"{"seed": 6}"#).unwrap();
    assert!(edited.set_rest(stale).is_err());
    edited.set_rest(rest).unwrap();
    let back = read(&client, &edited).await.unwrap();
    assert_eq!((back.seed, back.rest_json.as_str()), (Some(5), r#"{"holograms":true}"#));
}
