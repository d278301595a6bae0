/** Answers of the API in Cloudflare's form. */

export type Answer = { status: number; success: boolean; result?: unknown; result_info?: unknown; errors?: unknown[] };

export const ok = (result: unknown, status = 200): Answer => ({ status, success: true, result });
export const failure = ({ code, message }: { code: number; message: string }) => ({
  success: false,
  errors: [{ code, message }],
  messages: [],
  result: null,
});
export const refused = (status: number, code: number, message: string): Answer => ({
  status,
  ...failure({ code, message }),
});
