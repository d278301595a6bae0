# Plans the appliance. The next step writes the output as a comment, and fails if the exit code is 3.
set -eu
plan=$RUNNER_TEMP/kiln-plan.txt
code=0
kiln plan "$FILE" > "$plan" || code=$?
# The runner must not take a line of the plan for a command.
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
