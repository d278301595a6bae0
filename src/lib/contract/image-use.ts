import { architectures, arches } from "./architectures.ts";
import type { Container, Conversion, ImageUse } from "./image-format.ts";
import { imageFormats } from "./image-formats.ts";

/** A download that is named after its type, such as `Kiosk.x86_64-0.0.1.iso`, needs no second extension. */
export const withSuffix = (name: string, suffix: string): string =>
  name.endsWith(`.${suffix}`) ? name : `${name}.${suffix}`;

/** The path of the disk in the archive of the download `name`. */
export const diskPath = (name: string, { suffix }: Container, alone?: string): string =>
  alone ?? `${name}/${withSuffix(name, suffix)}`;

/** The name and tag of a container image, made from the name of its download: `reading_room:0.0.2`. */
export function containerTag(name: string): string {
  const [, appliance = name, version = "latest"] = /^(\w+)\.[^-]+-(.+)\.[a-z]+$/.exec(name) ?? [];
  return `${appliance.toLowerCase()}:${version}`;
}

/** The size of a disk in its container. */
export const sizeIn = ({ multipleOf = 1 }: Conversion, rawSize: number): number =>
  Math.ceil(rawSize / multipleOf) * multipleOf;

/** The architecture is in the name of each download: `Kiosk.aarch64-0.0.1.oem.tar.gz`. */
function archOf(fileName: string) {
  const [, called] = /\.([^.-]+)-[^-]*$/.exec(fileName) ?? [];
  return arches.find((arch) => called === arch || called === architectures[arch].name) ?? "x86_64";
}

interface Download {
  imageType: keyof typeof imageFormats;
  fileName: string;
}

const nameOf = ({ fileName }: Download): string => fileName.replace(/\.(?:tar\.gz|iso|ova)$/, "");

/** The path of the disk in a download. Undefined if it contains none. */
export function diskIn(download: Download): string | undefined {
  const { container, alone } = imageFormats[download.imageType];
  return container && diskPath(nameOf(download), container, alone);
}

/** The use of an image type, with the real file names. The agent chooses names that need no quotes in a shell. */
export function imageUse(download: Download): ImageUse {
  const { imageType, fileName } = download;
  const { what, ways } = imageFormats[imageType];
  const { amazon, qemu } = architectures[archOf(fileName)];
  const name = nameOf(download);
  const disk = diskIn(download);
  const names: Readonly<Record<string, string>> = {
    file: fileName,
    name,
    ...(disk !== undefined && { disk }),
    tag: containerTag(name),
    arch: amazon,
    qemu,
  };
  const named = (text: string) =>
    text.replace(/\{(file|name|disk|tag|arch|qemu)\}/g, (whole, key: string) => names[key] ?? whole);
  return { what, ways: ways.map((way) => ({ ...way, lines: way.lines.map(named) })) };
}
