import { imageFormats, type ImageUse } from "./image-formats.ts";

/** With the real names. The agent gives files names that a shell needs no quotes for. */
export function imageUse({
  imageType,
  fileName,
}: {
  imageType: keyof typeof imageFormats;
  fileName: string;
}): ImageUse {
  const names: Readonly<Record<string, string>> = {
    file: fileName,
    name: fileName.replace(/\.(?:tar\.gz|iso)$/, ""),
    arch: /\.i[56]86-[^-]*$/.test(fileName) ? "i386" : "x86_64",
  };
  const named = (text: string) => text.replace(/\{(file|name|arch)\}/g, (whole, key: string) => names[key] ?? whole);
  const { what, ways } = imageFormats[imageType];
  return { what, ways: ways.map((way) => ({ ...way, lines: way.lines.map(named) })) };
}
