import { describe, expect, it } from "vitest";
import { descriptionFiles } from "#kiwi/description-files";
import type { ImageFacts } from "#kiwi/facts";
import { prefixLength } from "#kiwi/network";
import { shellCommand, shellQuote } from "#kiwi/shell-quote";
import { plain } from "./support/facts.ts";

const filesOf = (change: Partial<ImageFacts> = {}) => descriptionFiles({ ...plain, ...change });
/** What config.sh does, without its functions. */
const commandsOf = (change: Partial<ImageFacts> = {}) =>
  (filesOf(change)["config.sh"] ?? "").split("\ntake_back_hosts\n")[1] ?? "";
const manual = {
  type: "manual",
  hostname: "box.example.org",
  ip: "192.0.2.10",
  netmask: "255.255.254.0",
  route: "192.0.2.1",
  nameservers: ["192.0.2.2", "2001:db8::2"],
} as const;

describe("shellQuote", () => {
  it.each([
    ["plain", "'plain'"],
    ["", "''"],
    ["it's", String.raw`'it'\''s'`],
    ['$(reboot) `x` \\ " *', "'$(reboot) `x` \\ \" *'"],
    ["two\nlines", "'two\nlines'"],
    ["-rf", "'-rf'"],
  ])("makes one word of %j", (text, quoted) => {
    expect(shellQuote(text)).toBe(quoted);
  });

  it("keeps the words of a command apart", () => {
    expect(shellCommand("place", "a b", "c")).toBe("'place' 'a b' 'c'");
  });
});

