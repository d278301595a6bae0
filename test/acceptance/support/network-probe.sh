#!/bin/sh
# Reports through the guest's web server what the guest can reach: one line for each ADDRESS:PORT of the comma-separated query.
echo "Content-Type: text/plain"
echo

# The network offers no route to the outside, but a guest can add one.
ip route add default via 10.0.2.2 2> /dev/null

# say NAME COMMAND...: with a time limit
longest=20
say() {
  name=$1
  shift
  if timeout "$longest" "$@" < /dev/null > /dev/null 2>&1; then echo "$name reached"; else echo "$name not reached"; fi
}

# Not in parallel with the others, because it must answer however slow the machine is.
say 127.0.0.1:80 nc -w "$longest" 127.0.0.1 80
longest=4
for target in $(echo "$QUERY_STRING" | tr , ' '); do
  say "$target" nc -w 3 "${target%:*}" "${target##*:}" &
done
say names nslookup example.org 10.0.2.3 &
say ping ping -c 1 -W 3 1.1.1.1 &
wait
ip route
