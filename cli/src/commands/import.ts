import { dirname } from "node:path";
import { folderFor, refuseOverwriting, targetOf, writeTo } from "../appliance-file/folder.ts";
import { digestOf, writeApplianceFile } from "../appliance-file/write.ts";
import { arch, arches, defaultArch } from "./appliances.ts";
import { command, flag, value, values } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { readText } from "../files.ts";
import { applianceOf } from "../kiwi-import/appliance.ts";
import { readBelow, readFolder } from "../kiwi-import/folder.ts";
import { asXml } from "../kiwi-import/yaml.ts";
import { importXml, WireFault, type Imported } from "../kiwi.ts";
import { applyFrom } from "./definitions.ts";
import type { Painter } from "../output/painter.ts";
import { count, table } from "../output/table.ts";

export const imports = [
  command("import <file> [target]", {
    summary: "Write a KIWI description, or the manifest of a build, as a file that you can keep in git",
    details:
      "Reads config.xml, NAME.kiwi, or KIWI's YAML or JSON, with the files that it includes, config.sh and the folder root/ next to it, and lists " +
      "what an appliance cannot contain. The file is NAME.yaml, in this folder if you name none: look at it, then `kiln apply` it. Passwords become names of " +
      "variables, because a description has only hashes. --apply also applies the file.",
    options: {
      base: value("base", "what the appliance is based on; the default is what a manifest says"),
      arch,
      profile: values("name", "take what belongs to this profile of the description; may be repeated"),
      name: value("name", "its name; the default is that of the description"),
      unpinned: flag("without the versions of packages"),
      force: flag("replace an existing file"),
      apply: flag("apply the file too"),
    },
    examples: [
      "kiln import kiosk.kiwi --base suse-15.6",
      "kiln import manifest.xml --apply",
      "kiln import manifest.xml kiosk.yaml",
    ],
    act: async (kiln, { file, target, base, arch: machine, profile, name, unpinned, force, apply }) => {
      const { url } = kiln.login;
      if (machine !== undefined && !arches.includes(machine))
        throw new Complaint("misused", `There is no architecture ${machine}.`, `There are ${arches.join(", ")}.`);
      const imported = readDocument(file, {
        serviceUrl: url,
        choice: { profiles: profile, arch: machine },
      });
      const appliance = applianceOf(imported, { base, arch: machine, name, unpinned });
      if (apply) refuseIncomplete(file, appliance);
      const written = targetOf(target, appliance.name ?? "appliance");
      if (!force) refuseOverwriting(written);
      const contents = new Map(imported.files.map(({ content }) => [digestOf(content), content]));
      writeTo(
        written,
        writeApplianceFile(appliance, {
          schema: `${url}/schema/appliance.json`,
          folder: folderFor(written),
          contentOf: (sha256) => contents.get(sha256) ?? new Uint8Array(),
        }),
      );
      const omitted = [...archOf(imported, machine), ...versionOf(imported), ...imported.omitted];
      const text = () =>
        [
          `${written} has ${count(appliance.packages.length, "package")} and ${count(appliance.files.length, "file")}.`,
          ...(omitted.length > 0 ? ["", omissions(kiln.paint, omitted)] : []),
        ].join("\n");
      if (apply) kiln.note(text());
      else kiln.show({ file: written, omitted }, text);
      if (appliance.base_system === undefined)
        kiln.note("It names no base system: add base_system to the file, or import it with --base.");
      return apply ? await applyFrom(kiln, { file: written, id: undefined, ifMatch: undefined, force: false }) : "done";
    },
  }),
];

/** Refuses a file that could not be applied, before anything is written. */
function refuseIncomplete(file: string, { name, base_system: base }: ReturnType<typeof applianceOf>): void {
  if (name === undefined) throw new Complaint("misused", `${file} has no name.`, "Name the appliance with --name.");
  if (base !== undefined) return;
  const next = "Name one with --base: `kiln templates` shows them.";
  throw new Complaint("misused", `${file} names no base system.`, next);
}

const archOf = ({ definition: { arch: described } }: Imported, wanted: string | undefined): Imported["omitted"] =>
  wanted !== undefined || described !== undefined
    ? []
    : [{ what: "architecture", why: `a description has none: this is ${defaultArch}, or choose with --arch` }];

const versionOf = ({ definition: { version } }: Imported): Imported["omitted"] =>
  version === undefined
    ? []
    : [
        {
          what: `version ${version}`,
          why: "each build raises it: to begin with it, add it to the file for the first `kiln apply` only",
        },
      ];

const omissions = (paint: Painter, omitted: Imported["omitted"]): string =>
  table(
    paint,
    ["OMITTED", "WHY"],
    omitted.map(({ what, why }) => [what, why]),
  );

type Given = Required<Pick<Parameters<typeof importXml>[1], "serviceUrl" | "choice">>;

/** Reads a description with the files next to it, or a manifest, which is complete on its own. */
function readDocument(file: string, given: Given): Imported {
  const next = "Name a config.xml of KIWI, or the manifest of a build.";
  const text = readText(file, next);
  const folder = /<manifest[\s>]/.test(text)
    ? { files: new Map(), skipped: [] }
    : readFolder(dirname(file), given.choice.profiles);
  try {
    const imported = importXml(asXml(text), { ...given, nextTo: folder, readIncluded: readBelow(dirname(file)) });
    return { ...imported, omitted: [...imported.omitted, ...folder.skipped] };
  } catch (error) {
    if (!(error instanceof WireFault)) throw error;
    const isDescription = /<image[\s>]/.test(text);
    const way = isDescription ? "`kiln import --help` shows what is read." : next;
    throw new Complaint("misused", `${file} cannot be imported: ${error.message}`, way);
  }
}
