/**
 * Messages between Worker and builder agent. Imports only zod and ipaddr.js, and no other module of Kiln, so that both
 * sides can import it.
 */
export * from "./agent.ts";
export { architectures, archNames, arches } from "./architectures.ts";
export * from "./build-report.ts";
export * from "./build.ts";
export * from "./check-run.ts";
export * from "./checks.ts";
export * from "./deb-order.ts";
export * from "./file-store.ts";
export * from "./file-systems.ts";
export * from "./guest-web.ts";
export * from "./image-format.ts";
export * from "./image-formats.ts";
export * from "./image-type.ts";
export * from "./image-use.ts";
export * from "./machine-identity.ts";
export * from "./modified-files.ts";
export * from "./outside.ts";
export * from "./package-name.ts";
export * from "./protocol.ts";
export * from "./rebuild.ts";
export * from "./request-id.ts";
export * from "./screen-mask.ts";
export * from "./secret-path.ts";
export * from "./shell-quote.ts";
export * from "./stored-packages.ts";
export * from "./testdrive.ts";
export * from "./trust.ts";
export * from "./upload.ts";
