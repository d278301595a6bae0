/** Verifies, in emulated machines, that machines of one image differ wherever they must, and writes a report. */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chooseAccel } from "../builder-agent/src/doctor/acceleration.ts";
import { command } from "./launch/command.ts";
import { print } from "./launch/progress.ts";
import { projectRoot } from "./launch/project.ts";
import { verifyImage } from "./verify/report-file.ts";
import { BootedMachines } from "./verify/seeds/booted-machines.ts";
import { countDifferent, type Facts } from "./verify/seeds/facts.ts";
import { bootWithSeed, type Workspace } from "./verify/seeds/seeded-machine.ts";
import type { StepRecord } from "./verify/step-record.ts";
import { twoAtATime } from "./verify/two-at-a-time.ts";

const usage = `npm run verify:seeds -- IMAGE [options]

Boots copies of IMAGE with a seed each, and compares their host names, machine-ids, SSH host keys and first random numbers: no two
may be equal. The key of a seed must open its machine, and another key must not. Writes a report. IMAGE is a raw disk (oem) of
Debian with first_boot cloud-init or ignition, and openssh-server. Boots no copy again that an earlier run has booted: IMAGE.machines has them.

  --boots N        the number of copies, with those of earlier runs (default: 30)
  --ignition       the image has first_boot ignition
  --minutes N      starts no more copies after so many minutes
  --user NAME      the user who gets the keys (default: debian)
  --report FILE    where the report goes (default: docs/verified/seeds.md, or ignition.md)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    boots: { type: "string", default: "30" },
    ignition: { type: "boolean", default: false },
    minutes: { type: "string", default: "Infinity" },
    user: { type: "string", default: "debian" },
    report: { type: "string" },
  },
});

const shownCharacters = 12;
const program = values.ignition ? "ignition" : "cloud-init";

const [image] = positionals;
if (image === undefined) print(usage);
else await verify(resolve(image));

async function verify(path: string): Promise<void> {
  const { report = join(projectRoot, "docs/verified", values.ignition ? "ignition.md" : "seeds.md") } = values;
  const title = `Machines of one image${values.ignition ? ", by Ignition" : ""}`;
  const verifying = { title, command: "verify:seeds", report };
  await verifyImage(verifying, async ({ record, folder, signal }) => {
    const [sha256 = ""] = (await command("sha256sum", ["--binary", path], { signal })).split(" ");
    const booted = new BootedMachines({ path, sha256 });
    // The lines of the report are about a different image.
    if (booted.all().length === 0) rmSync(report, { force: true });
    const accel = await chooseAccel({ accel: "auto", stateDir: folder });
    await bootAll(record, booted, { image: path, program, folder, accel, user: values.user, signal });
    const all = booted.all();
    const compared = { of: "All machines", what: `compare ${all.length} machines of the image ${sha256}` };
    await record.step({ ...compared, seen: (text) => text }, async () => countDifferent(all));
  });
}

/** Boots the copies that have not booted yet, two at a time. */
async function bootAll(record: StepRecord, booted: BootedMachines, workspace: Workspace): Promise<void> {
  const until = Date.now() + Number(values.minutes) * 60_000;
  const earlier = new Set(booted.all().map(({ hostName }) => hostName));
  const names = Array.from({ length: Number(values.boots) }, (_, each) => `seed-${String(each + 1).padStart(2, "0")}`);
  const left = names.filter((name) => !earlier.has(name));
  await twoAtATime(left, async (name) => {
    if (Date.now() >= until) return;
    const facts = await record.step({ of: name, what: "boot", seen }, () => bootWithSeed(workspace, name));
    if (facts) booted.add(facts);
  });
}

/** The beginning of each value. A host key differs from others of its type at its end. */
function seen({ hostName, machineId, hostKeys, firstRandom }: Facts): string {
  const keys = hostKeys.map((key) => `${key.split(" ")[0]} …${key.slice(-shownCharacters)}`);
  const begins = [machineId, firstRandom].map((value) => `${value.slice(0, shownCharacters)}…`);
  return `${hostName}, machine-id ${begins[0]}, ${keys.join(", ")}, random ${begins[1]}; opened by its key only`;
}
