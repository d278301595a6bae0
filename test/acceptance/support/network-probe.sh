#!/bin/sh
# What a guest reaches, told by its web server: one line for each ADDRESS:PORT of the query, which are set apart by commas.
echo "Content-Type: text/plain"
echo

# The network names no way out; a guest may well give itself one.
ip route add default via 10.0.2.2 2> /dev/null

# say NAME COMMAND...
say() {
  name=$1
  shift
  if timeout 4 "$@" < /dev/null > /dev/null 2>&1; then echo "$name reached"; else echo "$name not reached"; fi
}

for target in 127.0.0.1:80 $(echo "$QUERY_STRING" | tr , ' '); do
  say "$target" nc -w 3 "${target%:*}" "${target##*:}" &
done
say names nslookup example.org 10.0.2.3 &
say ping ping -c 1 -W 3 1.1.1.1 &
wait
ip route
