import { type ParsedTarEntry, createTarDecoder } from "modern-tar";
import { architectures, arches } from "#lib/contract/index";
import { malformedDeb } from "./deb-archive.ts";
import { type OtherDecompressor, decompressed } from "./decompress.ts";
import { RepodataFault } from "./fault.ts";
import { type InflationLimits, inflationGuard } from "./limits.ts";
import { readAtMost } from "./streams.ts";

/** The control data of an uploaded Debian package, as values that can be stored as JSON. */
export interface DebPackage {
  name: string;
  epoch: number;
  version: string;
  /** Empty for a native package. */
  release: string;
  arch: string;
  /** Its control file: one paragraph, each line ending with a line feed. */
  control: string;
}

const inflation: InflationLimits = { maxBytes: 64 * 2 ** 20, maxRatio: 200, graceBytes: 8 * 2 ** 20 };
const maxMembers = 1_000;
const debArches: readonly string[] = [...arches.map((arch) => architectures[arch].debian), "all"];
/** The limit of a frozen paragraph. */
const maxControlBytes = 2 ** 18;

/** Reads the control.tar of a package. Refuses it if another program could find another control file in it. */
export async function readDebPackage(controlTar: Uint8Array, other: OtherDecompressor): Promise<DebPackage> {
  const guard = inflationGuard(inflation, "its control.tar");
  const packed = new Blob([new Uint8Array(controlTar)]).stream().pipeThrough(guard.compressed);
  try {
    const opened = (await decompressed(packed, other)).pipeThrough(guard.opened);
    return packageOf(await controlIn(opened));
  } catch (error) {
    if (error instanceof RepodataFault) throw error;
    throw malformedDeb(`its control.tar: ${error instanceof Error ? error.message : "it is not a tar archive"}`, error);
  }
}

async function controlIn(controlTar: ReadableStream<Uint8Array>): Promise<string> {
  let control: Uint8Array | undefined;
  let members = 0;
  for await (const { header, body } of controlTar.pipeThrough(createTarDecoder({ strict: true }))) {
    if (++members > maxMembers) throw malformedDeb(`its control.tar has more than ${maxMembers} members`);
    if (memberName(header) !== "control") {
      await body.cancel();
      continue;
    }
    if (control) throw malformedDeb("its control.tar has two files called control");
    control = await readAtMost(body, maxControlBytes, "its control file");
  }
  if (!control) throw malformedDeb("its control.tar has no file called control");
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(control);
}

/** The name without `./`; empty for a folder. dpkg unpacks all members on a build host, so none may point elsewhere. */
function memberName({ name, type }: ParsedTarEntry["header"]): string {
  const shown = JSON.stringify(name.slice(0, 120));
  if (name.startsWith("/") || name.split("/").includes("..")) {
    throw malformedDeb(`member ${shown} of its control.tar points outside`);
  }
  if (type === "directory") return "";
  if (type !== "file") throw malformedDeb(`member ${shown} of its control.tar is a ${type}`);
  return name.replace(/^(\.\/+)+/, "");
}

const names = /^[a-z0-9][a-z0-9+.-]{0,199}$/;
const versions = /^(?:(\d{1,9}):)?([A-Za-z0-9][A-Za-z0-9.+~-]*?)(?:-([A-Za-z0-9.+~]+))?$/;
const maxVersionCharacters = 200;

function packageOf(text: string): DebPackage {
  const fields = fieldsOf(text);
  const value = (name: string) => fields.get(name.toLowerCase()) ?? "";
  const name = value("Package");
  if (!names.test(name)) throw malformedDeb(`its name is ${shortened(name)}`);
  const [whole, epoch = "0", version = "", release = ""] = versions.exec(value("Version")) ?? [];
  if (whole === undefined || whole.length > maxVersionCharacters) {
    throw malformedDeb(`its version is ${shortened(value("Version"))}`);
  }
  const arch = value("Architecture");
  if (!debArches.includes(arch)) {
    throw malformedDeb(`it is for ${shortened(arch)}, and not for ${debArches.join(", ")}`);
  }
  for (const field of relationFields) checkRelations(field, value(field));
  return { name, epoch: Number(epoch), version, release, arch, control: `${text.trimEnd()}\n` };
}

const shortened = (value: string) => JSON.stringify(value.slice(0, 80));

/** The fields of the one paragraph, by names in lower case. */
function fieldsOf(text: string): Map<string, string> {
  const lines = text.trimEnd().split("\n");
  const fields = new Map<string, string>();
  let last = "";
  for (const line of lines) {
    if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(line)) throw malformedDeb("its control file has control characters");
    const [, name, value = ""] = /^([!-,.-9;-~][!-9;-~]*):(.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      last = name.toLowerCase();
      if (fields.has(last)) throw malformedDeb(`its control file has two fields ${shortened(name)}`);
      fields.set(last, value.trim());
    } else if (/^[ \t]+\S/.test(line) && last !== "") {
      fields.set(last, `${fields.get(last) ?? ""}\n${line.trim()}`);
    } else {
      throw malformedDeb(`its control file has the line ${shortened(line)}`);
    }
  }
  return fields;
}

const relationFields = [
  ["Pre-Depends", "Depends", "Recommends", "Suggests", "Enhances"],
  ["Breaks", "Conflicts", "Replaces", "Provides"],
].flat();

const relation = /^[a-z0-9][a-z0-9+.-]*(:[a-z0-9-]+)?\s*(\(\s*(<<|<=|=|>=|>>|<|>)\s*[A-Za-z0-9.+~:-]+\s*\))?$/;

/** dpkg refuses to install a package with other characters. */
function checkRelations(field: string, value: string): void {
  const wrong = value.split(/[,|]/).find((one) => one.trim() !== "" && !relation.test(one.trim()));
  if (wrong !== undefined) throw malformedDeb(`its ${field} has ${shortened(wrong.trim())}`);
}
