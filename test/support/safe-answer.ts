import { expect } from "vitest";

/** Expects the headers that every answer has, except one that opens a WebSocket. */
export function expectSafe(answer: Response, request?: string): void {
  expect(Object.fromEntries(answer.headers), request).toMatchObject({
    "content-security-policy": expect.stringMatching(/^(default-src 'none'|sandbox)(?!.*'unsafe)/),
    "x-content-type-options": "nosniff",
    // Pages send same-origin because their forms need it.
    "referrer-policy": expect.stringMatching(/^(no-referrer|same-origin)$/),
  });
}
