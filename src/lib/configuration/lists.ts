import { checkKinds, isUsedBy, kindsOfChecks, type CheckKind } from "#lib/contract/index";
import { bool, countedOf, fields, inside, int, megabytes, oneOf, password, text, words } from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";
import { line, plainName } from "#lib/wire/leaf";
import type { XmlNode } from "#lib/wire/read-xml";

/* The entries of lists of a configuration. */

export const databaseTypes = ["pgsql", "mysql"] as const;

const exampleKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJL5HrmwZPxa8T+qEC+VGXo4ac3Ht7ij3ecOoKAerKsD clerk@desk1";

/**
 * XML clients of the original API refuse unknown elements of a user. They send users back without these elements, which
 * therefore stay unchanged.
 */
const neverInXml = () => false;

const onlyHashes = "A description has only hashes.";

/** Passwords are encrypted in storage (domain/configuration/secrets), and hashed in frozen inputs. */
export const user = fields({
  uid: int("uid", 1000)
    .readBy(unlessEmpty(leaves.int(0).read))
    .asked("Number (uid)", { hint: "Default: the next free one." }),
  name: text("name", "clerk").required().asked("Name"),
  password: password("password", "quiet please")
    .asked("Password", { hint: "Not needed with an SSH key.", usedWith: "password" })
    .notImported(onlyHashes),
  group: text("group", "users").asked("Group"),
  shell: text("shell", "/bin/sh").asked("Shell"),
  homedir: text("homedir", "/home/clerk").asked("Home directory", { hint: "Default: below /home." }),
  ssh_keys: inside("sshKeys", countedOf("ssh_key", leaves.text(exampleKey)))
    .unlessEmpty()
    .inXmlWhen(neverInXml)
    .initially([])
    .asked("SSH keys", {
      entered: "lines",
      hint: "Public keys, one per line: the .pub file of each person who logs in.",
    }),
  administrator: bool("administrator", true)
    .unlessEmpty()
    .inXmlWhen(neverInXml)
    .initially(false)
    .asked("Administrator", { hint: "May do everything with sudo." }),
});

export const databaseUser = fields({
  username: text("username", "loans").required().asked("User"),
  password: password("password", "return it").asked("Password").notImported(onlyHashes),
  database_list: words("databases", ["loans"], ",").asked("May use the databases", {
    hint: "Separated by commas. A database of several users belongs to the first.",
  }),
});

export const database = fields({
  type: oneOf("type", databaseTypes)
    .required()
    .asked("Server", {
      options: [
        ["pgsql", "PostgreSQL"],
        ["mysql", "MySQL or MariaDB"],
      ],
    }),
  users: inside("users", countedOf("user", databaseUser)),
});

export const autostart = fields({
  command: text("command", "/usr/bin/counterd").required().asked("Command"),
  description: text("description", "Counts visitors").unlessEmpty().asked("Description"),
  enabled: bool("enabled", true).asked("Start it"),
  user: text("user", "clerk").readBy(autostartUser).asked("As the user"),
});

export const volume = fields({
  size: megabytes("sizeMb", 2000).required().asked("Size", { unit: "MB" }),
  path: text("path", "/srv").required().asked("Directory", { hint: "Such as /srv." }),
});

/** Only the fields that the kind of the check uses are shown. */
const ifUsed =
  (field: Parameters<typeof isUsedBy>[1]) =>
  ({ kind }: { kind: CheckKind }) =>
    isUsedBy(kind, field);

export const check = fields({
  kind: oneOf("kind", checkKinds, "http")
    .required()
    .asked("What is checked", { options: checkKinds.map((kind) => [kind, kindsOfChecks[kind].label]) }),
  port: int("port", 80)
    .when(ifUsed("port"))
    .asked("Port", { hint: "For ports and web pages. Default of a page: 80, over HTTPS 443" }),
  path: text("path", "/")
    .when(ifUsed("path"))
    .asked("Path", { hint: "Of a page, such as /status, or of a directory. Default: /" }),
  status: int("status", 200).when(ifUsed("status")).asked("Status of the answer", { hint: "Default: 200" }),
  command: text("command", "systemctl is-active nginx")
    .when(ifUsed("command"))
    .initially("")
    .asked("Command", { hint: "Of the shell. It runs in the machine as root." }),
  exit: int("exit", 3).when(ifUsed("exit")).initially(0).asked("Exit code", { hint: "Default: 0" }),
  text: text("text", "Good morning")
    .when(ifUsed("text"))
    .asked("Text", { hint: "On the console, in the page or in the output. Upper and lower case differ." }),
  megabytes: int("megabytes", 400)
    .when(ifUsed("megabytes"))
    .initially(0)
    .asked("At most", { unit: "MB", hint: "Of memory, or of the file system" }),
  build: int("build", 12).when(ifUsed("build")).initially(0).asked("Build to compare with", {
    hint: "The id of a build whose checks have passed. It is in the address of its page.",
  }),
  percent: int("percent", 99)
    .when(ifUsed("percent"))
    .initially(0)
    .asked("Matching pixels, at least", { unit: "%", hint: "Default: 99" }),
  mask: text("mask", "0,380,720,20").when(ifUsed("mask")).initially("").asked("Ignored parts", {
    hint: "Left, top, width and height in pixels, such as 0,380,720,20. Put blanks between several.",
  }),
  seconds: int("seconds", 300)
    .when(ifUsed("seconds"))
    .asked("Time limit", { unit: "s", hint: "Seconds of the machine since its start. Default: 300" }),
});

/** Also reads `<user><user>clerk</user></user>`, which one client writes. */
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
