import { describe, expect, it } from "vitest";
import { evr, hasEpoch, nevra, nvra, versionRelease } from "#lib/contract/index";

const hello = { name: "hello", version: "1.1", release: "2", arch: "noarch" };

describe("package names", () => {
  it.each([
    [undefined, "1.1-2"],
    [0, "1.1-2"],
    ["0", "1.1-2"],
    ["(none)", "1.1-2"],
    [3, "3:1.1-2"],
    ["3", "3:1.1-2"],
  ])("with the epoch %j end in %s", (epoch, expected) => {
    const one = { ...hello, epoch };

    expect(hasEpoch(epoch)).toBe(expected.startsWith("3:"));
    expect([evr(one), nevra(one)]).toEqual([expected, `hello-${expected}.noarch`]);
  });

  it("are the same with rpm's omitted epoch and in frozen packages", () => {
    const frozen = { ...hello, epoch: 3 };

    expect([nvra(frozen), nvra(hello)]).toEqual(["hello-1.1-2.noarch", "hello-1.1-2.noarch"]);
  });

  it("end with the version if there is no release", () => {
    expect(nevra({ ...hello, epoch: 1, release: "" })).toBe("hello-1:1.1.noarch");
    expect([versionRelease({ ...hello, release: "" }), versionRelease(hello)]).toEqual(["1.1", "1.1-2"]);
  });
});
