/** config.sh in an image with systemd: this host's systemctl and systemd-analyze read its output. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { plain } from "../kiwi/support/facts.ts";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-with-systemd-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const inImage = imagesIn(dir);

const isEnabled = (...names: string[]) =>
  names.map((name) => `echo "${name} $(systemctl --root=/ is-enabled ${name} 2> /dev/null || true)"`).join("\n");

/** A service of a package that this host does not have. */
const service = (name: string) =>
  String.raw`printf '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' > /usr/lib/systemd/system/${name}.service`;

/** A boot in which each step ends with that exit code. */
const boot = (code: number) => `echo ${code} > /run/code
  for step in before-login after-services failures; do /usr/lib/kiln/boot $step || echo "$step: $?"; done`;

describe("an image with systemd", () => {
  it.each([
    [1, "rescue.target"],
    [3, "multi-user.target"],
    [5, "graphical.target"],
  ])("starts into runlevel %i as %s", (runlevel, target) => {
    const settings = { ...plain.settings, runlevel };
    expect(inImage({ settings }, "systemctl --root=/ get-default")).toBe(`${target}\n`);
  });

  it("runs boot steps and autostarts in units that systemd accepts", () => {
    const autostarts = [
      { command: "echo $(id -un)", description: "100 % counter\\", enabled: true, user: "clerk" },
      { command: "/bin/false", description: "", enabled: false, user: "root" },
    ];
    const own = ["before-login", "after-services", "boot-steps", "autostart-1"];
    const units = own.map((name) => `kiln-${name}.service`);
    const paths = units.map((name) => `/etc/systemd/system/${name}`).join(" ");
    const output = inImage(
      { autostarts, scripts: { ...plain.scripts, boot: { enabled: true, script: "true" } } },
      `${isEnabled(...units, "kiln-autostart-2.service")}
       systemd-analyze verify --man=no ${paths} 2>&1 | grep -F kiln || true
       grep -E '^(Description|User|ExecStart)=' /etc/systemd/system/kiln-autostart-1.service
       cat /usr/lib/kiln/autostarts/1`,
    );
    expect(output.split("\n")).toEqual([
      ...units.map((name) => `${name} enabled`),
      "kiln-autostart-2.service ",
      "Description=100 %% counter/",
      "User=clerk",
      "ExecStart=/usr/lib/kiln/autostarts/1",
      "#!/bin/sh",
      "echo $(id -un)",
      "",
    ]);
  });

  it("says which boot steps have failed, after all of them have run", () => {
    // cloud-init grows the root.
    const before = `mkdir -p /run/systemd/system; install /dev/null /usr/bin/cloud-init
      mkdir -p /usr/lib/kiln; printf '#!/bin/sh\\nexit $(cat /run/code)\\n' | tee /usr/lib/kiln/firewall > /usr/lib/kiln/make-databases
      chmod 755 /usr/lib/kiln/*`;
    const script = { enabled: true, script: "echo script; exit $(cat /run/code)" };
    const output = inImage(
      { scripts: { ...plain.scripts, boot: script } },
      `{ ${boot(0)}; rm /var/lib/kiln/*.done; ${boot(3)}; } 2>&1`,
      before,
    );
    const failures = ["firewall", "make-databases", "boot-script"].map(
      (step) => `kiln: ${step} ended with exit code 3`,
    );
    expect(output.split("\n")).toEqual([
      "script",
      ...failures.slice(0, 2),
      "script",
      ...failures.slice(2),
      ...failures,
      "failures: 1",
      "",
    ]);
  });

  it("logs a user in automatically, with a valid change to getty", () => {
    const settings = { ...plain.settings, automaticLogin: "clerk" };
    const output = inImage(
      { settings },
      `systemd-analyze verify --man=no getty@tty1.service 2>&1 | grep -F kiln-autologin || true
       cat /etc/systemd/system/getty@tty1.service.d/*.conf`,
    );
    expect(output).toBe("[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin clerk --noclear %I $TERM\n");
  });

  it("leaves the network to NetworkManager", () => {
    const network = { ...plain.network, type: "network_manager" } as const;
    const services = ["wicked", "NetworkManager"].map(service).join("\n");
    const before = `${services}\nmkdir /etc/NetworkManager\nsystemctl enable wicked.service 2> /dev/null`;
    expect(inImage({ network }, isEnabled("wicked.service", "NetworkManager.service"), before)).toBe(
      "wicked.service disabled\nNetworkManager.service enabled\n",
    );
  });

  it("configures and enables systemd-networkd for a fixed address", () => {
    const network = { ...plain.network, type: "manual", ip: "192.0.2.7", netmask: "255.255.255.0" } as const;
    const ask = `${isEnabled("systemd-networkd.service")}\ngrep Address= /etc/systemd/network/20-kiln.network`;
    expect(inImage({ network }, ask)).toBe("systemd-networkd.service enabled\nAddress=192.0.2.7/24\n");
  });

  it("lets cloud-init use systemd-networkd if systemd-resolved is there, and ifupdown otherwise", () => {
    const settings = { ...plain.settings, firstBoot: "cloud-init" } as const;
    const network = { ...plain.network, type: "dhcp" } as const;
    const ask = `cat /etc/cloud/cloud.cfg.d/96-kiln-network.cfg 2> /dev/null || true
      ${isEnabled("systemd-networkd.service", "systemd-resolved.service")}
      head -1 /etc/network/interfaces`;
    const ifupdown =
      "mkdir -p /etc/default /etc/network; touch /etc/default/networking; rm -f /usr/lib/systemd/systemd-resolved";
    const resolved = `printf '#!/bin/sh\n' > /usr/lib/systemd/systemd-resolved; chmod 755 /usr/lib/systemd/systemd-resolved; ${service("systemd-resolved")}`;
    const facts = { imageType: "oem", settings, network } as const;
    expect(inImage(facts, ask, ifupdown)).toBe(
      "systemd-networkd.service disabled\nsystemd-resolved.service \nsource /etc/network/interfaces.d/*\n",
    );
    expect(inImage(facts, ask, `${ifupdown}; ${resolved}`)).toBe(
      "system_info: { network: { renderers: [networkd] } }\nsystemd-networkd.service enabled\nsystemd-resolved.service enabled\nsource /etc/network/interfaces.d/*\n",
    );
  });
});
