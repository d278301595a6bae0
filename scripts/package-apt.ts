/** npm run package:apt: adds the agent's packages of dist/agent to a signed apt repository. */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Complaint, orComplaint, runCommand } from "./launch/complaint.ts";
import { projectRoot } from "./launch/project.ts";
import { print } from "./launch/progress.ts";
import { sourcesFile } from "./release/apt-index.ts";
import { addToRepository, component, suite } from "./release/apt-repository.ts";

const usage = `npm run package:apt -- --key KEY [options]

  --key KEY      signs the repository: a secret key of gpg, by fingerprint or address
  --into FOLDER  the repository; packages that are in it stay (default: dist/apt)
  --help

It takes every .deb of dist/agent, where npm run package:agent writes them.`;

await runCommand("package:apt", async () => {
  const options = { key: { type: "string" }, into: { type: "string" }, help: { type: "boolean" } } as const;
  const { values } = orComplaint(() => parseArgs({ options }), usage);
  if (values.help) return print(usage);
  if (values.key === undefined) throw new Complaint(`Give --key.\n\n${usage}`);
  const folder = resolve(values.into ?? join(projectRoot, "dist/apt"));
  const packages = packagesIn(join(projectRoot, "dist/agent"));
  await addToRepository(folder, { packages, key: values.key, date: new Date() });
  print(`${folder} is an apt repository now. Serve it, and write on a build host:\n`);
  print(sourcesFile("https://WHERE.YOU.SERVE.IT", suite, component));
});

function packagesIn(folder: string): string[] {
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".deb")) : [];
  if (found.length === 0) throw new Complaint(`There is no package in ${folder}. Run npm run package:agent first.`);
  return found.map((name) => join(folder, name));
}
