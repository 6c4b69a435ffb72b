"""The words in which Amazon Bedrock tells of a failure, whatever wire a model behind it is spoken to in.

Source: the service model bedrock-runtime, and the errors that all of AWS has.
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
"""The category of an exception, by its name in lower case: headers and streams begin it in upper and lower case."""
