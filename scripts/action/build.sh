# Builds the appliance, and downloads each image with its attestations.
set -eu
builds=$RUNNER_TEMP/kiln-builds.json
kiln build "$APPLIANCE" ${TYPES:+--type "$TYPES"} --follow --json > "$builds" || { code=$?; cat "$builds"; exit "$code"; }
ids=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).builds.map(({ id }) => id).join("\n")' "$builds")
end=kiln-$RANDOM$RANDOM$RANDOM
{
  echo "images<<$end"
  for id in $ids; do
    kiln download "$id" --output "$OUTPUT" --whole --json > "$RUNNER_TEMP/kiln-image.json"
    node -p 'JSON.parse(fs.readFileSync(process.argv[1])).file' "$RUNNER_TEMP/kiln-image.json"
  done
  echo "$end"
} > "$RUNNER_TEMP/kiln-images"
cat "$RUNNER_TEMP/kiln-images" >> "$GITHUB_OUTPUT"
