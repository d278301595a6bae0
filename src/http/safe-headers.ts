/**
 * Headers of every answer, including the files of pages. Answers contain files and texts from users, and these headers
 * make it safe to open an answer in a browser as a page. Pages have their own policy. No referrer is sent, because the
 * URLs of downloads and testdrives are secrets; pages send it only to this service.
 */
export const safeHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};
