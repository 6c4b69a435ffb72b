"""A conversation that the server keeps: python examples/session.py [ADDRESS [KEY]]"""

import sys

import grpc

from interlingua.v1 import sessions_pb2 as messages
from interlingua.v1.sessions_pb2_grpc import SessionServiceStub

ADDRESS, *KEY = sys.argv[1:] or ["localhost:50051"]
WHO = [("authorization", f"Bearer {key}") for key in KEY]


def say(sessions: SessionServiceStub, chat: str, text: str) -> None:
    """Says something, and prints the answer as it comes."""
    request = messages.GenerateInSessionRequest(session_id=chat)
    message = request.request.messages.add(role="ROLE_USER")
    message.content.add().text.text = text
    for answer in sessions.GenerateInSession(request, metadata=WHO):
        print(answer.event.text_delta.text, end="", flush=True)
    print()


with grpc.insecure_channel(ADDRESS) as channel:
    sessions = SessionServiceStub(channel)
    chat = sessions.CreateSession(messages.CreateSessionRequest(model="openai:gpt-4.1"), metadata=WHO).session.id
    say(sessions, chat, "What is a ULID?")
    swap = messages.SwapModelRequest(session_id=chat, model="anthropic:claude-sonnet-4-6")
    print(f"# going on there costs about ${sessions.SwapModel(swap, metadata=WHO).preview.cost.likely_usd}")
    say(sessions, chat, "And how long is it?")
    last = sessions.GetSession(messages.GetSessionRequest(session_id=chat), metadata=WHO).session.revision
    for one in sessions.WatchSession(messages.WatchSessionRequest(session_id=chat), metadata=WHO):
        print(f"# {one.revision:3} {one.event.type}")
        if one.revision == last:
            break
