import { createWriteStream, openAsBlob } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { AdminClient } from "../admin/client.ts";
import { Complaint } from "../launch/complaint.ts";
import { warn } from "../launch/progress.ts";
import { parseJson } from "../launch/given-file.ts";

const Refused = z.object({ error: z.object({ message: z.string() }) });
const defaultWaitSeconds = 10;

export type AccountClient = ReturnType<typeof accountClient>;

/** Calls the API as the account itself, so that the same rules apply. */
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
      warn(`The account has sent too many requests. Continuing in ${seconds} s.`);
      await sleep(seconds * 1000);
    }
  };
  const post = async <T>(path: string, Answer: z.ZodType<T>, given: Sent): Promise<T> =>
    Answer.parse(await (await send("POST", path, given)).json());
  return {
    get: async <T>(path: string, Answer: z.ZodType<T>): Promise<T> =>
      Answer.parse(await (await send("GET", path)).json()),
    post: <T>(path: string, Answer: z.ZodType<T>, content: unknown): Promise<T> =>
      post(path, Answer, { body: JSON.stringify(content), type: "application/json" }),
    postForm: <T>(path: string, Answer: z.ZodType<T>, form: FormData | URLSearchParams): Promise<T> =>
      post(path, Answer, { body: form }),
    putForm: async (path: string, form: URLSearchParams): Promise<void> => {
      await send("PUT", path, { body: form });
    },
    postFile: async <T>(path: string, Answer: z.ZodType<T>, file: string): Promise<T> =>
      post(path, Answer, { body: await openAsBlob(file), type: "application/octet-stream" }),
    download: async (path: string, file: string): Promise<void> => {
      const { body } = await send("GET", path);
      await pipeline(body === null ? [] : body, createWriteStream(file));
    },
  };
}

type Sent = { body?: string | Blob | FormData | URLSearchParams | null; type?: string };

/** The client of an account. The operator can read the account's key. */
export async function clientOf(admin: AdminClient, username: string): Promise<AccountClient> {
  return accountClient({ url: admin.url, username, apiKey: await admin.apiKey(username) });
}

const messageOf = (text: string): string | undefined => Refused.safeParse(parseJson(text)).data?.error.message;
