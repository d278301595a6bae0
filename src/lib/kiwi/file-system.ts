// Not the contract's index, because the command line imports this file and would then include all of zod.
import { fileSystemFacts, fileSystems, type FileSystem } from "#lib/contract/file-systems";
import { productOf } from "#lib/contract/image-formats";
import type { Configuration } from "#lib/configuration/stored";
import type { ImageType } from "#lib/contract/index";
import type { XmlNode } from "#lib/wire/read-xml";
import { marked } from "#lib/wire/xml";

interface OnDisk {
  imageType: ImageType;
  settings: Pick<Configuration["settings"], "fileSystem">;
}

const [usual] = fileSystems;

/** The file system of an image's root. A type that cannot have the chosen one has the usual one. */
export const fileSystemOf = ({ imageType, settings: { fileSystem } }: OnDisk): FileSystem =>
  productOf(imageType).fileSystems.includes(fileSystem) ? fileSystem : usual;

/** Whether the root has a file system other than the usual one. */
export const hasOtherFileSystem = (image: OnDisk): boolean => fileSystemOf(image) !== usual;

/** Attributes for KIWI's `<type>`. */
export function fileSystemAttributes(fileSystem: FileSystem): Record<string, string> {
  const { createOptions } = fileSystemFacts[fileSystem];
  return { filesystem: fileSystem, ...(createOptions !== undefined && { fscreateoptions: createOptions }) };
}

/** Reads a `<type>` by any author. Undefined if such an image cannot have its file system. */
export const readFileSystem = (type: ImageType, attributes: ReadonlyMap<string, string>): FileSystem | undefined =>
  productOf(type).fileSystems.find((name) => name === attributes.get("filesystem"));

/** An element for KIWI's `<type>`. KIWI also makes the root a subvolume, which is the default one. */
export function subvolumesElement(fileSystem: FileSystem): object {
  const { subvolumes } = fileSystemFacts[fileSystem];
  const volumes = subvolumes?.map((path) => marked({ name: path.slice(1) }, {}));
  return volumes ? { systemdisk: marked({}, { volume: volumes }) } : {};
}

/** Whether a `<systemdisk>` by any author has exactly the subvolumes that each root of the file system has. */
export function hasUsualSubvolumes({ children }: XmlNode, fileSystem: FileSystem): boolean {
  const paths = children.map(({ attributes }) => `/${attributes.get("mountpoint") ?? attributes.get("name")}`);
  return paths.toSorted().join() === fileSystemFacts[fileSystem].subvolumes?.toSorted().join();
}
