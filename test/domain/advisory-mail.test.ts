/** The times at which advisories are mailed, and the contents of a mail. */
import { describe, expect, it } from "vitest";
import { advisoryMail, mailAt } from "#domain/mail/advisory-mail";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const account = { username: "mira", email: "mira@example.org" };
const imageOf = (over: object = {}) => ({
  build_id: 7,
  appliance_id: 5,
  name: "Kiosk",
  version: "0.0.1",
  image_type: "oem",
  fixed: 1,
  exploited: 0,
  advisories: ["CVE-2026-1001"],
  ...over,
});

describe("mailAt", () => {
  const now = 100 * hourMs;
  it.each([
    ["the first news", { isUrgent: false, sentAt: null }, now + 5 * minuteMs],
    ["news an hour after a mail", { isUrgent: false, sentAt: now - hourMs }, now + 23 * hourMs],
    ["news two days after a mail", { isUrgent: false, sentAt: now - 48 * hourMs }, now + 5 * minuteMs],
    ["urgent news two hours after a mail", { isUrgent: true, sentAt: now - 2 * hourMs }, now + 5 * minuteMs],
    ["urgent news a minute after a mail", { isUrgent: true, sentAt: now - minuteMs }, now + 59 * minuteMs],
  ])("%s", (_, given, at) => expect(mailAt({ ...given, now })).toBe(at));
});

describe("advisoryMail", () => {
  it("names images, their advisories and where to build them again", () => {
    expect(advisoryMail(account, [imageOf({ fixed: 12 })], "https://kiln.test")).toEqual({
      to: "mira@example.org",
      subject: "Kiln: updates fix vulnerabilities in 1 image",
      headers: { "List-Unsubscribe": "<https://kiln.test/account#mail>" },
      text: [
        "Newer packages fix advisories about images of your account mira. Build an image again to get them.",
        "Kiosk 0.0.1, oem: 12 advisories\nCVE-2026-1001 and 11 more\nhttps://kiln.test/appliance/5/build",
        "You get this mail because your account asks for it. To end it: https://kiln.test/account#mail\n",
      ].join("\n\n"),
    });
  });

  it("begins with exploited ones", () => {
    const exploited = imageOf({ name: "Till", fixed: 2, exploited: 1 });
    const { subject, text } = advisoryMail(account, [imageOf(), exploited], "https://kiln.test");
    expect(subject).toBe("Kiln: exploited vulnerabilities in 1 image");
    expect(text.indexOf("Till 0.0.1, oem: 2 advisories, 1 exploited")).toBeLessThan(text.indexOf("Kiosk"));
    expect(text).toContain("Kiosk");
  });

  it("puts nothing that users write into its headers, and names at most 50 images", () => {
    const names = Array.from({ length: 53 }, (_, nth) => imageOf({ name: `Evil ${nth}\r\nBcc: all@example.org` }));
    const { text, ...others } = advisoryMail(account, names, "https://kiln.test");
    expect(JSON.stringify(others)).not.toContain("Evil");
    expect(text.match(/Evil/g)).toHaveLength(50);
    expect(text).toContain("And 3 more images.");
  });
});
