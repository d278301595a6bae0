# Changes the appliance to match the file.
set -eu
applied=$RUNNER_TEMP/kiln-applied.json
kiln apply "$FILE" --json > "$applied" || { code=$?; cat "$applied"; exit "$code"; }
appliance=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).definition.id' "$applied")
echo "Appliance $appliance is what $FILE says."
echo "appliance=$appliance" >> "$GITHUB_OUTPUT"
