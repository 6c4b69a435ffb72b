"""What users can do with the generated models beside reading them: constructors and views, written by hand."""


class MessageMethods:
    """Mixed into `Message`."""

    __slots__ = ()


class RequestMethods:
    """Mixed into `Request`."""

    __slots__ = ()


class ResponseMethods:
    """Mixed into `Response`."""

    __slots__ = ()
