import { createHash } from "node:crypto";
import { steadySeed } from "../build/steady.ts";
import type { FrozenInput } from "../contract.ts";

/** What a prepared root depends on in addition to the frozen input. */
export interface Preparer {
  /** The key of what it is made with (toolsOf): KIWI's version, and the digest of the builder root. */
  builder: string;
  isolation: "vm" | "none";
}

/** Another archive layout, or another way to prepare, is another number. */
const generation = 1;

/**
 * The name of the root that `system prepare` makes of an input, the same for all image types that it makes the same root for.
 * It covers the appliance, so that no tenant's root ever gets into another's image. The addresses of repositories are left
 * out, as every package is known by its checksum; and so are the image's type and file name.
 */
export function preparedKey(input: FrozenInput, { builder, isolation }: Preparer): string {
  const { appliance, packages, files = [], keys = [], writtenBy } = input;
  const facts = {
    generation,
    builder,
    isolation,
    writtenBy,
    appliance: [appliance.id, appliance.arch],
    firmware: input.firmware ?? "bios",
    packages: inOrder(
      packages.map(({ name, epoch, version, release, arch, checksum }) => [
        name,
        epoch,
        version,
        release,
        arch,
        checksum.type,
        checksum.value,
      ]),
    ),
    description: inOrder(Object.entries(typelessDescription(input))),
    files: inOrder(files.map(({ path, mode, owner, group, sha256 }) => [path, mode, owner, group, sha256])),
    keys: inOrder(keys.map(({ armour }) => [armour])),
    // rpm's database has it.
    sourceDate: input.sourceDate,
    // Absent, it changes no key.
    rpmDatabase: input.rpmDatabase,
    // Whose signatures the packages had to have.
    trust: inOrder(
      input.repositories.map(({ alias, trust }) => [alias, ...(trust?.keys ?? []).map((key) => key.fingerprint)]),
    ),
  };
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/** The name of the disk that `system create` makes of such a root, down to its UUIDs: types of one `<type>` differ in the container alone. */
export function diskKey(input: FrozenInput, preparer: Preparer): string {
  const type = typeElement.exec(input.description["config.xml"] ?? "")?.[0] ?? input.imageType;
  return createHash("sha256")
    .update(`${preparedKey(input, preparer)} ${steadySeed(input)} ${type}`)
    .digest("hex");
}

function inOrder(rows: (string | number)[][]): string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

/**
 * The description as far as it decides about the root. KIWI's `<type>` reaches it only through the variables that scripts of
 * the description find in their environment and in /.profile; ours read none of them, a user's build script may.
 */
function typelessDescription(input: FrozenInput): Record<string, string> {
  const { description } = input;
  const config = description["config.xml"];
  if (config === undefined || mayReadType(input)) return description;
  return { ...description, "config.xml": config.replace(typeElement, "") };
}

/** Inputs from before configurations were frozen do not say whether config.sh runs a script of the user's. */
const mayReadType = ({ configuration, description }: FrozenInput): boolean =>
  configuration === undefined ? "config.sh" in description : configuration.buildScript !== undefined;

const typeElement = /<type\b(?:[^>]*\/>|[^]*?<\/type>)/;
