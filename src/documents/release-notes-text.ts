import { counted } from "#lib/words/counted";
import type { BuildDifference, ComparedBuild } from "#domain/difference/builds";
import type { PackageChange } from "#domain/difference/packages";
import type { ReleaseNotesDraft } from "#domain/difference/release-notes-draft";
import type { SettingChange } from "#domain/difference/settings";
import { printable } from "#documents/difference-text";
import { settingWords } from "#documents/setting-words";

/** The most names in one sentence; the others are counted. */
const maxNamed = 8;
/** Release notes may have 64 KiB. This limit is safe, because a character takes at most three bytes. */
const maxCharacters = 20_000;

/** A draft of release notes for the author to edit, in sentences that are fit to publish. */
export function releaseNotesText(draft: ReleaseNotesDraft): string {
  const sentences = draft.since ? changes(draft.since) : beginning(draft);
  return `${cut(
    sentences
      .filter((one) => one !== "")
      .map(printable)
      .join("\n"),
  )}\n`;
}

const cut = (text: string): string => (text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters)}…`);

function beginning({ image, base, own, ownFiles }: ReleaseNotesDraft): string[] {
  const versions = new Map(image.packages.map(({ name, version }) => [name, upstream(version)]));
  const names = own.map((name) => `${name} ${versions.get(name) ?? ""}`.trim());
  return [
    `The first version: ${base}${names.length === 0 ? "" : ` with ${listed(names)}`}.`,
    ownFiles.length === 0 ? "" : `It has its own files: ${listed(ownFiles)}.`,
    `It has ${counted(image.packages.length, "package")}; the download is ${megabytes(image.build.fileSize ?? 0)} MB.`,
  ];
}

function changes(since: BuildDifference): string[] {
  const { from, to, packages, settings } = since;
  const sentences = [
    added(packages, settings),
    ...updated(packages),
    removed(packages),
    ...files(settings),
    ...users(settings),
    ...settings.map(settingSentence),
    grown(from, to),
  ].filter((one) => one !== "");
  return sentences.length > 0 ? sentences : [`Only files of the system differ from version ${from.build.version}.`];
}

/** Names the packages that were selected, and counts those that they required. */
function added(packages: readonly PackageChange[], settings: readonly SettingChange[]): string {
  const all = packages.filter(({ change }) => change === "added");
  const selected = new Set(
    settings.flatMap(({ name, item, from }) => (name === "selected_package" && from === undefined ? (item ?? "") : [])),
  );
  const chosen = all.filter(({ name }) => selected.has(name));
  const named = (chosen.length > 0 ? chosen : all).map(({ name, to }) => `${name} ${upstream(to?.version ?? "")}`);
  if (named.length === 0) return "";
  const others = all.length - named.length;
  const needed =
    others === 0 ? "" : ` and ${counted(others, "package")} ${chosen.length === 1 ? "it needs" : "they need"}`;
  return `Adds ${listed(named)}${needed}.`;
}

function updated(packages: readonly PackageChange[]): string[] {
  const changed = packages.filter(({ change }) => change === "changed");
  const updates = changed.filter(({ from, to }) => from?.version !== to?.version);
  const named = updates.map(({ name, from, to }) => `${name} from ${steps(from?.version ?? "", to?.version ?? "")}`);
  const rebuilt = changed.filter((one) => !updates.includes(one)).map(({ name }) => name);
  return [
    named.length === 0 ? "" : `Updates ${listed(named)}.`,
    rebuilt.length === 0 ? "" : `Has new builds of the same versions of ${listed(rebuilt)}.`,
  ];
}

function removed(packages: readonly PackageChange[]): string {
  const names = packages.filter(({ change }) => change === "removed").map(({ name }) => name);
  return names.length === 0 ? "" : `Removes ${listed(names)}.`;
}

/** The appliance's own files. */
function files(settings: readonly SettingChange[]): string[] {
  const own = settings.filter(({ name }) => name === "overlay_file");
  const sentence = (verb: string, is: (one: SettingChange) => boolean) => {
    const paths = own.filter(is).map(({ item }) => item ?? "");
    return paths.length === 0 ? "" : `${verb} ${listed(paths)}.`;
  };
  return [
    sentence("Adds", ({ from }) => from === undefined),
    sentence("Changes", ({ from, to }) => from !== undefined && to !== undefined),
    sentence("Removes", ({ to }) => to === undefined),
  ];
}

/** Who can log in, and who may do everything. */
function users(settings: readonly SettingChange[]): string[] {
  const rights = settings.filter(({ name }) => name === "user").map(userSentence);
  const keys = settings.filter(({ name }) => name === "ssh_keys");
  // The keys of a removed user go with the user.
  const isGone = (item: string | undefined) =>
    settings.some((one) => one.name === "user" && one.item === item && one.to === undefined);
  return [...rights, ...keys.filter(({ item }) => !isGone(item)).map(keysSentence)];
}

function userSentence({ item, from, to }: SettingChange): string {
  const isAdministrator = to === "administrator";
  if (from === undefined) return `Adds the user ${item}${isAdministrator ? ", an administrator" : ""}.`;
  if (to === undefined) return `Removes the user ${item}.`;
  return isAdministrator
    ? `The user ${item} is now an administrator.`
    : `The user ${item} is no longer an administrator.`;
}

function keysSentence({ item, from, to }: SettingChange): string {
  if (from === undefined) return `The user ${item} can log in with an SSH key.`;
  return to === undefined ? `Removes the SSH keys of the user ${item}.` : `Changes the SSH keys of the user ${item}.`;
}

/** Settings that are described elsewhere, or that mean nothing to readers. */
const silent: ReadonlySet<string> = new Set([
  "overlay_file",
  "selected_package",
  "user",
  "ssh_keys",
  "image_type",
  "arch",
]);

const itemSentences: Readonly<Record<string, readonly [added: string, removed: string]>> = {
  open_port: ["Opens the port", "Closes the port"],
  repository: ["Uses the repository", "No longer uses the repository"],
  selected_pattern: ["Adds the pattern", "Removes the pattern"],
  gpg_key: ["Trusts the key", "No longer trusts the key"],
};

function settingSentence({ name, item, from, to }: SettingChange): string {
  if (silent.has(name)) return "";
  const [adds, removes] = itemSentences[name] ?? [];
  if (adds !== undefined && from === undefined) return `${adds} ${item}.`;
  if (removes !== undefined && to === undefined) return `${removes} ${item}.`;
  if (name === "build_script") return "Changes the build script.";
  const title = `${settingWords(name)}${item === undefined ? "" : ` ${item}`}`;
  if (to === undefined) return `No longer sets the ${title}.`;
  return from === undefined ? `Sets the ${title} to ${to}.` : `Changes the ${title} from ${from} to ${to}.`;
}

/** How much the image has grown. Only for the same format, because sizes differ between formats. */
function grown(from: ComparedBuild, to: ComparedBuild): string {
  if (from.build.imageType !== to.build.imageType) return "";
  const bytes = (to.build.fileSize ?? 0) - (from.build.fileSize ?? 0);
  const size = megabytes(Math.abs(bytes));
  return size === "0.0" ? "" : `The download ${bytes > 0 ? "grew" : "shrank"} by ${size} MB.`;
}

/** The upstream version, without the epoch and the distribution's release. */
const upstream = (version: string): string => version.replace(/^\d+:/, "").replace(/-[^-]*$/, "");

/** From one version to another: upstream versions, or the whole versions if only the distribution's release differs. */
const steps = (from: string, to: string): string =>
  upstream(from) === upstream(to) ? `${from} to ${to}` : `${upstream(from)} to ${upstream(to)}`;

const megabytes = (bytes: number): string => {
  const mega = bytes / 1_000_000;
  return mega < 10 ? mega.toFixed(1) : String(Math.round(mega));
};

/** "a, b and c"; or "a, b and 12 others". */
function listed(names: readonly string[]): string {
  const shown = names.length > maxNamed + 1 ? names.slice(0, maxNamed) : names;
  const last = shown.length < names.length ? `${names.length - shown.length} others` : shown.at(-1);
  const before = shown.length < names.length ? shown : shown.slice(0, -1);
  return before.length === 0 ? (last ?? "") : `${before.join(", ")} and ${last}`;
}
