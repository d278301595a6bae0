#!/bin/sh
# Starts workerd for miniflare (MINIFLARE_WORKERD_PATH) so that it dies with the launcher, however that dies,
# and so that Ctrl-C on the terminal reaches the launcher alone, which stops things in order.
if command -v setsid > /dev/null && command -v setpriv > /dev/null; then
  exec setsid setpriv --pdeathsig KILL -- "$KILN_WORKERD" "$@"
fi
exec "$KILN_WORKERD" "$@"
