import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { cloned } from "../support/software.ts";
import { expectError, readXml } from "../support/xml.ts";
import { storedOf } from "../support/test-repository.ts";

beforeAll(loadTemplates);

let url: string;
let tux: Client;
beforeEach(async () => {
  url = `http://mirror.example.org/${crypto.randomUUID()}`;
  vi.spyOn(globalThis, "fetch").mockImplementation((to) =>
    mirrorOf({ [url]: rpmMd(["perl-Moose-2.2"]) }).fetchOutside(String(to)),
  );
  tux = await signedIn();
});
afterEach(() => void vi.restoreAllMocks());

const imported = async (who: Client): Promise<string> =>
  (await readXml(await who.post("/repositories", { url, name: "Perl" }))).repository.id;
const stored = async () => (await storedOf(url)).packages;

describe("DELETE /repositories/<id>", () => {
  it("deletes it with its packages, and it can be imported again", async () => {
    const id = await imported(tux);
    expect(await readXml(await tux.delete(`/repositories/${id}`))).toHaveProperty("success");

    await expectError(await tux.get(`/repositories/${id}`), 404, "invalid_repository_id");
    expect(await stored()).toBe(0);
    expect(await imported(tux)).not.toBe(id);
  });

  it("keeps another account's repository of the same URL", async () => {
    const other = await signedIn();
    const theirs = await imported(other);
    await tux.delete(`/repositories/${await imported(tux)}`);
    expect(await stored()).toBe(1);
    expect((await other.get(`/repositories/${theirs}`)).status).toBe(200);
  });

  it("is refused while an appliance uses it, and names that", async () => {
    const [id, appliance] = [await imported(tux), await cloned(tux)];
    await tux.post(`/appliances/${appliance}/cmd/add_repository`, { repo_id: id });
    const refusal = await expectError(await tux.delete(`/repositories/${id}`), 400, "unknown_error");
    expect(refusal).toContain(`(${appliance})`);

    await tux.post(`/appliances/${appliance}/cmd/remove_repository`, { repo_id: id });
    expect((await tux.delete(`/repositories/${id}`)).status).toBe(200);
  });
});
