#!/bin/sh
# A tap of the lines of a file of JSON, in shell with jq: each run sends all of them.
while [ $# -gt 0 ]; do
  case $1 in
    --config) config=$2; shift ;;
    --discover) discover=1 ;;
  esac
  shift
done
stream='{stream: "lines", schema: {type: "object", properties: {id: {}, name: {}}}, key_properties: ["id"]}'
if [ -n "$discover" ]; then
  exec jq -n "{streams: [$stream + {tap_stream_id: \"lines\", metadata:
    [{breadcrumb: [], metadata: {\"replication-method\": \"FULL_TABLE\"}}]}]}"
fi
jq -nc "$stream + {type: \"SCHEMA\"}"
jq -c '{type: "RECORD", stream: "lines", record: .}' "$(jq -r .file "$config")"
