//! A client of Interlingua: conversations with language models, carried between providers, routed and generated.
//!
//! [`Client`] has the methods of the service, [`Error`] is how they fail, and [`v1`] holds the messages.

mod client;
mod error;
pub mod json;
mod messages;

/// The messages, generated from `proto/`.
#[allow(clippy::all, clippy::pedantic, missing_docs, rustdoc::all)]
pub mod v1 {
    include!("generated/interlingua.v1.rs");
}

pub use client::{Client, MAX_MESSAGE_BYTES, Options, Pieces};
pub use error::Error;
pub use json::{Rest, Word};
pub use messages::{calls, text, text_block, tool_result};
pub use tonic::transport::{Certificate, ClientTlsConfig, Identity};
