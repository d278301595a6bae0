import type { BuildFailed } from "../contract.ts";
import { endOf, type Exit } from "../process.ts";
import { parseLogLine } from "./log-line.ts";

/** A build that cannot produce an image, with the message for its owner. */
export class BuildFailure extends Error {
  readonly kind: BuildFailed["kind"];
  constructor({ kind, reason }: BuildFailed, options?: ErrorOptions) {
    super(reason, options);
    this.name = "BuildFailure";
    this.kind = kind;
  }
}

/** The facts in KIWI's log so far that show why it will fail. */
export interface Notes {
  /** The first distinct problems that the solver of zypper or apt reported. */
  problems: string[];
  /** All lines of the last record of level ERROR. */
  error: string[];
  inError: boolean;
  /** Whether the builder's disk was full. */
  diskFull: boolean;
  /** Whether the image's own disk, or one of its volumes, was full. */
  imageFull: boolean;
  /** The failure that our own config.sh reports. */
  said: string | undefined;
}

export const noNotes: Notes = {
  problems: [],
  error: [],
  inError: false,
  diskFull: false,
  imageFull: false,
  said: undefined,
};

export function note(notes: Notes, line: string): Notes {
  const record = parseLogLine(line);
  const said = /^kiln: error: (.+)$/.exec(record.text)?.[1] ?? notes.said;
  const isFull = /No space left on device/.test(record.text);
  const isImages = kiwisMount.test(record.text);
  const diskFull = notes.diskFull || (isFull && !isImages);
  const imageFull = notes.imageFull || (isFull && isImages);
  if (record.kind === "continuation") {
    const error = notes.inError && notes.error.length < 20 ? [...notes.error, record.text] : notes.error;
    return { ...notes, error, diskFull, imageFull, said };
  }
  if (record.level === "ERROR") return { ...notes, error: [record.text], inError: true, diskFull, imageFull, said };
  const problem = solverProblem.exec(record.text)?.[1];
  const isNew = problem !== undefined && notes.problems.length < maxProblems && !notes.problems.includes(problem);
  const problems = isNew ? [...notes.problems, problem] : notes.problems;
  return { ...notes, problems, inError: false, diskFull, imageFull, said };
}

const maxProblems = 100;

/** zypper: `Problem: 1: …`; apt: ` name : Depends: other but …`; debootstrap: `E: Couldn't find these debs: …`. */
const solverProblem =
  /^(?:bootstrap|system):(?: Problem: (?:\d+: )?| +(?=\S+ : (?:Pre-)?Depends: )| E: (?=Couldn't find |Version ))(.+)$/;

/** The directory in which KIWI mounts the image that it is filling. */
const kiwisMount = /\/kiwi_(mount_manager|volumes)\.[^/]+\//;

export interface KiwiEnd {
  exit: Exit;
  /** The last line of standard error: the end of a stack trace, or why KIWI could not be started. */
  lastWords: string;
  /** The path of the image's tree on this host. The owner knows it as "/". */
  root: string;
}

/** Why KIWI failed, in a sentence, and whose fault it is. */
export function failureOf(notes: Notes, { exit, lastWords, root }: KiwiEnd): BuildFailed {
  if (notes.diskFull) return { kind: "error", reason: "The disk of the builder is full." };
  if (notes.imageFull)
    return { kind: "failed", reason: "The image does not fit on its disk, or on one of its volumes." };
  // If a signal kills its child, unshare of util-linux 2.38 fails to pass the signal on, with exactly this message.
  const wasKilled = "killedBy" in exit || lastWords.startsWith("unshare: sigprocmask");
  if (wasKilled) return { kind: "error", reason: "KIWI was killed on the builder, perhaps because memory ran out." };
  const [problem, ...more] = notes.problems;
  if (problem !== undefined) {
    const also = more.length === 0 ? "" : ` (and ${more.length} more such problem${more.length === 1 ? "" : "s"})`;
    return { kind: "failed", reason: `The software cannot be installed: ${problem}${also}.` };
  }
  const { name, text } = lastError(notes, root);
  if (name === "KiwiScriptFailed" && notes.said !== undefined)
    return { kind: "failed", reason: notes.said.slice(0, 500) };
  if (text === "")
    return { kind: "error", reason: `KIWI ended with ${endOf(exit)}: ${lastWords.slice(0, 300) || "no reason given"}` };
  // The only repository is the one that this agent has made.
  const isOurs = hostFaults.test(name) || /^Repository '[^']+' is invalid/.test(text);
  return { kind: isOurs ? "error" : "failed", reason: text };
}

/** Exceptions of KIWI that no description can cause. */
const hostFaults =
  /^Kiwi(CommandNotFound|PrivilegesError|LoopSetupError|MappedDeviceError|MountKernelFileSystemsError|MountSharedDirectoryError|UmountBusyError|RuntimeConfigFormatError|LogFileSetupFailed|RootDirExists)$/;

/** The useful part of "KiwiBootStrapPhaseFailed: Bootstrap package installation failed: No provider of …". */
function lastError(notes: Notes, root: string): { name: string; text: string } {
  const [, name = "", said = ""] = /^(Kiwi\w+): (.*)$/.exec(notes.error[0] ?? "") ?? [
    undefined,
    "",
    notes.error[0] ?? "",
  ];
  const withoutPhase = said.replace(/^(Bootstrap|System) package installation failed: /, "");
  const lines = [withoutPhase, ...notes.error.slice(1)].map((line) => line.trim()).filter((line) => !/^:?$/.test(line));
  // apt prints warnings before the error.
  const text = lines.find((line) => line.startsWith("E: "))?.slice("E: ".length) ?? lines[0] ?? "";
  return { name, text: text.replaceAll(root, "").slice(0, 500) };
}
