import { Buffer } from "node:buffer";
import { beforeAll, describe, expect, it } from "vitest";
import { groups } from "#api/groups";
import { possibleRefusals } from "#openapi/refusals";
import { signedIn } from "../support/client.ts";
import { expectAsDescribed } from "../support/openapi.ts";
import { expectSafe } from "../support/safe-answer.ts";
import { expectError } from "../support/xml.ts";
import { rows } from "./every-call/rows.ts";
import type { Refused, Row, Sent } from "./every-call/row.ts";
import { makeSample, type Sample, prepareSamples } from "./every-call/sample.ts";
import { filled, filledBody, sent } from "./every-call/send.ts";

type Version = "v1" | "v2";

const operations = groups.flatMap(({ operations }) => operations);
/** The refusals in a call's description, such as `404 invalid_build_id`. */
const describedRefusals = (call: string, version: Version): string[] =>
  operations
    .filter(({ method, path }) => call === `${method} ${path}`)
    .flatMap((operation) => possibleRefusals(operation, version))
    .map(({ status, code }) => `${status} ${code}`);

const accessOf = new Map(operations.map(({ method, path, access }) => [`${method} ${path}`, access]));
const versionsOf = new Map(operations.map(({ method, path, versions }) => [`${method} ${path}`, versions]));

let own: Sample;
let theirs: Sample;

beforeAll(async () => {
  await prepareSamples();
  own = await makeSample();
  theirs = await makeSample();
  own.ids = { ...own.ids, stranger: theirs.ids["appliance"] ?? "", friend: theirs.tux.username };
});

it("covers every call of the API once", () => {
  expect(rows.map(({ call }) => call).toSorted()).toEqual([...versionsOf.keys()].toSorted());
});

describe.each(rows.map((row) => [row.call, row] as const))("%s", (call, row) => {
  const [method = "", template = ""] = call.split(" ");
  const versions = versionsOf.get(call) ?? [];

  const ask = (version: Version, path: string, { ids, tux }: Sample, body: Sent | undefined = row.sent) =>
    sent({ method, path: filled(path, ids), body: filledBody(body, ids), version, credentials: tux });

  it.each(versions)("succeeds on %s", async (version) => {
    const sample = row.fresh ? await row.fresh(own) : own;

    const [answer] = await Promise.all([ask(version, row.path, sample), row.meanwhile?.(sample)]);

    expectSafe(answer);
    const text = Buffer.from(await answer.arrayBuffer()).toString();
    const { status = 200 } = row;
    expect({ status: answer.status, answer: kindOf(answer, text) }, text).toEqual({ status, answer: row.answer });
    await expectAsDescribed(
      { method, path: template, version, status },
      answer.headers.get("content-type") ?? "",
      text,
    );
  });

  // Version 1 has the same views, including JSON.
  it("answers in JSON on request", async () => {
    const sample = row.fresh ? await row.fresh(own) : own;

    const { ids, tux: credentials } = sample;
    const request = { method, path: filled(row.path, ids), body: filledBody(row.sent, ids), credentials };
    const [answer] = await Promise.all([sent({ ...request, accept: "application/json" }), row.meanwhile?.(sample)]);

    const type = answer.headers.get("content-type") ?? "";
    const text = Buffer.from(await answer.arrayBuffer()).toString();
    const { status = 200 } = row;
    expect(answer.status, text).toBe(status);
    expect(type).toBe(isDocument(row) ? "application/json; charset=utf-8" : type);
    await expectAsDescribed({ method, path: template, version: "v2", status }, type, text);
  });

  it("requires credentials", async () => {
    for (const version of versions) {
      const answer = await sent({ method, path: filled(row.path, own.ids), body: row.sent, version });

      expect(answer.headers.get("www-authenticate"), version).toMatch(/^Basic realm="[^"]+"/);
      await expectError(answer, 401, "access_denied", version);
    }
  });

  if (/\{\w+\}/.test(row.path)) {
    const access = accessOf.get(call);
    it(`${access === "own" ? "refuses" : "serves"} an account that the appliance is shared with`, async () => {
      const sample = row.fresh ? await row.fresh(own) : own;
      const reader = await signedIn();
      const sharing = `/appliances/${sample.ids["appliance"]}/sharing/${reader.username}`;
      await sent({ method: "POST", path: sharing, credentials: sample.tux });

      const asReader = { tux: reader, ids: sample.ids };
      const [answer] = await Promise.all([
        ask("v2", row.path, asReader),
        ...(access === "own" ? [] : [row.meanwhile?.(asReader)]),
      ]);

      const text = await answer.text();
      if (access !== "own") return expect(answer.status, text).toBe(200);
      const codes = ["access_denied", row.foreign, row.unknownId].filter((code) => code !== undefined);
      expect(codes).toContain(/<code>(\w+)</.exec(text)?.[1]);
    });
  }

  it("refuses ids of other accounts, unknown ids and wrong parameters", async () => {
    for (const version of versions) {
      for (const { path, sent, code, status, sampleOf } of refusals(row)) {
        const answer = await ask(version, path, { tux: own.tux, ids: sampleOf().ids }, sent);

        const request = `${version}: ${path}`;
        await expectError(answer, statusOn(version, status), code, request);
        expect(describedRefusals(call, version), request).toContain(`${answer.status} ${code}`);
      }
    }
  });

  it("refuses other methods", async () => {
    for (const version of versions) {
      const allowed = operations
        .filter((one) => one.path === template && one.versions.includes(version))
        .map(({ method }) => method);
      const wrong = ["PUT", "DELETE", "POST", "PATCH"].find((method) => !allowed.includes(method as "PUT")) ?? "PATCH";

      const answer = await sent({ method: wrong, path: filled(row.path, own.ids), version, credentials: own.tux });

      expect(answer.headers.get("allow")?.split(", "), version).toEqual(expect.arrayContaining(allowed));
      await expectError(answer, 400, "wrong_http_method", version);
    }
  });

  if (!versions.includes("v1")) {
    it("answers 404 on v1", async () => {
      await expectError(await ask("v1", row.path, own), 404, "unknown_error");
    });
  }
});

