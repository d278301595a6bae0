import { z } from "zod";
import type { TestdriveClaimRequest } from "./testdrive.ts";

/*
 * The checks that an agent makes in a booted image (docs/checks.md). The API, the pages and the agent read this table.
 */

/** The maximum number of checks of an appliance. */
export const maxChecks = 20;
/** The maximum number of characters in a text, and in a path. */
export const maxCheckText = 200;
/** The maximum number of characters in a command. */
export const maxCheckCommand = 1000;
/** The name of the port by which a checked machine gets commands (lib/kiwi/check-commands.ts). */
export const checksPort = "kiln.checks";
/**
 * The maximum number of bytes of a command's output that an agent gets. In base64 they fit into one write to the port.
 */
export const maxCheckOutput = 2000;
/** The largest bound for memory and disk. */
export const maxCheckMegabytes = 10_000_000;
/** The longest time for one check, in the guest's seconds. */
export const maxCheckSeconds = 1200;

/** The defaults of a web page check's path and status, and of the time limit of every check. */
const usual = { path: "/", status: 200, seconds: 300 };

/** One check. A field that its kind does not use is empty or 0. */
export const Check = z.object({
  kind: z.enum([
    "login",
    "console_text",
    "console_lacks",
    "units",
    "port_open",
    "port_closed",
    "http",
    "https",
    "command",
    "memory",
    "disk",
    "screen",
    "second_boot",
    "power_cut",
  ]),
  /** Absent from older Workers and from runs before it, like `exit` and all that have a default. */
  command: z.string().max(maxCheckCommand).default(""),
  exit: z.int().min(0).max(255).default(0),
  megabytes: z.int().min(0).max(maxCheckMegabytes).default(0),
  /** The build whose screen is the expected one, the part of the pixels that must be equal, and what is not compared. */
  build: z.int().min(0).default(0),
  percent: z.int().min(0).max(100).default(0),
  mask: z.string().max(maxCheckText).default(""),
  text: z.string().max(maxCheckText),
  port: z.int().min(0).max(65_535),
  path: z.string().max(maxCheckText),
  status: z.int().min(0).max(599),
  seconds: z.int().min(0).max(maxCheckSeconds),
});
export type Check = z.infer<typeof Check>;
export type CheckKind = Check["kind"];
type CheckField = Exclude<keyof Check, "kind">;

/** An ability that an agent lists when it claims a run. Older agents lack it. */
type AbilityToCheck = keyof Pick<TestdriveClaimRequest, "canRunCommands" | "canCompareScreens">;

interface KindOfCheck {
  label: string;
  /** The fields that it uses, each with its default; undefined if the field is required. */
  fields: Partial<Record<CheckField, string | number | undefined>>;
  /** Fields that it may have, but does not need. */
  mayBeEmpty?: readonly CheckField[];
  /** Whether the machine needs a network card. */
  needsNetwork?: true;
  /**
   * The ability that an agent needs for this kind. With `canRunCommands`, a command runs in the machine, and the image
   * must have a program for it (lib/kiwi/check-commands.ts).
   */
  needs?: AbilityToCheck;
  /** The expectation in one sentence. */
  says: (check: Check) => string;
}

export const kindsOfChecks: Readonly<Record<CheckKind, KindOfCheck>> = {
  login: {
    label: "It reaches its login prompt",
    fields: { seconds: usual.seconds },
    says: ({ seconds }) => `A login prompt is on the serial console within ${seconds} s.`,
  },
  console_text: {
    label: "A text is on the serial console",
    fields: { text: undefined, seconds: usual.seconds },
    says: ({ text, seconds }) => `“${text}” is on the serial console within ${seconds} s.`,
  },
  console_lacks: {
    label: "A text is never on the serial console",
    fields: { text: undefined },
    says: ({ text }) => `“${text}” is never on the serial console until the other checks have ended.`,
  },
  units: {
    label: "No unit of systemd fails",
    fields: {},
    says: () => "No unit of systemd fails to start until the other checks have ended.",
  },
  port_open: {
    label: "A TCP port is open",
    fields: { port: undefined, seconds: usual.seconds },
    needsNetwork: true,
    says: ({ port, seconds }) => `Port ${port} accepts connections within ${seconds} s.`,
  },
  port_closed: {
    label: "A TCP port is closed",
    fields: { port: undefined },
    needsNetwork: true,
    says: ({ port }) => `Port ${port} refuses connections when the machine has booted.`,
  },
  http: webPage({ label: "A web page answers", port: 80 }),
  https: webPage({ label: "A web page answers over HTTPS", port: 443, by: " over HTTPS" }),
  command: {
    label: "A command ends as it should",
    fields: { command: undefined, exit: 0, text: "", seconds: usual.seconds },
    mayBeEmpty: ["text"],
    needs: "canRunCommands",
    says: ({ command, exit, text, seconds }) =>
      `The command “${command}” ends with exit code ${exit}${text === "" ? "" : ` and writes “${text}”`} within ${seconds} s.`,
  },
  memory: {
    label: "It uses little memory",
    fields: { megabytes: undefined },
    needs: "canRunCommands",
    says: ({ megabytes }) => `At most ${megabytes} MB of memory are used when the machine has booted.`,
  },
  disk: {
    label: "A directory's file system is not full",
    fields: { path: "/", megabytes: undefined },
    needs: "canRunCommands",
    says: ({ path, megabytes }) => `At most ${megabytes} MB are used where ${path} is stored.`,
  },
  screen: {
    label: "The screen matches that of an earlier build",
    fields: { build: undefined, percent: 99, mask: "", seconds: usual.seconds },
    mayBeEmpty: ["mask"],
    needs: "canCompareScreens",
    says: ({ build, percent, mask, seconds }) =>
      `At least ${percent} % of the screen${mask === "" ? "" : `, without ${mask},`} matches that of build ${build} within ${seconds} s.`,
  },
  second_boot: {
    label: "It works again after a restart",
    fields: {},
    says: () => "After a restart, the machine passes the other checks again.",
  },
  power_cut: {
    label: "It works again after a power cut",
    fields: {},
    says: () => "After a power cut, the machine passes the other checks again.",
  },
};

