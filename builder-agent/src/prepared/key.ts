import { createHash } from "node:crypto";
import { reproducibleSeed } from "../run/reproducible.ts";
import type { FrozenInput } from "../contract.ts";

/** The facts that determine a prepared root, in addition to its frozen input. */
export interface Preparer {
  /** The key of its tools (toolsOf): KIWI's version, and the digest of the builder root. */
  builder: string;
  isolation: "vm" | "none";
}

/** Increase it when the layout of the archive, or the way to prepare a root, changes. */
const generation = 1;

/**
 * Names the root that `system prepare` makes from an input. Image types with the same root have the same key. The key
 * includes the appliance, so that an account's root never gets into another account's image. It omits the URLs of
 * repositories, because packages are identified by their checksums, and the type and file name of the image.
 */
export function preparedKey(input: FrozenInput, { builder, isolation }: Preparer): string {
  const { appliance, packages, files = [], keys = [], writtenBy } = input;
  const facts = {
    generation,
    builder,
    isolation,
    writtenBy,
    appliance: [appliance.id, appliance.arch],
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
    // The time is stored in rpm's database.
    sourceDate: input.sourceDate,
    // If it is absent, the key is the same as in older agents.
    rpmDatabase: input.rpmDatabase,
    // The keys that must have signed the packages.
    trust: inOrder(
      input.repositories.map(({ alias, trust }) => [alias, ...(trust?.keys ?? []).map((key) => key.fingerprint)]),
    ),
  };
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/**
 * Names the disk, including its UUIDs, that `system create` makes from such a root. Types with the same `<type>` share
 * it.
 */
export function diskKey(input: FrozenInput, preparer: Preparer): string {
  const type = typeElement.exec(input.description["config.xml"] ?? "")?.[0] ?? input.imageType;
  return createHash("sha256")
    .update(`${preparedKey(input, preparer)} ${reproducibleSeed(input)} ${type}`)
    .digest("hex");
}

function inOrder(rows: (string | number)[][]): string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

/**
 * The part of the description that the root depends on. KIWI's `<type>` affects the root only through variables in the
 * environment and in /.profile of the description's scripts. Our scripts do not read them, but a user's build script
 * may.
 */
function typelessDescription(input: FrozenInput): Record<string, string> {
  const { description } = input;
  const config = description["config.xml"];
  if (config === undefined || mayReadType(input)) return description;
  return { ...description, "config.xml": config.replace(typeElement, "") };
}

/** An input of an older Worker, without a configuration, does not show whether config.sh runs a user's script. */
const mayReadType = ({ configuration, description }: FrozenInput): boolean =>
  configuration === undefined ? "config.sh" in description : configuration.buildScript !== undefined;

const typeElement = /<type\b(?:[^>]*\/>|[^]*?<\/type>)/;
