import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ImageType, InstalledPackage } from "../contract.ts";
import type { ImageFormat } from "../image-cache.ts";

/** What `system create` left in its target directory. */
export interface KiwiResult {
  /** The disk or medium itself. */
  image: string;
  format: ImageFormat;
  rawSize: number;
  installed: InstalledPackage[];
}

/** By fixed name pattern only: the names in KIWI's own list of results come from inside the image. */
export async function readResult(target: string, type: ImageType): Promise<KiwiResult> {
  const format = formatOf(type);
  const names = await readdir(target);
  const image = join(target, theOne(names, `.${format}`));
  const found = await stat(image);
  if (!found.isFile()) throw new Error(`${image} is not a file`);
  const packages = await readFile(join(target, theOne(names, ".packages")), "utf8");
  return { image, format, rawSize: found.size, installed: parsePackages(packages) };
}

/** Lines `name|epoch|version|release|arch|disturl|license` of KIWI's .packages. Exported for the table of its cases. */
export function parsePackages(text: string): InstalledPackage[] {
  return text.split("\n").flatMap((line) => {
    const [name = "", epoch = "(none)", version, release, arch] = line.split("|");
    // Signing keys are kept in rpm's database as packages of this name.
    if (version === undefined || release === undefined || arch === undefined || name === "gpg-pubkey") return [];
    return [{ name, ...(epoch === "(none)" ? {} : { epoch }), version, release, arch }];
  });
}

function formatOf(type: ImageType): ImageFormat {
  if (type === "oem") return "raw";
  if (type === "iso") return "iso";
  throw new Error(`this agent does not build images of type ${type}`);
}

function theOne(names: string[], ending: string): string {
  const [name, ...more] = names.filter((each) => each.endsWith(ending));
  if (name === undefined || more.length > 0)
    throw new Error(`KIWI left ${more.length === 0 ? "no" : "several"} ${ending} files`);
  return name;
}
