import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { ControlWriter, keyOfDeb, readControls } from "#domain/repositories/controls";
import { controlPrefixOfPart, solvKey } from "#storage/blobs";

const deb = (name: string) => ({ name, epoch: 0, version: "1", release: "2", arch: "amd64" });
const textOf = (name: string) => `Package: ${name}\nVersion: 1-2\nArchitecture: amd64\n`;

/** An import whose files have these packages each. */
async function imported(...files: string[][]): Promise<string[]> {
  const [repositoryId, importId] = [1, crypto.randomUUID()];
  const writer = new ControlWriter(env.BLOBS, { repositoryId, importId });
  for (const names of files) {
    writer.add(new TextEncoder().encode(names.map(textOf).join("\n")));
    await writer.flush();
  }
  return [solvKey(repositoryId, importId, 0)];
}

it("reads the paragraphs of packages from all files of an import", async () => {
  const parts = await imported(["a", "b", "b"], ["c"]);
  const found = await readControls(env.BLOBS, parts, ["b", "c", "d"].map(deb));
  expect(Object.fromEntries(found)).toEqual({ [keyOfDeb(deb("b"))]: textOf("b"), [keyOfDeb(deb("c"))]: textOf("c") });
});

it("reads a file only for packages that it has not read yet", async () => {
  const parts = await imported(["a", "b"], ["c"]);
  const [part = ""] = parts;
  await readControls(env.BLOBS, parts, ["a", "c"].map(deb));
  const { objects } = await env.BLOBS.list({ prefix: controlPrefixOfPart(part) });
  await env.BLOBS.delete(objects.map(({ key }) => key));

  const found = await readControls(env.BLOBS, parts, ["a", "b", "c"].map(deb));

  expect([...found.values()]).toEqual([textOf("a"), textOf("c")]);
  // Another import has other texts.
  expect(await readControls(env.BLOBS, await imported(["x"]), [deb("a")])).toEqual(new Map());
});
