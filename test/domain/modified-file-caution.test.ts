import { describe, expect, it } from "vitest";
import { cautionOf } from "#domain/testdrives/caution";

const of = (path: string, size = 6) => cautionOf({ path, type: "f", size });

describe("the caution about a modified file", () => {
  it.each([
    ["/etc/ssh/ssh_host_ed25519_key", "secret"],
    ["/etc/shadow", "secret"],
    ["/root/.ssh/id_ed25519", "secret"],
    ["/etc/ssh/ssh_host_ed25519_key.pub", "identity"],
    ["/etc/machine-id", "identity"],
    ["/etc/ssl/certs/ssl-cert-snakeoil.pem", "identity"],
    ["/etc/iscsi/initiatorname.iscsi", "identity"],
    ["/var/lib/systemd/random-seed", "identity"],
    ["/var/lib/NetworkManager/secret_key", "identity"],
    ["/var/lib/systemd/timers/stamp-apt-daily.timer", "state"],
    ["/var/lib/kiln/swap", "state"],
    ["/var/lib/kiln/first-boot", "state"],
    ["/var/lib/dhcpcd/secret", "identity"],
    ["/var/lib/dhcpcd/eth0.lease", "identity"],
    ["/etc/resolv.conf", "state"],
    ["/etc/.updated", "state"],
    ["/var/.updated", "state"],
    ["/swapfile", "state"],
    ["/root/.bash_history", "state"],
    ["/var/log/nginx/access.log", "log"],
    ["/var/cache/ldconfig/aux-cache", "log"],
    ["/tmp/notes", "log"],
  ])("%s: %s", (path, caution) => {
    expect(of(path)).toBe(caution);
  });

  it.each([
    "/var/www/html/index.html",
    "/etc/motd",
    "/etc/nginx/sites-enabled/default",
    "/etc/updated",
    "/srv/swap-shop/index.html",
    "/var/lib/postgresql/17/main/PG_VERSION",
    "/root/.ssh/authorized_keys",
    "/usr/local/bin/greet",
  ])("has none about %s", (path) => {
    expect(of(path)).toBeUndefined();
  });

  it("is about size where the path says nothing", () => {
    expect(of("/srv/disk.img", 64 * 1024 * 1024)).toBeUndefined();
    expect(of("/srv/disk.img", 64 * 1024 * 1024 + 1)).toBe("large");
  });
});
