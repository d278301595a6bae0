#!/bin/sh
# Starts workerd for miniflare (MINIFLARE_WORKERD_PATH), so that it ends with the launcher, however that ends,
# and so that Ctrl-C on the terminal reaches only the launcher, which stops everything in order.
# miniflare's own socket would listen on a port of 127.0.0.1, where every user of this machine could read every object of the bucket.
# The last --socket-addr wins, so it listens in a folder that only its owner can enter (control.ts). Without it workerd does not start.
cd "$KILN_CONTROL_FOLDER" || exit 1
rm -f control.sock
set -- "$@" --socket-addr=entry=unix:control.sock
if command -v setsid > /dev/null && command -v setpriv > /dev/null; then
  exec setsid setpriv --pdeathsig KILL -- "$KILN_WORKERD" "$@"
fi
exec "$KILN_WORKERD" "$@"
