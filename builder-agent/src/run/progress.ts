import { phases, type BuildClaim, type BuildFinished, type Heartbeat, type Phase } from "../contract.ts";
import { parseLogLine, parsePackageLine, type PackageLine } from "./log-line.ts";

/**
 *   Fetching ─► Preparing ─► Installing ─► Configuring ─► Creating ─► Compressing ─► Uploading
 *      (phase)     (phase)       (KIWI's lines)              (phase)      (phase)        (phase)
 *
 * A phase begins with an event or with a line of KIWI's log. No phase comes back, and the percentage never falls.
 */
export interface Progress {
  phase: Phase;
  phaseBeganAt: number;
  /** The fraction of the phase that is done, 0..1. Null if it is unknown; then it is estimated by time. */
  fraction: number | null;
  message: string;
  percent: number;
  software: Software;
  /** Seconds of the ended phases, and of this one so far. */
  seconds: Partial<Record<Phase, number>>;
  weights: Weights;
}

export type ProgressEvent =
  | { type: "phase"; phase: Phase; at: number }
  | { type: "line"; line: string; at: number }
  /** Bytes packed or uploaded. */
  | { type: "done"; fraction: number; at: number }
  | { type: "time"; at: number };

/**
 * The progress of zypper's transaction as it reports it, in bytes: a kernel takes longer than a text file. apt counts
 * packages.
 */
interface Software {
  downloadBytes: number;
  unpackedBytes: number;
  doneBytes: number;
  /** Bytes by package. All states of a build share it, because a copy per line would take quadratic time. */
  unpacked: Map<string, number>;
}

/**
 * How long a whole phase is expected to take: the mean seconds of earlier builds of the appliance. If there are none,
 * how often the phase passes over the image's data (installing downloads and unpacks; creating makes the file system,
 * copies the tree into it and lists it). The time of the earlier phases then gives the seconds per pass.
 */
interface Weights {
  unit: "seconds" | "passes";
  of: Record<Phase, number>;
}

const passes: Record<Phase, number> = {
  "Fetching appliance configuration": 0.1,
  "Preparing the build": 0.4,
  "Installing software": 2,
  "Configuring the system": 0.5,
  "Creating the image": 3,
  "Compressing the image": 1,
  "Uploading the image": 1,
};

export function startProgress(earlier: BuildClaim["earlierPhases"], at: number): Progress {
  const phase = phases[0];
  const software = { downloadBytes: 0, unpackedBytes: 0, doneBytes: 0, unpacked: new Map() };
  return {
    phase,
    phaseBeganAt: at,
    fraction: null,
    message: phase,
    percent: 0,
    software,
    seconds: {},
    weights: weigh(earlier),
  };
}

export function advance(progress: Progress, event: ProgressEvent): Progress {
  const next = changed(progress, event);
  const seconds = { ...next.seconds, [next.phase]: Math.max(0, event.at - next.phaseBeganAt) / 1000 };
  const timed = { ...next, seconds };
  return { ...timed, percent: Math.max(progress.percent, percentOf(timed)) };
}

export function heartbeatOf(progress: Progress): Heartbeat {
  return { phase: progress.phase, percent: progress.percent, message: progress.message.slice(0, 200) };
}

/** A step for each phase that has begun, in order. */
export function stepsOf(progress: Progress): BuildFinished["steps"] {
  return phases.flatMap((phase) => {
    const seconds = progress.seconds[phase];
    return seconds === undefined ? [] : [{ phase, seconds }];
  });
}

function changed(progress: Progress, event: ProgressEvent): Progress {
  switch (event.type) {
    case "phase":
      return enter(progress, event.phase, event.at);
    case "line":
      return read(progress, event.line, event.at);
    case "done": {
      const message = `${progress.phase} (${Math.floor(event.fraction * 100)} %)`;
      return { ...progress, fraction: event.fraction, message };
    }
    case "time":
      return progress;
    default:
      return event satisfies never;
  }
}

function enter(progress: Progress, phase: Phase, at: number): Progress {
  if (phases.indexOf(phase) <= phases.indexOf(progress.phase)) return progress;
  const ended = { ...progress.seconds, [progress.phase]: (at - progress.phaseBeganAt) / 1000 };
  return { ...progress, phase, phaseBeganAt: at, fraction: null, message: phase, seconds: ended };
}

