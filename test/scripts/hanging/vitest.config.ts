import { defineConfig } from "vitest/config";

/** For ../run.test.ts: a run that never ends. */
const root = new URL(".", import.meta.url).pathname;
export default defineConfig({ root, test: { projects: [{ root, test: { name: "hanging", include: ["hangs.ts"] } }] } });
