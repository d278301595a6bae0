/** An appliance of Debian with a mirror that the test changes, and the service's checks of its images. */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { findWatch } from "#storage/watches";
import { signedIn, type Client } from "./client.ts";
import { putConfiguration } from "./configurations.ts";
import { loadDebian } from "./debian.ts";
import { createAppliance, startBuild } from "./factories.ts";
import { fakeAgent } from "./fake-agent.ts";
import { takeChores } from "./sweep.ts";
import { db } from "./testdrives.ts";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A security update of its packages. */
export const securityUpdate = ["base-files 12.4+deb12u13"];

export class DebianAppliance {
  readonly tux: Client;
  readonly mirror: Awaited<ReturnType<typeof loadDebian>>;
  readonly id: number;

  private constructor({ tux, mirror, id }: Pick<DebianAppliance, "tux" | "mirror" | "id">) {
    this.tux = tux;
    this.mirror = mirror;
    this.id = id;
  }

  static async create(): Promise<DebianAppliance> {
    const tux = await signedIn();
    await createAppliance(tux); // loads the templates
    const mirror = await loadDebian();
    return new DebianAppliance({ tux, mirror, id: await createAppliance(tux, { clone_from: 900 }) });
  }

  async configure(configuration: object): Promise<void> {
    expect((await putConfiguration(this.tux, this.id, configuration)).status).toBe(200);
  }

  startBuild(): Promise<number> {
    return startBuild(this.tux, this.id);
  }

  async finish(buildId: number): Promise<void> {
    const installed = [{ name: "base-files", version: "12.4+deb12u12", release: "", arch: "amd64" }];
    await (await fakeAgent()).buildsSuccessfully(buildId, undefined, { installed });
  }

  /** Makes an image. */
  async build(): Promise<number> {
    const buildId = await this.startBuild();
    await this.finish(buildId);
    return buildId;
  }

  /** Checks only this appliance, as if this much time had passed. */
  async look(ms = 0): Promise<void> {
    const at = Date.now() + ms;
    await env.DB.batch([
      env.DB.prepare("UPDATE watches SET look_at = ? WHERE appliance_id <> ?").bind(at + 1000 * dayMs, this.id),
      env.DB.prepare("UPDATE watches SET look_at = min(look_at, ?) WHERE appliance_id = ?").bind(at, this.id),
    ]);
    await takeChores([{ body: { chore: "watchImages", at } }]);
  }

  watch(): ReturnType<typeof findWatch> {
    return findWatch(db, this.id);
  }

  /** The builds that the service has started on its own. */
  async automaticBuilds() {
    const all = await env.DB.prepare("SELECT id, version, status FROM builds WHERE appliance_id = ? AND is_background")
      .bind(this.id)
      .all<{ id: number; version: string; status: string }>();
    return all.results;
  }

  async automaticBuild(): Promise<number> {
    const [one, ...others] = await this.automaticBuilds();
    expect(others).toEqual([]);
    if (!one) throw new Error("nothing is built again");
    return one.id;
  }
}
