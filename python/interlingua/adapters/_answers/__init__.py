"""
Responses, whole and streamed.

`single` reads and writes the responses of a wire that returns one answer, `choices` those of a wire that may return
several. `answers` has the members and the losses of both, and their finish reasons. `usage` counts tokens.
`stream_reader` makes events of the frames of a wire, `stream_writer` makes frames of events. `repetition` is a fast path
of the reader.
"""
