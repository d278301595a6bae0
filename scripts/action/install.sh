# Installs the command line for the steps that follow.
set -eu
if [ -n "$TARBALL" ]; then
  what=$TARBALL
  # Without a slash, npm would look for a package of that name.
  case $what in *://* | /*) ;; *) what=./$what ;; esac
elif [ -n "$VERSION" ]; then
  case $VERSION in *[!0-9A-Za-z.-]*) echo "::error::version must be exact, such as 0.1.0."; exit 1 ;; esac
  what=@kiln-build/cli@$VERSION
else
  echo "::error::Give tarball (a file from npm pack -w @kiln-build/cli) or version."
  exit 1
fi
npm install --global --prefix "$RUNNER_TEMP/kiln" --ignore-scripts --no-audit --no-fund --loglevel=error "$what"
echo "$RUNNER_TEMP/kiln/bin" >> "$GITHUB_PATH"
