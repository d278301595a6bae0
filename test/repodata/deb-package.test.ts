import { describe, expect, it } from "vitest";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { isDeb, tapControlTar } from "#lib/repodata/deb-archive";
import { readDebPackage } from "#lib/repodata/deb-package";
import { concatenate } from "#lib/repodata/streams";
import { arOf, controlOf, fileEntry, type Member, membersOf, tarGz } from "../support/deb-package.ts";
import { bytesOf, collected, expectFault, inChunks, noOthers, zeros } from "./support.ts";

async function read(file: Uint8Array, chunkBytes = 7) {
  const { stream, found } = tapControlTar(inChunks(file, chunkBytes));
  expect(await collected(stream)).toEqual(new Uint8Array(file));
  return readDebPackage(await found, noOthers);
}

/** A package with these members in place of one of its three. */
async function withMember(nth: 0 | 1 | 2, ...others: Member[]) {
  const members: Member[] = await membersOf(controlOf("a 1"));
  members.splice(nth, 1, ...others);
  return arOf(...members);
}

const withControl = async (control: string) => arOf(...(await membersOf(control)));
const withControlTar = async (...entries: Parameters<typeof tarGz>) =>
  withMember(1, ["control.tar.gz", await tarGz(...entries)]);
const control = controlOf("a 1");

const cut = async (bytes: number) => (await withControl(control)).slice(0, bytes);
async function withControlSize(size: string) {
  const whole = await withControl(control);
  whole.set(bytesOf(size.padEnd(10)), 8 + 60 + 4 + 48);
  return whole;
}

describe("a Debian package", () => {
  it.each([1, 7, 100_000])("describes the package, while %s bytes come at a time", async (chunkBytes) => {
    const text = controlOf("libc++1-20 1:20.1~rc2-3+b1 amd64; Depends: libc6 (>= 2.36), a:any | b (<< 1:2-3)");
    expect(await read(await withControl(text), chunkBytes)).toEqual({
      name: "libc++1-20",
      epoch: 1,
      version: "20.1~rc2",
      release: "3+b1",
      arch: "amd64",
      control: text,
    });
  });

  it.each([
    ["1.0", { epoch: 0, version: "1.0", release: "" }],
    ["1.0-a-2", { epoch: 0, version: "1.0-a", release: "2" }],
    ["0:7", { epoch: 0, version: "7", release: "" }],
  ])("has the version %s", async (version, parts) => {
    expect(await read(await withControl(controlOf(`a ${version}`)))).toMatchObject(parts);
  });

  it("may have members for other programs, and its control.tar uncompressed", async () => {
    const tar = await packTar([fileEntry("control", control)]);
    const [binary, , data] = await membersOf(control);
    const file = arOf(binary, ["_other", "x"], ["control.tar", tar], data, ["_gpgorigin", "signature"]);
    expect(await read(file)).toMatchObject({ name: "a" });
  });

  it("is known by its first bytes", () => {
    expect([isDeb(arOf()), isDeb(bytesOf("!<arc"))]).toEqual([true, false]);
  });
});

describe("a file that is no valid Debian package", () => {
  it.each<[string, () => Promise<Uint8Array> | Uint8Array, RegExp]>([
    ["an archive without members", () => arOf(), /no debian-binary/],
    ["one without control.tar", async () => withMember(1), /"data.tar.gz" where control.tar is expected/],
    ["one without data.tar", async () => withMember(2), /no data.tar/],
    ["another archive", () => arOf(["a.o", "object"]), /"a.o" where debian-binary is expected/],
    ["another format", async () => withMember(0, ["debian-binary", "3.0\n"]), /format is not 2.0/],
    ["an empty control.tar", async () => withMember(1, ["control.tar", ""]), /control.tar is empty/],
    ["two control.tar", async () => withMember(2, ["control.tar.gz", "x"], ["data.tar", "x"]), /where data.tar is/],
    ["two data.tar", async () => withMember(2, ["data.tar", "x"], ["data.tar.xz", "y"]), /where its end is/],
    ["a cut magic number", () => cut(5), /too early/],
    ["a cut header", () => cut(40), /too early/],
    ["a cut control.tar", () => cut(200), /too early/],
    ["cut data", async () => (await withControl(control)).slice(0, -2), /too early/],
    ["a size that is not a number", async () => withControlSize("-1"), /valid header/],
    ["a control.tar of a gigabyte", async () => withControlSize("1073741824"), /1073741824 bytes, more than/],
  ])("%s is refused", async (_, file, message) => {
    const { stream } = tapControlTar(inChunks(await file(), 64));
    await expect(collected(stream)).rejects.toThrow(message);
  });
});

