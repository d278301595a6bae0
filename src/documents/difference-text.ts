import type { BuildDifference, ComparedBuild, ComparedFiles } from "#domain/difference/builds";
import type { ComparedFile, FileChange } from "#domain/difference/files";
import type { Change, ComparedPackage, LicenseDifference, PackageChange } from "#domain/difference/packages";
import type { SettingChange } from "#domain/difference/settings";
import { typeNames } from "#documents/build-difference";

/** The element `difference` as text for users. */
export const differenceText = (
  difference: BuildDifference,
  files: ComparedFiles,
  nextUrl: string | undefined,
): string => {
  const title = `${titleOf(difference.to)}, compared with ${titleOf(difference.from)}\n`;
  const more = nextUrl === undefined ? [] : [`  There may be more: ${nextUrl}`];
  const listed = files.state === "gone" ? ["  The files of one of the images are gone."] : files.changes.map(fileLine);
  return [title, ...partsOf(difference), section("Files", [...listed, ...more])].filter(Boolean).join("\n");
};

const titleOf = ({ build, input }: ComparedBuild): string =>
  `${printable(input.appliance.name)} ${build.version} (${build.imageType}, build ${build.id})`;

const partsOf = ({ from, to, packages, licenses, settings }: BuildDifference): string[] => [
  section("Packages", packages.map(packageLine)),
  section("Settings", settings.map(settingLine)),
  section("Licences", licenseLines(licenses)),
  section("Size", sizeLines(from, to)),
];

const licenseLines = ({ added, removed }: LicenseDifference): string[] => [
  ...added.map((name) => printable(`  + ${name}`)),
  ...removed.map((name) => printable(`  - ${name}`)),
];

/** A section with a title; empty if there are no lines. */
const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `${title}\n${lines.join("\n")}\n`;

const signs: Record<Change<unknown>["change"], string> = { added: "+", removed: "-", changed: "*" };

function packageLine({ change, name, from, to }: PackageChange): string {
  const versions = [from, to].filter((one) => one !== undefined).map(versionOf);
  const [was, is] = versions;
  const text = was === is && change === "changed" ? `${is}, another file` : versions.join(" -> ");
  return printable(`  ${signs[change]} ${name} ${text}`);
}

const versionOf = ({ version, arch }: ComparedPackage): string => `${version}.${arch}`;

function settingLine({ name, item, from, to }: SettingChange): string {
  const title = name.replaceAll("_", " ");
  const sign = from === undefined ? "+" : to === undefined ? "-" : "*";
  const values = [from, to].filter((value) => value !== undefined).join(" -> ");
  return printable(`  ${sign} ${title}${item === undefined ? "" : ` ${item}`}: ${values}`);
}

function sizeLines(from: ComparedBuild, to: ComparedBuild): string[] {
  const sizes = [
    ["disk or medium", from.build.rawSize, to.build.rawSize],
    ["download", from.build.fileSize, to.build.fileSize],
  ] as const;
  return sizes
    .filter(([, was, is]) => was !== is)
    .map(([what, was, is]) => `  ${what}: ${was ?? 0} -> ${is ?? 0} bytes`);
}

function fileLine({ change, path, from, to }: FileChange): string {
  const text = from && to ? changesIn(from, to).join(", ") : factsOf(to ?? from);
  return printable(`  ${signs[change]} ${path} (${text})`);
}

function factsOf(file: ComparedFile | undefined): string {
  if (!file) return "";
  const { type, mode, owner, group, size, target } = file;
  const more = size === undefined ? target && ` to ${target}` : `, ${size} bytes`;
  return `${typeNames[type]} ${mode.toString(8)} ${owner}:${group}${more ?? ""}`;
}

function changesIn(from: ComparedFile, to: ComparedFile): string[] {
  const facts = [
    ["", typeNames[from.type], typeNames[to.type]],
    ["mode ", from.mode.toString(8), to.mode.toString(8)],
    ["owner ", `${from.owner}:${from.group}`, `${to.owner}:${to.group}`],
    ["size ", from.size, to.size],
    ["target ", from.target, to.target],
  ] as const;
  const changed = facts
    .filter(([, was, is]) => was !== is)
    .map(([name, was, is]) => `${name}${was ?? "none"} -> ${is ?? "none"}`);
  const hasOtherContent = from.sha256 !== undefined && to.sha256 !== undefined && from.sha256 !== to.sha256;
  return hasOtherContent ? [...changed, "content"] : changed;
}

/** Names in images may contain any character, but a line must stay one line. */
export const printable = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
