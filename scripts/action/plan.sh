# Plans the appliance. What it prints is the comment of the next step, which also ends with the exit code 3.
set -eu
plan=$RUNNER_TEMP/kiln-plan.txt
code=0
kiln plan "$FILE" > "$plan" || code=$?
# A line of the plan must not be a command to the runner.
pause=kiln-$RANDOM$RANDOM$RANDOM
echo "::stop-commands::$pause"
cat "$plan"
echo "::$pause::"
changes=true
case $code in
  0) changes=false ;;
  2 | 3) ;;
  *) exit "$code" ;;
esac
printf 'code=%s\nchanges=%s\n' "$code" "$changes" >> "$GITHUB_OUTPUT"
