use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_stream::Stream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{IntoRequest, Request, Status, Streaming};

use crate::Error;
use crate::v1::interlingua_service_client::InterlinguaServiceClient;
use crate::v1::{
    AdaptRequest, AdaptResponse, AdaptStreamRequest, AdaptStreamResponse, CheckRequest, CheckResponse, EstimateRequest,
    EstimateResponse, GenerateRequest, GenerateResponse, GenerateStreamRequest, GenerateStreamResponse,
    ListModelsRequest, ListModelsResponse, RouteRequest, RouteResponse,
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
    stub: InterlinguaServiceClient<InterceptedService<Channel, Bearer>>,
}

macro_rules! unary {
    ($($(#[$about:meta])* $name:ident($request:ty) -> $response:ty;)*) => {$(
        $(#[$about])*
        pub async fn $name(&self, request: impl IntoRequest<$request>) -> Result<$response, Error> {
            Ok(self.stub.clone().$name(request).await?.into_inner())
        }
    )*};
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
        let stub = InterlinguaServiceClient::with_interceptor(endpoint.connect_lazy(), bearer)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        Ok(Client { stub })
    }

    unary! {
        /// Carries one value from any form to any other, with a complete account of what was lost.
        adapt(AdaptRequest) -> AdaptResponse;
        /// Tells which model should answer, why, and what each candidate would lose, take and cost.
        route(RouteRequest) -> RouteResponse;
        /// Routes unless told the model, asks the provider and gives its answer.
        generate(GenerateRequest) -> GenerateResponse;
        /// Tells how many tokens a request will take and what it will cost, or what an answer did cost.
        estimate(EstimateRequest) -> EstimateResponse;
        /// Tells which rules of the contract a value breaks.
        check(CheckRequest) -> CheckResponse;
        /// Lists the models of the server's registry.
        list_models(ListModelsRequest) -> ListModelsResponse;
    }

    /// Does the same as `generate` and gives the answer as it arrives.
    pub async fn generate_stream(
        &self,
        request: impl IntoRequest<GenerateStreamRequest>,
    ) -> Result<Pieces<GenerateStreamResponse>, Error> {
        Ok(Pieces(self.stub.clone().generate_stream(request).await?.into_inner()))
    }

    /// Carries a streamed answer while it arrives.
    pub async fn adapt_stream(
        &self,
        pieces: impl Stream<Item = AdaptStreamRequest> + Send + 'static,
    ) -> Result<Pieces<AdaptStreamResponse>, Error> {
        Ok(Pieces(self.stub.clone().adapt_stream(pieces).await?.into_inner()))
    }
}

/// A streamed answer as it arrives. Dropping it ends the call.
#[derive(Debug)]
pub struct Pieces<T>(Streaming<T>);

impl<T> Stream for Pieces<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.0).poll_next(context).map_err(Error::from)
    }
}

#[derive(Clone, Debug)]
struct Bearer(Option<MetadataValue<Ascii>>);

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
