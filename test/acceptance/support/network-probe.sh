#!/bin/sh
# What a guest reaches, told by its web server: one line for each ADDRESS:PORT of the query, which are set apart by commas.
echo "Content-Type: text/plain"
echo

# The network names no way out; a guest may well give itself one.
ip route add default via 10.0.2.2 2> /dev/null

# say NAME COMMAND...: within so many seconds
longest=20
say() {
  name=$1
  shift
  if timeout "$longest" "$@" < /dev/null > /dev/null 2>&1; then echo "$name reached"; else echo "$name not reached"; fi
}

# By itself, since it has to answer, however slow the machine is.
say 127.0.0.1:80 nc -w "$longest" 127.0.0.1 80
longest=4
for target in $(echo "$QUERY_STRING" | tr , ' '); do
  say "$target" nc -w 3 "${target%:*}" "${target##*:}" &
done
say names nslookup example.org 10.0.2.3 &
say ping ping -c 1 -W 3 1.1.1.1 &
wait
ip route
