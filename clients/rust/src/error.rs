use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};
use tonic_types::pb;

use crate::v1::{self, ErrorCategory, LossEntry, Usage, Violation};

/// How every call of a [`Client`](crate::Client) fails.
///
/// It prints the server's sentence and its place, "… (at /target)", which hold no content: what the provider said is in
/// `canonical.provider_message`, and does not belong in a log.
#[derive(Clone)]
pub struct Error {
    /// Whose fault it is and what kind. A failure that is not the server's has the category of its status.
    pub category: ErrorCategory,
    /// What is wrong and what to do.
    pub message: String,
    /// JSON Pointer to the place in the input.
    pub path: Option<String>,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// How long to wait before that, when the server said so.
    pub retry_after: Option<Duration>,
    /// The report of a refused projection. Details are cut to 6,000 bytes: `loss_entries` tells how many there were.
    pub loss: Vec<LossEntry>,
    /// How many entries the report had.
    pub loss_entries: usize,
    /// The broken rules of an invalid request.
    pub violations: Vec<Violation>,
    /// What was paid for an answer that did not come to its end.
    pub usage: Option<Usage>,
    /// The whole error as the server gave it; none when the failure is not the server's.
    pub canonical: Option<v1::Error>,
    /// The status that the call ended with.
    pub status: Box<Status>,
}

impl Error {
    pub(crate) fn local(message: &str) -> Error {
        Status::invalid_argument(message).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.status.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}: {}", self.category, self.status.message())
    }
}

impl std::error::Error for Error {}

impl From<tonic::transport::Error> for Error {
    fn from(problem: tonic::transport::Error) -> Error {
        Error::local(&problem.source().map_or(problem.to_string(), |cause| cause.to_string()))
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Error {
        let category = category_of(&status);
        let mut error = Error {
            category,
            message: status.message().to_owned(),
            path: None,
            retryable: may_pass(category, &status),
            retry_after: None,
            loss: Vec::new(),
            loss_entries: 0,
            violations: Vec::new(),
            usage: None,
            canonical: None,
            status: Box::new(status.clone()),
        };
        // details that cannot be read are as good as none
        for detail in pb::Status::decode(status.details()).unwrap_or_default().details {
            let data = detail.value.as_slice();
            match detail.type_url.rsplit('/').next() {
                Some("google.rpc.ErrorInfo") => {
                    let facts = pb::ErrorInfo::decode(data).unwrap_or_default().metadata;
                    error.loss_entries = facts.get("loss_entries").and_then(|count| count.parse().ok()).unwrap_or(0);
                }
                Some("google.rpc.RetryInfo") => {
                    let wait = pb::RetryInfo::decode(data).unwrap_or_default().retry_delay;
                    error.retry_after = wait.and_then(|wait| wait.try_into().ok());
                }
                Some("google.rpc.BadRequest") => {
                    let broken = pb::BadRequest::decode(data).unwrap_or_default().field_violations;
                    error.violations = broken.into_iter().map(violation).collect();
                }
                Some("interlingua.v1.Usage") => error.usage = Usage::decode(data).ok(),
                Some("interlingua.v1.Error") => error.canonical = v1::Error::decode(data).ok(),
                _ => {}
            }
        }
        if let Some(canonical) = &error.canonical {
            error.category = ErrorCategory::try_from(canonical.category).unwrap_or(ErrorCategory::Other);
            error.message.clone_from(&canonical.message);
            error.path.clone_from(&canonical.path);
            error.retryable = canonical.retryable();
            error.loss.clone_from(&canonical.loss);
        }
        error
    }
}

fn violation(broken: pb::bad_request::FieldViolation) -> Violation {
    Violation { rule: broken.reason, path: broken.field, message: broken.description, ..Violation::default() }
}

/// The category of a status that comes without details: from the transport, or from what stands before the server.
fn category_of(status: &Status) -> ErrorCategory {
    match status.code() {
        Code::InvalidArgument => ErrorCategory::InvalidRequest,
        Code::Unauthenticated => ErrorCategory::Authentication,
        Code::PermissionDenied => ErrorCategory::Permission,
        Code::NotFound => ErrorCategory::NotFound,
        // no such method, or a message above the client's own limit
        Code::Unimplemented | Code::ResourceExhausted | Code::OutOfRange => ErrorCategory::Unsupported,
        Code::DeadlineExceeded => ErrorCategory::Timeout,
        Code::Unavailable => ErrorCategory::Network,
        // a call is cancelled by dropping it, so that nobody is told: what comes as a status is tonic's own
        Code::Cancelled if has_cause::<tonic::TimeoutExpired>(status) => ErrorCategory::Timeout,
        Code::Cancelled => ErrorCategory::Network,
        _ if has_cause::<tonic::transport::Error>(status) => ErrorCategory::Network,
        _ => ErrorCategory::Other,
    }
}

/// Whether the same call may succeed later, of a status that comes without details. What TLS refuses, such as a
/// certificate or a server without TLS, stays refused until somebody changes the configuration: rustls tells it as data
/// that is not valid.
fn may_pass(category: ErrorCategory, status: &Status) -> bool {
    let refused = causes(status)
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::InvalidData);
    matches!(category, ErrorCategory::Network | ErrorCategory::Timeout) && !refused
}

fn has_cause<E: std::error::Error + 'static>(status: &Status) -> bool {
    causes(status).any(|cause| cause.is::<E>())
}

fn causes(status: &Status) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(status.source(), |cause| (*cause).source())
}
