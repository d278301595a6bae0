import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { ImageType } from "#lib/contract/index";
import { Complaint } from "../launch/complaint.ts";
import type { Ready } from "../launch/ready-file.ts";

const lookEveryMs = 1_000;

const Cloned = z.object({ appliance: z.object({ id: z.number() }) });
const Status = z.object({
  status: z.object({ state: z.string(), issues: z.array(z.object({ text: z.string() })).optional() }),
});
const Installed = z.object({
  software_map: z.array(z.object({ software: z.object({ package: z.array(z.unknown()) }) })),
});
const Started = z.object({ build: z.object({ id: z.number() }) });
const Watched = z.object({ running_build: z.object({ state: z.string(), message: z.string() }) });
const Built = z.object({ build: z.object({ size: z.number(), download_url: z.string() }) });
const Testdrive = z.object({
  testdrive: z.object({ id: z.number(), url: z.string(), web_url: z.string().optional() }),
});
const Failure = z.object({ error: z.object({ message: z.string() }) });

type Sent = { params?: Record<string, string>; document?: object };

const caller =
  ({ url, username, api_key: apiKey }: Ready, signal: AbortSignal) =>
  async <T>(request: string, Answer: z.ZodType<T>, { params = {}, document }: Sent = {}): Promise<T> => {
    const [method = "GET", path = ""] = request.split(" ");
    const authorization = `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}`;
    const answer = await fetch(`${url}/api/v2/user${path}?${new URLSearchParams(params)}`, {
      method,
      headers: { authorization, accept: "application/json", ...(document && { "content-type": "application/json" }) },
      ...(document && { body: JSON.stringify(document) }),
      signal,
    });
    const content: unknown = await answer.json();
    if (answer.ok) return Answer.parse(content);
    const { data } = Failure.safeParse(content);
    throw new Complaint(data?.error.message ?? `${request} answered ${answer.status}.`);
  };

export type Client = ReturnType<typeof apiClient>;

/** The API calls of a verification, which are the same as those of other clients. */
export function apiClient(ready: Ready, signal: AbortSignal) {
  const call = caller(ready, signal);
  return {
    clone: async (template: number, arch: string): Promise<number> =>
      (await call("POST /appliances", Cloned, { params: { clone_from: String(template), arch } })).appliance.id,
    addPackage: async (appliance: number, name: string): Promise<void> => {
      await call(`POST /appliances/${appliance}/cmd/add_package`, z.unknown(), { params: { name } });
    },
    configure: async (appliance: number, configuration: object): Promise<void> => {
      await call(`PUT /appliances/${appliance}/configuration`, z.unknown(), { document: { configuration } });
    },
    /** The reasons why an appliance cannot be built. Empty if it can. */
    issuesOf: async (appliance: number): Promise<string[]> => {
      const { status } = await call(`GET /appliances/${appliance}/status`, Status);
      return status.state === "ok" ? [] : (status.issues ?? []).map(({ text }) => text);
    },
    packagesOf: async (appliance: number): Promise<number> => {
      const { software_map: map } = await call(`GET /appliances/${appliance}/software/installed`, Installed);
      return map.reduce((sum, { software }) => sum + software.package.length, 0);
    },
    /** Starts a build, and waits until it has ended. */
    build: async (appliance: number, format: ImageType) => {
      const params = { appliance_id: String(appliance), image_type: format, force: "true" };
      const { id } = (await call("POST /running_builds", Started, { params })).build;
      for (;;) {
        const { state, message } = (await call(`GET /running_builds/${id}`, Watched)).running_build;
        if (state === "finished") return { id, ...(await call(`GET /builds/${id}`, Built)).build };
        if (state !== "queued" && state !== "running") throw new Complaint(`The build is ${state}: ${message}`);
        await sleep(lookEveryMs, undefined, { signal });
      }
    },
    startTestdrive: async (build: number) =>
      (await call("POST /testdrives", Testdrive, { params: { build_id: String(build) } })).testdrive,
    download: async (address: string, into: string): Promise<void> => {
      const answer = await fetch(address, { signal });
      if (!answer.ok || !answer.body) throw new Complaint(`The image cannot be downloaded: ${answer.status}.`);
      await pipeline(answer.body, createWriteStream(into));
    },
  };
}
