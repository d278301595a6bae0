import { describe, expect, it } from "vitest";
import { withMirrors } from "../../scripts/launch/debian.ts";
import { hostsOf, mirrorsIn, publicMirrors } from "../../scripts/launch/debian-mirrors.ts";

describe("mirrorsIn", () => {
  it("finds the mirrors among the lists that apt has", () => {
    const printed = `Debian Backports http://other.example/debian/
Debian http://mirror.example/pub/debian/
Debian-Security https://mirror.example/pub/security//`;

    expect(mirrorsIn(printed)).toEqual({
      archive: "http://mirror.example/pub/debian",
      security: "https://mirror.example/pub/security",
    });
  });

  it("finds the mirrors among the sources of an apt that has no lists yet, and no one else's repository", () => {
    const printed = `'https://packages.example/linux/debian/dists/bookworm/InRelease' packages.example_InRelease 0 
'http://[fd00::2]:3142/debian/dists/bookworm/InRelease' fd00_InRelease 0 `;

    expect(mirrorsIn(printed)).toEqual({ archive: "http://[fd00::2]:3142/debian" });
  });

  it("finds none where apt names none", () => {
    expect(mirrorsIn("Ubuntu http://archive.example/ubuntu/")).toBeUndefined();
  });
});

describe("hostsOf", () => {
  it("names each host once, with its port", () => {
    const mirrors = { archive: "http://[fd00::2]:3142/debian", security: "https://security.example/debian-security" };

    expect(hostsOf(mirrors)).toEqual([
      { host: "fd00::2", port: 3142 },
      { host: "security.example", port: 443 },
    ]);
    expect(hostsOf({ ...mirrors, security: mirrors.archive })).toHaveLength(1);
  });
});

describe("withMirrors", () => {
  const catalogue = { baseSystem: { title: "Debian" }, repositories: [{ url: `${publicMirrors.security}` }] };

  it("lists the configured mirrors, and for images the public ones", () => {
    const mirrors = { archive: publicMirrors.archive, security: "http://mirror.lan/security" };

    expect(withMirrors(catalogue, mirrors)).toEqual({
      baseSystem: { title: "Debian", publicMirrors: { "http://mirror.lan/security": publicMirrors.security } },
      repositories: [{ url: "http://mirror.lan/security" }],
    });
  });

  it("changes nothing where this machine uses the public ones", () => {
    expect(withMirrors(catalogue, publicMirrors)).toEqual(catalogue);
  });
});
