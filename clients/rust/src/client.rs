use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio_stream::Stream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{IntoRequest, Request, Status, Streaming};

use crate::Error;
use crate::v1::interlingua_service_client::InterlinguaServiceClient;
use crate::v1::session_service_client::SessionServiceClient;
use crate::v1::{
    Events, GenerateInSessionRequest, GenerateInSessionResponse, GenerateStreamRequest, GenerateStreamResponse, StreamEvent,
    generate_in_session_response as in_session, generate_stream_response as in_stream,
};

/// The largest message that a server takes or gives unless it is told otherwise.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// How to connect.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// TLS: whom to trust, and the certificate to show. `ClientTlsConfig::new().with_native_roots()` trusts whom the
    /// system trusts. Without it the connection is in the clear.
    pub tls: Option<ClientTlsConfig>,
    /// Sent with every call as `authorization: Bearer`. Without TLS the token travels in the clear.
    pub token: Option<String>,
}

/// A connection to a server. A clone shares it, and may be used by another task.
///
/// A request is a message, or a [`tonic::Request`] of it with a timeout. A call ends when its future or stream is dropped.
#[derive(Clone, Debug)]
pub struct Client {
    stub: Stub,
    sessions: Sessions,
}

impl Client {
    /// A client of the server at `host:port`. The connection itself is opened by the first call.
    pub fn connect(address: &str, options: Options) -> Result<Client, Error> {
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        let mut endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))?;
        if let Some(tls) = options.tls {
            endpoint = endpoint.tls_config(tls)?;
        }
        let token = options.token.map(|token| format!("Bearer {token}").parse()).transpose();
        let bearer = Bearer(token.map_err(|_| Error::local("the token has characters that no header takes"))?);
        let channel = endpoint.connect_lazy();
        let stub = InterlinguaServiceClient::with_interceptor(channel.clone(), bearer.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let sessions = SessionServiceClient::with_interceptor(channel, bearer)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        Ok(Client { stub, sessions })
    }

    /// What the methods of the service, which stand beside the messages, are called on.
    pub(crate) fn stub(&self) -> Stub {
        self.stub.clone()
    }

    /// The same for the service of sessions.
    pub(crate) fn sessions(&self) -> Sessions {
        self.sessions.clone()
    }
}

type Stub = InterlinguaServiceClient<InterceptedService<Channel, Bearer>>;
type Sessions = SessionServiceClient<InterceptedService<Channel, Bearer>>;

impl Client {
    /// Does the same as [`Client::generate`] and gives the answer as it arrives.
    ///
    /// Events that arrived together travel in one message, and are given one by one; a request that itself says `batched`
    /// gets them as they travel.
    pub async fn generate_stream(
        &self,
        request: impl IntoRequest<GenerateStreamRequest>,
    ) -> Result<Pieces<GenerateStreamResponse>, Error> {
        let mut request = request.into_request();
        let apart = if request.get_ref().batched { whole } else { one_by_one };
        request.get_mut().batched = true;
        let messages = self.stub().generate_stream(request).await?.into_inner();
        Ok(Pieces { messages, apart, waiting: VecDeque::new() })
    }

    /// Appends what is said, if anything is, and gives the model's answer as events, as they arrive; it is appended too.
    ///
    /// The last event is message_complete or error, and comes when the answer is stored. An answer that is cancelled or
    /// broken off is stored with status `cancelled` or `error` and what had arrived. Events travel as those of
    /// [`Client::generate_stream`] do.
    pub async fn generate_in_session(
        &self,
        request: impl IntoRequest<GenerateInSessionRequest>,
    ) -> Result<Pieces<GenerateInSessionResponse>, Error> {
        let mut request = request.into_request();
        let apart = if request.get_ref().batched { whole } else { one_by_one_in_session };
        request.get_mut().batched = true;
        let messages = self.sessions().generate_in_session(request).await?.into_inner();
        Ok(Pieces { messages, apart, waiting: VecDeque::new() })
    }
}

fn one_by_one(message: GenerateStreamResponse) -> VecDeque<GenerateStreamResponse> {
    use in_stream::Piece;
    let alone = |piece| GenerateStreamResponse { piece: Some(piece) };
    match message.piece {
        Some(Piece::Events(together)) => {
            apart(together, |event| alone(Piece::Event(event)), |text| alone(Piece::EventJson(text)))
        }
        _ => whole(message),
    }
}

fn one_by_one_in_session(message: GenerateInSessionResponse) -> VecDeque<GenerateInSessionResponse> {
    use in_session::Piece;
    let alone = |piece| GenerateInSessionResponse { piece: Some(piece) };
    match message.piece {
        Some(Piece::Events(together)) => {
            apart(together, |event| alone(Piece::Event(event)), |text| alone(Piece::EventJson(text)))
        }
        _ => whole(message),
    }
}

fn apart<T>(together: Events, of_event: impl Fn(StreamEvent) -> T, of_text: impl Fn(String) -> T) -> VecDeque<T> {
    let events = together.events.into_iter().map(of_event);
    events.chain(together.events_json.into_iter().map(of_text)).collect()
}

fn whole<T>(message: T) -> VecDeque<T> {
    VecDeque::from([message])
}

/// A streamed answer as it arrives. Dropping it ends the call.
#[derive(Debug)]
pub struct Pieces<T> {
    messages: Streaming<T>,
    apart: fn(T) -> VecDeque<T>,
    waiting: VecDeque<T>,
}

impl<T> Pieces<T> {
    pub(crate) fn new(messages: Streaming<T>) -> Pieces<T> {
        Pieces { messages, apart: whole, waiting: VecDeque::new() }
    }
}

impl<T: Unpin> Stream for Pieces<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(piece) = self.waiting.pop_front() {
                return Poll::Ready(Some(Ok(piece)));
            }
            match ready!(Pin::new(&mut self.messages).poll_next(context)) {
                Some(Ok(message)) => self.waiting = (self.apart)(message),
                Some(Err(status)) => return Poll::Ready(Some(Err(Error::from(status)))),
                None => return Poll::Ready(None),
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            let mut hidden = token.clone();
            hidden.set_sensitive(true);
            request.metadata_mut().insert("authorization", hidden);
        }
        Ok(request)
    }
}
