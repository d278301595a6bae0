import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { showSummary } from "../../scripts/launch/summary.ts";

let printed: string;

beforeEach(() => {
  printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => Boolean((printed += String(text))));
});
const isTerminal = process.stdout.isTTY;
afterEach(() => {
  vi.restoreAllMocks();
  process.stdout.isTTY = isTerminal;
});

const show = (password: string | undefined, apiKey = "secretKey") =>
  showSummary({
    url: "http://127.0.0.1:8787",
    baseUrl: "",
    account: { username: "tux", apiKey, password },
    stateDirectory: "/srv/kiln",
    startedAt: Date.now(),
    agent: { state: "none", why: "not wanted" },
    isolation: undefined,
  });

describe("the summary of a start", () => {
  it("shows the secrets on a terminal", () => {
    process.stdout.isTTY = true;
    show("secretPassword");

    expect(printed).toMatch(/API key.* secretKey\n/);
    expect(printed).toContain("secretPassword   (shown this once)");
    expect(printed).toContain("curl -u tux:secretKey http://127.0.0.1:8787/api/v2/user/template_sets");
  });

  it("shows elsewhere where they are", () => {
    process.stdout.isTTY = false;
    show("secretPassword");

    expect(printed).not.toMatch(/secret(Key|Password)/);
    expect(printed).toMatch(/API key +api_key in \/srv\/kiln\/ready\.json\n/);
    expect(printed).toContain("npm run admin -- account password tux --state /srv/kiln");
    expect(printed).toContain("curl -u tux:KEY ");
  });

  it.each([true, false])("says that the key cannot be read (a terminal: %s)", (isTTY) => {
    process.stdout.isTTY = isTTY;
    show(undefined, "");

    expect(printed).toMatch(/API key.* cannot be read \(above\)\n/);
    expect(printed).toContain("curl -u tux:KEY ");
  });

  it("has no line for a password that is not new", () => {
    process.stdout.isTTY = false;
    show(undefined);

    expect(printed).not.toContain("password");
  });
});
