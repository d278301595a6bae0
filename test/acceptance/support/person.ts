import { expect } from "vitest";
import { restClient, type RestClient } from "./rest.ts";
import type { Ready } from "./service.ts";
import { addAccount } from "./shared-service.ts";
import type { SharedService } from "./shared-services.ts";

/** A client of an account of its own, in the ways of a program and of a person. */
export interface Person {
  rest: RestClient;
  stateDir: string;
  ready: Ready;
  /** A request as it is, with the account's credentials; fails unless it is answered with 200. */
  send: (method: string, path: string, said?: Pick<RequestInit, "body" | "headers">) => Promise<Response>;
  /** A text under a form's content type, as old clients send it; the answer's text. */
  say: (method: string, path: string, text: string) => Promise<string>;
  /** A file of one's own for the image of an appliance. */
  addFile: (applianceId: string, content: string | Uint8Array, metadata: Record<string, string>) => Promise<void>;
}

export async function newPerson(service: SharedService, username: string): Promise<Person> {
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
