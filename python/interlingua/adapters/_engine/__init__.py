"""
The code that all wires share.

- `items` reads and writes the items of a wire (parts, calls, tools, messages) by rows of members.
- `verbatim` compares what was read with what is written from it, keeps the differences, and puts them back later.
  `spelling` does this for one value, and `groups` finds out which items are compared.
- `reading` and `writing` hold the state of one reader and of one writer. `as_read` finds out which members of a request
  are unedited.
- `kit` has small functions: tables, provider state, reports of state and options, errors, names.

A writer reports what an item holds and the wire has no place for. These functions do so; a writer calls the outermost
one that fits. `write_item` (`items`) does all of it for an item that has a row.

- `report_unknown` (`kit`): canonical members that this version does not know.
- `report_not_written` (`items`): canonical members that the wire has no member for; it includes the unknown ones.
- `report_lost_state` (`kit`): the `fields` and the signature of a state of another provider.
- `report_foreign_state` (`kit`): `report_lost_state`, if the item has a state and the endpoint does not own it.
- `report_replayable_state` (`kit`): the signature of a state that the endpoint owns and, with `fields=True`, its
  `fields`.
- `report_state` (`_history.messages`): `report_replayable_state` if the endpoint owns the state, else
  `report_lost_state`.
- `report_rest` (`_history.messages`): `report_state` and `report_not_written`.
- `finish` (`_history.messages`): it writes the `fields` of a state that the endpoint owns, then calls `report_rest`
  for the rest.
"""
