import { readFileSync } from "node:fs";

/** The commands of docs/api/attestations.md, with a test's image in place of the example's. */
export function verifyingCommands({ service, download }: { service: string; download: string }): string {
  const documented = readFileSync("docs/api/attestations.md", "utf8");
  const blocks = [...documented.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = ""]) => commands);
  return blocks
    .join("")
    .replace(/^URL=.*$/m, `URL='${download}'`)
    .replace(/^SERVICE=.*$/m, `SERVICE='${service}'`);
}