interface Refusal extends Refused {
  /** Supplies the ids in the path. */
  sampleOf: () => Sample;
}

const ownSample = () => own;

/** The row's own refusals, and those for unknown ids and other accounts' ids. */
function refusals({ path, foreign: code, unknownId = code, refused = [] }: Row): Refusal[] {
  const listed = refused.map((one) => ({ ...one, sampleOf: ownSample }));
  const [inPath = "", query = ""] = path.split("?");
  const [, before, after] = /^(.*)\{\w+\}(.*)$/.exec(inPath) ?? [];
  const status = before === undefined ? 400 : "unknown";
  const unknown = before === undefined || unknownId === undefined ? [] : ["0", "999999999", "-1", "nonsense"];
  return [
    ...(code === undefined ? [] : [{ path, code, status, sampleOf: () => theirs } as const]),
    ...unknown.flatMap((id) => {
      const asked = `${before}${id}${after}${query && `?${query}`}`;
      return unknownId === undefined
        ? []
        : [{ path: asked, code: unknownId, status: "unknown", sampleOf: ownSample } as const];
    }),
    ...listed,
  ];
}

const statusOn = (version: Version, status: Refused["status"] = 400): number =>
  status === "unknown" ? { v1: 400, v2: 404 }[version] : status;

/** Files are the same in every format; the manifest counts as one. */
const isDocument = ({ answer }: Row): boolean => !/[/]|^manifest$|^$/.test(answer);

/** The root of an XML answer, or its content type. */
function kindOf(answer: Response, text: string): string {
  const type = answer.headers.get("content-type") ?? "";
  if (type !== "application/xml; charset=utf-8") return type;
  return /^(?:<\?xml[^>]*\?>\s*)?<([\w-]+)/.exec(text)?.[1] ?? "no element";
}
