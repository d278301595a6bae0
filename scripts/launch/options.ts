import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { variableNames, variableProblem } from "../../src/domain/variables.ts";
import { type GivenHost, parseHost } from "./allowed-hosts.ts";
import { Complaint } from "./complaint.ts";

/** The architectures that Debian can be offered for in addition to amd64, by Debian's names. Each is an option. */
const addedArchitectures = ["arm64", "i386"] as const;
export type AddedArchitecture = (typeof addedArchitectures)[number];

export type LaunchOptions = {
  port: number;
  /** An IP address of this machine. */
  host: string;
  /** The URL in answers. If it is empty, BASE_URL of wrangler.toml decides. */
  baseUrl: string;
  /** An absolute path. */
  state: string;
  withAgent: boolean;
  trustAccounts: boolean;
  /** The builder root of base systems that name none. Undefined for this machine's tools. */
  builderRoot: string | undefined;
  allowHosts: GivenHost[];
  /** Offers Debian in addition to Tiny Linux. */
  withDebian: boolean;
  /** The URL of the archive. Undefined for the mirror of this machine's apt. */
  debianMirror: string | undefined;
  /** Also offers Debian for these architectures. A PC builds for arm64 by emulation. */
  added: AddedArchitecture[];
  /** The proxies' IP addresses. */
  trustedProxies: string[];
  /** Overrides of wrangler.toml's variables, e.g. by tests: KILN_VARS='{"MAX_BUILDS":"1"}'. */
  vars: Record<string, string>;
};

export const usage = readFileSync(new URL("usage.txt", import.meta.url), "utf8");

/** Reads the command line, or refuses it with a Complaint. "help" means to print the usage. */
export function parseOptions(argv: readonly string[], env: NodeJS.ProcessEnv): LaunchOptions | "help" {
  const given = parse(argv);
  if (given.help) return "help";
  return {
    port: parsePort(given.port),
    host: parseAddress(given.host),
    baseUrl: given["base-url"] === "" ? "" : parseUrl("--base-url", given["base-url"]),
    state: resolve(given.state),
    withAgent: !given["no-agent"],
    trustAccounts: given["trust-accounts"],
    builderRoot: given["builder-root"] === undefined ? undefined : parseRoot(given["builder-root"]),
    allowHosts: given["allow-host"].map(parseHost),
    withDebian: !given["no-debian"],
    debianMirror:
      given["debian-mirror"] === undefined ? undefined : parseUrl("--debian-mirror", given["debian-mirror"]),
    added: addedArchitectures.filter((architecture) => given[architecture]),
    trustedProxies: given["trusted-proxy"].map(parseProxy),
    vars: parseVars(env["KILN_VARS"]),
  };
}

/** The Worker's variables that the options and KILN_VARS give. All others keep their value of wrangler.toml. */
export const givenVariables = ({ baseUrl, trustedProxies, vars }: LaunchOptions): Record<string, string> => ({
  ...(baseUrl !== "" && { BASE_URL: baseUrl }),
  ...(trustedProxies.length > 0 && { TRUSTED_PROXIES: trustedProxies.join(",") }),
  ...vars,
});

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        port: { type: "string", default: "8787" },
        host: { type: "string", default: "127.0.0.1" },
        "base-url": { type: "string", default: "" },
        state: { type: "string", default: ".kiln" },
        "no-agent": { type: "boolean", default: false },
        "trust-accounts": { type: "boolean", default: false },
        "builder-root": { type: "string" },
        "allow-host": { type: "string", multiple: true, default: [] },
        "no-debian": { type: "boolean", default: false },
        "debian-mirror": { type: "string" },
        arm64: { type: "boolean", default: false },
        i386: { type: "boolean", default: false },
        "trusted-proxy": { type: "string", multiple: true, default: [] },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(". ")[0] : String(error);
    throw new Complaint(`${reason}. With npm, put options after --: npm start -- --port 9000\n\n${usage}`);
  }
}

function parsePort(given: string): number {
  const port = Number(given);
  if (/^\d+$/.test(given) && port >= 1 && port <= 65_535) return port;
  throw new Complaint(`--port ${given}: give a number from 1 to 65535.`);
}

function parseRoot(given: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(given)) return given;
  throw new Complaint(`--builder-root ${given}: give the name of a builder root, e.g. debian-12.`);
}

function parseAddress(given: string): string {
  const address = given === "localhost" ? "127.0.0.1" : given;
  if (isIP(address) !== 0) return address;
  throw new Complaint(
    `--host ${given}: give an IP address of this machine, e.g. 127.0.0.1, or 0.0.0.0 for all of them.`,
  );
}

function parseProxy(given: string): string {
  if (isIP(given) !== 0) return given;
  throw new Complaint(`--trusted-proxy ${given}: give the IP address that the proxy connects from, e.g. 127.0.0.1.`);
}

function parseUrl(option: string, given: string): string {
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "") {
    return url.href.replace(/\/+$/, "");
  }
  throw new Complaint(`${option} ${given}: give a URL like https://kiln.example.org.`);
}

function parseVars(given: string | undefined): Record<string, string> {
  const vars = given ? varsIn(given) : {};
  const unknown = Object.keys(vars).filter((name) => !variableNames.includes(name));
  if (unknown.length > 0) throw new Complaint(`KILN_VARS: wrangler.toml has no variable ${unknown.join(", ")}.`);
  const problem = variableProblem(vars);
  if (problem !== undefined) throw new Complaint(`KILN_VARS: ${problem}`);
  return vars;
}

function varsIn(given: string): Record<string, string> {
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(given));
  } catch {
    throw new Complaint(`KILN_VARS is not a JSON object of texts, e.g. {"MAX_BUILDS":"1"}.`);
  }
}
