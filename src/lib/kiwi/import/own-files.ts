import { textOf, type Imported, type ImportedDefinition, type NextTo } from "#lib/kiwi/import/imported";
import { readSshPasswords } from "#lib/kiwi/access";
import { readAutomaticUpdates } from "#lib/kiwi/automatic-updates";
import { readDiskEncryption } from "#lib/kiwi/disk-encryption";
import { readFirstBoot } from "#lib/kiwi/first-boot";
import { readIgnition } from "#lib/kiwi/ignition";
import { readSwap } from "#lib/kiwi/boot";
import { databasesIn } from "#lib/kiwi/import/databases";
import { layoutOf } from "#lib/kiwi/import/preferences";
import { argumentsOf, type Commands, type TextAt } from "#lib/kiwi/import/own";
import { readLogin } from "#lib/kiwi/login";
import { readNotes } from "#lib/kiwi/notes";

type Configuration = ImportedDefinition["configuration"];

const ownScript = "# Written by Kiln from an appliance's configuration.";

/** Whether Kiln wrote the files next to a description. */
export const areOwn = ({ files }: NextTo): boolean =>
  textOf(files.get("config.sh")?.content)?.includes(ownScript) ?? false;

/** Reads the files that Kiln writes next to config.xml. The writers are in `src/lib/kiwi`. */
export function readOwnFiles({ files }: NextTo): Imported {
  const textAt = (path: string) => textOf(files.get(path)?.content);
  const script = textAt("config.sh") ?? "";
  const commands = ownCommands(script);
  const own = { commands, textAt };
  const release = Object.fromEntries(
    shellCommands(textAt("root/etc/kiln-release") ?? "").map(([one = ""]) => pairOf(one)),
  );
  const keys = [...files].flatMap(([path, { content }]) => {
    const [, name] = /^root\/etc\/apt\/trusted\.gpg\.d\/kiln-(\w+)\.asc$/.exec(path) ?? [];
    return name === undefined ? [] : [{ name, key: textOf(content) ?? "" }];
  });
  return {
    definition: {
      ...(release["NAME"] !== undefined && { name: release["NAME"] }),
      packages: [],
      patterns: [],
      bans: [],
      configuration: {
        description: release["DESCRIPTION"] ?? "",
        website: release["WEBSITE"] ?? "",
        locale: localeOf(textAt, commands),
        network: networkOf(commands, files),
        firewall: firewallOf(commands),
        eulas: textsBelow(files, "root/usr/share/kiln/eulas/"),
        databases: databasesIn(textAt),
        autostarts: autostartsOf(textAt, [...files.keys()]),
        settings: {
          ...readSwap(own),
          ...readLogin(own),
          ...readSshPasswords(own),
          ...readFirstBoot(own),
          ...readIgnition(own),
          ...readAutomaticUpdates(own),
          ...readDiskEncryption(own),
          ...readNotes(own),
        },
        scripts: scriptsOf(textAt),
      },
      ...(keys.length > 0 && { gpg_keys: keys }),
    },
    ...placedFiles(commands, files),
  };
}

/** The commands of config.sh below its functions. */
export const ownCommands = (script: string): Commands =>
  shellCommands(script.slice(script.indexOf("\ntake_back_hosts\n")));

function pairOf(word: string): [string, string] {
  const at = word.indexOf("=");
  return [word.slice(0, at), word.slice(at + 1)];
}

function localeOf(textAt: TextAt, commands: Commands): NonNullable<Configuration["locale"]> {
  const language = /^LANG=(.+)$/m.exec(textAt("root/etc/locale.conf") ?? "")?.[1];
  const layout = layoutOf(/^KEYMAP=(.+)$/m.exec(textAt("root/etc/vconsole.conf") ?? "")?.[1] ?? "");
  const zone = argumentsOf(commands, "ln").find(([, , target]) => target === "/etc/localtime")?.[1];
  return {
    ...(layout !== undefined && { keyboard_layout: layout }),
    ...(language !== undefined && { language }),
    ...(zone !== undefined && { timezone: { location: zone.replace("/usr/share/zoneinfo/", "") } }),
  };
}

function networkOf(commands: Commands, files: NextTo["files"]): NonNullable<Configuration["network"]> {
  const [hostname] = argumentsOf(commands, "set_hostname");
  return { ...(hostname?.[0] !== undefined && { hostname: hostname[0] }), ...addressesOf(commands, files) };
}

