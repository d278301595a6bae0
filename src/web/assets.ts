import { z } from "zod";

/** Written by scripts/build-assets.ts: plain name → URL that contains the content's hash. */
const Manifest = z.record(z.string(), z.string());
type Manifest = z.infer<typeof Manifest>;

let known: Manifest | undefined;

/** URLs of our own scripts, styles and pictures. Each changes with its content, so that browsers may cache it. */
export async function assetUrls(assets: Fetcher): Promise<(name: string) => string> {
  known ??= Manifest.parse(await (await assets.fetch("https://assets/assets/manifest.json")).json());
  const manifest = known;
  return (name) => {
    const url = manifest[name];
    if (url === undefined) throw new Error(`there is no asset ${name}: run scripts/build-assets.ts`);
    return url;
  };
}
