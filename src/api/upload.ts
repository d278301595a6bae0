import type { Context } from "hono";
import { Refusal, type RefusalCode } from "#domain/refusal";
import { MultipartFault } from "#http/multipart";
import type { ApiEnv } from "#api/factory";

/** What a form needs beside its file. */
export const formBytes = 64 * 1024;

/** Refuses a body that says beforehand that it is too long for any file; one that does not say is counted while it comes. */
export function refuseLongBody(c: Context<ApiEnv>, tooLarge: (largestMb: number) => Refusal): void {
  const largestMb = Number(c.env.MAX_UPLOAD_MB);
  const announcedBytes = Number(c.req.header("content-length") ?? 0);
  if (announcedBytes > largestMb * 2 ** 20 + formBytes) throw tooLarge(largestMb);
}

/** For `catch`: a form that cannot be read earns what its call says of a file that cannot be used. */
export const damagedForm =
  (code: RefusalCode) =>
  (error: unknown): never => {
    if (!(error instanceof MultipartFault)) throw error;
    throw new Refusal(code, { message: `The form of this upload is damaged: ${error.message}.` });
  };
