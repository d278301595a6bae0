/** `npm run bench [-- NAME…]`: runs the measurements in README.md of this folder, and prints one table. */
import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";
import { measureBuild, measureFormats, measureMulti } from "./build.ts";
import { table, type Figure, type Measurement } from "./figure.ts";
import { measureDebianBuild } from "./debian/build.ts";
import { measureDebian, measureDebian13 } from "./debian/debian.ts";
import { measureKilledAgent } from "./killed-agent.ts";
import { measureLargeUpload } from "./large-upload.ts";
import { measureList } from "./list.ts";
import { measurePages } from "./pages.ts";
import { Place } from "./place.ts";
import { measureRelay } from "./relay.ts";
import { profile } from "./profile.ts";
import { proof } from "./proof/proof.ts";
import { same } from "./same/same.ts";
import { measureSoftware } from "./software/software.ts";
import { stall } from "./stall/stall.ts";
import { measureTestdrive } from "./testdrive.ts";
import { measureUploadMemory } from "./upload-memory.ts";

const measurements: Measurement[] = [
  { name: "list", run: measureList },
  { name: "pages", run: measurePages },
  { name: "build", run: measureBuild },
  { name: "multi", run: measureMulti },
  { name: "formats", run: measureFormats },
  { name: "testdrive", run: measureTestdrive },
  { name: "relay", run: measureRelay },
  { name: "software", run: measureSoftware },
  { name: "debian", run: measureDebian },
  { name: "debian-13", run: measureDebian13 },
  { name: "debian-build", run: measureDebianBuild },
  { name: "killed-agent", run: measureKilledAgent },
  { name: "upload-memory", run: measureUploadMemory },
  { name: "large-upload", run: measureLargeUpload },
  ...profile,
  ...proof,
  ...same,
  ...stall,
];

process.exitCode = await main(process.argv.slice(2));

async function main(names: readonly string[]): Promise<number> {
  if (names.includes("--help")) {
    console.log(`npm run bench -- [NAME…]\n\n${measurements.map((each) => `  ${each.name}`).join("\n")}`);
    return 0;
  }
  const unknown = names.filter((name) => !measurements.some((each) => isMeant(each, name)));
  if (unknown.length > 0) {
    console.error(
      `Unknown measurement: ${unknown.join(", ")}. Choose from: ${measurements.map((each) => each.name).join(", ")}`,
    );
    return 2;
  }
  const wanted = measurements.filter((each) => names.length === 0 || names.some((name) => isMeant(each, name)));
  console.log(machine());
  const { figures, failures } = await measure(wanted);
  console.log(`\n${table(figures)}\n\n${load()}`);
  for (const failure of failures) console.error(`not measured: ${failure}`);
  return failures.length === 0 ? 0 : 1;
}

/** Selects measurements by name or by group: "stall" means "stall/users" and all others of that group. */
function isMeant({ name }: Measurement, given: string): boolean {
  return name === given || name.startsWith(`${given}/`);
}

async function measure(wanted: readonly Measurement[]) {
  await using place = new Place((line) => console.log(`  ${line}`));
  stopOnSignal(place);
  const figures: Figure[] = [];
  const failures: string[] = [];
  for (const { name, run } of wanted) {
    console.log(`\n${name}: ${load()}`);
    try {
      figures.push(...(await run(place)));
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      console.log(`  ${failures.at(-1)}`);
    }
  }
  return { figures, failures };
}

/** An interrupted run must not leave a service behind. */
function stopOnSignal(place: Place): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void place[Symbol.asyncDispose]().finally(() => process.exit(130)));
  }
}

function load(): string {
  return `load ${loadavg()[0]?.toFixed(2)} on ${availableParallelism()} processors`;
}

function machine(): string {
  const memoryGb = (totalmem() / 1024 ** 3).toFixed(0);
  return `${cpus()[0]?.model} × ${availableParallelism()}, ${memoryGb} GiB, Linux ${release()}, Node ${process.version}`;
}
