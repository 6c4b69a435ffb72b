"""
What the two wires on which Anthropic's models are called have in common.

The wires spell things differently; these are rules of the models behind them, and they change together.

Sections: values · reading · writing · members (of a request) · reasoning · turns (messages) · blocks
(and the members that items of both have) · tools · answers · streams.
"""
