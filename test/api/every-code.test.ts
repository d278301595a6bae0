import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { shown } from "#api/errors";
import { BodyFault } from "#http/request-body";
import { Refusal, refusalCodes, type RefusalCode } from "#domain/refusal";
import { v1, v2 } from "#api/versions";
import { groups } from "#api/groups";
import { app } from "../../src/app.ts";
import tinyKey from "../fixtures/repodata/signed/tiny.key?raw";
import { rpmOf } from "../support/packages.ts";
import { expectError } from "../support/xml.ts";
import { prepareSamples } from "./every-call/sample.ts";
import { readCurl, type CurlRequest } from "./every-code/curl.ts";
import { documentedErrors } from "./every-code/documented.ts";
import { makeErrorSample, states, type ErrorSample } from "./every-code/sample.ts";

let sample: ErrorSample;

beforeAll(async () => {
  await prepareSamples();
  sample = await makeErrorSample();
});

describe("docs/api/errors.md", () => {
  it("lists every code of the specification, and no other", () => {
    expect([...new Set(documentedErrors.map(({ code }) => code))].toSorted()).toEqual([...refusalCodes].toSorted());
  });

  it.each(documentedErrors.map((one) => [one.code, one.status.v2, one] as const))(
    "documents %s with the service's status %d",
    (code, _v2, { status }) => {
      const reasons = ["unknown", "invalid", "changed", "repeated", "key_taken", "too_fast"] as const;
      const known = reasons.map((reason) => {
        const refusal = new Refusal(code, { reason });
        return { v2: shown(refusal, v2).status, v1: shown(refusal, v1).status };
      });
      const slow = new BodyFault("slow").status;
      const elsewhere: Partial<Record<RefusalCode, number>> = { access_denied: 401, unknown_error: 404 };
      const other = elsewhere[code];
      const bySlowBody = code === "unknown_error" ? [{ v2: slow, v1: slow }] : [];
      expect([...known, ...bySlowBody, { v2: other, v1: other }]).toContainEqual(status);
    },
  );

  it("documents 404 for every id in a path", () => {
    const inPaths = new Set(groups.flatMap(({ operations }) => operations.flatMap(({ unknown = [] }) => unknown)));
    const documented = documentedErrors.filter(({ status }) => status.v2 === 404).map(({ code }) => code);
    expect(documented).toEqual(expect.arrayContaining([...inPaths]));
  });

  // Other tests cover these: an internal error, a race that cannot be forced, a limit that takes many requests, and a
  // slow body.
  it("has an example for all but four codes", () => {
    const without = documentedErrors.filter(({ example }) => example === undefined);
    const statuses = without.map(({ code, status }) => `${code} ${status.v2}`);
    expect(statuses).toEqual(["unknown_error 409", "unknown_error 429", "unknown_error 408", "internal_error 500"]);
  });
});

const cameWithVersion2 = /\$api\/(gallery|webhooks|appliances\/\$\w+\/sharing)\b/;

describe("the documented example", () => {
  const examples = documentedErrors.filter(({ example }) => example !== undefined);

  it.each(examples.map((one) => [one.code, one.status.v2, one] as const))(
    "of %s returns %d",
    async (code, _v2, one) => {
      const { before, after } = states[code] ?? {};
      const prepared = (await before?.(sample)) ?? sample;
      try {
        for (const version of ["v2", "v1"] as const) {
          const answer = await send(readCurl(one.example ?? ""), prepared, version);
          const isNothing = version === "v1" && cameWithVersion2.test(one.example ?? "");
          await expectError(answer, isNothing ? 404 : one.status[version], isNothing ? "unknown_error" : code);
        }
      } finally {
        await after?.();
      }
    },
  );
});

const fileOf: Record<string, string | Uint8Array<ArrayBuffer>> = {
  "tiny.key": tinyKey,
  "letter.txt": "Dear Odo,\nno package and no key.\n",
  "huge.rpm": rpmOf("huge"),
};

/** Settings with which the file is too large. */
const settingsFor = ({ fields }: CurlRequest) =>
  fields.some(([, value]) => value === "@huge.rpm") ? { ACCOUNT_QUOTA_GB: "0" } : {};

/** Sends the request as curl would. */
async function send(request: CurlRequest, { tux, variables }: ErrorSample, version: "v1" | "v2"): Promise<Response> {
  const filled = (text: string) => text.replace(/\$(\w+)/g, (_, name: string) => valueOf(name));
  const valueOf = (name: string) => {
    const value = name === "api" ? `https://kiln.test/api/${version}/user` : variables[name];
    if (value === undefined) throw new Error(`the sample has no ${name}`);
    return String(value);
  };
  const credentials = { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` };
  const headers = { ...request.headers, ...(request.hasCredentials ? credentials : {}) };
  const body = request.fields.length > 0 ? formOf(request.fields) : request.data && filled(request.data);
  const sent = new Request(filled(request.url), {
    method: request.method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  return await app.fetch(sent, { ...env, ...settingsFor(request) }, createExecutionContext());
}

function formOf(fields: CurlRequest["fields"]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) {
    const file = value.startsWith("@") ? fileOf[value.slice(1)] : undefined;
    if (file === undefined) form.set(name, value);
    else form.set(name, new File([file], value.slice(1)));
  }
  return form;
}