function read(progress: Progress, line: string, at: number): Progress {
  const record = parseLogLine(line);
  if (record.kind !== "record") return progress;
  const packageLine = parsePackageLine(record.text);
  if (packageLine !== undefined) return withPackage(progress, packageLine);
  if (record.level !== "INFO" || housekeeping.test(record.text)) return progress;
  const [, begins] = phaseLines.find(([pattern]) => pattern.test(record.text)) ?? [];
  const entered = begins === undefined ? progress : enter(progress, begins, at);
  return { ...entered, message: `${entered.phase}: ${withoutPaths(record.text)}` };
}

const phaseLines: (readonly [RegExp, Phase])[] = [
  [/^Installing bootstrap packages/, "Installing software"],
  [
    /^(Copying user defined files|Setting up (group|user|keytable|locale|timezone)|Calling config\.sh)/,
    "Configuring the system",
  ],
];

/** Messages that are useless to the owner of an appliance. */
const housekeeping =
  /^(-->|Reading runtime|Loading XML|Support for XML|Using package manager|Cleaning up|umount |Result files)/;

const maxPackages = 50_000;

function withPackage(progress: Progress, line: PackageLine): Progress {
  const { software } = progress;
  switch (line.kind) {
    case "total": {
      const { downloadBytes, unpackedBytes } = line;
      return counted(progress, { downloadBytes, unpackedBytes, doneBytes: 0, unpacked: new Map() });
    }
    case "retrieved": {
      if (software.unpacked.size < maxPackages) software.unpacked.set(line.name, line.unpackedBytes);
      const doneBytes = software.doneBytes + line.downloadBytes;
      const message = `Downloading software (${line.nth}/${line.of}) ${shortName(line.name)}`;
      return { ...counted(progress, { ...software, doneBytes }), message };
    }
    case "installed": {
      const doneBytes = software.doneBytes + (software.unpacked.get(line.name) ?? 0);
      const message = `Installing software (${line.nth}/${line.of}) ${shortName(line.name)}`;
      return { ...counted(progress, { ...software, doneBytes }), message };
    }
    case "step": {
      const message = `Installing software: ${line.name}`;
      return { ...counted(progress, { ...software, doneBytes: software.doneBytes + 1 }), message };
    }
    default:
      return line satisfies never;
  }
}

function counted(progress: Progress, software: Software): Progress {
  const total = software.downloadBytes + software.unpackedBytes;
  const fraction = total === 0 ? null : Math.min(1, software.doneBytes / total);
  return { ...progress, software, fraction };
}

function percentOf(progress: Progress): number {
  const { weights } = progress;
  const done =
    weightOf(phasesBefore(progress), weights) +
    weights.of[progress.phase] * (progress.fraction ?? fractionByTime(progress));
  // Only `finish` reports 100.
  return Math.min(99, Math.floor((100 * done) / weightOf(phases, weights)));
}

/** A phase that has taken as long as expected is almost done. */
function fractionByTime(progress: Progress): number {
  const expected = progress.weights.of[progress.phase] * secondsPerUnit(progress);
  return expected === 0 ? 0 : Math.min(0.95, (progress.seconds[progress.phase] ?? 0) / expected);
}

function secondsPerUnit(progress: Progress): number {
  if (progress.weights.unit === "seconds") return 1;
  const over = phasesBefore(progress);
  const took = over.reduce((sum, phase) => sum + (progress.seconds[phase] ?? 0), 0);
  return took / Math.max(0.1, weightOf(over, progress.weights));
}

const phasesBefore = ({ phase }: Progress): readonly Phase[] => phases.slice(0, phases.indexOf(phase));

const weightOf = (some: readonly Phase[], { of }: Weights): number => some.reduce((sum, phase) => sum + of[phase], 0);

function weigh(earlier: BuildClaim["earlierPhases"]): Weights {
  if (earlier.length === 0) return { unit: "passes", of: passes };
  const mean = (phase: Phase) => earlier.reduce((sum, build) => sum + (build[phase] ?? 0), 0) / earlier.length;
  // At least a tenth of a second, so that a short phase is visible too.
  const of = Object.fromEntries(phases.map((phase) => [phase, Math.max(0.1, mean(phase))]));
  return { unit: "seconds", of: { ...passes, ...of } };
}

/** "busybox-1.35.0-1.x86_64" → "busybox". */
const shortName = (nevra: string) => nevra.replace(/-[^-]+-[^-]+$/, "");

/** Paths of this host mean nothing to users. */
const withoutPaths = (text: string) => text.replaceAll(/(?: (?:on|on disk|to))? \/\S+/g, "");
