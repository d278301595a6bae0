import { expect } from "vitest";
import { restClient, type RestClient } from "./rest.ts";
import type { Ready } from "./service.ts";
import { addAccount } from "./shared-service.ts";

/** A client with its own account. It acts both as a program and as a person. */
export interface Person {
  rest: RestClient;
  stateDir: string;
  ready: Ready;
  /** Sends a request unchanged, with the account's credentials; fails unless the answer is 200. */
  send: (method: string, path: string, said?: Pick<RequestInit, "body" | "headers">) => Promise<Response>;
  /** Sends a text with a form's content type, as old clients do; returns the answer's text. */
  say: (method: string, path: string, text: string) => Promise<string>;
  /** Adds an overlay file to an appliance. */
  addFile: (applianceId: string, content: string | Uint8Array, metadata: Record<string, string>) => Promise<void>;
}

export async function newPerson(service: Parameters<typeof addAccount>[0], username: string): Promise<Person> {
  return personOf(service.stateDir, await addAccount(service, username));
}

export function personOf(stateDir: string, ready: Ready): Person {
  const authorization = `Basic ${Buffer.from(`${ready.username}:${ready.api_key}`).toString("base64")}`;
  const send: Person["send"] = async (method, path, { body = null, headers = {} } = {}) => {
    const init = { method, body, headers: { authorization, ...Object.fromEntries(new Headers(headers)) } };
    const answer = await fetch(`${ready.url}/api/v2/user${path}`, init);
    expect(answer.status, `${method} ${path}: ${answer.status === 200 ? "" : await answer.clone().text()}`).toBe(200);
    return answer;
  };
  const type = "application/x-www-form-urlencoded";
  return {
    rest: restClient(ready),
    stateDir,
    ready,
    send,
    say: async (method, path, body) =>
      await (await send(method, path, { body, headers: { "content-type": type } })).text(),
    addFile: async (id, content, metadata) => {
      const form = new FormData();
      form.set("file", new Blob([Buffer.from(content)]), metadata["filename"]);
      await send("POST", `/files?${new URLSearchParams({ appliance_id: id, ...metadata })}`, { body: form });
    },
  };
}
