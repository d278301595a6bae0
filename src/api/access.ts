import type { Context } from "hono";
import { refuseOtherAppliances, refuseOutOfScope, type Named, type TokenAccess } from "#domain/accounts/access";
import { Refusal } from "#domain/refusal";
import { startOfBody } from "#http/body-start";
import { formFields, mayBeForm } from "#http/form";
import { scopeOf, type Operation } from "#api/operation";
import { factory, type ApiEnv } from "#api/factory";
import { maxFormBytes } from "#http/params";

/**
 * Refuses a call that the token may not make, before the call does anything. The call's description decides (decision
 * 33).
 */
export const refuseBeyondToken = (call: Operation) =>
  factory.createMiddleware(async (c, next) => {
    const { access } = c.var;
    if (access.by === "token") await refuseBeyond(c, access, call);
    await next();
  });

async function refuseBeyond(c: Context<ApiEnv>, token: TokenAccess, call: Operation): Promise<void> {
  refuseOutOfScope(token, scopeOf(call));
  if (token.applianceId === null) return;
  const named = [...namedInPath(c, call), ...(await namedInParameters(c, call))];
  await refuseOtherAppliances(c.var.db, token.applianceId, { named, isForAll: call.isForAll ?? false });
}

const prefix = /^\/api\/v\d\/user/;

/** The kind of object that an id in a path or a parameter names. */
const kinds: Readonly<Record<string, Named["what"]>> = {
  appliance_id: "appliance",
  build_id: "build",
  to: "build",
  file_id: "file",
  testdrive_id: "testdrive",
  upload_id: "upload",
};

function namedInPath(c: Context<ApiEnv>, { path }: Operation): Named[] {
  const given = c.req.path.replace(prefix, "").split("/");
  return path.split("/").flatMap((segment, at) => namedBy(segment.replace(/^\{(\w+)\}$/, "$1"), given[at]));
}

/** Every value in the query and the body, because it must not matter which of several the call uses. */
async function namedInParameters(c: Context<ApiEnv>, { params }: Operation): Promise<Named[]> {
  const names = Object.keys(params?.shape ?? {}).filter((name) => name in kinds);
  if (names.length === 0) return [];
  const query = [...new URL(c.req.url).searchParams];
  const isInQuery = (name: string) => query.some(([each, value]) => each === name && value !== "");
  const body = await formOf(c);
  if (!body && !names.every(isInQuery)) {
    throw new Refusal("access_denied", { message: `With this token, pass ${names.join(", ")} in the query.` });
  }
  const given = [...query, ...(body ?? [])].map(([name, value]) => [name.replace(/\[\]$/, ""), value] as const);
  return given.flatMap(([name, value]) => (names.includes(name) && value !== "" ? namedBy(name, value) : []));
}

const namedBy = (name: string, id: string | undefined): Named[] => {
  const what = kinds[name];
  return what === undefined ? [] : [{ what, id: id ?? "" }];
};

/** The fields of the body. The call reads the body again. Undefined if the body is too large to read here. */
async function formOf(c: Context<ApiEnv>): Promise<[string, string][] | undefined> {
  const type = c.req.header("content-type") ?? null;
  if (!mayBeForm(type)) return [];
  const { start, isWhole, request } = await startOfBody(c.req.raw, maxFormBytes);
  c.req.raw = request;
  return isWhole ? await formFields(start, type).catch(() => []) : undefined; // the call itself refuses a damaged form
}
