import { XMLParser } from "fast-xml-parser";
import type { Ready } from "./service.ts";
import { until } from "./service.ts";

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "@", parseTagValue: false });

// oxlint-disable-next-line typescript/no-explicit-any -- each step knows the document that it expects
type XmlDocument = Record<string, any>;

/** An answer that is not 200. */
export class RestRefusal extends Error {
  readonly status: number;
  constructor(call: string, status: number, said: string) {
    super(`${call}: ${status} ${said}`);
    this.status = status;
  }
}

/** An independent REST client: HTTP, Basic authentication, XML, nothing else. */
export interface RestClient {
  call: (
    method: string,
    path: string,
    params?: Record<string, string | number>,
    headers?: Record<string, string>,
  ) => Promise<XmlDocument>;
  /** GET of a file, as text. */
  file: (path: string, params?: Record<string, string | number>) => Promise<string>;
  /** Polls a running build until it ends; returns every answer. */
  watchBuild: (buildId: string, seconds: number) => Promise<RunningBuild[]>;
}

export interface RunningBuild {
  state: string;
  percent: number;
  message: string;
}

export function restClient({ url, username, api_key: apiKey }: Ready): RestClient {
  const authorization = `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}`;
  const send = (
    method: string,
    path: string,
    params: Record<string, string | number>,
    headers: Record<string, string> = {},
  ) => {
    const query = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]));
    return fetch(`${url}/api/v2/user${path}?${query}`, { method, headers: { ...headers, authorization } });
  };
  const file: RestClient["file"] = async (path, params = {}) => {
    const answer = await send("GET", path, params);
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
    return await answer.text();
  };
  const call: RestClient["call"] = async (method, path, params = {}, headers = {}) => {
    const answer = await send(method, path, params, headers);
    const document = parser.parse(await answer.text());
    if (answer.status !== 200) throw new RestRefusal(`${method} ${path}`, answer.status, JSON.stringify(document));
    return document;
  };
  return { call, file, watchBuild: (buildId, seconds) => watchBuild(call, buildId, seconds) };
}

const finalStates = new Set(["finished", "failed", "error", "cancelled"]);

async function watchBuild(call: RestClient["call"], buildId: string, seconds: number): Promise<RunningBuild[]> {
  const seen: RunningBuild[] = [];
  await until(`build ${buildId} has ended`, seconds, async () => {
    const { running_build: build } = await call("GET", `/running_builds/${buildId}`);
    seen.push({ state: build.state, percent: Number(build.percent), message: build.message });
    return finalStates.has(build.state);
  });
  return seen;
}
