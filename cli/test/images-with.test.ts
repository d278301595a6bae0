/** `kiln images`: which images have a package. */
import { expect, it } from "vitest";
import { signedInForEachTest } from "./support/signed-in.ts";

const here = signedInForEachTest();

const image = (build_id: number) => ({
  build_id,
  appliance_id: 1004,
  appliance: "Kiosk",
  version: "0.0.2",
  image_type: "oem",
  completed_at: "2026-03-04T16:24:50Z",
  packages: [{ name: "openssl", version: "3.0.15-1", arch: "amd64" }],
});

it("lists the images that have a package", async () => {
  here.service.answers["/api/v2/user/account/images"] = { images: [image(7)] };
  const { code, stdout } = await here.machine.kiln(["images", "--with", "openssl=3.0.15-1"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^BUILD +APPLIANCE +VERSION +TYPE +PACKAGES +BUILT\n7 +Kiosk +0\.0\.2 +oem +openssl 3\.0\.15-1 /,
  );
});

it("says that there are none, and that it needs a package", async () => {
  here.service.answers["/api/v2/user/account/images"] = { images: [] };
  const none = await here.machine.kiln(["images", "--with", "openssl"]);
  expect(none).toMatchObject({ code: 0, stdout: "None of your images has openssl.\n" });
  const nameless = await here.machine.kiln(["images"]);
  expect(nameless.code).not.toBe(0);
  expect(nameless.stderr).toContain("Which images?");
});
