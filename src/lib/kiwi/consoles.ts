/**
 * Questions before the login appear on every console of the kernel: the user may sit at any of them, such as the screen
 * of a testdrive or the serial line of a server.
 */
const consoles = String.raw`# Read by the questions of the first boot.

consoles() { sed 's/\<tty0\>/tty1/' /sys/class/tty/console/active; }

# on_consoles QUESTION: runs the function on all consoles until it succeeds on one.
on_consoles() {
  answered=/run/kiln-answered
  rm -f "$answered"
  pids=
  for console in $(consoles); do
    { until "$1"; do sleep 1; done; : > "$answered"; } < "/dev/$console" > "/dev/$console" 2>&1 &
    pids="$pids $!"
  done
  [ -n "$pids" ] || return 1
  until [ -e "$answered" ]; do sleep 1; done
  kill $pids 2> /dev/null
  rm -f "$answered"
}
`;

export const consolesFile = { "root/usr/lib/kiln/consoles": consoles } as const;