function addressesOf(commands: Commands, files: NextTo["files"]): NonNullable<Configuration["network"]> {
  if (files.has("root/usr/lib/kiln/ask-network")) return { type: "ask_on_first_boot" };
  if (argumentsOf(commands, "leave_network_to_network_manager").length > 0) return { type: "network_manager" };
  if (argumentsOf(commands, "leave_network_to_cloud_init").length > 0) return { type: "dhcp" };
  const [configured] = argumentsOf(commands, "/image/kiln/network");
  if (!configured) return { type: "none" };
  const [kind, address = "", route = "", ...nameservers] = configured;
  if (kind !== "manual") return { type: "dhcp" };
  const [ip = "", length = ""] = address.split("/");
  return { type: "manual", ip, netmask: length, route, nameservers: nameservers.join(", ") };
}

const firewallOf = (commands: Commands): NonNullable<Configuration["firewall"]> => ({
  enabled: argumentsOf(commands, "switch_firewall_on").length > 0,
  open_port: argumentsOf(commands, "open_port").map(([port = "", protocol]) =>
    protocol === "udp" ? `${port}/udp` : port,
  ),
});

const textsBelow = (files: NextTo["files"], folder: string): string[] =>
  [...files.keys()]
    .filter((path) => path.startsWith(folder))
    .toSorted()
    .map((path) => textOf(files.get(path)?.content) ?? "");

function autostartsOf(textAt: TextAt, paths: readonly string[]): NonNullable<Configuration["autostarts"]> {
  const folder = "root/usr/lib/kiln/autostarts/";
  const numbers = paths.filter((path) => path.startsWith(folder)).flatMap((path) => /\/(\d+)$/.exec(path)?.[1] ?? []);
  return numbers
    .toSorted((a, b) => Number(a) - Number(b))
    .map((number) => {
      const command = (textAt(folder + number) ?? "").replace(/^#!\/bin\/sh\n/, "").replace(/\n$/, "");
      const unit = textAt(`root/image/kiln/units/kiln-autostart-${number}.service`) ?? "";
      // A description may contain U+2028, which "." and "$" treat as the end of a line.
      const description = (/\nDescription=([^\n]*)/.exec(unit)?.[1] ?? "").replaceAll("%%", "%");
      const user = (textAt(`${folder}${number}.user`) ?? "root").trim();
      return { command, description, enabled: true, user };
    });
}

function scriptsOf(textAt: TextAt): NonNullable<Configuration["scripts"]> {
  const scriptAt = (path: string) => {
    const script = textAt(path) ?? "";
    return { enabled: script !== "", script };
  };
  return {
    build: scriptAt("root/image/kiln/build-script"),
    boot: scriptAt("root/usr/lib/kiln/boot-script"),
    autoyast: scriptAt("root/autoinst.xml"),
  };
}

/** The appliance's own files. Their contents exist only if an agent has put them there. */
function placedFiles(commands: Commands, files: NextTo["files"]): Pick<Imported, "files" | "omitted"> {
  const found: Imported["files"] = [];
  const omitted: Imported["omitted"] = [];
  for (const [from = "", path = "", mode = "", owner = "root", group = "root"] of argumentsOf(commands, "place")) {
    const content = files.get(`root${from}`)?.content;
    if (content) found.push({ path, owner, group, permissions: mode.replace(/^0+(?=\d{3})/, ""), content });
    else omitted.push({ what: path, why: "the content of the file is not next to the description" });
  }
  return { files: found, omitted };
}

/**
 * Splits a shell script into commands and words. Knows only single quotes and backslashes, which is exact for scripts
 * that Kiln writes. Other scripts are only searched for such commands.
 */
function shellCommands(script: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (const [token] of script.matchAll(/'[^']*'|\\[^]|\n|[^\S\n]+|[^\s'\\]+|['\\]/g)) {
    if (token === "\n") {
      endWord();
      commands.push([]);
    } else if (/^\s/.test(token)) endWord();
    else word = (word ?? "") + unquoted(token);
  }
  endWord();
  return commands.filter((words) => words.length > 0);
}

function unquoted(token: string): string {
  if (token.length > 1 && token.startsWith("'")) return token.slice(1, -1);
  return token.length > 1 && token.startsWith("\\") ? token.slice(1) : token;
}
