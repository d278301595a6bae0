/** config.sh as an image runs it that has systemd: this host's own systemctl and systemd-analyze read what it writes. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { descriptionFiles } from "#kiwi/description-files";
import type { ImageFacts } from "#kiwi/facts";
import { plain } from "../kiwi/support/facts.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-with-systemd-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** An image's root with this host's programs: /etc is its own, what is written below /usr/lib is forgotten, and nothing else can be written. */
const imageRoot = String.raw`
  mount -t tmpfs none /mnt
  mkdir /mnt/changes /mnt/work
  mount -t overlay none -o lowerdir=/usr/lib,upperdir=/mnt/changes,workdir=/mnt/work /usr/lib
  mount -t tmpfs none /etc
  mount --bind ${dir} ${dir}
  mount -o remount,bind,ro /
  printf 'root:x:0:0::/root:/bin/sh\nclerk:x:1234:100::/srv/clerk:/bin/sh\n' > /etc/passwd
  printf 'root:x:0:\nusers:x:100:\n' > /etc/group
  export SYSTEMD_OFFLINE=1
`;

let images = 0;

/** Configures an image, then asks; answers what is said. */
function inImage(change: Partial<ImageFacts>, ask: string, before = ""): string {
  const image = join(dir, `image-${++images}`);
  const staged = join(image, "root/image/kiln");
  for (const [path, text] of Object.entries(descriptionFiles({ ...plain, ...change }))) {
    mkdirSync(dirname(join(image, path)), { recursive: true });
    writeFileSync(join(image, path), text.replaceAll("/image/kiln", staged), { mode: 0o755 });
  }
  const programs = `[ ! -d ${image}/root/usr/lib/kiln ] || cp -r ${image}/root/usr/lib/kiln /usr/lib/`;
  const configure = `bash ${image}/config.sh > ${image}/said 2>&1 || cat ${image}/said`;
  const script = ["set -e", imageRoot, before, programs, configure, ask].join("\n");
  return execFileSync("unshare", ["--mount", "--", "bash", "-c", script], { encoding: "utf8" });
}

const isEnabled = (...names: string[]) =>
  names.map((name) => `echo "${name} $(systemctl --root=/ is-enabled ${name} 2> /dev/null || true)"`).join("\n");

/** A service of a package that this host does not have. */
const service = (name: string) =>
  String.raw`printf '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' > /usr/lib/systemd/system/${name}.service`;

describe("an image with systemd", () => {
  it.each([
    [1, "rescue.target"],
    [3, "multi-user.target"],
    [5, "graphical.target"],
  ])("starts into runlevel %i as %s", (runlevel, target) => {
    const settings = { ...plain.settings, runlevel };
    expect(inImage({ settings }, "systemctl --root=/ get-default")).toBe(`${target}\n`);
  });

  it("runs what the appliance does at boots, and its autostarts, by units that systemd accepts", () => {
    const autostarts = [
      { command: "echo $(id -un)", description: "100 % counter\\", enabled: true, user: "clerk" },
      { command: "/bin/false", description: "", enabled: false, user: "root" },
    ];
    const units = ["kiln-before-login.service", "kiln-after-services.service", "kiln-autostart-1.service"];
    const paths = units.map((name) => `/etc/systemd/system/${name}`).join(" ");
    const said = inImage(
      { autostarts, scripts: { ...plain.scripts, boot: { enabled: true, script: "true" } } },
      `${isEnabled(...units, "kiln-autostart-2.service")}
       systemd-analyze verify --man=no ${paths} 2>&1 | grep -F kiln || true
       grep -E '^(Description|User|ExecStart)=' /etc/systemd/system/kiln-autostart-1.service
       cat /usr/lib/kiln/autostarts/1`,
    );
    expect(said.split("\n")).toEqual([
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

  it("logs a user in on its first screen, by a change to getty that systemd accepts", () => {
    const settings = { ...plain.settings, automaticLogin: "clerk" };
    const said = inImage(
      { settings },
      `systemd-analyze verify --man=no getty@tty1.service 2>&1 | grep -F kiln-autologin || true
       cat /etc/systemd/system/getty@tty1.service.d/*.conf`,
    );
    expect(said).toBe("[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin clerk --noclear %I $TERM\n");
  });

  it("leaves the network to NetworkManager alone", () => {
    const network = { ...plain.network, type: "network_manager" } as const;
    const services = ["wicked", "NetworkManager"].map(service).join("\n");
    const before = `${services}\nmkdir /etc/NetworkManager\nsystemctl enable wicked.service 2> /dev/null`;
    expect(inImage({ network }, isEnabled("wicked.service", "NetworkManager.service"), before)).toBe(
      "wicked.service disabled\nNetworkManager.service enabled\n",
    );
  });

  it("has a fixed address by systemd-networkd, which it switches on", () => {
    const network = { ...plain.network, type: "manual", ip: "192.0.2.7", netmask: "255.255.255.0" } as const;
    const ask = `${isEnabled("systemd-networkd.service")}\ngrep Address= /etc/systemd/network/20-kiln.network`;
    expect(inImage({ network }, ask)).toBe("systemd-networkd.service enabled\nAddress=192.0.2.7/24\n");
  });
});
