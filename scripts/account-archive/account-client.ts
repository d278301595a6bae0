import { createWriteStream, openAsBlob } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { AdminClient } from "../admin/client.ts";
import { Complaint } from "../launch/complaint.ts";
import { warn } from "../launch/progress.ts";

const Refused = z.object({ error: z.object({ message: z.string() }) });
const defaultWaitSeconds = 10;

export type AccountClient = ReturnType<typeof accountClient>;

/** The API as the account itself sees it, so that the same rules apply as to the account. */
function accountClient({ url, username, apiKey }: { url: string; username: string; apiKey: string }) {
  const authorization = `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}`;
  const send = async (method: string, path: string, given: Sent = {}): Promise<Response> => {
    const { body = null, type } = given;
    const headers = { authorization, accept: "application/json", ...(type && { "content-type": type }) };
    for (;;) {
      const response = await fetch(`${url}/api/v2/user${path}`, { method, headers, body });
      if (response.ok) return response;
      const text = await response.text();
      if (response.status !== 429) throw new Complaint(messageOf(text) ?? `${path} answered ${response.status}.`);
      const seconds = Number(response.headers.get("retry-after") ?? defaultWaitSeconds);
      warn(`The account has sent too many requests. Going on in ${seconds} s.`);
      await sleep(seconds * 1000);
    }
  };
  return {
    get: async <T>(path: string, Answer: z.ZodType<T>): Promise<T> =>
      Answer.parse(await (await send("GET", path)).json()),
    post: async <T>(path: string, Answer: z.ZodType<T>, content: unknown): Promise<T> =>
      Answer.parse(
        await (await send("POST", path, { body: JSON.stringify(content), type: "application/json" })).json(),
      ),
    postForm: async <T>(path: string, Answer: z.ZodType<T>, form: FormData | URLSearchParams): Promise<T> =>
      Answer.parse(await (await send("POST", path, { body: form })).json()),
    postFile: async <T>(path: string, Answer: z.ZodType<T>, file: string): Promise<T> =>
      Answer.parse(
        await (await send("POST", path, { body: await openAsBlob(file), type: "application/octet-stream" })).json(),
      ),
    download: async (path: string, file: string): Promise<void> => {
      const { body } = await send("GET", path);
      await pipeline(body === null ? [] : body, createWriteStream(file));
    },
  };
}

type Sent = { body?: string | Blob | FormData | URLSearchParams | null; type?: string };

/** The client of an account, with the key that the operator can read. */
export async function clientOf(admin: AdminClient, username: string): Promise<AccountClient> {
  return accountClient({ url: admin.url, username, apiKey: await admin.apiKey(username) });
}

function messageOf(text: string): string | undefined {
  try {
    return Refused.parse(JSON.parse(text)).error.message;
  } catch {
    return undefined;
  }
}
