import { buildSync } from "esbuild";

/** Makes one JavaScript file of the command line, for Node 20 and newer. Returns the names of the packages in it. */
export function bundle(outfile: string): string[] {
  const { metafile } = buildSync({
    absWorkingDir: new URL("..", import.meta.url).pathname,
    entryPoints: ["src/main.ts"],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    // commander is CommonJS, and requires Node's own modules.
    banner: { js: 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);' },
    metafile: true,
    logLevel: "warning",
  });
  const names = Object.keys(metafile.inputs).map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? "");
  return [...new Set(names)].filter((name) => name !== "").toSorted();
}