function webPage({ label, port: usualPort, by = "" }: { label: string; port: number; by?: string }): KindOfCheck {
  return {
    label,
    fields: { port: usualPort, path: usual.path, status: usual.status, text: "", seconds: usual.seconds },
    mayBeEmpty: ["text"],
    needsNetwork: true,
    says: ({ port, path, status, text, seconds }) =>
      `GET ${path} on port ${port}${by} answers ${status}${text === "" ? "" : ` with “${text}”`} within ${seconds} s.`,
  };
}

export const checkKinds = Object.keys(kindsOfChecks) as [CheckKind, ...CheckKind[]];

/** The distinct ports of the machine that the checks need. */
export const portsOfChecks = (checks: readonly Pick<Check, "kind" | "port">[]): number[] => [
  ...new Set(checks.filter(({ kind }) => kindsOfChecks[kind].needsNetwork).map(({ port }) => port)),
];

/** Whether some of them run a command in the machine. */
export const runCommands = (checks: readonly Pick<Check, "kind">[]): boolean =>
  checks.some(({ kind }) => kindsOfChecks[kind].needs === "canRunCommands");

/** Whether an agent can do all of these checks. */
export const canDoAll = (
  agent: Pick<TestdriveClaimRequest, AbilityToCheck>,
  checks: readonly Pick<Check, "kind">[],
): boolean =>
  checks.every(({ kind }) => {
    const { needs } = kindsOfChecks[kind];
    return needs === undefined || agent[needs] === true;
  });

export const isUsedBy = (kind: CheckKind, field: CheckField): boolean => field in kindsOfChecks[kind].fields;

const empty = {
  kind: "login",
  command: "",
  exit: 0,
  text: "",
  port: 0,
  path: "",
  status: 0,
  megabytes: 0,
  build: 0,
  percent: 0,
  mask: "",
  seconds: 0,
};

/** Completes a check with the defaults of omitted fields. Omitted fields without a default stay empty. */
export function completeCheck({ kind, ...given }: Pick<Check, "kind"> & Partial<Check>): Check {
  const known = Object.entries(kindsOfChecks[kind].fields).filter(([, value]) => value !== undefined);
  return { ...empty, ...Object.fromEntries(known), ...given, kind };
}

export const sentenceOfCheck = (check: Check): string => kindsOfChecks[check.kind].says(check);

/** `not_run`: nothing is known about it, so it is neither passed nor failed. */
export const outcomes = ["passed", "failed", "not_run"] as const;

/** The longest description of what was seen. */
export const maxSeen = 500;
/** The maximum number of characters of the end of the serial console in a report. */
export const maxConsoleEnd = 16 * 1024;

export const CheckResult = z.object({
  outcome: z.enum(outcomes),
  /** The agent's observation in one sentence. It may quote the guest. */
  seen: z.string().max(maxSeen),
  /** When the result was known, in the guest's seconds since the start. */
  seconds: z.number().nonnegative().max(1e6),
});
export type CheckResult = z.infer<typeof CheckResult>;

/** POST /agent/testdrives/:id/checks. */
export const CheckReport = z.object({
  /** One for each check of the claim, in its order. */
  results: z.array(CheckResult).min(1).max(maxChecks),
  /** The guest's seconds until its login prompt. Null if there was none. */
  loginSeconds: z.number().nonnegative().max(1e6).nullable(),
  /** Whether the processor was emulated, which makes a guest slower. */
  isEmulated: z.boolean(),
  /** The end of the serial console, without control characters. */
  console: z.string().max(maxConsoleEnd),
  /** The screen at the end, as PNG in base64. Null if there is no picture. */
  screen: z.base64().nullable(),
  /** Whether the agent keeps the machine as it is now, so that a testdrive can continue it. Absent from older agents. */
  isMachineKept: z.boolean().optional(),
});
export type CheckReport = z.infer<typeof CheckReport>;
