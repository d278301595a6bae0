import { expect, it } from "vitest";
import { containerTag, imageTypes, imageUse, productOf } from "#lib/contract/index";
import page from "../../docs/api/builds.md?raw";

const nameOf = (type: string) => `Reading_room.x86_64-0.0.2.${type}`;
const fileOf = { iso: nameOf("iso"), ova: nameOf("ova"), oemiso: `${nameOf("oemiso")}.iso` } as Readonly<
  Record<string, string>
>;
const used = (imageType: (typeof imageTypes)[number]) =>
  imageUse({ imageType, fileName: fileOf[imageType] ?? `${nameOf(imageType)}.tar.gz` });

it.each(imageTypes)("names the real files of an image of the type %s in each line", (type) => {
  const lines = used(type).ways.flatMap((way) => way.lines);
  expect(lines.join("\n")).toContain(nameOf(type));
  expect(lines.join("\n")).not.toMatch(/\{(?!SnapshotId|S3Bucket)/);
  if (lines[0]?.startsWith("tar")) expect(lines[0]).toBe(`tar -xzf ${nameOf(type)}.tar.gz`);
});

it("unpacks what is an archive, and only that", () => {
  for (const type of imageTypes) {
    const unpacks = used(type).ways.some(({ lines }) => lines.some((line) => /^(sudo )?tar /.test(line)));
    expect(unpacks, type).toBe(!productOf(type).isMedium);
  }
});

it("has a row in the documentation of builds for each type", () => {
  expect(imageTypes.filter((type) => !page.includes(`\n| \`${type}\``))).toEqual([]);
});

const linesFor = (fileName: string) => JSON.stringify(imageUse({ imageType: "ec2", fileName }));

it("names the architecture in Amazon's words", () => {
  expect(linesFor("A.x86_64-0.0.1.ec2.tar.gz")).toContain("--architecture x86_64");
  expect(linesFor("A.i686-0.0.1.ec2.tar.gz")).toContain("--architecture i386");
  expect(linesFor("A.aarch64-0.0.1.ec2.tar.gz")).toContain("--architecture arm64");
});

const started = (fileName: string) => JSON.stringify(imageUse({ imageType: "oem", fileName }));

it("starts a machine of the architecture", () => {
  expect(started("A.aarch64-0.0.1.oem.tar.gz")).toContain("qemu-system-aarch64 -machine virt");
  expect(started("A.i586-0.0.1.oem.tar.gz")).toContain("qemu-system-x86_64 ");
});

it("runs a container by the name that it has after it was loaded", () => {
  const lines = used("oci").ways.flatMap((way) => way.lines);
  expect(lines).toContain("docker run --rm --interactive --tty reading_room:0.0.2");
  expect(containerTag("Kiosk_2.i686-1.0.oci")).toBe("kiosk_2:1.0");
});

it("reports that a disk is overwritten wherever it is", () => {
  for (const { lines, note } of imageTypes.flatMap((type) => used(type).ways)) {
    if (lines.some((line) => line.includes("of=/dev/"))) expect(note).toContain("is lost");
  }
});
