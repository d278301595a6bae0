/** config.sh in an image with firewalld: the real program writes its zone, and reads it back. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unpackPackages } from "./debian-packages.ts";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-with-firewalld-"));
const packages = join(dir, "packages");
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** firewalld, its Python modules, and the names of protocols. */
const firewalld = ["firewalld", "python3-firewall", "python3-nftables", "libnftables1", "libnftnl11", "netbase"];
const bindings = ["python3-gi", "gir1.2-glib-2.0", "libgirepository-1.0-1", "python3-dbus", "libdbus-1-3"];
const libraries = ["libjansson4", "libmnl0", "libxtables12"];
beforeAll(() => unpackPackages([...firewalld, ...bindings, ...libraries], packages), 600_000);

const inImage = imagesIn(dir, packages);
const openPorts = ["ssh", "22", "8080", "53/udp", "postgresql", "tftp/udp"];
const isEnabled = "systemctl --root=/ is-enabled firewalld.service || true";
/** The services and ports that the zone of all interfaces accepts, as firewalld reads it. */
const ask = `firewall-offline-cmd --check-config > /dev/null; firewall-offline-cmd --list-all; ${isEnabled}`;

const isOpen = (said: string) =>
  Object.fromEntries(
    ["target", "services", "ports", "protocols", "source-ports", "rich rules"].map((what) => [
      what,
      (new RegExp(`^  ${what}: (.*)$`, "m").exec(said)?.[1] ?? "?").split(" ").toSorted().join(" "),
    ]),
  );
const nothing = { target: "default", protocols: "", "source-ports": "", "rich rules": "" };

// Starts a large Python program many times.
describe("an image with firewalld", () => {
  it("accepts exactly the open ports", () => {
    const said = inImage({ firewall: { enabled: true, openPorts } }, ask);
    const ports = "22/tcp 53/udp 5432/tcp 69/udp 8080/tcp";
    expect(isOpen(said)).toEqual({ ...nothing, services: "dhcpv6-client", ports });
    expect(said).toMatch(/\nenabled\n$/);
  });

  it("closes ports that its distribution opened in the default zone", () => {
    const before = `firewall-offline-cmd --set-default-zone=work > /dev/null
      for open in service=http service=samba port=1025-65535/tcp port=1025-65535/udp; do
        firewall-offline-cmd --zone=work --add-$open > /dev/null
      done`;
    const said = inImage({ firewall: { enabled: true, openPorts: ["22"] } }, ask, before);
    expect(isOpen(said)).toEqual({ ...nothing, services: "dhcpv6-client", ports: "22/tcp" });
  });

  it("does not start it if the firewall is disabled", () => {
    const before = "systemctl enable firewalld.service 2> /dev/null";
    expect(inImage({ firewall: { enabled: false, openPorts } }, isEnabled, before)).toBe("disabled\n");
  });
});
