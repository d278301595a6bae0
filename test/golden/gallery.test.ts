import { beforeAll, it } from "vitest";
import { agentClaims } from "../api/every-call/agent.ts";
import { madeId } from "../api/every-call/sample.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { configure, galleryPath, publish, sendText } from "../support/gallery.ts";
import { rpmOf } from "../support/packages.ts";
import { readXml } from "../support/xml.ts";
import { expectLike } from "./fixtures.ts";

const facts = "<description>One screen, no login.</description><website>https://reading.example.org</website>";

let tux: Client;
let odo: Client;
let id: number;

beforeAll(async () => {
  await loadTemplates();
  [tux, odo] = await Promise.all([signedIn(), signedIn()]);
  id = await createAppliance(tux);
  await configure(tux, id, facts);
  // Has its own packages, so that the gallery shows its warning.
  await madeId(tux, "POST", "/rpms?base_system=tiny-1.0", { file: rpmOf("counter") });
  await tux.post(`/appliances/${id}/cmd/add_user_repository`);
  await tux.post(`/appliances/${id}/cmd/add_package`, { name: "busybox" });
  await (await fakeAgent()).buildsSuccessfully(await startBuild(tux, id));
});

it("matches the example of sharing", async () => {
  await expectLike("sharing_empty", await tux.get(`/appliances/${id}/sharing`));
  await expectLike("sharing", await tux.post(`/appliances/${id}/sharing/${odo.username}`));
  await expectLike("sharing_empty", await tux.delete(`/appliances/${id}/sharing/${odo.username}`));
});

it("matches the example of gallery", async () => {
  await expectLike("gallery_appliances_empty", await odo.get("/gallery/appliances?search=no-such-thing"));

  await tux.delete(galleryPath(id, "/version/0.0.1")); // another test may have published it
  await expectLike("gallery_appliance", await publish(tux, id, "0.0.1", "The clock is right now."));

  await expectLike("gallery_appliance", await odo.get(galleryPath(id)));
  await expectLike("gallery_appliance", await odo.get(galleryPath(id, "/version/0.0.1")));
  await expectLike("gallery_appliance_versions", await odo.get(galleryPath(id, "/versions")));
  await expectLike("gallery_appliance_software", await odo.get(galleryPath(id, "/software")));
  await expectLike("gallery_appliance_rating", await odo.post(galleryPath(id, "/rating"), { rating: 4 }));
  await expectLike("gallery_appliance_rating", await odo.get(galleryPath(id, "/rating")));
  await expectLike("gallery_appliances", await odo.get("/gallery/appliances?latest"));
});

it("matches the example of gallery comments", async () => {
  await publish(tux, id);
  const first = await readXml(await sendText(odo, "POST", galleryPath(id, "/comments"), { body: "Works & fits." }));
  const parent = first.gallery.appliance.comments.comment.id;

  const answer = await sendText(tux, "POST", galleryPath(id, `/comments?parent=${parent}`), { body: "Good to hear!" });

  await expectLike("gallery_appliance_comments", answer);
  await expectLike("gallery_appliance_comments", await odo.get(galleryPath(id, "/comments")));
});

it("matches the example of gallery testdrive", async () => {
  await publish(tux, id);
  const claim = agentClaims({ host: "192.0.2.7", port: 5901 });
  const [answer] = await Promise.all([odo.post(galleryPath(id, "/testdrive")), claim]);

  await expectLike("gallery_appliance_testdrive", answer);
});
