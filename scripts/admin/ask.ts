import { z } from "zod";
import { Complaint } from "../launch/complaint.ts";
import { parseJson } from "../launch/given-file.ts";

const Failure = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export type Send = ReturnType<typeof sender>;
export type Ask = ReturnType<typeof asker>;

/** Asks the admin API. Throws its refusal as a Complaint. */
export function asker(url: string, send: Send) {
  return async <T>(method: string, path: string, Answer: z.ZodType<T>, content?: unknown): Promise<T> => {
    const found = await send(method, path, content);
    const answer = Answer.safeParse(parseJson(found.text));
    if (found.ok && answer.success) return answer.data;
    throw new Complaint(refusal({ ...found, url, path }));
  };
}

/** Sends a request to the admin API, whatever the answer is. `content`: the bytes of a file, or a value for JSON. */
export function sender(url: string, secret: string) {
  return async (method: string, path: string, content?: unknown) => {
    const isFile = content instanceof Uint8Array;
    const body = content === undefined ? null : isFile ? new Uint8Array(content) : JSON.stringify(content);
    const type = isFile ? "application/octet-stream" : "application/json";
    const headers = { authorization: `Bearer ${secret}`, ...(body === null ? {} : { "content-type": type }) };
    const response = await fetch(`${url}/admin${path}`, { method, headers, body }).catch((error: unknown) => {
      throw new Complaint(`No answer from ${url}: ${reason(error)}. Is the service running?`);
    });
    return { ok: response.ok, status: response.status, text: await response.text() };
  };
}

type Refused = { url: string; path: string; status: number; text: string };

/** The message of a refusal. */
export function refusal({ url, path, status, text }: Refused): string {
  const failure = Failure.safeParse(parseJson(text));
  if (failure.success) return failure.data.error.message;
  return `${url}/admin${path} answered ${status}, but not like Kiln. Is this the right URL?`;
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
