import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { addLicencesAndSources, licenceOf } from "../../src/run/debian-licences.ts";
import { parseDebPackages } from "../../src/run/result.ts";
import { treeAt } from "../../src/run/root-walk.ts";
import { temporaryDir } from "../support/agent-place.ts";

const { signal } = new AbortController();
const head = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n";

describe("the licence in a copyright file", () => {
  it.each([
    ["one", `${head}\nFiles: *\nLicense: MIT\n`, "MIT"],
    ["several, each once", `${head}\nLicense: MIT\n\nLicense: GPL-2+\n the text\n\nLicense: MIT\n`, "MIT and GPL-2+"],
    ["a choice beside another", `${head}\nLicense: GPL-2+ or MIT\n\nLicense: Expat\n`, "(GPL-2+ or MIT) and Expat"],
    ["a choice alone", `${head}\nLicense: GPL-2+ or MIT\n`, "GPL-2+ or MIT"],
    ["a text for people", "This is free software.\nLicense: MIT\n", ""],
    ["a field that would split KIWI's line", `${head}\nLicense: MIT|None\n`, ""],
    ["a file with Windows line ends", `${head}\r\nLicense:  MIT \r\n`, "MIT"],
  ])("is that of %s", (_, text, licence) => {
    expect(licenceOf(text)).toBe(licence);
  });

  it("is found quickly after a line of 200,000 blanks", () => {
    const started = performance.now();
    expect(licenceOf(`${head}\nLicense: x${" ".repeat(200_000)}|\nLicense: MIT\n`)).toBe("MIT");
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe("the list of Debian's packages", () => {
  let dir: string;
  beforeEach(async () => {
    const temporary = await temporaryDir();
    onTestFinished(() => temporary[Symbol.asyncDispose]());
    dir = temporary.path;
  });

  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };

  it("gets the licences of the image, also those behind links between packages", async () => {
    write("root/usr/share/doc/hello/copyright", `${head}\nLicense: MIT\n`);
    write("root/usr/share/doc/other/readme", "");
    symlinkSync("hello", join(dir, "root/usr/share/doc/libhello1"));
    symlinkSync("../hello/copyright", join(dir, "root/usr/share/doc/other/copyright"));
    const lines = ["hello", "libhello1", "other", "silent"].map(
      (name) => `${name}|None|1:2.0-3+b1|None|amd64|None|None\n`,
    );
    write("list", lines.join(""));

    await addLicencesAndSources(join(dir, "list"), treeAt(join(dir, "root")), signal);

    const found = parseDebPackages(readFileSync(join(dir, "list"), "utf8"));
    expect(found.map(({ name, license }) => [name, license])).toEqual([
      ["hello", "MIT"],
      ["libhello1", "MIT"],
      ["other", "MIT"],
      ["silent", undefined],
    ]);
  });

  it("gets the source packages of dpkg's status", async () => {
    const status = [
      "Package: libssl3\nSource: openssl\nVersion: 3.0.15-1~deb12u1\nDescription: a library\n Source: of lies (1)",
      "Package: bash\nVersion: 5.2.15-2+b7\nSource: bash (5.2.15-2)",
      "Package: hello\nVersion: 2.10-3",
    ];
    write("root/var/lib/dpkg/status", `${status.join("\n\n")}\n`);
    const names = ["libssl3", "bash", "hello", "stranger"];
    write("list", names.map((name) => `${name}|None|1.0|None|amd64|None|None\n`).join(""));

    await addLicencesAndSources(join(dir, "list"), treeAt(join(dir, "root")), signal);

    const found = parseDebPackages(readFileSync(join(dir, "list"), "utf8"));
    expect(found.map(({ source }) => source)).toEqual([
      { name: "openssl", version: "3.0.15-1~deb12u1" },
      { name: "bash", version: "5.2.15-2" },
      { name: "hello", version: "2.10-3" },
      undefined,
    ]);
  });

  it.each([
    ["2:1.0-2-3~deb12u1", { epoch: "2", version: "1.0-2", release: "3~deb12u1" }],
    ["0.5.12-2", { version: "0.5.12", release: "2" }],
    ["12.4+deb12u15", { version: "12.4+deb12u15", release: "" }],
  ])("has the parts of the version %s", (version, parts) => {
    expect(parseDebPackages(`a|None|${version}|None|all|None|None\n`)).toEqual([{ name: "a", arch: "all", ...parts }]);
  });
});
