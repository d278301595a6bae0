import { z } from "zod";

/**
 * Written by scripts/build-assets.ts: the URL of each file, with a hash of its content, and the drawings of the icons.
 */
const Manifest = z.object({
  files: z.record(z.string(), z.string()),
  icons: z.record(z.string(), z.string()),
});
type Manifest = z.infer<typeof Manifest>;

let known: Manifest | undefined;

/**
 * Scripts, styles, pictures and icons of pages. Their URLs change with their content, so that browsers may cache them.
 */
export async function assetsOf(assets: Fetcher): Promise<{ url: (name: string) => string; icons: Manifest["icons"] }> {
  known ??= Manifest.parse(await (await assets.fetch("https://assets/assets/manifest.json")).json());
  const { files, icons } = known;
  const url = (name: string) => {
    const found = files[name];
    if (found === undefined) throw new Error(`there is no asset ${name}: run scripts/build-assets.ts`);
    return found;
  };
  return { url, icons };
}