describe("a control.tar", () => {
  const damaged = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 1, 2, 3);
  const link = { name: "control", size: 0, type: "symlink", linkname: "/etc/passwd" } as const;
  const many = Array.from({ length: 1_001 }, (_, nth) => fileEntry(`file${nth}`, ""));
  const twice = [fileEntry("control", control), fileEntry("./control", control)];

  it.each<[string, () => Promise<Uint8Array>, RegExp]>([
    ["without a control file", async () => withControlTar(fileEntry("md5sums", "")), /no file called control/],
    ["with two control files", async () => withControlTar(...twice), /two files/],
    ["with a path that leaves it", async () => withControlTar(fileEntry("../control", control)), /points outside/],
    ["with a path that leaves it later", async () => withControlTar(fileEntry("a/../../x", "")), /points outside/],
    ["with an absolute path", async () => withControlTar(fileEntry("/control", control)), /points outside/],
    ["whose control file is a link", async () => withControlTar({ header: link }), /is a symlink/],
    [
      "that is cut off",
      async () => withMember(1, ["control.tar", (await packTar([fileEntry("control", control)])).slice(0, 700)]),
      /control.tar/,
    ],
    ["that is no tarball", async () => withMember(1, ["control.tar", "x".repeat(2000)]), /control.tar/],
    ["that is damaged", async () => withMember(1, ["control.tar.gz", damaged]), /damaged/],
    ["with a long control file", async () => withControl(`${control} ${"x".repeat(2 ** 18)}\n`), /file is larger/],
    ["with a thousand files", async () => withControlTar(...many), /more than 1000/],
  ])("%s is refused", async (_, file, message) => {
    await expect(read(await file(), 4096)).rejects.toThrow(message);
  });

  it("that is a bomb is refused while it expands", async () => {
    const bomb = new Uint8Array(gzipSync(await collected(zeros(2 ** 26).stream)));
    await expectFault(read(await withMember(1, ["control.tar.gz", bomb]), 4096), "too_large", /decompresses to more/);
  });
});

describe("a control file", () => {
  it.each<[string, string, RegExp]>([
    ["without a name", control.replace(/^Package.*\n/, ""), /its name is ""/],
    ["with a name that leaves the folder", controlOf("../evil 1"), /its name is "..\/evil"/],
    ["with a version that leaves the folder", controlOf("a 1/../../2"), /its version is/],
    ["without a version", control.replace(/Version.*\n/, ""), /its version is ""/],
    ["for an architecture that no image has", controlOf("a 1 riscv64"), /"riscv64", and not for amd64/],
    ["with a field twice", `${control}PACKAGE: b\n`, /two fields "PACKAGE"/],
    ["with a second paragraph", `${control}\nPackage: b\nVersion: 2\n`, /the line ""/],
    ["with a line that is no field", `${control}what is this\n`, /the line "what/],
    ["with control characters", control.replace("the package", "the \u0000package"), /control characters/],
    ["with dependencies that dpkg refuses", controlOf("a 1; Depends: b (>> )"), /its Depends has "b \(>> \)"/],
  ])("%s is refused", async (_, text, message) => {
    await expectFault(read(await withControl(text)), "malformed_package", message);
  });

  it("that is not UTF-8 is refused", async () => {
    const body = concatenate([bytesOf(control), Uint8Array.of(0x58, 0x3a, 0xff, 0x0a)]);
    const file = await withControlTar({ header: { name: "control", size: body.byteLength }, body });
    await expectFault(read(file), "malformed_package");
  });
});
