import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verdict, type Figure } from "./figure.ts";
import type { BuiltImage, Place } from "./place.ts";
import { trips } from "./relay.ts";
import { postTestdrive, sitAtRelay, stopSession, untilPicture, type Seat, type Session } from "./session.ts";
import { median, percentile, spread } from "./statistics.ts";
import { figuresOf, startOnce, type Start } from "./testdrive-boot.ts";
import { waitUntil } from "./wait.ts";

const rounds = 5;
const barSeconds = 1;
const parallelCounts = [1, 8, 32];
const tripsOfOne = 200;

/**
 * The same measurements from a snapshot of the booted guest, first alone and then with several sessions in parallel.
 */
export async function measureSnapshot(place: Place): Promise<Figure[]> {
  const service = await place.start([], tmpdir(), { KILN_AGENT_SNAPSHOTS: "on" });
  const image = await place.imageOf(service);
  const booted = await startOnce(image);
  place.say(`booted: login after ${booted.loginSeconds.toFixed(1)} s`);
  await waitUntil("the agent has made a snapshot", { seconds: 900, everyMs: 200 }, () =>
    readFileSync(join(service.stateDir, "agent.log"), "utf8").includes(" snapshot made "),
  );
  const starts: Start[] = [];
  for (let round = 1; round <= rounds; round++) starts.push(await startOnce(image));
  const figures = figuresOf("snapshot", starts).map((figure) => withBar(figure, starts, booted));
  for (const count of parallelCounts) figures.push(...(await measureParallel(image, count, place)));
  await service.stop();
  return figures;
}

function withBar(figure: Figure, starts: readonly Start[], booted: Start): Figure {
  if (!figure.what.endsWith("login:")) return figure;
  const seconds = median(starts.map(({ loginSeconds }) => loginSeconds));
  return {
    ...figure,
    against: `${booted.loginSeconds.toFixed(2)} s booted`,
    ratio: `${(seconds / booted.loginSeconds).toFixed(3)}`,
    bar: `≤ ${barSeconds} s`,
    verdict: verdict(seconds <= barSeconds),
  };
}

/** Starts `count` sessions at the same time. Measures the time until each has its picture, and round trips of one. */
async function measureParallel(image: BuiltImage, count: number, place: Place): Promise<Figure[]> {
  const asked = await Promise.all(Array.from({ length: count }, () => begin(image)));
  const begun = asked.filter((each) => each !== undefined);
  const refused = count - begun.length;
  try {
    const memory = memoryOfTestdrives(image.service.stateDir);
    const [first] = begun;
    const took = first ? await trips(first.seat.wire, tripsOfOne) : [];
    place.say(
      `${count} at once: the last picture after ${Math.max(...begun.map(({ seconds }) => seconds)).toFixed(2)} s`,
    );
    const rest = { against: "–", ratio: "", bar: "reported", verdict: "reported" } as const;
    const name = `${count} testdrive${count === 1 ? "" : "s"} at once`;
    const of = refused === 0 ? name : `${name} (${refused} refused)`;
    const seconds = begun.map((each) => each.seconds);
    return [
      { what: `${of}: POST → picture of login:`, ours: spread(seconds, 2, " s"), ...rest },
      {
        what: `${of}: round trip to QEMU through the relay, p50`,
        ours: `${percentile(took, 0.5).toFixed(2)} ms`,
        ...rest,
      },
      { what: `${of}: memory of all QEMUs`, ours: `${memory} MiB`, ...rest },
    ];
  } finally {
    for (const { seat } of begun) seat.viewer.close();
    await Promise.all(begun.map(({ session }) => stopSession(image, session)));
  }
}

/** Undefined if it was refused, because no agent accepted it within the 10 s that a POST waits. */
async function begin(image: BuiltImage): Promise<{ session: Session; seat: Seat; seconds: number } | undefined> {
  const askedAt = performance.now();
  const session = await postTestdrive(image).catch((error: unknown) => {
    if (!String(error).includes("no_build_slots")) throw error;
    return undefined;
  });
  if (!session) return undefined;
  const seat = await sitAtRelay(session);
  await untilPicture(seat.viewer);
  return { session, seat, seconds: (performance.now() - askedAt) / 1000 };
}

/** The memory of all sessions' QEMUs in MiB, with shared pages counted once. */
function memoryOfTestdrives(stateDir: string): number {
  const sessions = join(stateDir, "agent/testdrives/");
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const kib = pids.map((pid) => proportionalKib(pid, sessions)).reduce((sum, each) => sum + each, 0);
  return Math.round(kib / 1024);
}

function proportionalKib(pid: string, below: string): number {
  try {
    if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(below)) return 0;
    return Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // The process has just ended.
  }
}
