#!/bin/sh
# Starts workerd for miniflare (MINIFLARE_WORKERD_PATH) so that it dies with the launcher, however that dies,
# and so that Ctrl-C on the terminal reaches the launcher alone, which stops things in order.
# miniflare's own socket would listen on a port of 127.0.0.1 and give every object of the bucket to every user of this machine. The last
# --socket-addr counts: it listens in a folder instead that only its owner can enter (control.ts). Without it workerd does not start.
cd "$KILN_CONTROL_FOLDER" || exit 1
rm -f control.sock
set -- "$@" --socket-addr=entry=unix:control.sock
if command -v setsid > /dev/null && command -v setpriv > /dev/null; then
  exec setsid setpriv --pdeathsig KILL -- "$KILN_WORKERD" "$@"
fi
exec "$KILN_WORKERD" "$@"
