import { archNames } from "#lib/contract/index";
import { definitionFields } from "#lib/definition/document";
import { rangeSchema } from "#lib/wire/json-schema";
import { unitOf } from "#lib/wire/question";
import type { Schema } from "#lib/wire/schema";
import { shownIn, type AnyLeaf, type AnyShape, type Part } from "#lib/wire/shape";

/**
 * The JSON schema of `appliance.yaml` (docs/appliance-file.md), for editors and for the command line. The file is a
 * definition in the form that people write: secrets come from the environment, and long texts may be in files.
 */
export const applianceSchema = (id: string): Schema => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  $id: id,
  title: "appliance.yaml",
  description: "A Kiln appliance. Fields that you omit stay unchanged. A list replaces the stored list.",
  ...closed(membersOf(definitionFields, ""), ["name", "base_system"]),
});

/** Objects that exist only in the file. */
const inFile = { file: { type: "string", description: "Path of a file, relative to this one." } };
const inEnvironment = {
  env: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*$", description: "Name of a variable." },
};

/** The command line adds the file's size and digest. */
const content = {
  ...closed(inFile, ["file"]),
  type: ["string", "object"],
  description: "The text, or a file that has it.",
};
const digests = new Set(["files/size", "files/sha256", "files/upload"]);

function schemaOf(shape: AnyShape, path: string): Schema {
  if (shape.kind === "leaf") return leafSchema(shape);
  if (shape.kind === "list") return { type: "array", items: itemSchema(shape.of, path) };
  if (shape.kind === "marked") throw new Error(`${path} has attributes, which YAML does not have`);
  return closed(membersOf(shape, path), requiredIn(shape));
}

function itemSchema(of: AnyShape, path: string): Schema {
  const item = schemaOf(of, path);
  if (path === "files") return withContent(item);
  return namedAlone.has(path) ? { ...item, type: ["string", "object"] } : item;
}

/** Lists whose items may be just a name. */
const namedAlone = new Set(["packages", "patterns", "bans"]);

const withContent = ({ properties }: Schema): Schema => closed({ ...Object(properties), content }, ["path", "content"]);

function membersOf(shape: Extract<AnyShape, { kind: "fields" }>, path: string): Record<string, Schema> {
  const members = shownIn("v2", shape)
    .filter(([, { reading }]) => reading !== "ignored")
    .map(([name, part]): [string, string, Part] => [name, path === "" ? name : `${path}/${name}`, part])
    .filter(([, at]) => !digests.has(at));
  return Object.fromEntries(members.map(([name, at, part]) => [name, memberSchema(part, at)]));
}

function memberSchema(part: Part, path: string): Schema {
  const { shape, isRepeated, range } = part;
  const one = { ...schemaOf(shape, path), ...rangeSchema(range) };
  const description = about[path] ?? inUnit[unitOf(part)];
  return { ...(isRepeated ? { type: "array", items: one } : one), ...(description && { description }) };
}

const inUnit: Readonly<Record<string, string>> = { MB: "In megabytes.", GB: "In gigabytes." };

const requiredIn = ({ fields }: Extract<AnyShape, { kind: "fields" }>): string[] =>
  Object.entries(fields)
    .filter(([, { reading }]) => reading === "required")
    .map(([name]) => name);

/** The schema of a leaf, without its format: an empty text is allowed, and means that there is no value. */
function leafSchema({ schema: { format: _format, ...schema }, example, isSecret, isLong }: AnyLeaf): Schema {
  if (isSecret) return closed(inEnvironment, ["env"]);
  return isLong ? content : { ...schema, examples: [example] };
}

function closed(properties: Record<string, Schema>, required: readonly string[]): Schema {
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Descriptions that editors show for keys whose name is not clear enough. */
const about: Readonly<Record<string, string>> = {
  name: "The name by which `kiln apply` finds the appliance.",
  base_system: "What it is based on, such as tiny-1.0. It cannot be changed.",
  arch: `One of ${archNames.join(", ")}. It cannot be changed.`,
  version: "The version of the next build.",
  type: "The format that a build has by default.",
  repositories: "Where packages come from. Each is given by its url, or by its name if the service itself stores it.",
  "repositories/uploads": "Your own packages for this base system.",
  packages: "Packages that you choose. Kiln adds what they need.",
  "packages/version": "Only this version.",
  "packages/repository": "Only from this repository: its name, or its url.",
  patterns: "Patterns that you choose.",
  bans: "Packages that are never installed, even if others need them.",
  files: "Files that builds copy into the image.",
  "files/path": "Absolute path in the image.",
  "files/permissions": "The mode in octal, in quotes.",
  "files/enabled": "Whether builds include it.",
  gpg_keys: "Public keys that the image trusts.",
  "configuration/users/password": "The variable that has it. If you omit it, the password stays.",
  "configuration/databases/users/password": "The variable that has it. If you omit it, the password stays.",
};
