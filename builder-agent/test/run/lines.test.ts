import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { followFile } from "../../src/run/follow-file.ts";
import { parsePackageLine } from "../../src/run/log-line.ts";
import { parsePackages } from "../../src/run/result.ts";
import { withoutSecrets } from "../../src/run/secrets.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";

describe("zypper's lines", () => {
  it.each([
    [
      "zypper 1.14.40",
      "bootstrap: Retrieving package glibc-2.36-9.x86_64 (2/21),   4.5 MiB ( 12.0 MiB unpacked)",
      4.5,
      12,
    ],
    ["later versions", "system: Retrieving: glibc-2.36-9.x86_64 (main) (2/21),   4.5 MiB", 4.5, 0],
  ])("of %s include sizes", (_, text, download, unpacked) => {
    expect(parsePackageLine(text)).toMatchObject({
      kind: "retrieved",
      name: "glibc-2.36-9.x86_64",
      nth: 2,
      of: 21,
      downloadBytes: download * 1024 ** 2,
      unpackedBytes: unpacked * 1024 ** 2,
    });
  });

  it.each([
    "bootstrap: Retrieving: glibc-2.36-9.x86_64.rpm [done]",
    "bootstrap: Retrieving repository 'main' metadata [.done]",
  ])("about no package of the transaction are ignored: %s", (text) => {
    expect(parsePackageLine(text)).toBeUndefined();
  });
});

describe("the lines of debootstrap and apt", () => {
  it.each([
    ["bootstrap: I: Unpacking libc6:amd64...", { kind: "step", name: "libc6" }],
    ["bootstrap: I: Configuring base-files...", { kind: "step", name: "base-files" }],
    ["system: Unpacking libstdc++6 (12.2.0-14) ...", { kind: "step", name: "libstdc++6" }],
    ["system: Setting up g++ (4:12.2.0-3) ...", { kind: "step", name: "g++" }],
    [
      "system: 0 upgraded, 81 newly installed, 0 to remove and 0 not upgraded.",
      { kind: "total", downloadBytes: 81, unpackedBytes: 81 },
    ],
    ["system: Get:67 file:/packages bookworm/main amd64 dracut amd64 059-4 [323 kB]", undefined],
    ["bootstrap: I: Retrieving apt 2.6.1", undefined],
  ])("count packages: %s", (text, expected) => {
    expect(parsePackageLine(text)).toEqual(expected);
  });
});

describe("KIWI's list of packages", () => {
  it("is read without rpm's (none) and without signing keys", () => {
    const text =
      "a|1|2.0|3|noarch|(none)|MIT or (x|y)\ngpg-pubkey|(none)|3a608c6c|6b004efc|(none)|x\nb|(none)|1|1|x86_64|(none)|(none)\n";

    expect(parsePackages(text)).toEqual([
      { name: "a", epoch: "1", version: "2.0", release: "3", arch: "noarch", license: "MIT or (x|y)" },
      { name: "b", version: "1", release: "1", arch: "x86_64" },
    ]);
  });
});

describe("the uploaded build log", () => {
  it.each([
    ["[ DEBUG   ]: 1 | EXEC: [openssl passwd -1 -salt xyz linux]", "linux"],
    ["[ DEBUG   ]: 1 | EXEC: [chroot /root usermod -p $6$abc$def -s /bin/bash root]", "$6$abc"],
    ["[ INFO    ]: 1 | Setting up repository https://tux:geheim@example.org/tiny", "geheim"],
    ["[updates|https://token@example.org/tiny] Valid metadata not found", "token"],
  ])("contains no secret: %s", (line, secret) => {
    expect(withoutSecrets(line)).not.toContain(secret);
  });

  it("otherwise equals KIWI's", () => {
    const lines = readFileSync(new URL("../fixtures/create-oem.log", import.meta.url), "utf8").split("\n");

    expect(lines.map(withoutSecrets)).toEqual(lines);
  });
});

describe("followFile", () => {
  it("returns every line once, including an unfinished last one", async () => {
    await using dir = await temporaryDir();
    const path = join(dir.path, "log");
    const lines: string[] = [];

    const following = followFile(path, (line) => void lines.push(line), 5);
    appendFileSync(path, "one\ntw");
    await eventually("the first line", () => lines.length === 1);
    appendFileSync(path, "o ü\nthree");
    await following.end();

    expect(lines).toEqual(["one", "two ü", "three"]);
  });
});
