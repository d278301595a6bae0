import { Refusal, type RefusalCode } from "#domain/refusal";
import { formBytes } from "#http/form";
import { MultipartFault } from "#http/multipart";
import { announcedBytes } from "#http/upload";

/** Parameters of a form. An empty value counts as absent. */
export const withoutEmpty = (fields: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries([...fields].filter(([, value]) => value !== ""));

type Received = { env: Pick<Env, "MAX_UPLOAD_MB">; req: { raw: Request } };

/**
 * Refuses a body whose Content-Length is too large for any file. Without the header, the bytes are counted as they
 * arrive.
 */
export function refuseLongBody({ env, req }: Received, tooLarge: (largestMb: number) => Refusal): void {
  const largestMb = Number(env.MAX_UPLOAD_MB);
  if (announcedBytes(req.raw) > largestMb * 2 ** 20 + formBytes) throw tooLarge(largestMb);
}

/** A handler for `catch`. Refuses a form that cannot be read, with the same refusal as for an invalid file. */
export const damagedForm =
  (code: RefusalCode) =>
  (error: unknown): never => {
    if (!(error instanceof MultipartFault)) throw error;
    throw new Refusal(code, { message: `The form of this upload is damaged: ${error.message}.` });
  };
