import type { Context } from "hono";
import { Refusal, type RefusalCode } from "#domain/refusal";
import { formBytes } from "#http/form";
import { MultipartFault } from "#http/multipart";
import { announcedBytes } from "#http/upload";
import type { ApiEnv } from "#api/factory";

/** Parameters of a form. An empty value counts as absent. */
export const withoutEmpty = (fields: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries([...fields].filter(([, value]) => value !== ""));

/**
 * Refuses a body whose Content-Length is too long for any file. Without the header, the body is counted while it
 * arrives.
 */
export function refuseLongBody(c: Context<ApiEnv>, tooLarge: (largestMb: number) => Refusal): void {
  const largestMb = Number(c.env.MAX_UPLOAD_MB);
  if (announcedBytes(c.req.raw) > largestMb * 2 ** 20 + formBytes) throw tooLarge(largestMb);
}

/** For `catch`: refuses a form that cannot be read like an invalid file. */
export const damagedForm =
  (code: RefusalCode) =>
  (error: unknown): never => {
    if (!(error instanceof MultipartFault)) throw error;
    throw new Refusal(code, { message: `The form of this upload is damaged: ${error.message}.` });
  };