describe("config.sh", () => {
  it("is run by bash, stops at the first failure and leaves nothing of its own", () => {
    const text = filesOf()["config.sh"];
    expect(text).toMatch(/^#!\/bin\/bash\n/);
    expect(text).toContain("\nset -e\n");
    expect(text).toMatch(/\nrm -rf \/image\/kiln\n$/);
  });

  it("puts the appliance's own files in place after what is written for it, and runs the build script last", () => {
    const owned = { owner: "nobody", group: "users", size: 1, sha256: "0".repeat(64) };
    const file = { ...owned, path: "/etc/it's $(x)", mode: 0o640, blobId: "11111111-2222-4333-8444-555555555555" };
    const scripts = { ...plain.scripts, build: { enabled: true, script: "echo hello" } };

    const commands = commandsOf({ overlay: [file], scripts });

    const [place = "", run] = commands.split("\n").slice(-5);
    expect(place).toBe(
      String.raw`'place' '/image/kiln/contents/${file.blobId}' '/etc/it'\''s $(x)' '0640' 'nobody' 'users'`,
    );
    expect(run).toBe("run_build_script");
    expect(filesOf({ scripts })["root/image/kiln/build-script"]).toBe("#!/bin/bash\necho hello\n");
  });

  it("has no build script where it is switched off or empty", () => {
    for (const build of [
      { enabled: false, script: "echo" },
      { enabled: true, script: " \n" },
    ]) {
      expect(commandsOf({ scripts: { ...plain.scripts, build } })).not.toContain("run_build_script");
    }
  });
});

describe("the network", () => {
  it.each([
    ["255.255.255.0", 24],
    ["255.255.254.0", 23],
    ["/16", 16],
    ["64", 64],
    ["255.255.255.255", 32],
  ])("knows the prefix of %s", (netmask, length) => {
    expect(prefixLength(netmask)).toBe(length);
  });

  it("is written with its name and addresses when it is manual", () => {
    const commands = commandsOf({ network: { ...manual, nameservers: [...manual.nameservers] } });
    expect(commands).toContain("'set_hostname' 'box.example.org' '192.0.2.10'");
    expect(commands).toContain("'/image/kiln/network' 'manual' '192.0.2.10/23' '192.0.2.1' '192.0.2.2' '2001:db8::2'");
  });

  it("keeps nothing of old details when it is not", () => {
    const files = filesOf({ network: { ...manual, nameservers: [], type: "dhcp" } });
    expect(files["config.sh"]).toContain("/image/kiln/network dhcp");
    expect(Object.values(files).join("")).not.toContain("192.0.2");
  });

  it("is asked for, left to NetworkManager, or left alone", () => {
    expect(Object.keys(filesOf({ network: { ...plain.network, type: "ask_on_first_boot" } }))).toEqual(
      expect.arrayContaining([
        "root/usr/lib/kiln/ask-network",
        "root/usr/lib/kiln/network",
        "root/usr/lib/kiln/consoles",
      ]),
    );
    const commands = commandsOf({ network: { ...plain.network, type: "network_manager" } });
    expect(commands).toContain("leave_network_to_network_manager");
    expect(commandsOf()).not.toContain("network");
  });
});

describe("the firewall", () => {
  it("opens ports by number and name, of both protocols", () => {
    const commands = commandsOf({ firewall: { enabled: true, openPorts: ["ssh", "8080", "53/udp", "odd-service"] } });
    expect(commands).toContain(
      ["'ssh' 'tcp' '22'", "'8080' 'tcp' '8080'", "'53' 'udp' '53'", "'odd-service' 'tcp' ''"]
        .map((words) => `'open_port' ${words}\n`)
        .join(""),
    );
    expect(commands).toContain("switch_firewall_on");
  });

  it("is off when it is off, whatever ports are remembered", () => {
    const commands = commandsOf({ firewall: { enabled: false, openPorts: ["ssh"] } });
    expect(commands).toContain("switch_firewall_off");
    expect(commands).not.toContain("open_port");
  });
});

const steps = (change: Partial<ImageFacts>) =>
  Object.keys(filesOf(change)).filter((path) => path.startsWith("root/usr/lib/kiln/"));

describe("what happens at a boot", () => {
  it("is a small program alone where nothing is to happen", () => {
    expect(steps({})).toEqual(["root/usr/lib/kiln/boot"]);
  });

  it("shows licences in their order", () => {
    const files = filesOf({ eulas: ["First", "Second\n"] });
    expect(files["root/usr/share/kiln/eulas/01.txt"]).toBe("First\n");
    expect(files["root/usr/share/kiln/eulas/02.txt"]).toBe("Second\n");
    expect(files["root/usr/lib/kiln/accept-eulas"]).toMatch(/^#!/);
  });

  it("makes swap on disks, and none where the root lies in memory, which the program finds out when it boots", () => {
    const settings = { ...plain.settings, swapSizeMb: 128 };
    expect(filesOf({ settings })["root/usr/lib/kiln/swap"]).toContain("\nsize_mb=128\n");
    expect(filesOf({ settings, imageType: "iso" })["root/usr/lib/kiln/swap"]).toBe(
      filesOf({ settings })["root/usr/lib/kiln/swap"],
    );
    expect(filesOf({ settings })["root/usr/lib/kiln/swap"]).toContain(
      "overlay | tmpfs | ramfs | rootfs | squashfs) exit 0",
    );
    expect(steps({ settings: { ...settings, swapSizeMb: 0 } })).not.toContain("root/usr/lib/kiln/swap");
  });

  it("starts what is enabled, each as its user", () => {
    const one = { command: '/usr/bin/a "b" 100%', description: "50% off\\", enabled: true, user: "clerk" };
    const files = filesOf({ autostarts: [{ ...one, enabled: false }, one] });
    expect(files["root/usr/lib/kiln/autostarts/1"]).toBe(`#!/bin/sh\n${one.command}\n`);
    expect(files["root/usr/lib/kiln/autostarts/1.user"]).toBe("clerk\n");
    const unit = files["root/image/kiln/units/kiln-autostart-1.service"];
    expect(unit).toContain("\nDescription=50%% off/\n");
    expect(unit).toContain("\nUser=clerk\n");
    expect(files["root/usr/lib/kiln/autostarts/2"]).toBeUndefined();
  });

  it("runs the boot script when it is switched on", () => {
    const boot = { enabled: true, script: "#!/bin/sh\necho up" };
    expect(filesOf({ scripts: { ...plain.scripts, boot } })["root/usr/lib/kiln/boot-script"]).toBe(
      "#!/bin/sh\necho up\n",
    );
  });
});

describe("databases", () => {
  const users = [
    { username: "a", verifier: "V1", databases: ["shop", "my_db"] },
    { username: "b", verifier: "V2", databases: ["shop"] },
  ];

  it("are made with their people by PostgreSQL", () => {
    const sql = filesOf({ databases: [{ type: "pgsql", users }] })["root/usr/lib/kiln/databases/pgsql.sql"];
    expect(sql).toContain(`ALTER ROLE "a" LOGIN PASSWORD 'V1';`);
    expect(sql).toContain(`CREATE DATABASE "shop" OWNER "a"`);
    expect(sql).toContain('GRANT ALL ON DATABASE "shop" TO "a", "b";');
  });

  it("are made with their people by MySQL, whose names have wildcards", () => {
    const sql = filesOf({ databases: [{ type: "mysql", users }] })["root/usr/lib/kiln/databases/mysql.sql"];
    expect(sql).toContain("CREATE USER IF NOT EXISTS 'b'@'localhost' IDENTIFIED WITH mysql_native_password AS 'V2';");
    expect(sql).toContain("GRANT ALL ON `my\\_db`.* TO 'a'@'localhost';");
  });

  it("are nobody's business where there are no people", () => {
    expect(Object.keys(filesOf({ databases: [{ type: "mysql", users: [] }] })).join()).not.toContain("databases");
  });
});

describe("the rest", () => {
  it("says what the image is, whatever signs people use", () => {
    const release = filesOf({ title: "Bob's", description: "two\nlines", website: "http://x/" })[
      "root/etc/kiln-release"
    ];
    expect(release).toBe(`NAME='Bob'\\''s'\nVERSION='0.0.3'\nDESCRIPTION='two\nlines'\nWEBSITE='http://x/'\n`);
  });

  it.each([
    [1, "rescue.target"],
    [3, "multi-user.target"],
    [5, "graphical.target"],
  ])("starts into runlevel %i", (runlevel, target) => {
    expect(commandsOf({ settings: { ...plain.settings, runlevel } })).toContain(
      `'set_runlevel' '${runlevel}' '${target}'`,
    );
  });

  it("logs in whom the screen shall log in", () => {
    const change = { settings: { ...plain.settings, automaticLogin: "clerk" } };
    expect(commandsOf(change)).toContain("'set_automatic_login' 'clerk'");
    expect(filesOf(change)["root/image/kiln/autologin.conf"]).toContain("--autologin clerk ");
  });

  it("says in the log what is left to do for what no description can give", () => {
    const wishes = { paeEnabled: true, xenHostModeEnabled: true, liveInstallerEnabled: true, webyastEnabled: true };
    const settings = { ...plain.settings, ...wishes };
    expect(commandsOf({ settings }).match(/^'note' '[^']+'$/gm)).toHaveLength(3);
    const [hello] = plain.packages;
    const packages = hello ? [{ ...hello, arch: "i586" }] : [];
    expect(commandsOf({ settings, packages })).toContain("kernel-pae");
    expect(commandsOf()).not.toContain("'note'");
  });

  it("keeps the profile of an installation where it is looked for", () => {
    const scripts = { ...plain.scripts, autoyast: { enabled: true, script: "<profile/>" } };
    expect(filesOf({ scripts })["root/autoinst.xml"]).toBe("<profile/>");
  });
});
