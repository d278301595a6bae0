export interface TangServer {
  url: string;
  /** The SHA-256 of the key with which it signs its other keys, in base64url. */
  thumbprint: string;
}

/**
 * A tang server as the keeper of the disk's key (kept-key.ts). The network is up only while the program runs: the real
 * system configures it again.
 */
export const tangKeeper = ({ url, thumbprint }: TangServer): string => String.raw`
server='${url}'
thumbprint='${thumbprint}'
keeper="the key server"
cannot_keep="The key server $server does not answer, or its key is not the one that the image expects, so the disk of this machine needs a passphrase."
no_keeper="This machine gets no address by DHCP"
keeper_refuses="The key server $server does not open the disk: it does not answer, or no longer has its key."
keeper_fails="The disk is not bound to the key server $server again: it does not answer, or its key is not the one that the image expects."

# The links keep their addresses when networkd has ended.
has_keeper() {
  [ ! -e "$state/online" ] || return 0
  systemctl start systemd-networkd.service
  /usr/lib/systemd/systemd-networkd-wait-online --any --operational-state=routable --timeout=30 || return
  rm -f /etc/resolv.conf
  sed -n 's/^DNS=//p' /run/systemd/netif/state | tr ' ' '\n' | sed -n 's/./nameserver &/p' > /etc/resolv.conf
  : > "$state/online"
}

# The server proves that it has the key of the thumbprint. It never sees the disk's key.
wrap_key() { timeout 30 clevis encrypt tang "{\"url\":\"$server\",\"thp\":\"$thumbprint\"}" < "$key" > "$state/sealed"; }
unwrap_key() { timeout 30 clevis decrypt < "$state/sealed" > "$key"; }

close_keeper() {
  rm -f "$state/online"
  systemctl stop systemd-networkd.socket systemd-networkd.service
  for link in /sys/class/net/*; do
    link=$(basename "$link")
    [ "$link" = lo ] || { ip address flush dev "$link"; ip link set dev "$link" down; }
  done
}
`;

export function readTangServer(program: string): TangServer {
  const valueOf = (name: string) => new RegExp(`^${name}='(.*)'$`, "m").exec(program)?.[1] ?? "";
  return { url: valueOf("server"), thumbprint: valueOf("thumbprint") };
}
