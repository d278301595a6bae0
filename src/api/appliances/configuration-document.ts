import { databaseTypes, networkTypes } from "#domain/configuration/configuration";
import type { ConfigurationChange } from "#domain/configuration/change";
import type { XmlNode } from "#xml/read";
import {
  complete,
  exactText,
  fields,
  flag,
  line,
  list,
  mapped,
  megabytes,
  oneOf,
  password,
  plainName,
  script,
  size,
  unknownElement,
  wholeNumber,
  type Reader,
} from "#api/appliances/configuration-elements";

/**
 * What a PUT of `configuration` wants changed: any portion of it, as the three known clients write it (wire.md §2.4).
 * Whether the values fit is the domain's business.
 */
export function configurationChangeOf(root: XmlNode): ConfigurationChange {
  if (plainName(root) !== "configuration") throw unknownElement(plainName(root));
  const { type: imageType, id: _id, ...change } = configuration(root, "");
  return { ...change, imageType };
}

const locale = mapped(
  fields({ keyboardLayout: line, language: line, timezone: fields({ location: line }) }),
  ({ timezone, ...rest }) => ({ ...rest, timezone: timezone?.location }),
);

const names = mapped(line, (text) => text.split(/[,\s]+/).filter((name) => name !== ""));

const network = fields({
  type: oneOf(networkTypes),
  hostname: line,
  ip: line,
  netmask: line,
  route: line,
  nameservers: names,
});

/** Ports stand beside `enabled` without a list around them; an empty one alone says that there are none. */
const firewall: Reader<{ enabled?: boolean; openPorts?: string[] }> = (node, path) => {
  const ports = node.children.filter((child) => plainName(child) === "open_port");
  const others = node.children.filter((child) => !ports.includes(child));
  const rest = fields({ enabled: flag })({ ...node, children: others }, path);
  if (ports.length === 0) return rest;
  const openPorts = ports.map((port) => line(port, `${path}/open_port`)).filter((port) => port !== "");
  return { ...rest, openPorts };
};

/** An element without text is one that is not there. */
const unlessEmpty =
  <T>(reader: Reader<T>): Reader<T | undefined> =>
  (node, path) =>
    node.text === "" && node.children.length === 0 ? undefined : reader(node, path);

const user = complete(
  { uid: unlessEmpty(wholeNumber), name: line, password, group: line, shell: line, homedir: line },
  "name",
);

const databaseUser = mapped(
  complete({ username: line, password, databaseList: names }, "username"),
  ({ databaseList, ...rest }) => ({ ...rest, databases: databaseList }),
);

const database = mapped(
  complete({ type: oneOf(databaseTypes), users: list("user", databaseUser) }, "type"),
  ({ type, users = [] }) => ({ type, users }),
);

/** One client writes `<user><user>clerk</user></user>`. */
const autostartUser: Reader<string | undefined> = (node, path) => {
  const [inner] = node.children;
  if (!inner || node.children.length > 1 || plainName(inner) !== "user") return unlessEmpty(line)(node, path);
  return unlessEmpty(line)(inner, `${path}/user`);
};

const autostart = complete({ command: line, description: line, enabled: flag, user: autostartUser }, "command");

/** Bare, it is gigabytes. In megabytes it is meant exactly. */
const diskSize = mapped(size, ({ amount, unit }) => (unit === "M" ? { diskSizeMb: amount } : { diskSizeGb: amount }));

const settings = mapped(
  fields({
    memorySize: megabytes,
    diskSize,
    swapSize: megabytes,
    paeEnabled: flag,
    xenHostModeEnabled: flag,
    cdromEnabled: flag,
    webyastEnabled: flag,
    liveInstallerEnabled: flag,
    publicClonable: flag,
    runlevel: wholeNumber,
    automaticLogin: line,
  }),
  ({ memorySize: memorySizeMb, swapSize: swapSizeMb, diskSize, ...rest }) => ({
    ...rest,
    ...diskSize,
    memorySizeMb,
    swapSizeMb,
  }),
);

const volume = mapped(complete({ size: megabytes, path: line }, "size", "path"), ({ size: sizeMb, path }) => ({
  sizeMb,
  path,
}));

const lvm = fields({ enabled: flag, volumeGroup: line, volumes: list("volume", volume) });

const oneScript = fields({ enabled: flag, script });

const configuration = fields({
  id: () => undefined,
  name: line,
  description: exactText,
  version: line,
  type: line,
  website: line,
  tags: list("tag", line),
  locale,
  network,
  firewall,
  users: list("user", user),
  eulas: list("eula", exactText),
  databases: list("database", database),
  autostarts: list("autostart", autostart),
  settings,
  lvm,
  scripts: fields({ build: oneScript, boot: oneScript, autoyast: oneScript }),
});
