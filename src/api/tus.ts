import { Buffer } from "node:buffer";
import type { Context } from "hono";
import { Refusal } from "#domain/refusal";
import { factory } from "#api/factory";

/** The headers of tus 1.0, the protocol of resumable uploads (decision 13). */

const version = "1.0.0";
const extensions = "creation,termination,expiration";
export const bytesType = "application/offset+octet-stream";

/** Every answer has the version header. OPTIONS reports what this service supports, and needs no credentials. */
export const tus = factory.createMiddleware(async (c, next) => {
  if (c.req.method === "OPTIONS") {
    const maxSize = String(Number(c.env.MAX_FILE_MB) * 2 ** 20);
    const able = { "Tus-Version": version, "Tus-Extension": extensions, "Tus-Max-Size": maxSize };
    return c.body(null, 204, { "Tus-Resumable": version, ...able });
  }
  c.header("Tus-Resumable", version);
  const spoken = c.req.header("tus-resumable");
  if (spoken !== undefined && spoken !== version) {
    c.header("Tus-Version", version);
    throw new Refusal("unknown_error", { reason: "wrong_protocol", message: `This service speaks tus ${version}.` });
  }
  await next();
  c.header("Tus-Resumable", version);
  return undefined;
});

/** A header with a number of bytes. Undefined if the client does not send it. */
export function bytesIn(c: Context, name: string): number | undefined {
  const value = c.req.header(name);
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) {
    throw new Refusal("invalid_value", { message: `The header ${name} must be a number of bytes.` });
  }
  return Number(value);
}

/** Like `bytesIn`, for a header that the call requires. */
export function neededBytesIn(c: Context, name: string): number {
  const bytes = bytesIn(c, name);
  if (bytes === undefined) throw new Refusal("missing_parameter", { message: `The header ${name} is missing.` });
  return bytes;
}

/**
 * The contents of Upload-Metadata: names, each with a value in base64. As for parameters, an empty value counts as
 * absent.
 */
export function metadataIn(c: Context): Record<string, string> {
  const pairs = (c.req.header("upload-metadata") ?? "").split(",").map((pair) => pair.trim().split(/ +/));
  const given = pairs.map(([name = "", value = ""]) => [name, textOf(value)] as const);
  return Object.fromEntries(given.filter(([name, value]) => name !== "" && value !== ""));
}

function textOf(base64: string): string {
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return Buffer.from(base64, "base64").toString("utf8");
  throw new Refusal("invalid_value", {
    message: "The header Upload-Metadata must contain names, each with a value in base64.",
  });
}
