#!/bin/sh
# The smallest plug there is, with jq: it says hello and refuses everything else. To see the protocol, not to conform.
#
#   python3 conformance/runner doctor -- sh conformance/plugs/shell.sh
exec jq --unbuffered -c '
  if .op == "hello" then
    {id, output: {protocol: 1, implementation: {name: "shell", version: "0", language: "jq"},
                  adapters: {openai_chat: ["to_wire"]}, operations: [], capabilities: []}}
  elif .op == "bye" then {id, output: {}}, halt
  elif .op == "to_wire" and .adapter == "openai_chat" then
    {id, error: {category: "unsupported", message: "nothing can be carried yet"}}
  else {id, unsupported: true}
  end'
