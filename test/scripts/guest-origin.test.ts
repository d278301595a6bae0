import { afterEach, describe, expect, it, vi } from "vitest";
import { checkGuestOrigin } from "../../scripts/launch/guest-origin.ts";

const local = { baseUrl: "", host: "127.0.0.1", vars: {} };

/** The output of a start with these options. */
function saidOf(options: Partial<Parameters<typeof checkGuestOrigin>[0]>): string {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((words) => Boolean(lines.push(String(words))));
  checkGuestOrigin({ ...local, ...options });
  return lines.join("");
}

afterEach(() => void vi.restoreAllMocks());

describe("checkGuestOrigin", () => {
  it.each([{}, { baseUrl: "http://localhost:9000" }, { host: "::1" }])("is satisfied on one machine: %j", (options) => {
    expect(saidOf(options)).toBe("");
  });

  it.each([{ host: "0.0.0.0" }, { baseUrl: "http://kiln.lan:8787" }])(
    "says what people elsewhere need: %j",
    (options) => {
      expect(saidOf(options)).toContain("TESTDRIVE_ORIGIN");
      expect(saidOf({ ...options, vars: { TESTDRIVE_ORIGIN: "http://guests.lan:8787" } })).not.toContain("TESTDRIVE");
    },
  );

  it("refuses another port of the service's own host name", () => {
    const vars = { TESTDRIVE_ORIGIN: "http://kiln.lan:8788" };
    expect(() => checkGuestOrigin({ ...local, baseUrl: "http://kiln.lan:8787", vars })).toThrow("cookies ignore ports");
  });
});
