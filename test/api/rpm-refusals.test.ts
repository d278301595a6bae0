import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { bytesOf } from "../support/fake-agent.ts";
import { rpmOf, sourceRpmOf } from "../support/packages.ts";
import {
  base,
  blobCount,
  decoded,
  expectNothingLeft,
  form,
  innerXz,
  pair,
  send,
  tarOf,
} from "../support/rpm-uploads.ts";
import { expectError } from "../support/xml.ts";

beforeAll(loadTemplates);

describe("POST /rpms", () => {
  it("requires base_system and a file", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    await expectError(await send(tux, form(rpmOf("a")), { path: "/rpms" }), 400, "missing_parameter");
    await expectError(await send(tux, form(undefined, { before: { other: 1 } })), 400, "missing_parameter");
    await expectError(await send(tux, null), 400, "missing_parameter");
    await expectError(await send(tux, new Uint8Array(0)), 400, "missing_parameter");
    await expectNothingLeft(tux, blobs);
  });

  it("refuses an unknown base system in the query or the form", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    await expectError(
      await send(tux, form(rpmOf("a")), { path: "/rpms?base_system=11.2" }),
      400,
      "invalid_base_system",
    );
    const late = form(rpmOf("a"), { after: { base_system: "11.2" } });
    await expectError(await send(tux, late, { path: "/rpms" }), 400, "invalid_base_system");
    await expectNothingLeft(tux, blobs);
  });

  const whole = rpmOf("cut", { payload: "p".repeat(5000) });
  it.each<[string, () => Promise<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer>]>([
    ["a text", () => bytesOf("no package at all")],
    ["a page of 300 KB", () => bytesOf("<html>404</html>".repeat(20_000))],
    ["an empty file", () => new Uint8Array(0)],
    ["four bytes of an RPM", () => whole.slice(0, 4)],
    ["an RPM cut off in its header", () => whole.slice(0, 150)],
    ["an RPM cut off in its payload", () => whole.slice(0, -1)],
    ["an RPM with bytes after its end", () => Uint8Array.from([...whole, 0])],
    ["an RPM whose name leaves the folder", () => rpmOf("../../evil")],
    ["a source package", () => sourceRpmOf("a")],
    ["a gzip file that is not a tarball", () => Uint8Array.from(gzipSync("no tarball"))],
    ["a tarball without RPMs", () => tarOf({ README: new Uint8Array(3) })],
    ["a tarball of source packages only", () => tarOf({ "a.src.rpm": sourceRpmOf("a") })],
    ["a tarball with an invalid RPM", () => tarOf({ "a.rpm": rpmOf("a"), "b.rpm": new Uint8Array(600) })],
    ["a tarball with a path that leaves it", () => tarOf({ "a.rpm": rpmOf("a"), "../b.rpm": rpmOf("b") })],
    ["a tarball cut off", async () => (await pair()).slice(0, 1700)],
    ["an xz tarball cut off", () => decoded(innerXz).slice(0, 200)],
    ["a gzip bomb", () => Uint8Array.from(gzipSync(new Uint8Array(32 << 20)))],
  ])("refuses %s and stores nothing of it", async (_, file) => {
    const tux = await signedIn();
    const blobs = await blobCount();
    await expectError(await send(tux, form(await file())), 400, "invalid_file");
    await expectNothingLeft(tux, blobs);
  });

  it("refuses a form that is cut off, inside or after the file", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const request = new Request("https://kiln.test", {
      method: "POST",
      body: form(whole, { after: { base_system: base } }),
    });
    const headers = { "content-type": request.headers.get("content-type") ?? "" };
    const body = new Uint8Array(await request.arrayBuffer());
    for (const end of [3000, -60, -3]) {
      await expectError(await send(tux, body.slice(0, end), { headers }), 400, "invalid_file");
    }
    await expectNothingLeft(tux, blobs);
  });

  it("refuses two files in one form", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const two = form(rpmOf("a"));
    two.append("file", new File([rpmOf("b")], "b.rpm"));
    await expectError(await send(tux, two), 400, "invalid_file");
    await expectNothingLeft(tux, blobs);
  });

  it("names its limit for a file that is too large", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const settings = { MAX_UPLOAD_MB: "1" };
    const large = rpmOf("large", { payload: "p".repeat(2 ** 20) });
    const answer = await send(tux, form(large), { settings });
    expect(await expectError(answer, 400, "invalid_file")).toContain("1 MiB");
    const announced = await send(tux, form(rpmOf("a")), { settings, headers: { "content-length": "2000000000" } });
    expect(await expectError(announced, 400, "invalid_file")).toContain("1 MiB");
    await expectNothingLeft(tux, blobs);
  });
});
