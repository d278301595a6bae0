import { imageTypes } from "#contract/index";
import {
  anyPartOf,
  bool,
  countedOf,
  fields,
  group,
  id,
  inside,
  int,
  lines,
  megabytes,
  oneOf,
  password,
  repeated,
  script,
  text,
  through,
  url,
  version,
  words,
} from "#wire/field";
import * as leaves from "#wire/leaf";
import { line, plainName, readSize } from "#wire/leaf";
import type { XmlNode } from "#wire/read-xml";
import { document } from "#wire/shape";

/**
 * The element `configuration` (compatibility.md, "Configuration"). From this come the document and its reader, and what is stored
 * of it: what a template or an older row lacks has an initial value here.
 */

/** Where an image gets its address from; `none` leaves its network alone. */
export const networkTypes = ["dhcp", "manual", "ask_on_first_boot", "network_manager", "none"] as const;
export const databaseTypes = ["pgsql", "mysql"] as const;

export const locale = {
  keyboard_layout: text("keyboardLayout", "english-uk"),
  language: text("language", "en_GB.UTF-8"),
  timezone: group(fields({ location: text("timezone", "Europe/London") })),
};

/** Addresses are stored with every type, and used and shown with `manual` alone. The original API also shows the name only then. */
const isManual = ({ type }: { type: string }) => type === "manual";

export const network = fields({
  type: oneOf("type", networkTypes, "manual").initially("dhcp"),
  hostname: text("hostname", "desk1").unlessEmpty().inXmlWhen(isManual).initially(""),
  ip: text("ip", "192.0.2.20").unlessEmpty().when(isManual).initially(""),
  netmask: text("netmask", "255.255.255.0").unlessEmpty().when(isManual).initially(""),
  route: text("route", "192.0.2.1").unlessEmpty().when(isManual).initially(""),
  nameservers: words("nameservers", ["192.0.2.2", "192.0.2.3"], ", ").unlessEmpty().when(isManual).initially([]),
});

export const firewall = fields({
  enabled: bool("enabled", true),
  open_port: repeated("openPorts", leaves.text("ssh")),
});

const exampleKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJL5HrmwZPxa8T+qEC+VGXo4ac3Ht7ij3ecOoKAerKsD clerk@desk1";

/** XML clients of the original API refuse elements of a user that they do not know. They send users back without them, so they stay. */
const neverInXml = () => false;

/** Passwords are sealed in storage (domain/configuration/secrets), hashed in frozen inputs. */
const user = fields({
  uid: int("uid", 1000).readBy(unlessEmpty(leaves.int(0).read)),
  name: text("name", "clerk").required(),
  password: password("password", "quiet please"),
  group: text("group", "users"),
  shell: text("shell", "/bin/sh"),
  homedir: text("homedir", "/home/clerk"),
  ssh_keys: inside("sshKeys", countedOf("ssh_key", leaves.text(exampleKey)))
    .unlessEmpty()
    .inXmlWhen(neverInXml)
    .initially([]),
  /** May do everything with sudo. */
  administrator: bool("administrator", true).unlessEmpty().inXmlWhen(neverInXml).initially(false),
});

const databaseUser = fields({
  username: text("username", "loans").required(),
  password: password("password", "return it"),
  database_list: words("databases", ["loans"], ","),
});

const database = fields({
  type: oneOf("type", databaseTypes).required(),
  users: inside("users", countedOf("user", databaseUser)),
});

const autostart = fields({
  command: text("command", "/usr/bin/counterd").required(),
  description: text("description", "Counts visitors").unlessEmpty(),
  enabled: bool("enabled", true),
  user: text("user", "clerk").readBy(autostartUser),
});

/** Exactly these: clients reject any other. */
const settings = fields({
  memory_size: megabytes("memorySizeMb", 512).range(64, 65_536, "MB"),
  disk_size: int("diskSizeMb", 4).shownAs(gigabytes).readInto(diskSize),
  swap_size: megabytes("swapSizeMb", 0).range(0, 65_536, "MB").initially(512),
  pae_enabled: bool("paeEnabled", false).initially(false),
  xen_host_mode_enabled: bool("xenHostModeEnabled", false).initially(false),
  cdrom_enabled: bool("cdromEnabled", true).initially(true),
  webyast_enabled: bool("webyastEnabled", false).initially(false),
  live_installer_enabled: bool("liveInstallerEnabled", false).initially(false),
  /** Whether others may clone it once it is published. */
  public_clonable: bool("publicClonable", true).initially(true),
  runlevel: int("runlevel", 3).range(1, 5).initially(3),
  /** The user whom the console logs in without a password. */
  automatic_login: text("automaticLogin", "clerk").unlessEmpty().initially(""),
});

