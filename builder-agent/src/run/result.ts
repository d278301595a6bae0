import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { productOf, type ImageType, type InstalledPackage, type PackageType } from "../contract.ts";

/** The files of an image: a disk, a medium, a root as tar, or the parts of a system that boots from the network. */
export type Product =
  | { format: "raw" | "iso" | "tar"; image: string }
  | { format: "net"; image: string; kernel: string; initrd: string };

/** The results of `system create` in its target directory. */
export type KiwiResult = Product & {
  imageType: ImageType;
  /** The size of the unpacked disk, medium or root, or of all parts of a network tree. */
  rawSize: number;
  installed: InstalledPackage[];
};

/**
 * Finds files only by fixed name patterns, because the names in KIWI's own list of results come from inside the image.
 */
export async function readResult(
  target: string,
  imageType: ImageType,
  packageType: PackageType = "rpm",
): Promise<KiwiResult> {
  const { product, packages } = await getParts(target, imageType);
  const rawSize = await sizeOf(product);
  const parse = packageType === "deb" ? parseDebPackages : parsePackages;
  return { ...product, imageType, rawSize, installed: parse(await readFile(packages, "utf8")) };
}

/** The files of a result, and the list of its packages. Throws if one is missing or ambiguous. */
export async function getParts(target: string, imageType: ImageType): Promise<{ product: Product; packages: string }> {
  const names = await readdir(target);
  return { product: findProduct(target, names, imageType), packages: join(target, theOne(names, ".packages")) };
}

/** Lines `name|epoch|version|release|arch|disturl|license` of KIWI's .packages. Exported for its test. */
export function parsePackages(text: string): InstalledPackage[] {
  return text.split("\n").flatMap((line) => {
    const [name = "", epoch = "(none)", version, release, arch, , ...rest] = line.split("|");
    // rpm's database contains signing keys as packages of this name.
    if (version === undefined || release === undefined || arch === undefined || name === "gpg-pubkey") return [];
    const license = rest.join("|").slice(0, 4096);
    const said = { ...(epoch !== "(none)" && { epoch }), ...(license !== "" && license !== "(none)" && { license }) };
    return [{ name, ...said, version, release, arch }];
  });
}

/** Lines `name|None|[epoch:]version[-release]|None|arch|source|license` of Debian's packages (debian-licences.ts). */
export function parseDebPackages(text: string): InstalledPackage[] {
  return text.split("\n").flatMap((line) => {
    const [name = "", , whole = "", , arch, from = notKnown, license = notKnown] = line.split("|");
    const [, epoch, version = "", release = ""] = /^(?:(\d+):)?(.+?)(?:-([^-]*))?$/.exec(whole) ?? [];
    if (arch === undefined || version === "") return [];
    const [, source, sourceVersion] = /^(\S{1,200}) (\S{1,200})$/.exec(from) ?? [];
    const said = {
      ...(epoch !== undefined && { epoch }),
      ...(license !== notKnown && { license }),
      ...(source !== undefined && sourceVersion !== undefined && { source: { name: source, version: sourceVersion } }),
    };
    return [{ name, ...said, version, release, arch }];
  });
}

/** The text that KIWI writes for a field that dpkg does not know. */
export const notKnown = "None";

function findProduct(target: string, names: string[], imageType: ImageType): Product {
  const at = (ending: string) => join(target, theOne(names, ending));
  const { kiwi, isMedium } = productOf(imageType);
  if (kiwi === "kis") {
    // The root file system has the image's bare name. Its checksum file has one more ending.
    const image = at(".md5").replace(/\.md5$/, "");
    return { format: "net", image, kernel: at(".kernel"), initrd: at(".initrd") };
  }
  // Only the name ends in xz: the file is not compressed (shims/xz).
  if (kiwi === "tbz") return { format: "tar", image: at(".tar.xz") };
  // An installation medium is next to the disk that it contains.
  return isMedium ? { format: "iso", image: at(".iso") } : { format: "raw", image: at(".raw") };
}

async function sizeOf(product: Product): Promise<number> {
  const { image } = product;
  const files = product.format === "net" ? [image, product.kernel, product.initrd] : [image];
  const sizes = await Promise.all(
    files.map(async (file) => {
      const found = await stat(file);
      if (!found.isFile()) throw new Error(`${file} is not a file`);
      return found.size;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function theOne(names: string[], ending: string): string {
  const [name, ...more] = names.filter((each) => each.endsWith(ending));
  if (name === undefined || more.length > 0)
    throw new Error(`KIWI left ${more.length === 0 ? "no" : "several"} ${ending} files`);
  return name;
}
