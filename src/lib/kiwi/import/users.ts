import { keysFolder } from "#lib/kiwi/access";
import { childrenOf, textOf, type ImportedConfiguration, type NextTo, type Omission } from "#lib/kiwi/import/imported";
import { argumentsOf } from "#lib/kiwi/import/own";
import { ownCommands } from "#lib/kiwi/import/own-files";
import { readXml, type XmlNode } from "#lib/wire/read-xml";

type Users = NonNullable<ImportedConfiguration["users"]>;

/** The users of a description that Kiln wrote, by the paths of its files. Passwords are not read. */
export function usersIn(description: Readonly<Record<string, string>>): Users {
  const xml = description["config.xml"];
  if (xml === undefined) return [];
  const texts = Object.entries(description).filter(([path]) => path === "config.sh" || path.startsWith(keysFolder));
  const files = new Map(
    texts.map(([path, text]) => [path, { content: new TextEncoder().encode(text), mode: 0o644 }] as const),
  );
  return withAccess(usersOf(readXml(xml)).found, { files });
}

/** Adds what config.sh gives the users of a description: SSH keys, and the right to use sudo. */
export function withAccess(users: Users, { files }: NextTo): Users {
  const commands = ownCommands(textOf(files.get("config.sh")?.content) ?? "");
  const administrators = new Set(argumentsOf(commands, "make_administrators").flat());
  return users.map((user) => {
    const keys = textOf(files.get(keysFolder + user.name)?.content);
    return {
      ...user,
      ...(keys !== undefined && { ssh_keys: keys.trimEnd().split("\n") }),
      ...(administrators.has(user.name) && { administrator: true }),
    };
  });
}

const userAttributes = new Set(["name", "id", "groups", "shell", "home", "password", "pwdformat"]);

/** The users of a description, without passwords. */
export function usersOf(image: XmlNode): { found: Users; omitted: Omission[] } {
  const omitted: Omission[] = [];
  const sections = childrenOf(image, "users");
  const all: XmlNode[] = [];
  for (const { attributes, children } of sections) {
    const profiles = attributes.get("profiles");
    const arch = attributes.get("arch");
    const what = `users (${children.map((one) => one.attributes.get("name") ?? "?").join(", ")})`;
    if (profiles !== undefined) omitted.push({ what, why: `they belong only to the profile ${profiles}` });
    else if (arch !== undefined) omitted.push({ what, why: `they are for ${arch} only` });
    else all.push(...children);
  }
  const taken = new Set(all.map(({ attributes }) => Number(attributes.get("id") ?? NaN)));
  let next = 1000;
  const free = () => {
    while (taken.has(next)) next++;
    return next++;
  };
  const found = all.map(({ attributes }) => {
    const name = attributes.get("name") ?? "";
    const [group = name === "root" ? "root" : "users", ...others] = (attributes.get("groups") ?? "")
      .split(",")
      .filter(Boolean);
    const what = `users/user ${name}`;
    omitted.push({ what: `${what}/password`, why: "a definition has no hashes: set the variable that the file names" });
    if (others.length > 0)
      omitted.push({ what: `${what}/groups`, why: `only the first counts, without ${others.join(", ")}` });
    for (const attribute of attributes.keys())
      if (!userAttributes.has(attribute))
        omitted.push({ what: `${what}/${attribute}`, why: "the users of an appliance have nothing like it" });
    return {
      uid: Number(attributes.get("id") ?? (name === "root" ? 0 : free())),
      name,
      group,
      shell: attributes.get("shell") ?? "/bin/bash",
      homedir: attributes.get("home") ?? (name === "root" ? "/root" : `/home/${name}`),
    };
  });
  return { found, omitted };
}
