import type { FrozenInput } from "#lib/contract/index";
import { usersIn } from "#lib/kiwi/import/users";
import { counted } from "#lib/words/counted";

/**
 * A setting that differs. `item` is the item of a list. `from` is absent if the setting was added, `to` if it was
 * removed.
 */
export interface SettingChange {
  name: string;
  item?: string;
  from?: string;
  to?: string;
}

/** The differences between the inputs of two builds, except for packages, passwords and the texts of scripts. */
export function settingDifference(from: FrozenInput, to: FrozenInput): SettingChange[] {
  const [before, after] = [settingsOf(from, to), settingsOf(to, from)];
  const changes = [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    return was === is ? [] : [changeOf(key, was, is)];
  });
  return [...changes, ...userChanges(from, to), ...scriptChanges(from, to)];
}

/** Separates a setting's name from its item. Neither of them can contain it. */
const separator = "\n";

function changeOf(key: string, from: string | undefined, to: string | undefined): SettingChange {
  const [name = "", item] = key.split(separator);
  return {
    name,
    ...(item !== undefined && { item }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

type Setting = readonly [key: string, value: string];

/** The settings in an input, except those that the other, older input does not have yet. */
function settingsOf(input: FrozenInput, other: FrozenInput): Map<string, string> {
  const { appliance, imageType, selection, repositories, keys = [], files = [] } = input;
  return new Map<string, string>([
    ["name", appliance.name],
    ["arch", appliance.arch],
    ["image_type", imageType],
    ...configured(input.configuration, other.configuration),
    ...repositories.map(({ name }): Setting => [itemOf("repository", name), "used"]),
    ...selection.patterns.map((name): Setting => [itemOf("selected_pattern", name), "selected"]),
    ...selection.packages.map(({ name, version }): Setting => [itemOf("selected_package", name), version ?? "newest"]),
    ...keys.map(({ name, fingerprint }): Setting => [itemOf("gpg_key", name), fingerprint]),
    ...files.map(({ path, mode, owner, group, size, sha256 }): Setting => [
      itemOf("overlay_file", path),
      `${mode.toString(8)} ${owner}:${group}, ${size} bytes, sha256 ${sha256}`,
    ]),
  ]);
}

const itemOf = (name: string, item: string): string => `${name}${separator}${item.replaceAll(separator, " ")}`;

function configured(configuration: FrozenInput["configuration"], other: FrozenInput["configuration"]): Setting[] {
  if (!configuration || !other) return [];
  const { locale, network, firewall, memoryMb } = configuration;
  const settings: Setting[] = [
    ["base_system", configuration.baseSystem],
    ["language", locale.language],
    ["keyboard_layout", locale.keyboardLayout],
    ["timezone", locale.timezone],
    ["runlevel", String(configuration.runlevel)],
    ["memory_mb", other.memoryMb === undefined ? "" : String(memoryMb ?? "")],
    ["network_type", network.type],
    ["hostname", network.hostname],
    ["ip", network.ip],
    ["netmask", network.netmask],
    ["route", network.route],
    ["nameservers", network.nameservers.join(", ")],
    ["firewall", firewall.enabled ? "on" : "off"],
    ...firewall.openPorts.map((port): Setting => [itemOf("open_port", port), "open"]),
    ["webyast", configuration.webyast ? "on" : "off"],
  ];
  return settings.filter(([, value]) => value !== "");
}

/** Users, their rights, and the number of their SSH keys. Anyone can compare published builds, so no key is shown. */
function userChanges({ description: before }: FrozenInput, { description: after }: FrozenInput): SettingChange[] {
  if (before["config.xml"] === undefined || after["config.xml"] === undefined) return [];
  const [from, to] = [before, after].map((one) => new Map(usersIn(one).map((user) => [user.name, user])));
  return [...new Set([...(from?.keys() ?? []), ...(to?.keys() ?? [])])].flatMap((name) =>
    changesOfUser(name, from?.get(name), to?.get(name)),
  );
}

type User = ReturnType<typeof usersIn>[number];

function changesOfUser(item: string, from: User | undefined, to: User | undefined): SettingChange[] {
  const [was, is] = [from, to].map((user) => user && (user.administrator ? "administrator" : "ordinary user"));
  const [before, after] = [from, to].map((user) => user?.ssh_keys ?? []);
  return [
    ...(was === is ? [] : [{ name: "user", item, ...(was && { from: was }), ...(is && { to: is }) }]),
    ...keyChanges(item, before ?? [], after ?? []),
  ];
}

function keyChanges(item: string, from: readonly string[], to: readonly string[]): SettingChange[] {
  if (from.join("\n") === to.join("\n")) return [];
  const [was, is] = [from, to].map(({ length }) => (length === 0 ? undefined : counted(length, "key")));
  const other = was === is ? counted(to.length, "different key") : is;
  return [{ name: "ssh_keys", item, ...(was && { from: was }), ...(other && { to: other }) }];
}

/** Reports only that scripts differ, because they may contain secrets and anyone can compare published builds. */
function scriptChanges(before: FrozenInput, after: FrozenInput): SettingChange[] {
  const [from, to] = [before.configuration?.buildScript, after.configuration?.buildScript];
  if (!before.configuration || !after.configuration || from === to) return [];
  const name = "build_script";
  if (from === undefined) return [{ name, to: "a script" }];
  return [to === undefined ? { name, from: "a script" } : { name, from: "a script", to: "a different script" }];
}
