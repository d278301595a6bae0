import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { imageTypes, type ImageType } from "#lib/contract/index";
import { Complaint } from "../launch/complaint.ts";
import { type ConfigurationName, configurationNames } from "./matrix/configurations.ts";

export type VerifyOptions = {
  /** The catalogue's name: templates/BASE.json. */
  base: string;
  formats: ImageType[];
  /** The ids of templates. Empty for all. */
  templates: number[];
  /** An absolute path. Undefined for a new state directory, which is deleted at the end. */
  state: string | undefined;
  /** An absolute path. Undefined if the report goes to docs/verified. */
  report: string | undefined;
  /** The options of `npm start`, which starts the service. */
  launch: string[];
  withTestdrives: boolean;
  /** How each template is configured. */
  configurations: ConfigurationName[];
  /** Omits images that booted as they are now. */
  onlyNew: boolean;
};

export const verifyUsage = `npm run verify:base -- BASE [options] [-- options of npm start]

Imports a base system's repositories, resolves and builds each of its templates, boots the images, checks what the
templates promise, and writes a report. BASE is the name of a file in templates/, such as debian-12.

  --formats LIST      image formats, comma-separated (default: oem)
  --templates LIST    ids of templates, comma-separated (default: all)
  --state DIR         state directory; a service that runs there is used (default: a new one, deleted at the end)
  --report FILE       where the report goes (default: docs/verified/BASE.md)
  --no-testdrives     boot images only with this command's own QEMU
  --configurations LIST
                      how each template is configured, comma-separated (default: plain). There are
                      ${configurationNames.join(", ")}
  --new               omit images that booted as they are now (docs/verified/matrix.md)
  --help
`;

/** Reads the command line, or refuses it with a Complaint. "help" means to print the usage. */
export function parseVerifyOptions(argv: readonly string[]): VerifyOptions | "help" {
  const { values, positionals } = parse(argv.slice(0, endOf(argv)));
  if (values.help) return "help";
  const [base, extra] = positionals;
  if (base === undefined) throw new Complaint(`Name the base system to verify.\n\n${verifyUsage}`);
  if (extra !== undefined) throw new Complaint(`${extra}: verify one base system at a time.`);
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(base)) throw new Complaint(`${base} is not the name of a catalogue.`);
  return {
    base,
    formats: values.formats.split(",").map(parseFormat),
    templates: values.templates === undefined ? [] : values.templates.split(",").map(parseId),
    state: values.state && resolve(values.state),
    report: values.report && resolve(values.report),
    launch: argv.slice(endOf(argv) + 1),
    withTestdrives: !values["no-testdrives"],
    configurations: values.configurations.split(",").map(parseConfiguration),
    onlyNew: values.new,
  };
}

const endOf = (argv: readonly string[]): number => (argv.includes("--") ? argv.indexOf("--") : argv.length);

function parse(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        formats: { type: "string", default: "oem" },
        templates: { type: "string" },
        state: { type: "string" },
        report: { type: "string" },
        "no-testdrives": { type: "boolean", default: false },
        configurations: { type: "string", default: "plain" },
        new: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(". ")[0] : String(error);
    throw new Complaint(`${reason}.\n\n${verifyUsage}`);
  }
}

function parseFormat(given: string): ImageType {
  const format = imageTypes.find((type) => type === given);
  if (format === undefined) throw new Complaint(`--formats ${given}: pick from ${imageTypes.join(", ")}.`);
  return format;
}

function parseConfiguration(given: string): ConfigurationName {
  const name = configurationNames.find((one) => one === given);
  if (name !== undefined) return name;
  throw new Complaint(`--configurations ${given}: pick from ${configurationNames.join(", ")}.`);
}

function parseId(given: string): number {
  if (/^\d+$/.test(given)) return Number(given);
  throw new Complaint(`--templates ${given}: give ids, such as 11,12.`);
}