const volume = fields({
  size: megabytes("sizeMb", 2000).required(),
  path: text("path", "/srv").required(),
});

/** Volumes are stored when LVM is off, and not shown. */
const isEnabled = ({ enabled }: { enabled: boolean }) => enabled;

const lvm = fields({
  enabled: bool("enabled", true),
  volume_group: text("volumeGroup", "roomVG").when(isEnabled),
  volumes: inside("volumes", countedOf("volume", volume)).unlessEmpty().when(isEnabled),
});

const scriptOf = (example: string) =>
  fields({
    enabled: bool("enabled", example !== "").initially(false),
    script: script("script", example).unlessEmpty().initially(""),
  });
const nothing = { enabled: false, script: "" };

const scripts = fields({
  build: inside("build", scriptOf("#!/bin/sh\nrm -rf /usr/share/man")).initially(nothing),
  boot: inside("boot", scriptOf("#!/bin/sh\necho open > /etc/motd")).initially(nothing),
  autoyast: inside("autoyast", scriptOf("")).initially(nothing),
});

const sections = {
  locale: inside("locale", fields(locale)),
  network: inside("network", network).initially({
    type: "dhcp",
    hostname: "",
    ip: "",
    netmask: "",
    route: "",
    nameservers: [],
  }),
  firewall: inside("firewall", firewall).initially({ enabled: true, openPorts: ["ssh"] }),
  users: inside("users", countedOf("user", user)),
  eulas: inside("eulas", countedOf("eula", leaves.lines("Books stay here."))).initially([]),
  databases: inside("databases", countedOf("database", database)).unlessEmpty().initially([]),
  autostarts: inside("autostarts", countedOf("autostart", autostart)).unlessEmpty().initially([]),
  settings: inside("settings", settings),
  lvm: inside("lvm", lvm).initially({ enabled: false, volumeGroup: "", volumes: [] }),
  scripts: inside("scripts", scripts).initially({ build: nothing, boot: nothing, autoyast: nothing }),
};

const description = { description: lines("description", "One screen, no login.").unlessEmpty().initially("") };
const links = {
  website: url("website", "https://reading.example.org").unlessEmpty().initially(""),
  tags: inside("tags", countedOf("tag", leaves.text("library")))
    .unlessEmpty()
    .initially([]),
};

/** What a row stores as JSON; name, version and image type are columns of it. */
export const storedConfiguration = fields({ ...description, ...links, ...sections });

export const configuration = document(
  "Configuration",
  "configuration",
  fields({
    id: id("id", 1004).ignored(),
    name: text("name", "Reading room"),
    ...through("configuration", description),
    version: version("version", "0.0.3"),
    type: oneOf("imageType", imageTypes),
    ...through("configuration", links),
    ...through("configuration", sections),
  }),
);

/** Any part of it: what is omitted stays, and a list that is sent replaces the list. */
export const configurationChange = anyPartOf("WantedConfiguration", configuration);

/** Gigabytes, as the API shows the size of a disk: a rest counts as a whole one. */
export function gigabytes(megabytes: number): number {
  return Math.ceil(megabytes / 1024);
}

/** A bare number is gigabytes, as shown; with M, megabytes exactly. */
function diskSize(node: XmlNode, path: string): { diskSizeMb?: number; diskSizeGb?: number } {
  const { amount, unit } = readSize(node, path);
  return unit === "M" ? { diskSizeMb: amount } : { diskSizeGb: amount };
}

/** One client writes `<user><user>clerk</user></user>`. */
function autostartUser(node: XmlNode, path: string): string | undefined {
  const [inner] = node.children;
  if (!inner || node.children.length > 1 || plainName(inner) !== "user") return unlessEmpty(line)(node, path);
  return unlessEmpty(line)(inner, `${path}/user`);
}

/** An element without text counts as absent. */
function unlessEmpty<T>(read: (node: XmlNode, path: string) => T) {
  return (node: XmlNode, path: string): T | undefined =>
    node.text === "" && node.children.length === 0 ? undefined : read(node, path);
}
