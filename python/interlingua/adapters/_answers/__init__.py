"""
Responses, whole and streamed.

`answers` reads and writes a response with one answer. `choices` does so for a wire that may return several. `usage`
counts tokens. `stream_reader` makes events of the frames of a wire, `stream_writer` makes frames of events.
`repetition` is a fast path of the reader.
"""
