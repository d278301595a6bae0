import { describe, expect, it } from "vitest";
import { givenVariables, parseOptions } from "../../scripts/launch/options.ts";

const parse = (...argv: string[]) => parseOptions(argv, {});

function variables(...argv: string[]) {
  const options = parse(...argv);
  return options === "help" ? undefined : givenVariables(options);
}

describe("parseOptions", () => {
  it("defaults to this machine only, an agent, and no private addresses", () => {
    expect(parse()).toMatchObject({
      port: 8787,
      host: "127.0.0.1",
      baseUrl: "",
      withAgent: true,
      trustAccounts: false,
      allowHosts: [],
      withDebian: true,
      added: [],
      vars: {},
    });
  });

  it("makes the state directory absolute", () => {
    expect(parse("--state", "somewhere")).toMatchObject({ state: `${process.cwd()}/somewhere` });
  });

  it("adds Debian for other architectures by options", () => {
    expect(parse("--i386", "--arm64")).toMatchObject({ added: ["arm64", "i386"] });
  });

  it("accepts --allow-host several times", () => {
    expect(parse("--allow-host", "mirror.lan:8080", "--allow-host", "[fd00::1]")).toMatchObject({
      allowHosts: [
        { host: "mirror.lan", port: 8080 },
        { host: "fd00::1", port: undefined },
      ],
    });
  });

  it("accepts --trusted-proxy several times, with addresses only", () => {
    expect(parse("--trusted-proxy", "10.0.0.1", "--trusted-proxy", "::1")).toMatchObject({
      trustedProxies: ["10.0.0.1", "::1"],
    });
    expect(() => parse("--trusted-proxy", "proxy.lan")).toThrow("give the IP address");
  });

  it("drops the slash at the end of --base-url", () => {
    expect(parse("--base-url", "https://kiln.example.org/")).toMatchObject({ baseUrl: "https://kiln.example.org" });
  });

  it("reads variables of the Worker from KILN_VARS", () => {
    expect(parseOptions([], { KILN_VARS: '{"MAX_BUILDS":"1"}' })).toMatchObject({ vars: { MAX_BUILDS: "1" } });
  });

  it.each([
    ['{"KEEP_IMAGE_DAYS":"30"}', /no variable KEEP_IMAGE_DAYS\./],
    ['{"KEEP_IMAGES_DAYS":"30 days"}', /KEEP_IMAGES_DAYS: 30 days is not a number/],
    ['{"MAX_BUILDS":1}', /not a JSON object of texts/],
  ])("refuses KILN_VARS=%s", (given, message) => {
    expect(() => parseOptions([], { KILN_VARS: given })).toThrow(message);
  });

  it("overrides only those variables that are given", () => {
    expect(variables()).toEqual({});
    expect(variables("--trusted-proxy", "::1", "--base-url", "http://kiln.lan")).toEqual({
      BASE_URL: "http://kiln.lan",
      TRUSTED_PROXIES: "::1",
    });
  });

  it("returns the usage for --help, whatever else is given", () => {
    expect(parse("--help", "--port", "no")).toBe("help");
  });

  it.each([
    [["--port", "0"], /--port 0/],
    [["--port", "65536"], /--port 65536/],
    [["--port", "80a"], /--port 80a/],
    [["--builder-root", "../root"], /--builder-root \.\.\/root/],
    [["--host", "kiln.example.org"], /--host kiln\.example\.org/],
    [["--base-url", "kiln.example.org"], /--base-url kiln\.example\.org/],
    [["--base-url", "ftp://kiln.example.org"], /--base-url ftp/],
    [["--allow-host", "mirror.lan:99999"], /--allow-host mirror\.lan:99999/],
    [["--allow-host", "http://mirror.lan"], /--allow-host http/],
    [["--allow-host", "[mirror.lan]"], /--allow-host \[mirror/],
    [["--prot", "9000"], /--prot/],
    // The arguments that npm passes on from `npm start --port 9000`.
    [["9000"], /npm start -- --port 9000/],
  ])("refuses %j with a message that names it", (argv, sentence) => {
    expect(() => parse(...argv)).toThrow(sentence);
  });

  it("refuses KILN_VARS that is not an object of strings", () => {
    expect(() => parseOptions([], { KILN_VARS: '{"MAX_BUILDS":1}' })).toThrow(/KILN_VARS/);
  });
});
