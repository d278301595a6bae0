import { describe, expect, it } from "vitest";
import { prefersJson, prefersText } from "#http/accept";

describe("prefersJson", () => {
  it.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json, text/plain, */*",
    "application/json, application/xml;q=0.9",
    "application/xml; q=0.5, application/json; q=0.7",
    "application/json;q=0.5",
    "*/*;q=0.1, application/json;q=0.2",
    "application/json;q=0.5, text/csv",
  ])("is true for %s", (accept) => {
    expect(prefersJson(accept)).toBe(true);
  });

  it.each([
    undefined,
    "",
    "*/*",
    "application/*",
    "application/xml",
    // Java's HttpURLConnection, a browser, Ruby's ActiveResource
    "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8",
    "application/xml, application/json",
    "application/json, application/xml",
    "application/json;q=0.5, text/xml;q=0.8",
    "application/json;q=0.5, */*",
    "application/json;q=0.5, application/*;q=0.6",
    "application/json;q=0",
    "application/json;q=0.0, */*",
    "application/jsonp",
    "application/hal+json",
    "json",
    ";;;,,,application/",
  ])("is false for %s", (accept) => {
    expect(prefersJson(accept)).toBe(false);
  });
});

describe("prefersText", () => {
  it.each([
    "text/plain",
    "Text/Plain; charset=utf-8",
    "text/plain, */*;q=0.1",
    "text/plain, */*",
    "application/xml;q=0.5, text/plain",
    "text/plain;q=0.2, application/json;q=0.1",
  ])("is true for %s", (accept) => {
    expect(prefersText(accept)).toBe(true);
  });

  it.each([
    undefined,
    "",
    "*/*",
    "text/*",
    "text/html",
    "text/plain;q=0",
    "text/plain, application/xml",
    "text/plain, application/json",
    "application/json, text/plain, */*",
    "text/plain;q=0.5, */*",
    "text/plainly",
  ])("is false for %s", (accept) => {
    expect(prefersText(accept)).toBe(false);
  });
});
