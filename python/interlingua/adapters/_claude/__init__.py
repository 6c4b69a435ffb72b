"""
The rules that the two wires of Anthropic's models share.

The spellings of the wires differ. The rules here are those of the models behind them, and they change together.

Sections: values · reading · writing · members (of a request) · reasoning · turns (messages) · blocks
(and the members that items of both have) · tools · answers · streams.
"""
