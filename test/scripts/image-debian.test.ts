/** How config.sh sets the locale of a Debian image, and makes dracut create its initial archive. Runs on this host. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { plain } from "../kiwi/support/facts.ts";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-debian-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const inImage = imagesIn(dir);
const debian = { release: "bookworm", sources: [], keys: [] };
const program = (name: string) => `printf '#!/bin/sh\n' > /usr/bin/${name}; chmod 755 /usr/bin/${name}`;
const livenet = "mkdir -p /usr/lib/dracut/modules.d/90livenet";

/** The modules that dracut is configured to add, after these commands have installed them. */
const added = (...installed: string[]): string[] =>
  inImage(
    { debian },
    "cat /etc/dracut.conf.d/* | sed -n 's/^add_dracutmodules+=//p'",
    [
      "rm -f /usr/bin/curl /usr/bin/dhclient /usr/sbin/dhclient /usr/sbin/locale-gen",
      program("dracut"),
      ...installed,
    ].join("\n"),
  )
    .trim()
    .split("\n");

it("can fetch its root from a web server if it has what that takes", () => {
  const withClient = added(livenet, program("curl"), program("dhclient"));
  expect(withClient).toEqual(['" bash "', '" network-legacy livenet "']);
  expect(added(livenet, program("curl"))).toEqual(['" bash "', '" systemd-networkd livenet "']);
});

it("fetches no root without a program for that", () => {
  expect(added(livenet)).toEqual(['" bash "']);
});

/** Asks in an image with this language. Like Debian's, its locale-gen never fails. */
const asked = (language: string, ask: string) =>
  inImage({ debian, locale: { ...plain.locale, language } }, ask, program("locale-gen"));

describe("the locale", () => {
  it("is the language of the appliance", () => {
    expect(asked("C.UTF-8", "cat /etc/locale.conf")).toBe("LANG=C.UTF-8\n");
  });

  it("fails the build if Debian has none for the language", () => {
    expect(asked("en_DE.UTF-8", "true")).toContain("kiln: error: Debian has no locale en_DE.UTF-8.");
  });
});
