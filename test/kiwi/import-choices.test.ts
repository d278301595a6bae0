/**
 * The parts of a KIWI description that are imported: its includes, and the choices of a profile and an architecture.
 */
import { describe, expect, it } from "vitest";
import { imported } from "./support/imported.ts";

const include = (...names: string[]) => names.map((name) => `<include from="${name}"/>`).join("");

describe("importing a part of a description", () => {
  it("reads the files that it includes", () => {
    const files = {
      "config.xml": `<image name="Kiosk">${include("this://./parts/desk.xml", "gone.xml", "../../etc/passwd", "/etc/passwd")}</image>`,
      "parts/desk.xml": `<image><packages type="image"><package name="vim"/></packages>${include("parts/deep.xml")}</image>`,
      "parts/deep.xml": `<image><packages type="image"><package name="nano"/></packages>${include("parts/deep.xml")}</image>`,
    };
    const { definition, omitted } = imported(files);
    expect(definition.packages.map(({ name }) => name)).toEqual(["vim", "nano"]);
    expect(omitted.map(({ what }) => what)).toEqual([
      "include parts/deep.xml",
      "include gone.xml",
      "include ../../etc/passwd",
      "include /etc/passwd",
    ]);
  });

  it("refuses a description in which nothing can be read, and names the wrong included file", () => {
    const outer = '<image name="x"><include from="a.xml"/><include from="b.xml"/></image>';
    expect(() => imported({ "config.xml": outer })).toThrow(
      "None of the files that it includes can be read: a.xml, b.xml.",
    );
    expect(() => imported({ "config.xml": outer, "b.xml": "<image>" })).toThrow(/^b\.xml: The XML is not well-formed/);
  });

  const profiled = `<image name="x">
    <profiles>
      <profile name="desk"><requires profile="base"/></profile><profile name="base"/><profile name="live" import="true"/>
    </profiles>
    <preferences><version>12.0</version></preferences>
    <preferences profiles="live"><type image="iso"/></preferences>
    <preferences profiles="desk,other"><type image="oem"/></preferences>
    <packages type="image" profiles="base"><package name="vim"/></packages>
    <packages type="image" profiles="live"><package name="live"/></packages>
  </image>`;
  const chosen = (...profiles: string[]) => imported({ "config.xml": profiled }, { profiles, arch: "x86_64" });

  it("takes what belongs to the chosen profiles and to those that they require", () => {
    const { definition, omitted } = chosen("desk");
    expect(definition).toMatchObject({ version: "12.0.0", type: "oem", packages: [{ name: "vim" }] });
    expect(omitted.map(({ what }) => what)).toEqual([
      "preferences (type iso)",
      'packages type="image" (live)',
      "profiles",
    ]);
  });

  it("takes the profiles that KIWI takes by itself, if none is chosen", () => {
    const { definition, omitted } = chosen();
    expect(definition).toMatchObject({ type: "iso", packages: [{ name: "live" }] });
    expect(omitted).toContainEqual({ what: "profiles", why: "choose with --profile: desk, base, live" });
  });

  it("names the profiles that there are", () => {
    expect(() => chosen("big")).toThrow("It has no profile big, but desk, base, live.");
  });

  it("takes only what is for its architecture", () => {
    const packages = '<package name="vim"/><package name="boot" arch="aarch64"/><package name="pae" arch="ix86,s390"/>';
    const document = `<image name="x"><packages type="image">${packages}</packages></image>`;
    const on = (arch: string) => {
      const { definition, omitted } = imported({ "config.xml": document }, { profiles: [], arch });
      return [definition.packages.map(({ name }) => name), omitted.map(({ what, why }) => `${what}: ${why}`)];
    };
    expect(on("i686")).toEqual([["vim", "pae"], ["package boot: it is for aarch64 only"]]);
    expect(on("x86_64")[0]).toEqual(["vim"]);
  });

  it("refuses a description that is nothing without a profile, and names the profiles", () => {
    const document = `<image name="x"><profiles><profile name="desk"/><profile name="till"/></profiles>
      <preferences><version>1.0.0</version></preferences>
      <preferences profiles="desk"><type image="iso"/></preferences>
      <packages type="image"><package name="vim"/></packages></image>`;
    expect(() => imported({ "config.xml": document })).toThrow(
      "Each of its image types belongs to a profile. Choose with --profile: desk, till.",
    );
    const { definition } = imported({ "config.xml": document }, { profiles: ["desk"], arch: "x86_64" });
    expect(definition).toMatchObject({ type: "iso", packages: [{ name: "vim" }] });
  });
});
