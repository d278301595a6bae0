/** Measures the processor time of a build by program: `npm run bench -- profile/tiny`, `profile/debian-12`. */
import { join } from "node:path";
import { openBaseRoots } from "../builder-agent/src/prepared/bases.ts";
import { packImage } from "../builder-agent/src/run/pack.ts";
import { configScript } from "../src/lib/kiwi/config-script.ts";
import { debianInput, type DebianInput } from "../test/acceptance/support/debian-input.ts";
import { buildHere, sampleDistribution, serveDistribution } from "../test/acceptance/support/local-build.ts";
import { resolvedTiny } from "../test/acceptance/support/resolved-tiny.ts";
import { buildOurs } from "./debian/build.ts";
import type { Figure, Measurement } from "./figure.ts";
import type { Place } from "./place.ts";
import { watchPrograms } from "./programs-time.ts";

const shown = 14;

export const profile: Measurement[] = [
  { name: "profile/tiny", run: profileTiny },
  { name: "profile/debian-12", run: profileDebian },
];

async function profileTiny(place: Place): Promise<Figure[]> {
  const distribution = sampleDistribution();
  using server = await serveDistribution(distribution);
  const input = await resolvedTiny(distribution);
  const whole = { ...input, description: { ...input.description, "config.sh": configScript([]) } };
  const signal = AbortSignal.timeout(3_600_000);
  return await watched("Tiny Linux", () =>
    buildHere(whole, { stateDir: place.folder(), url: server.url }, async (built, workDir) => {
      await packImage(built, "tiny", { workDir, signal });
    }),
  );
}

/** The second and the third build start with the packages of the first. */
async function profileDebian(place: Place): Promise<Figure[]> {
  const packages = ["console-setup"];
  const jeos: DebianInput = debianInput({ release: "bookworm", packages });
  const builds = {
    "JeOS from nothing": jeos,
    "one more package": debianInput({ release: "bookworm", packages: [...packages, "hello"] }),
    "one changed file": withOtherMotd(jeos),
  };
  const folder = place.folder();
  const bases = await openBaseRoots(join(folder, "bases"), { maxBytes: Infinity });
  const figures: Figure[] = [];
  for (const [what, input] of Object.entries(builds))
    figures.push(...(await watched(what, () => buildOurs(input, { folder, bases }))));
  return figures;
}

/** Adds one more file, which config.sh writes like every file of an appliance. */
function withOtherMotd({ input, folder }: DebianInput): DebianInput {
  const script = `${input.description["config.sh"] ?? ""}\necho changed > /etc/motd\n`;
  return { input: { ...input, description: { ...input.description, "config.sh": script } }, folder };
}

async function watched(what: string, build: () => Promise<unknown>): Promise<Figure[]> {
  const watch = watchPrograms();
  const startedAt = performance.now();
  await build();
  const elapsed = (performance.now() - startedAt) / 1000;
  const programs = watch.end();
  const whole = programs.reduce((sum, [, seconds]) => sum + seconds, 0);
  const figure = (name: string, seconds: number, ratio: string): Figure => ({
    what: `${what}: ${name}`,
    ours: `${seconds.toFixed(1)} s`,
    against: "",
    ratio,
    bar: "reported",
    verdict: "reported",
  });
  return [
    figure("by the clock", elapsed, ""),
    figure("all programs", whole, "100 %"),
    ...programs
      .slice(0, shown)
      .map(([name, seconds]) => figure(name, seconds, `${Math.round((100 * seconds) / whole)} %`)),
  ];
}
