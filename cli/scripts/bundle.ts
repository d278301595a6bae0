import { buildSync } from "esbuild";

/** Makes one JavaScript file of the command line, for Node 20 and newer. */
export function bundle(outfile: string): void {
  buildSync({
    absWorkingDir: new URL("..", import.meta.url).pathname,
    entryPoints: ["src/main.ts"],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    // commander is CommonJS, and requires Node's own modules.
    banner: { js: 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);' },
    logLevel: "warning",
  });
}
