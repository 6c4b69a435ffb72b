"""
The verbs of the contract over its Protobuf messages (spec/9-service.md): Adapt, Route, Generate, Estimate, Check and
the list of models. The gRPC service and the HTTP gateway call them.

    verbs.py       each verb: a message in, a message out
    adapting.py    translate one value from any format to any other
    routing.py     decisions and candidates as messages
    estimating.py  tokens and cost
    checking.py    the rules that a value breaks
    failures.py    how a verb fails: status code, message, details
    calls.py       the calls in flight: how many, and how they end when the server ends
    convert.py     plain data ↔ messages; generated
"""
