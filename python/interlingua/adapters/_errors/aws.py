"""The words with which Amazon Bedrock reports a failure, on every wire that it offers.

Source: the service model bedrock-runtime, and the errors that all services of AWS share.
"""

from typing import Final

CATEGORIES: Final = {
    "accessdeniedexception": "permission",
    "expiredtokenexception": "authentication",
    "unrecognizedclientexception": "authentication",
    "invalidsignatureexception": "authentication",
    "incompletesignatureexception": "authentication",
    "missingauthenticationtokenexception": "authentication",
    "validationexception": "invalid_request",
    "resourcenotfoundexception": "not_found",
    "modeltimeoutexception": "timeout",
    "modelerrorexception": "server_error",
    "modelstreamerrorexception": "server_error",
    "throttlingexception": "rate_limit",
    "servicequotaexceededexception": "rate_limit",
    "modelnotreadyexception": "overloaded",
    "internalserverexception": "server_error",
    "serviceunavailableexception": "overloaded",
}
"""The category of an exception, by its name in lower case: headers begin the name in upper case, streams in lower
case."""
