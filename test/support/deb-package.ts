/** Debian packages as dpkg-deb makes them. */
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { concatenate } from "#lib/repodata/streams";

const bytesOf = (text: string) => new TextEncoder().encode(text);

export type Member = readonly [name: string, bytes: Uint8Array | string];

/** An archive of `ar`. */
export function arOf(...members: Member[]): Uint8Array<ArrayBuffer> {
  const parts = members.flatMap(([name, content]) => {
    const bytes = typeof content === "string" ? bytesOf(content) : content;
    const numbers = `${"0".padEnd(12)}${"0".padEnd(6)}${"0".padEnd(6)}${"100644".padEnd(8)}`;
    const header = `${name.padEnd(16)}${numbers}${String(bytes.byteLength).padEnd(10)}\`\n`;
    return [bytesOf(header), bytes, bytesOf(bytes.byteLength % 2 === 1 ? "\n" : "")];
  });
  return concatenate([bytesOf("!<arch>\n"), ...parts]);
}

type TarEntry = Parameters<typeof packTar>[0][number];
export const fileEntry = (name: string, body: string): TarEntry => ({
  header: { name, size: bytesOf(body).byteLength },
  body,
});

export const tarGz = async (...entries: TarEntry[]): Promise<Uint8Array> =>
  new Uint8Array(gzipSync(await packTar(entries)));

/** `name version[ arch]`, then fields, as in `deb.ts`. */
export function controlOf(text: string): string {
  const [head = "", ...fields] = text.split(/; */);
  const [name = "", version = "", arch = "all"] = head.split(" ");
  return [
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${arch}`,
    "Maintainer: Someone <someone@example.org>",
    ...fields,
    `Description: the package ${name}`,
    " and more about it",
    "",
  ].join("\n");
}

/** The members of a package with this control file. */
export async function membersOf(control: string, payload = "payload"): Promise<[Member, Member, Member]> {
  const data = await tarGz(fileEntry("./usr/share/doc/payload", payload));
  const controlTar = await tarGz(
    { header: { name: "./", size: 0, type: "directory" } },
    fileEntry("./control", control),
  );
  return [
    ["debian-binary", "2.0\n"],
    ["control.tar.gz", controlTar],
    ["data.tar.gz", data],
  ];
}

export const debOf = async (text: string, payload?: string): Promise<Uint8Array<ArrayBuffer>> =>
  arOf(...(await membersOf(controlOf(text), payload)));

// `packed 1:2.0~rc1-3 all; Depends: base-files`, with parts compressed by xz, which tests cannot make here.
const packedXz =
  "ITxhcmNoPgpkZWJpYW4tYmluYXJ5ICAgMTc5NTM3NDcxMyAgMCAgICAgMCAgICAgMTAwNjQ0ICA0ICAgICAgICAgYAoyLjAKY29udHJvbC50YXIueHogIDE3OTUzNzQ3MTMgIDAgICAgIDAgICAgIDEwMDY0NCAgMzQ0ICAgICAgIGAK/Td6WFoAAATm1rRGBMCXAoBQIQEWAAAAAAAAANS270ngJ/8BD10AFwu8HH0BlcAdSj55FcLMJqNjHG/iYCEL3EDu2HXt/Qq2J8QonaxpNS/k1Qhu0LTfQlSj6nwMK8RGW/LIRA2QRvLoHS8e9dfagfIzE9AhMWqcpSmWsbsL6gMYy+XwtUsYBkTUePAPHFkVjGvfiJAhxVgz25u8jJr159pStUYnW6zDupKXdPN7Vauj976j8ABNBFomfvMmpvad+szFKK0fIFX1Qy24HUtCxMXyb9cyfpdJjHm3iOGLamoUSQbR59YWp3HFgBIZKs5Suyjv0nqKFQEpGOxHfNgHnIR/xvUckIA64NMw1NEhBNwLZprC1emivUlnkoobCONqtw+wB/xaCYMlKVDw9aWB91Onduh2AAAAW3qUMKLvvHYAAbMCgFAAAO1+LqSxxGf7AgAAAAAEWVpkYXRhLnRhci54eiAgICAgMTc5NTM3NDcxMyAgMCAgICAgMCAgICAgMTAwNjQ0ICAyMjQgICAgICAgYAr9N3pYWgAABObWtEYEwJ4BgFAhARYAAAAAAAAAWiVzWuAn/wCWXQAXC7wcfQGVwB1KPnkVwswmo2Mcb+JgIQvcQO7Yde39CrYnxCidrGk1L+TVCG7QtN9CVKPqfAwrxEZrNnxl1RtJDKpVtpLCtdaHEPHs9C1SreXshNrWSmDDJTz5MC+ML66mJG6i3F+bS1JpRjzw6f9b68YxT6AX6BI8o08VdgPBJgQ/6bdH4esOOgu7uZKl5LNNu0MQMAAAAAB95UW+s72u2QABugGAUAAA9VWBxLHEZ/sCAAAAAARZWg==";
export const packedByXz = () => Uint8Array.from(atob(packedXz), (character) => character.charCodeAt(0));
