import type { BuilderState } from "./builder.ts";
import type { FirstAccount } from "./first-account.ts";
import type { Isolation } from "./isolation.ts";
import { print, seconds } from "./progress.ts";

export type Summary = {
  url: string;
  baseUrl: string;
  account: FirstAccount;
  stateDirectory: string;
  startedAt: number;
  agent: BuilderState;
  /** Undefined: no agent runs on this machine. */
  isolation: Isolation | undefined;
};

const wantedTypes = ["oem", "iso", "vmx", "xen", "ec2", "net", "oemiso"];

/** Prints the end of a start: everything that a new user needs for the first call. */
export function showSummary(summary: Summary): void {
  const { url, baseUrl, account, stateDirectory, startedAt } = summary;
  const rows = [
    ["service", url],
    ...(baseUrl === "" ? [] : [["known as", baseUrl]]),
    ["account", account.username],
    ["API key", account.apiKey],
    ...(account.password === undefined ? [] : [["password", `${account.password}   (shown this once)`]]),
    ["open", `${url}/user/show_api_key`],
    ["try", `curl -u ${account.username}:${account.apiKey} ${url}/api/v2/user/template_sets`],
    ["builder", builder(summary.agent)],
    ["state, logs", stateDirectory],
  ];
  print("");
  print(`  ${bold("Kiln is ready")} (${seconds(Date.now() - startedAt)})`);
  print("");
  for (const [name = "", value = ""] of rows) print(`    ${dim(name.padEnd(12))} ${value}`);
  print("");
  if (summary.isolation === "none") {
    print(`  Builds run directly on this machine, as root (isolation = "none"). Their scripts can do anything here.`);
    print(`  Give accounts only to people whom you would trust with root.`);
  }
  print(`  Ctrl-C stops everything.`);
}

function builder(agent: BuilderState): string {
  if (agent.state === "none") return `none: ${agent.why}`;
  if (agent.state === "starting") return "one agent, still starting (see agent.log)";
  const { imageTypes, testdrives } = agent.capabilities;
  const lacking = [...wantedTypes.filter((type) => !imageTypes.includes(type)), ...(testdrives ? [] : ["testdrives"])];
  const can = [...imageTypes, ...(testdrives ? ["testdrives"] : [])].join(", ") || "nothing";
  return lacking.length === 0
    ? `one agent: ${can}`
    : `one agent: ${can}; not ${lacking.join(", ")} (to see why, run npm run doctor)`;
}

const paint = (code: number) => (text: string) => (process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = paint(1);
const dim = paint(2);
