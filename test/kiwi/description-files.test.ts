import { describe, expect, it } from "vitest";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { keytables } from "#lib/kiwi/keytables";
import { prefixLength } from "#lib/kiwi/network";
import { shellQuote } from "#lib/contract/shell-quote";
import { shellCommand, withInterpreter } from "#lib/kiwi/shell";
import { plain } from "./support/facts.ts";

const filesOf = (change: Partial<ImageFacts> = {}) => descriptionFiles({ ...plain, ...change });
/** The commands of config.sh, without its functions. */
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
  ])("quotes %j as one word", (text, quoted) => {
    expect(shellQuote(text)).toBe(quoted);
  });

  it("keeps the words of a command separate", () => {
    expect(shellCommand("place", "a b", "c")).toBe("'place' 'a b' 'c'");
  });
});

describe("withInterpreter", () => {
  it.each([
    ["ls", "#!/bin/bash\nls\n"],
    ["ls\n", "#!/bin/bash\nls\n"],
    ["\nls", "#!/bin/bash\n\nls\n"],
    ["#!/bin/sh\nls", "#!/bin/sh\nls\n"],
  ])("makes a program of %j", (script, program) => {
    expect(withInterpreter(script)).toBe(program);
  });
});

describe("config.sh", () => {
  it("runs in bash, stops at the first failure, removes its own files", () => {
    const text = filesOf()["config.sh"];
    expect(text).toMatch(/^#!\/bin\/bash\n/);
    expect(text).toContain("\nset -e\n");
    expect(text).toMatch(/\nrm -rf \/image\/kiln\n$/);
  });

  it("places overlay files after generated ones, then runs the build script", () => {
    const owned = { owner: "nobody", group: "users", size: 1, sha256: "0".repeat(64) };
    const file = { ...owned, path: "/etc/it's $(x)", mode: 0o640, blobId: "11111111-2222-4333-8444-555555555555" };
    const scripts = { ...plain.scripts, build: { enabled: true, script: "echo hello" } };

    const commands = commandsOf({ overlay: [file], scripts });

    const [place = "", run, , forget] = commands.split("\n").slice(-9);
    expect(place).toBe(
      String.raw`'place' '/image/kiln/contents/${file.blobId}' '/etc/it'\''s $(x)' '0640' 'nobody' 'users'`,
    );
    expect([run, forget]).toEqual(["run_build_script", "'forget_machine'"]);
    expect(filesOf({ scripts })["root/image/kiln/build-script"]).toBe("#!/bin/bash\necho hello\n");
  });

  it("refuses files that KIWI would overwrite, in the images in which it does", () => {
    const owned = { owner: "root", group: "root", size: 1, sha256: "0".repeat(64), mode: 0o644, blobId: "b" };
    const refused = (path: string, imageType: ImageFacts["imageType"]) =>
      commandsOf({ overlay: [{ ...owned, path }], imageType }).match(/'(fail|note)' .*/g) ?? [];

    expect(refused("/etc/fstab", "oem")).toEqual([expect.stringMatching(/'fail' .*\/etc\/fstab\.append/)]);
    expect(refused("/etc/fstab", "iso")).toEqual([]);
    expect(refused("/etc/machine-id", "iso")).toEqual([expect.stringContaining("'note' 'the machine-id")]);
    expect(refused("/etc/machine-id", "oci")).toEqual([]);
    expect(refused("/etc/motd", "oem")).toEqual([]);
  });

  it("has no build script if it is disabled or empty", () => {
    for (const build of [
      { enabled: false, script: "echo" },
      { enabled: true, script: " \n" },
    ]) {
      expect(commandsOf({ scripts: { ...plain.scripts, build } })).not.toContain("run_build_script");
    }
  });
});

describe("a Debian system", () => {
  const key = { name: "ours", fingerprint: "ab".repeat(20), armour: "-----BEGIN" };
  const sources = [
    {
      url: "http://deb.example.org/debian",
      suite: "bookworm",
      components: ["main", "contrib"],
      isSigned: true,
      keys: [],
      isExpired: false,
      isSecurity: false,
    },
    {
      url: "http://own.example.org",
      suite: "stable",
      components: ["main"],
      isSigned: false,
      keys: [],
      isExpired: true,
      isSecurity: false,
    },
  ];
  const debian = { release: "bookworm", sources, keys: [key] };

  it("has the appliance's repositories and keys, not the build's", () => {
    const files = filesOf({ debian });

    expect(files["root/etc/apt/sources.list"]).toBe(
      "deb http://deb.example.org/debian bookworm main contrib\ndeb [trusted=yes check-valid-until=no] http://own.example.org stable main\n",
    );
    expect(files[`root/etc/apt/trusted.gpg.d/kiln-${key.fingerprint}.asc`]).toBe(key.armour);
  });

  it("trusts the keys of a repository only for that repository", () => {
    const other = { ...key, fingerprint: "B".repeat(40) };
    const signed = sources.slice(1).map((one) => ({ ...one, isSigned: true, keys: [key, other], isExpired: false }));
    const files = filesOf({ debian: { ...debian, sources: signed, keys: [] } });

    const [first, second] = [key, other].map(({ fingerprint }) => `/etc/apt/keyrings/kiln-${fingerprint}.asc`);
    expect(files["root/etc/apt/sources.list"]).toBe(
      `deb [signed-by=${first},${second}] http://own.example.org stable main\n`,
    );
    expect(files[`root${first}`]).toBe(key.armour);
    expect(Object.keys(files).filter((name) => name.includes("trusted.gpg.d"))).toEqual([]);
  });

  it("has a writable /usr in the initial archive of an installer, and of nothing else", () => {
    const own = "/etc/systemd/system.conf.d/20-kiln-installer.conf";
    const files = filesOf({ debian, imageType: "oemiso" });
    expect(files[`root${own}`]).toBe("[Manager]\nProtectSystem=no\n");
    expect(files["root/etc/dracut.conf.d/20-kiln-installer.conf"]).toBe(`install_items+=" ${own} "\n`);
    expect(Object.keys({ ...filesOf({ debian }), ...filesOf({ imageType: "oemiso" }) }).join()).not.toContain(
      "installer",
    );
  });

  it("has XKB's name of the keyboard layout", () => {
    const layouts = Object.keys(keytables).map((keyboardLayout) => {
      const text = filesOf({ debian, locale: { ...plain.locale, keyboardLayout } })["root/etc/default/keyboard"] ?? "";
      return [keyboardLayout, /XKBLAYOUT="(\w*)"\nXKBVARIANT="(\w*)"/.exec(text)?.slice(1).join(" ")];
    });
    expect(Object.fromEntries(layouts)).toMatchObject({
      "english-uk": "gb ",
      german: "de nodeadkeys",
      dvorak: "us dvorak",
    });
    const isUs = layouts.filter(([, xkb]) => xkb === "us ").map(([name]) => name);
    expect(isUs, "every layout of the API is known").toEqual(["english-us"]);
  });

  it("is configured first, and forgets its build last", () => {
    const scripts = { ...plain.scripts, build: { enabled: true, script: "echo hello" } };

    const commands = commandsOf({ debian, scripts }).trim().split("\n");

    expect(commands.indexOf("take_back_debian")).toBeLessThan(commands.indexOf("run_build_script"));
    expect(commands.indexOf("run_build_script")).toBeLessThan(commands.indexOf("forget_debian_build"));
    expect(commands.slice(-3)).toEqual(["forget_debian_build", "", "rm -rf /image/kiln"]);
    expect(commandsOf({ scripts })).not.toContain("debian");
  });
});

describe("the network configuration", () => {
  it.each([
    ["255.255.255.0", 24],
    ["255.255.254.0", 23],
    ["/16", 16],
    ["64", 64],
    ["255.255.255.255", 32],
  ])("has the prefix length of %s", (netmask, length) => {
    expect(prefixLength(netmask)).toBe(length);
  });

  it("contains the hostname and addresses if it is manual", () => {
    const commands = commandsOf({ network: { ...manual, nameservers: [...manual.nameservers] } });
    expect(commands).toContain("'set_hostname' 'box.example.org' '192.0.2.10'");
    expect(commands).toContain("'/image/kiln/network' 'manual' '192.0.2.10/23' '192.0.2.1' '192.0.2.2' '2001:db8::2'");
  });

  it.each(["dhcp", "ask_on_first_boot", "network_manager", "none"] as const)(
    "contains the hostname without an address with %s",
    (type) => {
      const commands = commandsOf({ network: { ...manual, nameservers: [], type } });
      expect(commands).toContain("'set_hostname' 'box.example.org'");
    },
  );

  it("omits stored manual details if it is not manual", () => {
    const files = filesOf({ network: { ...manual, nameservers: [], type: "dhcp" } });
    expect(files["config.sh"]).toContain("/image/kiln/network dhcp");
    expect(Object.values(files).join("")).not.toContain("192.0.2");
  });

  it("can ask at first boot, use NetworkManager, or change nothing", () => {
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
  it("opens ports by number and by name, for both protocols", () => {
    const commands = commandsOf({ firewall: { enabled: true, openPorts: ["ssh", "8080", "53/udp", "odd-service"] } });
    expect(commands).toContain(
      ["'ssh' 'tcp' '22'", "'8080' 'tcp' '8080'", "'53' 'udp' '53'", "'odd-service' 'tcp' ''"]
        .map((words) => `'open_port' ${words}\n`)
        .join(""),
    );
    expect(commands).toContain("switch_firewall_on");
  });

  it("is disabled if the configuration disables it, whatever ports are stored", () => {
    const commands = commandsOf({ firewall: { enabled: false, openPorts: ["ssh"] } });
    expect(commands).toContain("switch_firewall_off");
    expect(commands).not.toContain("open_port");
  });
});

describe("other settings", () => {
  it("write the release file, with any characters quoted", () => {
    const release = filesOf({ title: "Bob's", description: "two\nlines", website: "http://x/" })[
      "root/etc/kiln-release"
    ];
    expect(release).toBe(`NAME='Bob'\\''s'\nVERSION='0.0.3'\nDESCRIPTION='two\nlines'\nWEBSITE='http://x/'\n`);
  });

  it.each([
    [1, "rescue.target"],
    [3, "multi-user.target"],
    [5, "graphical.target"],
  ])("set runlevel %i", (runlevel, target) => {
    expect(commandsOf({ settings: { ...plain.settings, runlevel } })).toContain(
      `'set_runlevel' '${runlevel}' '${target}'`,
    );
  });

  it("configure the automatic login", () => {
    const change = { settings: { ...plain.settings, automaticLogin: "clerk" } };
    expect(commandsOf(change)).toContain("'set_automatic_login' 'clerk'");
    expect(filesOf(change)["root/image/kiln/autologin.conf"]).toContain("--autologin clerk ");
  });

  it("note in the log what KIWI descriptions cannot express", () => {
    const wishes = { paeEnabled: true, xenHostModeEnabled: true, liveInstallerEnabled: true, webyastEnabled: true };
    const settings = { ...plain.settings, ...wishes };
    expect(commandsOf({ settings }).match(/^'note' '[^']+'$/gm)).toHaveLength(3);
    const [hello] = plain.packages;
    const packages = hello ? [{ ...hello, arch: "i586" }] : [];
    expect(commandsOf({ settings, packages })).toContain("kernel-pae");
    expect(commandsOf()).not.toContain("'note'");
  });

  it("write the AutoYaST profile to the installer's path", () => {
    const scripts = { ...plain.scripts, autoyast: { enabled: true, script: "<profile/>" } };
    expect(filesOf({ scripts })["root/autoinst.xml"]).toBe("<profile/>");
  });
});
