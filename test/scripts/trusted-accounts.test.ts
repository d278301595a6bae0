import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { reasonAgainst } from "../../scripts/launch/builder.ts";
import { givenVariables, parseOptions } from "../../scripts/launch/options.ts";

/** Builds without isolation run as root on this machine. So accounts must be trusted if they come from elsewhere. */

let output = "";
beforeEach(() => {
  output = "";
  vi.spyOn(process.stderr, "write").mockImplementation((line) => ((output += String(line)), true));
});
afterEach(() => vi.restoreAllMocks());

/** These are the values in wrangler.toml. */
const variables = { BASE_URL: "", TRUSTED_PROXIES: "" };

function reason(isolation: "none" | "vm", argv: string[], set: Record<string, string> = {}) {
  const options = parseOptions(argv, {});
  if (options === "help") throw new Error("help");
  const all = { ...variables, ...set, ...givenVariables(options) };
  return reasonAgainst({ options, canBuild: true, isolation, variables: all });
}

const open = [
  ["--host", "0.0.0.0"],
  ["--base-url", "https://kiln.example.org"],
  ["--base-url", "http://192.168.1.5:8787"],
  ["--trusted-proxy", "127.0.0.1"],
];
const closed = [[], ["--host", "127.0.0.2"], ["--base-url", "http://kiln.localhost:8787"], ["--host", "::1"]];

describe("the agent for bare builds", () => {
  it.each(open)("does not start with %s %s", (option, value) => {
    const given = [option ?? "", value ?? ""];

    expect(reason("none", given)).toBe(`${option} ${value} without --trust-accounts`);
    expect(output).toContain(`with ${option} ${value} other machines reach the service`);
    expect(reason("vm", given)).toBeUndefined();
    expect(reason("none", [...given, "--trust-accounts"])).toBeUndefined();
  });

  it.each(["BASE_URL https://kiln.example.org", "TRUSTED_PROXIES 127.0.0.1"])("does not start with %s", (setting) => {
    const [name = "", value = ""] = setting.split(" ");

    expect(reason("none", [], { [name]: value })).toBe(`${setting} without --trust-accounts`);
    expect(reason("vm", [], { [name]: value })).toBeUndefined();
  });

  it.each(closed)("starts if only this machine reaches the service: %s %s", (...given) => {
    expect(reason("none", given)).toBeUndefined();
  });
});
