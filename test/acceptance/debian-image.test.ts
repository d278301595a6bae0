import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { differenceOf } from "../../builder-agent/src/build/difference.ts";
import type { FrozenInput, InstalledPackage } from "../../builder-agent/src/contract.ts";
import type { ImageFacts } from "#kiwi/facts";
import { debianInput } from "./support/debian-input.ts";
import { bootDisk } from "./support/guest.ts";
import { buildHere, serveFiles } from "./support/local-build.ts";

// The agent's own code builds Debian 12 with real KIWI, and a machine boots the disk. There is no Worker, only a server of the
// packages that apt of this machine has downloaded.

const password = "debian-secret";
let input: FrozenInput;
let installed: InstalledPackage[];
/** What the booted system has answered, by question. */
let answers: ReadonlyMap<string, string>;
let stateDir: string;

const passwordHash = execFileSync("openssl", ["passwd", "-6", "-salt", "kiln", password], { encoding: "utf8" }).trim();
const facts: Partial<ImageFacts> = {
  users: [
    { name: "root", passwordHash, homedir: "/root", shell: "/bin/bash", group: "root", uid: 0 },
    { name: "clerk", passwordHash, homedir: "/srv/clerk", shell: "/bin/sh", group: "tellers", uid: 1500 },
  ],
  network: { type: "dhcp", hostname: "", ip: "", netmask: "", route: "", nameservers: [] },
  firewall: { enabled: true, openPorts: ["22/tcp"] },
  scripts: {
    build: { enabled: true, script: "dpkg-query --show > /srv/seen-by-the-build-script" },
    boot: { enabled: true, script: "echo booted > /srv/boot-script" },
    autoyast: { enabled: false, script: "" },
  },
};

/** Asked in the booted system, each by its name. */
const questions = {
  packages: "dpkg-query --show --showformat '${Package} ${Version}\\n'",
  broken: "dpkg --audit",
  user: "id clerk; getent passwd clerk",
  // The card gets its address in the background.
  address:
    "for try in $(seq 60); do ip -4 -brief address | grep -q 10.0.2 && break; sleep 1; done; ip -4 -brief address",
  // When the boot is over.
  services:
    "systemctl is-system-running --wait; systemctl is-active ssh; systemctl is-enabled ssh kiln-host-keys; systemctl --failed --no-legend",
  firewall: "nft list ruleset",
  locale: "cat /etc/default/locale /etc/timezone; locale -a; grep XKBLAYOUT /etc/default/keyboard",
  identity: "ls /etc/ssh | grep -c 'host.*key$'; wc -c < /etc/machine-id; cat /etc/hostname",
  scripts: "wc -l < /srv/seen-by-the-build-script; until cat /srv/boot-script; do sleep 1; done",
  leftovers: "ls /usr/sbin/policy-rc.d /etc/dpkg/dpkg.cfg.d/kiln /image; ls /var/lib/apt/lists",
} as const;

/** Long enough for a machine whose processor is emulated on a busy host. */
const bootSeconds = 800;
/** Of everything before the first test; on an idle machine it is three minutes. */
const longestSeconds = 2000;

beforeAll(async () => {
  // Not below /dev: apt runs in the image's root, which has a /dev of its own.
  stateDir = mkdtempSync("/var/tmp/kiln-debian-");
  const debian = debianInput({ release: "bookworm", packages: ["console-setup"], facts });
  ({ input } = debian);
  using server = await serveFiles(debian.folder, "/repositories/debian/");
  const disk = join(stateDir, "disk.raw");
  installed = await buildHere(input, { stateDir, url: server.url }, (built) => {
    execFileSync("cp", ["--sparse=always", built.image, disk]);
    return built.installed;
  });
  answers = await answersOf(disk);
}, longestSeconds * 1000);
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

async function answersOf(disk: string): Promise<ReadonlyMap<string, string>> {
  await using guest = bootDisk(disk, "512M");
  await guest.says("login:", bootSeconds);
  await guest.type("root\n");
  await guest.says("Passwort:", 120);
  await guest.type(`${password}\n`);
  await guest.says("root@", 120);
  await guest.type("stty -echo; PS1=; bind 'set enable-bracketed-paste off'\n");
  for (const [name, command] of Object.entries(questions)) {
    await guest.type(`echo "<${name}"">"; { ${command}; } 2> /dev/null; echo "</${name}"">"\n`);
    await guest.says(`</${name}>`, 240);
  }
  const said = await guest.says("</leftovers>", 1);
  return new Map(Object.keys(questions).map((name) => [name, textBetween(said, `<${name}>\n`, `</${name}>`)]));
}

const textBetween = (text: string, begin: string, end: string): string =>
  text.slice(text.indexOf(begin) + begin.length, text.indexOf(end)).replaceAll(/^.*\u001B.*$/gm, "");

const linesOf = (name: keyof typeof questions): string[] =>
  (answers.get(name) ?? "").split("\n").filter((line) => line.trim() !== "");

describe("a disk of Debian 12", () => {
  it("has exactly the frozen packages, in their versions, all configured", () => {
    expect(installed.length).toBeGreaterThan(150);
    expect(differenceOf(input.packages, installed)).toBeUndefined();
    expect(linesOf("packages")).toHaveLength(installed.length);
    expect(linesOf("broken")).toEqual([]);
  });

  it("says by which licences most of them may be used", () => {
    const licences = new Map(installed.map(({ name, license }) => [name, license]));
    expect(licences.get("adduser")).toMatch(/^GPL-2/);
    expect([...licences.values()].filter((one) => one !== undefined).length).toBeGreaterThan(installed.length * 0.8);
  });

  it("has the users", () => {
    expect(linesOf("user").join("\n")).toMatch(/uid=1500\(clerk\) gid=\d+\(tellers\)[^]*:\/srv\/clerk:\/bin\/sh$/);
  });

  it("has an address from DHCP, on a card of whatever name", () => {
    expect(linesOf("address").join("\n")).toMatch(/^en\S+ +UP +10\.0\.2\.15\/24/m);
  });

  it("runs its services, and none has failed", () => {
    expect(linesOf("services")).toEqual(["running", "active", "enabled", "enabled"]);
  });

  it("lets only the open ports in", () => {
    expect(linesOf("firewall").join("\n")).toMatch(/policy drop;[^]*tcp dport 22 accept/);
  });

  it("speaks the language, and has the time zone and the keyboard", () => {
    const lines = linesOf("locale");
    expect(lines).toEqual(
      expect.arrayContaining(["LANG=de_DE.UTF-8", "Europe/Vienna", "de_DE.utf8", 'XKBLAYOUT="de"']),
    );
  });

  it("has made its SSH host keys and its machine id itself, and not the build host's name", () => {
    expect(linesOf("identity")).toEqual(["3", "33"]);
  });

  it("ran the scripts: that of the build with all packages, that of the boot at the end", () => {
    expect(linesOf("scripts")).toEqual([String(installed.length), "booted"]);
  });

  it("has nothing left of its build", () => {
    expect(linesOf("leftovers")).toEqual([]);
  });
});
