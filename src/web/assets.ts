import { z } from "zod";

/** What scripts/build-assets.ts made: plain name → address with the content's hash in it. */
const Manifest = z.record(z.string(), z.string());
type Manifest = z.infer<typeof Manifest>;

let known: Manifest | undefined;

/** Addresses of our own scripts, styles and pictures. They change with every content, so that browsers may keep them. */
export async function assetUrls(assets: Fetcher): Promise<(name: string) => string> {
  known ??= Manifest.parse(await (await assets.fetch("https://assets/assets/manifest.json")).json());
  const manifest = known;
  return (name) => {
    const url = manifest[name];
    if (url === undefined) throw new Error(`there is no asset ${name}: run scripts/build-assets.ts`);
    return url;
  };
}
