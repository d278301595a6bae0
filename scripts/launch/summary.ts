import { imageTypes as allTypes } from "../../src/lib/contract/image-formats.ts";
import type { BuilderState } from "./builder.ts";
import type { FirstAccount } from "./first-account.ts";
import type { Isolation } from "./isolation.ts";
import { print, seconds } from "./progress.ts";
import { readyFile } from "./ready-file.ts";

export type Summary = {
  url: string;
  baseUrl: string;
  account: FirstAccount;
  stateDirectory: string;
  startedAt: number;
  agent: BuilderState;
  /** Undefined if no agent runs on this machine. */
  isolation: Isolation | undefined;
};

/**
 * Prints everything that a new user needs for the first call. Without a terminal it prints no secrets, because a
 * service manager or a CI job stores the output where others can read it.
 */
export function showSummary(summary: Summary): void {
  const { url, baseUrl, account, stateDirectory, startedAt } = summary;
  const isTerminal = process.stdout.isTTY === true;
  const { apiKey, password } = (isTerminal ? secretsOf : withoutSecrets)(account, stateDirectory);
  const rows = [
    ["service", url],
    ...(baseUrl === "" ? [] : [["known as", baseUrl]]),
    ["account", account.username],
    ["API key", apiKey],
    ...(password === undefined ? [] : [["password", password]]),
    ["open", `${url}/appliances`],
    [
      "try",
      `curl -u ${account.username}:${isTerminal && account.apiKey !== "" ? apiKey : "KEY"} ${url}/api/v2/user/template_sets`,
    ],
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

const unreadable = "cannot be read (above)";

type ShownSecrets = { apiKey: string; password: string | undefined };

const secretsOf = ({ apiKey, password }: FirstAccount): ShownSecrets => ({
  apiKey: apiKey || unreadable,
  password: password === undefined ? undefined : `${password}   (shown this once)`,
});

/** Names the places of the secrets instead of showing them. */
const withoutSecrets = ({ username, apiKey, password }: FirstAccount, stateDirectory: string): ShownSecrets => ({
  apiKey: apiKey === "" ? unreadable : `api_key in ${readyFile(stateDirectory)}`,
  password:
    password === undefined
      ? undefined
      : `set one: npm run admin -- account password ${username} --state ${stateDirectory}`,
});

function builder(agent: BuilderState): string {
  if (agent.state === "none") return `none: ${agent.why}`;
  if (agent.state === "starting") return "one agent, still starting (see agent.log)";
  const { imageTypes, testdrives } = agent.capabilities;
  const lacking = [...allTypes.filter((type) => !imageTypes.includes(type)), ...(testdrives ? [] : ["testdrives"])];
  const can = [...imageTypes, ...(testdrives ? ["testdrives"] : [])].join(", ") || "nothing";
  return lacking.length === 0
    ? `one agent: ${can}`
    : `one agent: ${can}; not ${lacking.join(", ")} (to see why, run npm run doctor)`;
}

const paint = (code: number) => (text: string) => (process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = paint(1);
const dim = paint(2);
