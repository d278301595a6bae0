import type { Context } from "hono";
import type { Refusal } from "#domain/refusal";
import { startOfBody } from "#http/body-start";
import { formBytes, formFields, mayBeForm } from "#http/form";
import { isJson, JsonFault, jsonFields } from "#http/json-fields";
import { boundaryOf } from "#http/multipart";
import { firstOfEach } from "#http/params";
import { receiveUpload, type Received, type UploadSink } from "#http/upload";
import type { ApiEnv } from "#api/factory";
import { damagedForm, refuseLongBody } from "#http/upload-form";

/** How a call receives a file. */
export interface FileCall<T> extends UploadSink<T> {
  /** Names of parameters. A form with one of them is a form without a file. */
  parameters: readonly string[];
  tooLarge: (largestMb: number) => Refusal;
}

/**
 * Receives a form with a file, a form or JSON without one, or the file itself as the body. One client sends the file
 * itself and declares it as a form (compatibility.md, "Bodies").
 */
export async function receiveFile<T>(c: Context<ApiEnv>, call: FileCall<T>): Promise<Received<T>> {
  refuseLongBody(c, call.tooLarge);
  try {
    const contentType = c.req.header("content-type") ?? null;
    if (boundaryOf(contentType) !== undefined || !mayBeForm(contentType)) return await receiveUpload(c.req.raw, call);
    const { start, isWhole, request } = await startOfBody(c.req.raw, formBytes);
    if (!isWhole || !isForm(start, contentType, call.parameters)) return await receiveUpload(request, call);
    return { fields: new Map(Object.entries(firstOfEach(await formFields(start, contentType)))), stored: undefined };
  } catch (error) {
    return damagedForm("invalid_request")(error);
  }
}

function isForm(body: Uint8Array, contentType: string | null, parameters: readonly string[]): boolean {
  if (isJson(contentType)) return isJsonOf(new TextDecoder().decode(body), parameters);
  const pairs = new TextDecoder("latin1")
    .decode(body)
    .replace(/[ \t\r\n]+$/, "")
    .split("&");
  // A value has no spaces, but it may have letters that are not ASCII.
  const names = pairs.map((pair) => /^([a-z_]+)=[!-~\u0080-\u00ff]*$/.exec(pair)?.[1]);
  // Older clients also send names that are no longer parameters.
  return !names.includes(undefined) && names.some((name) => parameters.includes(name ?? ""));
}

/** Whether the text is a JSON object that contains only parameters. Any other JSON is a file. */
function isJsonOf(text: string, parameters: readonly string[]): boolean {
  try {
    const fields = jsonFields(text);
    return fields.length > 0 && fields.every(([name]) => parameters.includes(name));
  } catch (error) {
    if (error instanceof JsonFault) return false;
    throw error;
  }
}
